//! # SET_VARIABLE: every input key becomes a variable of the run
//!
//! Top-level overwrite; null is a value. Visible to the very next task.

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::Change;
use crate::expression::merged;
use crate::turn::Turn;

pub(crate) const VARIABLES_BYTES_MAX: usize = 256 * 1024;

impl Turn<'_> {
    pub(crate) fn set_variables(&mut self, task: TaskId) {
        let news = self.execution().expect_task(task).input.clone();
        let variables = merged(self.execution().variables(), &news);
        if variables.len() > VARIABLES_BYTES_MAX {
            let reason = format!(
                "the variables would take {} bytes, more than the limit of {VARIABLES_BYTES_MAX}",
                variables.len()
            );
            let status = TaskStatus::FailedWithTerminalError;
            return self.end_system(task, status, Payload::empty(), Some(reason));
        }
        let variables = self.store(news);
        self.emit(Change::VariablesSet { variables });
        self.end_system(task, TaskStatus::Completed, Payload::empty(), None);
    }
}
