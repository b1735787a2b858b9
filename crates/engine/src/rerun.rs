//! # Reruns: a run that was over is done again from one of its tasks on
//!
//! What came after the task is as if it had never been; what is around it waits for it again. Without
//! a task the run begins as a whole.

use std::sync::Arc;

use semel_model::TaskStatus;

use crate::change::{Change, Removed};
use crate::decide::{Rejection, Stop};
use crate::event::{Rerun, Slot};
use crate::gate::Comer;
use crate::kinds::Kind;
use crate::queued_again::Then;
use crate::redo::names;
use crate::settle::join_behind;
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn rerun(&mut self, rerun: &Rerun) -> Result<(), Stop> {
        if self.execution().is_live() {
            return Err(self.wrong_state("rerun"));
        }
        self.expect_ended()?;
        let target = match rerun.from {
            Some(id) => {
                let missing = || {
                    let run = self.execution().id();
                    Rejection::Invalid(format!("reRunFromTaskId: {id} is no task of {run}"))
                };
                let target = self.task(id).ok_or_else(missing)?;
                if self.execution().home(target.fork).find(&target.reference).is_none() {
                    return Err(self.wrong_state("rerun from a step its definition has no more"));
                }
                if !self.is_reached(&target) {
                    return Err(self.wrong_state("rerun from a step it had not come to"));
                }
                Some(self.with_its_child(target))
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
            return self.enter(Comer::Restarted);
        };
        let (from, input) = (Some(target.id), rerun.task_input);
        let then = Then { from, input, redo: self.redoes };
        match self.live_again(revived, Comer::Revived(then))? {
            true => self.rerun_from(&target, input),
            false => Ok(()),
        }
    }

    /// That task is done again, and all that comes after it.
    pub(crate) fn rerun_from(
        &mut self,
        target: &Arc<Task>,
        task_input: Option<Slot>,
    ) -> Result<(), Stop> {
        let gone = self.remove_after(target);
        let mut again = names(&gone);
        if target.kind() != Kind::Terminate {
            self.forget_terminate();
        }
        self.surround(target);
        self.reopen_around(target, gone);
        let mut others = self.unsuccessful();
        others.retain(|other| other.id != target.id);
        again.extend(names(&others));
        again.insert(target.reference.to_string());
        self.redo(Some(again));
        let input = match task_input {
            Some(input) => self.given(&target.step, target.fork, target.id, input),
            None => self.input_again(target),
        };
        let ends_all = target.kind() == Kind::Terminate;
        if !ends_all {
            self.do_again(target, target.attempt, input)?;
        }
        for other in others {
            self.mend(&other, 0)?;
        }
        if ends_all && self.execution().is_live() {
            self.do_again(target, target.attempt, input)?;
        }
        self.go_on_everywhere()
    }

    /// What came after a task is as if it had never been. Beside a sub-workflow only what follows
    /// from it goes: its siblings keep their children.
    fn remove_after(&mut self, target: &Task) -> Vec<Arc<Task>> {
        let before: Vec<Arc<Task>> = self.execution().tasks().cloned().collect();
        let which = match target.kind() == Kind::SubWorkflow {
            true => Removed::Steps(self.downstream(target)),
            false => Removed::After(target.id),
        };
        let generation = self.execution().generation + 1;
        self.emit(Change::TasksRemoved { which, generation });
        let is_gone = |task: &Arc<Task>| self.execution().task(task.id).is_none();
        before.into_iter().filter(is_gone).collect()
    }

    /// The loops around a task are in its turns again, and the joins behind its forks wait for it.
    fn surround(&mut self, target: &Task) {
        let home = Arc::clone(self.execution().home(target.fork));
        let Some(place) = home.find(&target.reference) else { return };
        for outer in home.surroundings(place) {
            let name = self.name_beside(target, outer);
            let behind = join_behind(&home, outer).map(|join| self.name_beside(target, join));
            let is_loop = outer.kind() == Kind::DoWhile;
            let waiting =
                if is_loop { Some(name) } else { behind.filter(|_| outer.kind().is_fork()) };
            let found = waiting.and_then(|name| self.execution().latest(&name).cloned());
            let Some(found) = found else { continue };
            if found.kind() == Kind::DoWhile {
                let turn = target.turns.get(found.turns.len()).copied().unwrap_or(1);
                self.emit(Change::LoopTurned { task: found.id, turn, items: None });
            }
            self.wait_again(&found);
        }
        let Some(fork) = target.fork.and_then(|fork| self.task(fork)) else { return };
        let home = Arc::clone(self.execution().home(fork.fork));
        let join = home.find(&fork.reference).and_then(|step| join_behind(&home, step));
        let join = join.map(|join| self.name_beside(&fork, join));
        if let Some(join) = join.and_then(|name| self.execution().latest(&name).cloned()) {
            self.wait_again(&join);
        }
        self.surround(&fork);
    }

    /// What was skipped waits for nothing.
    pub(crate) fn wait_again(&mut self, task: &Task) {
        if task.status.is_terminal() && task.status != TaskStatus::Skipped {
            self.resume_task(task, 0);
        }
    }
}
