//! # Decide: the only place that chooses
//!
//! Branches on the event; the modules it calls do the arithmetic. Validate first, emit after: a
//! rejection leaves the execution as it was. A repeated event yields no changes
//! (docs/reference/principles.md#a-repeat-changes-nothing).

use std::sync::Arc;

use semel_model::{ExecutionId, Payload, TaskId, Timestamp, Violation, WorkflowStatus};

use crate::change::{Change, Timeout};
use crate::ending::Ending;
use crate::event::{Event, Start};
use crate::execution::{Deadline, Execution};
use crate::facts::Facts;
use crate::gate::{Comer, Limited};
use crate::pin::Pinned;
use crate::record::RecordKey;
use crate::schedule::Site;
use crate::schema::sentence;
use crate::turn::Turn;

/// What is now so, and what it was decided on.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub at: Timestamp,
    pub changes: Vec<Change>,
    pub payloads: Vec<Payload>,
    pub used: Facts,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Stop {
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// More rows must be held before this can be decided.
    #[error("more rows are needed: {0:?}")]
    Miss(Rows),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// The deliveries of these tasks.
    Deliveries(Vec<TaskId>),
    Record(RecordKey),
    /// The same, of a record that is no start key.
    Guard(RecordKey),
    /// Several of those.
    Guards(Vec<RecordKey>),
    /// What is registered by that name and version; version 0 is the latest.
    Definition(String, i32),
    /// Task definitions registered under these names.
    Tasks(Vec<String>),
    /// Schemas registered under these names and versions; version 0 is the latest.
    Schemas(Vec<(String, i32)>),
    /// How many descendants of that run are open.
    Descendants(ExecutionId),
}

/// What an event brings along besides itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Brought<'a> {
    /// Those the event's slots point at.
    pub payloads: &'a [Payload],
    /// The definition that [`Event::brings`] names.
    pub definition: Option<&'a Arc<Pinned>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("Task not found for taskId: {0}")]
    UnknownTask(TaskId),
    /// From a superseded holder; never applied.
    #[error("stale: {0}")]
    Stale(String),
    #[error("no pending task of that reference")]
    NothingPending,
    #[error("{0}")]
    WrongState(String),
    /// Somebody is at it, who may let go of it.
    #[error("{0}")]
    Held(String),
    #[error("{0}")]
    NotFound(String),
    #[error("{0}")]
    Invalid(String),
    /// What was given, place by place.
    #[error("{}", sentence("the input does not fit its schema: ", .0))]
    Unfit(Vec<Violation>),
    /// A question that was answered before, and otherwise.
    #[error("{0}")]
    Decided(String),
    /// As many runs are under way as may be.
    #[error("{0}")]
    Limited(Box<Limited>),
    /// No more fits in until something has been taken out.
    #[error("{0}")]
    Full(String),
}

/// Decides one event.
pub fn decide(
    execution: &mut Execution,
    event: &Event,
    brought: &Brought<'_>,
    facts: &Facts,
) -> Result<Decision, Stop> {
    // Which gate a run comes to is known when its input is in place; it may be closed.
    let before = event.comes_to_gate().then(|| execution.clone());
    let decided = decide_on(execution, event, brought, facts);
    if let (Err(_), Some(before)) = (&decided, before) {
        *execution = before;
    }
    decided
}

fn decide_on(
    execution: &mut Execution,
    event: &Event,
    brought: &Brought<'_>,
    facts: &Facts,
) -> Result<Decision, Stop> {
    let now = facts.now.max(execution.last_at());
    let mut turn = Turn::new(execution, brought, facts, now);
    turn.revives_as = event.revives_as();
    let redone = if let Event::Redone(event) = event { Some(&**event) } else { None };
    turn.redoes = redone.is_some();
    let decided = take_in(&mut turn, redone.unwrap_or(event));
    if !turn.missing.is_empty() {
        return Err(Stop::Miss(Rows::Guards(turn.missing))); // Whatever came of it was a guess.
    }
    decided?;
    Ok(turn.finish())
}

/// Everything that follows from one event.
fn take_in(turn: &mut Turn<'_>, event: &Event) -> Result<(), Stop> {
    match event {
        Event::Started(start) => turn.start(start)?,
        Event::Reported(report) => turn.report(report)?,
        Event::Named { reference, force, progress, distinct } => {
            turn.name(reference, *force, *distinct, progress)?;
        }
        Event::Signalled { progress, may_wait } => turn.signal(progress, *may_wait)?,
        Event::Expired { task } => turn.expire(*task)?,
        Event::Woke => turn.wake()?,
        Event::Answered { task, question, answer } => turn.answer(*task, *question, answer)?,
        Event::Paused => turn.pause()?,
        Event::Resumed => turn.resume()?,
        Event::Terminated { reason, compensate } => {
            turn.terminate(reason.as_deref(), *compensate)?;
        }
        Event::Retried => turn.retry()?,
        Event::Restarted { definition } => turn.restart(*definition)?,
        Event::Reran(rerun) => turn.rerun(rerun)?,
        Event::Skipped { reference, input, output } => turn.skip(reference, *input, *output)?,
        Event::Jumped { reference, input } => turn.jump(reference, *input)?,
        Event::Upgraded { definition, input, outputs } => {
            turn.upgrade(*definition, *input, outputs)?;
        }
        Event::CallbacksReset => turn.reset_callbacks()?,
        Event::VariablesUpdated { variables } => turn.update_variables(*variables)?,
        Event::StateUpdated { variables, task, reference, progress } => {
            turn.update_state(*variables, *task, reference.as_deref(), progress)?;
        }
        Event::Removed => turn.remove()?,
        Event::Told(message) => turn.hear(message)?,
        Event::ChildRevived { task, epoch } => turn.child_revived(*task, *epoch)?,
        Event::Coalesced { input } => turn.coalesce(*input)?,
        Event::Posted { id, named, payload } => turn.post(id, *named, *payload)?,
        Event::EffectResolved(resolution) => turn.resolve_effect(resolution)?,
        Event::Redone(_) => {} // Nothing is redone twice over.
    }
    turn.settle()?;
    turn.conclude_effects()?;
    while turn.tell_of_waits()? {
        turn.settle()?;
        turn.conclude_effects()?;
    }
    Ok(())
}

impl Turn<'_> {
    fn start(&mut self, start: &Start) -> Result<(), Stop> {
        if self.execution().status().is_some() {
            return Ok(()); // Begun already: the first start stands.
        }
        self.newborn = start.born;
        let input = self.with_defaults(start.input)?;
        if !start.born {
            self.expect_fitting(self.payload(input))?; // Whoever gave birth has looked already.
        }
        self.emit(Change::Started {
            input,
            correlation_id: start.correlation_id.clone(),
            priority: start.priority,
            task_to_domain: start.task_to_domain.clone(),
            idempotency_key: start.idempotency_key.clone(),
            created_by: start.created_by.clone(),
            parent: start.parent,
            depth: start.depth,
            root: start.root,
            traceparent: start.traceparent,
            event: start.event.clone(),
            under: start.under.clone(),
        });
        let is_inside = start.born || start.event.is_some();
        self.enter(if is_inside { Comer::Inside } else { Comer::Asked })
    }

    /// The first step, or the end.
    pub(crate) fn begin_steps(&mut self) -> Result<(), Stop> {
        match self.execution().definition().first().cloned() {
            Some(step) => self.schedule(Site::first(step))?,
            None => {
                let reason = Some("No tasks found to be executed".to_owned());
                self.close_execution(Ending::of(WorkflowStatus::Completed, reason))?;
            }
        }
        Ok(())
    }

    fn pause(&mut self) -> Result<(), Stop> {
        if self.execution().is_closed() {
            return Err(self.wrong_state("paused"));
        }
        if !self.execution().is_paused() {
            self.emit(Change::Paused);
        }
        Ok(())
    }

    /// What finished while paused goes on; deadlines that passed meanwhile fire by their own rows.
    fn resume(&mut self) -> Result<(), Stop> {
        if !self.execution().is_paused() {
            return Err(self.wrong_state("resumed"));
        }
        let waiting = self.execution().unconsumed();
        self.emit(Change::Resumed);
        waiting.iter().for_each(|task| self.look_again(task));
        self.leave()?; // A jump that was under way goes on.
        self.begin_if_let_through()
    }

    pub(crate) fn wake(&mut self) -> Result<(), Stop> {
        for deadline in self.execution().due(self.now()) {
            self.settle()?; // Each is judged on what the one before it led to.
            if self.execution().is_closed() && deadline != Deadline::Remaining {
                continue;
            }
            match deadline {
                Deadline::Workflow => self.time_out_execution()?,
                Deadline::Gate => self.give_up_waiting()?,
                Deadline::Total(task) => self.expire_clock(task, Timeout::Total)?,
                Deadline::Question(task) => self.ask_again(task),
                Deadline::Run(task) => self.expire_clock(task, Timeout::Run)?,
                Deadline::Response(task) => self.expire_clock(task, Timeout::Response)?,
                Deadline::Wait(task) => self.end_wait(task)?,
                Deadline::Begin(task) => self.begin_delayed(task)?,
                Deadline::Remaining => self.take_up_rest()?,
            }
        }
        Ok(())
    }

    pub(crate) fn wrong_state(&self, verb: &str) -> Stop {
        let status = self.execution().status().map_or("unknown", |status| status.as_str());
        let id = self.execution().id();
        Rejection::WrongState(format!("workflow {id} is {status} and cannot be {verb}")).into()
    }
}
