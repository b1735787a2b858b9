//! # Revival: a run that was over lives again
//!
//! Retry, restart and rerun, and a parent that lives again because its child does. Whatever was
//! removed never comes back under its old id: the generation grows.

use std::sync::Arc;

use semel_model::{Digest, TaskStatus, WorkflowStatus};

use crate::change::{Change, Removed};
use crate::decide::{Rejection, Stop};
use crate::event::{Rerun, Slot};
use crate::execution::Task;
use crate::kinds::Kind;
use crate::message::Message;
use crate::pin::Step;
use crate::schedule::By;
use crate::turn::Turn;

impl Turn<'_> {
    /// What ended unsuccessfully gets a new attempt.
    pub(crate) fn retry(&mut self) -> Result<(), Stop> {
        if let Some(status) = self.execution().status().filter(|status| !status.is_terminal()) {
            let message = format!("Workflow is still running.  status={status}");
            return Err(Rejection::NotFound(message).into());
        }
        if self.execution().task_count() == 0 {
            return Err(self.wrong_state("retried: it has not begun any task"));
        }
        if !self.is_retriable() {
            let what = "retried: no task of it failed; restart it to run it as a whole";
            return Err(self.wrong_state(what));
        }
        let epoch = self.epoch();
        self.retry_under(epoch)
    }

    pub(crate) fn is_retriable(&self) -> bool {
        let timed_out = self.execution().status() == Some(WorkflowStatus::TimedOut);
        timed_out || !self.unsuccessful().is_empty()
    }

    pub(crate) fn retry_under(&mut self, epoch: Option<u32>) -> Result<(), Stop> {
        let failed = self.unsuccessful();
        self.emit(Change::Revived { epoch, anew: false, failure_kept: true });
        self.forget_terminate();
        let definition = Arc::clone(self.execution().definition());
        for task in failed {
            if self.execution().is_closed() {
                break; // A TERMINATE task among them has ended it.
            }
            let step = definition.step(&task.reference);
            self.schedule_again(step, &task, self.now(), By::Hand(None))?;
        }
        self.go_on_everywhere();
        Ok(())
    }

    /// The newest attempts that ended unsuccessfully, in the order of scheduling.
    fn unsuccessful(&self) -> Vec<Arc<Task>> {
        let execution = self.execution();
        let is_candidate = |task: &&Arc<Task>| {
            let has_place = execution.definition().find(&task.reference).is_some();
            !task.status.is_successful() && !task.is_passed_over && has_place
        };
        let mut found: Vec<_> = execution.latest_attempts().filter(is_candidate).cloned().collect();
        found.sort_by_key(|task| task.seq);
        found
    }

    /// What follows from tasks that ended well may not have been drawn when the run ended.
    fn go_on_everywhere(&mut self) {
        let ended = |task: &&Arc<Task>| {
            task.status.is_terminal()
                && task.status.is_successful()
                && task.status != TaskStatus::Skipped
        };
        let mut done: Vec<_> = self.execution().latest_attempts().filter(ended).cloned().collect();
        done.sort_by_key(|task| task.seq);
        let is_waiting = self.execution().open_tasks().next().is_some();
        // Of several that are done in a row, only the last leads on.
        let definition = self.execution().definition();
        let is_done =
            |step: &Step| self.execution().latest(step.reference()).is_some_and(|it| ended(&it));
        done.retain(|task| !definition.after(&task.reference).is_some_and(is_done));
        done.retain(|task| !(is_waiting && self.leads_to_terminate(task)));
        done.iter().for_each(|task| self.after_close(task.id));
    }

    /// The TERMINATE task that ended the run has its say again when the run comes there.
    fn forget_terminate(&mut self) {
        let ended = |task: &&Arc<Task>| {
            task.step.kind() == Kind::Terminate && task.status == TaskStatus::Completed
        };
        let found = self.execution().latest_attempts().filter(ended);
        let steps: Vec<String> = found.map(|task| task.reference.to_string()).collect();
        if !steps.is_empty() {
            let generation = self.execution().generation + 1;
            self.emit(Change::TasksRemoved { which: Removed::Steps(steps), generation });
        }
    }

    /// Going on there would end the run, and with it what it was revived for.
    fn leads_to_terminate(&self, task: &Task) -> bool {
        self.next_after(task).is_some_and(|step| step.kind() == Kind::Terminate)
    }

    pub(crate) fn restart(&mut self, definition: Option<Digest>) -> Result<(), Stop> {
        if self.execution().is_live() {
            return Err(self.wrong_state("restarted"));
        }
        let is_restartable = self.execution().definition().definition().restartable;
        if !is_restartable && self.execution().status() == Some(WorkflowStatus::Completed) {
            let id = self.execution().id();
            let message = format!("workflow {id} is COMPLETED and its definition not restartable");
            return Err(Rejection::NotFound(message).into());
        }
        if definition.is_some() {
            self.expect_fitting(self.execution().input())?;
        }
        let current = self.execution().definition().digest();
        if let Some(definition) = definition.filter(|digest| *digest != current) {
            self.emit(Change::DefinitionChanged { definition });
        }
        self.clear();
        let epoch = self.epoch();
        self.emit(Change::Revived { epoch, anew: true, failure_kept: false });
        self.begin_steps()
    }

    fn clear(&mut self) {
        let generation = self.execution().generation + 1;
        self.emit(Change::TasksRemoved { which: Removed::All, generation });
        self.emit(Change::VariablesReset);
    }

    pub(crate) fn rerun(&mut self, rerun: &Rerun) -> Result<(), Stop> {
        if self.execution().is_live() {
            return Err(self.wrong_state("rerun"));
        }
        let target = match rerun.from {
            Some(id) => {
                let missing = || {
                    let run = self.execution().id();
                    Rejection::Invalid(format!("reRunFromTaskId: {id} is no task of {run}"))
                };
                let target = self.task(id).ok_or_else(missing)?;
                if self.execution().definition().find(&target.reference).is_none() {
                    return Err(self.wrong_state("rerun from a step its definition has no more"));
                }
                Some(target)
            }
            None => None,
        };
        if let Some(input) = rerun.task_input {
            self.expect_object("taskInput", input)?;
        }
        if let Some(input) = rerun.input {
            let input = self.with_defaults(input)?;
            self.expect_fitting(self.payload(input))?;
            self.emit(Change::InputSet { input });
        }
        if let Some(correlation_id) = rerun.correlation_id.clone() {
            self.emit(Change::CorrelationSet { correlation_id });
        }
        let epoch = self.epoch();
        let revived = Change::Revived { epoch, anew: false, failure_kept: false };
        let Some(target) = target else {
            self.clear();
            self.emit(revived);
            return self.begin_steps();
        };
        let generation = self.execution().generation + 1;
        self.emit(Change::TasksRemoved { which: Removed::After(target.id), generation });
        self.emit(revived);
        let mut others = self.unsuccessful();
        others.retain(|other| other.id != target.id);
        let input = match rerun.task_input {
            Some(input) => self.given(&target.step, target.id, input),
            None => self.input_again(&target),
        };
        self.do_again(&target, target.attempt, input)?;
        for other in others {
            let input = self.input_again(&other);
            self.do_again(&other, other.attempt, input)?;
        }
        self.go_on_everywhere();
        Ok(())
    }

    /// What the task was given; a skipped one was given nothing yet.
    fn input_again(&mut self, task: &Task) -> Slot {
        let is_skipped = task.status == TaskStatus::Skipped;
        let input = match is_skipped {
            true => self.input_of(&task.step, task.id, None),
            false => task.input.clone(),
        };
        self.store(input)
    }

    /// The same task under its old id, unless a TERMINATE task done again has ended the run.
    fn do_again(&mut self, task: &Task, attempt: u32, input: Slot) -> Result<(), Stop> {
        if self.execution().is_closed() {
            return Ok(());
        }
        self.emit(Change::TaskReset { task: task.id, attempt, input });
        if let Some(why) = self.unfit_input(&task.step, input) {
            self.fail_at_once(task.id, why);
            return Ok(());
        }
        self.begin_system(task.step.kind(), task.id)
    }

    /// The child of this task lives again, so this run waits for it again. Decided in the child's
    /// commit, on a path that the round holds as a whole.
    pub(crate) fn child_revived(
        &mut self,
        id: semel_model::TaskId,
        epoch: u32,
    ) -> Result<(), Stop> {
        let Some(task) = self.task(id).filter(|task| task.child.is_some()) else { return Ok(()) };
        let known = task.child.is_some_and(|child| child.epoch == epoch);
        if known && !task.status.is_terminal() {
            return Ok(());
        }
        let was_closed = self.execution().is_closed();
        if was_closed {
            if task.status.is_successful() {
                self.put_off_failures_after(&task);
            }
            let epoch = self.epoch();
            self.emit(Change::Revived { epoch, anew: false, failure_kept: false });
        }
        self.emit(Change::TaskReopened { task: id, epoch });
        if was_closed {
            self.forget_terminate();
            self.repair_siblings()?;
            self.go_on_everywhere();
        }
        Ok(())
    }

    /// What failed behind a step that is done again comes again when the run gets there.
    fn put_off_failures_after(&mut self, task: &Task) {
        let failed = self.unsuccessful().into_iter().filter(|other| other.seq > task.seq);
        let steps: Vec<String> = failed.map(|other| other.reference.to_string()).collect();
        if !steps.is_empty() {
            let generation = self.execution().generation + 1;
            self.emit(Change::TasksRemoved { which: Removed::Steps(steps), generation });
        }
    }

    /// What was cancelled when the run ended, or ended it, goes on where it was. A child that an
    /// optional task gave up may live on alone, so such a task gets a fresh one.
    fn repair_siblings(&mut self) -> Result<(), Stop> {
        for task in self.unsuccessful() {
            let flags = task.step.task();
            let is_passed = flags.permissive && task.status != TaskStatus::Canceled;
            match task.child.filter(|child| !child.is_observed && !flags.optional) {
                Some(child) => {
                    let epoch = child.epoch + 1;
                    self.emit(Change::TaskReopened { task: task.id, epoch });
                    let message = Message::ParentReturned { task: task.id, epoch };
                    self.emit(Change::Sent { to: child.run, message });
                }
                None if is_passed => {}
                None => {
                    let input = self.input_again(&task);
                    self.do_again(&task, task.attempt + 1, input)?;
                }
            }
        }
        Ok(())
    }
}
