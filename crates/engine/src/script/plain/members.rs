//! # Members: what `.name` and `[key]` find
//!
//! Only what a value has itself is found. What it would inherit, methods above all, is not plain; so
//! is the part of a text that is half a character.

use std::borrow::Cow;

use super::value::{CONVERSION, Value};
use super::{Obstacle, number};
use crate::expression::Json;

/// What every object inherits, and what maps of Java offer to programs that call it.
const INHERITED: &[&str] = &[
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "contains",
    "containsKey",
    "get",
    "hasOwnProperty",
    "isEmpty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "size",
    "toLocaleString",
    "toString",
    "valueOf",
];

const METHOD: Obstacle = Obstacle::NotPlain("a member that is inherited");

/// A position this high is more than any list or text here has.
const POSITION_MAX: f64 = 1e9;

pub(super) fn member<'a>(of: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>, Obstacle> {
    let key = key.to_text()?;
    match of {
        Value::Undefined => Err(unreadable(&key, "undefined")),
        Value::Null => Err(unreadable(&key, "null")),
        Value::Bool(_) | Value::Number(_) if key == "length" => Ok(Value::Undefined),
        Value::Bool(_) | Value::Number(_) => Err(METHOD),
        Value::Text(text) => of_text(text, &key),
        Value::Given(Json::Array(items)) => {
            of_list(items.len(), &key, |at| items.get(at).map(Value::of))
        }
        Value::List(items) => of_list(items.len(), &key, |at| items.get(at).cloned()),
        Value::Given(json) => {
            let object = json.as_object().ok_or(CONVERSION)?;
            of_object(object.get(&key).map(Value::of), &key)
        }
        Value::Object(entries) => {
            let found = entries.iter().find(|(name, _)| *name == key);
            of_object(found.map(|(_, value)| value.clone()), &key)
        }
    }
}

fn unreadable(key: &str, what: &str) -> Obstacle {
    Obstacle::Throws(format!("cannot read {key} of {what}"))
}

fn of_object<'a>(found: Option<Value<'a>>, key: &str) -> Result<Value<'a>, Obstacle> {
    match found {
        Some(found) => Ok(found),
        None if INHERITED.contains(&key) => Err(METHOD),
        None => Ok(Value::Undefined),
    }
}

fn of_list<'a>(
    length: usize,
    key: &str,
    item: impl Fn(usize) -> Option<Value<'a>>,
) -> Result<Value<'a>, Obstacle> {
    if key == "length" {
        return Ok(count(length));
    }
    let at = position(key).ok_or(METHOD)?;
    Ok(item(at).unwrap_or(Value::Undefined))
}

fn of_text<'a>(text: &str, key: &str) -> Result<Value<'a>, Obstacle> {
    if key == "length" {
        return Ok(count(text.encode_utf16().count()));
    }
    let at = position(key).ok_or(METHOD)?;
    let Some(unit) = text.encode_utf16().nth(at) else { return Ok(Value::Undefined) };
    let letter = char::from_u32(u32::from(unit)).ok_or(Obstacle::NotPlain("half a character"))?;
    Ok(Value::Text(Cow::Owned(letter.to_string())))
}

#[expect(clippy::cast_precision_loss, reason = "a payload has fewer than 2^53 of anything")]
fn count<'a>(count: usize) -> Value<'a> {
    Value::Number(count as f64)
}

/// The position that a key names; none: it is a name.
#[expect(clippy::cast_possible_truncation, reason = "it is whole and below a billion")]
#[expect(clippy::cast_sign_loss, reason = "it has no sign")]
fn position(key: &str) -> Option<usize> {
    let at: f64 = number::decimal(key).filter(|at| *at < POSITION_MAX)?;
    let is_position = key.bytes().all(|byte| byte.is_ascii_digit()) && number::text(at) == key;
    is_position.then_some(at as usize)
}
