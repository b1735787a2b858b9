//! # System tasks: those the engine runs itself, one file each
//!
//! They begin in the decision that schedules them and, but for WAIT and HUMAN, end in it too. No
//! worker is ever offered one; anybody may answer for an open one by the task API.

mod set_variable;
mod terminate;
mod wait;

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_system(&mut self, kind: Kind, task: TaskId) -> Result<(), Stop> {
        match kind {
            Kind::Worker | Kind::Human => {}
            Kind::Noop => self.end_system(task, TaskStatus::Completed, Payload::empty(), None),
            Kind::SetVariable => self.set_variables(task),
            Kind::Terminate => self.terminate_by_task(task)?,
            Kind::Wait => self.begin_wait(task),
        }
        Ok(())
    }

    fn end_system(
        &mut self,
        task: TaskId,
        status: TaskStatus,
        output: Payload,
        reason: Option<String>,
    ) {
        self.close_system(task, status, output, reason);
        self.after_close(task);
    }

    fn close_system(
        &mut self,
        task: TaskId,
        status: TaskStatus,
        output: Payload,
        reason: Option<String>,
    ) {
        let output = Some(self.store(output));
        let started_at = self.execution().expect_task(task).started_at;
        let hand_out = HandOutFacts { started_at, ..HandOutFacts::default() };
        self.emit(Change::TaskClosed { task, status, output, reason, fingerprint: None, hand_out });
    }
}
