//! # Enforceable schemas: what a definition that enforces schemas may name
//!
//! Better refused at the door than without effect at run time: a schema that is to be enforced has to
//! be JSON Schema, and to be there.

use semel_engine::unenforceable;
use semel_model::{InlineDefinition, SchemaDef, TaskDef, Violation, WorkflowDef};
use semel_runtime::Schemas;

use crate::error::ApiError;

/// Of a workflow, and of the definitions of tasks and workflows inside its steps.
pub(crate) fn check_workflow(
    schemas: &Schemas,
    definition: &WorkflowDef,
    path: &str,
) -> Result<(), ApiError> {
    let found = in_workflow(schemas, definition, path)?;
    if found.is_empty() { Ok(()) } else { Err(ApiError::Invalid(found)) }
}

/// Definitions inside each other are as deep as JSON may be, which is not deep.
fn in_workflow(
    schemas: &Schemas,
    definition: &WorkflowDef,
    path: &str,
) -> Result<Vec<Violation>, ApiError> {
    let mut found = Vec::new();
    let own = [
        ("inputSchema", definition.enforced_input()),
        ("outputSchema", definition.enforced_output()),
    ];
    for (field, schema) in own {
        found.extend(check(schemas, schema, &format!("{path}{field}"))?);
    }
    for step in definition.all_steps() {
        if let Some(task) = &step.task_definition {
            let path = format!("{path}tasks[{}].taskDefinition.", step.task_reference_name);
            found.extend(in_task(schemas, task, &path)?);
        }
        let parameters = step.sub_workflow_param.as_ref();
        let given = parameters.and_then(|parameters| parameters.workflow_definition.as_ref());
        if let Some(InlineDefinition::Definition(given)) = given {
            let place = format!("{path}tasks[{}].subWorkflowParam", step.task_reference_name);
            let path = format!("{place}.workflowDefinition.");
            found.extend(in_workflow(schemas, given, &path)?);
        }
    }
    Ok(found)
}

/// Of task definitions.
pub(crate) fn check_tasks(schemas: &Schemas, tasks: &[TaskDef]) -> Result<(), ApiError> {
    let mut found = Vec::new();
    for (at, task) in tasks.iter().enumerate() {
        let path = if tasks.len() == 1 { String::new() } else { format!("[{at}].") };
        found.extend(in_task(schemas, task, &path)?);
    }
    if found.is_empty() { Ok(()) } else { Err(ApiError::Invalid(found)) }
}

fn in_task(schemas: &Schemas, task: &TaskDef, path: &str) -> Result<Vec<Violation>, ApiError> {
    let mut found = Vec::new();
    for (field, schema) in
        [("inputSchema", task.enforced_input()), ("outputSchema", task.enforced_output())]
    {
        found.extend(check(schemas, schema, &format!("{path}{field}"))?);
    }
    Ok(found)
}

fn check(
    schemas: &Schemas,
    schema: Option<&SchemaDef>,
    path: &str,
) -> Result<Option<Violation>, ApiError> {
    let Some(schema) = schema else { return Ok(None) };
    let found = match schema.is_named() {
        false => unenforceable(schema),
        true => {
            let version = Some(schema.version).filter(|version| *version != 0);
            match schemas.get(&schema.name, version)? {
                Some(named) => unenforceable(&named),
                None => {
                    let message = format!("no schema of that name and version {}", schema.version);
                    Some(Violation::new("name", message).with_value(&schema.name))
                }
            }
        }
    };
    Ok(found.map(|found| Violation { path: format!("{path}.{}", found.path), ..found }))
}
