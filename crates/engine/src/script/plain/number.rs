//! # Numbers as texts, and texts as numbers, as JavaScript has it
//!
//! A number is written with the fewest digits that read back as the same number. Both directions
//! are exact and the same on every machine.

/// More digits than anybody writes; readers may differ in how they round them.
const DIGITS_MAX: usize = 40;

/// `digits`, `digits.digits` or `.digits`, and perhaps an exponent. None: it is something else, or
/// too long to be sure of its last digit.
pub(super) fn decimal(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(front, back)| {
        (front, Some(back.strip_prefix(['+', '-']).unwrap_or(back)))
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = all_digits(whole)
        && all_digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|digits| all_digits(digits) && !digits.is_empty());
    if !is_number || text.len() > DIGITS_MAX {
        return None;
    }
    text.parse().ok()
}

/// What a text is as a number; none: readers may differ.
pub(super) fn of_text(text: &str) -> Option<f64> {
    let is_blank = |letter: char| matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}');
    if text.chars().any(|letter| !letter.is_ascii() && is_perhaps_blank(letter)) {
        return None;
    }
    let text = text.trim_matches(is_blank);
    if text.is_empty() {
        return Some(0.0);
    }
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits == "Infinity" {
        return Some(sign * f64::INFINITY);
    }
    if let Some(number) = decimal(digits) {
        return Some(sign * number);
    }
    let is_of_other_base = digits.starts_with('0') && !digits.contains('.');
    let is_long = digits.len() > DIGITS_MAX && digits.starts_with(|it: char| !it.is_alphabetic());
    (!is_of_other_base && !is_long).then_some(f64::NAN)
}

fn is_perhaps_blank(letter: char) -> bool {
    letter.is_whitespace() || letter == '\u{feff}' || letter == '\u{180e}'
}

/// How a number is written in a text.
pub(super) fn text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let scientific = format!("{:e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect("{:e} writes an exponent");
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().expect("{:e} writes a whole exponent");
    format!("{sign}{}", laid_out(&digits, exponent))
}

/// `digits` with a point behind the first, times ten to the power of `exponent`.
fn laid_out(digits: &str, exponent: i32) -> String {
    let count = i32::try_from(digits.len()).expect("a double has few digits");
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    match exponent {
        0..=20 if count <= exponent + 1 => format!("{digits}{}", zeros(exponent + 1 - count)),
        0..=20 => {
            let (whole, fraction) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(1));
            format!("{whole}.{fraction}")
        }
        -6..=-1 => format!("0.{}{digits}", zeros(-exponent - 1)),
        _ => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{first}{point}{rest}e{sign}{}", exponent.unsigned_abs())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_as_javascript_writes_it() {
        for (number, written) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (123_456_789.125, "123456789.125"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.25e-7, "1.25e-7"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(text(number), written);
        }
    }

    #[test]
    fn a_text_is_read_as_javascript_reads_it() {
        for (written, number) in [
            ("", 0.0),
            (" \n", 0.0),
            (" 12 ", 12.0),
            ("-1.5", -1.5),
            ("+5.", 5.0),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("Infinity", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("0", 0.0),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(of_text(written), Some(number), "{written}");
        }
        for written in ["abc", "1 2", "12px", "--1", "1e", ".", "infinity", "1_000", "+", "\u{fc}"]
        {
            assert!(of_text(written).is_some_and(f64::is_nan), "{written}");
        }
        for written in ["0x1F", "0b1", "00", "\u{a0}1", "\u{feff}"] {
            assert_eq!(of_text(written), of_text(written).filter(|it| !it.is_nan()), "{written}");
        }
        assert!(of_text("-0").is_some_and(|zero| zero == 0.0 && zero.is_sign_negative()));
    }
}
