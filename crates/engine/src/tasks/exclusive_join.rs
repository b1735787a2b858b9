//! # EXCLUSIVE_JOIN: after the one branch that ran
//!
//! Of those it names, the first in their order that has begun counts. While that one is not over, or
//! when none has begun, the first of the default ones that has begun counts if it is over.

use std::sync::Arc;

use semel_model::TaskStatus;
use serde_json::Value;

use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn look_at_exclusive_join(&mut self, task: &Task) {
        let input = task.input.value();
        let first = |list: &str| -> Option<Arc<Task>> {
            let names = input.get(list).and_then(Value::as_array)?.iter();
            let mut begun = names.filter_map(|name| self.execution().latest(name.as_str()?));
            begun.find(|it| it.status != TaskStatus::Skipped).cloned()
        };
        let is_over = |it: &Arc<Task>| it.status.is_terminal();
        let found = first("joinOn").filter(is_over);
        let found = found.or_else(|| first("defaultExclusiveJoinTask").filter(is_over));
        let Some(found) = found else { return };
        let (output, reason) = (found.output.clone(), found.reason.clone());
        if found.status.is_successful() || found.step.task().permissive {
            self.end_system(task.id, TaskStatus::Completed, output, None);
        } else {
            self.end_system(task.id, TaskStatus::Failed, output, reason);
        }
    }
}
