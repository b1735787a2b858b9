//! # Deadlines: what an execution has to be woken for
//!
//! Each follows from the facts of its task or of the run, so none is ever searched for. Those of a
//! task in the hands of workers live with its delivery instead.

use semel_model::{TaskId, TaskStatus, Timestamp};

use crate::execution::{Deadline, Execution};
use crate::task::{Asked, Task};

impl Execution {
    /// The deadlines that have passed: the workflow's own, then the earliest first.
    pub(crate) fn due(&self, now: Timestamp) -> Vec<Deadline> {
        let passed = self.deadlines.iter().take_while(|(at, _)| *at <= now);
        let passed = passed.map(|(_, deadline)| *deadline);
        let mut due: Vec<_> = passed.filter(|deadline| self.heeds(*deadline)).collect();
        due.sort_by_key(|deadline| *deadline != Deadline::Workflow);
        due
    }

    /// Questions that nobody has answered in time.
    pub fn due_questions(&self, now: Timestamp) -> Vec<(TaskId, Asked)> {
        let due = self.due(now).into_iter().filter_map(|deadline| match deadline {
            Deadline::Question(task) => Some((task, self.task(task)?.question.clone()?)),
            Deadline::Workflow
            | Deadline::Gate
            | Deadline::Total(_)
            | Deadline::Run(_)
            | Deadline::Response(_)
            | Deadline::Wait(_)
            | Deadline::Begin(_)
            | Deadline::Remaining => None,
        });
        due.collect()
    }

    /// How many deadlines have passed.
    pub fn due_count(&self, now: Timestamp) -> usize {
        self.due(now).len()
    }

    /// When this execution next wants to be woken. A paused one heeds only the workflow timeout.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.deadlines.iter().find(|(_, deadline)| self.heeds(*deadline)).map(|(at, _)| *at)
    }

    fn heeds(&self, deadline: Deadline) -> bool {
        !self.is_paused() || deadline == Deadline::Workflow
    }

    pub(crate) fn deadlines_of(&self, task: &Task) -> Vec<(Timestamp, Deadline)> {
        if task.status.is_terminal() {
            return Vec::new();
        }
        let step = &task.step;
        let after = |from: Timestamp, seconds: i64, kind: fn(TaskId) -> Deadline| {
            (seconds > 0).then(|| (from.plus_seconds(seconds), kind(task.id)))
        };
        let total = after(task.first_scheduled_at, step.total_timeout_seconds(), Deadline::Total);
        let run = after(task.started_at, step.run_timeout_seconds(), Deadline::Run);
        let silent = after(task.updated_at, step.response_timeout_seconds(), Deadline::Response);
        let asked = task.question.as_ref().map(|it| (it.retry_at, Deadline::Question(task.id)));
        let is_held = task.is_held_back();
        let is_waiting = (task.system && task.status == TaskStatus::Scheduled) || is_held;
        let begins = (is_waiting && !is_held).then_some((task.ready_at, Deadline::Begin(task.id)));
        let waits = task.wait_until.map(|until| (until, Deadline::Wait(task.id)));
        [
            total.filter(|_| !task.alerted_total),
            run.filter(|_| task.system && !is_waiting && !task.alerted_run),
            silent.filter(|_| task.system && !is_waiting),
            begins,
            asked,
            waits,
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn workflow_deadline(&self) -> Option<(Timestamp, Deadline)> {
        let seconds = self.definition.definition().timeout_seconds;
        let from = self.run.last_resumed_at.max(self.run.started_at);
        (seconds > 0).then(|| (from.plus_seconds(seconds), Deadline::Workflow))
    }

    pub(crate) fn arm_workflow_deadline(&mut self) {
        if let Some(deadline) = self.workflow_deadline() {
            self.deadlines.insert(deadline);
        }
    }

    pub(crate) fn drop_workflow_deadline(&mut self) {
        if let Some(deadline) = self.workflow_deadline() {
            self.deadlines.remove(&deadline);
        }
    }
}
