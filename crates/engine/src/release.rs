//! # This release: system types that it does not serve
//!
//! A definition with such a type is registered, with a warning, because a run may never get there. A
//! task of the type fails for good and says what to do.

use semel_model::{Payload, TaskId, TaskStatus};

use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn fail_absent(&mut self, task: TaskId) {
        let kind = self.execution().expect_task(task).step.task().kind.clone();
        let reason = format!(
            "task type {kind} is not in this release: give the step a type of your own and let a \
             worker do it"
        );
        let status = TaskStatus::FailedWithTerminalError;
        self.end_system(task, status, Payload::empty(), Some(reason));
    }
}
