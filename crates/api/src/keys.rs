//! # Start keys to look at (docs/start-keys.md#to-look-at)
//!
//! What is known of a key is read from its record as it is committed, never from the index.

use std::cmp::Reverse;

use axum::extract::State;
use semel_engine::{Decided, RING_MAX, Record, RecordKey};
use semel_model::{ExecutionId, Payload, WorkflowStatus};
use semel_runtime::{Answer, Class, Work};
use semel_store::search::{WorkflowField, WorkflowSearch};
use serde_json::{Value, json};

use crate::answer::{Answered, json as answer_json, nothing};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::Number;
use crate::endpoint::{Endpoint, delete, get};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::roles::{OPERATE, READ};

/// Runs of a key in one answer.
const SIZE: usize = 100;
const SIZE_MAX: usize = 1_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/idempotency/workflow/{name}/{key}", READ, read)
            .about("What is known of a start key: its runs, who asked again, until when it is kept")
            .query("start", Number(0))
            .query("size", Number(SIZE as i64))
            .gives::<Payload>(),
        delete("/api/idempotency/workflow/{name}/{key}", OPERATE, reset)
            .about("Frees a start key: the next start under it makes a new run")
            .gives_nothing(),
    ]
}

/// `GET /api/idempotency/workflow/{name}/{key}`.
async fn read(
    State(app): State<App>,
    Path((name, key)): Path<(String, String)>,
    params: Params,
) -> Answered {
    let page = Page::of(&params)?;
    let at = record_key(&name, &key)?;
    let found = app.runtime.blocking(move |world| world.record(&at)).await?;
    let mut record = found.ok_or_else(|| unknown(&name, &key))?;
    let (run, given) = (record.run, record.detail.given);
    let status = match run.filter(|_| record.live || given) {
        Some(run) => {
            let seen = app.runtime.blocking(move |world| world.glance(run)).await?;
            let seen = seen.map(|seen| seen.head.status);
            if given {
                record = record.faring(seen);
                seen
            } else {
                let live = seen.filter(|status| !status.is_terminal());
                Some(live.unwrap_or(WorkflowStatus::Running))
            }
        }
        None => record.detail.ended,
    };
    let runs = runs(&app, &name, &key, &record, page).await?;
    Ok(answer_json(&shown(&name, &key, &record, status, &runs)))
}

/// Which runs of a key are shown.
#[derive(Clone, Copy)]
struct Page {
    start: usize,
    size: usize,
}

impl Page {
    fn of(params: &Params) -> Result<Self, ApiError> {
        let start = params.number("start")?.unwrap_or(0);
        let size = params.number("size")?.unwrap_or(SIZE);
        match size <= SIZE_MAX {
            true => Ok(Self { start, size }),
            false => Err(ApiError::Malformed(format!("size must be at most {SIZE_MAX}"))),
        }
    }
}

/// A page of the runs under a key, newest first, and how many there are.
struct Runs {
    ids: Vec<ExecutionId>,
    total: usize,
}

/// The record names the latest runs; the index knows those before them that are still kept.
async fn runs(
    app: &App,
    name: &str,
    key: &str,
    record: &Record,
    Page { start, size }: Page,
) -> Result<Runs, ApiError> {
    let latest: Vec<ExecutionId> =
        record.run.iter().chain(&record.detail.earlier).copied().collect();
    let mut ids: Vec<ExecutionId> = latest.iter().skip(start).take(size).copied().collect();
    if latest.len() <= RING_MAX {
        return Ok(Runs { ids, total: latest.len() });
    }
    let first = start.max(latest.len());
    let asked = |error| ApiError::Malformed(format!("the runs of this key: {error}"));
    let search = WorkflowSearch::parse("", "", "startTime:DESC").map_err(asked)?;
    let search = search.and(WorkflowField::Name, [name]).map_err(asked)?;
    let search = search.and(WorkflowField::IdempotencyKey, [key]).map_err(asked)?;
    let found = app.runtime.search_workflows(search.page(first, size - ids.len())).await?;
    ids.extend(found.ids.into_iter().filter(|run| !latest.contains(run)));
    Ok(Runs { ids, total: found.total_hits.max(latest.len()) })
}

fn shown(
    name: &str,
    key: &str,
    record: &Record,
    status: Option<WorkflowStatus>,
    runs: &Runs,
) -> Value {
    let detail = &record.detail;
    let ids: Vec<String> = runs.ids.iter().map(ToString::to_string).collect();
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
        "runs": ids,
        "totalRuns": runs.total,
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
