//! # Canonical JSON: one text for everything that says the same
//!
//! RFC 8785: members in the order of their UTF-16 code units, numbers as ECMAScript writes them, no
//! blanks. Fingerprints are taken of this text, so neither the order of members nor `1.0` for `1`
//! makes a difference. One deviation, on the safe side: whole numbers beyond 2^53 keep all their
//! digits, because two of them that differ are not the same.

use serde_json::{Number, Value};

/// The text of that value.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value);
    text
}

fn write(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&digits(number)),
        Value::String(text) => quote(out, text),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            out.push('{');
            for (at, (name, member)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(out, name);
                out.push(':');
                write(out, member);
            }
            out.push('}');
        }
    }
}

/// Only what must be escaped is.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

fn digits(number: &Number) -> String {
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(float) => ecmascript(float),
        None => number.to_string(),
    }
}

/// As `Number.prototype.toString` has it: the fewest digits that are read back as the same number.
pub(crate) fn ecmascript(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned(); // Also -0.
    }
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(|digit| *digit != '.').collect();
    let sign = if number < 0.0 { "-" } else { "" };
    layout(sign, &digits, exponent.parse::<i64>().unwrap_or(0) + 1)
}

/// Digits with the decimal point that many places after their beginning, as ECMAScript writes them.
pub(crate) fn layout(sign: &str, digits: &str, point: i64) -> String {
    let count = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or(0));
    if (count..=21).contains(&point) {
        return format!("{sign}{digits}{}", zeros(point - count));
    }
    if (1..=21).contains(&point) {
        let (whole, part) = digits.split_at(usize::try_from(point).unwrap_or(0));
        return format!("{sign}{whole}.{part}");
    }
    if (-5..=0).contains(&point) {
        return format!("{sign}0.{}{digits}", zeros(-point));
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    format!("{sign}{first}{dot}{rest}e{:+}", point.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        canonical(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn members_stand_in_the_order_of_their_code_units() {
        assert_eq!(
            of(r#"{"b": [2, {"d": 1, "c": 2}], "a": null}"#),
            r#"{"a":null,"b":[2,{"c":2,"d":1}]}"#
        );
        // By UTF-16, U+1F600 (a surrogate pair from D83D on) comes before U+FB33.
        let sorted =
            of("{\"\u{fb33}\": 1, \"\u{1f600}\": 2, \"\u{20ac}\": 3, \"1\": 4, \"\\r\": 5}");
        assert_eq!(sorted, "{\"\\r\":5,\"1\":4,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        for (given, wanted) in [
            ("1.0", "1"),
            ("1", "1"),
            ("-0.0", "0"),
            ("0.1", "0.1"),
            ("1e2", "100"),
            ("1E21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("123e-8", "0.00000123"),
            ("1e-6", "0.000001"),
            ("1e-7", "1e-7"),
            ("1.5e-7", "1.5e-7"),
            ("333333333.33333329", "333333333.3333333"),
            ("4.50", "4.5"),
            ("2e-3", "0.002"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
            ("-12.75", "-12.75"),
            ("9007199254740993", "9007199254740993"),
            ("1000000000000000000000", "1e+21"),
            ("1e17", "100000000000000000"),
        ] {
            assert_eq!(of(given), wanted, "{given}");
        }
    }

    #[test]
    fn text_is_escaped_only_where_it_must_be() {
        assert_eq!(
            of(r#""\u20ac$\u000f\nA'B\"\\\/\u007f""#),
            "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\/\u{7f}\""
        );
    }

    #[test]
    fn what_says_the_same_has_one_text_and_that_text_says_it_too() {
        let one = r#" { "x" : [ true , 1.50e1 ] , "y" : { } } "#;
        let other = r#"{"y":{},"x":[true,15]}"#;
        assert_eq!(of(one), of(other));
        assert_eq!(of(&of(one)), of(one));
        assert_ne!(of("[1,2]"), of("[2,1]"));
    }
}
