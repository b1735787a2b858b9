//! # Descent: looking down from a run into its children
//!
//! Read unlocked, to find the run an operation is really about. What is decided there is decided on
//! held rows.

use std::sync::Arc;

use semel_engine::{Execution, Rejection, Task};
use semel_model::{ExecutionId, TaskId, TaskStatus};

use crate::failure::Failure;
use crate::reading::Snapshot;
use crate::world::World;

impl World {
    /// The run whose retry resumes this one: as deep as children of its unsuccessful tasks lead. None:
    /// nothing of it was unsuccessful.
    pub fn first_failure(&self, id: ExecutionId) -> Result<Option<ExecutionId>, Failure> {
        let Some(mut found) = self.glance(id)? else {
            return Err(Failure::NoExecution(id.to_string()));
        };
        if found.execution.is_live() {
            return Ok(Some(id)); // Whoever retries it will be told so.
        }
        let mut at = None;
        loop {
            let execution = &found.execution;
            let is_failed = |task: &&Arc<Task>| {
                !task.replaced && !task.is_passed_over && !task.status.is_successful()
            };
            let failed: Vec<&Arc<Task>> = execution.tasks().filter(is_failed).collect();
            if failed.is_empty() {
                return Ok(at);
            }
            at = Some(execution.id());
            match self.closed_child(&failed)? {
                Some(below) => found = below,
                None => return Ok(at),
            }
        }
    }

    /// The first child that is over. One that failed by itself comes before one that was ended because
    /// of it; what has no child is done again with the parent, which comes back with its child.
    fn closed_child(&self, failed: &[&Arc<Task>]) -> Result<Option<Snapshot>, Failure> {
        for was_cancelled in [false, true] {
            let of_kind =
                |task: &&&Arc<Task>| (task.status == TaskStatus::Canceled) == was_cancelled;
            for task in failed.iter().filter(of_kind) {
                let child = task.child.filter(|child| !child.is_observed);
                let found = child.map(|child| self.glance(child.run)).transpose()?.flatten();
                if let Some(found) = found.filter(|found| found.execution.is_closed()) {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// The run, this or one below it, that has this task. What is below must be over.
    pub fn owner(&self, id: ExecutionId, task: TaskId) -> Result<Option<ExecutionId>, Failure> {
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            let Some(found) = self.glance(id)? else { continue };
            if found.execution.task(task).is_some() {
                return Ok(Some(id));
            }
            for child in children(&found.execution) {
                let is_live = self.store.head(child)?.is_some_and(|it| !it.status.is_terminal());
                if is_live {
                    let message = format!("sub-workflow {child} is still running");
                    return Err(Rejection::WrongState(message).into());
                }
                open.push(child);
            }
        }
        Ok(None)
    }

    /// Whether the task that began this run has a newer attempt.
    pub fn is_superseded(&self, id: ExecutionId) -> Result<bool, Failure> {
        let Some(parent) = self.glance(id)?.and_then(|found| found.execution.parent()) else {
            return Ok(false);
        };
        let above = self.glance(parent.execution)?;
        let task = above.as_ref().and_then(|above| above.execution.task(parent.task));
        Ok(task.is_some_and(|task| task.replaced))
    }
}

fn children(execution: &Execution) -> Vec<ExecutionId> {
    let children = execution.tasks().filter_map(|task| task.child);
    children.filter(|child| !child.is_observed).map(|child| child.run).collect()
}
