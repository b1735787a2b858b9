//! # What a call of the ledger is answered

use axum::http::StatusCode;
use semel_engine::{EFFECT_SCOPE, Record, RecordKey, RecordState, Ruled, shown};
use semel_model::{Payload, Timestamp};
use serde_json::{Map, Value, json};

use crate::answer::{Answered, json as answer};
use crate::error::ApiError;
use crate::records::{RecordView, owner, retry_after, stale, winner};
use crate::refusal::Refusal;

pub(super) fn started(key: &RecordKey, verdict: Ruled, now: Timestamp) -> Answered {
    match verdict {
        Ruled::Started { fence, lease_until, reentrant, takeover } => {
            let mut body = json!({
                "state": "STARTED",
                "fence": fence.to_string(),
                "leaseUntil": lease_until,
            });
            for (name, flag) in [("reentrant", reentrant), ("takeover", takeover)] {
                if flag {
                    body[name] = json!(true);
                }
            }
            Ok(answer(&body))
        }
        Ruled::Decided(record) if record.state == RecordState::Completed => {
            let result = shown(&record.detail.result.unwrap_or_default());
            let at = record.detail.decided_at;
            let (state, expires) = (RecordState::Completed.as_str(), record.expires_at);
            Ok(answer(&Replayed { state, result: Some(result), error: None, at, expires }.body()))
        }
        Ruled::Decided(record) => {
            let error = shown(&record.detail.result.unwrap_or_default());
            let at = record.detail.decided_at;
            let (state, expires) = (RecordState::Failed.as_str(), record.expires_at);
            Ok(answer(&Replayed { state, result: None, error: Some(error), at, expires }.body()))
        }
        verdict => Err(refused(key, verdict, now)),
    }
}

/// What was decided before.
struct Replayed {
    state: &'static str,
    result: Option<Payload>,
    error: Option<Payload>,
    at: Option<Timestamp>,
    expires: Option<Timestamp>,
}

impl Replayed {
    fn body(self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("state".to_owned(), json!(self.state));
        if let Some(result) = self.result {
            body.insert("result".to_owned(), result.value());
            body.insert("completedAt".to_owned(), json!(self.at));
        }
        if let Some(error) = self.error {
            body.insert("error".to_owned(), error.value());
            body.insert("failedAt".to_owned(), json!(self.at));
        }
        body.insert("expiresAt".to_owned(), json!(self.expires));
        body
    }
}

pub(super) fn noted(key: &RecordKey, verdict: Ruled, now: Timestamp) -> Answered {
    match verdict {
        Ruled::Noted(record) | Ruled::Repeated(record) => Ok(answer(&view(key, *record, now))),
        verdict => Err(refused(key, verdict, now)),
    }
}

pub(super) fn view(key: &RecordKey, record: Record, now: Timestamp) -> RecordView {
    let scope = key.scope.strip_prefix(EFFECT_SCOPE).unwrap_or(&key.scope);
    RecordView::of(&key.key, record, now).in_scope(scope)
}

fn refused(key: &RecordKey, verdict: Ruled, now: Timestamp) -> ApiError {
    let scope = key.scope.strip_prefix(EFFECT_SCOPE).unwrap_or(&key.scope);
    let what = format!("effect {} of scope {scope}", key.key);
    let refusal = match verdict {
        Ruled::InProgress(record) => {
            let message = format!("{what} is in the hands of somebody else");
            Refusal::new(StatusCode::CONFLICT, "IDEMPOTENCY_IN_PROGRESS", message)
                .with("state", json!("IN_PROGRESS"))
                .with("owner", owner(&record))
                .with("workflowId", json!(record.run))
                .with("leaseUntil", json!(record.detail.lease_until))
                .retry_after(retry_after(&record, now))
        }
        Ruled::Unknown(record) => {
            let message = format!(
                "{what} may have happened: its owner fell silent. Find out, and take over with \
                 onUnknown=takeover"
            );
            Refusal::new(StatusCode::LOCKED, "EFFECT_OUTCOME_UNKNOWN", message)
                .with("state", json!("UNKNOWN"))
                .with("lastOwner", owner(&record))
        }
        Ruled::Mismatch(record) => {
            let message =
                format!("{what} was asked for with another fingerprint: use a key of its own");
            let code = "IDEMPOTENCY_PAYLOAD_MISMATCH";
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, code, message)
                .with("state", json!(record.state_at(now).as_str()))
                .with("fingerprint", json!(record.detail.fingerprint.map(|it| it.to_string())))
                .with("expiresAt", json!(record.expires_at))
        }
        Ruled::Contradicted(record) => {
            let message = format!("{what} is {} with another result", record.state.as_str());
            Refusal::new(StatusCode::CONFLICT, "DECISION_CONFLICT", message)
                .with("winner", winner(&record, now))
                .with("expiresAt", json!(record.expires_at))
        }
        Ruled::Stale(record) => return stale(&what, record.as_deref(), now),
        Ruled::Missing => return ApiError::NotFound(format!("{what}: nobody has asked for it")),
        Ruled::Started { .. } | Ruled::Decided(_) | Ruled::Noted(_) | Ruled::Repeated(_) => {
            return ApiError::Internal(format!("{what}: no refusal"));
        }
    };
    ApiError::Refused(Box::new(refusal))
}
