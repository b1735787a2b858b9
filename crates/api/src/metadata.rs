//! # Definitions: contract section 2.4

use axum::extract::State;
use axum::response::Response;
use semel_engine::{is_absent, unsupported};
use semel_model::{BulkResponse, TaskDef, WorkflowDef};
use semel_runtime::{Class, Definitions, DocumentRule, DocumentWrite, Failure, Work};

use crate::answer::{Answered, empty, json, with_header};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::{Count, Flag, Text};
use crate::endpoint::{Does, Endpoint, delete, get, post, put};
use crate::enforceable;
use crate::error::ApiError;
use crate::lint::{self, Mode};
use crate::params::{Params, Path};
use crate::request::Body;
use crate::roles::{OPERATE, READ};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/metadata/workflow", OPERATE, register)
            .about("Registers a workflow definition")
            .query("overwrite", Flag(false))
            .query("lint", Mode::CHOICE)
            .takes::<WorkflowDef>()
            .also(409),
        put("/api/metadata/workflow", OPERATE, register_all)
            .about("Registers workflow definitions, over what is there; all or none")
            .query("lint", Mode::CHOICE)
            .takes::<Vec<WorkflowDef>>()
            .gives::<BulkResponse>(),
        get("/api/metadata/workflow", READ, list)
            .about("All workflow definitions, or those of one name")
            .query("name", Text)
            .gives::<Vec<WorkflowDef>>(),
        post("/api/metadata/workflow/validate", READ, validate)
            .about("Says what is wrong with a workflow definition")
            .does(Does::Looks)
            .takes::<WorkflowDef>(),
        get("/api/metadata/workflow/{name}", READ, read)
            .about("A workflow definition: one version, else the latest")
            .query("version", Count)
            .gives::<WorkflowDef>(),
        delete("/api/metadata/workflow/{name}/{version}", OPERATE, remove)
            .about("Removes a workflow definition; runs keep theirs"),
        post("/api/metadata/taskdefs", OPERATE, register_tasks)
            .about("Registers task definitions, over what is there; all or none")
            .takes::<Vec<TaskDef>>(),
        put("/api/metadata/taskdefs", OPERATE, update_task)
            .about("Updates a task definition")
            .takes::<TaskDef>(),
        get("/api/metadata/taskdefs", READ, list_tasks)
            .about("All task definitions")
            .gives::<Vec<TaskDef>>(),
        get("/api/metadata/taskdefs/{name}", READ, read_task)
            .about("A task definition")
            .gives::<TaskDef>(),
        delete("/api/metadata/taskdefs/{name}", OPERATE, remove_task)
            .about("Removes a task definition"),
    ]
}

/// All rules at once, and what this release cannot run.
fn check(app: &App, definition: &WorkflowDef) -> Result<(), ApiError> {
    let definitions = &app.runtime.world().definitions;
    let known = |name: &str| definitions.task(name).ok().flatten();
    let violations = definition.violations_knowing(&known);
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    refuse_unsupported(definition, "")?;
    enforceable::check_workflow(&app.runtime.world().schemas, definition, "")
}

/// Better refused at the door than wrong at run time.
pub(crate) fn refuse_unsupported(definition: &WorkflowDef, path: &str) -> Result<(), ApiError> {
    let violations = unsupported(definition, path);
    if violations.is_empty() { Ok(()) } else { Err(ApiError::Invalid(violations)) }
}

fn body_of<T: serde::Serialize>(definition: &T) -> Result<Option<Vec<u8>>, ApiError> {
    let bytes = serde_json::to_vec(definition);
    bytes.map(Some).map_err(|error| ApiError::Internal(error.to_string()))
}

/// `createTime` is kept over updates; `updateTime` says when. By whom is what the definition says,
/// else who sent it.
fn workflow_write(
    app: &App,
    caller: &Caller,
    mut definition: WorkflowDef,
    rule: DocumentRule,
) -> Result<DocumentWrite, ApiError> {
    let now = app.runtime.now();
    let version = Some(definition.version);
    match app.runtime.world().definitions.workflow(&definition.name, version)? {
        Some(before) => {
            definition.create_time = before.create_time;
            definition.update_time = now;
            definition.created_by = definition.created_by.or(before.created_by);
            definition.updated_by = definition.updated_by.or_else(|| caller.known());
        }
        None => {
            definition.create_time = now;
            definition.created_by = definition.created_by.or_else(|| caller.known());
        }
    }
    let key = Definitions::workflow_key(&definition.name, definition.version);
    Ok(DocumentWrite { key, body: body_of(&definition)?, rule })
}

async fn write(app: &App, writes: Vec<DocumentWrite>) -> Result<(), Failure> {
    app.runtime.submit(Work::Documents(writes), Class::Operation).await.map(|_| ())
}

/// `POST /api/metadata/workflow`: one definition; 409 when it exists, unless `overwrite`.
async fn register(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let mode = Mode::of(&params)?;
    let definition: WorkflowDef = body.object()?;
    check(&app, &definition)?;
    let overwrite = params.flag("overwrite", false)?;
    let rule = if overwrite { DocumentRule::Any } else { DocumentRule::MustBeAbsent };
    let idle = idle_settings(&definition);
    let found = lint::at_registration(&app, std::slice::from_ref(&definition), mode)?;
    write(&app, vec![workflow_write(&app, &caller, definition, rule)?]).await?;
    Ok(lint::counted(warned(empty(), &idle), found))
}

/// Settings that are kept and have no effect in this release: nobody shall rely on them unaware.
fn idle_settings(definition: &WorkflowDef) -> Vec<String> {
    let mut idle = Vec::new();
    let mut note = |is_set: bool, name: String| {
        if is_set {
            idle.push(name);
        }
    };
    note(definition.cache_config.is_some(), "cacheConfig".to_owned());
    let masks = definition.masked_fields.as_ref().is_some_and(|fields| !fields.is_empty());
    note(masks, "maskedFields".to_owned());
    let sink = definition.workflow_status_listener_sink.as_deref().unwrap_or_default();
    let is_ours = sink.is_empty() || sink == "conductor" || sink.starts_with("conductor:");
    note(!is_ours, "workflowStatusListenerSink".to_owned());
    for (at, step) in definition.steps().iter().enumerate() {
        note(is_absent(&step.kind), format!("tasks[{at}].type {}", step.kind));
        let request = step.input_parameters().get("http_request");
        let is_hedged = request.is_some_and(|request| request.get("hedgingConfig").is_some());
        note(step.kind == "HTTP" && is_hedged, format!("tasks[{at}] hedgingConfig"));
    }
    idle
}

fn warned(answer: Response, idle: &[String]) -> Response {
    if idle.is_empty() {
        return answer;
    }
    let text = format!("kept, but without effect in this release: {}", idle.join(", "));
    with_header(answer, "x-semel-warning", &text)
}

/// `PUT /api/metadata/workflow`: a list, each written over what is there; all or none.
async fn register_all(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let mode = Mode::of(&params)?;
    let definitions: Vec<WorkflowDef> = body.list()?;
    if definitions.is_empty() {
        return Err(ApiError::Malformed("the list of definitions is empty".to_owned()));
    }
    definitions.iter().try_for_each(|definition| check(&app, definition))?;
    let idle: Vec<_> = definitions.iter().flat_map(idle_settings).collect();
    let found = lint::at_registration(&app, &definitions, mode)?;
    let names = definitions.iter().map(|definition| definition.name.clone()).collect();
    let writes: Result<Vec<_>, _> = definitions
        .into_iter()
        .map(|definition| workflow_write(&app, &caller, definition, DocumentRule::Any))
        .collect();
    write(&app, writes?).await?;
    let answer = BulkResponse { bulk_successful_results: names, ..BulkResponse::default() };
    Ok(lint::counted(warned(json(&answer), &idle), found))
}

/// `POST /api/metadata/workflow/validate`.
async fn validate(State(app): State<App>, body: Body) -> Answered {
    let definition = body.object()?;
    check(&app, &definition)?;
    Ok(warned(empty(), &idle_settings(&definition)))
}

/// `GET /api/metadata/workflow`.
async fn list(State(app): State<App>, params: Params) -> Answered {
    let name = params.text("name").map(str::to_owned);
    let read = move |world: &semel_runtime::World| world.definitions.workflows(name.as_deref());
    Ok(json(&app.runtime.blocking(read).await?))
}

/// By its name; else by its name with blanks, which one client writes as `+`.
pub(crate) fn looked_up<T>(
    name: &str,
    look: impl Fn(&str) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    match look(name)? {
        None if name.contains('+') => look(&name.replace('+', " ")),
        found => Ok(found),
    }
}

/// `GET /api/metadata/workflow/{name}`: that version, else the latest.
async fn read(State(app): State<App>, Path(name): Path<String>, params: Params) -> Answered {
    let version: Option<i32> = params.number("version")?;
    let definitions = &app.runtime.world().definitions;
    let found = looked_up(&name, |name| definitions.workflow(name, version))?;
    let found = found.ok_or_else(|| {
        let version = version.map_or("null".to_owned(), |version| version.to_string());
        ApiError::NotFound(format!("No such workflow found by name: {name}, version: {version}"))
    })?;
    Ok(json(&found))
}

/// `DELETE /api/metadata/workflow/{name}/{version}`: runs keep what they are pinned to.
async fn remove(State(app): State<App>, Path((name, version)): Path<(String, String)>) -> Answered {
    let missing = || {
        ApiError::NotFound(format!("No such workflow found by name: {name}, version: {version}"))
    };
    let number = version.parse().map_err(|_| missing())?;
    let key = Definitions::workflow_key(&name, number);
    let delete = DocumentWrite { key, body: None, rule: DocumentRule::MustExist };
    match write(&app, vec![delete]).await {
        Err(Failure::Missing(_)) => Err(missing()),
        other => Ok(other.map(|()| empty())?),
    }
}

fn task_write(
    app: &App,
    caller: &Caller,
    mut task: TaskDef,
    rule: DocumentRule,
) -> Result<DocumentWrite, ApiError> {
    let now = app.runtime.now();
    match rule {
        DocumentRule::MustExist => {
            let before = app.runtime.world().definitions.task(&task.name)?;
            task.create_time = before.as_ref().map_or(now, |before| before.create_time);
            task.update_time = now;
            let creator = before.and_then(|before| before.created_by.clone());
            task.created_by = task.created_by.or(creator);
            task.updated_by = task.updated_by.or_else(|| caller.known());
        }
        DocumentRule::Any | DocumentRule::MustBeAbsent | DocumentRule::Unchanged(_) => {
            task.create_time = now;
            task.created_by = task.created_by.or_else(|| caller.known());
        }
    }
    let key = Definitions::task_key(&task.name);
    Ok(DocumentWrite { key, body: body_of(&task)?, rule })
}

fn check_tasks(app: &App, tasks: &[TaskDef]) -> Result<(), ApiError> {
    let violations: Vec<_> = tasks.iter().flat_map(TaskDef::violations).collect();
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    enforceable::check_tasks(&app.runtime.world().schemas, tasks)
}

/// `POST /api/metadata/taskdefs`: a list, each written over what is there; all or none.
async fn register_tasks(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let tasks: Vec<TaskDef> = body.list()?;
    if tasks.is_empty() {
        return Err(ApiError::Malformed("the list of task definitions is empty".to_owned()));
    }
    check_tasks(&app, &tasks)?;
    let writes: Result<Vec<_>, _> =
        tasks.into_iter().map(|task| task_write(&app, &caller, task, DocumentRule::Any)).collect();
    write(&app, writes?).await?;
    Ok(empty())
}

fn no_task(name: &str) -> ApiError {
    ApiError::NotFound(format!("No such taskType found by name: {name}"))
}

/// `PUT /api/metadata/taskdefs`: one that exists.
async fn update_task(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let task: TaskDef = body.object()?;
    check_tasks(&app, std::slice::from_ref(&task))?;
    let name = task.name.clone();
    match write(&app, vec![task_write(&app, &caller, task, DocumentRule::MustExist)?]).await {
        Err(Failure::Missing(_)) => Err(no_task(&name)),
        other => Ok(other.map(|()| empty())?),
    }
}

/// `GET /api/metadata/taskdefs`.
async fn list_tasks(State(app): State<App>) -> Answered {
    Ok(json(&app.runtime.blocking(|world| world.definitions.tasks()).await?))
}

/// `GET /api/metadata/taskdefs/{name}`.
async fn read_task(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let definitions = &app.runtime.world().definitions;
    let found = looked_up(&name, |name| definitions.task(name))?;
    Ok(json(&found.ok_or_else(|| no_task(&name))?))
}

/// `DELETE /api/metadata/taskdefs/{name}`.
async fn remove_task(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let key = Definitions::task_key(&name);
    let delete = DocumentWrite { key, body: None, rule: DocumentRule::MustExist };
    match write(&app, vec![delete]).await {
        Err(Failure::Missing(_)) => Err(no_task(&name)),
        other => Ok(other.map(|()| empty())?),
    }
}
