//! # Json: payloads as expressions see them
//!
//! A tree that keeps what a payload says: the order of keys, and the text of every number. Numbers
//! that nobody calculates with leave as they came, `1.10` and integers of any size included, which
//! `serde_json::Value` would round. Payloads were checked at the door; should one still hold what
//! cannot be represented (half a surrogate pair, endless nesting), that part is replaced, not fatal.

use std::cmp::Ordering;

use semel_model::Payload;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::reader::Reader;
use super::text::Text;

#[derive(Clone, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    String(Text),
    Array(Vec<Json>),
    Object(Object),
}

impl Json {
    /// What is stored.
    pub(super) fn read(stored: &Payload) -> Self {
        Reader::stored(stored.text()).value(0)
    }

    /// What came from outside and is not stored yet.
    pub(crate) fn read_data(data: &Payload) -> Self {
        Reader::data(data.text()).value(0)
    }

    /// JSON inside of data. None unless the text is JSON.
    pub(super) fn read_text(text: &str) -> Option<Self> {
        Payload::from_text(text.to_owned()).ok().map(|payload| Self::read_data(&payload))
    }

    /// As it is stored.
    pub(super) fn to_payload(&self) -> Payload {
        payload(&Written { value: self, form: Form::Stored })
    }

    /// As whoever is outside is shown it.
    pub(super) fn to_data(&self) -> Payload {
        payload(&Written { value: self, form: Form::Shown })
    }

    pub(super) fn to_text(&self) -> String {
        text(&Written { value: self, form: Form::Shown })
    }

    /// Inside text: a string as it is, anything else as JSON. Whatever was late inside of a list or
    /// an object is data now.
    pub(super) fn into_text(self) -> Text {
        match self {
            Self::String(text) => text,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Array(_) | Self::Object(_) => {
                self.to_text().into()
            }
        }
    }

    /// The same as data.
    pub(super) fn into_plain(self) -> String {
        self.into_text().into_shown()
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Nothing that tells one thing from another: null, blank text, or a list or object of
    /// nothing else.
    pub(super) fn is_blank(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(_) | Self::Number(_) => false,
            Self::String(text) => text.trim().is_empty(),
            Self::Array(items) => items.iter().all(Self::is_blank),
            Self::Object(object) => object.iter().all(|(_, value)| value.is_blank()),
        }
    }

    /// The value with another one at that path of names and positions, if the path leads somewhere.
    #[must_use]
    pub(super) fn put(self, path: &[String], value: Self) -> Self {
        let Some((name, rest)) = path.split_first() else { return value };
        match self {
            Self::Object(object) => {
                let mut value = Some(value);
                let entries = object.into_entries().into_iter().map(|(key, inner)| {
                    let given = value.take_if(|_| key == *name);
                    let inner = match given {
                        Some(given) => inner.put(rest, given),
                        None => inner,
                    };
                    (key, inner)
                });
                Self::Object(entries.collect())
            }
            Self::Array(mut items) => {
                let at = name.parse::<usize>().ok();
                if let Some(item) = at.and_then(|at| items.get_mut(at)) {
                    *item = std::mem::replace(item, Self::Null).put(rest, value);
                }
                Self::Array(items)
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => self,
        }
    }

    pub(super) fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Object(_) => {
                None
            }
        }
    }

    pub(crate) fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(object) => Some(object),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    pub(crate) fn size(&self) -> Size {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => Size { levels: 0, nodes: 1 },
            Self::String(text) => Size { levels: 0, nodes: text_nodes(text) },
            Self::Array(items) => Size::around(items.iter().map(Self::size)),
            Self::Object(object) => Size::around(object.iter().map(|(key, value)| {
                let Size { levels, nodes } = value.size();
                Size { levels, nodes: nodes + text_nodes(key) - 1 }
            })),
        }
    }
}

/// What a value weighs: how deep it nests, and how many nodes a copy of it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) levels: usize,
    pub(super) nodes: usize,
}

impl Size {
    fn around(inside: impl Iterator<Item = Self>) -> Self {
        let all = inside.fold(Self::default(), |all, one| Self {
            levels: all.levels.max(one.levels),
            nodes: all.nodes + one.nodes,
        });
        Self { levels: all.levels + 1, nodes: all.nodes + 1 }
    }
}

/// Text weighs too: eight bytes are a node.
fn text_nodes(text: &str) -> usize {
    1 + text.len() / 8
}

/// A number by its text.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    Whole(i64),
    /// Everything that is not written exactly as an `i64` would be.
    Text(Box<str>),
}

impl Number {
    /// None unless the text is a JSON number.
    pub(super) fn read(text: &str) -> Option<Self> {
        let looks = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
        if looks && let Ok(whole) = text.parse::<i64>() {
            let is_same =
                text != "-0" && (text == "0" || !text.trim_start_matches('-').starts_with('0'));
            return is_same.then_some(Self::Whole(whole)).or_else(|| Self::text(text));
        }
        if looks { Self::text(text) } else { None }
    }

    fn text(text: &str) -> Option<Self> {
        serde_json::from_str::<&RawValue>(text).ok().map(|_| Self::Text(text.into()))
    }

    /// None for what JSON cannot say: infinity, not a number.
    pub(super) fn of(number: f64) -> Option<Self> {
        serde_json::Number::from_f64(number).map(|number| Self::Text(number.to_string().into()))
    }

    pub(crate) fn as_f64(&self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "a double is what was asked for")]
            Self::Whole(whole) => *whole as f64,
            Self::Text(text) => text.parse().unwrap_or(f64::NAN),
        }
    }

    /// How much there is to read; what is whole has been read.
    pub(super) fn digits(&self) -> usize {
        match self {
            Self::Whole(_) => 0,
            Self::Text(text) => text.len(),
        }
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Whole(whole) => Some(*whole),
            Self::Text(_) => None,
        }
    }

    fn as_i128(&self) -> Option<i128> {
        match self {
            Self::Whole(whole) => Some(i128::from(*whole)),
            Self::Text(text) => text.parse().ok(),
        }
    }

    /// By value: `1` and `1.0` are equal.
    pub(super) fn order(&self, other: &Self) -> Option<Ordering> {
        match (self.as_i128(), other.as_i128()) {
            (Some(one), Some(two)) => Some(one.cmp(&two)),
            (Some(_) | None, Some(_) | None) => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

/// Keys in the order they came, found without looking at all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    entries: Vec<(String, Json)>,
    /// Positions in the order of the keys; empty while there are few.
    by_key: Vec<u32>,
}

/// Up to so many keys are found faster by looking at each.
const FEW_KEYS: usize = 8;

impl Object {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Json> {
        if self.by_key.is_empty() {
            return self.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
        }
        let entry = |at: &u32| &self.entries[*at as usize];
        let found = self.by_key.binary_search_by(|at| entry(at).0.as_str().cmp(key)).ok()?;
        Some(&entry(&self.by_key[found]).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    pub(super) fn into_entries(self) -> Vec<(String, Json)> {
        self.entries
    }
}

/// A key that comes again keeps its place and takes the later value.
impl FromIterator<(String, Json)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Json)>>(entries: I) -> Self {
        let entries: Vec<(String, Json)> = entries.into_iter().collect();
        if has_doubles(&entries) {
            let by_key = by_key(&entries);
            return Self::indexed(without_doubles(entries, &by_key));
        }
        Self::indexed(entries)
    }
}

fn has_doubles(entries: &[(String, Json)]) -> bool {
    if entries.len() <= FEW_KEYS {
        let mut rest = entries.iter();
        return std::iter::from_fn(|| rest.next().map(|(key, _)| (key, rest.clone())))
            .any(|(key, mut rest)| rest.any(|(other, _)| other == key));
    }
    let mut keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}

impl Object {
    /// Every key is there once.
    fn indexed(entries: Vec<(String, Json)>) -> Self {
        let by_key = if entries.len() > FEW_KEYS { by_key(&entries) } else { Vec::new() };
        Self { entries, by_key }
    }
}

/// Positions in the order of the keys, those of one key in their own order.
fn by_key(entries: &[(String, Json)]) -> Vec<u32> {
    let count = u32::try_from(entries.len()).expect("an object has fewer than 2^32 keys");
    let mut by_key: Vec<u32> = (0..count).collect();
    by_key.sort_by(|one, two| entries[*one as usize].0.cmp(&entries[*two as usize].0));
    by_key
}

fn without_doubles(mut entries: Vec<(String, Json)>, by_key: &[u32]) -> Vec<(String, Json)> {
    let mut is_double = vec![false; entries.len()];
    for pair in by_key.windows(2).rev() {
        let (first, second) = (pair[0] as usize, pair[1] as usize);
        if entries[first].0 == entries[second].0 {
            entries[first].1 = std::mem::replace(&mut entries[second].1, Json::Null);
            is_double[second] = true;
        }
    }
    let kept = entries.into_iter().zip(is_double).filter(|(_, is_double)| !is_double);
    kept.map(|(entry, _)| entry).collect()
}

impl Json {
    /// What a definition wrote, or the engine itself.
    pub(super) fn written(value: &Value) -> Self {
        Self::of(value, Text::stored)
    }

    /// What came from outside, or was said about a task.
    pub(super) fn data(value: &Value) -> Self {
        Self::of(value, Text::from)
    }

    fn of(value: &Value, read: fn(String) -> Text) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(*truth),
            Value::Number(number) => {
                Number::read(&number.to_string()).map_or(Self::Null, Self::Number)
            }
            Value::String(text) => Self::String(read(text.clone())),
            Value::Array(items) => {
                Self::Array(items.iter().map(|item| Self::of(item, read)).collect())
            }
            Value::Object(map) => {
                let entries = map.iter();
                Self::Object(
                    entries.map(|(key, value)| (key.clone(), Self::of(value, read))).collect(),
                )
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Form {
    Stored,
    Shown,
}

/// A value on its way into text.
struct Written<'v> {
    value: &'v Json,
    form: Form,
}

fn text(written: &Written<'_>) -> String {
    serde_json::to_string(written).expect("a JSON value always has a text")
}

fn payload(written: &Written<'_>) -> Payload {
    Payload::from_text(text(written)).expect("the text of a JSON value is JSON")
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = self.form;
        match self.value {
            Json::Null => serializer.serialize_unit(),
            Json::Bool(truth) => truth.serialize(serializer),
            Json::Number(Number::Whole(whole)) => whole.serialize(serializer),
            Json::Number(Number::Text(text)) => {
                let raw: &RawValue = serde_json::from_str(text).expect("a number's text is JSON");
                raw.serialize(serializer)
            }
            Json::String(text) => match form {
                Form::Stored => serializer.serialize_str(&text.to_stored()),
                Form::Shown => serializer.serialize_str(text),
            },
            Json::Array(items) => {
                serializer.collect_seq(items.iter().map(|value| Written { value, form }))
            }
            Json::Object(object) => serializer
                .collect_map(object.iter().map(|(key, value)| (key, Written { value, form }))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        Json::read(&Payload::from_text(text.to_owned()).unwrap()).to_text()
    }

    #[test]
    fn a_payload_leaves_as_it_came() {
        for text in [
            "null",
            r#"{"b":[1,1.0,1.10,-0,-0.0,1e3,1E+2,true,false,null],"a":{"":""}}"#,
            "[123456789012345678901234567890,-9223372036854775809,18446744073709551615]",
            "[0.1234567890123456789012345678901234567890,1e999]",
            r#"["ü\u0001\"\\\n😀","/"]"#,
        ] {
            assert_eq!(told(text), text);
        }
        assert_eq!(
            told(" { \"a\" : [ 1 , 2 ] , \"\\u0062\" : \"\\/\" } "),
            r#"{"a":[1,2],"b":"/"}"#
        );
    }

    #[test]
    fn what_cannot_be_represented_is_replaced() {
        assert_eq!(told(r#"["\ud800",1]"#), "[null,1]");
        let deep = told(&format!("[{}1{},2]", "[".repeat(500), "]".repeat(500)));
        assert!(deep.contains("[null]") && deep.ends_with(",2]"), "{deep}");
    }

    #[test]
    fn a_key_that_comes_again_keeps_its_place() {
        assert_eq!(told(r#"{"a":1,"b":2,"a":3,"a":4}"#), r#"{"a":4,"b":2}"#);
    }

    #[test]
    fn keys_are_found_among_few_and_among_many() {
        for count in [1, 8, 9, 1_000] {
            let object: Object =
                (0..count).rev().map(|at| (at.to_string(), Json::Bool(at % 2 == 0))).collect();
            for at in 0..count {
                assert!(
                    matches!(object.get(&at.to_string()), Some(Json::Bool(even)) if *even == (at % 2 == 0))
                );
            }
            assert!(object.get("none").is_none());
        }
    }

    #[test]
    fn numbers_are_compared_by_value() {
        let order = |one: &str, two: &str| {
            Number::read(one).unwrap().order(&Number::read(two).unwrap()).unwrap()
        };
        assert_eq!(order("1", "1.0"), Ordering::Equal);
        assert_eq!(
            order("100000000000000000000001", "100000000000000000000000"),
            Ordering::Greater
        );
        assert_eq!(order("-1.5", "2"), Ordering::Less);
        assert!(Number::read("abc").is_none() && Number::read("1.").is_none());
    }
}
