//! # Listings of definitions: names, versions, the latest (docs/compatibility.md#definitions)

use std::collections::BTreeMap;

use axum::extract::State;
use semel_model::{RateLimitConfig, WorkflowDef, WorkflowDefSummary};

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::params::Path;
use crate::roles::READ;

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

async fn all(app: &App, name: Option<String>) -> Result<Vec<WorkflowDef>, ApiError> {
    let read = move |world: &semel_runtime::World| world.definitions.workflows(name.as_deref());
    Ok(app.runtime.blocking(read).await?)
}

/// By name; versions ascend within each.
async fn by_name(app: &App) -> Result<BTreeMap<String, Vec<WorkflowDef>>, ApiError> {
    let mut found: BTreeMap<String, Vec<WorkflowDef>> = BTreeMap::new();
    for definition in all(app, None).await? {
        found.entry(definition.name.clone()).or_default().push(definition);
    }
    Ok(found)
}

/// `GET /api/metadata/workflow/names`.
async fn names(State(app): State<App>) -> Answered {
    Ok(json(&by_name(&app).await?.into_keys().collect::<Vec<_>>()))
}

/// `GET /api/metadata/workflow/names-and-versions`.
async fn names_and_versions(State(app): State<App>) -> Answered {
    let summaries = |found: Vec<WorkflowDef>| found.iter().map(WorkflowDef::summary).collect();
    let found = by_name(&app).await?.into_iter().map(|(name, all)| (name, summaries(all)));
    Ok(json(&found.collect::<BTreeMap<String, Vec<WorkflowDefSummary>>>()))
}

/// `GET /api/metadata/workflow/latest-versions`.
async fn latest_versions(State(app): State<App>) -> Answered {
    let latest = by_name(&app).await?.into_values().filter_map(|mut all| all.pop());
    Ok(json(&latest.collect::<Vec<_>>()))
}

/// `GET /api/metadata/workflow/{name}/versions`.
async fn versions(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let found = all(&app, Some(name)).await?;
    Ok(json(&found.iter().map(WorkflowDef::summary).collect::<Vec<_>>()))
}

/// `GET /api/metadata/workflow/{name}/rate-limit`.
async fn rate_limit(State(app): State<App>, Path(name): Path<String>) -> Answered {
    let found = app.runtime.world().definitions.workflow(&name, None)?;
    let limit = found.and_then(|found| found.rate_limit_config.clone());
    let none = || ApiError::NotFound(format!("workflow {name} has no rate limit"));
    Ok(json(&limit.ok_or_else(none)?))
}
