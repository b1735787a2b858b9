//! # Executions: contract section 2.1

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use semel_engine::{Start, StartKey};
use semel_model::{ExecutionId, Payload, StartWorkflowRequest, Workflow, WorkflowState};
use semel_runtime::{Answer, Class, Failure, Snapshot, StartWork, Work};
use serde_json::{Map, json};

use crate::answer::{Answered, empty, json, text, with_header};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Flag, Number, Text};
use crate::endpoint::{Endpoint, delete, get, post};
use crate::error::ApiError;
use crate::idempotency::start_key;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, plain};
use crate::roles::{OPERATE, READ};
use crate::view;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/workflow", OPERATE, start)
            .about("Starts a run")
            .header("X-Idempotency-key")
            .header("X-on-conflict")
            .header("traceparent")
            .takes::<StartWorkflowRequest>()
            .gives_text()
            .also(409),
        post("/api/workflow/{id}", OPERATE, start_named)
            .about("Starts a run of the workflow of that name; the body is its input")
            .query("version", Count)
            .query("correlationId", Text)
            .query("priority", Number(0))
            .header("X-Idempotency-key")
            .header("X-on-conflict")
            .header("traceparent")
            .takes_data()
            .gives_text()
            .also(409),
        post("/api/workflow/start/{name}/{version}", OPERATE, start_version)
            .about("Starts a run of one version; the body is its input")
            .query("correlationId", Text)
            .query("priority", Number(0))
            .header("X-Idempotency-key")
            .header("X-on-conflict")
            .header("traceparent")
            .takes_data()
            .gives_text()
            .also(409),
        get("/api/workflow/{id}", READ, read)
            .about("A run")
            .query("includeTasks", Flag(true))
            .gives::<Workflow>(),
        get("/api/workflow/{id}/status", READ, status)
            .about("The status of a run")
            .query("includeOutput", Flag(false))
            .query("includeVariables", Flag(false))
            .gives::<WorkflowState>(),
        get("/api/workflow/{id}/log", READ, log)
            .about("The journal of a run, oldest entry first")
            .query("from", Number(1))
            .gives::<Vec<Payload>>(),
        post("/api/workflow/{id}/verify", READ, verify)
            .about("Checks the journal of a run against everything stored")
            .gives::<Payload>()
            .also(409),
        delete("/api/workflow/{id}/parked", OPERATE, lift).about("Lets a parked run go on"),
    ]
}

/// `POST /api/workflow`: everything in the body.
async fn start(State(app): State<App>, caller: Caller, headers: HeaderMap, body: Body) -> Answered {
    begin(&app, &caller, &headers, body.object()?).await
}

/// `POST /api/workflow/{name}`: the body is the input.
async fn start_named(
    State(app): State<App>,
    Path(name): Path<String>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let version = params.number("version")?;
    begin(&app, &caller, &headers, from_parts(name, version, &params, &body)?).await
}

/// `POST /api/workflow/start/{name}/{version}`.
async fn start_version(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let parsed = version.parse();
    let version =
        parsed.map_err(|_| ApiError::Malformed(format!("version {version} is no int")))?;
    begin(&app, &caller, &headers, from_parts(name, Some(version), &params, &body)?).await
}

fn from_parts(
    name: String,
    version: Option<i32>,
    params: &Params,
    body: &Body,
) -> Result<StartWorkflowRequest, ApiError> {
    Ok(StartWorkflowRequest {
        name,
        version,
        correlation_id: params.text("correlationId").map(str::to_owned),
        priority: params.number("priority")?.unwrap_or(0),
        input: body.payload()?,
        ..StartWorkflowRequest::default()
    })
}

async fn begin(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    request: StartWorkflowRequest,
) -> Answered {
    let key = request.idempotency_key.as_deref();
    let key = start_key(headers, key, request.idempotency_strategy)?;
    let name = request.name.clone();
    let work = start_work(app, caller, request, key.clone());
    let work = work.inspect_err(|_| app.runtime.start_failed(&name))?;
    let keyed = key.is_some();
    match app.runtime.submit(Work::Start(Box::new(work)), Class::Start).await {
        Ok(Answer::Started { id, created }) => {
            let answer = with_header(text(id.to_string()), "x-workflow-id", &id.to_string());
            let outcome = if created { "CREATED" } else { "RETURNED_EXISTING" };
            Ok(if keyed { with_header(answer, "x-idempotency-outcome", outcome) } else { answer })
        }
        Ok(_) => Err(Failure::Unavailable.into()),
        Err(Failure::Conflict { existing, .. }) => Err(conflict(app, existing, key).await?),
        Err(failure) => Err(failure.into()),
    }
}

fn start_work(
    app: &App,
    caller: &Caller,
    request: StartWorkflowRequest,
    key: Option<StartKey>,
) -> Result<StartWork, ApiError> {
    let definitions = &app.runtime.world().definitions;
    let violations = request.violations_knowing(&|name| definitions.task(name).ok().flatten());
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    plain("correlationId", request.correlation_id.as_deref())?;
    bounded("input", &request.input)?;
    let definition = match request.workflow_def {
        Some(definition) => {
            crate::metadata::refuse_unsupported(&definition, "workflowDef.")?;
            definitions.pin(definition)?
        }
        None => {
            let found = definitions.for_start(&request.name, request.version)?;
            found.ok_or_else(|| {
                let version = request.version.map_or("null".to_owned(), |v| v.to_string());
                let name = &request.name;
                ApiError::NotFound(format!(
                    "No such workflow defined. name={name}, version={version}"
                ))
            })?
        }
    };
    let start = Start {
        definition: definition.digest(),
        input: semel_engine::Slot(0),
        correlation_id: request.correlation_id,
        priority: request.priority,
        task_to_domain: request.task_to_domain.unwrap_or_default(),
        idempotency_key: key.as_ref().map(|key| key.key.clone()),
        created_by: request.created_by,
        traceparent: caller.traceparent,
        ..Start::default()
    };
    Ok(StartWork {
        id: ExecutionId::draw(),
        definition,
        start,
        input: request.input,
        key,
        principal: caller.principal.clone(),
        event_id: caller.request.clone(),
    })
}

/// 409 that names the run in the way.
async fn conflict(
    app: &App,
    existing: ExecutionId,
    key: Option<StartKey>,
) -> Result<ApiError, ApiError> {
    let mut metadata = Map::new();
    metadata.insert("existingWorkflowId".to_owned(), json!(existing.to_string()));
    if let Some(snapshot) = app.runtime.read(existing).await? {
        let head = &snapshot.head;
        metadata.insert("existingStatus".to_owned(), json!(head.status));
        metadata.insert("existingVersion".to_owned(), json!(head.version));
        metadata.insert("createdAt".to_owned(), json!(head.started_at));
    }
    let (key, strategy) = key.map_or_else(Default::default, |key| (key.key, key.strategy.as_str()));
    metadata.insert("idempotencyKey".to_owned(), json!(key));
    metadata.insert("strategy".to_owned(), json!(strategy));
    let message = format!("a run exists under idempotency key {key}: {existing} ({strategy})");
    Ok(ApiError::Conflict { code: "IDEMPOTENCY_CONFLICT", message, metadata })
}

/// An id that is none was never given out.
pub(crate) fn execution_id(text: &str) -> Result<ExecutionId, ApiError> {
    text.parse().map_err(|_| Failure::NoExecution(text.to_owned()).into())
}

pub(crate) async fn snapshot(app: &App, id: &str) -> Result<Snapshot, ApiError> {
    let found = app.runtime.read(execution_id(id)?).await?;
    found.ok_or_else(|| Failure::NoExecution(id.to_owned()).into())
}

/// `GET /api/workflow/{id}`.
async fn read(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let with_tasks = params.flag("includeTasks", true)?;
    let found = snapshot(&app, &id).await?;
    let answer = json(&view::workflow(&found, with_tasks));
    Ok(match &found.head.parked {
        Some(reason) => with_header(answer, "x-workflow-parked", reason),
        None => answer,
    })
}

/// `GET /api/workflow/{id}/status`.
async fn status(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let (output, variables) =
        (params.flag("includeOutput", false)?, params.flag("includeVariables", false)?);
    Ok(json(&view::state(&snapshot(&app, &id).await?, output, variables)))
}

/// `GET /api/workflow/{id}/log`: the journal, oldest first.
async fn log(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let execution = execution_id(&id)?;
    let from: u64 = params.number("from")?.unwrap_or(1);
    let after = from.saturating_sub(1);
    let found = app.runtime.blocking(move |world| world.log(execution, after)).await?;
    let entries = found.ok_or(Failure::NoExecution(id))?;
    let lines: Vec<_> = entries
        .iter()
        .map(|(link, entry)| json!({"seq": link.seq, "digest": link.digest, "entry": entry}))
        .collect();
    Ok(json(&lines))
}

/// `POST /api/workflow/{id}/verify`: 200 with counts, or 409 with the first bad entry.
async fn verify(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let verdict = app.runtime.verify(execution_id(&id)?).await?;
    let verdict = verdict.ok_or_else(|| Failure::NoExecution(id.clone()))?;
    let counts = [
        ("entries", verdict.entries),
        ("decidedAgain", verdict.decided_again),
        ("rows", verdict.rows),
    ];
    let mut body: Map<_, _> =
        counts.map(|(name, n)| (name.to_owned(), json!(n))).into_iter().collect();
    let Some((seq, what)) = verdict.fault else { return Ok(json(&body)) };
    body.insert("seq".to_owned(), json!(seq));
    let message = format!("workflow {id} does not verify: entry {seq}: {what}");
    Err(ApiError::Conflict { code: "NOT_VERIFIED", message, metadata: body })
}

/// `DELETE /api/workflow/{id}/parked`: lets a parked execution go on.
async fn lift(State(app): State<App>, Path(id): Path<String>) -> Result<Response, ApiError> {
    app.runtime.submit(Work::Lift(execution_id(&id)?), Class::Operation).await?;
    Ok(empty())
}
