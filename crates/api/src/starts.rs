//! # Starts: contract sections 1.8 and 2.1

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use semel_engine::{Start, StartKey};
use semel_model::{ExecutionId, StartWorkflowRequest};
use semel_runtime::{Answer, Class, Failure, StartWork, Work};
use serde_json::{Map, json};

use crate::answer::{Answered, text, with_header};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Number, Text};
use crate::endpoint::{Endpoint, post};
use crate::error::ApiError;
use crate::idempotency::start_key;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, plain};
use crate::roles::OPERATE;

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

pub(crate) fn from_parts(
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
    let begun = begun(app, caller, headers, request).await?;
    Ok(begun.marks(text(begun.id.to_string())))
}

/// A run that was started, or found under its key.
pub(crate) struct Begun {
    pub(crate) id: ExecutionId,
    created: bool,
    keyed: bool,
}

impl Begun {
    pub(crate) fn marks(&self, answer: Response) -> Response {
        let answer = with_header(answer, "x-workflow-id", &self.id.to_string());
        let outcome = if self.created { "CREATED" } else { "RETURNED_EXISTING" };
        match self.keyed {
            true => with_header(answer, "x-idempotency-outcome", outcome),
            false => answer,
        }
    }
}

pub(crate) async fn begun(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    request: StartWorkflowRequest,
) -> Result<Begun, ApiError> {
    let key = request.idempotency_key.as_deref();
    let key = start_key(headers, key, request.idempotency_strategy)?;
    let name = request.name.clone();
    let work = start_work(app, caller, request, key.clone());
    let work = work.inspect_err(|_| app.runtime.start_failed(&name))?;
    let keyed = key.is_some();
    match app.runtime.submit(Work::Start(Box::new(work)), Class::Start).await {
        Ok(Answer::Started { id, created }) => Ok(Begun { id, created, keyed }),
        Ok(_) => Err(Failure::Unavailable.into()),
        Err(Failure::Conflict { existing, .. }) => Err(conflict(app, existing, key).await?),
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) fn start_work(
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
            let schemas = &app.runtime.world().schemas;
            crate::enforceable::check_workflow(schemas, &definition, "workflowDef.")?;
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
        created_by: caller.known().or(request.created_by),
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
