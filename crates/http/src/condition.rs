//! # Conditions: `If-Match`, `If-None-Match`, and what it means that they did not hold
//!
//! 412 says that nothing was written. That may be because somebody else did, or because an earlier
//! attempt of ours did and its answer was lost: who wants to know looks at what is there now.

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, IF_MATCH, IF_NONE_MATCH};
use semel_model::{HttpRequest, OnConditionFailed};
use serde_json::Value;

use crate::answer::Answer;
use crate::fault::Fault;
use crate::outcome::{Applied, Outcome, Status};
use crate::outgoing::{FENCE, Outgoing};
use crate::verdict::{Extra, failed, output};

/// Nothing was written, or there is nothing new to read.
pub(crate) fn has_failed(request: &HttpRequest, answer: &Answer) -> bool {
    let is_conditional = request.if_match.is_some() || request.if_none_match.is_some();
    answer.status == 412 || (answer.status == 304 && is_conditional)
}

pub(crate) fn asks_again(request: &HttpRequest) -> bool {
    request.on_condition_failed == OnConditionFailed::CompleteIfEqual
}

/// Reads what is there.
pub(crate) fn look(sent: &Outgoing) -> Outgoing {
    let mut look = Outgoing { method: Method::GET, body: None, ..sent.clone() };
    for name in [IF_MATCH, IF_NONE_MATCH, CONTENT_TYPE, FENCE] {
        look.headers.remove(name);
    }
    look
}

/// `there` is what a second look found, if there was one.
pub(crate) fn judge(
    request: &HttpRequest,
    answer: &Answer,
    there: Option<Result<Answer, Fault>>,
) -> Outcome {
    let class = request.class();
    let extra = Extra { condition_failed: true, ..Extra::default() };
    let not_written = |why: &str, status: Status| {
        let reason = format!("the condition did not hold ({}){why}", answer.brief());
        failed(status, class, Applied::No, &reason, Some(answer), &extra)
    };
    let (ours, found) = match there {
        None => return not_written("", Status::FailedTerminal),
        Some(Ok(found)) if found.is_success() => (request.body.as_deref(), found),
        Some(Ok(_) | Err(_)) => {
            return not_written(", and what is there cannot be read", Status::Failed);
        }
    };
    let wanted: Option<Value> = ours.and_then(|body| serde_json::from_str(body).ok());
    let known: Option<Value> = serde_json::from_slice(&found.body).ok();
    let is_there = match (&wanted, &known) {
        (Some(wanted), Some(known)) => holds(known, wanted),
        _ => ours.is_some_and(|body| body.as_bytes() == found.body),
    };
    if !is_there {
        return not_written(", and what is there is something else", Status::FailedTerminal);
    }
    let extra = Extra { effect_status: Some("ALREADY_APPLIED"), ..extra };
    Outcome {
        status: Status::Completed,
        output: output(Some(&found), &extra),
        reason: None,
        class,
        applied: Applied::Yes,
        retry_after: None,
    }
}

/// Everything that is wanted is there; an object may have more fields than were written.
fn holds(known: &Value, wanted: &Value) -> bool {
    match (known, wanted) {
        (Value::Object(known), Value::Object(wanted)) => wanted
            .iter()
            .all(|(name, value)| known.get(name).is_some_and(|known| holds(known, value))),
        _ => known == wanted,
    }
}
