//! # Canonical JSON: one text for everything that says the same
//!
//! RFC 8785: members sorted by the UTF-16 of their names, numbers as ECMAScript writes doubles, no
//! blanks. What two requests have in common is told by comparing digests of this.

use std::fmt::Write as _;

use serde_json::{Number, Value};

pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => write_string(text, string),
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_value(text, item);
            }
            text.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (at, (name, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write_string(text, name);
                text.push(':');
                write_value(text, member);
            }
            text.push('}');
        }
    }
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\u{9}' => text.push_str("\\t"),
            '\u{a}' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\u{d}' => text.push_str("\\r"),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// As `Number.prototype.toString` would. A number that is no finite double keeps its own text.
fn number_text(number: &Number) -> String {
    match number.as_f64().filter(|double| double.is_finite()) {
        Some(double) => double_text(double),
        None => number.to_string(),
    }
}

fn double_text(double: f64) -> String {
    if double == 0.0 {
        return "0".to_owned();
    }
    let sign = if double < 0.0 { "-" } else { "" };
    // Shortest digits that read back the same: `1.25e-7` is the digits 125 and the exponent -7.
    let written = format!("{:e}", double.abs());
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let point = exponent + 1; // Digits before the decimal point.
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let plain = if (count..=21).contains(&point) {
        format!("{digits}{}", zeros(point - count))
    } else if (1..=21).contains(&point) {
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or_default());
        format!("{whole}.{part}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let direction = if exponent < 0 { '-' } else { '+' };
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{direction}{}", exponent.abs())
    };
    format!("{sign}{plain}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn members_are_sorted_by_utf_16_and_blanks_are_gone() {
        assert_eq!(of(r#" {"b": [1, {"z":1,"a":null}], "a": true } "#), {
            r#"{"a":true,"b":[1,{"a":null,"z":1}]}"#
        });
        // The first of these is a pair of surrogates, and those sort below the second.
        assert_eq!(of("{\"\u{fb33}\":2,\"\u{1f600}\":1}"), "{\"\u{1f600}\":1,\"\u{fb33}\":2}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (given, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("1e21", "1e+21"),
            ("100000000000000000000", "100000000000000000000"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("1.25e-9", "1.25e-9"),
            ("333333333.33333329", "333333333.3333333"),
            ("1E30", "1e+30"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("-12.5", "-12.5"),
            ("9007199254740993", "9007199254740992"),
        ] {
            assert_eq!(of(given), expected, "{given}");
        }
    }

    #[test]
    fn texts_are_escaped_as_little_as_possible() {
        assert_eq!(canonical(&json!("\u{20ac}$\u{f}\nA'\"\\/\u{7f}")), {
            "\"\u{20ac}$\\u000f\\nA'\\\"\\\\/\u{7f}\""
        });
    }
}
