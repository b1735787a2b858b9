//! # One task by its id, and the tasks of a run (docs/compatibility.md#tasks)

use axum::extract::State;
use axum::http::Method;
use semel_model::{SearchResult, Task, TaskId, TaskStatus};
use semel_store::Place;

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::endpoint::Value::{Number, Text, Texts};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::queues::waiting;
use crate::roles::{FOLLOW, OPERATE, READ, WORK};
use crate::room::{Rows, room};
use crate::unserved::NotServed;
use crate::view;
use crate::workflow::snapshot;

/// Tasks on a page of a run, unless the caller says otherwise.
const PAGE: usize = 15;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/tasks/{id}", FOLLOW, read).about("A task").gives::<Task>(),
        get("/api/workflow/{id}/tasks", READ, of_run)
            .about("Tasks of a run, a page of them")
            .query("start", Number(0))
            .query("count", Number(PAGE as i64))
            .query("status", Texts)
            .gives::<SearchResult<Task>>(),
        post("/api/tasks/queue/requeue/{type}", OPERATE, requeue)
            .about("How many tasks of a type wait; none is ever lost from its queue")
            .does(Does::Looks)
            .gives_text(),
        post("/api/tasks/{id}/ack", WORK, acknowledge)
            .about("Polling acknowledges; this says so to old clients")
            .does(Does::Looks)
            .query("workerid", Text)
            .gives::<bool>(),
        get("/api/tasks/queue/{type}/{id}", WORK, leave_queue)
            .about("Polling takes a task out of its queue; this says so to old clients"),
    ]
}

fn unknown(id: &str) -> ApiError {
    ApiError::NotFound(format!("Task not found for taskId: {id}"))
}

/// Where a task lies; none: no run has it.
pub(crate) async fn place(app: &App, id: &str) -> Result<Option<Place>, ApiError> {
    let Ok(task) = id.parse::<TaskId>() else { return Ok(None) };
    Ok(app.runtime.place_of_task(task).await?)
}

/// `GET /api/tasks/{id}`.
async fn read(State(app): State<App>, Path(id): Path<String>) -> Answered {
    if id.parse::<TaskId>().is_err() {
        NotServed::check(Method::GET, &format!("/api/tasks/{id}"))?;
    }
    let place = place(&app, &id).await?.ok_or_else(|| unknown(&id))?;
    let found = app.runtime.read(place.execution).await?.ok_or_else(|| unknown(&id))?;
    let mut task = view::task(&found, place.task).ok_or_else(|| unknown(&id))?;
    let stale = app.runtime.stale_reports(place.execution).await?;
    view::tell_stale(std::slice::from_mut(&mut task), stale);
    Ok(json(&task))
}

/// `GET /api/workflow/{id}/tasks`.
async fn of_run(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let (start, count) = page(&params)?;
    let statuses = statuses(&params)?;
    let is_wanted = |status| statuses.is_empty() || statuses.contains(&status);
    let run = snapshot(&app, &id).await?;
    let stale = app.runtime.stale_reports(run.execution.id()).await?;
    let room = room(&app).await?;
    let (total_hits, mut results) = view::page(&run, is_wanted, start, count);
    view::tell_stale(&mut results, stale);
    let mut rows = Rows::new(app.runtime.world().budget().answer());
    rows.fill(results)?;
    Ok(rows.page(total_hits, room))
}

fn page(params: &Params) -> Result<(usize, usize), ApiError> {
    let number = |name: &str, default: usize| -> Result<usize, ApiError> {
        let Some(said) = params.number::<i64>(name)? else { return Ok(default) };
        usize::try_from(said)
            .map_err(|_| ApiError::Malformed(format!("{name} must not be negative")))
    };
    Ok((number("start", 0)?, number("count", PAGE)?))
}

/// In any case, several at once or said several times.
fn statuses(params: &Params) -> Result<Vec<TaskStatus>, ApiError> {
    let said = params.texts("status").flat_map(|text| text.split(','));
    let said = said.map(str::trim).filter(|text| !text.is_empty());
    let parsed = said.map(|text| text.to_ascii_uppercase().parse::<TaskStatus>());
    parsed
        .collect::<Result<_, _>>()
        .map_err(|error| ApiError::Malformed(format!("status: {error}")))
}

/// `POST /api/tasks/queue/requeue/{type}`.
async fn requeue(State(app): State<App>, Path(kind): Path<String>) -> Answered {
    let waiting = waiting(&app).await?;
    let of_type = waiting.iter().filter(|(queue, _)| queue.task_type == kind);
    Ok(text(of_type.map(|(_, count)| count).sum::<usize>().to_string()))
}

/// `POST /api/tasks/{id}/ack`.
async fn acknowledge(Path(_): Path<String>) -> Answered {
    Ok(json(&true))
}

/// `GET /api/tasks/queue/{type}/{id}`.
async fn leave_queue(Path(_): Path<(String, String)>) -> Answered {
    Ok(empty())
}
