//! # Named workflows: other definitions that a definition calls by a name it writes out
//!
//! Whether they are registered is for those to say who know the registry.

use serde_json::Value;

use super::{Place, places, started_definition};
use crate::WorkflowDef;

/// A workflow that is called by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedWorkflow {
    /// Where the name stands.
    pub path: String,
    pub name: String,
    /// None means the latest.
    pub version: Option<i32>,
}

impl WorkflowDef {
    /// Every other workflow that it names, or that a definition given in place names; names that are
    /// computed are known when a run gets there.
    pub fn named_workflows(&self) -> Vec<NamedWorkflow> {
        let mut found = of_definition("", self);
        found.retain(|named| named.name != self.name);
        found
    }
}

fn of_definition(prefix: &str, definition: &WorkflowDef) -> Vec<NamedWorkflow> {
    let mut found = vec![];
    let mut add = |path: String, name: Option<&str>, version: Option<i32>| {
        if let Some(name) = name.filter(|name| is_written(name)) {
            found.push(NamedWorkflow { path, name: name.to_owned(), version });
        }
    };
    let mut started = vec![];
    let mut open = vec![(prefix.to_owned(), definition)];
    while let Some((prefix, definition)) = open.pop() {
        add(format!("{prefix}failureWorkflow"), definition.failure_workflow.as_deref(), None);
        let places = places(&prefix, definition);
        for Place { path, step, .. } in &places {
            let child = step.sub_workflow_param.as_ref().filter(|_| step.kind == "SUB_WORKFLOW");
            if let Some(child) = child.filter(|child| child.workflow_definition.is_none()) {
                let at = format!("{path}.subWorkflowParam.name");
                add(at, child.name.as_deref(), child.version);
            }
            if step.kind != "START_WORKFLOW" {
                continue;
            }
            let Some(start) = step.input_parameters().get("startWorkflow") else { continue };
            let at = format!("{path}.inputParameters.startWorkflow");
            match started_definition(step) {
                Some(Ok(inside)) => started.push((format!("{at}.workflowDef."), inside)),
                Some(Err(_)) => {}
                None if start.get("workflowDef").is_some_and(|given| !given.is_null()) => {}
                None => {
                    let version = start.get("version").and_then(Value::as_i64);
                    let version = version.and_then(|version| i32::try_from(version).ok());
                    let is_open = start.get("version").is_some_and(Value::is_string);
                    let name = start.get("name").and_then(Value::as_str);
                    add(format!("{at}.name"), name.filter(|_| !is_open), version);
                }
            }
        }
        open.extend(places.iter().rev().filter_map(Place::given_definition));
    }
    for (path, inside) in started {
        found.extend(of_definition(&path, &inside));
    }
    found
}

fn is_written(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains("${") && !name.starts_with('$')
}
