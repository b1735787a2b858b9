//! # The reader: JSON text into a tree, numbers untouched
//!
//! Reads text that is known to be JSON, so it looks for ends and not for mistakes; text that is not
//! JSON after all gives some value and never a panic.

use super::json::{Json, Number};
use super::secrets::has_late;
use super::text::Text;

/// Deeper values are null; a payload that came through the door nests less.
const LEVELS_MAX: usize = 128;

pub(super) struct Reader<'t> {
    rest: &'t str,
    /// Whether its strings may hold late expressions.
    is_late: bool,
}

impl<'t> Reader<'t> {
    /// Of a payload that is stored.
    pub(super) fn stored(text: &'t str) -> Self {
        Self { rest: text, is_late: has_late(text) }
    }

    /// Of data as it came.
    pub(super) fn data(text: &'t str) -> Self {
        Self { rest: text, is_late: false }
    }

    pub(super) fn value(&mut self, level: usize) -> Json {
        self.rest = self.rest.trim_start();
        match self.rest.bytes().next() {
            Some(b'{' | b'[') if level >= LEVELS_MAX => {
                self.skip();
                Json::Null
            }
            Some(b'{') => {
                Json::Object(self.items(|reader| reader.entry(level)).into_iter().collect())
            }
            Some(b'[') => Json::Array(self.items(|reader| reader.value(level + 1))),
            Some(b'"') => self.text().map_or(Json::Null, |text| {
                Json::String(if self.is_late { Text::stored(text) } else { text.into() })
            }),
            Some(_) | None => self.word(),
        }
    }

    /// What stands between the bracket here and its end.
    fn items<T>(&mut self, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        self.rest = self.rest[1..].trim_start();
        while !self.rest.is_empty() && !self.rest.starts_with(['}', ']']) {
            let before = self.rest.len();
            items.push(one(self));
            self.rest = self.rest.trim_start();
            self.rest = self.rest.strip_prefix(',').unwrap_or(self.rest).trim_start();
            if self.rest.len() == before {
                break;
            }
        }
        self.rest = self.rest.strip_prefix(['}', ']']).unwrap_or(self.rest);
        items
    }

    fn entry(&mut self, level: usize) -> (String, Json) {
        let key = self.text().unwrap_or_default();
        self.rest = self.rest.trim_start();
        self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
        (key, self.value(level + 1))
    }

    fn text(&mut self) -> Option<String> {
        let quoted = self.quoted();
        let inside = quoted.strip_prefix('"')?.strip_suffix('"')?;
        if inside.contains('\\') {
            return serde_json::from_str(quoted).ok();
        }
        Some(inside.to_owned())
    }

    /// The string here, with its quotes.
    fn quoted(&mut self) -> &'t str {
        let bytes = self.rest.as_bytes();
        let mut at = 1;
        while at < bytes.len() && bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        self.advance(at + 1)
    }

    fn word(&mut self) -> Json {
        let end = self.rest.find([',', '}', ']', ' ', '\n', '\r', '\t']);
        match self.advance(end.unwrap_or(self.rest.len())) {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            word => Number::read(word).map_or(Json::Null, Json::Number),
        }
    }

    /// Passes over the map or list here without going down into it.
    fn skip(&mut self) {
        let mut open = 0_usize;
        while let Some(byte) = self.rest.bytes().next() {
            match byte {
                b'"' => {
                    self.quoted();
                    continue;
                }
                b'{' | b'[' => open += 1,
                b'}' | b']' => open -= 1,
                _ => {}
            }
            let next = self.rest.chars().next().map_or(1, char::len_utf8);
            self.advance(next);
            if open == 0 {
                return;
            }
        }
    }

    fn advance(&mut self, bytes: usize) -> &'t str {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.rest = rest;
        passed
    }
}
