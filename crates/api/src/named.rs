//! # Answers for a step by its name, and for whichever WAIT comes first (docs/answers.md)
//!
//! People and programs that are no workers know a run and a reference, or only the run.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use semel_engine::{Event, Execution, Progress, Rejection, Slot, Task as EngineTask};
use semel_model::{
    ExecutionId, Payload, SignalResponse, TaskId, TaskResult, TaskResultStatus, Workflow,
};
use semel_runtime::{Answer, Class, EventWork, Failure, Standing, Step, Work};

use crate::answer::{Answered, empty, text, with_header};
use crate::app::App;
use crate::caller::Caller;
use crate::confidential;
use crate::decision_conflict::{Decided, decided_otherwise};
use crate::endpoint::Value::{Choice, Flag, Number, Text};
use crate::endpoint::{Endpoint, post};
use crate::error::{ApiError, Undecided};
use crate::execute::so_far;
use crate::params::{Params, Path};
use crate::request::{Body, bounded, one_line, plain};
use crate::roles::WORK;
use crate::seen::{STRATEGIES, Strategy, gone};
use crate::workflow::{changed, execution_id, snapshot};

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
    /// What the event brings besides.
    further: Vec<Payload>,
    /// Which step of its request it is; none: the next.
    step: Option<Step>,
}

impl Said {
    /// As a worker would put it; which task, is said elsewhere. Official clients leave the status out
    /// when the task is done.
    pub(crate) fn of(execution: ExecutionId, result: TaskResult) -> Result<Self, ApiError> {
        one_line("taskResult.workerId", result.worker_id.as_deref())?;
        plain("taskResult.reasonForIncompletion", result.reason_for_incompletion.as_deref())?;
        let progress = Progress {
            status: result.status.unwrap_or(TaskResultStatus::Completed),
            output: Slot(0),
            reason: result.reason_for_incompletion,
            worker: result.worker_id.filter(|worker| !worker.is_empty()),
            callback_after_seconds: result.callback_after_seconds,
        };
        let (output, further) = (result.output_data, Vec::new());
        Ok(Self { execution, progress, output, further, step: None })
    }

    /// The event has a second slot for this.
    pub(crate) fn bringing(mut self, payload: Option<Payload>) -> Self {
        self.further.extend(payload);
        self
    }
}

fn said(id: &str, status: &str, worker: Option<&str>, body: &Body) -> Result<Said, ApiError> {
    let status: TaskResultStatus = status
        .parse()
        .map_err(|error| ApiError::Malformed(format!("status in the path: {error}")))?;
    one_line("workerid", worker)?;
    let output = body.payload()?;
    let worker = worker.map(str::to_owned);
    let progress =
        Progress { status, output: Slot(0), reason: None, worker, callback_after_seconds: 0 };
    let further = Vec::new();
    Ok(Said { execution: execution_id(id)?, progress, output, further, step: None })
}

/// What became of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// This task took it.
    Applied(TaskId),
    /// It says what was said before.
    Repeated(Option<TaskId>),
    /// No such task is there yet: it takes the answer when it comes.
    Kept,
    /// Nothing waits for it, and nothing will.
    Nothing,
}

impl Signal {
    fn of(answer: &Answer) -> Self {
        match answer {
            Answer::Done { standing: Standing::Kept, .. } => Self::Kept,
            Answer::Done { standing: Standing::Applied, task: Some(task), .. } => {
                Self::Applied(*task)
            }
            Answer::Done { task, .. } => Self::Repeated(*task),
            _ => Self::Repeated(None),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Applied(_) => "APPLIED",
            Self::Repeated(_) => "REPEATED",
            Self::Kept => "KEPT",
            Self::Nothing => "NONE",
        }
    }

    /// Says so in the answer. An answer that did nothing is not kept under a request's key.
    pub(crate) fn mark(self, response: Response) -> Response {
        let mut response = with_header(response, "x-signal", self.word());
        if self == Self::Nothing {
            let why = "nothing of this run, or below it, waits for this answer, nor is known to come \
                       to it: nothing was done, and nothing is kept";
            response = with_header(response, "x-semel-warning", why);
            response.extensions_mut().insert(Undecided);
        }
        response
    }
}

/// Says it. The refusal of another decision names the one that counts.
pub(crate) async fn say(
    app: &App,
    caller: &Caller,
    mut said: Said,
    about: impl Fn(&Execution) -> Option<Arc<EngineTask>> + Send + 'static,
    event: impl FnOnce(Progress) -> Event,
) -> Result<Signal, ApiError> {
    let mask = app.runtime.mask(said.execution, about).await?;
    confidential::clear(&mask, &mut said.output, &mut said.progress.reason);
    let actor = caller.acting(said.progress.worker.clone());
    let event = event(said.progress);
    let work = EventWork {
        execution: said.execution,
        event: event.clone(),
        payloads: [vec![said.output], said.further].concat(),
        definition: None,
        actor,
        event_id: caller.request.clone(),
        next: None,
        logs: Vec::new(),
    };
    let step = said.step.or_else(Step::next);
    match app.runtime.submit_as(step, Work::Event(Box::new(work)), Class::Report).await {
        Ok(answer) => Ok(Signal::of(&answer)),
        Err(Failure::Rejected(Rejection::NothingPending)) => Ok(Signal::Nothing),
        Err(Failure::Rejected(Rejection::Decided(message))) => match event {
            Event::Named { reference, .. }
            | Event::StateUpdated { task: None, reference: Some(reference), .. } => {
                Err(decided_otherwise(app, said.execution, Decided::Step(reference), message)
                    .await?)
            }
            Event::StateUpdated { task: Some(task), .. } => {
                Err(decided_otherwise(app, said.execution, Decided::Task(task), message).await?)
            }
            _ => Err(Failure::Rejected(Rejection::Decided(message)).into()),
        },
        Err(failure) => Err(failure.into()),
    }
}

async fn by_name(
    app: &App,
    caller: &Caller,
    params: &Params,
    said: Said,
    reference: String,
) -> Result<Signal, ApiError> {
    let force = params.flag("force", false)?;
    let (named, distinct) = (reference.clone(), Step::is_numbered());
    let about = move |execution: &Execution| {
        execution.named(&named).or_else(|| execution.latest(&named)).cloned()
    };
    let event = |progress| Event::Named { reference, force, progress, distinct };
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
    let signal = by_name(&app, &caller, &params, said, reference).await?;
    Ok(signal.mark(match signal {
        Signal::Applied(task) | Signal::Repeated(Some(task)) => text(task.to_string()),
        Signal::Repeated(None) | Signal::Kept | Signal::Nothing => empty(),
    }))
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
    let signal = by_name(&app, &caller, &params, said, reference.clone()).await?;
    if signal == Signal::Nothing {
        let message = format!("workflow {id} has no open task {reference}");
        return Err(ApiError::NotFound(message));
    }
    Ok(signal.mark(changed(&app, &id).await?))
}

/// Answers the first WAIT. Whose turn it is, is decided where it is answered; a WAIT that another
/// signal took first is not the first any more, so the search begins again. While nothing waits, the
/// run keeps the signal, or the one below it that is under way.
async fn answer_first_wait(app: &App, caller: &Caller, said: Said) -> Result<Signal, ApiError> {
    let root = said.execution;
    bounded("what the signal brings", &said.output)?;
    let step = Step::next();
    if let Some(answer) = app.runtime.recalled(step.as_ref()).await? {
        return Ok(Signal::of(&answer));
    }
    for _ in 0..SIGNAL_TRIES_MAX {
        let target = app.runtime.blocking(move |world| world.signal_target(root)).await?;
        let may_wait = target.is_none();
        let execution = match target {
            Some(target) => target,
            None => app.runtime.blocking(move |world| world.signal_keeper(root)).await?,
        };
        let Said { progress, output, .. } = &said;
        let (progress, output) = (progress.clone(), output.clone());
        let (further, step) = (Vec::new(), step.clone());
        let at_target = Said { execution, progress, output, further, step };
        let about = |execution: &Execution| execution.first_wait().cloned();
        let event = |progress| Event::Signalled { progress, may_wait };
        let signal = say(app, caller, at_target, about, event).await?;
        if signal != Signal::Nothing || (may_wait && execution == root) {
            return Ok(signal);
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
    let signal = answer_first_wait(&app, &caller, said(&id, &status, None, &body)?).await?;
    Ok(signal.mark(empty()))
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
    let signal = answer_first_wait(&app, &caller, said).await?;
    if signal == Signal::Nothing {
        return nothing_waits(&app, root, strategy).await;
    }
    let wait = app.limits.execute_wait(Duration::from_millis(wait));
    let seen = app.runtime.wait_for(root, Vec::new(), wait).await?;
    Ok(signal.mark(match seen {
        Some(seen) => so_far(&seen, strategy.answer(&app, &seen, None).await),
        None => gone(root),
    }))
}

/// A run that is over is shown as it is, as in Orkes: whoever sends one signal too many learns how
/// the run ended. While the run goes on, a WAIT may still come.
async fn nothing_waits(app: &App, root: ExecutionId, strategy: Strategy) -> Answered {
    if !snapshot(app, &root.to_string()).await?.head.status.is_terminal() {
        return Err(ApiError::NotFound(format!("workflow {root} waits for no signal")));
    }
    let seen = app.runtime.wait_for(root, Vec::new(), Duration::ZERO).await?;
    let seen = seen.ok_or_else(|| Failure::NoExecution(root.to_string()))?;
    Ok(Signal::Nothing.mark(strategy.answer(app, &seen, None).await))
}
