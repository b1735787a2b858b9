//! # Endings: completed, failed, timed out, terminated
//!
//! Closing an execution cancels what is still open, computes the output, tells whoever waits and
//! starts the failure workflow; every ending takes this one door.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus, WorkflowStatus};
use serde_json::json;

use crate::change::Change;
use crate::decide::Stop;
use crate::expression::{disarmed, merged};
use crate::message::{ChildEnd, Message};
use crate::retry::ending_of;
use crate::task::Task;
use crate::turn::{Closing, PAYLOAD_BYTES_MAX, Turn};

/// Tasks cancelled by one commit: everybody else waits for it.
const CANCELS_MAX: usize = 200;

/// How a run ends.
pub(crate) struct Ending {
    pub(crate) status: WorkflowStatus,
    pub(crate) reason: Option<String>,
    /// The task that caused it.
    pub(crate) failed: Option<TaskId>,
    /// Whether an unsuccessful end starts the failure workflow.
    pub(crate) compensate: bool,
    pub(crate) removed: bool,
}

impl Ending {
    pub(crate) fn of(status: WorkflowStatus, reason: Option<String>) -> Self {
        Self { status, reason, failed: None, compensate: true, removed: false }
    }

    /// A run whose output an expression has spoiled has failed.
    fn spoiled_by(self, why: Option<String>) -> Self {
        match why.filter(|_| self.status == WorkflowStatus::Completed) {
            Some(why) => Self { status: WorkflowStatus::Failed, reason: Some(why), ..self },
            None => self,
        }
    }

    /// A run whose output is too large has failed.
    fn bounded(self, output: Payload) -> (Self, Payload) {
        let bytes = output.len();
        if bytes <= PAYLOAD_BYTES_MAX {
            return (self, output);
        }
        let failed = self.status == WorkflowStatus::Completed;
        let status = if failed { WorkflowStatus::Failed } else { self.status };
        let why = format!("output of {bytes} bytes is over the limit of {PAYLOAD_BYTES_MAX}");
        let reason = if failed { Some(why) } else { self.reason };
        (Self { status, reason, ..self }, Payload::empty())
    }
}

impl Turn<'_> {
    pub(crate) fn complete_execution(&mut self) -> Result<(), Stop> {
        let failures = self.permissive_failures();
        if failures.is_empty() {
            return self.close_execution(Ending::of(WorkflowStatus::Completed, None));
        }
        let reason = Some(failures.join(". "));
        self.close_execution(Ending::of(WorkflowStatus::Failed, reason))
    }

    pub(crate) fn fail_execution(&mut self, task: &Task, reason: String) -> Result<(), Stop> {
        let ending = Ending::of(ending_of(task.status), Some(reason));
        self.close_execution(Ending { failed: Some(task.id), ..ending })
    }

    /// TERMINATED is reached from every state but COMPLETED; a second call changes nothing.
    pub(crate) fn terminate(&mut self, reason: Option<&str>, compensate: bool) -> Result<(), Stop> {
        match self.execution().status() {
            Some(WorkflowStatus::Completed) => Err(self.wrong_state("terminated")),
            Some(WorkflowStatus::Terminated) | None => Ok(()),
            Some(
                WorkflowStatus::Running
                | WorkflowStatus::Paused
                | WorkflowStatus::Failed
                | WorkflowStatus::TimedOut,
            ) => {
                let ending = Ending::of(WorkflowStatus::Terminated, reason.map(str::to_owned));
                self.close_execution(Ending { compensate, ..ending })
            }
        }
    }

    /// A run that is still live when it is removed ends first, so that nobody waits for it.
    pub(crate) fn remove(&mut self) -> Result<(), Stop> {
        if !self.execution().is_live() {
            return Ok(());
        }
        let reason = Some("The workflow was removed".to_owned());
        let ending = Ending::of(WorkflowStatus::Terminated, reason);
        self.close_execution(Ending { compensate: false, removed: true, ..ending })
    }

    pub(crate) fn close_execution(&mut self, ending: Ending) -> Result<(), Stop> {
        // The output sees the run as it ends: its last status, and open tasks still open.
        self.ending = Some(ending.status);
        self.reading.take_costly();
        let output = self.execution_output();
        let ending = ending.spoiled_by(self.reading.take_costly());
        let (ending, output) = ending.bounded(output);
        let ending = self.fitting_end(ending, &output);
        let Ending { status, reason, failed, compensate, removed } = ending;
        let compensate = compensate && !status.is_successful();
        let failure = if compensate { self.failure_run()? } else { None };
        let output = match &failure {
            Some(found) => noting(&output, found.note()),
            None => output,
        };
        let output = self.store(output);
        self.cancel_open(status, reason.as_deref())?;
        self.give_up_effects();
        self.release_locks()?;
        self.leave_gate()?;
        let watchers = self.execution().run().watchers.clone();
        let was_live = self.execution().is_live();
        self.emit(Change::ExecutionClosed { status, reason, output, failed_task: failed });
        if self.execution().open_count() > 0 {
            self.emit(Change::Remaining { tasks: Vec::new() });
        }
        if was_live {
            self.tell_end(watchers, removed);
            self.return_signals();
        }
        if let Some(found) = failure {
            self.start_failure_run(found);
        }
        Ok(())
    }

    /// Cancels what a run that is over has left open.
    pub(crate) fn cancel_rest(&mut self) -> Result<(), Stop> {
        let status = self.execution().status().unwrap_or(WorkflowStatus::Terminated);
        let reason = self.execution().reason().map(str::to_owned);
        self.emit(Change::Continued);
        self.cancel_open(status, reason.as_deref())?;
        if self.execution().open_count() > 0 {
            self.emit(Change::Remaining { tasks: Vec::new() });
        }
        Ok(())
    }

    /// Cancels open tasks, as many as one commit holds; children are told why.
    fn cancel_open(&mut self, status: WorkflowStatus, reason: Option<&str>) -> Result<(), Stop> {
        let farewell = match reason {
            Some(reason) => format!("Parent workflow has been terminated with reason: {reason}"),
            None => format!("Parent workflow has been terminated with status {status}"),
        };
        let open = self.execution().open_tasks().take(CANCELS_MAX).cloned();
        let open: Vec<Arc<Task>> = open.collect();
        self.expect_deliveries(&open)?;
        for task in open {
            self.cancel(&task, &farewell)?;
        }
        Ok(())
    }

    pub(crate) fn cancel(&mut self, task: &Task, farewell: &str) -> Result<(), Stop> {
        let held = self.hand_out(task)?;
        self.doubt_request(task, &held)?;
        let closing = Closing::new(TaskStatus::Canceled, task.reason.clone(), held.facts());
        self.emit_closed(task.id, Closing { farewell: Some(farewell.to_owned()), ..closing });
        Ok(())
    }

    /// The parent and whoever watches hear how it ended.
    fn tell_end(&mut self, watchers: Vec<(crate::event::Parent, u32)>, removed: bool) {
        let run = self.execution().run();
        let parent = run.parent.map(|parent| (parent, run.epoch));
        let child = self.execution().id();
        for (to, epoch) in parent.into_iter().chain(watchers) {
            let gone = || ChildEnd::Gone { reason: "it was removed".to_owned() };
            let end = if removed { gone() } else { self.end() };
            let message = Message::ChildEnded { task: to.task, epoch, child, end };
            self.emit(Change::Sent { to: to.execution, message });
        }
    }

    /// How this closed run ended, for those who wait for it.
    pub(crate) fn end(&mut self) -> ChildEnd {
        let output = self.execution().output().clone();
        let output = self.store(output);
        let definition = self.execution().definition().definition();
        ChildEnd::Ended {
            status: self.execution().status().unwrap_or(WorkflowStatus::Terminated),
            name: definition.name.clone(),
            version: definition.version,
            reason: self.execution().reason().map(str::to_owned),
            output,
            heard: self.execution().has_heard(),
        }
    }

    /// What a TERMINATE task says, else `outputParameters` if there are any, else the output of the
    /// last task.
    fn execution_output(&mut self) -> Payload {
        if let Some(output) = self.terminate_output() {
            return output;
        }
        let definition = Arc::clone(self.execution().definition().definition());
        match definition.output_parameters.as_ref().filter(|map| !map.is_empty()) {
            Some(parameters) => self.resolve_output(parameters),
            None => self.execution().last_task().map_or_else(Payload::empty, |t| t.output.clone()),
        }
    }

    /// Permissive tasks let the run go on and fail it at its end.
    pub(crate) fn permissive_failures(&self) -> Vec<String> {
        let failed = self.execution().latest_attempts().filter(|task| {
            let step = task.step.task();
            step.permissive
                && !step.optional
                && !task.is_passed_over
                && !task.status.is_successful()
        });
        let mut failed: Vec<_> = failed.collect();
        failed.sort_by_key(|task| task.seq);
        let sentence = |task: &&Arc<Task>| {
            let reason = task.reason.as_deref().unwrap_or_default();
            format!("Task {} failed with status: {} and reason: '{reason}'", task.id, task.status)
        };
        failed.iter().map(sentence).collect()
    }
}

/// The output with the word about the failure workflow in it.
fn noting(output: &Payload, note: String) -> Payload {
    merged(output, &disarmed(&Payload::from_value(&json!({"conductor.failure_workflow": note}))))
}
