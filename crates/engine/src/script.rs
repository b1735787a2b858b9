//! # Scripts: programs of a definition, and what they said
//!
//! Never run here: a script is a [`crate::Question`], and what it said is its answer. The same
//! script on the same input gives the same verdict on every machine, because its budget is counted
//! in steps and bytes.

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
