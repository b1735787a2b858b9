//! # Search: contract section 4
//!
//! The index says which; what is shown of them is read from what is committed.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use axum::extract::State;
use axum::response::Response;
use semel_model::{ExecutionId, SearchResult, Task, TaskSummary, Workflow, WorkflowSummary};
use semel_runtime::{Failure, Snapshot, World};
use semel_store::search::{SearchError, TaskSearch, WorkflowField, WorkflowSearch};
use semel_store::{Place, StoreError};
use serde::Serialize;

use crate::answer::{Answered, json, with_header};
use crate::app::App;
use crate::endpoint::Value::{Flag, Number, Text};
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::params::Params;
use crate::roles::READ;
use crate::{summary, view};

/// Rows on a page, unless the caller says otherwise.
const SIZE: usize = 100;

/// A larger page is refused.
const SIZE_MAX: usize = 5_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let searches = |line: Endpoint| {
        line.query("start", Number(0))
            .query("size", Number(SIZE as i64))
            .query("sort", Text)
            .query("freeText", Text)
            .query("query", Text)
    };
    let runs = |line: Endpoint| {
        searches(line)
            .query("classifier", Text)
            .query("topLevelOnly", Flag(false))
            .query("idempotencyKey", Text)
    };
    vec![
        runs(get("/api/workflow/search", READ, workflows))
            .about("Finds runs")
            .gives::<SearchResult<WorkflowSummary>>(),
        runs(get("/api/workflow/search-v2", READ, full_workflows))
            .about("Finds runs and shows them without their tasks")
            .gives::<SearchResult<Workflow>>(),
        searches(get("/api/workflow/search-by-tasks", READ, workflows_by_tasks))
            .about("Finds runs by their tasks")
            .gives::<SearchResult<WorkflowSummary>>(),
        searches(get("/api/workflow/search-by-tasks-v2", READ, full_workflows_by_tasks))
            .about("Finds runs by their tasks and shows them without their tasks")
            .gives::<SearchResult<Workflow>>(),
        searches(get("/api/tasks/search", READ, tasks))
            .about("Finds tasks")
            .gives::<SearchResult<TaskSummary>>(),
        searches(get("/api/tasks/search-v2", READ, full_tasks))
            .about("Finds tasks and shows them as they are")
            .gives::<SearchResult<Task>>(),
    ]
}

pub(crate) fn refused(error: SearchError) -> ApiError {
    ApiError::Malformed(error.to_string())
}

/// `query`, `freeText`, `sort`, `start` and `size`, as they are written.
struct Asked<'a> {
    query: &'a str,
    free_text: &'a str,
    sort: &'a str,
    start: usize,
    size: usize,
}

impl<'a> Asked<'a> {
    fn of(params: &'a Params) -> Result<Self, ApiError> {
        let number = |name: &str, default: usize| -> Result<usize, ApiError> {
            let Some(said) = params.number::<i64>(name)? else { return Ok(default) };
            usize::try_from(said)
                .map_err(|_| ApiError::Malformed(format!("{name} must not be negative")))
        };
        let size = number("size", SIZE)?;
        if size > SIZE_MAX {
            let message = format!("size={size}: at most {SIZE_MAX} rows fit on a page");
            return Err(ApiError::Malformed(message));
        }
        Ok(Self {
            query: params.text("query").unwrap_or_default(),
            free_text: params.text("freeText").unwrap_or("*"),
            sort: params.text("sort").unwrap_or_default(),
            start: number("start", 0)?,
            size,
        })
    }
}

fn workflow_search(params: &Params) -> Result<WorkflowSearch, ApiError> {
    let asked = Asked::of(params)?;
    let mut search = WorkflowSearch::parse(asked.query, asked.free_text, asked.sort)
        .map_err(refused)?
        .page(asked.start, asked.size);
    if let Some(classifiers) = params.text("classifier") {
        let classifiers = classifiers.split(',').map(str::trim);
        search = search.and(WorkflowField::Classifier, classifiers).map_err(refused)?;
    }
    if let Some(key) = params.text("idempotencyKey") {
        search = search.and(WorkflowField::IdempotencyKey, [key]).map_err(refused)?;
    }
    if params.flag("topLevelOnly", false)? {
        search = search.and(WorkflowField::Parent, [""]).map_err(refused)?;
    }
    Ok(search)
}

fn task_search(params: &Params) -> Result<TaskSearch, ApiError> {
    let asked = Asked::of(params)?;
    let search = TaskSearch::parse(asked.query, asked.free_text, asked.sort).map_err(refused)?;
    Ok(search.page(asked.start, asked.size))
}

/// Runs as they are committed; one that is gone since it was found is left out.
pub(crate) async fn read_all(app: &App, ids: Vec<ExecutionId>) -> Result<Vec<Snapshot>, ApiError> {
    let read = move |world: &World| {
        let found = ids.into_iter().map(|id| readable(world, id));
        found.filter_map(Result::transpose).collect()
    };
    Ok(app.runtime.blocking(read).await?)
}

/// One run that is damaged does not keep the others from being shown.
fn readable(world: &World, id: ExecutionId) -> Result<Option<Snapshot>, Failure> {
    match world.read(id) {
        Err(Failure::Store(StoreError::Corrupt(what))) => {
            tracing::warn!(what, execution = %id, "a run that was found cannot be read");
            Ok(None)
        }
        found => found,
    }
}

/// Rows and their number. While the index is still being built there may be more.
fn page<T: Serialize>(total_hits: usize, results: Vec<T>, is_complete: bool) -> Response {
    let answer = json(&SearchResult { total_hits, results });
    match is_complete {
        true => answer,
        false => with_header(answer, "x-semel-warning", "the index is being built; ask again"),
    }
}

async fn found(app: &App, params: &Params) -> Result<(usize, Vec<Workflow>, bool), ApiError> {
    let found = app.runtime.search_workflows(workflow_search(params)?).await?;
    let runs = read_all(app, found.ids).await?;
    let runs = runs.iter().map(|run| view::workflow(run, false)).collect();
    Ok((found.total_hits, runs, found.is_complete))
}

/// `GET /api/workflow/search`.
async fn workflows(State(app): State<App>, params: Params) -> Answered {
    let (total, runs, is_complete) = found(&app, &params).await?;
    Ok(page(total, runs.into_iter().map(summary::workflow).collect(), is_complete))
}

/// `GET /api/workflow/search-v2`.
async fn full_workflows(State(app): State<App>, params: Params) -> Answered {
    let (total, runs, is_complete) = found(&app, &params).await?;
    Ok(page(total, runs, is_complete))
}

/// The runs of the tasks on this page, each once. As in Conductor the number is that of the tasks.
async fn found_by_tasks(
    app: &App,
    params: &Params,
) -> Result<(usize, Vec<Workflow>, bool), ApiError> {
    let found = app.runtime.search_tasks(task_search(params)?).await?;
    let mut ids: Vec<ExecutionId> = Vec::new();
    for Place { execution, .. } in found.ids {
        if !ids.contains(&execution) {
            ids.push(execution);
        }
    }
    let runs = read_all(app, ids).await?;
    let runs = runs.iter().map(|run| view::workflow(run, false)).collect();
    Ok((found.total_hits, runs, found.is_complete))
}

/// `GET /api/workflow/search-by-tasks`.
async fn workflows_by_tasks(State(app): State<App>, params: Params) -> Answered {
    let (total, runs, is_complete) = found_by_tasks(&app, &params).await?;
    Ok(page(total, runs.into_iter().map(summary::workflow).collect(), is_complete))
}

/// `GET /api/workflow/search-by-tasks-v2`.
async fn full_workflows_by_tasks(State(app): State<App>, params: Params) -> Answered {
    let (total, runs, is_complete) = found_by_tasks(&app, &params).await?;
    Ok(page(total, runs, is_complete))
}

async fn found_tasks(app: &App, params: &Params) -> Result<(usize, Vec<Task>, bool), ApiError> {
    let found = app.runtime.search_tasks(task_search(params)?).await?;
    let places = found.ids;
    let read = move |world: &World| {
        let mut runs: BTreeMap<ExecutionId, Option<Snapshot>> = BTreeMap::new();
        let mut tasks = Vec::new();
        for Place { execution, task } in places {
            let run = match runs.entry(execution) {
                Entry::Occupied(read) => read.into_mut(),
                Entry::Vacant(new) => new.insert(readable(world, execution)?),
            };
            tasks.extend(run.as_ref().and_then(|run| view::task(run, task)));
        }
        Ok(tasks)
    };
    Ok((found.total_hits, app.runtime.blocking(read).await?, found.is_complete))
}

/// `GET /api/tasks/search`.
async fn tasks(State(app): State<App>, params: Params) -> Answered {
    let (total, tasks, is_complete) = found_tasks(&app, &params).await?;
    Ok(page(total, tasks.into_iter().map(summary::task).collect(), is_complete))
}

/// `GET /api/tasks/search-v2`.
async fn full_tasks(State(app): State<App>, params: Params) -> Answered {
    let (total, tasks, is_complete) = found_tasks(&app, &params).await?;
    Ok(page(total, tasks, is_complete))
}
