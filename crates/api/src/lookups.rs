//! # Look-ups: runs by name and by correlation id (docs/compatibility.md#executions)

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use schemars::JsonSchema;
use semel_model::{ExecutionId, Workflow};
use semel_runtime::World;
use semel_store::search::{WorkflowField, WorkflowSearch};
use serde::Deserialize;

use crate::answer::{Answered, json};
use crate::app::App;
use crate::endpoint::Value::{Flag, Number, Text};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::request::Body;
use crate::roles::READ;
use crate::room::{Rows, room};
use crate::search::{fill_runs, refused};

/// As many runs as one request tells of.
const FOUND_MAX: usize = 1_000;

/// As many ids as one list of what is running holds.
const RUNNING_MAX: usize = 100_000;

/// As many correlation ids as one request may name.
const IDS_MAX: usize = 1_000;
/// How to ask for less.
const LESS: &str = "ask without includeTasks, for fewer ids, or for pages by \
    GET /api/workflow/search-v2?query=correlationId%3DC&start=0&size=100";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let correlated = |line: Endpoint| {
        line.query("includeClosed", Flag(false)).query("includeTasks", Flag(false))
    };
    vec![
        get("/api/workflow/running/{name}", READ, running)
            .about("Ids of running runs of a version, or of those begun within a time")
            .query("version", Number(1))
            .query("startTime", Text)
            .query("endTime", Text)
            .gives::<Vec<String>>(),
        correlated(get("/api/workflow/{id}/correlated/{correlation}", READ, correlated_one))
            .about("Runs of the workflow of that name with a correlation id")
            .gives::<Vec<Workflow>>(),
        get("/api/workflow/{id}/correlated", READ, correlated_none)
            .about("One client asks like this and loses its ids on the way: nothing is found")
            .gives::<BTreeMap<String, Vec<Workflow>>>(),
        correlated(post("/api/workflow/{id}/correlated", READ, correlated_many))
            .about("Runs of the workflow of that name by correlation id")
            .does(Does::Looks)
            .takes::<Vec<String>>()
            .gives::<BTreeMap<String, Vec<Workflow>>>(),
        correlated(post("/api/workflow/correlated/batch", READ, correlated_batch))
            .about("Runs of several workflows by correlation id")
            .does(Does::Looks)
            .takes::<Batch>()
            .gives::<BTreeMap<String, Vec<Workflow>>>(),
    ]
}

/// `GET /api/workflow/running/{name}`: of version 1 unless another is named, as in Conductor.
async fn running(State(app): State<App>, Path(name): Path<String>, params: Params) -> Answered {
    let version: i32 = params.number("version")?.unwrap_or(1);
    let times: (Option<i64>, Option<i64>) =
        (params.number("startTime")?, params.number("endTime")?);
    let query = match times {
        (Some(from), Some(to)) => {
            format!("startTime>{} AND startTime<{}", from.saturating_sub(1), to.saturating_add(1))
        }
        _ => format!("status = RUNNING AND version = {version}"),
    };
    let search = WorkflowSearch::parse(&query, "*", "startTime:ASC")
        .and_then(|search| search.and(WorkflowField::Name, [name.as_str()]))
        .map_err(refused)?;
    let found = app.runtime.search_workflows(search.page(0, RUNNING_MAX)).await?;
    Ok(json(&found.ids.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

struct Wanted {
    closed_too: bool,
    with_tasks: bool,
}

impl Wanted {
    fn of(params: &Params) -> Result<Self, ApiError> {
        Ok(Self {
            closed_too: params.flag("includeClosed", false)?,
            with_tasks: params.flag("includeTasks", false)?,
        })
    }
}

/// Without closed ones only what is RUNNING: paused runs are left out too, as in Conductor.
async fn correlated(
    app: &App,
    names: &[String],
    correlation: &str,
    wanted: &Wanted,
) -> Result<Vec<ExecutionId>, ApiError> {
    let query = if wanted.closed_too { "" } else { "status = RUNNING" };
    let search = WorkflowSearch::parse(query, "*", "startTime:ASC")
        .and_then(|search| search.and(WorkflowField::Correlation, [correlation]))
        .and_then(|search| search.and(WorkflowField::Name, names.iter().map(String::as_str)))
        .map_err(refused)?;
    Ok(app.runtime.search_workflows(search.page(0, FOUND_MAX)).await?.ids)
}

/// `GET /api/workflow/{name}/correlated/{correlationId}`.
async fn correlated_one(
    State(app): State<App>,
    Path((name, correlation)): Path<(String, String)>,
    params: Params,
) -> Answered {
    let wanted = Wanted::of(&params)?;
    let ids = correlated(&app, &[name], &correlation, &wanted).await?;
    let room = room(&app).await?;
    let read = move |world: &World| {
        let mut rows = Rows::new(world.budget().answer());
        fill_runs(world, &mut rows, ids, wanted.with_tasks, |run| run)?;
        Ok(rows)
    };
    app.runtime.blocking(read).await?.all(room, LESS)
}

async fn by_correlation(
    app: &App,
    names: &[String],
    correlations: Vec<String>,
    params: &Params,
) -> Answered {
    if correlations.len() > IDS_MAX {
        let count = correlations.len();
        let message = format!("{count} correlation ids are more than the limit of {IDS_MAX}");
        return Err(ApiError::Malformed(message));
    }
    let wanted = Wanted::of(params)?;
    let (mut found, mut count) = (Vec::new(), 0);
    for correlation in correlations.into_iter().collect::<BTreeSet<_>>() {
        let runs = correlated(app, names, &correlation, &wanted).await?;
        count += runs.len();
        if count > FOUND_MAX {
            let message =
                format!("more than {FOUND_MAX} runs have these ids; ask for fewer at once");
            return Err(ApiError::Malformed(message));
        }
        found.push((correlation, runs));
    }
    let room = room(app).await?;
    let read = move |world: &World| {
        let mut rows = Rows::groups(world.budget().answer());
        for (correlation, ids) in found {
            rows.begin_group(&correlation)?;
            fill_runs(world, &mut rows, ids, wanted.with_tasks, |run| run)?;
        }
        Ok(rows)
    };
    app.runtime.blocking(read).await?.all_grouped(room, LESS)
}

/// `POST /api/workflow/{name}/correlated`: every id that was asked for is a key.
async fn correlated_many(
    State(app): State<App>,
    Path(name): Path<String>,
    params: Params,
    body: Body,
) -> Answered {
    by_correlation(&app, &[name], body.texts()?, &params).await
}

/// `GET /api/workflow/{name}/correlated`.
async fn correlated_none(Path(_): Path<String>) -> Answered {
    Ok(json(&BTreeMap::<String, Vec<Workflow>>::new()))
}

#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
struct Batch {
    correlation_ids: Vec<String>,
    workflow_names: Vec<String>,
}

/// `POST /api/workflow/correlated/batch`.
async fn correlated_batch(State(app): State<App>, params: Params, body: Body) -> Answered {
    let Batch { correlation_ids, workflow_names } = body.object()?;
    if workflow_names.is_empty() {
        return Err(ApiError::Malformed("workflowNames is empty: name the workflows".to_owned()));
    }
    by_correlation(&app, &workflow_names, correlation_ids, &params).await
}
