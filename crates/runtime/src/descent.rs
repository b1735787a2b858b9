//! # Descent: looking down from a run into its children
//!
//! Read unlocked, to find the run an operation is really about. What is decided there is decided on
//! held rows.

use std::sync::Arc;

use semel_engine::{Execution, Rejection, Task};
use semel_model::{ExecutionId, TaskId};

use crate::failure::Failure;
use crate::world::World;

impl World {
    /// The run whose retry resumes this one: as deep as its first unsuccessful tasks lead. None:
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
            // A loop stands before the steps inside it, and fails because one of them did.
            let failed = execution.tasks().filter(is_failed).find(|task| !task.is_passive());
            let failed = failed.or_else(|| execution.tasks().find(is_failed));
            let Some(failed) = failed else { return Ok(at) };
            at = Some(execution.id());
            let below = failed.child.filter(|child| !child.is_observed);
            let below = below.map(|child| self.glance(child.run)).transpose()?.flatten();
            match below.filter(|below| below.execution.is_closed()) {
                Some(below) => found = below,
                None => return Ok(at),
            }
        }
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
