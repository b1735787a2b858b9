//! # Exact: JSON read for comparing, with every digit of its numbers
//!
//! A number that a double cannot tell from its neighbours, as an amount in wei, stands as a text of its own kind
//! in what is read here: all its digits, in one spelling. Every other number is read as always, so `1.0` is `1`.
//! For fingerprints only: **may not** be shown or stored.

use std::borrow::Cow;

use serde_json::Value;

use crate::canonical::{ecmascript, layout};

/// A double keeps this many digits apart, if they are not a whole number.
const DIGITS_OF_DOUBLE: usize = 17;
/// As JSON writes the character that a text of that kind begins with; others that begin with it get a second one.
const MARK: &[u8] = b"\\u0000";

/// As it is compared. None: it is not JSON, or nobody can read it.
pub fn exact(text: &str) -> Option<Value> {
    serde_json::from_str(&marked(text)).ok()
}

/// JSON that says the same, its numbers spelled as this program spells them: all digits where a double would lose some.
pub(crate) fn respelled(text: &str) -> Option<String> {
    let text = serde_json::to_string(&exact(text)?).ok()?;
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        if byte != b'"' {
            at += 1;
            continue;
        }
        let (from, marked) = (at, at + 1 + MARK.len());
        at = end_of_text(bytes, at);
        if !bytes[from + 1..].starts_with(MARK) {
            continue;
        }
        out.push_str(&text[copied..from]);
        copied = match bytes[marked..].starts_with(MARK) {
            true => {
                out.push('"');
                marked
            }
            false => {
                out.push_str(&text[marked..at - 1]);
                at
            }
        };
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// The same JSON, with numbers that need it as texts.
fn marked(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let from = at;
        match byte {
            b'"' => {
                at = end_of_text(bytes, at);
                if bytes[from + 1..].starts_with(MARK) {
                    out.push_str(&text[copied..=from]);
                    out.push_str("\\u0000");
                    copied = from + 1;
                }
            }
            b'-' | b'0'..=b'9' => {
                at += 1 + bytes[at + 1..].iter().take_while(|byte| is_of_number(**byte)).count();
                if let Some(exact) = spelled(&text[from..at]) {
                    out.push_str(&text[copied..from]);
                    out.push_str(&exact);
                    copied = at;
                }
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// After the closing quote, or where it is missing the end.
fn end_of_text(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')
}

/// What stands for this number. None: it is read as always.
fn spelled(token: &str) -> Option<String> {
    if is_whole_64(token) {
        return None;
    }
    let (unsigned, sign) = token.strip_prefix('-').map_or((token, ""), |rest| (rest, "-"));
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    let kept = digits.trim_start_matches('0');
    let leading = digits.len() - kept.len();
    let kept = kept.trim_end_matches('0');
    if kept.is_empty() {
        return None; // Nothing, however it is written.
    }
    let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
    let exponent = exponent.parse::<i64>().ok()?; // Beyond that nobody can read it.
    let point = exponent.checked_add(count(whole.len()) - count(leading))?;
    let double = token.parse::<f64>().ok().filter(|double| *double != 0.0);
    if double.is_some_and(f64::is_infinite) {
        return None; // Nor that.
    }
    let is_whole = point >= count(kept.len());
    if !is_whole && kept.len() <= DIGITS_OF_DOUBLE && double.is_some() {
        return None;
    }
    let text = layout(sign, kept, point);
    if double.is_some_and(|double| ecmascript(double) == text) {
        return None;
    }
    Some(if is_whole_64(&text) { text } else { format!("\"\\u0000{text}\"") })
}

/// Kept with all its digits by everybody.
fn is_whole_64(text: &str) -> bool {
    text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    fn of(text: &str) -> String {
        canonical(&exact(text).unwrap_or_else(|| panic!("{text} is JSON")))
    }

    #[test]
    fn numbers_that_differ_in_any_digit_differ() {
        for (one, other) in [
            ("12345678901234567890123", "12345678901234567890124"),
            ("100000000000000000001", "100000000000000000002"),
            ("-100000000000000000001", "100000000000000000001"),
            ("0.12345678901234567890", "0.12345678901234567891"),
            ("1.00000000000000000000001", "1"),
            ("9007199254740993.0", "9007199254740992.0"),
            ("18446744073709551616", "18446744073709551617"),
            ("12345678901234567890.5", "12345678901234567890"),
            ("1e-400", "0"),
            ("1e-400", "2e-400"),
            ("100000000000000000001", "\"\\u0000100000000000000000001\""),
        ] {
            let inside = |number: &str| of(&format!(r#"{{"a": [{number}]}}"#));
            assert_ne!(inside(one), inside(other), "{one} and {other}");
        }
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        for same in [
            &["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000000000000000000000000"][..],
            &["100000000000000000001", "100000000000000000001.0", "1.00000000000000000001e20"],
            &["10000000000000000001", "10000000000000000001.0", "1.0000000000000000001E+19"],
            &[
                "12345678901234567890123e3",
                "12345678901234567890123000",
                "12345678901234567890123000.00",
            ],
            &["0", "-0", "0.0", "0e99", "-0.000"],
            &["0.1", "0.10", "1e-1", "0.1000000000000000000000"],
            &["0.12345678901234567890123", "12.345678901234567890123e-2"],
            &["1e300", "10e299", "1.0E300"],
        ] {
            for other in same {
                assert_eq!(of(other), of(same[0]), "{other}");
            }
        }
    }

    #[test]
    fn what_a_double_or_64_bits_hold_is_read_as_always() {
        for text in [
            r#"{"a": 1.50, "b": [1e21, -3, 0.1, 18446744073709551615, -9223372036854775808]}"#,
            r#"["12345678901234567890123", "\"12345678901234567890123", "\\", 333333333.33333329]"#,
            "[1.7976931348623157e308, 5e-324, 123e-8, 1000000000000000000000]",
        ] {
            let plain: Value = serde_json::from_str(text).unwrap();
            assert_eq!(of(text), canonical(&plain), "{text}");
        }
        assert_eq!(exact("{\"a\": 1"), None);
        assert_eq!(exact("\"open"), None);
        assert_eq!(exact("1e999"), None);
        assert_eq!(
            exact("0.1e-9223372036854775808").as_ref().map(canonical),
            Some(of("1e-9223372036854775808"))
        );
    }

    #[test]
    fn a_spelling_of_its_own_says_the_same() {
        for (given, wanted) in [
            (r#"{"a": 1.50, "b": [1e2, 7]}"#, r#"{"a":1.5,"b":[100.0,7]}"#),
            ("[100000000000000000001.0, 1]", "[100000000000000000001,1]"),
            ("12345678901234567890123", "1.2345678901234567890123e+22"),
            (r#"["\u0000a", "\u0000\u0000", "\"", 1]"#, r#"["\u0000a","\u0000\u0000","\"",1]"#),
        ] {
            assert_eq!(respelled(given).as_deref(), Some(wanted));
        }
        assert_eq!(respelled("{"), None);
    }

    #[test]
    fn a_text_is_never_taken_for_a_number() {
        let texts = [
            "100000000000000000001",
            r#""\u0000100000000000000000001""#,
            r#""\u0000\u0000100000000000000000001""#,
            r#""100000000000000000001""#,
        ];
        let found: std::collections::BTreeSet<_> = texts.iter().map(|text| of(text)).collect();
        assert_eq!(found.len(), texts.len(), "{found:?}");
    }
}
