//! # Registries: what a definition needs that is not in it
//!
//! Schemas and other workflows are named and registered elsewhere. A registration and the lint ask
//! here, so both say the same of them.

use std::collections::BTreeMap;

use semel_model::{NamedWorkflow, Warning, WorkflowDef};
use semel_runtime::{Definitions, Failure, World};

use crate::enforceable::{self, Unenforceable};

/// Names that one definition may have looked up.
const LOOKUPS_MAX: usize = 200;

/// What is missing of what a definition names. `beside` are definitions that come in the same request.
pub(crate) fn judge(
    world: &World,
    definition: &WorkflowDef,
    beside: &[&str],
) -> Result<Unenforceable, Failure> {
    let mut found = enforceable::in_workflow_definition(&world.schemas, definition, "")?;
    found.warned.extend(missing_workflows(&world.definitions, definition, beside)?);
    Ok(found)
}

fn missing_workflows(
    definitions: &Definitions,
    definition: &WorkflowDef,
    beside: &[&str],
) -> Result<Vec<Warning>, Failure> {
    let mut looked_up: BTreeMap<(String, Option<i32>), bool> = BTreeMap::new();
    let mut found = vec![];
    for NamedWorkflow { path, name, version } in definition.named_workflows() {
        let key = (name.clone(), version);
        let is_known = match looked_up.get(&key) {
            Some(is_known) => *is_known,
            None if beside.contains(&name.as_str()) || looked_up.len() >= LOOKUPS_MAX => true,
            None => definitions.workflow(&name, version)?.is_some(),
        };
        looked_up.insert(key, is_known);
        if is_known {
            continue;
        }
        let which = version.map(|version| format!(", version {version},")).unwrap_or_default();
        let then = match path.rsplit('.').next() {
            Some("failureWorkflow") => "until it is, nothing is started after a failure",
            _ if path.contains(".subWorkflowParam.") => {
                "until it is, a start is 404, and a step that gets there fails"
            }
            _ => "until it is, the step fails",
        };
        let message = format!("workflow {name}{which} is not registered; {then}");
        found.push(Warning::fails_at_run_time(path, message));
    }
    Ok(found)
}
