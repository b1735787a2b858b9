//! # Start keys to look at: contract 1
//!
//! What is known of a key is read from its record as it is committed, never from the index.

use std::cmp::Reverse;

use axum::extract::State;
use semel_engine::{Decided, Record, RecordKey};
use semel_model::{Payload, WorkflowStatus};
use semel_runtime::{Answer, Class, Work};
use serde_json::{Value, json};

use crate::answer::{Answered, json as answer_json, nothing};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, delete, get};
use crate::error::ApiError;
use crate::params::Path;
use crate::roles::{OPERATE, READ};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/idempotency/workflow/{name}/{key}", READ, read)
            .about("What is known of a start key: its runs, who asked again, until when it is kept")
            .gives::<Payload>(),
        delete("/api/idempotency/workflow/{name}/{key}", OPERATE, reset)
            .about("Frees a start key: the next start under it makes a new run")
            .gives_nothing(),
    ]
}

/// `GET /api/idempotency/workflow/{name}/{key}`.
async fn read(State(app): State<App>, Path((name, key)): Path<(String, String)>) -> Answered {
    let at = record_key(&name, &key)?;
    let found = app.runtime.blocking(move |world| world.record(&at)).await?;
    let record = found.ok_or_else(|| unknown(&name, &key))?;
    let run = record.run;
    let status = match (record.live, run) {
        (true, Some(run)) => {
            let seen = app.runtime.blocking(move |world| world.glance(run)).await?;
            let seen = seen.map(|seen| seen.head.status).filter(|status| !status.is_terminal());
            Some(seen.unwrap_or(WorkflowStatus::Running))
        }
        _ => record.detail.ended,
    };
    Ok(answer_json(&shown(&name, &key, &record, status)))
}

fn shown(name: &str, key: &str, record: &Record, status: Option<WorkflowStatus>) -> Value {
    let detail = &record.detail;
    let runs: Vec<String> =
        record.run.iter().chain(&detail.earlier).map(ToString::to_string).collect();
    // Those of duplicates were written with a later commit.
    let mut decisions: Vec<&Decided> = detail.ring.iter().rev().collect();
    decisions.sort_by_key(|decided| Reverse(decided.at));
    let mut fields = json!({
        "workflowName": name,
        "idempotencyKey": key,
        "state": record.state.as_str(),
        "workflowId": record.run.map(|run| run.to_string()),
        "status": status,
        "version": record.run.map(|_| record.version),
        "runs": runs,
        "createdAt": record.created_at,
        "createdBy": detail.owner,
        "requestId": detail.request,
        "fingerprint": detail.fingerprint,
        "expiresAt": record.expires_at,
        "hits": detail.hits,
        "lastHitAt": detail.last_hit_at,
        "decisions": decisions,
    });
    if let Value::Object(fields) = &mut fields {
        fields.retain(|_, value| !value.is_null());
    }
    fields
}

/// `DELETE /api/idempotency/workflow/{name}/{key}`.
async fn reset(
    State(app): State<App>,
    Path((name, key)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let at = record_key(&name, &key)?;
    let work = Work::Reset(at, caller.principal.clone());
    match app.runtime.submit(work, Class::Operation).await? {
        Answer::NotHeld => Err(unknown(&name, &key)),
        _ => Ok(nothing()),
    }
}

/// No key has this character, and not every store can be asked for it.
fn record_key(name: &str, key: &str) -> Result<RecordKey, ApiError> {
    match name.contains('\0') || key.contains('\0') {
        true => Err(unknown(name, key)),
        false => Ok(RecordKey::start(name, key)),
    }
}

fn unknown(name: &str, key: &str) -> ApiError {
    ApiError::NotFound(format!("no start of workflow {name} under idempotency key {key} is known"))
}
