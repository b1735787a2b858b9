//! # Revival: a run that was over lives again
//!
//! Retry and restart, and a parent that lives again because its child does; `rerun.rs` has the rest.
//! Whatever was removed never comes back under its old id: the generation grows.

use std::sync::Arc;

use semel_model::{Digest, TaskStatus, WorkflowStatus};

use crate::change::{Change, Removed};
use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::gate::Comer;
use crate::kinds::Kind;
use crate::message::Message;
use crate::queued_again::Then;
use crate::redo::names;
use crate::schedule::{By, Site};
use crate::task::{Flow, Task};
use crate::turn::Turn;

impl Turn<'_> {
    /// What ended unsuccessfully gets a new attempt.
    pub(crate) fn retry(&mut self) -> Result<(), Stop> {
        if let Some(status) = self.execution().status().filter(|status| !status.is_terminal()) {
            let message = format!("Workflow is still running.  status={status}");
            return Err(Rejection::NotFound(message).into());
        }
        self.expect_ended()?;
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
        timed_out || !self.unsuccessful().is_empty() || self.stopped_at_fork()
    }

    /// The run failed because it could not be forked, and the fork never became a task: what made the
    /// data may have been put right since.
    fn stopped_at_fork(&self) -> bool {
        let has_failed = self.execution().status() == Some(WorkflowStatus::Failed);
        let mut attempts = self.execution().latest_attempts();
        has_failed
            && self.execution().failed_task().is_none()
            && attempts.any(|task| {
                let next = self.chosen(task).or_else(|| self.next_after(task));
                self.leads_on(task) && next.is_some_and(|next| next.step.kind().is_fork())
            })
    }

    pub(crate) fn retry_under(&mut self, epoch: Option<u32>) -> Result<(), Stop> {
        let revived = Change::Revived { epoch, anew: false, failure_kept: true };
        let then = Then { redo: self.redoes, ..Then::default() };
        if self.live_again(revived, Comer::Revived(then))? { self.retry_failed() } else { Ok(()) }
    }

    /// Each task that ended unsuccessfully is tried again.
    pub(crate) fn retry_failed(&mut self) -> Result<(), Stop> {
        self.forget_terminate();
        let failed = self.unsuccessful();
        self.redo(Some(names(&failed)));
        for task in failed {
            if self.execution().is_closed() {
                break; // A TERMINATE task among them has ended it.
            }
            if task.kind().is_passive() {
                self.resume_task(&task, u32::from(task.status != TaskStatus::Canceled));
                continue;
            }
            let home = Arc::clone(self.execution().home(task.fork));
            let site = Site::again(&task, home.step(&task.reference).clone());
            self.schedule_again(site, &task, self.now(), By::Hand(None))?;
        }
        self.go_on_everywhere()
    }

    /// A join or a loop goes on where it was.
    pub(crate) fn resume_task(&mut self, task: &Task, further: u32) {
        self.emit(Change::TaskResumed { task: task.id, attempt: task.attempt + further });
        self.look_again(&Arc::clone(self.execution().expect_task(task.id)));
    }

    /// A run that is over may still be cancelling what it left.
    pub(crate) fn expect_ended(&self) -> Result<(), Stop> {
        if self.execution().remaining_since.is_none() {
            return Ok(());
        }
        Err(self.wrong_state("revived while its tasks are still being cancelled: ask again"))
    }

    /// The newest attempts that ended unsuccessfully, in the order of scheduling.
    pub(crate) fn unsuccessful(&self) -> Vec<Arc<Task>> {
        let execution = self.execution();
        let is_candidate = |task: &&Arc<Task>| {
            let has_place = execution.has_place(task);
            let is_probe = self.probed(task).is_some();
            !task.status.is_successful() && !task.is_passed_over && has_place && !is_probe
        };
        let mut found: Vec<_> = execution.latest_attempts().filter(is_candidate).cloned().collect();
        found.sort_by_key(|task| task.seq);
        found
    }

    /// What follows from tasks that ended well may not have been drawn when the run ended. What would
    /// end the run again at once comes when nothing else is left to do.
    pub(crate) fn go_on_everywhere(&mut self) -> Result<(), Stop> {
        let attempts = self.execution().latest_attempts();
        let mut done: Vec<_> = attempts.filter(|task| self.leads_on(task)).cloned().collect();
        done.sort_by_key(|task| task.seq);
        done.retain(|task| !self.leads_to_terminate(task));
        for task in &done {
            if let Flow::Fork { begun: 1.., branches } = task.flow {
                self.emit(Change::Forked { task: task.id, begun: 0, branches });
            }
            self.after_close(task.id);
        }
        let open: Vec<_> = self.execution().open_tasks().cloned().collect();
        open.iter().filter(|task| task.kind().is_passive()).for_each(|it| self.look_again(it));
        let turns = open.iter().filter_map(|task| self.unbegun_turn(task));
        let turns: Vec<Site> = turns.filter(|it| it.step.kind() != Kind::Terminate).collect();
        for head in turns {
            self.schedule_once(head)?;
        }
        self.stirred = true; // Perhaps nothing is open at all; then settling finds what is left.
        Ok(())
    }

    /// The TERMINATE task that ended the run, or would have, has its say when the run comes there.
    pub(crate) fn forget_terminate(&mut self) {
        let ended = |task: &&Arc<Task>| {
            let would_end = matches!(task.status, TaskStatus::Completed | TaskStatus::Canceled);
            task.step.kind() == Kind::Terminate && would_end && !task.is_passed_over
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
        let ends = |site: Site| {
            let is_begun = self.execution().latest(&site.reference).is_some();
            !is_begun && site.step.kind() == Kind::Terminate
        };
        match task.kind().is_fork() {
            true => self.heads(task).any(ends),
            false => self.chosen(task).or_else(|| self.next_after(task)).is_some_and(ends),
        }
    }

    pub(crate) fn restart(&mut self, definition: Option<Digest>) -> Result<(), Stop> {
        if self.execution().is_live() {
            return Err(self.wrong_state("restarted"));
        }
        self.expect_ended()?;
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
        self.enter(Comer::Restarted)
    }

    pub(crate) fn clear(&mut self) {
        let generation = self.execution().generation + 1;
        self.emit(Change::TasksRemoved { which: Removed::All, generation });
        self.emit(Change::VariablesReset);
        self.redo(None);
    }

    /// What the task was given; a skipped one was given nothing yet.
    pub(crate) fn input_again(&mut self, task: &Task) -> Slot {
        let is_skipped = task.status == TaskStatus::Skipped;
        let is_computed = matches!(task.kind(), Kind::DynamicFork | Kind::Switch | Kind::Decision);
        let input = match is_skipped || is_computed {
            true => {
                let site = Site {
                    step: task.step.clone(),
                    reference: task.reference.to_string(),
                    fork: task.fork,
                    definition: None,
                };
                self.input_of(&site, task.id, None)
            }
            false => task.input.clone(),
        };
        self.store(input)
    }

    /// The same task under its old id.
    pub(crate) fn do_again(&mut self, task: &Task, attempt: u32, input: Slot) -> Result<(), Stop> {
        self.emit(Change::TaskReset { task: task.id, attempt, input });
        if let Some(why) = self.unfit_input(&task.step, input) {
            self.fail_at_once(task.id, why);
            return Ok(());
        }
        self.enter_effect(task.id)?;
        let judged = self.execution().expect_task(task.id);
        if judged.status.is_terminal() || judged.is_held_back() {
            return Ok(());
        }
        self.begin_system(task.kind(), task.id)?;
        self.take_early(task.id)
    }

    /// What ended unsuccessfully beside it: a join or a loop goes on, anything else begins again.
    pub(crate) fn mend(&mut self, task: &Task, further: u32) -> Result<(), Stop> {
        if self.execution().is_closed() {
            return Ok(()); // A TERMINATE task done again has ended the run.
        }
        if task.kind().is_passive() {
            self.resume_task(task, 0);
            return Ok(());
        }
        let input = self.input_again(task);
        self.do_again(task, task.attempt + further, input)
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
                self.put_off_failures_behind(&task);
            }
            let epoch = self.epoch();
            let revived = Change::Revived { epoch, anew: false, failure_kept: false };
            self.live_again(revived, Comer::Needed)?;
        }
        self.emit(Change::TaskReopened { task: id, epoch });
        self.join_again(&task);
        if was_closed {
            self.forget_terminate();
            self.repair_siblings()?;
            self.go_on_everywhere()?;
        }
        Ok(())
    }

    /// The joins that have told of this task will tell of it anew.
    fn join_again(&mut self, task: &Task) {
        let tells = |it: &&Arc<Task>| {
            let tells = it.as_join().is_some_and(|join| join.on.contains(&task.reference));
            tells && it.status.is_terminal() && it.status.is_successful()
        };
        let found = self.execution().latest_attempts().filter(tells);
        let found: Vec<Arc<Task>> = found.cloned().collect();
        found.iter().for_each(|join| self.resume_task(join, 0));
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
                None => self.mend(&task, 1)?,
            }
        }
        Ok(())
    }
}
