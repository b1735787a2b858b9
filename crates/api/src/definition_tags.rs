//! # Tags of definitions (docs/compatibility.md#definitions)
//!
//! They belong to a name, not to a version. A definition may bring them inside it.

use std::collections::BTreeMap;

use axum::extract::State;
use semel_model::Tag;
use semel_runtime::{DocumentWrite, Failure, World};
use semel_store::{DocumentKey, Kind};
use serde_json::{Value, json};

use crate::answer::{self, Answered, empty};
use crate::app::App;
use crate::endpoint::{Endpoint, delete, get, post, put};
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::roles::{OPERATE, READ};
use crate::tags::{self, TagsInside};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/metadata/tags", READ, all)
            .about("Every tag of every definition")
            .gives::<Vec<Tag>>(),
        get("/api/metadata/workflow/{name}/tags", READ, of_workflow)
            .about("Tags of a workflow")
            .gives::<Vec<Tag>>(),
        post("/api/metadata/workflow/{name}/tags", OPERATE, add_to_workflow)
            .about("Adds a tag to a workflow")
            .takes::<Tag>(),
        put("/api/metadata/workflow/{name}/tags", OPERATE, set_of_workflow)
            .about("Sets the tags of a workflow")
            .takes::<Vec<Tag>>(),
        delete("/api/metadata/workflow/{name}/tags", OPERATE, remove_from_workflow)
            .about("Takes a tag away from a workflow")
            .takes::<Tag>(),
        get("/api/metadata/task/{name}/tags", READ, of_task)
            .about("Tags of a task definition")
            .gives::<Vec<Tag>>(),
        post("/api/metadata/task/{name}/tags", OPERATE, add_to_task)
            .about("Adds a tag to a task definition")
            .takes::<Tag>(),
        put("/api/metadata/task/{name}/tags", OPERATE, set_of_task)
            .about("Sets the tags of a task definition")
            .takes::<Vec<Tag>>(),
        delete("/api/metadata/task/{name}/tags", OPERATE, remove_from_task)
            .about("Takes a tag away from a task definition")
            .takes::<Tag>(),
    ]
}

/// The key of the tags of something that is registered.
fn key(app: &App, kind: Kind, name: String) -> Result<DocumentKey, ApiError> {
    let definitions = &app.runtime.world().definitions;
    let (is_there, what) = match kind {
        Kind::TaskTags => (definitions.task(&name)?.is_some(), "taskType"),
        _ => (definitions.workflow(&name, None)?.is_some(), "workflow"),
    };
    match is_there {
        true => Ok(DocumentKey { kind, name, version: 0 }),
        false => Err(ApiError::NotFound(format!("No such {what} found by name: {name}"))),
    }
}

/// The writes that give names the tags that stand inside their definitions.
pub(crate) fn writes<'a>(
    world: &World,
    kind: Kind,
    inside: impl Iterator<Item = (&'a str, Option<TagsInside>)>,
) -> Result<Vec<DocumentWrite>, Failure> {
    let mut by_name: BTreeMap<&str, Vec<TagsInside>> = BTreeMap::new();
    for (name, inside) in inside {
        if let Some(inside) = inside {
            by_name.entry(name).or_default().push(inside);
        }
    }
    let write = |(name, inside): (&str, Vec<TagsInside>)| {
        world.label_write(kind, name, |tags| tags::applied(tags, &inside)).transpose()
    };
    by_name.into_iter().filter_map(write).collect()
}

/// Tags as a definition shows them: those that its name has now. None: nobody asked, and the
/// definition came without any.
pub(crate) fn shown(
    world: &World,
    kind: Kind,
    name: &str,
    stored: Option<&Value>,
    is_asked: bool,
) -> Result<Option<Value>, Failure> {
    if stored.is_none() && !is_asked {
        return Ok(None);
    }
    if Tag::inside(stored).is_err() {
        return Ok(stored.cloned());
    }
    Ok(Some(json!(world.labels(kind, name)?)))
}

/// `GET /api/metadata/tags`.
async fn all(State(app): State<App>) -> Answered {
    Ok(answer::json(&app.runtime.blocking(|world: &World| world.all_labels()).await?))
}

async fn read(app: &App, kind: Kind, name: String) -> Answered {
    let key = key(app, kind, name)?;
    let read = move |world: &World| world.labels(kind, &key.name);
    Ok(answer::json(&app.runtime.blocking(read).await?))
}

async fn add(app: &App, kind: Kind, name: String, body: &Body) -> Answered {
    tags::add(app, key(app, kind, name)?, body).await?;
    Ok(empty())
}

async fn set(app: &App, kind: Kind, name: String, body: &Body) -> Answered {
    tags::set(app, key(app, kind, name)?, body).await?;
    Ok(empty())
}

async fn remove(app: &App, kind: Kind, name: String, body: &Body) -> Answered {
    tags::remove(app, key(app, kind, name)?, body).await?;
    Ok(empty())
}

macro_rules! of {
    ($kind:ident: $read:ident, $add:ident, $set:ident, $remove:ident) => {
        async fn $read(State(app): State<App>, Path(name): Path<String>) -> Answered {
            read(&app, Kind::$kind, name).await
        }

        async fn $add(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
            add(&app, Kind::$kind, name, &body).await
        }

        async fn $set(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
            set(&app, Kind::$kind, name, &body).await
        }

        async fn $remove(State(app): State<App>, Path(name): Path<String>, body: Body) -> Answered {
            remove(&app, Kind::$kind, name, &body).await
        }
    };
}

of!(WorkflowTags: of_workflow, add_to_workflow, set_of_workflow, remove_from_workflow);
of!(TaskTags: of_task, add_to_task, set_of_task, remove_from_task);
