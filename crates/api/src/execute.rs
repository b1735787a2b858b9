//! # Synchronous execution (docs/reference/rules/synchronous-execution.md#execution)
//!
//! Starts a run, or finds it under its key, and answers when there is something to tell. The run is
//! never affected by a caller who goes away.

use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use semel_engine::{Event, Execution, Slot, marked_dynamic, shown};
use semel_model::{
    ExecutionId, Payload, SignalResponse, StartWorkflowRequest, TaskId, TaskResult, Violation,
    Warning, WorkflowStateUpdate,
};
use semel_runtime::{Failure, Seen, request_id};
use serde_json::{Map, Value, json};

use crate::answer::Answered;
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Choice, Count, Number, Text};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::error::{ApiError, Undecided};
use crate::named;
use crate::operations::{Operation, operate};
use crate::params::{Params, Path};
use crate::request::{Body, readable};
use crate::roles::OPERATE;
use crate::room::one;
use crate::seen::{STRATEGIES, Strategy, gone};
use crate::starts::{self, begun, from_parts};
use crate::warnings::warned;
use crate::workflow::execution_id;

/// How long a caller waits who does not say, or says 0.
const WAIT_SECONDS: i64 = 10;

const CONSISTENCIES: &[&str] = &["DURABLE", "SYNCHRONOUS", "REGION_DURABLE"];

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let waits = |line: Endpoint| {
        line.query("requestId", Text)
            .query("waitUntilTaskRef", Text)
            .query("waitForSeconds", Number(WAIT_SECONDS))
    };
    let keyed = |line: Endpoint| {
        let line = line.header("X-Idempotency-key").header("X-on-conflict").header("X-Request-Id");
        line.also(409).also(410).also(422)
    };
    let by_name = |line: Endpoint| {
        waits(keyed(line)).query("version", Count).query("correlationId", Text).gives::<Payload>()
    };
    vec![
        waits(keyed(post("/api/workflow/execute/{name}/{version}", OPERATE, execute)))
            .about("Starts a run and waits until it is over, blocked, or past a task")
            .query("consistency", Choice(CONSISTENCIES))
            .query("returnStrategy", Choice(STRATEGIES))
            .takes::<StartWorkflowRequest>()
            .gives::<SignalResponse>(),
        by_name(post("/api/workflow/execute/{name}", OPERATE, execute_with_input))
            .about("Starts a run, waits, and tells its output; the body is its input")
            .takes_data(),
        by_name(get("/api/workflow/execute/{name}", OPERATE, execute_with_query))
            .about("Starts a run, waits, and tells its output; the query is its input")
            .does(Does::Changes),
        waits(post("/api/workflow/{id}/state", OPERATE, update_state))
            .about("Changes variables and a task of a run, and waits")
            .takes::<WorkflowStateUpdate>()
            .gives::<SignalResponse>()
            .also(409),
    ]
}

/// What a caller wants to wait for. Said in the query, or in headers of the same names.
struct Patience {
    request: String,
    references: Vec<String>,
    wait: Duration,
}

impl Patience {
    fn of(app: &App, params: &Params, headers: &HeaderMap) -> Result<Self, ApiError> {
        let said = |name: &str| {
            let header = headers.get(name).and_then(|value| value.to_str().ok());
            params.text(name).or(header.filter(|value| !value.is_empty())).map(str::to_owned)
        };
        let seconds = said("waitForSeconds").map(|text| text.trim().parse::<i64>()).transpose();
        let seconds = seconds
            .map_err(|_| ApiError::Malformed("waitForSeconds must be a whole number".to_owned()))?;
        let seconds = seconds.filter(|seconds| *seconds > 0).unwrap_or(WAIT_SECONDS);
        let references = said("waitUntilTaskRef").unwrap_or_default();
        let references = references.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(Self {
            request: said("requestId").unwrap_or_else(|| request_id().to_string()),
            references: references.map(str::to_owned).collect(),
            wait: app.limits.execute_wait(Duration::from_secs(seconds.unsigned_abs())),
        })
    }
}

/// `POST /api/workflow/execute/{name}/{version}`: version 0 is the latest.
async fn execute(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let version: i32 = version.parse().map_err(|_| {
        ApiError::Malformed(format!("version {version} is no int; 0 means the latest"))
    })?;
    let strategy = Strategy::of(&params)?;
    check_consistency(&params)?;
    let patience = Patience::of(&app, &params, &headers)?;
    readable("the request", &body.payload()?)?;
    let mut request = match body.is_blank() {
        true => Box::default(),
        false => body.object::<Box<StartWorkflowRequest>>()?,
    };
    let mut warnings = said_otherwise(&request, &name, version);
    request.name = name;
    request.version = Some(version).filter(|version| *version != 0);
    warnings.extend(starts::warnings(&app, &request, &body));
    if request.workflow_def.is_some() {
        request.input = marked_dynamic(&request.input);
    }
    let begun = begun(&app, &caller, &headers, &params, request).await?;
    let seen = app.runtime.wait_for(begun.id, patience.references, patience.wait).await?;
    let Some(seen) = seen else {
        return Ok(warned(begun.attached(gone(begun.id)), &warnings));
    };
    let answer = begun.attached(strategy.answer(&app, &seen, Some(&patience.request)).await);
    Ok(so_far(&seen, warned(answer, &warnings)))
}

/// While the run goes on, what is told of it is so for a time only: the same request under its key
/// waits again, and is told what is so then.
pub(crate) fn so_far(seen: &Seen, mut answer: Response) -> Response {
    if !seen.run.head.status.is_terminal() {
        answer.extensions_mut().insert(Undecided);
    }
    answer
}

/// What the body says otherwise than the path, which counts.
fn said_otherwise(request: &StartWorkflowRequest, name: &str, version: i32) -> Vec<Warning> {
    let other_name = Some(&request.name).filter(|said| !said.is_empty() && *said != name);
    let other_version = request.version.filter(|said| *said != 0 && *said != version);
    let of_name = other_name.map(|_| ("name", name.to_owned()));
    let path = if version == 0 { "0, the latest".to_owned() } else { version.to_string() };
    let of_version = other_version.map(|_| ("version", path));
    let told = |(field, path): (&str, String)| {
        Warning::no_effect(field, format!("is not looked at: the path says {path}"))
    };
    of_name.into_iter().chain(of_version).map(told).collect()
}

fn check_consistency(params: &Params) -> Result<(), ApiError> {
    match params.text("consistency") {
        Some(other) if !CONSISTENCIES.contains(&other) => Err(ApiError::Malformed(format!(
            "consistency must be one of {}, not {other}",
            CONSISTENCIES.join(", ")
        ))),
        _ => Ok(()),
    }
}

async fn output_of(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    params: &Params,
    request: Box<StartWorkflowRequest>,
) -> Answered {
    let patience = Patience::of(app, params, headers)?;
    let begun = begun(app, caller, headers, params, request).await?;
    let seen = app.runtime.wait_for(begun.id, patience.references, patience.wait).await?;
    let Some(seen) = seen else { return Ok(begun.attached(gone(begun.id))) };
    let answer = begun.attached(one(app, &shown(seen.run.execution.output())).await);
    Ok(so_far(&seen, answer))
}

/// `POST /api/workflow/execute/{name}`.
async fn execute_with_input(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let request = from_parts(name, params.number("version")?, &params, &body)?;
    output_of(&app, &caller, &headers, &params, request).await
}

/// `GET /api/workflow/execute/{name}`: every parameter that is none of ours is input.
async fn execute_with_query(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
) -> Answered {
    const OURS: [&str; 6] =
        ["version", "correlationId", "priority", "requestId", "waitUntilTaskRef", "waitForSeconds"];
    let input = params.pairs().filter(|(name, _)| !OURS.contains(name));
    let input: Map<_, _> = input.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let request = StartWorkflowRequest {
        name,
        version: params.number("version")?,
        correlation_id: params.text("correlationId").map(str::to_owned),
        priority: params.number("priority")?.unwrap_or(0),
        input: Payload::from_value(&Value::Object(input)),
        ..StartWorkflowRequest::default()
    };
    output_of(&app, &caller, &headers, &params, Box::new(request)).await
}

/// `POST /api/workflow/{id}/state`: variables and the task in one commit, then waits.
async fn update_state(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    readable("the request", &body.payload()?)?;
    let update: WorkflowStateUpdate = body.object()?;
    let patience = Patience::of(&app, &params, &headers)?;
    let execution = execution_id(&id)?;
    let task = task_update(execution, update.task_reference_name, update.task_result)?;
    let changes_something = task.is_some() || update.variables.is_some();
    let signal = match task {
        Some(task) => Some(task.say(&app, &caller, execution, update.variables).await?),
        None => {
            if let Some(variables) = update.variables {
                let event = Event::VariablesUpdated { variables: Slot(0) };
                let operation = Operation { event, payloads: vec![variables], definition: None };
                operate(&app, &id, &caller, operation).await?;
            }
            None
        }
    };
    let seen = app.runtime.wait_for(execution, patience.references, patience.wait).await?;
    let answer = match &seen {
        Some(seen) => {
            let answer = Strategy::TargetWorkflow.answer(&app, seen, Some(&patience.request)).await;
            so_far(seen, answer)
        }
        None if changes_something => gone(execution),
        None => return Err(Failure::NoExecution(id).into()),
    };
    Ok(match signal {
        Some(signal) => signal.mark(answer),
        None => answer,
    })
}

/// Which task of a run is changed, and how.
struct TaskUpdate {
    task: Option<TaskId>,
    reference: Option<String>,
    result: TaskResult,
}

impl TaskUpdate {
    /// In one commit with the variables: both are changed, or neither is.
    async fn say(
        self,
        app: &App,
        caller: &Caller,
        execution: ExecutionId,
        variables: Option<Payload>,
    ) -> Result<named::Signal, ApiError> {
        let Self { task, reference, result } = self;
        let slot = variables.is_some().then_some(Slot(1));
        let said = named::Said::of(execution, result)?.bringing(variables);
        let name = reference.clone();
        let about = move |execution: &Execution| match task {
            Some(id) => execution.task(id).cloned(),
            None => execution.named(name.as_deref()?).cloned(),
        };
        let event = |progress| Event::StateUpdated { variables: slot, task, reference, progress };
        named::say(app, caller, said, about, event).await
    }
}

fn task_update(
    execution: ExecutionId,
    reference: Option<String>,
    result: Option<TaskResult>,
) -> Result<Option<TaskUpdate>, ApiError> {
    let reference = reference.filter(|name| !name.is_empty());
    let Some(result) = result else {
        return match reference {
            None => Ok(None),
            Some(_) => Err(ApiError::Malformed(
                "taskResult is missing: say what became of the task".to_owned(),
            )),
        };
    };
    expect_plain(&result)?;
    let placed = |it: Violation| Violation { path: format!("taskResult.{}", it.path), ..it };
    let violations: Vec<_> = result.violations().into_iter().map(placed).collect();
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    let run = result.workflow_instance_id.as_deref().filter(|id| !id.is_empty());
    if let Some(other) = run.filter(|id| **id != execution.to_string()) {
        let message = format!("taskResult.workflowInstanceId: {other} is not the run in the path");
        return Err(ApiError::Malformed(message));
    }
    let task = result.task_id.as_deref().filter(|id| !id.is_empty());
    let unknown = |id: &str| ApiError::NotFound(format!("Task not found for taskId: {id}"));
    let task = task.map(|id| id.parse().map_err(|_| unknown(id))).transpose()?;
    if task.is_none() && reference.is_none() {
        return Err(ApiError::Malformed(
            "say which task taskResult is about: taskReferenceName, or taskResult.taskId"
                .to_owned(),
        ));
    }
    Ok(Some(TaskUpdate { task, reference, result }))
}

/// What only a worker's report means is not dropped here without a word.
fn expect_plain(result: &TaskResult) -> Result<(), ApiError> {
    let elsewhere = [
        (result.extend_lease, "extendLease", "POST /api/tasks"),
        (result.fence_token.is_some(), "fenceToken", "POST /api/tasks"),
        (
            result.logs.as_ref().is_some_and(|logs| !logs.is_empty()),
            "logs",
            "POST /api/tasks/{taskId}/log",
        ),
    ];
    match elsewhere.into_iter().find(|(is_given, _, _)| *is_given) {
        Some((_, field, route)) => Err(ApiError::Malformed(format!(
            "taskResult.{field} is not looked at here: leave it out, or send it to {route}"
        ))),
        None => Ok(()),
    }
}
