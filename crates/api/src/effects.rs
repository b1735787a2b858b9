//! # Effects: the ledger for workers that do their own (docs/reference/idempotency.md#ledger)
//!
//! Scopes and keys are the caller's text. Effect-once tasks keep their records in the same place, so
//! a worker and a workflow under one key see each other.

mod answers;
mod listing;

use axum::extract::State;
use schemars::JsonSchema;
use semel_engine::{Act, Attempt, Hold, RecordKey, Ruled};
use semel_model::{Digest, EFFECT_RETENTION_SECONDS, Payload};
use semel_runtime::{Asks, Call};
use serde::Deserialize;
use serde_json::Value;

use self::answers::{noted, started, view};
use self::listing::{Page, list};
use crate::answer::{Answered, json as answer};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Text};
use crate::endpoint::{Endpoint, delete, get, post};
use crate::error::ApiError;
use crate::params::Path;
use crate::records::{Fence, RecordView, key, lease, name, owner_name};
use crate::request::Body;
use crate::roles::{FOLLOW, OPERATE, WORK};

/// A result or an error that is kept.
const RESULT_BYTES_MAX: usize = 256 * 1024;

const SCOPE_BYTES_MAX: usize = 256;

const RETENTION_SECONDS_MAX: i64 = 10 * 365 * 86_400;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/effects/try-start", WORK, try_start)
            .about("Asks whether to do something: of all who ask under one key, one is told to")
            .grants()
            .takes::<TryStart>()
            .gives::<Payload>()
            .also(409)
            .also(422)
            .also(423),
        post("/api/effects/complete", WORK, complete)
            .about("It has happened; whoever asks again is told the result")
            .takes::<Complete>()
            .gives::<RecordView>()
            .also(409),
        post("/api/effects/renew", WORK, renew)
            .about("Its owner is still at it")
            .grants()
            .takes::<Renew>()
            .gives::<RecordView>()
            .also(409),
        post("/api/effects/release", WORK, release)
            .about("It has not happened, and another may do it")
            .takes::<Release>()
            .gives::<RecordView>()
            .also(409),
        post("/api/effects/fail", WORK, fail)
            .about("It has failed: for good, or so that another may try")
            .takes::<Fail>()
            .gives::<RecordView>()
            .also(409),
        get("/api/effects", FOLLOW, list)
            .about("Effects by scope and key, a page at a time")
            .query("scope", Text)
            .query("state", Text)
            .query("since", Count)
            .query("size", Count)
            .query("after", Text)
            .gives::<Page>(),
        get("/api/effects/{scope}/{key}", FOLLOW, one)
            .about("One effect, who owns it and who has asked")
            .gives::<RecordView>(),
        delete("/api/effects/{scope}/{key}", OPERATE, reset)
            .about("Forgets what has happened: the next one who asks is told to do it")
            .gives::<RecordView>()
            .also(409),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TryStart {
    scope: String,
    key: String,
    owner: String,
    lease_seconds: i64,
    /// Whatever makes two requests the same; any JSON.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    fingerprint: Option<Payload>,
    /// `takeover`: goes ahead although an earlier owner may have done it.
    #[serde(default)]
    on_unknown: Option<String>,
    #[serde(default)]
    retention_seconds: Option<i64>,
}

/// What an owner was given.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Held {
    scope: String,
    key: String,
    owner: String,
    fence: Fence,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Complete {
    #[serde(default)]
    result: Payload,
    scope: String,
    key: String,
    owner: String,
    fence: Fence,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Renew {
    #[serde(flatten)]
    held: Held,
    lease_seconds: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Release {
    #[serde(flatten)]
    held: Held,
    /// Only what has not happened is released.
    #[serde(default)]
    applied: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Fail {
    #[serde(flatten)]
    held: Held,
    #[serde(default)]
    error: Option<Value>,
    /// Nobody shall try again.
    #[serde(default, rename = "final")]
    is_final: bool,
}

fn record_key(scope: &str, of: &str) -> Result<RecordKey, ApiError> {
    name("scope", scope, SCOPE_BYTES_MAX)?;
    key("key", of)?;
    Ok(RecordKey::effect(scope, of))
}

impl Held {
    fn read(self) -> Result<(RecordKey, Hold), ApiError> {
        let key = record_key(&self.scope, &self.key)?;
        owner_name(&self.owner)?;
        Ok((key, Hold { owner: self.owner, fence: self.fence.number()? }))
    }
}

fn bounded(what: &str, bytes: usize) -> Result<(), ApiError> {
    if bytes <= RESULT_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "{what} takes {bytes} bytes, more than the limit of {RESULT_BYTES_MAX}: keep it elsewhere \
         and say where it is"
    );
    Err(ApiError::Malformed(message))
}

/// `POST /api/effects/try-start`.
async fn try_start(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let asked: TryStart = body.object()?;
    let key = record_key(&asked.scope, &asked.key)?;
    owner_name(&asked.owner)?;
    let retention = asked.retention_seconds.unwrap_or(EFFECT_RETENTION_SECONDS);
    if !(1..=RETENTION_SECONDS_MAX).contains(&retention) {
        return Err(ApiError::Malformed(format!(
            "retentionSeconds must be from 1 to {RETENTION_SECONDS_MAX}, not {retention}"
        )));
    }
    let takes_over = match asked.on_unknown.as_deref() {
        None | Some("") => false,
        Some("takeover") => true,
        Some(other) => {
            let message = format!("onUnknown must be \"takeover\" or absent, not {other}");
            return Err(ApiError::Malformed(message));
        }
    };
    let fingerprint = asked.fingerprint.filter(|given| given.text() != "null");
    let attempt = Attempt {
        owner: asked.owner,
        lease_ms: lease(asked.lease_seconds)?,
        fingerprint: fingerprint.map(|given| Digest::of(given.canonical().as_bytes())),
        takes_over,
        retention_ms: retention * 1_000,
    };
    let by = caller.acting(Some(attempt.owner.clone()));
    let asks = Asks::Ledger(Act::TryStart(attempt));
    let verdict = app.runtime.call(Call { key: key.clone(), asks, by }).await?;
    started(&key, verdict, app.runtime.now())
}

/// `POST /api/effects/complete`.
async fn complete(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let Complete { result, scope, key, owner, fence } = body.object()?;
    let (key, hold) = Held { scope, key, owner, fence }.read()?;
    bounded("result", result.len())?;
    if result.value().is_null() && result.text().trim() != "null" {
        let message = "result has a number or text that cannot be held".to_owned();
        return Err(ApiError::Malformed(message));
    }
    say(&app, &caller, key, &hold.owner.clone(), Act::Complete { hold, result }).await
}

/// `POST /api/effects/renew`.
async fn renew(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let Renew { held, lease_seconds } = body.object()?;
    let (key, hold) = held.read()?;
    let lease_ms = lease(lease_seconds)?;
    say(&app, &caller, key, &hold.owner.clone(), Act::Renew { hold, lease_ms }).await
}

/// `POST /api/effects/release`.
async fn release(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let Release { held, applied } = body.object()?;
    if applied {
        let message = "applied must be false: what has happened is completed, not released";
        return Err(ApiError::Malformed(message.to_owned()));
    }
    let (key, hold) = held.read()?;
    say(&app, &caller, key, &hold.owner.clone(), Act::Release { hold }).await
}

/// `POST /api/effects/fail`.
async fn fail(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let Fail { held, error, is_final } = body.object()?;
    let (key, hold) = held.read()?;
    let error = Payload::from_value(&error.unwrap_or(Value::Null));
    bounded("error", error.len())?;
    say(&app, &caller, key, &hold.owner.clone(), Act::Fail { hold, error, is_final }).await
}

/// An owner's word about its effect.
async fn say(app: &App, caller: &Caller, key: RecordKey, owner: &str, act: Act) -> Answered {
    let by = caller.acting(Some(owner.to_owned()));
    let call = Call { key: key.clone(), asks: Asks::Ledger(act), by };
    let verdict = app.runtime.call(call).await?;
    noted(&key, verdict, app.runtime.now())
}

/// `GET /api/effects/{scope}/{key}`.
async fn one(State(app): State<App>, Path((scope, key)): Path<(String, String)>) -> Answered {
    let key = record_key(&scope, &key)?;
    let wanted = key.clone();
    let found = app.runtime.blocking(move |world| world.record(&wanted)).await?;
    let now = app.runtime.now();
    let found = found.filter(|record| !record.is_expired(now));
    let missing = || ApiError::NotFound(format!("nobody has asked for {} in {scope}", key.key));
    Ok(answer(&view(&key, found.ok_or_else(missing)?, now)))
}

/// `DELETE /api/effects/{scope}/{key}`.
async fn reset(
    State(app): State<App>,
    Path((scope, key)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let key = record_key(&scope, &key)?;
    let by = caller.principal.clone();
    let call = Call { key: key.clone(), asks: Asks::Ledger(Act::Reset), by };
    let verdict = app.runtime.call(call).await?;
    if matches!(verdict, Ruled::Noted(_)) {
        let (principal, request) = (caller.principal.as_str(), caller.request.as_str());
        let told = app.keys.told(&key.key);
        tracing::warn!(scope, key = %told, principal, request, "an effect was reset");
    }
    noted(&key, verdict, app.runtime.now())
}
