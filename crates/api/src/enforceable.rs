//! # Enforceable schemas: what a definition that enforces schemas may name
//!
//! A schema given in place that is to be enforced has to be JSON Schema: no run could ever begin with
//! another. One that is only named may still come into the registry, or be put right there, so it is a
//! warning: until then a start is refused and names it.

use semel_engine::unenforceable;
use semel_model::{InlineDefinition, SchemaDef, TaskDef, Violation, Warning, WorkflowDef};
use semel_runtime::{Failure, Schemas};

use crate::error::ApiError;

/// What is wrong with the schemas that a definition enforces.
#[derive(Default)]
pub(crate) struct Unenforceable {
    pub(crate) refused: Vec<Violation>,
    pub(crate) warned: Vec<Warning>,
}

impl Unenforceable {
    /// The warnings, unless something is refused.
    pub(crate) fn accepted(self) -> Result<Vec<Warning>, ApiError> {
        if self.refused.is_empty() { Ok(self.warned) } else { Err(ApiError::Invalid(self.refused)) }
    }

    fn add(&mut self, path: &str, found: Option<Found>) {
        match found {
            Some(Found::Broken(found)) => {
                self.refused.push(Violation { path: format!("{path}.{}", found.path), ..found });
            }
            Some(Found::Pending(message)) => {
                self.warned.push(Warning::fails_at_run_time(path, message));
            }
            None => {}
        }
    }
}

/// What is wrong with one schema.
enum Found {
    /// It can never be enforced.
    Broken(Violation),
    /// The registry does not have it yet, or not as JSON Schema.
    Pending(String),
}

/// Of a workflow, and of the definitions of tasks and workflows inside its steps.
pub(crate) fn in_workflow_definition(
    schemas: &Schemas,
    definition: &WorkflowDef,
    path: &str,
) -> Result<Unenforceable, Failure> {
    let mut found = Unenforceable::default();
    in_workflow(&mut found, schemas, definition, path)?;
    Ok(found)
}

/// Definitions inside each other are as deep as JSON may be, which is not deep.
fn in_workflow(
    found: &mut Unenforceable,
    schemas: &Schemas,
    definition: &WorkflowDef,
    path: &str,
) -> Result<(), Failure> {
    let own = [
        ("inputSchema", definition.enforced_input()),
        ("outputSchema", definition.enforced_output()),
    ];
    for (field, schema) in own {
        found.add(&format!("{path}{field}"), check(schemas, schema)?);
    }
    for step in definition.all_steps() {
        if let Some(task) = &step.task_definition {
            let path = format!("{path}tasks[{}].taskDefinition.", step.task_reference_name);
            in_task(found, schemas, task, &path)?;
        }
        let parameters = step.sub_workflow_param.as_ref();
        let given = parameters.and_then(|parameters| parameters.workflow_definition.as_ref());
        if let Some(InlineDefinition::Definition(given)) = given {
            let place = format!("{path}tasks[{}].subWorkflowParam", step.task_reference_name);
            in_workflow(found, schemas, given, &format!("{place}.workflowDefinition."))?;
        }
    }
    Ok(())
}

/// Of task definitions.
pub(crate) fn in_task_definitions(
    schemas: &Schemas,
    tasks: &[TaskDef],
) -> Result<Unenforceable, Failure> {
    let mut found = Unenforceable::default();
    for (at, task) in tasks.iter().enumerate() {
        let path = if tasks.len() == 1 { String::new() } else { format!("[{at}].") };
        in_task(&mut found, schemas, task, &path)?;
    }
    Ok(found)
}

fn in_task(
    found: &mut Unenforceable,
    schemas: &Schemas,
    task: &TaskDef,
    path: &str,
) -> Result<(), Failure> {
    for (field, schema) in
        [("inputSchema", task.enforced_input()), ("outputSchema", task.enforced_output())]
    {
        found.add(&format!("{path}{field}"), check(schemas, schema)?);
    }
    Ok(())
}

fn check(schemas: &Schemas, schema: Option<&SchemaDef>) -> Result<Option<Found>, Failure> {
    let Some(schema) = schema else { return Ok(None) };
    if !schema.is_named() {
        return Ok(unenforceable(schema).map(Found::Broken));
    }
    let SchemaDef { name, version, .. } = schema;
    let named = schemas.get(name, Some(*version).filter(|version| *version != 0))?;
    let why = match named {
        None => "is not registered".to_owned(),
        Some(named) => match unenforceable(&named) {
            Some(found) => format!("cannot be enforced: {} {}", found.path, found.message),
            None => return Ok(None),
        },
    };
    let message = format!("schema {name}, version {version}, {why}; until then no run starts");
    Ok(Some(Found::Pending(message)))
}
