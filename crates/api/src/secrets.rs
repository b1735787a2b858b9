//! # Secrets (docs/compatibility.md#server-environment-secrets)
//!
//! A value is told to whoever asks for it by name, and in no listing.

use axum::extract::State;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use semel_model::{Payload, SECRET_NAME_CHARS_MAX, Tag, is_secret_name};
use semel_runtime::{AboutSecret, Secrets, World};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::endpoint::{Does, Endpoint, delete, get, post, put};
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::roles::{ADMINISTER, OPERATE};
use crate::tags;

/// Longer values are refused.
const VALUE_CHARS_MAX: usize = 65_535;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/secrets", OPERATE, names).about("Names of secrets").gives::<Vec<String>>(),
        post("/api/secrets", OPERATE, names)
            .about("Names of secrets")
            .does(Does::Looks)
            .gives::<Vec<String>>(),
        get("/api/secrets-v2", OPERATE, names_and_tags)
            .about("Names and tags of secrets")
            .gives::<Vec<Payload>>(),
        get("/api/secrets/v2", OPERATE, names_and_times)
            .about("Names of secrets, and when they were written")
            .gives::<Vec<Payload>>(),
        get("/api/secrets/clearLocalCache", OPERATE, clear_cache)
            .about("There is no cache to clear")
            .gives::<Payload>(),
        get("/api/secrets/clearRedisCache", OPERATE, clear_cache)
            .about("There is no cache to clear")
            .gives::<Payload>(),
        get("/api/secrets/{key}", ADMINISTER, read).about("The value of a secret").gives_text(),
        put("/api/secrets/{key}", ADMINISTER, write).about("Stores a secret").takes_text(),
        delete("/api/secrets/{key}", ADMINISTER, remove).about("Removes a secret"),
        get("/api/secrets/{key}/uses", OPERATE, uses)
            .about("The registered definitions whose runs may use a secret")
            .gives::<Vec<SecretUse>>(),
        get("/api/secrets/{key}/exists", OPERATE, exists)
            .about("Whether there is such a secret")
            .gives::<bool>(),
        get("/api/secrets/{key}/tags", OPERATE, read_tags)
            .about("Tags of a secret")
            .gives::<Vec<Tag>>(),
        put("/api/secrets/{key}/tags", ADMINISTER, add_tags)
            .about("Adds tags to a secret")
            .takes::<Vec<Tag>>(),
        delete("/api/secrets/{key}/tags", ADMINISTER, remove_tags)
            .about("Takes tags away from a secret")
            .takes::<Vec<Tag>>(),
    ]
}

/// Names that an expression can spell, of secrets and of environment values.
pub(crate) fn check_name(name: &str) -> Result<(), ApiError> {
    if is_secret_name(name) {
        return Ok(());
    }
    let message = format!(
        "a key may hold letters, digits, _ and - only, and at most {SECRET_NAME_CHARS_MAX} of them"
    );
    Err(ApiError::Malformed(message))
}

pub(crate) fn check_length(value: &str) -> Result<(), ApiError> {
    if value.chars().count() > VALUE_CHARS_MAX {
        let limit = format!("the value is longer than {VALUE_CHARS_MAX} characters");
        return Err(ApiError::Malformed(limit));
    }
    Ok(())
}

fn missing(name: &str) -> ApiError {
    ApiError::NotFound(format!("no such secret: {name}"))
}

async fn all(app: &App) -> Result<Vec<AboutSecret>, ApiError> {
    Ok(app.runtime.blocking(|world: &World| world.secrets.all()).await?)
}

async fn about(app: &App, name: &str) -> Result<Option<AboutSecret>, ApiError> {
    check_name(name)?;
    let name = name.to_owned();
    Ok(app.runtime.blocking(move |world: &World| world.secrets.about(&name)).await?)
}

/// `GET /api/secrets`, and POST for clients that ask so: names.
async fn names(State(app): State<App>) -> Answered {
    let names: Vec<String> = all(&app).await?.into_iter().map(|about| about.name).collect();
    Ok(json(&names))
}

/// `GET /api/secrets-v2`.
async fn names_and_tags(State(app): State<App>) -> Answered {
    let shown = |about: AboutSecret| json!({"name": about.name, "tags": about.tags});
    Ok(json(&all(&app).await?.into_iter().map(shown).collect::<Vec<Value>>()))
}

/// `GET /api/secrets/v2`: nothing of a value is shown, not even a part.
async fn names_and_times(State(app): State<App>) -> Answered {
    let shown = |about: AboutSecret| {
        json!({"name": about.name, "partial": "***", "created_at": about.created_at,
            "updated_at": about.updated_at})
    };
    Ok(json(&all(&app).await?.into_iter().map(shown).collect::<Vec<Value>>()))
}

/// `GET /api/secrets/{key}`: the value itself.
async fn read(State(app): State<App>, Path(name): Path<String>) -> Answered {
    check_name(&name)?;
    let wanted = name.clone();
    let found = app.runtime.blocking(move |world: &World| world.secrets.value(&wanted)).await?;
    let found = found.ok_or_else(|| missing(&name))?;
    Ok(text(found.expose_secret()))
}

/// `PUT /api/secrets/{key}`: the body is the value.
async fn write(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let value = body.text()?;
    if value.is_empty() {
        return Err(ApiError::Malformed("the value of a secret must not be empty".to_owned()));
    }
    check_length(&value)?;
    app.runtime.set_secret(&name, SecretString::from(value)).await?;
    Ok(empty())
}

/// `DELETE /api/secrets/{key}`.
async fn remove(State(app): State<App>, Path(name): Path<String>) -> Answered {
    check_name(&name)?;
    let before = app.runtime.remove(Secrets::key(&name)).await?;
    before.map(|_| empty()).ok_or_else(|| missing(&name))
}

/// A registered definition whose runs may use a secret.
#[derive(Serialize, JsonSchema)]
struct SecretUse {
    /// The name of a workflow; else `task` names a task definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// It is in the list `secrets`, or in `runtimeMetadata` of the task definition; otherwise it is
    /// only named in an expression.
    listed: bool,
}

/// `GET /api/secrets/{key}/uses`.
async fn uses(State(app): State<App>, Path(name): Path<String>) -> Answered {
    check_name(&name)?;
    let found = app.runtime.blocking(move |world: &World| {
        let workflows = world.definitions.workflows(None)?.into_iter();
        let workflows = workflows.filter(|it| it.secrets_allowed().contains(&name));
        let mut uses: Vec<SecretUse> = workflows
            .map(|it| SecretUse {
                workflow: Some(it.name.clone()),
                version: Some(it.version),
                task: None,
                listed: it.secrets.is_some(),
            })
            .collect();
        let tasks = world.definitions.tasks()?.into_iter();
        uses.extend(tasks.filter_map(|it| {
            let listed = it.runtime_metadata().contains(&name);
            let is_used = listed || it.secrets_named().contains(&name);
            is_used.then_some(SecretUse {
                workflow: None,
                version: None,
                task: Some(it.name),
                listed,
            })
        }));
        Ok(uses)
    });
    Ok(json(&found.await?))
}

/// `GET /api/secrets/{key}/exists`.
async fn exists(State(app): State<App>, Path(name): Path<String>) -> Answered {
    Ok(json(&about(&app, &name).await?.is_some()))
}

/// `GET /api/secrets/{key}/tags`.
async fn read_tags(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let found = about(&app, &name).await?.ok_or_else(|| missing(&name))?;
    Ok(json(&found.tags))
}

/// `PUT /api/secrets/{key}/tags`: adds them to those it has.
async fn add_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let added = tags::add(&app, Secrets::key(&name), &body).await;
    tags::answered(added, || missing(&name))
}

/// `DELETE /api/secrets/{key}/tags`: takes those in the body away.
async fn remove_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    check_name(&name)?;
    let removed = tags::remove(&app, Secrets::key(&name), &body).await;
    tags::answered(removed, || missing(&name))
}

/// `GET /api/secrets/clearLocalCache`: there is no cache to clear.
async fn clear_cache() -> Answered {
    Ok(json(&json!({})))
}
