//! # Environment values: contract section 2.7

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use semel_runtime::{Variable, Variables, World};
use serde_json::{Value, json};

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::secrets::{check_length, check_name};
use crate::tags;

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/environment", get(list))
        .route("/environment/{key}", get(read).put(write).delete(remove))
        .route("/environment/{key}/tags", get(read_tags).put(add_tags).delete(remove_tags))
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

/// `DELETE /api/environment/{key}`: tells what it was, if it was stored.
async fn remove(State(app): State<App>, Path(name): Path<String>) -> Answered {
    check_name(&name)?;
    Ok(app.runtime.remove_variable(&name).await?.map_or_else(empty, text))
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
