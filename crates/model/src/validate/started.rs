//! # Started definitions: what a START_WORKFLOW step writes out among its inputs
//!
//! Its expressions belong to the run that starts it: `${...}` is put in place before the definition is
//! read, and what was written `$${...}` is left for the run that is started.

use serde_json::Value;

use crate::http_request::is_computed;
use crate::{WorkflowDef, WorkflowTask};

/// The definition, or why it is none. None: the step starts a workflow by its name, or what it starts
/// is known when it is reached.
pub fn started_definition(step: &WorkflowTask) -> Option<Result<WorkflowDef, String>> {
    if step.kind != "START_WORKFLOW" {
        return None;
    }
    let start = step.input_parameters().get("startWorkflow")?;
    let given = start.get("workflowDef").filter(|given| !given.is_null())?;
    if !given.is_object() {
        let is_open = is_computed(given);
        return (!is_open).then(|| Err("must be an object".to_owned()));
    }
    let mut text = given.clone();
    unescape(&mut text);
    match serde_json::from_str(&text.to_string()) {
        Ok(definition) => Some(Ok(definition)),
        Err(_) if is_computed(given) => None,
        Err(error) => Some(Err(format!("is no workflow definition: {error}"))),
    }
}

fn unescape(value: &mut Value) {
    match value {
        Value::String(text) if text.contains("$${") => *text = text.replace("$${", "${"),
        Value::Array(items) => items.iter_mut().for_each(unescape),
        Value::Object(members) => members.values_mut().for_each(unescape),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
