//! # Effects: what a task does to the world has one name
//!
//! Contract: docs/reference/idempotency.md#effect-key.
//! The name stays the same however often the task is tried, run again or handed out, so
//! that whoever is on the other side can recognise a repeat. A task can be told its name, its attempt
//! and the fence of its hand-out by system parameters in its input.

use semel_model::{TaskId, effect_key};
use serde_json::{Value, json};

use crate::delivery::Delivery;
use crate::execution::Execution;
use crate::turn::Turn;

/// Known only when the task is handed out: what is stored keeps the expression.
pub(crate) const FENCE: &str = "CPEWF_FENCE";

/// A task about to be scheduled: its input is made before it exists.
#[derive(Debug)]
pub(crate) struct Upcoming {
    pub(crate) id: TaskId,
    pub(crate) reference: String,
    pub(crate) attempt: u32,
    /// The dynamic fork that brought its step.
    pub(crate) fork: Option<TaskId>,
}

impl Execution {
    /// The name of what a task of that name does to the world.
    pub fn effect_key(&self, reference: &str) -> String {
        effect_key(self.id(), reference, self.effect_epoch(reference))
    }
}

impl Delivery {
    pub fn effect_key(&self) -> String {
        effect_key(self.execution, &self.reference, self.epoch)
    }
}

impl Turn<'_> {
    /// What a task can be told of itself; null where there is no task. None: no such parameter.
    pub(crate) fn system_parameter(&self, name: &str, task: Option<TaskId>) -> Option<Value> {
        let value = match name {
            "CPEWF_TASK_ID" => task.map(|id| json!(id.to_string())),
            "CPEWF_EFFECT_KEY" => {
                self.named_attempt(task).map(|(name, _)| json!(self.execution().effect_key(name)))
            }
            "CPEWF_ATTEMPT" => self.named_attempt(task).map(|(_, attempt)| json!(attempt + 1)),
            FENCE => task.map(|_| json!(format!("${{{FENCE}}}"))),
            _ => return None,
        };
        Some(value.unwrap_or(Value::Null))
    }

    fn named_attempt(&self, task: Option<TaskId>) -> Option<(&str, u32)> {
        let id = task?;
        if let Some(known) = self.execution().task(id) {
            return Some((&known.reference, known.attempt));
        }
        let upcoming = self.upcoming.as_ref().filter(|upcoming| upcoming.id == id)?;
        Some((&upcoming.reference, upcoming.attempt))
    }
}
