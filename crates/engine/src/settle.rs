//! # Settling: what follows from tasks that have ended, to a fixed point
//!
//! First every end is followed: retried, absorbed, or led on from. Then the joins that waited for
//! it are looked at, then the loops around it, and when nothing is left to do the run is over. Work
//! is bounded, by tasks and by what expressions cost: what one commit does not hold waits for the next.

use std::collections::VecDeque;
use std::sync::Arc;

use semel_model::{TaskId, TaskStatus, WorkflowStatus};

use crate::change::Change;
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::pin::{Pinned, Step};
use crate::schedule::Site;
use crate::task::{Flow, Task};
use crate::turn::Turn;

/// Tasks that one commit begins and ends, about: everybody else waits for it.
pub(crate) const STEPS_MAX: usize = 500;

impl Turn<'_> {
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        if self.is_settled() && !std::mem::take(&mut self.stirred) {
            return Ok(());
        }
        if self.execution().status() == Some(WorkflowStatus::Running) {
            self.take_up_rest()?; // A turn is not over, nor a join, while its fork still begins.
        }
        loop {
            if self.has_done_enough() && !self.is_settled() {
                self.put_off();
                return Ok(());
            }
            if let Some(task) = self.closed.pop_front() {
                self.follow(task)?;
            } else if let Some(join) = self.joins.pop_first() {
                self.look_at_join(join)?;
            } else if let Some(around) = self.loops.pop_last() {
                self.look_at_loop(around)?;
            } else if self.reading.is_worn() {
                self.put_off(); // The output of the run, if it is over, can count on as much.
                return Ok(());
            } else if !self.rouse()? {
                return Ok(());
            }
        }
    }

    /// What is still to be done waits for a commit of its own. The expressions of a step that begins can
    /// count on as much as one of them may cost.
    pub(crate) fn has_done_enough(&self) -> bool {
        self.steps >= STEPS_MAX || self.reading.is_worn()
    }

    fn is_settled(&self) -> bool {
        self.closed.is_empty() && self.joins.is_empty() && self.loops.is_empty()
    }

    /// What is left waits for a commit of its own. A closed run has nothing left but to cancel.
    fn put_off(&mut self) {
        let closed: Vec<TaskId> = self.closed.drain(..).collect();
        let rest = std::mem::take(&mut self.joins).into_iter();
        let rest: Vec<u32> = rest.chain(std::mem::take(&mut self.loops)).collect();
        if !self.execution().is_live() || self.execution().is_paused() {
            return;
        }
        let rest = rest.iter().filter_map(|seq| self.execution().tasks.get(seq));
        let rest: Vec<TaskId> = rest.map(|task| task.id).collect();
        self.emit(Change::Remaining { tasks: [closed, rest].concat() });
    }

    /// What an earlier commit left goes on.
    pub(crate) fn take_up_rest(&mut self) -> Result<(), Stop> {
        if self.execution().is_closed() {
            return self.cancel_rest();
        }
        if self.execution().remaining_since.is_none() {
            return Ok(());
        }
        if self.is_leaving() {
            return self.leave();
        }
        let waiting = self.execution().unconsumed();
        self.emit(Change::Continued);
        self.stirred = true; // Perhaps there is nothing left but to end the run.
        waiting.iter().for_each(|task| self.look_again(task));
        Ok(())
    }

    /// Draws what follows from a task that has ended, or looks whether one may end.
    pub(crate) fn look_again(&mut self, task: &Task) {
        if task.status.is_terminal() {
            self.after_close(task.id);
        } else if task.as_loop().is_some() {
            self.loops.insert(task.seq);
        } else if task.as_join().is_some() {
            self.joins.insert(task.seq);
        }
    }

    /// What follows from a task that has ended, unless the execution is paused.
    fn follow(&mut self, id: TaskId) -> Result<(), Stop> {
        // What is drawn twice in one turn is drawn once.
        self.conclude_applied()?;
        let Some(task) = self.task(id).filter(|task| !task.replaced) else { return Ok(()) };
        if !self.execution().is_live() || self.execution().is_paused() {
            return Ok(());
        }
        if task.status.is_successful() {
            return match self.probed(&task) {
                Some(probed) => self.follow_probe(&task, &probed),
                None => self.go_on_after(&task),
            };
        }
        self.retry_or_fail(&task)
    }

    /// What has failed in this turn has its say before anything else ends the run.
    pub(crate) fn follow_failures(&mut self) -> Result<(), Stop> {
        let ended = std::mem::take(&mut self.closed);
        let is_failed = |id: &TaskId| self.task(*id).is_some_and(|it| !it.status.is_successful());
        let (failed, rest): (VecDeque<TaskId>, _) = ended.into_iter().partition(is_failed);
        self.closed = rest;
        failed.into_iter().try_for_each(|task| self.follow(task))
    }

    /// What follows from a task that has ended for good, and whose run goes on.
    pub(crate) fn go_on_after(&mut self, task: &Task) -> Result<(), Stop> {
        self.joins.extend(self.execution().joins_on(&task.reference));
        if let Some(around) = task.within.and_then(|id| self.task(id)) {
            self.loops.insert(around.seq);
        }
        if task.status.is_successful() && task.status != TaskStatus::Skipped {
            if task.kind().is_fork() {
                return self.begin_branches(task);
            }
            if let Some(head) = self.chosen(task) {
                return self.schedule_once(head);
            }
            if task.kind() == Kind::Terminate {
                return Ok(());
            }
        }
        match self.next_after(task) {
            Some(next) => self.schedule_once(next),
            None => Ok(()),
        }
    }

    pub(crate) fn schedule_once(&mut self, site: Site) -> Result<(), Stop> {
        if self.execution().latest(&site.reference).is_some() {
            return Ok(());
        }
        self.schedule(site)
    }

    /// The first step behind this task that nobody has skipped or jumped over.
    pub(crate) fn next_after(&self, task: &Task) -> Option<Site> {
        let home = Arc::clone(self.execution().home(task.fork));
        let mut step = home.find(&task.reference)?.clone();
        loop {
            let next = successor(&home, &step)?;
            let site = self.site(task, next);
            let found = self.execution().latest(&site.reference);
            let is_skipped = found
                .is_some_and(|found| found.status == TaskStatus::Skipped || found.is_passed_over);
            if !is_skipped {
                return Some(site);
            }
            step = site.step;
        }
    }

    /// A step in the same turns of the same loops as a task.
    pub(crate) fn site(&self, beside: &Task, step: &Step) -> Site {
        let reference = self.name_beside(beside, step);
        Site { step: step.clone(), reference, fork: beside.fork, definition: None }
    }

    pub(crate) fn name_beside(&self, beside: &Task, step: &Step) -> String {
        let home = self.execution().home(beside.fork);
        let around_fork =
            beside.fork.and_then(|fork| self.task(fork)).map_or(0, |fork| fork.turns.len());
        beside.neighbour(step.reference(), around_fork + home.loops_around(step))
    }

    /// Where the case that a SWITCH has chosen begins.
    pub(crate) fn chosen(&self, task: &Task) -> Option<Site> {
        let Flow::Case(case) = &task.flow else { return None };
        let home = self.execution().home(task.fork);
        let head = task.steps_of_case(case).first()?;
        let step = home.find(&head.task_reference_name)?.clone();
        let site = self.site(task, &step);
        let is_skipped = |found: &Arc<Task>| found.status == TaskStatus::Skipped;
        match self.execution().latest(&site.reference).filter(|found| is_skipped(found)) {
            Some(skipped) => self.next_after(&Arc::clone(skipped)),
            None => Some(site),
        }
    }

    /// Nothing is left to be drawn. If nothing is being done either, the run is over, unless
    /// something was put off while it waited; what waits for what will never come fails. False: all
    /// is as it should be.
    fn rouse(&mut self) -> Result<bool, Stop> {
        let execution = self.execution();
        let is_done = |task: &Arc<Task>| task.kind().is_passive() && task.question.is_none();
        let is_held_up = execution.is_paused() || execution.is_queued() || self.is_leaving();
        let may_go_on = execution.is_live() && !is_held_up;
        if !may_go_on || !execution.open_tasks().all(is_done) {
            return Ok(false);
        }
        if self.go_on_where_left()? {
            return Ok(true);
        }
        let waiting = self.execution().open_tasks().next().cloned();
        match waiting {
            None => self.complete_execution()?,
            Some(stuck) => self.fail_stuck(&stuck),
        }
        Ok(true)
    }

    /// Follows every end whose successor has not begun. True: there was one.
    fn go_on_where_left(&mut self) -> Result<bool, Stop> {
        let attempts = self.execution().latest_attempts();
        let left: Vec<_> = attempts.filter(|task| self.leads_on(task)).cloned().collect();
        left.iter().for_each(|task| self.after_close(task.id));
        let turn = self.execution().open_tasks().find_map(|task| self.unbegun_turn(task));
        let is_left = !left.is_empty() || turn.is_some();
        match turn.filter(|_| left.is_empty()) {
            Some(head) => self.schedule_once(head).map(|()| is_left),
            None => Ok(is_left),
        }
    }

    /// It has ended, and something has still to begin because of it.
    pub(crate) fn leads_on(&self, task: &Task) -> bool {
        let is_over = task.status.is_terminal() && !task.replaced && !task.is_passed_over;
        let goes_on = task.status.is_successful() || task.step.task().permissive;
        is_over && goes_on && self.is_left(task)
    }

    fn is_left(&self, task: &Task) -> bool {
        if task.kind() == Kind::Terminate || task.status == TaskStatus::Skipped {
            return false;
        }
        let around = task.within.and_then(|id| self.task(id));
        let is_past = |around: Arc<Task>| {
            let turn = task.turns.get(around.turns.len());
            around.status.is_terminal() || turn != around.as_loop().map(|own| &own.turn)
        };
        if around.is_some_and(is_past) {
            return false; // An upgrade changes nothing in turns that are over.
        }
        let begun = |site: &Site| self.execution().latest(&site.reference).is_some();
        if task.kind().is_fork() {
            return !self.has_all_branches(task);
        }
        let next = self.chosen(task).or_else(|| self.next_after(task));
        next.is_some_and(|next| !begun(&next))
    }
}

/// What comes after a step in its list, or after the SWITCH it is the end of.
pub(crate) fn successor<'a>(home: &'a Pinned, step: &Step) -> Option<&'a Step> {
    if let Some(next) = home.after(step) {
        return Some(next);
    }
    let around = home.around(step)?;
    around.kind().is_choice().then(|| successor(home, around))?
}

/// The JOIN of a fork: right behind it, or behind the SWITCH or the outer fork it is the end of.
pub(crate) fn join_behind<'a>(home: &'a Pinned, fork: &Step) -> Option<&'a Step> {
    if let Some(next) = home.after(fork) {
        return Some(next).filter(|next| next.kind() == Kind::Join);
    }
    let around = home.around(fork)?;
    (around.kind().is_choice() || around.kind() == Kind::Fork).then(|| join_behind(home, around))?
}
