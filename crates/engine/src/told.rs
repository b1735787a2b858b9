//! # Told: what other executions say to this one
//!
//! Every message may come late, after its matter is over; then it changes nothing, and its row is
//! deleted all the same.

use semel_model::{ExecutionId, TaskId, TaskStatus, WorkflowStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::{Rejection, Stop};
use crate::ending::Ending;
use crate::event::{Parent, Progress};
use crate::expression::merged;
use crate::handling::{Deed, Handled};
use crate::message::{ChildEnd, Message};
use crate::record::RecordKey;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    pub(crate) fn hear(&mut self, message: &Message) -> Result<(), Stop> {
        match message {
            Message::ChildEnded { task, epoch, child, end } => {
                self.child_ended(*task, *epoch, *child, end);
                Ok(())
            }
            Message::ParentLeft { epoch, reason } => self.parent_left(*epoch, reason),
            Message::ParentReturned { task, epoch } => self.parent_returned(*task, *epoch),
            Message::Watch { from, task, epoch } => {
                self.watch(Parent { execution: *from, task: *task }, *epoch);
                Ok(())
            }
            Message::YourTurn { task, scope, key, claim } => {
                let key = RecordKey { scope: scope.clone(), key: key.clone() };
                self.take_turn(*task, &key, claim)
            }
            Message::Handled(handled) => self.handle(handled),
            Message::Signal { progress, until } => self.hear_signal(progress, *until),
            Message::SignalRefused { progress, until } => self.take_back(progress, *until),
        }
    }

    fn child_ended(&mut self, id: TaskId, epoch: u32, child: ExecutionId, end: &ChildEnd) {
        let Some(task) = self.task(id).filter(|task| !task.status.is_terminal()) else { return };
        let waits = task.child.is_some_and(|it| it.run == child && it.epoch == epoch);
        if !waits {
            return;
        }
        let hand_out = HandOutFacts { started_at: task.started_at, ..HandOutFacts::default() };
        let closing = match end {
            ChildEnd::Ended { status, name, version, reason, output, heard } => {
                // A run of somebody else may have ended long ago.
                let is_own = task.child.is_some_and(|it| !it.is_observed);
                let output = merged(&task.output, self.payload(*output));
                let output = Some(self.store(output));
                let status = task_status(*status);
                let why = reason.as_deref().unwrap_or("null");
                let reason = (!status.is_successful()).then(|| {
                    format!("Sub workflow {name}.{version}/{child} failure reason: {why}")
                });
                let hand_out = HandOutFacts { child_heard: *heard && is_own, ..hand_out };
                Closing { output, ..Closing::new(status, reason, hand_out) }
            }
            ChildEnd::Gone { reason } => {
                let reason = format!("Sub workflow {child} cannot be waited for: {reason}");
                Closing::new(TaskStatus::Failed, Some(reason), hand_out)
            }
        };
        self.emit_closed(id, Closing { farewell: None, ..closing });
        self.after_close(id);
    }

    /// Ends with its parent, unless that is about an earlier life.
    fn parent_left(&mut self, epoch: u32, reason: &str) -> Result<(), Stop> {
        let known = self.execution().run().epoch;
        if epoch < known {
            return Ok(());
        }
        if epoch > known {
            // The parent has come back and left again: hearing of its return must not revive this.
            self.emit(Change::EpochNoted { epoch });
        }
        if !self.execution().is_live() {
            return Ok(());
        }
        let ending = Ending::of(WorkflowStatus::Terminated, Some(reason.to_owned()));
        self.close_execution(Ending { compensate: false, ..ending })
    }

    fn parent_returned(&mut self, task: TaskId, epoch: u32) -> Result<(), Stop> {
        if epoch <= self.execution().run().epoch {
            return Ok(());
        }
        let is_over = self.execution().status() == Some(WorkflowStatus::Completed);
        let may_go_on = self.is_retriable() || !self.execution().unconsumed().is_empty();
        if self.execution().is_closed() && !is_over && may_go_on {
            return self.retry_under(Some(epoch));
        }
        self.emit(Change::EpochNoted { epoch });
        if let Some(parent) = self.execution().parent().filter(|_| self.execution().is_closed()) {
            self.tell(Parent { task, ..parent }, epoch);
        }
        Ok(())
    }

    /// What an event handler does. Whatever is over already stays as it is.
    fn handle(&mut self, handled: &Handled) -> Result<(), Stop> {
        match &handled.deed {
            Deed::Begin { .. } => Ok(()), // It has.
            Deed::Terminate { reason } => self.terminate(reason.as_deref(), false),
            Deed::SetVariables { append: false } => self.update_variables(handled.payload),
            Deed::SetVariables { append: true } => self.append_variables(handled.payload),
            Deed::Answer { task, reference, status, reason } => {
                let progress = Progress {
                    status: *status,
                    output: handled.payload,
                    reason: reason.clone(),
                    worker: None,
                    callback_after_seconds: 0,
                };
                match (task, reference) {
                    (Some(id), _) => {
                        let missing = || Rejection::NotFound(format!("the run has no task {id}"));
                        self.answer_for(&self.task(*id).ok_or_else(missing)?, &progress)
                    }
                    (None, reference) => {
                        self.answer_step(reference.as_deref().unwrap_or_default(), &progress)
                    }
                }
            }
        }
    }

    fn watch(&mut self, by: Parent, epoch: u32) {
        if self.execution().is_closed() {
            return self.tell(by, epoch);
        }
        if !self.execution().run().watchers.contains(&(by, epoch)) {
            self.emit(Change::Watched { by, epoch });
        }
    }

    fn tell(&mut self, to: Parent, epoch: u32) {
        let (child, end) = (self.execution().id(), self.end());
        let message = Message::ChildEnded { task: to.task, epoch, child, end };
        self.emit(Change::Sent { to: to.execution, message });
    }
}

/// How a task ends whose child ended so.
fn task_status(status: WorkflowStatus) -> TaskStatus {
    match status {
        WorkflowStatus::Completed => TaskStatus::Completed,
        WorkflowStatus::TimedOut => TaskStatus::TimedOut,
        WorkflowStatus::Terminated => TaskStatus::Canceled,
        WorkflowStatus::Failed | WorkflowStatus::Running | WorkflowStatus::Paused => {
            TaskStatus::Failed
        }
    }
}
