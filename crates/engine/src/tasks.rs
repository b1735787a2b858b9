//! # System tasks: those the engine runs itself, one file each
//!
//! They begin in the decision that schedules them, or when their delay is over; most end in it too.
//! No worker is ever offered one; anybody may answer for an open one by the task API.

mod event;
mod set_variable;
mod start_workflow;
mod sub_workflow;
mod terminate;
mod wait;

pub(crate) use set_variable::VARIABLES_BYTES_MAX;

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::Stop;
use crate::execution::Task;
use crate::kinds::Kind;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    pub(crate) fn begin_system(&mut self, kind: Kind, task: TaskId) -> Result<(), Stop> {
        match kind {
            Kind::Worker | Kind::Human => {}
            Kind::Noop => self.end_system(task, TaskStatus::Completed, Payload::empty(), None),
            Kind::SetVariable => self.set_variables(task),
            Kind::Terminate => self.terminate_by_task(task)?,
            Kind::Wait => self.begin_wait(task),
            Kind::SubWorkflow => self.begin_child(task)?,
            Kind::StartWorkflow => self.begin_start(task)?,
            Kind::Event => self.begin_event(task),
        }
        Ok(())
    }

    /// The delay of a task the engine runs itself is over.
    pub(crate) fn begin_delayed(&mut self, id: TaskId) -> Result<(), Stop> {
        let waits = |task: &Arc<Task>| task.system && task.status == TaskStatus::Scheduled;
        let Some(task) = self.task(id).filter(waits) else { return Ok(()) };
        if self.must_wait(&task.step) {
            return Ok(()); // It is still due, so the run wakes again at once.
        }
        self.emit(Change::TaskBegan { task: id });
        self.begin_system(task.step.kind(), id)
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
        self.emit_closed(task, Closing { output, ..Closing::new(status, reason, hand_out) });
    }
}
