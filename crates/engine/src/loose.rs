//! # Loose steps: those a run brings with its data
//!
//! The branches of a dynamic fork, and what a DYNAMIC task turns out to be. They are pinned like a
//! definition, because workers' queues and timeouts follow from them, but each stands alone: no step
//! follows another. Their inputs are data: what looks like an expression in them is not one.

pub(crate) mod brief;

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{TaskDef, WorkflowDef, WorkflowTask};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::pin::Pinned;

/// How they are stored. Task definitions stand beside the steps, once each.
#[derive(Serialize, Deserialize)]
struct Stored {
    branches: Vec<WorkflowTask>,
    definitions: BTreeMap<String, Arc<TaskDef>>,
    workflow: String,
    version: i32,
}

const BEGINNING: &[u8] = br#"{"branches":"#;

pub(crate) fn is_loose(text: &[u8]) -> bool {
    text.starts_with(BEGINNING)
}

/// The text that [`parse`] reads. Task definitions are taken out of the steps.
pub(crate) fn write(steps: Vec<WorkflowTask>, of: &WorkflowDef) -> String {
    #[derive(Serialize)]
    struct Written {
        branches: Vec<Box<RawValue>>,
        definitions: BTreeMap<String, Arc<TaskDef>>,
        workflow: String,
        version: i32,
    }
    let mut definitions: BTreeMap<String, Arc<TaskDef>> = BTreeMap::new();
    let mut branches = Vec::with_capacity(steps.len());
    for mut step in steps {
        for_each_mut(&mut step, &mut |step| {
            let Some(definition) = step.task_definition.take() else { return };
            let shared = definitions.entry(step.name.clone()).or_insert_with(|| definition.clone());
            step.task_definition = (*shared != definition).then_some(definition);
        });
        // As text at once: the values of many steps take thirty times as much memory.
        branches.push(brief::text(&step));
    }
    let written = Written { branches, definitions, workflow: of.name.clone(), version: of.version };
    serde_json::to_string(&written).expect("steps are plain data")
}

pub(crate) fn parse(text: &[u8]) -> Result<Pinned, serde_json::Error> {
    let Stored { mut branches, definitions, workflow, version } = serde_json::from_slice(text)?;
    let embed = &mut |step: &mut WorkflowTask| {
        let own = step.task_definition.take();
        let found = own.or_else(|| definitions.get(&step.name).cloned());
        let found = found.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(&step.name, &step.kind)));
        step.task_definition = Some(found);
    };
    branches.iter_mut().for_each(|step| for_each_mut(step, embed));
    let definition =
        WorkflowDef { name: workflow, version, tasks: Some(branches), ..WorkflowDef::default() };
    Ok(Pinned::stored_as(text.to_vec(), definition, true))
}

/// A step and all that is inside it.
pub(crate) fn for_each_mut(step: &mut WorkflowTask, visit: &mut impl FnMut(&mut WorkflowTask)) {
    visit(step);
    step.children_mut().flatten().for_each(|inner| for_each_mut(inner, visit));
}
