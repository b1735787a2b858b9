//! # Operations: what people do to executions (docs/compatibility.md#operations)
//!
//! Restart, retry and resetcallbacks answer 204, the others 200: SDKs depend on it.

use std::sync::Arc;

use axum::extract::State;
use schemars::JsonSchema;
use semel_engine::{Event, Pinned, Rejection, Rerun, Slot};
use semel_model::{Payload, lenient};
use semel_runtime::{Class, EventWork, Failure, Removal, Step, Work};
use serde::Deserialize;

use crate::answer::{Answered, empty, nothing, text};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Flag, Text};
use crate::endpoint::{Endpoint, delete, post, put};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, one_line, plain, readable};
use crate::roles::OPERATE;
use crate::workflow::{execution_id, snapshot};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        put("/api/workflow/{id}/pause", OPERATE, pause).about("Pauses a run").also(409),
        put("/api/workflow/{id}/resume", OPERATE, resume).about("Resumes a paused run").also(409),
        delete("/api/workflow/{id}", OPERATE, terminate)
            .about("Terminates a run")
            .query("reason", Text)
            .query("triggerFailureWorkflow", Flag(false))
            .also(409),
        post("/api/workflow/{id}/retry", OPERATE, retry)
            .about("Tries again what failed")
            .query("resumeSubworkflowTasks", Flag(false))
            .query("retryIfRetriedByParent", Flag(true))
            .query("redoEffects", Flag(false))
            .gives_nothing()
            .also(409),
        post("/api/workflow/{id}/restart", OPERATE, restart)
            .about("Begins a run anew")
            .query("useLatestDefinitions", Flag(false))
            .query("redoEffects", Flag(false))
            .gives_nothing()
            .also(409),
        post("/api/workflow/{id}/rerun", OPERATE, rerun)
            .about("Runs again, from the beginning or from a task")
            .query("redoEffects", Flag(false))
            .takes::<RerunRequest>()
            .gives_text()
            .also(409),
        put("/api/workflow/decide/{id}", OPERATE, decide)
            .about("Looks whether anything is due")
            .also(409),
        delete("/api/workflow/{id}/remove", OPERATE, remove)
            .about("Removes a run and frees its key")
            .query("archiveWorkflow", Flag(true))
            .also(409),
        delete("/api/workflow/{id}/terminate-remove", OPERATE, terminate_remove)
            .about("Terminates a run and removes it")
            .query("reason", Text)
            .query("archiveWorkflow", Flag(true))
            .also(409),
    ]
}

/// An event with what it brings along.
pub(crate) struct Operation {
    pub(crate) event: Event,
    pub(crate) payloads: Vec<Payload>,
    pub(crate) definition: Option<Arc<Pinned>>,
}

impl From<Event> for Operation {
    fn from(event: Event) -> Self {
        Self { event, payloads: Vec::new(), definition: None }
    }
}

pub(crate) async fn operate(
    app: &App,
    id: &str,
    caller: &Caller,
    operation: impl Into<Operation>,
) -> Result<(), ApiError> {
    let Operation { event, payloads, definition } = operation.into();
    for payload in &payloads {
        bounded("what the request brings", payload)?;
        readable("what the request brings", payload)?;
    }
    let work = EventWork {
        execution: execution_id(id)?,
        event,
        payloads,
        definition,
        actor: caller.principal.clone(),
        event_id: caller.request.clone(),
        next: None,
        logs: Vec::new(),
    };
    app.runtime.submit(Work::Event(Box::new(work)), Class::Operation).await?;
    Ok(())
}

/// `DELETE /api/workflow/{id}`.
pub(crate) async fn terminate(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    let reason = params.text("reason").map(str::to_owned);
    plain("reason", reason.as_deref())?;
    let compensate = params.flag("triggerFailureWorkflow", false)?;
    operate(&app, &id, &caller, Event::Terminated { reason, compensate }).await?;
    Ok(empty())
}

/// `PUT /api/workflow/{id}/pause`.
async fn pause(State(app): State<App>, Path(id): Path<String>, caller: Caller) -> Answered {
    operate(&app, &id, &caller, Event::Paused).await?;
    Ok(empty())
}

/// `PUT /api/workflow/{id}/resume`.
async fn resume(State(app): State<App>, Path(id): Path<String>, caller: Caller) -> Answered {
    operate(&app, &id, &caller, Event::Resumed).await?;
    Ok(empty())
}

/// `POST /api/workflow/{id}/retry`: what failed is tried again, here or in the child that failed.
async fn retry(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    let execution = execution_id(&id)?;
    if !params.flag("retryIfRetriedByParent", true)? {
        let superseded = app.runtime.blocking(move |world| world.is_superseded(execution)).await?;
        if superseded {
            let message = format!("the task that began workflow {id} has been retried since");
            return Err(Failure::from(Rejection::WrongState(message)).into());
        }
    }
    let event = redoing(Event::Retried, params.flag("redoEffects", false)?);
    if !params.flag("resumeSubworkflowTasks", false)? {
        operate(&app, &id, &caller, event).await?;
        return Ok(nothing());
    }
    let found = app.runtime.blocking(move |world| world.first_failure(execution)).await?;
    let found = found.unwrap_or(execution); // Which will say why there is nothing to retry.
    operate(&app, &found.to_string(), &caller, event).await?;
    Ok(nothing())
}

/// What has happened is replayed, unless whoever asks wants it once more.
fn redoing(event: Event, redoes: bool) -> Event {
    if redoes { Event::Redone(Box::new(event)) } else { event }
}

/// `POST /api/workflow/{id}/restart`: from the beginning, by the same definition or the latest.
async fn restart(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    let operation = latest(&app, &id, params.flag("useLatestDefinitions", false)?).await?;
    let event = redoing(operation.event, params.flag("redoEffects", false)?);
    operate(&app, &id, &caller, Operation { event, ..operation }).await?;
    Ok(nothing())
}

/// A restart, by the definition the run has or by the latest of its name.
pub(crate) async fn latest(app: &App, id: &str, use_latest: bool) -> Result<Operation, ApiError> {
    let definition = match use_latest {
        true => {
            let name = snapshot(app, id).await?.head.name;
            Some(registered(app, &name, None)?)
        }
        false => None,
    };
    let event = Event::Restarted { definition: definition.as_ref().map(|it| it.digest()) };
    Ok(Operation { event, payloads: vec![], definition })
}

pub(crate) fn registered(
    app: &App,
    name: &str,
    version: Option<i32>,
) -> Result<Arc<Pinned>, ApiError> {
    let found = app.runtime.world().definitions.for_start(name, version)?;
    found.ok_or_else(|| {
        let version = version.map_or("null".to_owned(), |version| version.to_string());
        ApiError::NotFound(format!("No such workflow defined. name={name}, version={version}"))
    })
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("x-unread" = ["reRunFromWorkflowId"]))]
struct RerunRequest {
    #[serde(deserialize_with = "lenient::boxed_text")]
    re_run_from_task_id: Option<String>,
    task_input: Option<Payload>,
    workflow_input: Option<Payload>,
    #[serde(deserialize_with = "lenient::boxed_text")]
    correlation_id: Option<String>,
    /// Effects that have happened are done once more.
    #[serde(deserialize_with = "lenient::boxed_flag")]
    redo_effects: Option<bool>,
}

/// Puts a payload that is there into the pool.
pub(crate) fn slot(payloads: &mut Vec<Payload>, payload: Option<Payload>) -> Option<Slot> {
    let payload = payload.filter(|payload| payload.text() != "null")?;
    payloads.push(payload);
    u32::try_from(payloads.len() - 1).ok().map(Slot)
}

/// `POST /api/workflow/{id}/rerun`: from a task on, of this run or one below it, or as a whole.
async fn rerun(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let request: RerunRequest =
        if body.is_blank() { RerunRequest::default() } else { body.object()? };
    one_line("correlationId", request.correlation_id.as_deref())?;
    let from = request.re_run_from_task_id.filter(|id| !id.is_empty());
    let wrong = |task: &str| {
        let message = format!("reRunFromTaskId: {task} is no task of workflow {id}");
        ApiError::Malformed(message)
    };
    let from = match from {
        Some(text) => Some(text.parse().map_err(|_| wrong(&text))?),
        None => None,
    };
    // Done before, the task may be gone.
    if app.runtime.recalled(Step::peek().as_ref()).await?.is_some() {
        return Ok(text(id));
    }
    let mut target = id.clone();
    if let Some(task) = from {
        let execution = execution_id(&id)?;
        snapshot(&app, &id).await?;
        let owner = app.runtime.blocking(move |world| world.owner(execution, task)).await?;
        target = owner.ok_or_else(|| wrong(&task.to_string()))?.to_string();
    }
    let mut payloads = Vec::new();
    let redoes = params.flag("redoEffects", request.redo_effects.unwrap_or(false))?;
    let event = Event::Reran(Rerun {
        from,
        task_input: slot(&mut payloads, request.task_input),
        input: slot(&mut payloads, request.workflow_input),
        correlation_id: request.correlation_id,
    });
    let event = redoing(event, redoes);
    operate(&app, &target, &caller, Operation { event, payloads, definition: None }).await?;
    Ok(text(id))
}

/// `PUT /api/workflow/decide/{id}`: looks whether anything is due; there never is for long.
async fn decide(State(app): State<App>, Path(id): Path<String>, caller: Caller) -> Answered {
    operate(&app, &id, &caller, Event::Woke).await?;
    Ok(empty())
}

/// A run that is still live ends first.
pub(crate) async fn erase(app: &App, id: &str, caller: &Caller) -> Result<(), ApiError> {
    let removal = Removal {
        id: execution_id(id)?,
        keeps_key: app.keys.outlive_removal,
        actor: caller.principal.clone(),
    };
    app.runtime.submit(Work::Remove(removal), Class::Operation).await?;
    Ok(())
}

/// `DELETE /api/workflow/{id}/remove`: nothing of it is left, and its key is free unless keys
/// outlive removals here. There is no archive, so `archiveWorkflow` makes no difference.
async fn remove(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    params.flag("archiveWorkflow", true)?;
    erase(&app, &id, &caller).await?;
    Ok(empty())
}

/// `DELETE /api/workflow/{id}/terminate-remove`.
async fn terminate_remove(
    state: State<App>,
    Path(id): Path<String>,
    caller: Caller,
    params: Params,
) -> Answered {
    let app = state.0.clone();
    terminate(state, Path(id.clone()), caller.clone(), params).await?;
    erase(&app, &id, &caller).await?;
    Ok(empty())
}
