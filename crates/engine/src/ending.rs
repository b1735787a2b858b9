//! # Endings: completed, failed, timed out, terminated
//!
//! Closing an execution cancels what is still open and computes the output; every ending takes this
//! one door.

use std::sync::Arc;

use semel_model::{Payload, TaskStatus, WorkflowStatus};

use crate::change::Change;
use crate::decide::Stop;
use crate::execution::Task;
use crate::retry::ending_of;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn complete_execution(&mut self) -> Result<(), Stop> {
        let failures = self.permissive_failures();
        if failures.is_empty() {
            return self.close_execution(WorkflowStatus::Completed, None, None);
        }
        self.close_execution(WorkflowStatus::Failed, Some(failures.join(". ")), None)
    }

    pub(crate) fn fail_execution(&mut self, task: &Task, reason: String) -> Result<(), Stop> {
        self.close_execution(ending_of(task.status), Some(reason), Some(task))
    }

    /// TERMINATED is reached from every state but COMPLETED; a second call changes nothing.
    pub(crate) fn terminate(&mut self, reason: Option<&str>) -> Result<(), Stop> {
        match self.execution().status() {
            Some(WorkflowStatus::Completed) => Err(self.wrong_state("terminated")),
            Some(WorkflowStatus::Terminated) | None => Ok(()),
            Some(
                WorkflowStatus::Running
                | WorkflowStatus::Paused
                | WorkflowStatus::Failed
                | WorkflowStatus::TimedOut,
            ) => self.close_execution(WorkflowStatus::Terminated, reason.map(str::to_owned), None),
        }
    }

    pub(crate) fn close_execution(
        &mut self,
        status: WorkflowStatus,
        reason: Option<String>,
        failed: Option<&Task>,
    ) -> Result<(), Stop> {
        // The output sees the run as it ends: its last status, and open tasks still open.
        self.ending = Some(status);
        let output = self.execution_output();
        let output = self.store(output);
        let open: Vec<Arc<Task>> = self.execution().open_tasks().cloned().collect();
        for task in open {
            let held = self.hand_out(&task)?;
            self.emit(Change::TaskClosed {
                task: task.id,
                status: TaskStatus::Canceled,
                output: None,
                reason: task.reason.clone(),
                fingerprint: None,
                hand_out: held.facts(),
            });
        }
        let failed_task = failed.map(|task| task.id);
        self.emit(Change::ExecutionClosed { status, reason, output, failed_task });
        Ok(())
    }

    /// What a TERMINATE task says, else `outputParameters` if there are any, else the output of the
    /// last task.
    fn execution_output(&mut self) -> Payload {
        if let Some(output) = self.terminate_output() {
            return output;
        }
        let definition = Arc::clone(self.execution().definition().definition());
        match definition.output_parameters.as_ref().filter(|map| !map.is_empty()) {
            Some(parameters) => self.resolve_output(parameters),
            None => self.execution().last_task().map_or_else(Payload::empty, |t| t.output.clone()),
        }
    }

    /// Permissive tasks let the run go on and fail it at its end.
    pub(crate) fn permissive_failures(&self) -> Vec<String> {
        let definition = self.execution().definition();
        let failed = self.execution().latest_attempts().filter(|task| {
            let step = definition.step(&task.reference).task();
            step.permissive && !step.optional && !task.status.is_successful()
        });
        let mut failed: Vec<_> = failed.collect();
        failed.sort_by_key(|task| task.seq);
        let sentence = |task: &&Arc<Task>| {
            let reason = task.reason.as_deref().unwrap_or_default();
            format!("Task {} failed with status: {} and reason: '{reason}'", task.id, task.status)
        };
        failed.iter().map(sentence).collect()
    }
}
