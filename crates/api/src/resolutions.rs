//! # Resolutions: a person ends an unknown outcome (docs/reference/idempotency.md#unknown-outcome)

use axum::extract::State;
use schemars::JsonSchema;
use semel_engine::{
    Act, Event, RecordKey, Rejection, Resolution, Resolved, Ruled, Slot, effect_record, too_late,
};
use semel_model::{ExecutionId, Payload, lenient};
use semel_runtime::{Answer as RuntimeAnswer, Asks, Call, Failure, Step, World};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::{Answered, json as answer};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, post};
use crate::error::ApiError;
use crate::operations::{Operation, operate};
use crate::params::Path;
use crate::request::{Body, one_line, plain};
use crate::roles::OPERATE;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/effects/{scope}/{key}/resolve", OPERATE, resolve)
            .about("Says whether an effect has happened that nobody is sure of")
            .takes::<ResolveRequest>()
            .gives::<Map<String, Value>>()
            .also(409),
    ]
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct ResolveRequest {
    applied: Option<bool>,
    /// What the task ends with, if it has happened.
    output: Option<Payload>,
    #[serde(deserialize_with = "lenient::boxed_text")]
    by: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text")]
    note: Option<String>,
}

/// `POST /api/effects/{scope}/{key}/resolve`: the record and the task that waits are settled
/// together, by the run whose effect it is.
async fn resolve(
    State(app): State<App>,
    Path((scope, key)): Path<(String, String)>,
    caller: Caller,
    body: Body,
) -> Answered {
    let request: ResolveRequest = body.object()?;
    let Some(applied) = request.applied else {
        let message = "applied: say true if the effect has happened, false if it has not";
        return Err(ApiError::Malformed(message.to_owned()));
    };
    one_line("by", request.by.as_deref())?;
    plain("note", request.note.as_deref())?;
    let by = request.by.filter(|by| !by.trim().is_empty()).unwrap_or(caller.principal.clone());
    let record = effect_record(&scope, &key);
    let wanted = record.clone();
    let found = app.runtime.blocking(move |world| owner_of(world, &wanted)).await?;
    // The record may belong to another run by now. A request that is served again is answered as before.
    let found = match app.runtime.recalled(Step::peek().as_ref()).await? {
        Some(RuntimeAnswer::Ruled(_)) => Some(None),
        Some(RuntimeAnswer::Done { run: Some(run), .. }) => Some(Some(run)),
        _ => found,
    };
    let missing = || ApiError::NotFound(format!("there is no effect {scope}/{key}"));
    let output = request.output.filter(|output| output.text() != "null").unwrap_or_default();
    let note = request.note;
    if let Some(run) = found.ok_or_else(missing)? {
        let (scope, key) = (record.scope.clone(), record.key.clone());
        let (by, note) = (by.clone(), note.clone());
        let resolution = Resolution { scope, key, applied, output: Slot(0), by, note };
        let event = Event::EffectResolved(resolution);
        let operation = Operation { event, payloads: vec![output.clone()], definition: None };
        match operate(&app, &run.to_string(), &caller, operation).await {
            // The run was removed just now. Nothing is kept under this step, so it is taken again.
            Err(ApiError::Failed(Failure::NoExecution(_))) => Step::turn_to(0, 1),
            Err(error) => return Err(naming_winner(&app, &record, error).await),
            Ok(_) => {
                return Ok(answer(&json!({"applied": applied, "workflowId": run.to_string()})));
            }
        }
    }
    let said = Resolved::new(applied, &output, by, note, app.runtime.now());
    match settle(&app, &record, said, output).await {
        Err(error) => Err(naming_winner(&app, &record, error).await),
        settled => settled,
    }
}

/// Whoever decides otherwise than before is told what counts, by whom and since when.
async fn naming_winner(app: &App, key: &RecordKey, error: ApiError) -> ApiError {
    let ApiError::Failed(Failure::Rejected(Rejection::Decided(message))) = error else {
        return error;
    };
    let wanted = key.clone();
    let found = match app.runtime.blocking(move |world| world.known_under(&wanted)).await {
        Ok(found) => found,
        Err(failure) => return failure.into(),
    };
    let winner = found.map(|record| {
        let resolved = record.detail.resolved.as_ref();
        json!({
            "state": record.state,
            "applied": resolved.map(|it| it.applied),
            "by": resolved.map(|it| &it.by).or(record.detail.owner.as_ref()),
            "note": resolved.and_then(|it| it.note.as_ref()),
            "workflowId": record.run,
            "taskId": record.detail.task,
            "decidedAt": resolved.map(|it| it.at).or(record.detail.decided_at),
        })
    });
    let mut metadata = Map::new();
    metadata.insert("winner".to_owned(), winner.unwrap_or_default());
    ApiError::Conflict { code: "DECISION_CONFLICT", message, metadata }
}

/// The run that settles the effect, unless a caller of the ledger began it or the run was removed: then
/// the record alone is settled. `None`: there is no record.
fn owner_of(world: &World, key: &RecordKey) -> Result<Option<Option<ExecutionId>>, Failure> {
    let Some(record) = world.known_under(key)? else { return Ok(None) };
    match record.run {
        Some(run) if world.has_run(run)? => Ok(Some(Some(run))),
        _ => Ok(Some(None)),
    }
}

/// An effect that no run settles.
async fn settle(app: &App, key: &RecordKey, said: Resolved, output: Payload) -> Answered {
    if !output.value().is_object() {
        return Err(ApiError::Malformed("output: expected an object".to_owned()));
    }
    let applied = said.applied;
    let by = said.by.clone();
    let asks = Asks::Ledger(Act::Resolve { answer: said, output });
    let refused = match app.runtime.call(Call { key: key.clone(), asks, by }).await? {
        Ruled::Noted(_) | Ruled::Repeated(_) => {
            return Ok(answer(&json!({"applied": applied})));
        }
        Ruled::Contradicted(record) => Rejection::Decided(too_late(&record, key)),
        Ruled::Missing => Rejection::NotFound(format!("there is no effect {}", key.key)),
        _ => {
            Rejection::WrongState(format!("effect {} is not in doubt: somebody is at it", key.key))
        }
    };
    Err(Failure::from(refused).into())
}
