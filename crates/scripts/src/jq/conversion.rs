//! # Conversion: a value of jq as JSON
//!
//! jaq knows more than JSON does: bytes, keys that are no texts, numbers without end.

use jaq_json::{Num, Val};
use semel_engine::Verdict;
use serde_json::Number;

use crate::budget::DEPTH_MAX;
use crate::reason;
use crate::result_text::ResultText;

pub(super) fn write(value: &Val, depth: usize, text: &mut ResultText<'_>) -> Result<(), Verdict> {
    if depth == DEPTH_MAX && matches!(value, Val::Arr(_) | Val::Obj(_)) {
        return Err(reason::too_deep_a_result());
    }
    match value {
        Val::Null => text.push("null"),
        Val::Bool(truth) => text.push(if *truth { "true" } else { "false" }),
        Val::Num(number) => write_number(number, text),
        Val::TStr(bytes) => text.push_text(&String::from_utf8_lossy(bytes)),
        Val::BStr(_) => Err(reason::failed("bytes have no JSON: make them a text, as by @base64")),
        Val::Arr(items) => {
            text.push("[")?;
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(",")?;
                }
                write(item, depth + 1, text)?;
            }
            text.push("]")
        }
        Val::Obj(entries) => {
            text.push("{")?;
            for (at, (key, value)) in entries.iter().enumerate() {
                let Val::TStr(key) = key else {
                    return Err(reason::failed(format!("the key {key} of an object is no text")));
                };
                if at > 0 {
                    text.push(",")?;
                }
                text.push_text(&String::from_utf8_lossy(key))?;
                text.push(":")?;
                write(value, depth + 1, text)?;
            }
            text.push("}")
        }
    }
}

/// A decimal that was only passed on keeps its digits.
fn write_number(number: &Num, text: &mut ResultText<'_>) -> Result<(), Verdict> {
    match number {
        Num::Int(whole) => text.push(&whole.to_string()),
        Num::BigInt(whole) => text.push(&whole.to_string()),
        Num::Float(number) => text.push_number(*number),
        Num::Dec(digits) if serde_json::from_str::<Number>(digits).is_ok() => text.push(digits),
        Num::Dec(digits) => text.push_number(digits.parse().unwrap_or(f64::NAN)),
    }
}
