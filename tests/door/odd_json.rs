//! # Odd JSON: texts that stand where a value should, many of them none
//!
//! Bytes, not values: a lone surrogate, a number without end and a member said twice are no values.

use semel_tests::dice::Dice;
use serde_json::{Value, json};

use crate::fields::pointers;

pub(crate) fn below(dice: &mut Dice, sides: usize) -> usize {
    let sides = u64::try_from(sides.max(1)).unwrap_or(1);
    usize::try_from(dice.below(sides)).unwrap_or(0)
}

pub(crate) fn pick<T: Clone>(dice: &mut Dice, choices: &[T]) -> T {
    choices[below(dice, choices.len())].clone()
}

const PLAIN: [&str; 16] = [
    "null",
    "true",
    "[]",
    "{}",
    "0",
    "\"\"",
    "[[[]]]",
    "[null,{\"a\":1}]",
    "undefined",
    "NaN",
    "-Infinity",
    "'a'",
    "{a:1}",
    "{\"a\":1,}",
    "",
    "//",
];

const NUMBERS: [&str; 14] = [
    "1e999",
    "-1e999",
    "1e-999",
    "-0",
    "-0.0",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "2147483648",
    "-1",
    "01",
    "1.",
    "1e308",
];

const STRINGS: [&[u8]; 14] = [
    b"\\ud800",
    b"\\udc00\\ud800",
    b"\\ud83d\\ude00",
    b"\\u0000",
    b"\\x41",
    b"\\u12",
    b"\x00",
    b"\x01\x1f\x7f",
    b"tab\there\nand there",
    b"\xff\xfe",
    b"\xc0\x80",
    b"\xe2\x80\xae\xef\xbb\xbf",
    b"${workflow.secrets.BANK}${",
    b"../../etc/passwd' OR 1=1 --",
];

/// What stands for a value.
pub(crate) fn value(dice: &mut Dice) -> Vec<u8> {
    match below(dice, 8) {
        0 => nested(dice),
        1 => number(dice),
        2 | 3 => string(dice),
        4 => doubled(dice),
        5 => [b"[", &*value(dice), b",", &*value(dice), b"]"].concat(),
        6 => [b"{\"name\":", &*value(dice), b"}"].concat(),
        _ => pick(dice, &PLAIN).as_bytes().to_vec(),
    }
}

fn nested(dice: &mut Dice) -> Vec<u8> {
    let depth = pick(dice, &[3, 99, 100, 101, 128, 1_000, 20_000]);
    let (open, close) = pick(dice, &[("[", "]"), ("{\"a\":", "}"), ("[{\"a\":", "}]")]);
    let closed = if dice.once_in(4) { 0 } else { depth };
    format!("{}1{}", open.repeat(depth), close.repeat(closed)).into_bytes()
}

fn number(dice: &mut Dice) -> Vec<u8> {
    let digits = pick(dice, &[20, 400, 5_000]);
    let text = match below(dice, 4) {
        0 => "9".repeat(digits),
        1 => format!("0.{}1", "0".repeat(digits)),
        2 => format!("1e{}", "9".repeat(digits.min(30))),
        _ => pick(dice, &NUMBERS).to_owned(),
    };
    text.into_bytes()
}

fn string(dice: &mut Dice) -> Vec<u8> {
    let text = match below(dice, 3) {
        0 => vec![b'x'; pick(dice, &[256, 513, 5_000, 100_000])],
        1 => pick(dice, &STRINGS).repeat(1 + below(dice, 50)),
        _ => pick(dice, &STRINGS).to_vec(),
    };
    let end: &[u8] = if dice.once_in(20) { b"" } else { b"\"" };
    [b"\"", &*text, end].concat()
}

/// An object that says the same member twice, and not the same of it.
fn doubled(dice: &mut Dice) -> Vec<u8> {
    let name = pick(dice, &["name", "a", "taskId", "__proto__", "", "constructor"]);
    let member = |value: Vec<u8>| [format!("\"{name}\":").as_bytes(), &*value].concat();
    let (first, second) = (member(value(dice)), member(value(dice)));
    [b"{", &*first, b",", &*second, b"}"].concat()
}

/// The sample with something odd in one of its places, or in place of it.
pub(crate) fn spoilt(sample: &Value, dice: &mut Dice) -> Vec<u8> {
    const HERE: &str = "here, something odd";
    let mut places = vec![];
    pointers("", sample, &mut places);
    if places.is_empty() || dice.once_in(10) {
        return value(dice);
    }
    let mut marked = sample.clone();
    if let Some(place) = marked.pointer_mut(&pick(dice, &places)) {
        *place = json!(HERE);
    }
    let marked = marked.to_string();
    let Some((before, after)) = marked.split_once(&format!("\"{HERE}\"")) else {
        return marked.into_bytes();
    };
    let mut text = [before.as_bytes(), &*value(dice), after.as_bytes()].concat();
    if dice.once_in(10) {
        text.truncate(below(dice, text.len()));
    }
    if dice.once_in(10) && !text.is_empty() {
        let at = below(dice, text.len());
        text[at] ^= 1 << below(dice, 8);
    }
    text
}
