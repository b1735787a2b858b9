//! # Timeouts: total, run, poll, response, and the workflow's own
//!
//! When several are due they are judged in that order. The response timeout fails the attempt
//! whatever the policy says: it is how a dead worker is noticed. A paused execution heeds none but
//! the workflow timeout.

use std::sync::Arc;

use semel_model::{
    TaskId, TaskStatus, TaskTimeoutPolicy, Timestamp, WorkflowStatus, WorkflowTimeoutPolicy,
};

use crate::change::{Change, Timeout};
use crate::decide::Stop;
use crate::delivery::HandOut;
use crate::ending::Ending;
use crate::task::Task;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    /// A deadline of the task's delivery has passed, or so the row said when it was read. What is
    /// due of the execution itself comes first, then all that is due of the task.
    pub(crate) fn expire(&mut self, id: TaskId) -> Result<(), Stop> {
        self.wake()?;
        let Some(task) = self.task(id).filter(|task| !task.status.is_terminal()) else {
            return Ok(());
        };
        let held = self.hand_out(&task)?;
        if self.execution().is_paused() {
            return Ok(());
        }
        if self.has_outlived_key(&task, &held)? {
            return Ok(());
        }
        let now = self.now();
        let waiting = [
            (Timeout::Run, held.run_until),
            (Timeout::Poll, held.poll_until.filter(|_| !held.leased)),
            (Timeout::Response, held.lease_until.filter(|_| held.leased)),
        ];
        for (timeout, until) in waiting {
            let is_open = !self.execution().expect_task(id).status.is_terminal();
            if is_open && until.is_some_and(|until| until <= now) {
                self.time_out(&task, timeout, &held)?;
            }
        }
        Ok(())
    }

    /// A clock the execution keeps itself has run out.
    pub(crate) fn expire_clock(&mut self, id: TaskId, timeout: Timeout) -> Result<(), Stop> {
        let Some(task) = self.task(id).filter(|task| !task.status.is_terminal()) else {
            return Ok(());
        };
        let held = self.hand_out(&task)?;
        self.time_out(&task, timeout, &held)
    }

    fn time_out(&mut self, task: &Arc<Task>, timeout: Timeout, held: &HandOut) -> Result<(), Stop> {
        let policy = task.step.timeout_policy();
        let reason = self.reason(task, timeout, held);
        match (timeout, policy) {
            (Timeout::Response, _) | (_, TaskTimeoutPolicy::Retry) => {
                let facts = held.facts();
                if self.ends_in_doubt(task, &facts, None, Some(&reason))? {
                    return Ok(());
                }
                self.close_timed_out(task, reason, held);
                self.after_close(task.id);
                Ok(())
            }
            (_, TaskTimeoutPolicy::TimeOutWf) => {
                self.doubt_request(task, held)?;
                self.close_timed_out(task, reason.clone(), held);
                self.fail_execution(self.execution().expect_task(task.id).clone().as_ref(), reason)
            }
            (_, TaskTimeoutPolicy::AlertOnly) => {
                self.emit(Change::TaskAlerted { task: task.id, timeout });
                Ok(())
            }
        }
    }

    fn close_timed_out(&mut self, task: &Task, reason: String, held: &HandOut) {
        let closing = Closing::new(TaskStatus::TimedOut, Some(reason), held.facts());
        self.emit_closed(task.id, closing);
    }

    fn reason(&self, task: &Task, timeout: Timeout, held: &HandOut) -> String {
        let step = &task.step;
        let name = &step.task().name;
        let policy = step.timeout_policy();
        let elapsed = |from: Timestamp| self.now().since_ms(from) / 1000;
        match timeout {
            Timeout::Response => format!(
                "responseTimeout: {} exceeded for the taskId: {} with Task Definition: {name}",
                step.response_timeout_seconds(),
                task.id
            ),
            Timeout::Run => format!(
                "Task timed out after {} seconds. Timeout configured as {} seconds. Timeout policy \
                 configured to {policy}",
                elapsed(held.started_at),
                step.run_timeout_seconds()
            ),
            Timeout::Poll => format!(
                "Task poll timed out after {} seconds. Poll timeout configured as {} seconds. \
                 Timeout policy configured to {policy}",
                elapsed(task.ready_at),
                step.poll_timeout_seconds()
            ),
            Timeout::Total => format!(
                "Task {name}/{} exceeded total timeout of {} seconds (elapsed {} seconds across \
                 all attempts including retry delays). Timeout policy: {policy}",
                task.id,
                step.total_timeout_seconds(),
                elapsed(task.first_scheduled_at)
            ),
        }
    }

    pub(crate) fn time_out_execution(&mut self) -> Result<(), Stop> {
        let definition = Arc::clone(self.execution().definition().definition());
        match definition.timeout_policy {
            WorkflowTimeoutPolicy::AlertOnly => {
                self.emit(Change::ExecutionAlerted);
                Ok(())
            }
            WorkflowTimeoutPolicy::TimeOutWf => {
                let from = self.execution().last_resumed_at().max(self.execution().started_at());
                let reason = format!(
                    "Workflow timed out after {} seconds. Timeout configured as {} seconds. \
                     Timeout policy configured to {}",
                    self.now().since_ms(from) / 1000,
                    definition.timeout_seconds,
                    definition.timeout_policy
                );
                self.close_execution(Ending::of(WorkflowStatus::TimedOut, Some(reason)))
            }
        }
    }
}
