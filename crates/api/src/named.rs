//! # Answers for a step by its name, and for whichever WAIT comes first: contract sections 2.3, 5.7
//!
//! People and programs that are no workers know a run and a reference, or only the run.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use semel_engine::{Event, Execution, Progress, Rejection, Slot, Task as EngineTask};
use semel_model::{
    ExecutionId, Payload, SignalResponse, TaskId, TaskResult, TaskResultStatus, Workflow,
};
use semel_runtime::{Answer, Class, EventWork, Failure, Step, Work};

use crate::answer::{Answered, empty, json, text};
use crate::app::App;
use crate::caller::Caller;
use crate::confidential;
use crate::endpoint::Value::{Choice, Flag, Number, Text};
use crate::endpoint::{Endpoint, post};
use crate::error::ApiError;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, plain};
use crate::roles::WORK;
use crate::seen::{STRATEGIES, Strategy};
use crate::view;
use crate::workflow::{execution_id, snapshot};

/// How often a signal looks for its target again after another one took it.
const SIGNAL_TRIES_MAX: usize = 8;

/// How long a signal waits for what follows from it, unless it says otherwise.
const SIGNAL_WAIT_MS: i64 = 5_000;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    vec![
        post("/api/tasks/{id}/{reference}/{status}", WORK, update)
            .about("Reports on the open task of a reference")
            .query("workerid", Text)
            .query("force", Flag(false))
            .takes_data()
            .gives_text()
            .also(409),
        post("/api/tasks/{id}/{reference}/{status}/sync", WORK, update_and_show)
            .about("Reports on the open task of a reference and shows its run")
            .query("workerid", Text)
            .query("force", Flag(false))
            .takes_data()
            .gives::<Workflow>()
            .also(409),
        post("/api/tasks/{id}/{status}/signal", WORK, signal)
            .about("Answers the first WAIT of a run or of those below it")
            .takes_data()
            .also(409),
        post("/api/tasks/{id}/{status}/signal/sync", WORK, signal_and_wait)
            .about("Answers the first WAIT, and tells where that led")
            .query("returnStrategy", Choice(STRATEGIES))
            .query("timeoutMillis", Number(SIGNAL_WAIT_MS))
            .takes_data()
            .gives::<SignalResponse>()
            .also(409),
    ]
}

/// What is said of a task, and what it brings.
pub(crate) struct Said {
    execution: ExecutionId,
    progress: Progress,
    output: Payload,
    /// Which step of its request it is; none: the next.
    step: Option<Step>,
}

impl Said {
    /// As a worker would put it; which task, is said elsewhere.
    pub(crate) fn of(execution: ExecutionId, result: TaskResult) -> Result<Self, ApiError> {
        let missing = || ApiError::Malformed("taskResult.status is missing".to_owned());
        plain("taskResult.workerId", result.worker_id.as_deref())?;
        plain("taskResult.reasonForIncompletion", result.reason_for_incompletion.as_deref())?;
        let progress = Progress {
            status: result.status.ok_or_else(missing)?,
            output: Slot(0),
            reason: result.reason_for_incompletion,
            worker: result.worker_id.filter(|worker| !worker.is_empty()),
            callback_after_seconds: result.callback_after_seconds,
        };
        Ok(Self { execution, progress, output: result.output_data, step: None })
    }
}

fn said(id: &str, status: &str, worker: Option<&str>, body: &Body) -> Result<Said, ApiError> {
    let status: TaskResultStatus = status
        .parse()
        .map_err(|error| ApiError::Malformed(format!("status in the path: {error}")))?;
    plain("workerid", worker)?;
    let output = body.payload()?;
    let worker = worker.map(str::to_owned);
    let progress =
        Progress { status, output: Slot(0), reason: None, worker, callback_after_seconds: 0 };
    Ok(Said { execution: execution_id(id)?, progress, output, step: None })
}

/// Says it; the task it was about, if there was one.
pub(crate) async fn say(
    app: &App,
    caller: &Caller,
    mut said: Said,
    about: impl Fn(&Execution) -> Option<Arc<EngineTask>> + Send + 'static,
    event: impl FnOnce(Progress) -> Event,
) -> Result<Option<TaskId>, ApiError> {
    let mask = app.runtime.mask(said.execution, about).await?;
    confidential::clear(app, &mask, &mut said.output, &mut said.progress.reason);
    let actor = caller.acting(said.progress.worker.clone());
    let work = EventWork {
        execution: said.execution,
        event: event(said.progress),
        payloads: vec![said.output],
        definition: None,
        actor,
        event_id: caller.request.clone(),
        next: None,
        logs: Vec::new(),
    };
    let step = said.step.or_else(Step::next);
    match app.runtime.submit_as(step, Work::Event(Box::new(work)), Class::Report).await {
        Ok(Answer::Done { task, .. }) => Ok(task),
        Ok(_) | Err(Failure::Rejected(Rejection::NothingPending)) => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}

async fn by_name(
    app: &App,
    caller: &Caller,
    params: &Params,
    said: Said,
    reference: String,
) -> Result<Option<TaskId>, ApiError> {
    let force = params.flag("force", false)?;
    let named = reference.clone();
    let about = move |execution: &Execution| execution.latest(&named).cloned();
    let event = |progress| Event::Named { reference, force, progress };
    say(app, caller, said, about, event).await
}

/// `POST /api/tasks/{workflowId}/{reference}/{status}`: by name; the output is merged.
async fn update(
    State(app): State<App>,
    Path((id, reference, status)): Path<(String, String, String)>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let said = said(&id, &status, params.text("workerid"), &body)?;
    let task = by_name(&app, &caller, &params, said, reference).await?;
    Ok(task.map_or_else(empty, |task| text(task.to_string())))
}

/// `POST /api/tasks/{workflowId}/{reference}/{status}/sync`.
async fn update_and_show(
    State(app): State<App>,
    Path((id, reference, status)): Path<(String, String, String)>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let said = said(&id, &status, params.text("workerid"), &body)?;
    let task = by_name(&app, &caller, &params, said, reference.clone()).await?;
    if task.is_none() {
        let message = format!("workflow {id} has no open task {reference}");
        return Err(ApiError::NotFound(message));
    }
    Ok(json(&view::workflow(&snapshot(&app, &id).await?, true)))
}

/// Answers the first WAIT; false: nothing waits. Whose turn it is, is decided where it is answered;
/// a WAIT that another signal took first is not the first any more, so the search begins again.
async fn answer_first_wait(app: &App, caller: &Caller, said: Said) -> Result<bool, ApiError> {
    let root = said.execution;
    bounded("what the signal brings", &said.output)?;
    let step = Step::next();
    if app.runtime.recalled(step.as_ref()).await?.is_some() {
        return Ok(true);
    }
    for _ in 0..SIGNAL_TRIES_MAX {
        let target = app.runtime.blocking(move |world| world.signal_target(root)).await?;
        let Some(execution) = target else { return Ok(false) };
        let Said { progress, output, .. } = &said;
        let (progress, output) = (progress.clone(), output.clone());
        let at_target = Said { execution, progress, output, step: step.clone() };
        let about = |execution: &Execution| execution.first_wait().cloned();
        let event = |progress| Event::Signalled { progress };
        if say(app, caller, at_target, about, event).await?.is_some() {
            return Ok(true);
        }
    }
    Err(Failure::Unavailable.into())
}

/// `POST /api/tasks/{workflowId}/{status}/signal`: 200 also when nothing waits, as in Conductor.
async fn signal(
    State(app): State<App>,
    Path((id, status)): Path<(String, String)>,
    caller: Caller,
    body: Body,
) -> Answered {
    answer_first_wait(&app, &caller, said(&id, &status, None, &body)?).await?;
    Ok(empty())
}

/// `POST /api/tasks/{workflowId}/{status}/signal/sync`.
async fn signal_and_wait(
    State(app): State<App>,
    Path((id, status)): Path<(String, String)>,
    caller: Caller,
    params: Params,
    body: Body,
) -> Answered {
    let strategy = Strategy::of(&params)?;
    let wait = params.number("timeoutMillis")?.unwrap_or(SIGNAL_WAIT_MS).max(0).unsigned_abs();
    let said = said(&id, &status, None, &body)?;
    let root = said.execution;
    if !answer_first_wait(&app, &caller, said).await? {
        return Err(ApiError::NotFound(format!("workflow {id} waits for no signal")));
    }
    let wait = app.limits.execute_wait(Duration::from_millis(wait));
    let seen = app.runtime.wait_for(root, Vec::new(), wait).await?;
    Ok(strategy.answer(&seen, None))
}
