//! # Scripts: programs of a definition, and their verdicts
//!
//! A plain program is computed here ([`plain`]); every other script is a [`crate::Question`], and
//! its verdict is the answer. The same script on the same input gives the same verdict on every
//! machine, because its budget is counted in steps and bytes.

pub(crate) mod plain;

use semel_model::{Payload, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// The value of the last statement is the result; `$` is the input.
    JavaScript,
    /// JavaScript as the body of a function: `return` gives the result.
    Function,
    Jq,
}

/// One program to be run once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    pub language: Language,
    pub source: String,
    pub input: Payload,
    /// The time it sees.
    pub now: Timestamp,
    /// What its random numbers come from.
    pub seed: TaskId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Any JSON; of a jq program the list of everything it gave.
    Value(Payload),
    /// It threw, or does not parse: why.
    Failed(String),
    /// It spent its budget, or did not finish: why.
    Exhausted(String),
}

impl Script {
    /// The verdict, if the program is plain: the one that a script pool would give.
    pub fn plain_verdict(&self) -> Option<Verdict> {
        let computed = plain::compute(self.language, &self.source, &self.input)?;
        Some(Verdict::Value(computed.result))
    }
}

/// The JSON of a number of a script. Whole numbers that fit are integers, as JavaScript does not
/// tell 3.0 from 3; what JSON has no word for is null.
pub fn json_number(number: f64) -> String {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() == 0.0 && (-TWO_TO_63..TWO_TO_63).contains(&number) {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and in the range")]
        return (number as i64).to_string();
    }
    serde_json::Number::from_f64(number)
        .map_or_else(|| "null".to_owned(), |number| number.to_string())
}
