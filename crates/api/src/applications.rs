//! # Applications and their keys (docs/compatibility.md#identity)
//!
//! A secret is in the answer that made its key, and in no other.

use axum::extract::State;
use schemars::JsonSchema;
use secrecy::ExposeSecret as _;
use semel_engine::Rejection;
use semel_model::{Payload, Tag};
use semel_runtime::{AccessKey, Application, Applications, Failure, World};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::{Endpoint, delete, get, post, put};
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::roles::{self, ADMINISTER, Role};
use crate::tags;

const NAME_CHARS_MAX: usize = 100;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/api/applications/{application}";
    let mut all = vec![
        get("/api/applications", ADMINISTER, list)
            .about("All applications")
            .gives::<Vec<Payload>>(),
        post("/api/applications", ADMINISTER, create)
            .about("Makes an application, without roles and keys")
            .takes::<Named>()
            .gives::<Payload>(),
        get("/api/applications/key/{accessKey}", ADMINISTER, by_key)
            .about("The application that has this key")
            .gives::<Payload>(),
        get(one, ADMINISTER, read).about("An application").gives::<Payload>(),
        put(one, ADMINISTER, rename)
            .about("Renames an application")
            .takes::<Named>()
            .gives::<Payload>(),
        delete(one, ADMINISTER, remove)
            .about("Removes an application and its keys")
            .gives::<Payload>(),
        post("/api/applications/{application}/roles/{role}", ADMINISTER, grant)
            .about("Gives an application a role")
            .gives::<Payload>(),
        delete("/api/applications/{application}/roles/{role}", ADMINISTER, revoke)
            .about("Takes a role away from an application")
            .gives::<Payload>(),
    ];
    all.extend(key_endpoints());
    all
}

fn key_endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/applications/{application}/accessKeys", ADMINISTER, keys)
            .about("The keys of an application, without their secrets")
            .gives::<Vec<Payload>>(),
        post("/api/applications/{application}/accessKeys", ADMINISTER, create_key)
            .about("Makes a key and tells its secret, this once")
            .confides()
            .gives::<Payload>(),
        delete("/api/applications/{application}/accessKeys/{accessKey}", ADMINISTER, remove_key)
            .about("Removes a key; its tokens are worth nothing from then on")
            .gives::<Payload>(),
        post("/api/applications/{application}/accessKeys/{accessKey}/status", ADMINISTER, toggle)
            .about("Switches a key off, or on again")
            .gives::<Payload>(),
        get("/api/applications/{application}/tags", ADMINISTER, read_tags)
            .about("Tags of an application")
            .gives::<Vec<Tag>>(),
        put("/api/applications/{application}/tags", ADMINISTER, add_tags)
            .about("Adds tags to an application")
            .takes::<Vec<Tag>>(),
        delete("/api/applications/{application}/tags", ADMINISTER, remove_tags)
            .about("Takes tags away from an application")
            .takes::<Vec<Tag>>(),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

impl Named {
    /// Names stand in journals and log lines.
    fn checked(self) -> Result<String, ApiError> {
        let name = self.name.trim();
        let is_fine = !name.is_empty()
            && name.chars().count() <= NAME_CHARS_MAX
            && !name.chars().any(char::is_control);
        let why = || {
            let limit = NAME_CHARS_MAX;
            ApiError::Malformed(format!("name must be 1 to {limit} printable characters"))
        };
        if is_fine { Ok(name.to_owned()) } else { Err(why()) }
    }
}

fn missing(id: &str) -> ApiError {
    ApiError::NotFound(format!("no such application: {id}"))
}

fn missing_key(key: &str) -> Failure {
    Rejection::NotFound(format!("this application has no such key: {key}")).into()
}

fn shown(application: &Application) -> Value {
    let roles = roles::shown(application);
    json!({"id": application.id, "name": application.name, "createdBy": application.created_by,
        "createTime": application.created_at, "updatedBy": application.updated_by,
        "updateTime": application.updated_at, "tags": application.tags, "roles": roles})
}

fn shown_key(key: &AccessKey) -> Value {
    let status = if key.is_active { "ACTIVE" } else { "INACTIVE" };
    json!({"id": key.id, "createdAt": key.created_at, "status": status})
}

pub(crate) async fn find(app: &App, id: &str) -> Result<Application, ApiError> {
    let wanted = id.to_owned();
    let found = app.runtime.blocking(move |world: &World| world.applications.get(&wanted)).await?;
    found.ok_or_else(|| missing(id))
}

async fn change(
    app: &App,
    id: &str,
    caller: &Caller,
    change: impl Fn(&mut Application) -> Result<(), Failure> + Send + Sync + 'static,
) -> Result<Application, ApiError> {
    let changed = app.runtime.change_application(id, caller.author(), change).await;
    changed.map_err(|failure| gone(failure, id))
}

fn gone(failure: Failure, id: &str) -> ApiError {
    if matches!(failure, Failure::Missing(_)) { missing(id) } else { failure.into() }
}

/// `GET /api/applications`.
async fn list(State(app): State<App>) -> Answered {
    let all = app.runtime.blocking(|world: &World| world.applications.all()).await?;
    Ok(json(&all.iter().map(shown).collect::<Vec<_>>()))
}

/// `POST /api/applications`.
async fn create(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let name = body.object::<Named>()?.checked()?;
    Ok(json(&shown(&app.runtime.add_application(&name, caller.author()).await?)))
}

/// `GET /api/applications/key/{accessKey}`.
async fn by_key(State(app): State<App>, Path(key): Path<String>) -> Answered {
    let all = app.runtime.blocking(|world: &World| world.applications.all()).await?;
    let found = all.iter().find(|application| application.keys.iter().any(|it| it.id == key));
    let missing = || ApiError::NotFound(format!("no application has this key: {key}"));
    Ok(json(&shown(found.ok_or_else(missing)?)))
}

/// `GET /api/applications/{application}`.
async fn read(State(app): State<App>, Path(id): Path<String>) -> Answered {
    Ok(json(&shown(&find(&app, &id).await?)))
}

/// `PUT /api/applications/{application}`.
async fn rename(
    State(app): State<App>,
    Path(id): Path<String>,
    caller: Caller,
    body: Body,
) -> Answered {
    let name = body.object::<Named>()?.checked()?;
    let rename = move |application: &mut Application| {
        application.name.clone_from(&name);
        Ok(())
    };
    Ok(json(&shown(&change(&app, &id, &caller, rename).await?)))
}

/// `DELETE /api/applications/{application}`.
async fn remove(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let before = app.runtime.remove(Applications::key(&id)).await?;
    before.map(|_| json(&json!({}))).ok_or_else(|| missing(&id))
}

fn role(text: &str) -> Result<(Role, &'static str), ApiError> {
    roles::read(text).ok_or_else(|| {
        let known = "ADMIN, USER, WORKER, METADATA_MANAGER, WORKFLOW_MANAGER, METADATA_API, \
                     UNRESTRICTED_WORKER, USER_READ_ONLY, APPLICATION_MANAGER, \
                     APPLICATION_CREATOR, PROMPT_MANAGER, or admin, reader, worker, operator";
        ApiError::Malformed(format!("role must be one of {known}, not {text}"))
    })
}

/// `POST /api/applications/{application}/roles/{role}`.
async fn grant(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let (role, name) = role(&name)?;
    let grant = move |application: &mut Application| {
        roles::grant(application, role, name);
        Ok(())
    };
    change(&app, &id, &caller, grant).await?;
    Ok(json(&json!({})))
}

/// `DELETE /api/applications/{application}/roles/{role}`.
async fn revoke(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let (role, name) = role(&name)?;
    let revoke = move |application: &mut Application| {
        roles::revoke(application, role, name);
        Ok(())
    };
    change(&app, &id, &caller, revoke).await?;
    Ok(json(&json!({})))
}

/// `GET /api/applications/{application}/accessKeys`.
async fn keys(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let found = find(&app, &id).await?;
    Ok(json(&found.keys.iter().map(shown_key).collect::<Vec<_>>()))
}

/// `POST /api/applications/{application}/accessKeys`.
async fn create_key(State(app): State<App>, Path(id): Path<String>, caller: Caller) -> Answered {
    let made = app.runtime.add_access_key(&id, caller.author()).await;
    let made = made.map_err(|failure| gone(failure, &id))?;
    Ok(json(&json!({"id": made.id, "secret": made.secret.expose_secret()})))
}

/// `DELETE /api/applications/{application}/accessKeys/{accessKey}`.
async fn remove_key(
    State(app): State<App>,
    Path((id, key)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let remove = move |application: &mut Application| {
        let before = application.keys.len();
        application.keys.retain(|it| it.id != key);
        if application.keys.len() < before { Ok(()) } else { Err(missing_key(&key)) }
    };
    change(&app, &id, &caller, remove).await?;
    Ok(json(&json!({})))
}

/// `POST /api/applications/{application}/accessKeys/{accessKey}/status`.
async fn toggle(
    State(app): State<App>,
    Path((id, key)): Path<(String, String)>,
    caller: Caller,
) -> Answered {
    let wanted = key.clone();
    let toggle = move |application: &mut Application| {
        let mut keys = application.keys.iter_mut();
        let found = keys.find(|it| it.id == wanted).ok_or_else(|| missing_key(&wanted))?;
        found.is_active = !found.is_active;
        Ok(())
    };
    let changed = change(&app, &id, &caller, toggle).await?;
    let found = changed.keys.iter().find(|it| it.id == key);
    Ok(json(&shown_key(found.ok_or_else(|| missing_key(&key))?)))
}

/// `GET /api/applications/{application}/tags`.
async fn read_tags(State(app): State<App>, Path(id): Path<String>) -> Answered {
    Ok(json(&find(&app, &id).await?.tags))
}

/// `PUT /api/applications/{application}/tags`: adds them to those it has.
async fn add_tags(State(app): State<App>, Path(id): Path<String>, body: Body) -> Answered {
    let added = tags::add(&app, Applications::key(&id), &body).await;
    tags::answered(added, || missing(&id))
}

/// `DELETE /api/applications/{application}/tags`: takes those in the body away.
async fn remove_tags(State(app): State<App>, Path(id): Path<String>, body: Body) -> Answered {
    let removed = tags::remove(&app, Applications::key(&id), &body).await;
    tags::answered(removed, || missing(&id))
}
