//! # Environment values (docs/compatibility.md#server-environment-secrets)

use axum::extract::State;
use semel_model::{Payload, Tag};
use semel_runtime::{Variable, Variables, World};
use serde_json::{Value, json};

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::endpoint::{Endpoint, delete, get, put};
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::roles::{OPERATE, READ};
use crate::secrets::{check_length, check_name};
use crate::tags;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/environment", READ, list)
            .about("Environment values, stored and of the process")
            .gives::<Vec<Payload>>(),
        get("/api/environment/{key}", READ, read)
            .about("An environment value; empty if there is none")
            .gives_text(),
        put("/api/environment/{key}", OPERATE, write)
            .about("Stores an environment value")
            .takes_text(),
        delete("/api/environment/{key}", OPERATE, remove)
            .about("Removes an environment value and tells what it was")
            .gives_text(),
        get("/api/environment/{key}/tags", READ, read_tags)
            .about("Tags of an environment value")
            .gives::<Vec<Tag>>(),
        put("/api/environment/{key}/tags", OPERATE, add_tags)
            .about("Adds tags to an environment value")
            .takes::<Vec<Tag>>(),
        delete("/api/environment/{key}/tags", OPERATE, remove_tags)
            .about("Takes tags away from an environment value")
            .takes::<Vec<Tag>>(),
    ]
}

fn missing(name: &str) -> ApiError {
    ApiError::NotFound(format!("no such environment value: {name}"))
}

async fn find(app: &App, name: &str) -> Result<Option<Variable>, ApiError> {
    check_name(name)?;
    let name = name.to_owned();
    Ok(app.runtime.blocking(move |world: &World| world.variables.get(&name)).await?)
}

/// `GET /api/environment`: stored values, and those the server was started with.
async fn list(State(app): State<App>) -> Answered {
    let all = app.runtime.blocking(|world: &World| world.variables.all()).await?;
    let shown =
        |(name, Variable { value, tags })| json!({"name": name, "value": value, "tags": tags});
    Ok(json(&all.into_iter().map(shown).collect::<Vec<Value>>()))
}

/// `GET /api/environment/{key}`: an empty text when there is none, as in Conductor.
async fn read(State(app): State<App>, Path(name): Path<String>) -> Answered {
    Ok(find(&app, &name).await?.map_or_else(empty, |found| text(found.value)))
}

/// `PUT /api/environment/{key}`: the body is the value.
async fn write(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let value = body.text()?;
    check_length(&value)?;
    app.runtime.set_variable(&name, value).await?;
    Ok(empty())
}

/// `DELETE /api/environment/{key}`: tells what it was. One that is not stored cannot be removed.
async fn remove(State(app): State<App>, Path(name): Path<String>) -> Answered {
    check_name(&name)?;
    app.runtime.remove_variable(&name).await?.map(text).ok_or_else(|| missing(&name))
}

/// `GET /api/environment/{key}/tags`.
async fn read_tags(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let found = find(&app, &name).await?.ok_or_else(|| missing(&name))?;
    Ok(json(&found.tags))
}

/// `PUT /api/environment/{key}/tags`: adds them to those it has.
async fn add_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let added = tags::add(&app, Variables::key(&name), &body).await;
    tags::answered(added, || missing(&name))
}

/// `DELETE /api/environment/{key}/tags`: takes those in the body away.
async fn remove_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let removed = tags::remove(&app, Variables::key(&name), &body).await;
    tags::answered(removed, || missing(&name))
}
