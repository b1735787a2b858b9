//! # Schemas given in place: where a definition enforces one
//!
//! Whether a schema is one is for those to say who can read it; here is only where they stand.

use semel_model::{InlineDefinition, SchemaDef, TaskDef, WorkflowDef};

/// Every schema that a definition, or a definition inside it, gives in place and enforces; each with
/// its path, as a registration names it.
pub fn schemas_in_place(definition: &WorkflowDef) -> Vec<(String, &SchemaDef)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), definition)];
    while let Some((path, definition)) = open.pop() {
        let (input, output) = (definition.enforced_input(), definition.enforced_output());
        found.extend(both(&path, input, output));
        for step in definition.all_steps() {
            let place = format!("{path}tasks[{}]", step.task_reference_name);
            if let Some(task) = &step.task_definition {
                found.extend(of_task(&format!("{place}.taskDefinition."), task));
            }
            let given = step.sub_workflow_param.as_ref();
            let given = given.and_then(|given| given.workflow_definition.as_ref());
            if let Some(InlineDefinition::Definition(given)) = given {
                open.push((format!("{place}.subWorkflowParam.workflowDefinition."), given));
            }
        }
    }
    found
}

/// The same of a task definition.
pub fn schemas_of_task(task: &TaskDef) -> Vec<(String, &SchemaDef)> {
    of_task("", task).collect()
}

fn of_task<'a>(path: &str, task: &'a TaskDef) -> impl Iterator<Item = (String, &'a SchemaDef)> {
    both(path, task.enforced_input(), task.enforced_output())
}

fn both<'a>(
    path: &str,
    input: Option<&'a SchemaDef>,
    output: Option<&'a SchemaDef>,
) -> impl Iterator<Item = (String, &'a SchemaDef)> {
    let all = [("inputSchema", input), ("outputSchema", output)];
    let placed = all.map(|(field, schema)| (format!("{path}{field}"), schema));
    let in_place = |(path, schema): (String, Option<&'a SchemaDef>)| Some((path, schema?));
    placed.into_iter().filter_map(in_place).filter(|(_, schema)| !schema.is_named())
}
