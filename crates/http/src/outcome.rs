//! # Outcomes: what became of a request, in the words of a task

use semel_model::{HttpClass, HttpRequest, Payload};

use crate::fault::Fault;
use crate::verdict;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Completed,
    /// May be tried again.
    Failed,
    /// Will not be otherwise, or must not be tried again.
    FailedTerminal,
}

/// Whether the other side has done it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Yes,
    No,
    Unknown,
}

/// Each outcome says enough for a task to be reported on.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub status: Status,
    pub output: Payload,
    pub reason: Option<String>,
    pub class: HttpClass,
    pub applied: Applied,
    /// What the other side asks us to wait, in seconds.
    pub retry_after: Option<u64>,
}

impl Outcome {
    /// A request that could not even be read, in the words of who tried.
    pub fn unsendable(why: String) -> Self {
        Self { reason: Some(why), ..verdict::malformed("") }
    }

    /// Nobody listens any more: the request was cut off, perhaps before and perhaps after it was done.
    pub fn cut_off(request: &HttpRequest) -> Self {
        let why = "the server was stopped while it waited for the answer".to_owned();
        verdict::unanswered(request, Fault::NoAnswer(why))
    }
}
