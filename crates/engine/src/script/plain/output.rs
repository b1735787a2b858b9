//! # Output: the result of a plain program as JSON
//!
//! The same bytes as the script pool writes: whole numbers as integers, null for what JSON has no
//! word for, keys that are positions first.

use semel_model::Payload;

use super::Obstacle;
use super::value::Value;
use crate::expression::Json;
use crate::script::json_number;

/// A longer result is left to the pool.
const RESULT_BYTES_MAX: usize = 256 * 1024;

/// A deeper result is left to the pool, which allows a little more.
const LEVELS_MAX: usize = 90;

/// Keys of so many digits may be too large to be positions.
const POSITION_DIGITS_MAX: usize = 9;

const TOO_LARGE: Obstacle = Obstacle::NotPlain("a result this large");

pub(super) fn payload(value: &Value<'_>) -> Result<Payload, Obstacle> {
    let mut text = String::new();
    write(value, 0, &mut text)?;
    Ok(Payload::from_text(text).expect("only JSON was written"))
}

fn write(value: &Value<'_>, level: usize, text: &mut String) -> Result<(), Obstacle> {
    if level > LEVELS_MAX || text.len() > RESULT_BYTES_MAX {
        return Err(TOO_LARGE);
    }
    match value {
        Value::Undefined | Value::Null => text.push_str("null"),
        Value::Bool(truth) => text.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&json_number(*number)),
        Value::Text(string) => push_quoted(string, text),
        Value::List(items) => write_list(items.iter().cloned(), level, text)?,
        Value::Object(entries) => write_object(entries.iter().cloned().collect(), level, text)?,
        Value::Given(Json::Array(items)) => {
            write_list(items.iter().map(Value::of), level, text)?;
        }
        Value::Given(json) => {
            let entries = json.as_object().into_iter().flat_map(|object| object.iter());
            let entries = entries.map(|(key, value)| (key, Value::of(value))).collect();
            write_object(entries, level, text)?;
        }
    }
    Ok(())
}

fn write_list<'a>(
    items: impl Iterator<Item = Value<'a>>,
    level: usize,
    text: &mut String,
) -> Result<(), Obstacle> {
    text.push('[');
    for (at, item) in items.enumerate() {
        if at > 0 {
            text.push(',');
        }
        write(&item, level + 1, text)?;
    }
    text.push(']');
    Ok(())
}

fn write_object(
    mut entries: Vec<(&str, Value<'_>)>,
    level: usize,
    text: &mut String,
) -> Result<(), Obstacle> {
    let is_number = |key: &str| !key.is_empty() && key.bytes().all(|it| it.is_ascii_digit());
    if entries.iter().any(|(key, _)| is_number(key) && key.len() > POSITION_DIGITS_MAX) {
        return Err(Obstacle::NotPlain("a key this large"));
    }
    let position = |key: &str| -> Option<u32> {
        let is_position = is_number(key) && (key == "0" || !key.starts_with('0'));
        key.parse().ok().filter(|_| is_position)
    };
    entries.sort_by_key(|(key, _)| position(key).unwrap_or(u32::MAX)); // Stable.
    text.push('{');
    for (at, (key, value)) in entries.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        push_quoted(key, text);
        text.push(':');
        write(value, level + 1, text)?;
    }
    text.push('}');
    Ok(())
}

fn push_quoted(string: &str, text: &mut String) {
    text.push_str(&serde_json::to_string(string).expect("every text has JSON"));
}
