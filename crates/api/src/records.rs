//! # Records on the wire: what effects and locks have in common

use axum::http::StatusCode;
use schemars::JsonSchema;
use semel_engine::{Decided, Record, RecordState, shown};
use semel_model::{
    ExecutionId, IDEMPOTENCY_KEY_BYTES_MAX, LEASE_SECONDS_MAX, Payload, TaskId, Timestamp,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::refusal::Refusal;
use crate::request::one_line;

/// Who owns something, in the words of whoever asks.
const OWNER_BYTES_MAX: usize = 512;

/// After which time it may be worth asking again, when nobody knows.
const RETRY_AFTER_SECONDS: u64 = 5;

/// What a record says, and who has asked for it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecordView {
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    key: String,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    /// The run that owns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow_id: Option<ExecutionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    fence: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Payload>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// Tasks that wait in line for it.
    waiting: u64,
    /// How often somebody was answered from it.
    hits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_hit_at: Option<Timestamp>,
    /// The last decisions, oldest first.
    ring: Vec<DecidedView>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DecidedView {
    at: Timestamp,
    by: String,
    outcome: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    mismatch: bool,
}

impl RecordView {
    pub(crate) fn of(key: &str, record: Record, now: Timestamp) -> Self {
        let state = record.state_at(now);
        let detail = record.detail;
        let is_completed = record.state == RecordState::Completed;
        let said = detail.result.as_ref().map(shown);
        let (result, error) = if is_completed { (said, None) } else { (None, said) };
        Self {
            scope: None,
            key: key.to_owned(),
            state: state.as_str().to_owned(),
            owner: detail.owner,
            workflow_id: record.run,
            task_id: detail.task,
            fence: detail.fence.to_string(),
            lease_until: detail.lease_until,
            fingerprint: detail.fingerprint.map(|digest| digest.to_string()),
            result,
            error,
            created_at: record.created_at,
            decided_at: detail.decided_at,
            expires_at: record.expires_at,
            waiting: detail.line,
            hits: detail.hits,
            last_hit_at: detail.last_hit_at,
            ring: detail.ring.into_iter().map(DecidedView::of).collect(),
        }
    }
}

impl RecordView {
    pub(crate) fn in_scope(self, scope: &str) -> Self {
        Self { scope: Some(scope.to_owned()), ..self }
    }

    pub(crate) fn in_state(self, state: &str) -> Self {
        Self { state: state.to_owned(), ..self }
    }
}

impl DecidedView {
    fn of(decided: Decided) -> Self {
        let Decided { at, by, outcome, mismatch } = decided;
        Self { at, by, outcome, mismatch }
    }
}

/// A fence as text, because it may not fit where others keep numbers; a number is read as well.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Fence(Value);

impl Fence {
    pub(crate) fn number(&self) -> Result<u64, ApiError> {
        let text = self.0.as_str().map(str::trim);
        let number = self.0.as_u64().or_else(|| text?.parse().ok());
        number.ok_or_else(|| {
            ApiError::Malformed("fence must be the number that was given, as text".to_owned())
        })
    }
}

/// Text that is part of a key.
pub(crate) fn name(what: &str, text: &str, bytes_max: usize) -> Result<(), ApiError> {
    let fits = !text.trim().is_empty() && text.len() <= bytes_max && !text.contains('\0');
    match fits {
        true => Ok(()),
        false => Err(ApiError::Malformed(format!(
            "{what} must be 1 to {bytes_max} bytes of text, not blank and without NUL"
        ))),
    }
}

/// Who holds something: a name that stands in logs and lists.
pub(crate) fn owner_name(text: &str) -> Result<(), ApiError> {
    name("owner", text, OWNER_BYTES_MAX)?;
    one_line("owner", Some(text))
}

pub(crate) fn key(what: &str, text: &str) -> Result<(), ApiError> {
    name(what, text, IDEMPOTENCY_KEY_BYTES_MAX)
}

/// In milliseconds.
pub(crate) fn lease(seconds: i64) -> Result<i64, ApiError> {
    match (1..=LEASE_SECONDS_MAX).contains(&seconds) {
        true => Ok(seconds * 1_000),
        false => Err(ApiError::Malformed(format!(
            "leaseSeconds must be from 1 to {LEASE_SECONDS_MAX}, not {seconds}"
        ))),
    }
}

/// Who has it, in words.
pub(crate) fn owner(record: &Record) -> Value {
    match (&record.detail.owner, record.run) {
        (Some(owner), _) => json!(owner),
        (None, Some(run)) => json!(format!("workflow {run}")),
        (None, None) => Value::Null,
    }
}

/// 409 for whoever is not, or no longer, the owner; it names whose word counts.
pub(crate) fn stale(what: &str, record: Option<&Record>, now: Timestamp) -> ApiError {
    let message = match record {
        Some(record) => format!(
            "{what} is {} under fence {}: the owner and fence given are not, or no longer, its own",
            record.state_at(now).as_str(),
            record.detail.fence
        ),
        None => format!("{what} is nobody's: the owner and fence given do not count any more"),
    };
    let refusal = Refusal::new(StatusCode::CONFLICT, "STALE_FENCE", message);
    let refusal = match record {
        Some(record) => {
            let refusal = refusal.with("winner", winner(record, now));
            refusal.with("expiresAt", json!(record.expires_at))
        }
        None => refusal,
    };
    ApiError::Refused(Box::new(refusal))
}

pub(crate) fn winner(record: &Record, now: Timestamp) -> Value {
    let mut winner = json!({
        "state": record.state_at(now).as_str(),
        "fence": record.detail.fence.to_string(),
    });
    for (name, value) in [
        ("owner", owner(record)),
        ("leaseUntil", json!(record.detail.lease_until)),
        ("decidedAt", json!(record.detail.decided_at)),
    ] {
        if !value.is_null() {
            winner[name] = value;
        }
    }
    winner
}

/// Until its lease is over.
pub(crate) fn retry_after(record: &Record, now: Timestamp) -> u64 {
    let left_ms = record.detail.lease_until.map(|until| until.since_ms(now).max(0));
    let seconds = left_ms.map(|ms| u64::try_from(ms).unwrap_or_default().div_ceil(1_000).max(1));
    seconds.unwrap_or(RETRY_AFTER_SECONDS)
}
