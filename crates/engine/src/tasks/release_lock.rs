//! # RELEASE_LOCK: give back a lock this run has
//!
//! Giving back what is not this run's any more does nothing, and says so.

use semel_model::{Payload, TaskId, TaskStatus, lock_name};
use serde_json::json;

use crate::decide::Stop;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_release(&mut self, id: TaskId) -> Result<(), Stop> {
        let name = lock_name(&self.execution().expect_task(id).input.value());
        match name {
            Ok(name) => {
                let released = self.release_lock(&name)?;
                let output = json!({"name": name, "released": released});
                self.end_system(id, TaskStatus::Completed, Payload::from_value(&output), None);
            }
            Err(reason) => {
                let status = TaskStatus::FailedWithTerminalError;
                self.end_system(id, status, Payload::empty(), Some(reason));
            }
        }
        Ok(())
    }
}
