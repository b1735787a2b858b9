//! # The cursor: reading a path from left to right
//!
//! Knows characters, quotes and numbers, nothing of what they mean. Every reading answers none when
//! the text is not what was asked for; none, all the way up, is a path that is not valid.

use super::json::{Json, Number, Object};

/// Brackets in brackets, in a path or in a literal; deeper is not valid, before the stack ends.
const NESTING_MAX: usize = 32;

pub(super) struct Cursor<'t> {
    rest: &'t str,
    nesting: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { rest: text, nesting: 0 }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        let after = self.rest.strip_prefix(text);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    pub(super) fn expect(&mut self, text: &str) -> Option<()> {
        self.skip_blanks();
        self.take(text).then_some(())
    }

    pub(super) fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    pub(super) fn until(&mut self, is_end: impl Fn(char) -> bool) -> &'t str {
        let (read, rest) = self.rest.split_at(self.rest.find(is_end).unwrap_or(self.rest.len()));
        self.rest = rest;
        read
    }

    /// Into a bracket; back out by [`Cursor::shallower`].
    pub(super) fn deeper(&mut self) -> Option<()> {
        self.nesting += 1;
        (self.nesting <= NESTING_MAX).then_some(())
    }

    pub(super) fn shallower(&mut self) {
        self.nesting -= 1;
    }

    pub(super) fn is_at_quote(&self) -> bool {
        self.rest.starts_with(['\'', '"'])
    }

    /// Text in single or double quotes, its escapes undone.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let mut chars = self.rest.chars();
        let quote = chars.next()?;
        let mut text = String::new();
        loop {
            let next = chars.next()?;
            if next == quote {
                break;
            }
            text.push(if next == '\\' { unescaped(&mut chars)? } else { next });
        }
        self.rest = chars.as_str();
        Some(text)
    }

    /// The text up to an unescaped `end`, escapes and all; the cursor goes past it.
    pub(super) fn raw_until(&mut self, end: char) -> Option<&'t str> {
        let mut is_escaped = false;
        let found = self.rest.char_indices().find(|(_, next)| {
            let is_end = *next == end && !is_escaped;
            is_escaped = *next == '\\' && !is_escaped;
            is_end
        });
        let (at, _) = found?;
        let text = &self.rest[..at];
        self.rest = &self.rest[at + end.len_utf8()..];
        Some(text)
    }

    pub(super) fn whole(&mut self) -> Option<i64> {
        self.until(|next| !next.is_ascii_digit() && next != '-').parse().ok()
    }

    /// JSON as people write it in a path: strings in either quote.
    pub(super) fn literal(&mut self) -> Option<Json> {
        self.skip_blanks();
        if self.is_at_quote() {
            return self.quoted().map(|text| Json::String(text.into()));
        }
        if self.take("[") {
            return self.items("]", Self::literal).map(Json::Array);
        }
        if self.take("{") {
            let entries = self.items("}", Self::entry)?;
            return Some(Json::Object(entries.into_iter().collect::<Object>()));
        }
        let word = self.until(|next| next.is_whitespace() || ",)]}&|<>=!~".contains(next));
        match word {
            "true" => Some(Json::Bool(true)),
            "false" => Some(Json::Bool(false)),
            "null" => Some(Json::Null),
            number => Number::read(number).map(Json::Number),
        }
    }

    fn entry(&mut self) -> Option<(String, Json)> {
        self.skip_blanks();
        let key = if self.is_at_quote() { self.quoted()? } else { return None };
        self.expect(":")?;
        Some((key, self.literal()?))
    }

    /// A list up to `end`, by commas; may be empty.
    fn items<T>(
        &mut self,
        end: &str,
        mut one: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.expect(end).is_some() {
            return Some(items);
        }
        self.deeper()?;
        loop {
            items.push(one(self)?);
            if self.expect(end).is_some() {
                self.shallower();
                return Some(items);
            }
            self.expect(",")?;
        }
    }
}

/// What stands behind a backslash.
fn unescaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match chars.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => {
            let first = unit(chars)?;
            if !(0xd800..0xdc00).contains(&first) {
                return char::from_u32(first);
            }
            let is_pair = chars.next()? == '\\' && chars.next()? == 'u';
            let second = unit(chars).filter(|unit| is_pair && (0xdc00..0xe000).contains(unit))?;
            char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))?
        }
        other => other,
    })
}

fn unit(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit * 16 + chars.next()?.to_digit(16)?))
}
