//! # Tasks (docs/compatibility.md#hand-outs-and-reports)
//!
//! Workers poll, report, ask for more time. A stale report never changes the body of an answer, only
//! its `X-Task-Update` header; with `strict=true` it is a 409.

use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use semel_engine::{Event, Progress, Queue, Rejection, Report, Slot, Task as EngineTask, Token};
use semel_model::{Digest, Task, TaskId, TaskResult, TaskResultStatus, TaskStatus, Violation};
use semel_runtime::{
    Answer, Class, EventWork, Failure, HandedOut, Next, Renewal, Snapshot, Standing, Work,
};
use semel_store::{LogLine, Place};
use serde_json::{Map, Value, json};

use crate::answer::{Answered, json, nothing, text, with_header};
use crate::app::App;
use crate::caller::Caller;
use crate::confidential;
use crate::endpoint::Value::{Flag, Number, Text};
use crate::endpoint::{Does, Endpoint, get, post};
use crate::error::{ApiError, Undecided};
use crate::logs;
use crate::params::{Params, Path};
use crate::request::{Body, one_line, plain};
use crate::roles::WORK;
use crate::room::held;
use crate::workflow::{execution_id, snapshot};

/// How long a single poll waits, and a batch poll that does not say.
const POLL_WAIT_MS: u64 = 100;

/// A batch poll asking for more gets this many.
const POLL_BATCH_MAX: usize = 1000;

/// Where Conductor says that a report is wrong.
const REPORT: &str = "updateTask.taskResult";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        get("/api/tasks/poll/{type}", WORK, poll)
            .about("Takes a task of a type")
            .does(Does::Takes)
            .query("workerid", Text)
            .query("domain", Text)
            .query("pollId", Text)
            .gives::<Task>()
            .or_nothing(),
        get("/api/tasks/poll/batch/{type}", WORK, poll_batch)
            .about("Takes tasks of a type, waiting for one if there is none")
            .does(Does::Takes)
            .query("workerid", Text)
            .query("domain", Text)
            .query("pollId", Text)
            .query("count", Number(1))
            .query("timeout", Number(100))
            .gives::<Vec<Task>>(),
        post("/api/tasks", WORK, update)
            .about("Reports on a task, or asks for more time")
            .query("strict", Flag(false))
            .takes::<TaskResult>()
            .gives_text()
            .also(409),
        post("/api/tasks/update-v2", WORK, update_v2)
            .about("Reports on a task and takes the next of its type")
            .confides()
            .query("strict", Flag(false))
            .takes::<TaskResult>()
            .gives::<Task>()
            .or_nothing()
            .also(409),
    ]
}

/// `GET /api/tasks/poll/{type}`: one task, or 204.
async fn poll(State(app): State<App>, Path(kind): Path<String>, params: Params) -> Answered {
    let taken = claim(&app, kind, &params, 1, POLL_WAIT_MS).await?;
    let handed = confidential::handed_out(&app, taken).await?;
    Ok(handed.first().map_or_else(nothing, json))
}

/// `GET /api/tasks/poll/batch/{type}`: always a list. Tasks that do not fit into one answer stay in their
/// queue.
async fn poll_batch(State(app): State<App>, Path(kind): Path<String>, params: Params) -> Answered {
    let count: i64 = params.number("count")?.unwrap_or(1);
    let wait: i64 = params.number("timeout")?.unwrap_or(POLL_WAIT_MS.cast_signed());
    if wait > 5000 {
        return Err(ApiError::Malformed(
            "Long Poll Timeout value cannot be more than 5 seconds".to_owned(),
        ));
    }
    let count = usize::try_from(count).unwrap_or(0).min(POLL_BATCH_MAX);
    let wait = u64::try_from(wait).unwrap_or(0);
    let answers = &app.runtime.world().answers;
    answers.some_room().await?; // Before: what is handed out has to be answered.
    let taken = claim(&app, kind, &params, count, wait).await?;
    let handed = confidential::handed_out(&app, taken).await?;
    let text =
        serde_json::to_vec(&handed).map_err(|error| ApiError::Internal(error.to_string()))?;
    let room = answers.take(text.len() as u64);
    Ok(held(text, room))
}

async fn claim(
    app: &App,
    task_type: String,
    params: &Params,
    count: usize,
    wait_ms: u64,
) -> Result<Vec<HandedOut>, ApiError> {
    let worker = params.text("workerid").map(str::to_owned);
    let domain = params.text("domain").map(str::to_owned);
    let texts = [("workerid", worker.as_deref()), ("domain", domain.as_deref())];
    for (name, value) in texts.into_iter().chain([("tasktype", Some(&*task_type))]) {
        one_line(name, value)?;
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    let token = poll_token(&task_type, params);
    let wait = Duration::from_millis(wait_ms.min(app.limits.poll_wait_ms_max));
    let queue = Queue { task_type, domain };
    Ok(app.runtime.claim(queue, worker, count, token, wait).await?)
}

/// A poll may name itself, so that its repeat re-receives what it was given.
fn poll_token(task_type: &str, params: &Params) -> Option<Token> {
    let part = |name| params.text(name).unwrap_or_default().as_bytes();
    let poll = params.text("pollId")?;
    Some(Digest::of_parts([
        b"poll".as_slice(),
        task_type.as_bytes(),
        part("domain"),
        part("workerid"),
        poll.as_bytes(),
    ]))
}

/// A report that names an existing place and says something.
struct Named {
    place: Place,
    report: Report,
    result: TaskResult,
    logs: Vec<LogLine>,
}

fn named(result: TaskResult) -> Result<Named, ApiError> {
    let placed = |it: Violation| Violation { path: format!("{REPORT}.{}", it.path), ..it };
    let mut violations: Vec<_> = result.violations().into_iter().map(placed).collect();
    let mut required = |value: &Option<String>, path: &str, message: &str| {
        let value = value.clone().filter(|text| !text.is_empty());
        if value.is_none() {
            violations.push(Violation::new(format!("{REPORT}.{path}"), message));
        }
        value.unwrap_or_default()
    };
    let workflow = required(
        &result.workflow_instance_id,
        "workflowInstanceId",
        "Workflow Id cannot be null or empty",
    );
    let task = required(&result.task_id, "taskId", "Task ID cannot be null or empty");
    if !violations.is_empty() {
        return Err(ApiError::Invalid(violations));
    }
    let execution = execution_id(&workflow)?;
    let task: TaskId = task
        .parse()
        .map_err(|_| ApiError::NotFound(format!("Task not found for taskId: {task}")))?;
    let status = match result.status {
        Some(status) => status,
        None if result.extend_lease => TaskResultStatus::InProgress,
        None => {
            let path = format!("{REPORT}.status");
            return Err(ApiError::Invalid(vec![Violation::new(path, "status cannot be null")]));
        }
    };
    one_line("workerId", result.worker_id.as_deref())?;
    plain("reasonForIncompletion", result.reason_for_incompletion.as_deref())?;
    let report = Report {
        task,
        fence: result.fence_token,
        fingerprint: fingerprint(task, status, &result),
        progress: Progress {
            status,
            output: Slot(0),
            reason: result.reason_for_incompletion.clone(),
            worker: result.worker_id.clone().filter(|worker| !worker.is_empty()),
            callback_after_seconds: result.callback_after_seconds,
        },
    };
    Ok(Named { place: Place { execution, task }, report, result, logs: Vec::new() })
}

/// Without the secrets its worker was handed. Its fingerprint is of what is left: from one of the
/// whole, a short secret could be guessed.
async fn cleared(app: &App, mut named: Named) -> Result<Named, ApiError> {
    let Place { execution, task } = named.place;
    let mask = app.runtime.mask(execution, |execution| execution.task(task).cloned()).await?;
    named.logs = logs::lines(named.place, &named.result, &mask, app.runtime.now());
    let Named { report, result, .. } = &mut named;
    if confidential::clear(&mask, &mut result.output_data, &mut result.reason_for_incompletion) {
        report.progress.reason = result.reason_for_incompletion.clone();
        report.fingerprint = fingerprint(task, report.progress.status, result);
    }
    Ok(named)
}

/// Everything a report says: its byte-equal repeat has the same.
fn fingerprint(task: TaskId, status: TaskResultStatus, result: &TaskResult) -> Digest {
    let fence = result.fence_token.map_or_else(String::new, |fence| fence.to_string());
    Digest::of_parts([
        task.as_bytes().as_slice(),
        status.as_str().as_bytes(),
        result.output_data.text().as_bytes(),
        result.reason_for_incompletion.as_deref().unwrap_or_default().as_bytes(),
        result.worker_id.as_deref().unwrap_or_default().as_bytes(),
        fence.as_bytes(),
        &result.callback_after_seconds.to_be_bytes(),
    ])
}

enum Reported {
    Done { standing: Standing, next: Option<Box<HandedOut>> },
    Stale,
}

async fn report(
    app: &App,
    caller: &Caller,
    params: &Params,
    named: Named,
    v2: bool,
) -> Result<Reported, ApiError> {
    let worker = named.report.progress.worker.clone();
    let next = v2.then(|| Next {
        worker: worker.clone(),
        token: Digest::of_parts([b"next".as_slice(), named.report.fingerprint.as_bytes()]),
    });
    let work = EventWork {
        execution: named.place.execution,
        event: Event::Reported(named.report),
        payloads: vec![named.result.output_data],
        definition: None,
        actor: caller.acting(worker),
        event_id: caller.request.clone(),
        next,
        logs: named.logs,
    };
    match app.runtime.submit(Work::Event(Box::new(work)), Class::Report).await {
        Ok(Answer::Done { standing, next, .. }) => Ok(Reported::Done { standing, next }),
        Ok(_) => Err(Failure::Unavailable.into()),
        Err(Failure::Rejected(Rejection::Stale(why))) => {
            stale(app, params, named.place, &why).await
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Not applied. Told by a header, or by a 409 where that was asked for.
async fn stale(app: &App, params: &Params, place: Place, why: &str) -> Result<Reported, ApiError> {
    let found = snapshot(app, &place.execution.to_string()).await?;
    let task = found.execution.task(place.task);
    let policy = task.map(|task| task.step.policy());
    let asked = policy.and_then(|policy| policy.strict_fencing).unwrap_or(false);
    if !params.flag("strict", asked)? {
        return Ok(Reported::Stale);
    }
    let mut metadata = Map::new();
    metadata.insert("safeNewKey".to_owned(), json!(false));
    if let Some(task) = task {
        metadata.insert("status".to_owned(), json!(task.status));
        metadata.insert("attempt".to_owned(), json!(task.attempt + 1));
        metadata.insert("workerId".to_owned(), json!(task.worker));
        let winner = found.execution.latest(&task.reference);
        metadata.insert("winner".to_owned(), winner.map_or(Value::Null, |it| winning(&found, it)));
    }
    let message = format!("task {}: {why}", place.task);
    Err(ApiError::Conflict { code: "STALE_FENCE", message, metadata })
}

/// The attempt that counts: who has it, or how it ended.
fn winning(found: &Snapshot, task: &EngineTask) -> Value {
    let held = found.deliveries.iter().find(|row| row.task == task.id);
    let held = held.map(|row| &row.hand_out).filter(|held| held.leased);
    let status = if held.is_some() { TaskStatus::InProgress } else { task.status };
    let worker = held.map_or(task.worker.as_ref(), |held| held.worker.as_ref());
    json!({"taskId": task.id, "attempt": task.attempt + 1, "status": status, "workerId": worker,
        "fenceToken": held.map(|held| held.fence.to_string())})
}

fn marked(response: Response, standing: Option<Standing>) -> Response {
    match standing {
        Some(Standing::Applied | Standing::Kept) => response,
        Some(Standing::Repeated) => with_header(response, "x-task-update", "REPEATED"),
        None => {
            let mut response = with_header(response, "x-task-update", "STALE");
            // Nothing was done, and the same report may count later: its answer is not kept.
            response.extensions_mut().insert(Undecided);
            response
        }
    }
}

/// `POST /api/tasks`: a worker reports, or asks for more time.
async fn update(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let named = named(body.object()?)?;
    let dropped = logs::dropped(&named.result);
    let id = logs::told(text(named.place.task.to_string()), dropped);
    if named.result.extend_lease {
        return renew(&app, &params, &named, id).await;
    }
    let named = cleared(&app, named).await?;
    Ok(match report(&app, &caller, &params, named, false).await? {
        Reported::Done { standing, .. } => marked(id, Some(standing)),
        Reported::Stale => marked(id, None),
    })
}

/// `POST /api/tasks/update-v2`: reports, and takes the next task of the same queue.
async fn update_v2(State(app): State<App>, caller: Caller, params: Params, body: Body) -> Answered {
    let named = named(body.object()?)?;
    let dropped = logs::dropped(&named.result);
    if named.result.extend_lease {
        return renew(&app, &params, &named, logs::told(nothing(), dropped)).await;
    }
    let named = cleared(&app, named).await?;
    let answer = match report(&app, &caller, &params, named, true).await? {
        Reported::Done { standing, next } => {
            let next = next.map(|out| *out).into_iter().collect();
            let handed = confidential::handed_out(&app, next).await?;
            marked(handed.first().map_or_else(nothing, json), Some(standing))
        }
        Reported::Stale => marked(nothing(), None),
    };
    Ok(logs::told(answer, dropped))
}

async fn renew(app: &App, params: &Params, named: &Named, answer: Response) -> Answered {
    let renewal = Renewal {
        place: named.place,
        fence: named.report.fence,
        worker: named.report.progress.worker.clone(),
        is_in_house: false,
    };
    match app.runtime.submit(Work::Renew(renewal), Class::Report).await {
        Ok(Answer::Renewed { lease_until }) => {
            let until = lease_until.map(|until| until.ms().to_string()).unwrap_or_default();
            Ok(with_header(answer, "x-lease-until", &until))
        }
        Ok(_) => Err(Failure::Unavailable.into()),
        Err(Failure::Rejected(Rejection::Stale(why))) => {
            stale(app, params, named.place, &why).await?;
            Ok(marked(answer, None))
        }
        Err(failure) => Err(failure.into()),
    }
}
