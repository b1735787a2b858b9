//! # Starts (docs/compatibility.md#executions, docs/start-keys.md)

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use metrics::counter;
use semel_engine::{KeyFault, Start, StartKey, not_counted};
use semel_model::{
    ExecutionId, Payload, StartWorkflowRequest, Timestamp, Warning, WorkflowDef, WorkflowStatus,
    unknown_in_workflow,
};
use semel_runtime::{Answer, Class, Failure, FoundRun, Refused, StartWork, Step, Why, Work};
use serde_json::{Map, Value, json};

use crate::answer::{Answered, text, with_header};
use crate::app::{App, KeyRules};
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Number, Text};
use crate::endpoint::{Endpoint, post};
use crate::error::ApiError;
use crate::idempotency::Given;
use crate::params::{Params, Path};
use crate::refusal::Refusal;
use crate::registries;
use crate::request::{Body, bounded, one_line};
use crate::roles::OPERATE;
use crate::warnings::warned;

/// How often a start is made ready again whose definition was changed meanwhile.
const TRIES_MAX: usize = 5;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let starts = |line: Endpoint| {
        line.query("requestId", Text)
            .header("X-Idempotency-key")
            .header("X-on-conflict")
            .header("X-Request-Id")
            .header("traceparent")
            .gives_text()
            .also(409)
            .also(410)
            .also(422)
    };
    vec![
        starts(post("/api/workflow", OPERATE, start))
            .about("Starts a run")
            .takes::<StartWorkflowRequest>(),
        starts(post("/api/workflow/{id}", OPERATE, start_named))
            .about("Starts a run of the workflow of that name; the body is its input")
            .query("version", Count)
            .query("correlationId", Text)
            .query("priority", Number(0))
            .takes_data(),
        starts(post("/api/workflow/start/{name}/{version}", OPERATE, start_version))
            .about("Starts a run of one version; the body is its input")
            .query("correlationId", Text)
            .query("priority", Number(0))
            .takes_data(),
    ]
}

/// `POST /api/workflow`: everything in the body.
async fn start(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    params: Params,
    body: Body,
) -> Answered {
    let request: Box<StartWorkflowRequest> = body.object()?;
    let warnings = warnings(&app, &request, &body);
    Ok(warned(begin(&app, &caller, &headers, &params, request).await?, &warnings))
}

/// What is worth knowing of the definition that a start brings.
pub(crate) fn warnings(app: &App, request: &StartWorkflowRequest, body: &Body) -> Vec<Warning> {
    let own = request.warnings();
    let Some(given) = &request.workflow_def else { return own };
    let definitions = &app.runtime.world().definitions;
    let mut inside = given.warnings_knowing(&|name| definitions.task(name).ok().flatten());
    let outside = registries::judge(app.runtime.world(), given, &[]);
    inside.extend(outside.map(|found| found.warned).unwrap_or_default());
    inside.extend(body.unknown_members(unknown_in_start));
    let inside = inside.into_iter().map(|warning| warning.below("workflowDef."));
    own.into_iter().chain(inside).collect()
}

fn unknown_in_start(request: &Value) -> Vec<Warning> {
    request.get("workflowDef").map(unknown_in_workflow).unwrap_or_default()
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
    let request = from_parts(name, version, &params, &body)?;
    begin(&app, &caller, &headers, &params, request).await
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
    let request = from_parts(name, Some(version), &params, &body)?;
    begin(&app, &caller, &headers, &params, request).await
}

pub(crate) fn from_parts(
    name: String,
    version: Option<i32>,
    params: &Params,
    body: &Body,
) -> Result<Box<StartWorkflowRequest>, ApiError> {
    Ok(Box::new(StartWorkflowRequest {
        name,
        version,
        correlation_id: params.text("correlationId").map(str::to_owned),
        priority: params.number("priority")?.unwrap_or(0),
        input: body.payload()?,
        ..StartWorkflowRequest::default()
    }))
}

async fn begin(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    params: &Params,
    request: Box<StartWorkflowRequest>,
) -> Answered {
    let begun = begun(app, caller, headers, params, request).await?;
    Ok(begun.marks(text(begun.id.to_string())))
}

/// A run that was started, or found under its key.
pub(crate) struct Begun {
    pub(crate) id: ExecutionId,
    version: i32,
    created: bool,
    keyed: bool,
    /// What became of a start beyond the limit, if not a run of its own.
    instead: Option<&'static str>,
    /// Why the limit of its definition does not count the run.
    not_counted: Option<String>,
    /// What the request says and the definition has no use for.
    warnings: Vec<Warning>,
    found: Option<Box<FoundRun>>,
}

impl Begun {
    /// Of a start beyond the limit that made no run of its own.
    fn instead(id: ExecutionId, version: i32, outcome: &'static str) -> Self {
        let (keyed, not_counted, warnings) = (false, None, Vec::new());
        let instead = Some(outcome);
        Self { id, version, created: false, keyed, found: None, instead, not_counted, warnings }
    }

    pub(crate) fn marks(&self, answer: Response) -> Response {
        self.marked(answer, "RETURNED_EXISTING")
    }

    /// Of a request that waits for what it found.
    pub(crate) fn attached(&self, answer: Response) -> Response {
        self.marked(answer, "ATTACHED")
    }

    fn marked(&self, answer: Response, found: &'static str) -> Response {
        let answer = with_header(answer, "x-workflow-id", &self.id.to_string());
        let mut answer = with_header(answer, "x-workflow-version", &self.version.to_string());
        if let Some(why) = &self.not_counted {
            let page = "docs/locks-and-concurrency.md";
            answer = with_header(answer, "x-semel-warning", &format!("{why} ({page})"));
        }
        answer = warned(answer, &self.warnings);
        if let Some(instead) = self.instead {
            return with_header(answer, "x-idempotency-outcome", instead);
        }
        if !self.keyed {
            return answer;
        }
        let outcome = if self.created { "CREATED" } else { found };
        let replayed = if self.created { "false" } else { "true" };
        count(outcome);
        answer = with_header(answer, "x-idempotency-outcome", outcome);
        answer = with_header(answer, "idempotent-replayed", replayed);
        if self.found.as_ref().is_some_and(|found| found.mismatch) {
            count("MISMATCHED");
            answer = with_header(answer, PAYLOAD_MISMATCH, "true");
        }
        answer
    }
}

/// `request` in a box: it can hold a whole definition, and futures are moved with all they hold.
pub(crate) async fn begun(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    params: &Params,
    request: Box<StartWorkflowRequest>,
) -> Result<Begun, ApiError> {
    let key = request.idempotency_key.as_deref();
    let given = Given::of(headers, params, key, request.idempotency_strategy)?;
    let step = Step::next();
    let mut tries = 0;
    let (answer, keyed, version, not_counted, warnings) = loop {
        let work = start_work(app, caller, &request, given.clone());
        let mut work = work.inspect_err(|_| app.runtime.start_failed(request.workflow_name()))?;
        let definition = work.definition.definition();
        let (keyed, version) = (work.key.is_some(), definition.version);
        let not_counted = not_counted(definition, &work.start, &work.input);
        let warnings = request.domain_warnings(definition);
        tries += 1;
        if tries == TRIES_MAX {
            work.found_in = None; // So it was a moment ago, which is after the request came.
        }
        let work = Work::Start(work);
        let answer = app.runtime.submit_as(step.clone(), work, Class::Start).await;
        if !matches!(answer, Err(Failure::Outdated)) {
            break (answer, keyed, version, not_counted, warnings);
        }
        app.runtime.look_for_definitions().await?;
    };
    match answer {
        Ok(Answer::Started { id, created, found }) => {
            let version = found.as_ref().map_or(version, |found| found.version);
            let not_counted = not_counted.filter(|_| created);
            Ok(Begun { id, version, created, keyed, found, instead: None, not_counted, warnings })
        }
        Ok(Answer::Skipped { id }) => Ok(Begun::instead(id, version, "SKIPPED")),
        Ok(Answer::Coalesced { id }) => Ok(Begun::instead(id, version, "COALESCED")),
        Ok(_) => Err(Failure::Unavailable.into()),
        Err(Failure::Refused(refused)) => Err(refusal(app, *refused).await?),
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) fn start_work(
    app: &App,
    caller: &Caller,
    request: &StartWorkflowRequest,
    given: Given,
) -> Result<Box<StartWork>, ApiError> {
    if let Some(definition) = &request.workflow_def {
        app.limits.checked(definition, "workflowDef.")?;
    }
    let definitions = &app.runtime.world().definitions;
    let violations = request.violations_knowing(&|name| definitions.task(name).ok().flatten());
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    one_line("correlationId", request.correlation_id.as_deref())?;
    bounded("input", &request.input)?;
    let (definition, found_in) = match &request.workflow_def {
        Some(definition) => {
            let schemas = &app.runtime.world().schemas;
            let path = "workflowDef.";
            crate::enforceable::in_workflow_definition(schemas, definition, path)?.accepted()?;
            (definitions.pin(definition.clone())?, None)
        }
        None => {
            let (found, generation) =
                definitions.for_start_lately(&request.name, request.version)?;
            let found = found.ok_or_else(|| {
                let version = request.version.map_or("null".to_owned(), |v| v.to_string());
                let name = &request.name;
                ApiError::NotFound(format!(
                    "No such workflow defined. name={name}, version={version}"
                ))
            })?;
            (found, Some(generation))
        }
    };
    let mut start = Start {
        definition: definition.digest(),
        input: semel_engine::Slot(0),
        correlation_id: request.correlation_id.clone(),
        priority: request.priority,
        task_to_domain: request.task_to_domain.clone().unwrap_or_default(),
        created_by: caller.known().or_else(|| request.created_by.clone()),
        traceparent: caller.traceparent,
        ..Start::default()
    };
    let key = keyed(definition.definition(), &start, &request.input, given, &app.keys)?;
    start.idempotency_key = key.as_ref().map(|key| key.key.clone());
    Ok(Box::new(StartWork {
        id: ExecutionId::draw(),
        definition,
        found_in,
        start,
        input: request.input.clone(),
        key,
        principal: caller.principal.clone(),
        event_id: caller.request.clone(),
    }))
}

fn keyed(
    definition: &WorkflowDef,
    start: &Start,
    input: &Payload,
    given: Given,
    rules: &KeyRules,
) -> Result<Option<StartKey>, ApiError> {
    let Given { key, strategy, request, strict } = given;
    let key = StartKey::chosen(definition, start, input, key, strategy);
    let key = key.map_err(|fault| match fault {
        KeyFault::Missing(why) => ApiError::KeyRequired(why),
        KeyFault::Invalid(why) => ApiError::KeyInvalid(why),
    })?;
    let key = key.map(|key| key.comparing(definition, input, strict || rules.strict));
    Ok(key.map(|key| StartKey { request, ..key }))
}

/// What is in the way, for people and machines. A run that is live may be PAUSED, which its record
/// does not say.
async fn refusal(app: &App, refused: Refused) -> Result<ApiError, ApiError> {
    let Refused { why, key, strategy, found } = &refused;
    let run = found.run;
    let status = match found.live {
        true => {
            let seen = app.runtime.blocking(move |world| world.glance(run)).await?;
            let seen = seen.map(|seen| seen.head.status).filter(|status| !status.is_terminal());
            Some(seen.unwrap_or(WorkflowStatus::Running))
        }
        false => found.ended,
    };
    let (http, code) = match why {
        Why::Conflict => (StatusCode::CONFLICT, "IDEMPOTENCY_CONFLICT"),
        Why::Mismatch => (StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_PAYLOAD_MISMATCH"),
        Why::Gone => (StatusCode::GONE, "IDEMPOTENCY_EXPIRED_REF"),
    };
    let mut metadata = Map::new();
    for (name, value) in [
        ("existingWorkflowId", json!(run.to_string())),
        ("existingStatus", json!(status)),
        ("existingVersion", json!(found.version)),
        ("idempotencyKey", json!(key.key)),
        ("strategy", json!(strategy.as_str())),
        ("createdAt", json!(found.created_at)),
        ("expiresAt", json!(found.expires_at)),
    ] {
        if !value.is_null() {
            metadata.insert(name.to_owned(), value);
        }
    }
    let mut headers = vec![
        ("x-idempotency-outcome", "REJECTED".to_owned()),
        ("x-workflow-id", run.to_string()),
        ("x-workflow-version", found.version.to_string()),
    ];
    headers.extend(found.expires_at.map(|at| ("idempotency-expires", rfc3339(at))));
    count("REJECTED");
    if found.mismatch {
        count("MISMATCHED");
        headers.push((PAYLOAD_MISMATCH, "true".to_owned()));
    }
    let message = refused.told();
    let refusal = Refusal { metadata, headers, ..Refusal::new(http, code, message) };
    Ok(ApiError::Refused(Box::new(refusal)))
}

const PAYLOAD_MISMATCH: &str = "x-idempotency-payload-mismatch";

fn rfc3339(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.ms()).map(|at| at.to_string()).unwrap_or_default()
}

fn count(outcome: &'static str) {
    // Written out: labels that are known to the compiler are hashed once.
    macro_rules! counted {
        ($outcome:literal) => {
            counter!("semel_idempotency_total", "layer" => "start", "outcome" => $outcome)
        };
    }
    let counter = match outcome {
        "CREATED" => counted!("created"),
        "ATTACHED" => counted!("attached"),
        "REJECTED" => counted!("rejected"),
        "MISMATCHED" => counted!("mismatched"),
        _ => counted!("replayed"),
    };
    counter.increment(1);
}
