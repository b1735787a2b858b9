//! # Conditions: whether an event handler acts on what it hears
//!
//! The part of JavaScript that needs no interpreter: comparisons of `$.path` with literals or other
//! paths, joined by `&&`, `||`, `!` and parentheses. What it means here is what it means there, or
//! it is not understood: nothing is read by half.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::json::{Json, Number};

/// A longer condition is refused.
const CONDITION_CHARS_MAX: usize = 4_000;

const UNDERSTOOD: &str = "is not understood in this release: write comparisons (== === != !== < <= \
                          > >=) of $.path with a text, number, true, false, null or another \
                          $.path, joined by && || ! and parentheses";

#[derive(Debug)]
pub(crate) struct Condition(Node);

#[derive(Debug)]
enum Node {
    Any(Vec<Node>),
    Every(Vec<Node>),
    Not(Box<Node>),
    Compare(Operand, Operator, Operand),
    Value(Operand),
}

#[derive(Debug)]
enum Operand {
    Path(Vec<Key>),
    Literal(Json),
    Undefined,
}

#[derive(Debug)]
enum Key {
    Name(String),
    Index(usize),
}

#[derive(Clone, Copy, Debug)]
enum Operator {
    Same,
    NotSame,
    Equal,
    Unequal,
    LessOrEqual,
    GreaterOrEqual,
    Less,
    Greater,
}

/// Longer ones first where one begins like another.
const OPERATORS: [(&str, Operator); 8] = [
    ("===", Operator::Same),
    ("!==", Operator::NotSame),
    ("==", Operator::Equal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
];

/// None is undefined.
type Seen<'a> = Option<Cow<'a, Json>>;

impl Condition {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.chars().count() > CONDITION_CHARS_MAX {
            return Err(format!("a condition has at most {CONDITION_CHARS_MAX} characters"));
        }
        let text = text.trim().trim_end_matches(';');
        let mut reading = Reading { cursor: Cursor::new(text) };
        let node = reading.any();
        reading.cursor.skip_blanks();
        let whole = node.filter(|_| reading.cursor.is_at_end());
        whole.map(Self).ok_or_else(|| format!("{text} {UNDERSTOOD}"))
    }

    /// The error is one that JavaScript would have thrown.
    pub(crate) fn holds(&self, document: &Json) -> Result<bool, String> {
        // As Conductor converts what a script gives: only true, and numbers over 0, are yes.
        Ok(match self.0.value(document)?.as_deref() {
            Some(Json::Bool(truth)) => *truth,
            Some(Json::Number(number)) => number.as_f64() > 0.0,
            Some(Json::Null | Json::String(_) | Json::Array(_) | Json::Object(_)) | None => false,
        })
    }
}

struct Reading<'t> {
    cursor: Cursor<'t>,
}

impl Reading<'_> {
    fn any(&mut self) -> Option<Node> {
        let mut parts = vec![self.every()?];
        while self.cursor.expect("||").is_some() {
            parts.push(self.every()?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Node::Any(parts)) }
    }

    fn every(&mut self) -> Option<Node> {
        let mut parts = vec![self.one()?];
        while self.cursor.expect("&&").is_some() {
            parts.push(self.one()?);
        }
        if parts.len() == 1 { parts.pop() } else { Some(Node::Every(parts)) }
    }

    /// `!` binds closer than any comparison: one behind it is left over, and so refused.
    fn one(&mut self) -> Option<Node> {
        self.cursor.deeper()?;
        self.cursor.skip_blanks();
        let node = if self.cursor.take("!") {
            Node::Not(Box::new(self.denied()?))
        } else if self.cursor.take("(") {
            let inside = self.any()?;
            self.cursor.expect(")")?;
            inside
        } else {
            self.comparison()?
        };
        self.cursor.shallower();
        Some(node)
    }

    fn denied(&mut self) -> Option<Node> {
        self.cursor.skip_blanks();
        match self.cursor.peek()? {
            '!' | '(' => self.one(),
            _ => self.operand().map(Node::Value),
        }
    }

    fn comparison(&mut self) -> Option<Node> {
        let left = self.operand()?;
        self.cursor.skip_blanks();
        let found = OPERATORS.into_iter().find(|(symbol, _)| self.cursor.take(symbol));
        match found {
            Some((_, operator)) => Some(Node::Compare(left, operator, self.operand()?)),
            None => Some(Node::Value(left)),
        }
    }

    fn operand(&mut self) -> Option<Operand> {
        self.cursor.skip_blanks();
        if self.cursor.take("$") {
            return self.path().map(Operand::Path);
        }
        if self.cursor.take("undefined") {
            let goes_on = self.cursor.peek().is_some_and(is_of_name);
            return (!goes_on).then_some(Operand::Undefined);
        }
        let is_structure = matches!(self.cursor.peek(), Some('[' | '{'));
        if is_structure { None } else { self.cursor.literal().map(Operand::Literal) }
    }

    fn path(&mut self) -> Option<Vec<Key>> {
        let mut keys = Vec::new();
        loop {
            if self.cursor.take(".") {
                let name = self.cursor.until(|next| !is_of_name(next));
                let first = name.chars().next()?;
                keys.push((!first.is_numeric()).then(|| Key::Name(name.to_owned()))?);
            } else if self.cursor.take("[") {
                self.cursor.skip_blanks();
                let key = match self.cursor.is_at_quote() {
                    true => Key::Name(self.cursor.quoted()?),
                    false => Key::Index(usize::try_from(self.cursor.whole()?).ok()?),
                };
                self.cursor.expect("]")?;
                keys.push(key);
            } else {
                // `$x` is a variable of a script, not a path.
                return (!self.cursor.peek().is_some_and(is_of_name)).then_some(keys);
            }
        }
    }
}

fn is_of_name(next: char) -> bool {
    next.is_alphanumeric() || next == '_' || next == '$'
}

impl Node {
    fn value<'a>(&'a self, document: &'a Json) -> Result<Seen<'a>, String> {
        match self {
            Self::Any(parts) => first(parts, document, true),
            Self::Every(parts) => first(parts, document, false),
            Self::Not(part) => Ok(truth(!is_truthy(part.value(document)?.as_deref()))),
            Self::Value(operand) => operand.value(document),
            Self::Compare(left, operator, right) => {
                let (left, right) = (left.value(document)?, right.value(document)?);
                Ok(truth(operator.holds(left.as_deref(), right.as_deref())))
            }
        }
    }
}

/// The first part that is as wanted, else the last.
fn first<'a>(parts: &'a [Node], document: &'a Json, wanted: bool) -> Result<Seen<'a>, String> {
    let mut last = None;
    for part in parts {
        last = part.value(document)?;
        if is_truthy(last.as_deref()) == wanted {
            break;
        }
    }
    Ok(last)
}

fn truth<'a>(truth: bool) -> Seen<'a> {
    Some(Cow::Owned(Json::Bool(truth)))
}

impl Operand {
    fn value<'a>(&'a self, document: &'a Json) -> Result<Seen<'a>, String> {
        let keys = match self {
            Self::Undefined => return Ok(None),
            Self::Literal(value) => return Ok(Some(Cow::Borrowed(value))),
            Self::Path(keys) => keys,
        };
        let mut found = Some(document);
        for (at, key) in keys.iter().enumerate() {
            let here = found.filter(|here| !here.is_null()).ok_or_else(|| {
                let what = if found.is_some() { "null" } else { "undefined" };
                format!("cannot read {} of {what}", key.shown())
            })?;
            if let Some(length) = key.length_of(here) {
                let is_last = at + 1 == keys.len();
                return Ok(is_last.then_some(Cow::Owned(Json::Number(Number::Whole(length)))));
            }
            found = key.of(here);
        }
        Ok(found.map(Cow::Borrowed))
    }
}

impl Key {
    fn of<'a>(&self, value: &'a Json) -> Option<&'a Json> {
        match (self, value) {
            (Self::Name(name), Json::Object(object)) => object.get(name),
            (Self::Index(at), Json::Array(items)) => items.get(*at),
            (Self::Index(at), Json::Object(object)) => object.get(&at.to_string()),
            (Self::Name(_), _) | (Self::Index(_), _) => None,
        }
    }

    fn length_of(&self, value: &Json) -> Option<i64> {
        let length = match (self, value) {
            (Self::Name(name), Json::Array(items)) if name == "length" => items.len(),
            (Self::Name(name), Json::String(text)) if name == "length" => {
                text.encode_utf16().count()
            }
            (Self::Name(_) | Self::Index(_), _) => return None,
        };
        i64::try_from(length).ok()
    }

    fn shown(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Index(at) => at.to_string(),
        }
    }
}

impl Operator {
    fn holds(self, left: Option<&Json>, right: Option<&Json>) -> bool {
        match self {
            Self::Same => is_same(left, right),
            Self::NotSame => !is_same(left, right),
            Self::Equal => is_equal(left, right),
            Self::Unequal => !is_equal(left, right),
            Self::Less => is_ordered(left, right, |it| it.is_lt()),
            Self::LessOrEqual => is_ordered(left, right, |it| it.is_le()),
            Self::Greater => is_ordered(left, right, |it| it.is_gt()),
            Self::GreaterOrEqual => is_ordered(left, right, |it| it.is_ge()),
        }
    }
}

fn is_truthy(value: Option<&Json>) -> bool {
    match value {
        None | Some(Json::Null) => false,
        Some(Json::Bool(truth)) => *truth,
        Some(Json::Number(number)) => number.as_f64() != 0.0,
        Some(Json::String(text)) => !text.is_empty(),
        Some(Json::Array(_) | Json::Object(_)) => true,
    }
}

/// `===`. Lists and objects are the same as nothing: each is itself alone.
fn is_same(left: Option<&Json>, right: Option<&Json>) -> bool {
    match (left, right) {
        (None, None) | (Some(Json::Null), Some(Json::Null)) => true,
        (Some(Json::Bool(left)), Some(Json::Bool(right))) => left == right,
        (Some(Json::String(left)), Some(Json::String(right))) => left == right,
        (Some(Json::Number(left)), Some(Json::Number(right))) => left.as_f64() == right.as_f64(),
        (Some(_) | None, Some(_) | None) => false,
    }
}

/// `==`: null and undefined are equal, and what is not of one kind is compared as numbers.
fn is_equal(left: Option<&Json>, right: Option<&Json>) -> bool {
    let is_nothing = |value: Option<&Json>| value.is_none_or(Json::is_null);
    let is_text = |value: Option<&Json>| matches!(value, Some(Json::String(_)));
    if is_nothing(left) || is_nothing(right) {
        return is_nothing(left) && is_nothing(right);
    }
    if is_text(left) && is_text(right) {
        return is_same(left, right);
    }
    number(left) == number(right)
}

fn is_ordered(
    left: Option<&Json>,
    right: Option<&Json>,
    is_wanted: impl Fn(std::cmp::Ordering) -> bool,
) -> bool {
    if let (Some(Json::String(left)), Some(Json::String(right))) = (left, right) {
        return is_wanted(left.encode_utf16().cmp(right.encode_utf16()));
    }
    number(left).partial_cmp(&number(right)).is_some_and(is_wanted)
}

/// As JavaScript makes a number of anything.
fn number(value: Option<&Json>) -> f64 {
    match value {
        None | Some(Json::Array(_) | Json::Object(_)) => f64::NAN,
        Some(Json::Null) => 0.0,
        Some(Json::Bool(truth)) => f64::from(u8::from(*truth)),
        Some(Json::Number(number)) => number.as_f64(),
        Some(Json::String(text)) => {
            let text = text.trim();
            let is_plain = text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
            match text.parse() {
                _ if text.is_empty() => 0.0,
                Ok(number) if is_plain => number,
                Ok(_) | Err(_) => f64::NAN,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{"state": "PAID", "n": 10, "zero": 0, "yes": true, "no": false,
        "nothing": null, "text": "12", "empty": "", "list": [1, {"x": "y"}], "odd key": 1,
        "deep": {"a": {"b": 5}}}"#;

    fn holds(text: &str) -> Result<bool, String> {
        let document = Json::read_text(DOCUMENT).unwrap();
        Condition::parse(text).unwrap_or_else(|why| panic!("{why}")).holds(&document)
    }

    #[test]
    fn a_condition_means_what_it_means_in_javascript() {
        for text in [
            "$.state == 'PAID'",
            "$.state === \"PAID\"",
            "$.n > 9 && $.n <= 10",
            "$.n >= 10.0",
            "$.n == '10'",
            "$.text > 3",
            "$.n !== '10'",
            "$['odd key'] == 1",
            "$.list[1].x == 'y'",
            "$.list.length == 2",
            "$.state.length == 4",
            "$.missing == null",
            "$.missing === undefined",
            "$.missing !== null",
            "$.nothing == undefined",
            "!($.state == 'OPEN')",
            "!$.no",
            "!!$.state",
            "$.yes",
            "$.n",
            "$.yes == 1",
            "($.no || $.yes) && ($.deep.a.b == 5)",
            "$.no || $.n == 1 || $.state == 'PAID'",
            "$.no && $.missing.more || $.yes",
            "'a' < 'b'",
            "$.n == $.n;",
            "\n $.state\n==\n'PAID'\n",
            "true",
            "$.empty == 0",
        ] {
            assert_eq!(holds(text), Ok(true), "{text}");
        }
        for text in [
            "$.state == 'paid'",
            "$.n < 9",
            "$.zero",
            "$.state",
            "$.list",
            "$.yes && $.state",
            "$.missing != null",
            "$.nothing === undefined",
            "$.missing > 1",
            "$.missing <= 1",
            "$.list == $.list[0]",
            "!$.yes",
            "$.no == null",
            "$.state > 1",
            "$.state < 1",
            "$",
        ] {
            assert_eq!(holds(text), Ok(false), "{text}");
        }
    }

    #[test]
    fn reading_on_from_nothing_is_an_error() {
        assert_eq!(holds("$.missing.more == 1"), Err("cannot read more of undefined".to_owned()));
        assert_eq!(holds("$.nothing.more == 1"), Err("cannot read more of null".to_owned()));
        assert_eq!(holds("$.yes || $.missing.more"), Ok(true), "what is not looked at is no error");
    }

    #[test]
    fn what_is_not_understood_is_refused_as_a_whole() {
        for text in [
            "",
            ";",
            "$.a ==",
            "== 1",
            "$.a = 1",
            "$.a + 1 == 2",
            "$.a+1 == 2",
            "$.a-b == 2",
            "$.list.includes('x')",
            "$.a.toString() == 'x'",
            "$.a == b",
            "$a == 1",
            "$.a == 1 == 2",
            "!$.a == 1",
            "!($.a) == 1",
            "($.a) == 1",
            "($.a == 1",
            "$.a == 1)",
            "$.a == 1) || ($.b == 2",
            "$.a ? 1 : 2",
            "$.a?.b == 1",
            "$.a & $.b",
            "$.a && ",
            "$.a == [1]",
            "$.a == {}",
            "$.a == undefinedly",
            "$.a == /x/",
            "function() { return true }",
            "return $.a == 1",
            "$.1 == 1",
            "$.a[-1] == 1",
            "$..a == 1",
            "$.* == 1",
            "`x` == $.a",
            "$.a == 1 // why",
            "$.a in [1]",
        ] {
            assert!(Condition::parse(text).is_err(), "{text}");
        }
        let why = Condition::parse("$.a + 1").unwrap_err();
        assert!(
            why.starts_with("$.a + 1 is not understood in this release: write compar"),
            "{why}"
        );
    }

    #[test]
    fn depth_and_length_have_a_limit() {
        assert!(Condition::parse(&format!("{}$.a{}", "(".repeat(31), ")".repeat(31))).is_ok());
        assert!(Condition::parse(&format!("{}$.a{}", "(".repeat(33), ")".repeat(33))).is_err());
        assert!(Condition::parse(&"!".repeat(3_000)).is_err());
        assert!(Condition::parse(&format!("$.a == '{}'", "x".repeat(4_000))).is_err());
    }
}
