//! # The schema registry (docs/compatibility.md#schemas)

use std::collections::BTreeSet;

use axum::extract::State;
use semel_engine::unenforceable;
use semel_model::{SchemaDef, SchemaType, VIOLATIONS_MAX, Violation, Warning, unknown_in_schema};
use semel_runtime::World;

use crate::answer::{Answered, empty, json};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::Flag;
use crate::endpoint::{Endpoint, delete, get, post};
use crate::error::ApiError;
use crate::metadata::looked_up;
use crate::params::{Params, Path};
use crate::request::Body;
use crate::roles::{OPERATE, READ};
use crate::room::Rows;
use crate::warnings::{numbered, warned};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/schema", READ, list)
            .about("All versions of all schemas; short leaves out what they say")
            .query("short", Flag(false))
            .gives::<Vec<SchemaDef>>(),
        post("/api/schema", OPERATE, register)
            .about("Registers schemas, over what is there or as new versions; all or none")
            .query("newVersion", Flag(false))
            .takes_definition::<Vec<SchemaDef>>(),
        get("/api/schema/{name}", READ, read_latest)
            .about("The latest version of a schema")
            .gives::<SchemaDef>(),
        delete("/api/schema/{name}", OPERATE, remove_all).about("Removes a schema; runs keep it"),
        get("/api/schema/{name}/{version}", READ, read_version)
            .about("One version of a schema")
            .gives::<SchemaDef>(),
        delete("/api/schema/{name}/{version}", OPERATE, remove_version)
            .about("Removes a version of a schema; runs keep it"),
        post("/api/global_schema", OPERATE, register)
            .about("The same as POST /api/schema: there is one registry")
            .query("newVersion", Flag(false))
            .takes_definition::<Vec<SchemaDef>>(),
        get("/api/global_schema/{name}", READ, read_latest)
            .about("The latest version of a schema")
            .gives::<SchemaDef>(),
    ]
}

fn missing(name: &str, version: Option<&str>) -> ApiError {
    let version = version.unwrap_or("null");
    ApiError::NotFound(format!("No such schema found by name: {name}, version: {version}"))
}

/// What is wrong with a schema as an entry of the registry. What it says is only kept: whoever
/// enforces it is refused, or warned, where that is said.
fn violations(schema: &SchemaDef) -> Vec<Violation> {
    let mut found = Vec::new();
    if schema.name.is_empty() || schema.name.contains('\0') {
        found.push(Violation::new("name", "a schema needs a name, without a NUL character"));
    }
    if schema.version < 1 {
        let message = "versions count from 1";
        found.push(Violation::new("version", message).with_value(schema.version));
    }
    found
}

/// A schema that nobody will be able to enforce. Other types than JSON are only kept, and so is what
/// lies elsewhere.
fn warnings(schema: &SchemaDef) -> Vec<Warning> {
    let is_json = matches!(schema.kind, None | Some(SchemaType::Json));
    let is_read = is_json && (schema.data.is_some() || schema.external_ref.is_none());
    let found = unenforceable(schema).filter(|_| is_read);
    let warning = |found: Violation| {
        let message = format!("{}; it is kept and cannot be enforced", found.message);
        Warning::fails_at_run_time(found.path, message)
    };
    found.map(warning).into_iter().collect()
}

/// Every broken rule of a list. A version that is asked for twice is asked for in vain once.
fn broken(schemas: &[SchemaDef], as_new_versions: bool) -> Vec<Violation> {
    let mut versions = BTreeSet::new();
    let mut found = Vec::new();
    for (at, schema) in schemas.iter().enumerate() {
        let prefix = if schemas.len() == 1 { String::new() } else { format!("[{at}].") };
        let placed = |it: Violation| Violation { path: format!("{prefix}{}", it.path), ..it };
        found.extend(violations(schema).into_iter().map(placed));
        if !versions.insert((&schema.name, schema.version)) && !as_new_versions {
            let message = "is in the list already, in this version";
            found.push(placed(Violation::new("name", message).with_value(&schema.name)));
        }
    }
    found.truncate(VIOLATIONS_MAX);
    found
}

/// `POST /api/schema`: a list, or one alone as the python SDK sends it.
async fn register(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let schemas: Vec<SchemaDef> = body.one_or_more()?;
    let as_new_versions = params.flag("newVersion", false)?;
    if schemas.is_empty() {
        return Err(ApiError::Malformed("the list of schemas is empty".to_owned()));
    }
    let looked_at = app.runtime.blocking(move |_| {
        let found = broken(&schemas, as_new_versions);
        let (all, count) = (schemas.iter().enumerate(), schemas.len());
        let warned = all.flat_map(|(at, schema)| numbered(at, count, warnings(schema))).collect();
        Ok((schemas, found, warned))
    });
    let (schemas, found, mut warnings): (_, _, Vec<Warning>) = looked_at.await?;
    warnings.extend(body.unknown_members(unknown_in_schema));
    if !found.is_empty() {
        return Err(ApiError::Invalid(found));
    }
    app.runtime.register_schemas(schemas, as_new_versions, caller.known()).await?;
    Ok(warned(empty(), &warnings))
}

/// `GET /api/schema`.
async fn list(State(app): State<App>, params: Params) -> Answered {
    let short = params.flag("short", false)?;
    let read = move |world: &World| {
        let mut all = world.schemas.all()?;
        if short {
            all.iter_mut().for_each(|schema| schema.data = None);
        }
        Ok(all)
    };
    Rows::of_all(&app, read, "ask with short=true, and for each: GET /api/schema/{name}/{version}")
        .await
}

/// A version that is no number is one that nobody has.
fn number(version: Option<&str>, missing: &dyn Fn() -> ApiError) -> Result<Option<i32>, ApiError> {
    version.map(|text| text.parse().map_err(|_| missing())).transpose()
}

async fn read(app: &App, name: String, version: Option<String>) -> Answered {
    let missing = || missing(&name, version.as_deref());
    let number = number(version.as_deref(), &missing)?;
    let wanted = name.clone();
    let look = move |world: &World| looked_up(&wanted, |name| world.schemas.get(name, number));
    Ok(json(&app.runtime.blocking(look).await?.ok_or_else(missing)?))
}

async fn remove(app: &App, name: &str, version: Option<&str>) -> Answered {
    let missing = || missing(name, version);
    let number = number(version, &missing)?;
    match app.runtime.remove_schemas(name, number).await? {
        true => Ok(empty()),
        false => Err(missing()),
    }
}

/// `GET /api/schema/{name}`.
async fn read_latest(State(app): State<App>, Path(name): Path<String>) -> Answered {
    read(&app, name, None).await
}

/// `GET /api/schema/{name}/{version}`.
async fn read_version(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
) -> Answered {
    read(&app, name, Some(version)).await
}

/// `DELETE /api/schema/{name}`.
async fn remove_all(State(app): State<App>, Path(name): Path<String>) -> Answered {
    remove(&app, &name, None).await
}

/// `DELETE /api/schema/{name}/{version}`.
async fn remove_version(
    State(app): State<App>,
    Path((name, version)): Path<(String, String)>,
) -> Answered {
    remove(&app, &name, Some(&version)).await
}
