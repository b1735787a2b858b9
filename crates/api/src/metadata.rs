//! # Definitions (docs/compatibility.md#definitions)

use axum::extract::State;
use axum::http::Method;
use semel_model::{
    BulkResponse, TaskDef, Warning, WorkflowDef, unknown_in_task, unknown_in_workflow,
};
use semel_runtime::{Class, Definitions, DocumentRule, DocumentWrite, Failure, Step, Work, World};
use semel_store::Kind;

use crate::answer::{Answered, empty, json};
use crate::app::App;
use crate::caller::Caller;
use crate::definition_tags;
use crate::endpoint::Value::{Count, Flag, Text};
use crate::endpoint::{Does, Endpoint, delete, get, post, put};
use crate::enforceable;
use crate::error::ApiError;
use crate::lint::{self, Mode};
use crate::params::{Params, Path};
use crate::registries;
use crate::request::Body;
use crate::roles::{OPERATE, READ};
use crate::room::Rows;
use crate::tags::TagsInside;
use crate::unserved::NotServed;
use crate::warnings::{numbered, warned};

/// How often a registration whose tags somebody else changes meanwhile begins again.
const TAGGED_WRITES_MAX: usize = 5;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/metadata/workflow", OPERATE, register)
            .about("Registers a workflow definition")
            .query("overwrite", Flag(false))
            .query("lint", Mode::CHOICE)
            .takes_definition::<WorkflowDef>()
            .also(409),
        put("/api/metadata/workflow", OPERATE, register_all)
            .about("Registers workflow definitions, over what is there; all or none")
            .query("lint", Mode::CHOICE)
            .takes_definition::<Vec<WorkflowDef>>()
            .gives::<BulkResponse>(),
        get("/api/metadata/workflow", READ, list)
            .about("All workflow definitions, or those of one name")
            .query("name", Text)
            .query("metadata", Flag(false))
            .gives::<Vec<WorkflowDef>>(),
        post("/api/metadata/workflow/validate", READ, validate)
            .about("Says what is wrong with a workflow definition")
            .does(Does::Looks)
            .takes_definition::<WorkflowDef>(),
        get("/api/metadata/workflow/{name}", READ, read)
            .about("A workflow definition: one version, else the latest")
            .query("version", Count)
            .query("metadata", Flag(false))
            .gives::<WorkflowDef>(),
        delete("/api/metadata/workflow/{name}/{version}", OPERATE, remove)
            .about("Removes a workflow definition; runs keep theirs"),
        post("/api/metadata/taskdefs", OPERATE, register_tasks)
            .about("Registers task definitions, over what is there; all or none")
            .takes_definition::<Vec<TaskDef>>(),
        put("/api/metadata/taskdefs", OPERATE, update_task)
            .about("Updates a task definition")
            .takes_definition::<TaskDef>(),
        get("/api/metadata/taskdefs", READ, list_tasks)
            .about("All task definitions")
            .query("metadata", Flag(false))
            .gives::<Vec<TaskDef>>(),
        get("/api/metadata/taskdefs/{name}", READ, read_task)
            .about("A task definition")
            .query("metadata", Flag(false))
            .gives::<TaskDef>(),
        delete("/api/metadata/taskdefs/{name}", OPERATE, remove_task)
            .about("Removes a task definition"),
    ]
}

/// All rules at once. What is accepted and will not do what it says is among the warnings. `beside` are
/// the names that are registered together with it.
fn check(app: &App, definition: &WorkflowDef, beside: &[&str]) -> Result<Vec<Warning>, ApiError> {
    app.limits.checked(definition, "")?;
    let definitions = &app.runtime.world().definitions;
    let known = |name: &str| definitions.task(name).ok().flatten();
    let violations = definition.violations_knowing(&known);
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    let outside = registries::judge(app.runtime.world(), definition, beside)?.accepted()?;
    Ok(definition.warnings_knowing(&known).into_iter().chain(outside).collect())
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

/// Writes definitions with the tags that stand inside them, in one commit. When somebody changes the
/// same tags meanwhile, they are read again.
async fn write_tagged(
    app: &App,
    writes: Vec<DocumentWrite>,
    tags: impl Fn(&World) -> Result<Vec<DocumentWrite>, Failure>,
) -> Result<(), Failure> {
    let step = Step::next();
    for _ in 0..TAGGED_WRITES_MAX {
        let tags = tags(app.runtime.world())?;
        let all = writes.iter().cloned().chain(tags).collect();
        let done = app.runtime.submit_as(step.clone(), Work::Documents(all), Class::Operation);
        match done.await {
            Err(Failure::Changed(_)) => {}
            done => return done.map(|_| ()),
        }
    }
    Err(Failure::Unavailable)
}

fn workflow_tags(
    world: &World,
    definitions: &[WorkflowDef],
) -> Result<Vec<DocumentWrite>, Failure> {
    let inside = |definition: &WorkflowDef| {
        TagsInside::of(definition.tags.as_ref(), definition.overwrite_tags.as_ref())
    };
    let all = definitions.iter().map(|it| (it.name.as_str(), inside(it)));
    definition_tags::writes(world, Kind::WorkflowTags, all)
}

fn task_tags(world: &World, tasks: &[TaskDef]) -> Result<Vec<DocumentWrite>, Failure> {
    let inside = |task: &TaskDef| TagsInside::of(task.tags.as_ref(), task.overwrite_tags.as_ref());
    let all = tasks.iter().map(|it| (it.name.as_str(), inside(it)));
    definition_tags::writes(world, Kind::TaskTags, all)
}

/// `POST /api/metadata/workflow`: one definition; 409 when it exists, unless `overwrite`.
async fn register(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let mode = Mode::of(&params)?;
    let definition: WorkflowDef = body.object()?;
    let mut warnings = check(&app, &definition, &[])?;
    let unknown = body.unknown_members(unknown_in_workflow);
    warnings.extend(unknown.clone());
    let overwrite = params.flag("overwrite", false)?;
    let rule = if overwrite { DocumentRule::Any } else { DocumentRule::MustBeAbsent };
    let found = lint::at_registration(&app, std::slice::from_ref(&definition), &unknown, mode)?;
    let writes = vec![workflow_write(&app, &caller, definition.clone(), rule)?];
    let tags = |world: &World| workflow_tags(world, std::slice::from_ref(&definition));
    write_tagged(&app, writes, tags).await?;
    Ok(lint::counted(warned(empty(), &warnings), found))
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
    let beside: Vec<&str> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    let mut warnings = Vec::new();
    for (at, definition) in definitions.iter().enumerate() {
        warnings.extend(numbered(at, definitions.len(), check(&app, definition, &beside)?));
    }
    let unknown = body.unknown_members(unknown_in_workflow);
    warnings.extend(unknown.clone());
    let found = lint::at_registration(&app, &definitions, &unknown, mode)?;
    let names = definitions.iter().map(|definition| definition.name.clone()).collect();
    let writes: Result<Vec<_>, _> = definitions
        .iter()
        .map(|definition| workflow_write(&app, &caller, definition.clone(), DocumentRule::Any))
        .collect();
    write_tagged(&app, writes?, |world| workflow_tags(world, &definitions)).await?;
    let answer = BulkResponse { bulk_successful_results: names, ..BulkResponse::default() };
    Ok(lint::counted(warned(json(&answer), &warnings), found))
}

/// `POST /api/metadata/workflow/validate`.
async fn validate(State(app): State<App>, body: Body) -> Answered {
    let definition = body.object()?;
    let mut warnings = check(&app, &definition, &[])?;
    warnings.extend(body.unknown_members(unknown_in_workflow));
    Ok(warned(empty(), &warnings))
}

/// `GET /api/metadata/workflow`.
async fn list(State(app): State<App>, params: Params) -> Answered {
    let name = params.text("name").map(str::to_owned);
    let with_tags = params.flag("metadata", false)?;
    let read = move |world: &World| {
        let all = world.definitions.workflows(name.as_deref())?;
        all.iter().map(|it| tagged(world, it, with_tags)).collect::<Result<Vec<_>, _>>()
    };
    let instead = "ask for those of one name: GET /api/metadata/workflow?name=, or one by one; \
                   GET /api/metadata/workflow/names-and-versions lists them";
    Rows::of_all(&app, read, instead).await
}

/// A definition with the tags that its name has now, where it came with some or somebody asks.
fn tagged(world: &World, definition: &WorkflowDef, is_asked: bool) -> Result<WorkflowDef, Failure> {
    let (kind, stored) = (Kind::WorkflowTags, definition.tags.as_ref());
    let tags = definition_tags::shown(world, kind, &definition.name, stored, is_asked)?;
    Ok(WorkflowDef { tags, ..definition.clone() })
}

/// The same of a task definition.
fn tagged_task(world: &World, task: &TaskDef, is_asked: bool) -> Result<TaskDef, Failure> {
    let (kind, stored) = (Kind::TaskTags, task.tags.as_ref());
    let tags = definition_tags::shown(world, kind, &task.name, stored, is_asked)?;
    Ok(TaskDef { tags, ..task.clone() })
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
    Ok(json(&tagged(app.runtime.world(), &found, params.flag("metadata", false)?)?))
}

/// `DELETE /api/metadata/workflow/{name}/{version}`: runs keep what they are pinned to.
async fn remove(State(app): State<App>, Path((name, version)): Path<(String, String)>) -> Answered {
    let missing = || {
        ApiError::NotFound(format!("No such workflow found by name: {name}, version: {version}"))
    };
    let number = match version.parse() {
        Ok(number) => number,
        Err(_) => {
            let path = format!("/api/metadata/workflow/{name}/{version}");
            NotServed::check(Method::DELETE, &path)?;
            return Err(missing());
        }
    };
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

fn check_tasks(app: &App, tasks: &[TaskDef]) -> Result<Vec<Warning>, ApiError> {
    let violations: Vec<_> = tasks.iter().flat_map(TaskDef::violations).collect();
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    let mut warnings =
        enforceable::in_task_definitions(&app.runtime.world().schemas, tasks)?.accepted()?;
    for (at, task) in tasks.iter().enumerate() {
        warnings.extend(numbered(at, tasks.len(), task.warnings()));
    }
    Ok(warnings)
}

/// `POST /api/metadata/taskdefs`: a list, each written over what is there; all or none.
async fn register_tasks(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let tasks: Vec<TaskDef> = body.list()?;
    if tasks.is_empty() {
        return Err(ApiError::Malformed("the list of task definitions is empty".to_owned()));
    }
    let mut warnings = check_tasks(&app, &tasks)?;
    warnings.extend(body.unknown_members(unknown_in_task));
    let write = |task: &TaskDef| task_write(&app, &caller, task.clone(), DocumentRule::Any);
    let writes: Result<Vec<_>, _> = tasks.iter().map(write).collect();
    write_tagged(&app, writes?, |world| task_tags(world, &tasks)).await?;
    Ok(warned(empty(), &warnings))
}

fn no_task(name: &str) -> ApiError {
    ApiError::NotFound(format!("No such taskType found by name: {name}"))
}

/// `PUT /api/metadata/taskdefs`: one that exists.
async fn update_task(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let task: TaskDef = body.object()?;
    let mut warnings = check_tasks(&app, std::slice::from_ref(&task))?;
    warnings.extend(body.unknown_members(unknown_in_task));
    let name = task.name.clone();
    let writes = vec![task_write(&app, &caller, task.clone(), DocumentRule::MustExist)?];
    let tags = |world: &World| task_tags(world, std::slice::from_ref(&task));
    match write_tagged(&app, writes, tags).await {
        Err(Failure::Missing(_)) => Err(no_task(&name)),
        other => Ok(other.map(|()| warned(empty(), &warnings))?),
    }
}

/// `GET /api/metadata/taskdefs`.
async fn list_tasks(State(app): State<App>, params: Params) -> Answered {
    let with_tags = params.flag("metadata", false)?;
    let read = move |world: &World| {
        let all = world.definitions.tasks()?;
        all.iter().map(|it| tagged_task(world, it, with_tags)).collect::<Result<Vec<_>, _>>()
    };
    Rows::of_all(&app, read, "ask for them one by one: GET /api/metadata/taskdefs/{name}").await
}

/// `GET /api/metadata/taskdefs/{name}`.
async fn read_task(State(app): State<App>, Path(name): Path<String>, params: Params) -> Answered {
    let definitions = &app.runtime.world().definitions;
    let found = looked_up(&name, |name| definitions.task(name))?;
    let found = found.ok_or_else(|| no_task(&name))?;
    Ok(json(&tagged_task(app.runtime.world(), &found, params.flag("metadata", false)?)?))
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
