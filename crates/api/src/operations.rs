//! # Operations: what people do to executions, contract section 2.1
//!
//! Restart, retry and resetcallbacks answer 204, the others 200: SDKs depend on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::{delete, post, put};
use semel_engine::{Event, Pinned, Rejection, Rerun, Slot};
use semel_model::{Payload, lenient};
use semel_runtime::{Class, EventWork, Failure, Removal, Work};
use serde::Deserialize;
use serde_json::Map;

use crate::answer::{Answered, empty, json, nothing, text};
use crate::app::App;
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, plain, readable};
use crate::view;
use crate::workflow::{ANONYMOUS, execution_id, request_id, snapshot};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/workflow/{id}/pause", put(pause))
        .route("/workflow/{id}/resume", put(resume))
        .route("/workflow/{id}/retry", post(retry))
        .route("/workflow/{id}/restart", post(restart))
        .route("/workflow/{id}/rerun", post(rerun))
        .route("/workflow/{id}/skiptask/{reference}", put(skip))
        .route("/workflow/{id}/jump/{reference}", post(jump))
        .route("/workflow/{id}/upgrade", post(upgrade))
        .route("/workflow/{id}/variables", post(variables))
        .route("/workflow/{id}/resetcallbacks", post(reset_callbacks))
        .route("/workflow/decide/{id}", put(decide))
        .route("/workflow/{id}/remove", delete(remove))
        .route("/workflow/{id}/terminate-remove", delete(terminate_remove))
}

/// An event with what it brings along.
pub(crate) struct Operation {
    event: Event,
    payloads: Vec<Payload>,
    definition: Option<Arc<Pinned>>,
}

impl From<Event> for Operation {
    fn from(event: Event) -> Self {
        Self { event, payloads: Vec::new(), definition: None }
    }
}

pub(crate) async fn operate(
    app: &App,
    id: &str,
    headers: &HeaderMap,
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
        actor: ANONYMOUS.to_owned(),
        event_id: request_id(headers),
        next: None,
    };
    app.runtime.submit(Work::Event(Box::new(work)), Class::Operation).await?;
    Ok(())
}

/// `DELETE /api/workflow/{id}`.
pub(crate) async fn terminate(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    params: Params,
) -> Answered {
    let reason = params.text("reason").map(str::to_owned);
    plain("reason", reason.as_deref())?;
    let compensate = params.flag("triggerFailureWorkflow", false)?;
    operate(&app, &id, &headers, Event::Terminated { reason, compensate }).await?;
    Ok(empty())
}

/// `PUT /api/workflow/{id}/pause`.
async fn pause(State(app): State<App>, Path(id): Path<String>, headers: HeaderMap) -> Answered {
    operate(&app, &id, &headers, Event::Paused).await?;
    Ok(empty())
}

/// `PUT /api/workflow/{id}/resume`.
async fn resume(State(app): State<App>, Path(id): Path<String>, headers: HeaderMap) -> Answered {
    operate(&app, &id, &headers, Event::Resumed).await?;
    Ok(empty())
}

/// `POST /api/workflow/{id}/retry`: what failed is tried again, here or in the child that failed.
async fn retry(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
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
    if !params.flag("resumeSubworkflowTasks", false)? {
        operate(&app, &id, &headers, Event::Retried).await?;
        return Ok(nothing());
    }
    let found = app.runtime.blocking(move |world| world.first_failure(execution)).await?;
    if let Some(found) = found {
        operate(&app, &found.to_string(), &headers, Event::Retried).await?;
    }
    Ok(nothing())
}

/// `POST /api/workflow/{id}/restart`: from the beginning, by the same definition or the latest.
async fn restart(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    params: Params,
) -> Answered {
    let operation = latest(&app, &id, params.flag("useLatestDefinitions", false)?).await?;
    operate(&app, &id, &headers, operation).await?;
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

fn registered(app: &App, name: &str, version: Option<i32>) -> Result<Arc<Pinned>, ApiError> {
    let found = app.runtime.world().definitions.for_start(name, version)?;
    found.ok_or_else(|| {
        let version = version.map_or("null".to_owned(), |version| version.to_string());
        ApiError::NotFound(format!("No such workflow defined. name={name}, version={version}"))
    })
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[derive(Default)]
struct RerunRequest {
    #[serde(deserialize_with = "lenient::boxed_text")]
    re_run_from_task_id: Option<String>,
    task_input: Option<Payload>,
    workflow_input: Option<Payload>,
    #[serde(deserialize_with = "lenient::boxed_text")]
    correlation_id: Option<String>,
}

/// Puts a payload that is there into the pool.
fn slot(payloads: &mut Vec<Payload>, payload: Option<Payload>) -> Option<Slot> {
    let payload = payload.filter(|payload| payload.text() != "null")?;
    payloads.push(payload);
    u32::try_from(payloads.len() - 1).ok().map(Slot)
}

/// `POST /api/workflow/{id}/rerun`: from a task on, of this run or one below it, or as a whole.
async fn rerun(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let request: RerunRequest =
        if body.is_blank() { RerunRequest::default() } else { body.object()? };
    plain("correlationId", request.correlation_id.as_deref())?;
    let from = request.re_run_from_task_id.filter(|id| !id.is_empty());
    let wrong = |task: &str| {
        let message = format!("reRunFromTaskId: {task} is no task of workflow {id}");
        ApiError::Malformed(message)
    };
    let from = match from {
        Some(text) => Some(text.parse().map_err(|_| wrong(&text))?),
        None => None,
    };
    let mut target = id.clone();
    if let Some(task) = from {
        let execution = execution_id(&id)?;
        snapshot(&app, &id).await?;
        let owner = app.runtime.blocking(move |world| world.owner(execution, task)).await?;
        target = owner.ok_or_else(|| wrong(&task.to_string()))?.to_string();
    }
    let mut payloads = Vec::new();
    let event = Event::Reran(Rerun {
        from,
        task_input: slot(&mut payloads, request.task_input),
        input: slot(&mut payloads, request.workflow_input),
        correlation_id: request.correlation_id,
    });
    operate(&app, &target, &headers, Operation { event, payloads, definition: None }).await?;
    Ok(text(id))
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SkipRequest {
    task_input: Option<Payload>,
    task_output: Option<Payload>,
}

/// `PUT /api/workflow/{id}/skiptask/{reference}`. The request comes in the body, or as JSON in a
/// parameter; what some SDKs write there is no JSON and means nothing.
async fn skip(
    State(app): State<App>,
    Path((id, reference)): Path<(String, String)>,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let request: SkipRequest = if body.is_blank() {
        let written = params.text("skipTaskRequest").unwrap_or("{}");
        serde_json::from_str(written).unwrap_or_default()
    } else {
        body.object()?
    };
    let or_empty = |payload: Option<Payload>| {
        payload.filter(|payload| payload.text() != "null").unwrap_or_default()
    };
    let payloads = vec![or_empty(request.task_input), or_empty(request.task_output)];
    let event = Event::Skipped { reference, input: Slot(0), output: Slot(1) };
    operate(&app, &id, &headers, Operation { event, payloads, definition: None }).await?;
    Ok(empty())
}

/// `POST /api/workflow/{id}/jump/{reference}`. One SDK leaves the placeholder in the path and names
/// the task in a parameter.
async fn jump(
    State(app): State<App>,
    Path((id, reference)): Path<(String, String)>,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let reference = match params.text("taskReferenceName") {
        Some(named) if reference == "{taskReferenceName}" => named.to_owned(),
        Some(_) | None => reference,
    };
    let mut payloads = Vec::new();
    // Some clients send an empty object when they mean nothing.
    let given = body.payload()?;
    let is_empty = given.value().as_object().is_some_and(Map::is_empty);
    let input = slot(&mut payloads, (!is_empty).then_some(given));
    let event = Event::Jumped { reference, input };
    operate(&app, &id, &headers, Operation { event, payloads, definition: None }).await?;
    Ok(empty())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpgradeRequest {
    #[serde(default, deserialize_with = "lenient::text")]
    name: String,
    #[serde(default, deserialize_with = "lenient::boxed_int")]
    version: Option<i32>,
    #[serde(default)]
    workflow_input: Option<Payload>,
    #[serde(default)]
    task_output: Option<BTreeMap<String, Payload>>,
}

/// `POST /api/workflow/{id}/upgrade`: goes on by another version of its definition.
async fn upgrade(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let request: UpgradeRequest = body.object()?;
    let name = snapshot(&app, &id).await?.head.name;
    if request.name != name {
        let message = format!("name: workflow {id} is a {name} and cannot become {}", request.name);
        return Err(ApiError::Malformed(message));
    }
    let definition = registered(&app, &name, request.version)?;
    let mut payloads = Vec::new();
    let input = slot(&mut payloads, request.workflow_input);
    let outputs = request.task_output.unwrap_or_default();
    let outputs = outputs
        .into_iter()
        .filter_map(|(reference, output)| Some((reference, slot(&mut payloads, Some(output))?)))
        .collect();
    let event = Event::Upgraded { definition: definition.digest(), input, outputs };
    let definition = Some(definition);
    operate(&app, &id, &headers, Operation { event, payloads, definition }).await?;
    Ok(empty())
}

/// `POST /api/workflow/{id}/variables`: merged over what is there; answers with the workflow.
async fn variables(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let event = Event::VariablesUpdated { variables: Slot(0) };
    let payloads = vec![body.payload()?];
    operate(&app, &id, &headers, Operation { event, payloads, definition: None }).await?;
    Ok(json(&view::workflow(&snapshot(&app, &id).await?, true)))
}

/// `POST /api/workflow/{id}/resetcallbacks`.
async fn reset_callbacks(
    State(app): State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answered {
    operate(&app, &id, &headers, Event::CallbacksReset).await?;
    Ok(nothing())
}

/// `PUT /api/workflow/decide/{id}`: looks whether anything is due; there never is for long.
async fn decide(State(app): State<App>, Path(id): Path<String>, headers: HeaderMap) -> Answered {
    operate(&app, &id, &headers, Event::Woke).await?;
    Ok(empty())
}

pub(crate) async fn erase(app: &App, id: &str, only_closed: bool) -> Result<(), ApiError> {
    let removal = Removal { id: execution_id(id)?, only_closed, actor: ANONYMOUS.to_owned() };
    app.runtime.submit(Work::Remove(removal), Class::Operation).await?;
    Ok(())
}

/// `DELETE /api/workflow/{id}/remove`: nothing of it is left, and its key is free.
async fn remove(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    erase(&app, &id, params.flag("archiveWorkflow", true)?).await?;
    Ok(empty())
}

/// `DELETE /api/workflow/{id}/terminate-remove`.
async fn terminate_remove(
    state: State<App>,
    Path(id): Path<String>,
    headers: HeaderMap,
    params: Params,
) -> Answered {
    let app = state.0.clone();
    terminate(state, Path(id.clone()), headers, params).await?;
    erase(&app, &id, true).await?;
    Ok(empty())
}
