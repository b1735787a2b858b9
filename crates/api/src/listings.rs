//! # Listings of definitions: names, versions, the latest (docs/compatibility.md#definitions)

use std::collections::BTreeMap;

use axum::extract::State;
use semel_model::{RateLimitConfig, WorkflowDef, WorkflowDefSummary};
use semel_runtime::{Failure, World};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::params::Path;
use crate::roles::READ;
use crate::room::{Rows, room};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/metadata/workflow/names", READ, names)
            .about("The names of all workflows")
            .gives::<Vec<String>>(),
        get("/api/metadata/workflow/names-and-versions", READ, names_and_versions)
            .about("The versions of all workflows, by name")
            .gives::<BTreeMap<String, Vec<WorkflowDefSummary>>>(),
        get("/api/metadata/workflow/latest-versions", READ, latest_versions)
            .about("The latest version of each workflow")
            .gives::<Vec<WorkflowDef>>(),
        get("/api/metadata/workflow/{name}/rate-limit", READ, rate_limit)
            .about("The rate limit of the latest version; none is 404")
            .gives::<RateLimitConfig>(),
        get("/api/metadata/workflow/{name}/versions", READ, versions)
            .about("The versions of a workflow")
            .gives::<Vec<WorkflowDefSummary>>(),
    ]
}

/// How to ask for less than all of them.
const ONE_BY_ONE: &str = "ask for them one by one: GET /api/metadata/workflow/{name}?version=";

/// By name; versions ascend within each.
fn by_name(world: &World) -> Result<BTreeMap<String, Vec<WorkflowDef>>, Failure> {
    let mut found: BTreeMap<String, Vec<WorkflowDef>> = BTreeMap::new();
    for definition in world.definitions.workflows(None)? {
        found.entry(definition.name.clone()).or_default().push(definition);
    }
    Ok(found)
}

/// `GET /api/metadata/workflow/names`.
async fn names(State(app): State<App>) -> Answered {
    let read = |world: &World| Ok(by_name(world)?.into_keys().collect::<Vec<_>>());
    Rows::of_all(&app, read, ONE_BY_ONE).await
}

/// `GET /api/metadata/workflow/names-and-versions`.
async fn names_and_versions(State(app): State<App>) -> Answered {
    let room = room(&app).await?;
    let read = |world: &World| {
        let mut rows = Rows::groups(world.budget().answer());
        for (name, all) in by_name(world)? {
            rows.begin_group(&name)?;
            rows.fill(all.iter().map(WorkflowDef::summary))?;
        }
        Ok(rows)
    };
    app.runtime.blocking(read).await?.all_grouped(room, ONE_BY_ONE)
}

/// `GET /api/metadata/workflow/latest-versions`.
async fn latest_versions(State(app): State<App>) -> Answered {
    let read = |world: &World| {
        Ok(by_name(world)?.into_values().filter_map(|mut all| all.pop()).collect::<Vec<_>>())
    };
    Rows::of_all(&app, read, ONE_BY_ONE).await
}

/// `GET /api/metadata/workflow/{name}/versions`.
async fn versions(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let read = move |world: &World| {
        let found = world.definitions.workflows(Some(&name))?;
        Ok(found.iter().map(WorkflowDef::summary).collect::<Vec<_>>())
    };
    Rows::of_all(&app, read, ONE_BY_ONE).await
}

/// `GET /api/metadata/workflow/{name}/rate-limit`.
async fn rate_limit(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let found = app.runtime.world().definitions.workflow(&name, None)?;
    let limit = found.and_then(|found| found.rate_limit_config.clone());
    let none = || ApiError::NotFound(format!("workflow {name} has no rate limit"));
    Ok(json(&limit.ok_or_else(none)?))
}
