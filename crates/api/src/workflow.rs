//! # Executions (docs/compatibility.md#executions)

use axum::extract::State;
use axum::http::Method;
use axum::response::Response;
use semel_model::{ExecutionId, Explanation, Payload, Workflow, WorkflowState};
use semel_runtime::{Class, Failure, Snapshot, Work, World};
use serde_json::{Map, json};

use crate::answer::{Answered, empty, json, with_header};
use crate::app::App;
use crate::decisions::decisions;
use crate::endpoint::Value::{Flag, Number};
use crate::endpoint::{Does, Endpoint, delete, get, post};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::roles::{OPERATE, READ};
use crate::room::{Rows, room, room_for, whole};
use crate::seen::gone;
use crate::unserved::NotServed;
use crate::view;

/// A run as it is shown is larger than in memory, by this factor at most: every task tells its step too.
const SHOWN_TIMES: u64 = 4;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/workflow/{id}", READ, read)
            .about("A run")
            .query("includeTasks", Flag(true))
            .gives::<Workflow>(),
        get("/api/workflow/{id}/status", READ, status)
            .about("The status of a run")
            .query("includeOutput", Flag(false))
            .query("includeVariables", Flag(false))
            .gives::<WorkflowState>(),
        get("/api/workflow/{id}/explain", READ, explain)
            .about("Why a run waits, or how it ended, in kinds and in words")
            .gives::<Explanation>(),
        get("/api/workflow/{id}/log", READ, log)
            .about("The journal of a run, oldest entry first")
            .query("from", Number(1))
            .gives::<Vec<Payload>>(),
        post("/api/workflow/{id}/verify", READ, verify)
            .about("Checks the journal of a run against everything stored")
            .does(Does::Looks)
            .gives::<Payload>()
            .also(409),
        delete("/api/workflow/{id}/parked", OPERATE, lift).about("Lets a parked run go on"),
    ]
}

/// An id that is none was never given out.
pub(crate) fn execution_id(text: &str) -> Result<ExecutionId, ApiError> {
    text.parse().map_err(|_| Failure::NoExecution(text.to_owned()).into())
}

pub(crate) async fn snapshot(app: &App, id: &str) -> Result<Snapshot, ApiError> {
    let found = app.runtime.read(execution_id(id)?).await?;
    found.ok_or_else(|| Failure::NoExecution(id.to_owned()).into())
}

/// The run that a request has changed. Whoever removes it meanwhile does not undo the request.
pub(crate) async fn changed(app: &App, id: &str) -> Answered {
    let execution = execution_id(id)?;
    let found = app.runtime.read(execution).await?;
    Ok(match found {
        Some(run) => view::changed(app, &run).await,
        None => gone(execution),
    })
}

/// Of a large run its deliveries are many; who does not look at its tasks need not wait for them.
async fn glance(app: &App, id: &str) -> Result<Snapshot, ApiError> {
    let execution = execution_id(id)?;
    let found = app.runtime.blocking(move |world| world.glance(execution)).await?;
    found.ok_or_else(|| Failure::NoExecution(id.to_owned()).into())
}

/// `GET /api/workflow/{id}`.
async fn read(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    if execution_id(&id).is_err() {
        NotServed::check(Method::GET, &format!("/api/workflow/{id}"))?;
    }
    let with_tasks = params.flag("includeTasks", true)?;
    let found = if with_tasks { snapshot(&app, &id).await? } else { glance(&app, &id).await? };
    let stale = match with_tasks {
        true => app.runtime.stale_reports(found.execution.id()).await?,
        false => Vec::new(),
    };
    let room = room_for(&app, found.execution.weight().saturating_mul(SHOWN_TIMES)).await?;
    let mut shown = view::workflow(&found, with_tasks);
    view::tell_stale(&mut shown.tasks, stale);
    let instead = format!(
        "ask with includeTasks=false, and for its tasks a page at a time: \
         GET /api/workflow/{id}/tasks?start=0&count=100"
    );
    let answer = whole(&app, &shown, room, &instead)?;
    Ok(match &found.head.parked {
        Some(reason) => with_header(answer, "x-workflow-parked", reason),
        None => answer,
    })
}

/// `GET /api/workflow/{id}/status`.
async fn status(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let (output, variables) =
        (params.flag("includeOutput", false)?, params.flag("includeVariables", false)?);
    Ok(json(&view::state(&glance(&app, &id).await?, output, variables)))
}

/// `GET /api/workflow/{id}/explain`.
async fn explain(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let found = app.runtime.explain(execution_id(&id)?).await?;
    Ok(json(&found.ok_or(Failure::NoExecution(id))?))
}

/// `GET /api/workflow/{id}/log`: the journal, oldest first, as much of it as fits.
async fn log(State(app): State<App>, Path(id): Path<String>, params: Params) -> Answered {
    let execution = execution_id(&id)?;
    let from: u64 = params.number("from")?.unwrap_or(1);
    let after = from.saturating_sub(1);
    let room = room(&app).await?;
    let read = move |world: &World| {
        let bytes_max = world.budget().answer();
        let Some(entries) = world.log(execution, after, bytes_max)? else { return Ok(None) };
        let mut rows = Rows::new(bytes_max);
        rows.fill(entries.iter().map(|(link, entry)| {
            let mut line = json!({"seq": link.seq, "digest": link.digest, "entry": entry});
            let told = decisions(entry);
            if !told.is_empty() {
                line["decisions"] = json!(told);
            }
            line
        }))?;
        Ok(Some(rows))
    };
    let rows = app.runtime.blocking(read).await?;
    Ok(rows.ok_or(Failure::NoExecution(id))?.list(room))
}

/// `POST /api/workflow/{id}/verify`: 200 with counts, or 409 with the first bad entry.
async fn verify(State(app): State<App>, Path(id): Path<String>) -> Answered {
    let verdict = app.runtime.verify(execution_id(&id)?).await?;
    let verdict = verdict.ok_or_else(|| Failure::NoExecution(id.clone()))?;
    let counts = [
        ("entries", verdict.entries),
        ("decidedAgain", verdict.decided_again),
        ("rows", verdict.rows),
    ];
    let mut body: Map<_, _> =
        counts.map(|(name, n)| (name.to_owned(), json!(n))).into_iter().collect();
    let Some((seq, what)) = verdict.fault else { return Ok(json(&body)) };
    body.insert("seq".to_owned(), json!(seq));
    let message = format!("workflow {id} does not verify: entry {seq}: {what}");
    Err(ApiError::Conflict { code: "NOT_VERIFIED", message, metadata: body })
}

/// `DELETE /api/workflow/{id}/parked`: lets a parked execution go on.
async fn lift(State(app): State<App>, Path(id): Path<String>) -> Result<Response, ApiError> {
    app.runtime.submit(Work::Lift(execution_id(&id)?), Class::Operation).await?;
    Ok(empty())
}
