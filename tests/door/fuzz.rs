//! # Fuzz: valid requests with something changed at random
//!
//! One seed decides everything; it is printed, and `SEMEL_SEED` repeats it.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::fields::pointers;
use crate::house::House;
use crate::raw::Request;
use crate::routes::{ROUTES, Subject};

const REQUESTS: usize = 2_000;
const REQUESTS_FULL: usize = 20_000;

/// Knuth's MMIX generator; the high bits are the good ones.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % sides.max(1)
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }
}

#[test]
fn a_changed_request_is_never_a_fault() {
    let seed = std::env::var("SEMEL_SEED").map_or_else(
        |_| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % 1_000_000,
        |seed| seed.parse().expect("SEMEL_SEED is a whole number"),
    );
    eprintln!("SEMEL_SEED={seed}");
    let mut dice = Dice(seed);
    let house = House::own(&[]);
    let mut subject = Subject::made(&house, "fuzz");
    let full = semel_tests::process::is_full();
    for n in 0..if full { REQUESTS_FULL } else { REQUESTS } {
        if n % 50 == 49 {
            subject = Subject::made(&house, &format!("fuzz{n}"));
        }
        let request = subject.request(dice.of(ROUTES));
        house.is_civil(&mutated(request, &mut dice));
    }
    house.is_healthy();
    house.definitions();
}

fn mutated(mut request: Request, dice: &mut Dice) -> Request {
    for _ in 0..=dice.below(2) {
        match dice.below(4) {
            0 => request.target = odd_target(&request.target, dice),
            1 => request.method = (*dice.of(&["GET", "POST", "PUT", "DELETE"])).to_owned(),
            2 => request.body = request.body.map(|body| odd_bytes(body, dice)),
            _ => request.body = request.body.map(|body| odd_json(&body, dice)),
        }
    }
    if dice.below(5) == 0 { request.chunked() } else { request }
}

fn odd_bytes(mut body: Vec<u8>, dice: &mut Dice) -> Vec<u8> {
    for _ in 0..=dice.below(4) {
        let at = dice.below(body.len());
        let until = (at + dice.below(20)).min(body.len());
        match dice.below(5) {
            0 if !body.is_empty() => body[at] ^= 1 << dice.below(8),
            1 => body.insert(at, *dice.of(b"\"{}[],:\\\0\xff19eE-. ")),
            2 => drop(body.drain(at..until)),
            3 => body.extend_from_within(at..until),
            _ => body.truncate(until),
        }
    }
    body
}

/// Replaces one value, somewhere.
fn odd_json(body: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(body) else { return body.to_vec() };
    let mut places = vec![];
    pointers("", &value, &mut places);
    if places.is_empty() {
        return body.to_vec();
    }
    let place: &String = dice.of(&places);
    if let Some(place) = value.pointer_mut(place) {
        *place = odd_value(dice);
    }
    value.to_string().into_bytes()
}

fn odd_value(dice: &mut Dice) -> Value {
    let number = dice.below(1 << 31) as i64;
    let choices = [
        json!(null),
        json!(number),
        json!(-number),
        json!(number << 32),
        json!(number as f64 / 7.0),
        json!(format!("{number}")),
        json!("\u{0}\u{1f4a9}\u{202e}"),
        json!("${only.output}${workflow.input.given[0]}"),
        json!("COMPLETED"),
        json!([null, {"a": number}]),
        json!({"name": "fuzz", "taskReferenceName": number}),
        json!(number % 2 == 0),
    ];
    dice.of(&choices).clone()
}

/// Stays a request line: what is odd is percent-encoded.
fn odd_target(target: &str, dice: &mut Dice) -> String {
    let oddity = match dice.below(6) {
        0 => format!("%{:02X}", dice.below(256)),
        1 => "a".repeat(dice.below(3_000)),
        2 => "/".to_owned(),
        3 => {
            format!("?{}={}", dice.of(&QUERY), dice.of(&["-1", "99999999999", "True", "%00", "x"]))
        }
        4 => "..%2F".to_owned(),
        _ => format!("{}", dice.below(1 << 31)),
    };
    let at = 1 + dice.below(target.len());
    format!("{}{oddity}{}", &target[..at], &target[at..])
}

const QUERY: [&str; 9] = [
    "version",
    "priority",
    "count",
    "timeout",
    "includeTasks",
    "strict",
    "force",
    "from",
    "domain",
];
