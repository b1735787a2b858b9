//! # Verdicts: what an answer, or none, means for the task
//!
//! Contract: docs/reference/idempotency.md#retry-classes.
//! Only what may be repeated without harm is tried again by itself: what reads, what is
//! idempotent by its method, what carries a key to a service that is known to honour keys, what never
//! left, and what the other side refused to do. Of anything else nobody can say whether it was done,
//! and the task says so.

use semel_model::{HttpClass, HttpRequest, Payload};

use crate::answer::{Answer, quoted};
use crate::fault::Fault;
use crate::outcome::{Applied, Outcome, Status};

const RETRYABLE: [u16; 7] = [408, 425, 429, 500, 502, 503, 504];

/// What an output says besides the answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    pub(crate) condition_failed: bool,
    pub(crate) effect_status: Option<&'static str>,
    pub(crate) applied: Option<(Applied, HttpClass)>,
    pub(crate) retry_after: Option<u64>,
}

/// It cannot be sent, now or ever.
pub(crate) fn malformed(why: &str) -> Outcome {
    let extra = Extra::default();
    failed(Status::FailedTerminal, HttpClass::NotSent, Applied::No, why, None, &extra)
}

pub(crate) fn answered(request: &HttpRequest, answer: &Answer) -> Outcome {
    let class = request.class();
    if answer.is_success() {
        let is_replayed = answer.header("idempotent-replayed").is_some_and(|it| it == "true");
        let effect_status = is_replayed.then_some("DEDUPED_DOWNSTREAM");
        let extra = Extra { effect_status, ..Extra::default() };
        let output = output(Some(answer), &extra);
        let (status, applied) = (Status::Completed, Applied::Yes);
        return Outcome { status, output, reason: None, class, applied, retry_after: None };
    }
    let brief = answer.brief();
    let is_keyed = request.carries_key();
    if is_keyed && answer.status == 409 && is_in_use(answer) {
        let why = format!("the key is in use, an earlier attempt is under way: {brief}");
        return refused(class, Status::Failed, Applied::Unknown, &why, answer);
    }
    if is_keyed && matches!(answer.status, 400 | 409 | 422) && is_mismatch(answer) {
        let why = format!("the key was used before for another request: {brief}");
        return refused(class, Status::FailedTerminal, Applied::No, &why, answer);
    }
    let applied = applied(class, answer.status);
    match (RETRYABLE.contains(&answer.status), class) {
        (true, HttpClass::Unsafe) if applied == Applied::Unknown => {
            let why = doubtful(request, &brief);
            refused(class, Status::FailedTerminal, applied, &why, answer)
        }
        (false, _) => refused(class, Status::FailedTerminal, applied, &brief, answer),
        (true, _) => refused(class, Status::Failed, applied, &brief, answer),
    }
}

pub(crate) fn unanswered(request: &HttpRequest, fault: Fault) -> Outcome {
    let class = request.class();
    let extra = Extra::default();
    let unless_safe = |applied| if class == HttpClass::Safe { Applied::No } else { applied };
    let lost = |applied: Applied, why: &str| {
        let applied = unless_safe(applied);
        match (class, applied) {
            (HttpClass::Unsafe, Applied::Yes) => {
                let why = format!("it was done, and its answer cannot be taken: {why}");
                failed(Status::FailedTerminal, class, applied, &why, None, &extra)
            }
            (HttpClass::Unsafe, _) => {
                let why = doubtful(request, why);
                failed(Status::FailedTerminal, class, applied, &why, None, &extra)
            }
            _ => failed(Status::Failed, class, applied, why, None, &extra),
        }
    };
    match fault {
        Fault::NotSent(why) => {
            failed(Status::Failed, HttpClass::NotSent, Applied::No, &why, None, &extra)
        }
        Fault::Impossible(why) => malformed(&why),
        Fault::NoAnswer(why) => lost(Applied::Unknown, &why),
        Fault::TooLong { status, why } => {
            let why = format!("{status}, and {why}");
            failed(Status::FailedTerminal, class, applied(class, status), &why, None, &extra)
        }
        Fault::Unreadable { status, why } => {
            lost(applied(class, status), &format!("{status}, and {why}"))
        }
        Fault::Astray(why) => {
            let applied = unless_safe(Applied::Unknown);
            failed(Status::FailedTerminal, class, applied, &why, None, &extra)
        }
    }
}

/// Any failure may be tried again, if it could be sent at all.
pub(crate) fn retried_like_conductor(outcome: Outcome) -> Outcome {
    let is_final = outcome.status == Status::FailedTerminal;
    match is_final && outcome.class != HttpClass::NotSent {
        true => Outcome { status: Status::Failed, ..outcome },
        false => outcome,
    }
}

fn refused(
    class: HttpClass,
    status: Status,
    applied: Applied,
    why: &str,
    answer: &Answer,
) -> Outcome {
    let retry_after = answer.retry_after().filter(|_| status == Status::Failed);
    let extra = Extra { retry_after, ..Extra::default() };
    failed(status, class, applied, why, Some(answer), &extra)
}

/// A refusal of the client's side was judged before anything was done; of the server's side nobody
/// knows: a proxy may say 502 after the origin has acted.
fn applied(class: HttpClass, status: u16) -> Applied {
    match status {
        _ if class == HttpClass::Safe => Applied::No,
        200..300 => Applied::Yes,
        408 => Applied::Unknown,
        400..500 => Applied::No,
        _ => Applied::Unknown,
    }
}

fn doubtful(request: &HttpRequest, why: &str) -> String {
    let cause = match request.carries_key() {
        true => {
            "nobody has said that the service honours its key (downstream.honoursKeys of the step, \
             or http_key_hosts of the server)"
        }
        false => "it has no key",
    };
    format!(
        "{why}. The request may have been carried out, and {cause}: it is not sent again by itself. \
         Look at the other side, then say whether it happened \
         (POST /api/effects/SCOPE/KEY/resolve)"
    )
}

fn is_in_use(answer: &Answer) -> bool {
    const WORDS: [&str; 7] = [
        "in use",
        "in_use",
        "in progress",
        "in_progress",
        "being processed",
        "still processing",
        "concurrent",
    ];
    let text = answer.text().to_ascii_lowercase();
    WORDS.iter().any(|word| text.contains(word)) || answer.header("retry-after").is_some()
}

fn is_mismatch(answer: &Answer) -> bool {
    const WORDS: [&str; 6] =
        ["mismatch", "different", "reused", "does not match", "another request", "same parameters"];
    let text = answer.text().to_ascii_lowercase();
    text.contains("idempoten") && WORDS.iter().any(|word| text.contains(word))
}

/// Clients match on how it begins.
pub(crate) fn failed(
    status: Status,
    class: HttpClass,
    applied: Applied,
    why: &str,
    answer: Option<&Answer>,
    extra: &Extra,
) -> Outcome {
    let said = Extra { applied: Some((applied, class)), ..extra.clone() };
    Outcome {
        status,
        output: output(answer, &said),
        reason: Some(format!("Failed to invoke HTTP task due to: {why}")),
        class,
        applied,
        retry_after: extra.retry_after,
    }
}

pub(crate) fn output(answer: Option<&Answer>, extra: &Extra) -> Payload {
    let mut parts: Vec<(&str, String)> = Vec::new();
    parts.extend(answer.map(|answer| ("response", answer.shown())));
    parts.extend(extra.condition_failed.then(|| ("conditionFailed", "true".to_owned())));
    parts.extend(extra.effect_status.map(|status| ("effectStatus", quoted(status))));
    parts.extend(extra.applied.map(|(applied, class)| {
        let applied = match applied {
            Applied::Yes => "true".to_owned(),
            Applied::No => "false".to_owned(),
            Applied::Unknown => quoted("unknown"),
        };
        let class = quoted(class.as_str());
        ("_effect", format!("{{\"applied\":{applied},\"class\":{class}}}"))
    }));
    parts.extend(extra.retry_after.map(|seconds| ("_retryAfterSeconds", seconds.to_string())));
    let parts: Vec<String> =
        parts.into_iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
    Payload::readable(&format!("{{{}}}", parts.join(","))).unwrap_or_default()
}

#[cfg(test)]
mod tests;
