//! # Shared definitions: steps of one task have one definition of it in memory
//!
//! Read from its text, each step of a pinned definition brings its own copy, and a fork may have 100,000
//! steps of one task.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{TaskDef, WorkflowDef};

/// Only definitions that are equal are shared.
pub(crate) fn shared(mut definition: WorkflowDef) -> WorkflowDef {
    let mut known: BTreeMap<String, Arc<TaskDef>> = BTreeMap::new();
    definition.for_each_step_mut(|step| {
        let Some(own) = &mut step.task_definition else { return };
        match known.get(&step.name) {
            Some(shared) if !Arc::ptr_eq(shared, own) && shared == own => *own = Arc::clone(shared),
            Some(_) => {}
            None => drop(known.insert(step.name.clone(), Arc::clone(own))),
        }
    });
    definition
}

#[cfg(test)]
mod tests {
    use semel_model::WorkflowTask;

    use super::*;

    #[test]
    fn equal_definitions_of_a_task_are_shared_and_others_are_not() {
        let step = |description: &str| {
            let definition = TaskDef {
                description: Some(description.to_owned()),
                ..TaskDef::ad_hoc("charge", "SIMPLE")
            };
            let task_definition = Some(Arc::new(definition));
            WorkflowTask { name: "charge".to_owned(), task_definition, ..WorkflowTask::default() }
        };
        let tasks = Some(vec![step("a"), step("b"), step("a")]);
        let before = WorkflowDef { tasks, ..WorkflowDef::default() };
        let definition = shared(before.clone());
        assert_eq!(definition, before);
        let shown = |at: usize| definition.steps()[at].task_definition.clone().unwrap();
        assert!(Arc::ptr_eq(&shown(0), &shown(2)) && !Arc::ptr_eq(&shown(0), &shown(1)));
    }
}
