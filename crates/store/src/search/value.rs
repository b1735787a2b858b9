//! # Values: what a clause asks of a field, and whether a value passes

use semel_model::{ExecutionId, TaskId};

/// What one clause asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// Any of these.
    Text(Vec<Pattern>),
    /// Any of these.
    Id(Vec<IdPattern>),
    /// Any of these.
    Number(Vec<i64>),
    Above(i64),
    Below(i64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    Exact(String),
    /// `*` stands for any text. Case matters, as it does without one.
    Like(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdPattern {
    /// There is no id.
    Absent,
    Exact([u8; 16]),
    /// Ids that begin alike, both ends included.
    Between([u8; 16], [u8; 16]),
    Anything,
    /// What was asked for is no id.
    Nothing,
}

/// A field's value in some row. Values of one field are ordered as every store orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'a> {
    Text(&'a str),
    Id(Option<[u8; 16]>),
    Number(i64),
}

impl From<ExecutionId> for Value<'_> {
    fn from(id: ExecutionId) -> Self {
        Self::Id(Some(*id.as_bytes()))
    }
}

impl From<TaskId> for Value<'_> {
    fn from(id: TaskId) -> Self {
        Self::Id(Some(*id.as_bytes()))
    }
}

impl Test {
    /// How many of its values have one.
    pub fn wildcards(&self) -> usize {
        match self {
            Self::Text(patterns) => {
                patterns.iter().filter(|pattern| matches!(pattern, Pattern::Like(_))).count()
            }
            Self::Id(patterns) => {
                let is_wild = |pattern: &&IdPattern| matches!(pattern, IdPattern::Between(..));
                patterns.iter().filter(is_wild).count()
            }
            Self::Number(_) | Self::Above(_) | Self::Below(_) => 0,
        }
    }

    /// What holds if one of the two does, where that is one test.
    pub(super) fn or(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => Some(Self::Text([one, other].concat())),
            (Self::Id(one), Self::Id(other)) => Some(Self::Id([one, other].concat())),
            (Self::Number(one), Self::Number(other)) => Some(Self::Number([one, other].concat())),
            (
                Self::Text(_) | Self::Id(_) | Self::Number(_) | Self::Above(_) | Self::Below(_),
                _,
            ) => None,
        }
    }

    /// False for a value of another type.
    pub fn holds(&self, value: Value<'_>) -> bool {
        match (self, value) {
            (Self::Text(patterns), Value::Text(text)) => {
                patterns.iter().any(|pattern| pattern.matches(text))
            }
            (Self::Id(patterns), Value::Id(id)) => {
                patterns.iter().any(|pattern| pattern.matches(id))
            }
            (Self::Number(numbers), Value::Number(number)) => numbers.contains(&number),
            (Self::Above(bound), Value::Number(number)) => number > *bound,
            (Self::Below(bound), Value::Number(number)) => number < *bound,
            (
                Self::Text(_) | Self::Id(_) | Self::Number(_) | Self::Above(_) | Self::Below(_),
                _,
            ) => false,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(values) => values.len(),
            Self::Id(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Above(_) | Self::Below(_) => 1,
        }
    }
}

impl Pattern {
    pub(super) fn read(text: String, is_literal: bool) -> Self {
        if text.contains('*') && !is_literal { Self::Like(text) } else { Self::Exact(text) }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Exact(exact) => exact == text,
            Self::Like(pattern) => is_like(pattern, text),
        }
    }

    /// What every match begins with.
    pub fn prefix(&self) -> &str {
        match self {
            Self::Exact(exact) => exact,
            Self::Like(pattern) => pattern.split('*').next().unwrap_or(""),
        }
    }
}

/// Pieces between stars are found one after the other: no backtracking, however many stars.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*').filter(|piece| !piece.is_empty()) {
        match text.find(piece) {
            Some(at) => text = &text[at + piece.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

/// Where hyphens stand in the text of an id.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

impl IdPattern {
    /// None: a star that is not at the end.
    pub(super) fn read(text: &str, is_literal: bool) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Absent);
        }
        match text.split_once('*') {
            None => {
                Some(text.parse().map_or(Self::Nothing, |id: TaskId| Self::Exact(*id.as_bytes())))
            }
            Some(_) if is_literal => Some(Self::Nothing),
            Some((prefix, rest)) => {
                rest.bytes().all(|byte| byte == b'*').then(|| Self::begins(prefix))
            }
        }
    }

    fn begins(prefix: &str) -> Self {
        if prefix.is_empty() {
            return Self::Anything;
        }
        let (mut low, mut high) = ([0; 16], [0xff; 16]);
        let mut digits = 0;
        for (at, letter) in prefix.chars().enumerate() {
            match (letter.to_digit(16), HYPHENS.contains(&at)) {
                (None, true) if letter == '-' => {}
                (Some(digit), false) if digits < 32 => {
                    let digit = u8::try_from(digit).unwrap_or(0);
                    let (shift, mask) = if digits % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
                    low[digits / 2] |= digit << shift;
                    high[digits / 2] &= (digit << shift) | mask;
                    digits += 1;
                }
                _ => return Self::Nothing,
            }
        }
        Self::Between(low, high)
    }

    fn matches(self, id: Option<[u8; 16]>) -> bool {
        match (self, id) {
            (Self::Anything, _) | (Self::Absent, None) => true,
            (Self::Exact(exact), Some(id)) => exact == id,
            (Self::Between(low, high), Some(id)) => low <= id && id <= high,
            (Self::Absent | Self::Exact(_) | Self::Between(..) | Self::Nothing, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text) in [
            ("*", ""),
            ("a*", "a"),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*c", "ac"),
            ("a*b*c", "a-b-b-c"),
            ("**a**", "bab"),
            ("*é*", "caféine"),
        ] {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a*", "ba"), ("a*a", "a"), ("A*", "a"), ("a*b*c", "a-c-b"), ("", "a")]
        {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn ids_are_found_by_how_they_begin() {
        let id: TaskId = "0190c0de-1234-7abc-8def-0123456789ab".parse().unwrap();
        let finds =
            |text: &str| IdPattern::read(text, false).unwrap().matches(Some(*id.as_bytes()));
        for prefix in ["0*", "019*", "0190C0DE*", "0190c0de-*", "0190c0de-1234-7**", "*"] {
            assert!(finds(prefix), "{prefix}");
        }
        for prefix in ["1*", "0190-*", "0190c0de1*", "x*", "nonsense", "", "0190c0de-1234-7abc"] {
            assert!(!finds(prefix), "{prefix}");
        }
        assert!(finds(&id.to_string()));
        assert!(finds(&format!("{id}*")));
        assert_eq!(IdPattern::read("*a", false), None);
        assert_eq!(IdPattern::begins(&format!("{id}0")), IdPattern::Nothing);
    }
}
