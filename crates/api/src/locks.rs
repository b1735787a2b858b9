//! # Locks: one owner at a time, by name (docs/reference/idempotency.md#locks)
//!
//! Whoever holds one has a fence, larger than that of every holder before. A lease that lapses frees
//! the lock: what the lock protects has to look at the fence.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use semel_engine::{Hold, LOCK_SCOPE, LockAct, Record, RecordKey, RecordState, Ruled};
use semel_model::{LOCK_NAME_BYTES_MAX, Payload, Timestamp};
use semel_runtime::{Asks, Call, Failure, World};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::answer::{Answered, json as answer};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Text};
use crate::endpoint::{Endpoint, delete, get, post};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::records::{Fence, RecordView, lease, name, owner, owner_name, retry_after, stale};
use crate::refusal::Refusal;
use crate::request::Body;
use crate::roles::{FOLLOW, OPERATE, WORK};

/// Locks in one answer.
const SIZE: usize = 100;
const SIZE_MAX: usize = 1_000;

/// Records looked at for one answer: locks that are free stay known for a day.
const LOOKED_AT_MAX: usize = 20_000;

/// The longest one may wait for a lock in one request.
const WAIT_SECONDS_MAX: u64 = 30;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/locks/{name}/acquire", WORK, acquire)
            .about("Takes a lock, waiting for it if asked to")
            .grants()
            .takes::<Acquire>()
            .gives::<Payload>()
            .also(409),
        post("/api/locks/{name}/renew", WORK, renew)
            .about("Keeps a lock for longer")
            .grants()
            .takes::<Renew>()
            .gives::<Payload>()
            .also(409),
        post("/api/locks/{name}/release", WORK, release)
            .about("Gives a lock back")
            .takes::<Release>()
            .gives::<RecordView>()
            .also(409),
        get("/api/locks/{name}", FOLLOW, one)
            .about("Who has a lock, and how many tasks wait for it")
            .gives::<RecordView>(),
        get("/api/locks", FOLLOW, list)
            .about("Locks that somebody has or waits for, by name, a page at a time")
            .query("size", Count)
            .query("after", Text)
            .gives::<LockPage>(),
        delete("/api/locks/{name}", OPERATE, free)
            .about("Takes a lock from whoever has it under this fence; the next in line gets it")
            .query("fence", Text)
            .gives::<RecordView>()
            .also(409),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Acquire {
    owner: String,
    lease_seconds: i64,
    #[serde(default)]
    wait_seconds: u64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Renew {
    owner: String,
    fence: Fence,
    lease_seconds: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Release {
    owner: String,
    fence: Fence,
}

fn lock(text: &str) -> Result<RecordKey, ApiError> {
    name("the name of a lock", text, LOCK_NAME_BYTES_MAX)?;
    Ok(RecordKey::lock(text))
}

/// `POST /api/locks/{name}/acquire`.
async fn acquire(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let Acquire { owner, lease_seconds, wait_seconds } = body.object()?;
    let key = lock(&name)?;
    owner_name(&owner)?;
    if wait_seconds > WAIT_SECONDS_MAX {
        return Err(ApiError::Malformed(format!(
            "waitSeconds must be from 0 to {WAIT_SECONDS_MAX}, not {wait_seconds}: ask again instead"
        )));
    }
    let lease_ms = lease(lease_seconds)?;
    let by = caller.acting(Some(owner.clone()));
    let asks = Asks::Lock(LockAct::Acquire { owner, lease_ms });
    let wait = Duration::from_secs(wait_seconds);
    let verdict = app.runtime.acquire(Call { key, asks, by }, wait).await?;
    match verdict {
        Ruled::Started { fence, lease_until, reentrant, .. } => {
            let mut body = json!({"fence": fence.to_string(), "leaseUntil": lease_until});
            if reentrant {
                body["reentrant"] = json!(true);
            }
            Ok(answer(&body))
        }
        verdict => Err(refused(&name, verdict, app.runtime.now())),
    }
}

/// `POST /api/locks/{name}/renew`.
async fn renew(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let Renew { owner, fence, lease_seconds } = body.object()?;
    let lease_ms = lease(lease_seconds)?;
    let hold = Hold { owner, fence: fence.number()? };
    let record = say(&app, &caller, &name, LockAct::Renew { hold, lease_ms }).await?;
    let fence = record.detail.fence.to_string();
    Ok(answer(&json!({"fence": fence, "leaseUntil": record.detail.lease_until})))
}

/// `POST /api/locks/{name}/release`.
async fn release(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let Release { owner, fence } = body.object()?;
    let hold = Hold { owner, fence: fence.number()? };
    let record = say(&app, &caller, &name, LockAct::Release { hold }).await?;
    Ok(answer(&view(&name, record, app.runtime.now())))
}

/// `DELETE /api/locks/{name}`: for a holder that is gone. Without a fence whoever has it now loses it.
async fn free(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    let key = lock(&name)?;
    let fence = match params.number("fence")? {
        Some(fence) => fence,
        None => known(&app, &name).await?.detail.fence,
    };
    let by = caller.acting(None);
    let asks = Asks::Lock(LockAct::Free { fence });
    match app.runtime.call(Call { key, asks, by }).await? {
        Ruled::Noted(record) | Ruled::Repeated(record) => {
            Ok(answer(&view(&name, *record, app.runtime.now())))
        }
        verdict => Err(refused(&name, verdict, app.runtime.now())),
    }
}

#[derive(Serialize, JsonSchema)]
struct LockPage {
    results: Vec<RecordView>,
    /// Where the next page begins; none: there is no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// `GET /api/locks`: those that are free and wanted by nobody are left out.
async fn list(State(app): State<App>, params: Params) -> Answered {
    let size: usize = params.number("size")?.unwrap_or(SIZE);
    if !(1..=SIZE_MAX).contains(&size) {
        return Err(ApiError::Malformed(format!("size must be from 1 to {SIZE_MAX}, not {size}")));
    }
    let after = params.text("after").map(lock).transpose()?;
    let now = app.runtime.now();
    let page = app.runtime.blocking(move |world| page(world, after, size, now)).await?;
    Ok(answer(&page))
}

fn page(
    world: &World,
    mut after: Option<RecordKey>,
    size: usize,
    now: Timestamp,
) -> Result<LockPage, Failure> {
    let (mut results, mut looked_at) = (Vec::new(), 0);
    loop {
        let batch = world.records(LOCK_SCOPE, after.as_ref(), SIZE_MAX)?;
        let is_last = batch.len() < SIZE_MAX;
        for (key, record) in batch {
            looked_at += 1;
            after = Some(key.clone());
            let is_wanted = !record.is_free(now) || record.detail.line > 0;
            if key.scope == LOCK_SCOPE && is_wanted && !record.is_expired(now) {
                results.push(view(&key.key, record, now));
            }
            if results.len() == size || looked_at == LOOKED_AT_MAX {
                return Ok(LockPage { results, after: Some(key.key) });
            }
        }
        if is_last {
            return Ok(LockPage { results, after: None });
        }
    }
}

/// A holder's word about its lock.
async fn say(app: &App, caller: &Caller, name: &str, act: LockAct) -> Result<Record, ApiError> {
    let key = lock(name)?;
    let (LockAct::Renew { hold, .. } | LockAct::Release { hold }) = &act else {
        return Err(ApiError::Internal("only a holder speaks for its lock".to_owned()));
    };
    owner_name(&hold.owner)?;
    let by = caller.acting(Some(hold.owner.clone()));
    match app.runtime.call(Call { key, asks: Asks::Lock(act), by }).await? {
        Ruled::Noted(record) | Ruled::Repeated(record) => Ok(*record),
        verdict => Err(refused(name, verdict, app.runtime.now())),
    }
}

fn refused(name: &str, verdict: Ruled, now: Timestamp) -> ApiError {
    let what = format!("lock {name}");
    match verdict {
        Ruled::InProgress(record) => {
            let message = format!("{what} is in the hands of somebody else");
            let refusal = Refusal::new(StatusCode::CONFLICT, "LOCK_TAKEN", message)
                .with("holder", owner(&record))
                .with("workflowId", json!(record.run))
                .with("leaseUntil", json!(record.detail.lease_until))
                .with("position", json!(record.detail.line + 1))
                .retry_after(retry_after(&record, now));
            ApiError::Refused(Box::new(refusal))
        }
        Ruled::Stale(record) => {
            stale(&what, record.as_deref().filter(|it| it.state == RecordState::Claimed), now)
        }
        Ruled::Started { .. }
        | Ruled::Decided(_)
        | Ruled::Unknown(_)
        | Ruled::Mismatch(_)
        | Ruled::Noted(_)
        | Ruled::Repeated(_)
        | Ruled::Contradicted(_)
        | Ruled::Missing => ApiError::Internal(format!("{what}: no refusal")),
    }
}

/// A lock whose lease has lapsed is nobody's.
fn view(name: &str, record: Record, now: Timestamp) -> RecordView {
    let is_free = record.is_free(now);
    let view = RecordView::of(name, record, now);
    if is_free { view.in_state("FREE") } else { view }
}

/// `GET /api/locks/{name}`.
async fn one(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let record = known(&app, &name).await?;
    Ok(answer(&view(&name, record, app.runtime.now())))
}

async fn known(app: &App, name: &str) -> Result<Record, ApiError> {
    let key = lock(name)?;
    let found = app.runtime.blocking(move |world| world.record(&key)).await?;
    let now = app.runtime.now();
    let found = found.filter(|record| !record.is_expired(now));
    found.ok_or_else(|| ApiError::NotFound(format!("nobody has asked for lock {name} lately")))
}
