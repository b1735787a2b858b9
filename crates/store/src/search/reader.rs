//! # The reader: one clause of a query, and what joins clauses
//!
//! As liberal as the clients are sloppy (blanks, quotes and parentheses wherever they may be), and
//! strict where a guess would find the wrong rows.

use super::SearchError;
use super::query::SHOWN_CHARS_MAX;

/// What a clause asks of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    AnyOf,
    NoneOf,
    Above,
    AtLeast,
    Below,
    AtMost,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    And,
    Or,
}

impl Join {
    fn word(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
        }
    }
}

/// What nobody understands here, and how to ask instead.
const OTHERWISE: [(&str, &str); 4] = [
    ("BETWEEN", "BETWEEN is not understood; use >= and <=, joined by AND"),
    ("LIKE", "LIKE is not understood; use = with * for any text"),
    ("IS", "IS is not understood; what is absent is = ''"),
    ("==", "== is not understood; write ="),
];

/// What a query may look like.
const GRAMMAR: &str = "a clause is a field, then =, !=, <>, <, >, <=, >=, IN or NOT IN, then a value or \
                       a list of values in parentheses; clauses are joined by AND and OR, negated by \
                       NOT, and grouped by parentheses";

pub(super) struct Reader<'a> {
    rest: &'a str,
    is_field: fn(&str) -> bool,
    /// Groups that are open, and NOTs before what is read.
    depth: usize,
    groups: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn of(text: &'a str, is_field: fn(&str) -> bool) -> Self {
        Self { rest: text, is_field, depth: 0, groups: 0 }
    }

    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    pub(super) fn malformed(&self, why: &'static str) -> SearchError {
        malformed(self.rest, why)
    }

    pub(super) fn descend(&mut self, depth_max: usize) -> Result<(), SearchError> {
        self.depth += 1;
        match self.depth > depth_max {
            true => {
                Err(SearchError::TooMuch { what: "query", max: depth_max, unit: "nested groups" })
            }
            false => Ok(()),
        }
    }

    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Takes a NOT that stands before a clause or a group.
    pub(super) fn is_negated(&mut self) -> bool {
        self.take_word("NOT")
    }

    pub(super) fn opens_group(&mut self) -> bool {
        self.skip_blanks();
        let Some(rest) = self.rest.strip_prefix('(') else { return false };
        self.rest = rest;
        self.groups += 1;
        true
    }

    pub(super) fn close_group(&mut self) -> Result<(), SearchError> {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(')');
        self.rest = rest.ok_or_else(|| self.malformed("a parenthesis is not closed"))?;
        self.groups -= 1;
        Ok(())
    }

    /// Takes the word that joins what was read with what follows; false: another word, or the end.
    pub(super) fn joined_by(&mut self, join: Join) -> Result<bool, SearchError> {
        self.skip_blanks();
        if self.take_word(join.word()) {
            return Ok(true);
        }
        let ends = self.rest.is_empty() || self.rest.starts_with(')');
        let is_joined = [Join::And, Join::Or].iter().any(|join| begins(self.rest, join.word()));
        match ends || is_joined {
            true => Ok(false),
            false => Err(self.malformed("clauses are joined by AND or OR, in capitals")),
        }
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let takes = begins(self.rest, word);
        if takes {
            self.rest = &self.rest[word.len()..];
        }
        takes
    }

    pub(super) fn name(&mut self) -> Result<&'a str, SearchError> {
        let clause = self.rest;
        self.skip_blanks();
        let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '-');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        match name {
            "" => Err(malformed(clause, GRAMMAR)),
            name => Ok(name),
        }
    }

    pub(super) fn operator(&mut self, clause: &str) -> Result<Operator, SearchError> {
        const SIGNS: [(&str, Operator); 7] = [
            ("!=", Operator::NoneOf),
            ("<>", Operator::NoneOf),
            (">=", Operator::AtLeast),
            ("<=", Operator::AtMost),
            ("=", Operator::AnyOf),
            (">", Operator::Above),
            ("<", Operator::Below),
        ];
        self.skip_blanks();
        if let Some((_, why)) = OTHERWISE.iter().find(|(word, _)| is_word(self.rest, word)) {
            return Err(malformed(clause, why));
        }
        if is_word(self.rest, "IN") {
            self.rest = &self.rest["IN".len()..];
            return Ok(Operator::AnyOf);
        }
        if is_word(self.rest, "NOT") {
            let rest = self.rest["NOT".len()..].trim_start();
            if is_word(rest, "IN") {
                self.rest = &rest["IN".len()..];
                return Ok(Operator::NoneOf);
            }
        }
        let known = "after the field comes =, !=, <, >, <=, >=, IN or NOT IN";
        let found = SIGNS.iter().find(|(sign, _)| self.rest.starts_with(sign));
        let (sign, operator) = found.ok_or_else(|| malformed(clause, known))?;
        self.rest = &self.rest[sign.len()..];
        match self.rest.starts_with(['=', '>', '<', '!']) {
            true => Err(malformed(clause, known)),
            false => Ok(*operator),
        }
    }

    /// Each text, and that a star in it stands for any text.
    pub(super) fn values(&mut self, clause: &str) -> Result<Vec<(String, bool)>, SearchError> {
        self.skip_blanks();
        match self.rest.strip_prefix('(') {
            Some(rest) => {
                self.rest = rest;
                self.list(clause)
            }
            None => self.loose(clause),
        }
    }

    /// After an opening parenthesis, up to the closing one.
    fn list(&mut self, clause: &str) -> Result<Vec<(String, bool)>, SearchError> {
        let mut values = Vec::new();
        let mut opened = 1;
        loop {
            let inside = self.rest.trim_start_matches([' ', '(']);
            opened += self.rest[..self.rest.len() - inside.len()].matches('(').count();
            self.rest = inside;
            let value = match self.quoted(clause)? {
                Some(value) => value,
                None => {
                    let end = self.rest.find([',', ')']).unwrap_or(self.rest.len());
                    self.word(clause, end)?
                }
            };
            values.push((value, false));
            if self.is_list_closed(clause, &mut opened)? {
                return Ok(values);
            }
        }
    }

    /// After a value of a list: false, if a comma comes and another value.
    fn is_list_closed(&mut self, clause: &str, opened: &mut usize) -> Result<bool, SearchError> {
        loop {
            self.skip_blanks();
            let mut letters = self.rest.chars();
            let next = letters.next();
            self.rest = letters.as_str();
            match next {
                Some(',') => return Ok(false),
                // Outside of groups nobody counts them.
                Some(')') if self.groups == 0 => {
                    self.rest = self.rest.trim_start_matches(')');
                    return Ok(true);
                }
                Some(')') if *opened == 1 => return Ok(true),
                Some(')') => *opened -= 1,
                Some(_) => return Err(malformed(clause, "values are separated by commas")),
                None => return Err(malformed(clause, "a parenthesis is not closed")),
            }
        }
    }

    /// Values without parentheses, up to what joins the next clause.
    fn loose(&mut self, clause: &str) -> Result<Vec<(String, bool)>, SearchError> {
        let mut values = Vec::new();
        loop {
            let value = match self.quoted(clause)? {
                Some(value) => value,
                None => self.word(clause, end_of_loose(self.rest, self.groups > 0))?,
            };
            values.push((value, false));
            self.skip_blanks();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None => return Ok(values),
            }
        }
    }

    /// None: what follows is not quoted.
    fn quoted(&mut self, clause: &str) -> Result<Option<String>, SearchError> {
        self.skip_blanks();
        let quote = self.rest.chars().next().filter(|letter| matches!(letter, '\'' | '"'));
        let Some(quote) = quote else { return Ok(None) };
        let rest = &self.rest[1..];
        let end = rest.find(quote).ok_or_else(|| malformed(clause, "a quote is not closed"))?;
        self.rest = &rest[end + 1..];
        Ok(Some(rest[..end].to_owned()))
    }

    /// Everything up to `end`. A word that was meant to join clauses is not taken for a value.
    fn word(&mut self, clause: &str, end: usize) -> Result<String, SearchError> {
        let (value, rest) = self.rest.split_at(end);
        self.rest = rest;
        let stray =
            |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '(' | ')');
        let value = value.trim_matches(stray);
        let joins = |word: &str| ["and", "or"].iter().any(|join| word.eq_ignore_ascii_case(join));
        if value.split_whitespace().count() > 1 && value.split_whitespace().any(joins) {
            let why = "clauses are joined by AND or OR, in capitals; a value with such a word is \
                       quoted";
            return Err(malformed(clause, why));
        }
        if self.hides_clause(value) {
            let why = "clauses are joined by AND or OR, in capitals; a value that looks like a clause \
                       is quoted";
            return Err(malformed(clause, why));
        }
        Ok(value.to_owned())
    }

    /// Another clause, joined as in another language or not at all.
    fn hides_clause(&self, value: &str) -> bool {
        let is_sign = |word: &str| matches!(word, "&" | "&&" | "|" | "||");
        let mut words = value.split_whitespace();
        if words.clone().any(is_sign) {
            return true;
        }
        words.next(); // The value itself.
        let name = |word: &str| word.split(['=', '<', '>', '!']).next().map(str::len);
        let is_clause = |word: &str| {
            let end = name(word).unwrap_or(word.len());
            end < word.len() && (self.is_field)(&word[..end])
        };
        words.any(is_clause)
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }
}

/// Whether a word that joins or negates stands here: in capitals, and by itself.
fn begins(text: &str, word: &str) -> bool {
    let rest = text.strip_prefix(word);
    rest.is_some_and(|rest| rest.starts_with(|next: char| next.is_whitespace() || next == '('))
}

/// Whether an operator stands here, in any case. A name goes on, an operator does not.
fn is_word(text: &str, word: &str) -> bool {
    let found = text.get(..word.len()).filter(|found| found.eq_ignore_ascii_case(word));
    found.is_some_and(|_| !text[word.len()..].starts_with(|next: char| next.is_alphanumeric()))
}

/// A comma, an AND or OR that stands alone, or the end of the group.
fn end_of_loose(text: &str, is_in_group: bool) -> usize {
    let ends = |(at, letter): &(usize, char)| {
        let joined = || {
            let next = text[*at..].trim_start();
            [Join::And, Join::Or].iter().any(|join| begins(next, join.word()))
        };
        *letter == ',' || is_in_group && *letter == ')' || letter.is_whitespace() && joined()
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

pub(super) fn malformed(clause: &str, why: &'static str) -> SearchError {
    let clause = clause.trim().chars().take(SHOWN_CHARS_MAX).collect();
    SearchError::Malformed { clause, why }
}
