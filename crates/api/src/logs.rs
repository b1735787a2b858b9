//! # Logs: lines workers write about their tasks (docs/compatibility.md#logs)

use axum::extract::State;
use axum::response::Response;
use semel_engine::Mask;
use semel_model::{TaskExecLog, TaskResult, Timestamp};
use semel_runtime::{Class, Work};
use semel_store::{LogLine, Place};

use crate::answer::{Answered, empty, nothing, with_header};
use crate::app::App;
use crate::endpoint::{Endpoint, get, post};
use crate::error::ApiError;
use crate::params::Path;
use crate::request::Body;
use crate::roles::{FOLLOW, WORK};
use crate::room::{Rows, room};
use crate::task::place;

/// More lines of one report are dropped.
const LINES_PER_REPORT_MAX: usize = 10;

/// Longer lines are cut.
const LINE_CHARS_MAX: usize = 16_384;

const NOT_KEPT: &str = "no run has this task; the line was not kept";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/tasks/{id}/log", WORK, write).about("Writes a line about a task").takes_text(),
        get("/api/tasks/{id}/log", FOLLOW, read)
            .about("What was written about a task, oldest line first")
            .gives::<Vec<TaskExecLog>>()
            .or_nothing(),
    ]
}

/// How many of its lines a report loses: those over the limit, and all that come with the wish for more time.
pub(crate) fn dropped(result: &TaskResult) -> usize {
    let kept = if result.extend_lease { 0 } else { LINES_PER_REPORT_MAX };
    result.logs().len().saturating_sub(kept)
}

/// The answer, with what became of the lines that were dropped.
pub(crate) fn told(answer: Response, dropped: usize) -> Response {
    if dropped == 0 {
        return answer;
    }
    let why = format!(
        "{dropped} lines of logs were dropped: a report keeps {LINES_PER_REPORT_MAX}, one that asks for more time \
         none; send them to /api/tasks/ID/log"
    );
    with_header(answer, "x-semel-warning", &why)
}

/// What a report says besides its result. A line without a time is of now.
pub(crate) fn lines(
    place: Place,
    result: &TaskResult,
    mask: &Mask,
    now: Timestamp,
) -> Vec<LogLine> {
    let said = result.logs().iter().take(LINES_PER_REPORT_MAX);
    said.map(|said| {
        let created_at = if said.created_time.is_set() { said.created_time } else { now };
        line(place, said.log.as_deref().unwrap_or_default(), mask, created_at)
    })
    .collect()
}

fn line(place: Place, text: &str, mask: &Mask, created_at: Timestamp) -> LogLine {
    let text = mask.text(text).unwrap_or_else(|| text.to_owned());
    let line = text.chars().take(LINE_CHARS_MAX).map(|c| if c == '\0' { '\u{fffd}' } else { c });
    LogLine { place, created_at, line: line.collect() }
}

/// `POST /api/tasks/{id}/log`: a line about a task nobody knows is taken and not kept, and that is said.
async fn write(State(app): State<App>, Path(id): Path<String>, body: Body) -> Answered {
    let text = body.text()?;
    let Some(place) = place(&app, &id).await? else {
        return Ok(with_header(empty(), "x-semel-warning", NOT_KEPT));
    };
    let about = move |execution: &semel_engine::Execution| execution.task(place.task).cloned();
    let mask = app.runtime.mask(place.execution, about).await?;
    let line = line(place, &text, &mask, app.runtime.now());
    app.runtime.submit(Work::Log(line), Class::Report).await?;
    Ok(empty())
}

/// `GET /api/tasks/{id}/log`: 204 when there is none.
async fn read(State(app): State<App>, Path(id): Path<String>) -> Result<Response, ApiError> {
    let Some(place) = place(&app, &id).await? else { return Ok(nothing()) };
    let room = room(&app).await?;
    let lines = app.runtime.blocking(move |world| world.logs(place)).await?;
    if lines.is_empty() {
        return Ok(nothing());
    }
    let shown = |line: LogLine| TaskExecLog {
        log: Some(line.line),
        task_id: Some(line.place.task.to_string()),
        created_time: line.created_at,
    };
    let mut rows = Rows::new(app.runtime.world().budget().answer());
    rows.fill(lines.into_iter().map(shown))?;
    Ok(rows.list(room))
}
