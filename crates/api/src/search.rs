//! # Search (docs/compatibility.md#search)
//!
//! The index says which; what is shown of them is read from what is committed.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::response::Response;
use semel_model::{ExecutionId, SearchResult, Task, TaskSummary, Workflow, WorkflowSummary};
use semel_runtime::{Failure, Found, Snapshot, World};
use semel_store::search::{SearchError, TaskSearch, WorkflowField, WorkflowSearch};
use semel_store::{Place, StoreError};
use serde::Serialize;

use crate::answer::{Answered, with_header};
use crate::app::App;
use crate::endpoint::Value::{Flag, Number, Text};
use crate::endpoint::{Endpoint, get};
use crate::error::ApiError;
use crate::params::Params;
use crate::roles::READ;
use crate::room::{Rows, room};
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

/// One run that is damaged does not keep the others from being shown.
fn readable(world: &World, id: ExecutionId, with_tasks: bool) -> Result<Option<Snapshot>, Failure> {
    match if with_tasks { world.read(id) } else { world.glance(id) } {
        Err(Failure::Store(StoreError::Corrupt(what))) => {
            tracing::warn!(what, execution = %id, "a run that was found cannot be read");
            Ok(None)
        }
        found => found,
    }
}

/// Adds runs as they are committed until there is no room; one that is gone since it was found is left out.
pub(crate) fn fill_runs<T: Serialize>(
    world: &World,
    rows: &mut Rows,
    ids: impl IntoIterator<Item = ExecutionId>,
    with_tasks: bool,
    show: impl Fn(Workflow) -> T,
) -> Result<(), Failure> {
    for id in ids {
        let Some(run) = readable(world, id, with_tasks)? else { continue };
        if !rows.push(&show(view::workflow(&run, with_tasks)))? {
            break;
        }
    }
    Ok(())
}

/// Rows and their number. While the index is still being built there may be more.
fn complete(answer: Response, is_complete: bool) -> Response {
    match is_complete {
        true => answer,
        false => with_header(answer, "x-semel-warning", "the index is being built; ask again"),
    }
}

/// What was found, on one page: each run without its tasks, as `show` has it.
async fn runs<T: Serialize + 'static>(
    app: &App,
    found: Found<ExecutionId>,
    show: fn(Workflow) -> T,
) -> Answered {
    let room = room(app).await?;
    let ids = found.ids;
    let read = move |world: &World| {
        let mut rows = Rows::new(world.budget().answer());
        fill_runs(world, &mut rows, ids, false, show)?;
        Ok(rows)
    };
    let rows = app.runtime.blocking(read).await?;
    Ok(complete(rows.page(found.total_hits, room), found.is_complete))
}

fn as_it_is<T>(row: T) -> T {
    row
}

/// `GET /api/workflow/search`.
async fn workflows(State(app): State<App>, params: Params) -> Answered {
    let found = app.runtime.search_workflows(workflow_search(&params)?).await?;
    runs(&app, found, summary::workflow).await
}

/// `GET /api/workflow/search-v2`.
async fn full_workflows(State(app): State<App>, params: Params) -> Answered {
    let found = app.runtime.search_workflows(workflow_search(&params)?).await?;
    runs(&app, found, as_it_is).await
}

/// The runs of the tasks on this page, each once. As in Conductor the number is that of the tasks.
async fn found_by_tasks(app: &App, params: &Params) -> Result<Found<ExecutionId>, ApiError> {
    let found = app.runtime.search_tasks(task_search(params)?).await?;
    let mut seen = BTreeSet::new();
    let ids = found.ids.into_iter().map(|place| place.execution);
    let ids = ids.filter(|id| seen.insert(*id)).collect();
    Ok(Found { total_hits: found.total_hits, ids, is_complete: found.is_complete })
}

/// `GET /api/workflow/search-by-tasks`.
async fn workflows_by_tasks(State(app): State<App>, params: Params) -> Answered {
    let found = found_by_tasks(&app, &params).await?;
    runs(&app, found, summary::workflow).await
}

/// `GET /api/workflow/search-by-tasks-v2`.
async fn full_workflows_by_tasks(State(app): State<App>, params: Params) -> Answered {
    let found = found_by_tasks(&app, &params).await?;
    runs(&app, found, as_it_is).await
}

/// What was found, on one page, as `show` has it. Tasks of one run are mostly next to each other: it is
/// read once for them, and only one run is in memory at a time.
async fn tasks_of<T: Serialize + 'static>(
    app: &App,
    params: &Params,
    show: fn(Task) -> T,
) -> Answered {
    let found = app.runtime.search_tasks(task_search(params)?).await?;
    let room = room(app).await?;
    let places = found.ids;
    let read = move |world: &World| {
        let mut rows = Rows::new(world.budget().answer());
        let mut last: Option<(ExecutionId, Option<Snapshot>)> = None;
        for Place { execution, task } in places {
            if last.as_ref().is_none_or(|(id, _)| *id != execution) {
                last = Some((execution, readable(world, execution, true)?));
            }
            let run = last.as_ref().and_then(|(_, run)| run.as_ref());
            let Some(task) = run.and_then(|run| view::task(run, task)) else { continue };
            if !rows.push(&show(task))? {
                break;
            }
        }
        Ok(rows)
    };
    let rows = app.runtime.blocking(read).await?;
    Ok(complete(rows.page(found.total_hits, room), found.is_complete))
}

/// `GET /api/tasks/search`.
async fn tasks(State(app): State<App>, params: Params) -> Answered {
    tasks_of(&app, &params, summary::task).await
}

/// `GET /api/tasks/search-v2`.
async fn full_tasks(State(app): State<App>, params: Params) -> Answered {
    tasks_of(&app, &params, as_it_is).await
}
