//! # Event handlers (docs/reference/rules/event-handlers.md)

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::Method;
use semel_engine::Handler;
use semel_model::{EventHandler, Tag, VIOLATIONS_MAX, Violation, unknown_in_handler};
use semel_runtime::{Class, DocumentRule, DocumentWrite, Failure, Handlers, Work, World};

use crate::answer::{Answered, empty, json};
use crate::app::App;
use crate::caller::Caller;
use crate::endpoint::Value::Flag;
use crate::endpoint::{Endpoint, delete, get, post, put};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::request::Body;
use crate::roles::{OPERATE, READ};
use crate::room::Rows;
use crate::tags;
use crate::unserved::NotServed;
use crate::warnings::{numbered, warned};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/event", OPERATE, register)
            .about("Registers event handlers")
            .takes_definition::<EventHandler>()
            .also(409),
        put("/api/event", OPERATE, replace)
            .about("Replaces an event handler")
            .takes_definition::<EventHandler>(),
        get("/api/event", READ, list).about("All event handlers").gives::<Vec<EventHandler>>(),
        get("/api/event/{name}", READ, of_event)
            .about("The handlers of the event of that name")
            .query("activeOnly", Flag(true))
            .gives::<Vec<EventHandler>>(),
        delete("/api/event/{name}", OPERATE, remove).about("Removes an event handler"),
        get("/api/event/handler/{name}", READ, read)
            .about("An event handler")
            .gives::<EventHandler>(),
        get("/api/event/{name}/tags", READ, read_tags)
            .about("Tags of an event handler")
            .gives::<Vec<Tag>>(),
        put("/api/event/{name}/tags", OPERATE, add_tags)
            .about("Adds tags to an event handler")
            .takes::<Vec<Tag>>(),
        delete("/api/event/{name}/tags", OPERATE, remove_tags)
            .about("Takes tags away from an event handler")
            .takes::<Vec<Tag>>(),
    ]
}

fn missing(name: &str) -> ApiError {
    ApiError::NotFound(format!("EventHandler with name {name} not found!"))
}

/// All rules at once, and whether its condition can be evaluated here.
fn violations(handler: &EventHandler) -> Vec<Violation> {
    let mut violations = handler.violations();
    if let Err(why) = Handler::new(handler.clone()) {
        violations.push(why);
    }
    violations
}

/// `POST /api/event`: one handler or a list of them, all or none; 409 when one exists.
async fn register(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let mut handlers: Vec<EventHandler> = body.one_or_more()?;
    if handlers.is_empty() {
        return Err(ApiError::Malformed("the list of event handlers is empty".to_owned()));
    }
    let is_one = handlers.len() == 1;
    let mut names = BTreeSet::new();
    let mut found = Vec::new();
    for (at, handler) in handlers.iter().enumerate() {
        let prefix = if is_one { String::new() } else { format!("[{at}].") };
        let placed = |it: Violation| Violation { path: format!("{prefix}{}", it.path), ..it };
        found.extend(violations(handler).into_iter().map(placed));
        if !names.insert(&handler.name) {
            let message = "is the name of another handler of the list";
            found.push(placed(Violation::new("name", message).with_value(&handler.name)));
        }
    }
    found.truncate(VIOLATIONS_MAX);
    if !found.is_empty() {
        return Err(ApiError::Invalid(found));
    }
    if caller.known().is_some() {
        for handler in &mut handlers {
            handler.created_by = Some(caller.author().to_owned());
        }
    }
    let count = handlers.len();
    let all = handlers.iter().enumerate();
    let mut warnings: Vec<_> =
        all.flat_map(|(at, handler)| numbered(at, count, handler.warnings())).collect();
    warnings.extend(body.unknown_members(unknown_in_handler));
    let write = |handler: &EventHandler| {
        let (key, body) = (Handlers::key(&handler.name), Handlers::body(handler)?);
        Ok(DocumentWrite { key, body: Some(body), rule: DocumentRule::MustBeAbsent })
    };
    let writes: Result<Vec<_>, Failure> = handlers.iter().map(write).collect();
    app.runtime.submit(Work::Documents(writes?), Class::Operation).await?;
    Ok(warned(empty(), &warnings))
}

/// `PUT /api/event`: one that exists.
async fn replace(State(app): State<App>, caller: Caller, body: Body) -> Answered {
    let mut handler: EventHandler = body.object()?;
    if caller.known().is_some() {
        handler.created_by = None; // Who made it is known, and stays.
    }
    let violations = violations(&handler);
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    let (name, mut warnings) = (handler.name.clone(), handler.warnings());
    warnings.extend(body.unknown_members(unknown_in_handler));
    match app.runtime.replace_handler(handler).await {
        Err(Failure::Missing(_)) => Err(missing(&name)),
        other => Ok(other.map(|()| warned(empty(), &warnings))?),
    }
}

/// `GET /api/event`.
async fn list(State(app): State<App>) -> Answered {
    let instead = "ask for those of one event: GET /api/event/{event}";
    Rows::of_all(&app, |world| world.handlers.all(), instead).await
}

/// `GET /api/event/{event}`: those that listen to it.
async fn of_event(State(app): State<App>, Path(event): Path<String>, params: Params) -> Answered {
    // No event has such a name: one has a type and a colon.
    NotServed::check(Method::GET, &format!("/api/event/{event}"))?;
    let active_only = params.flag("activeOnly", true)?;
    let read = move |world: &World| {
        let mut handlers = world.handlers.all()?;
        handlers.retain(|handler| handler.event == event && (handler.active || !active_only));
        Ok(handlers)
    };
    Rows::of_all(&app, read, "ask for them one by one: GET /api/event/handler/{name}").await
}

async fn named(app: &App, name: &str) -> Result<EventHandler, ApiError> {
    let wanted = name.to_owned();
    let found = app.runtime.blocking(move |world: &World| world.handlers.get(&wanted)).await?;
    found.ok_or_else(|| missing(name))
}

/// `GET /api/event/handler/{name}`.
async fn read(State(app): State<App>, Path(name): Path<String>) -> Answered {
    Ok(json(&named(&app, &name).await?))
}

/// `DELETE /api/event/{name}`: what is published from now on it does not hear.
async fn remove(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let key = Handlers::key(&name);
    let delete = DocumentWrite { key, body: None, rule: DocumentRule::MustExist };
    match app.runtime.submit(Work::Documents(vec![delete]), Class::Operation).await {
        Err(Failure::Missing(_)) => Err(missing(&name)),
        other => Ok(other.map(|_| empty())?),
    }
}

/// `GET /api/event/{name}/tags`.
async fn read_tags(State(app): State<App>, Path(name): Path<String>) -> Answered {
    Ok(json(&named(&app, &name).await?.tags()))
}

/// `PUT /api/event/{name}/tags`: adds them to those it has.
async fn add_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    let added = tags::add(&app, Handlers::key(&name), &body).await;
    tags::answered(added, || missing(&name))
}

/// `DELETE /api/event/{name}/tags`: takes those in the body away.
async fn remove_tags(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
    let removed = tags::remove(&app, Handlers::key(&name), &body).await;
    tags::answered(removed, || missing(&name))
}
