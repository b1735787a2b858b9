//! # Enforced schemas: those of a pinned definition
//!
//! Pinning copies a schema that is named into the definition, so a run keeps the one it began with;
//! each is compiled once, when it is first needed. One that cannot be used, because it is not
//! registered or no JSON Schema, keeps runs from starting. Whatever started without it goes on
//! without it.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use semel_model::{Payload, SchemaDef, TaskDef, WorkflowDef};

use super::{Schema, unenforceable};
use crate::decide::Rejection;
use crate::expression::with_defaults;
use crate::pin::{Pinned, Registry, Step};
use crate::tasks::unmarked;

/// The schemas of what goes into something and of what comes out, compiled.
#[derive(Debug, Default)]
pub(crate) struct Enforced {
    input: OnceLock<Option<Schema>>,
    output: OnceLock<Option<Schema>>,
}

impl Enforced {
    fn input(&self, schema: Option<&SchemaDef>) -> Option<&Schema> {
        let schema = schema?;
        self.input.get_or_init(|| compiled(schema)).as_ref()
    }

    fn output(&self, schema: Option<&SchemaDef>) -> Option<&Schema> {
        let schema = schema?;
        self.output.get_or_init(|| compiled(schema)).as_ref()
    }
}

fn compiled(schema: &SchemaDef) -> Option<Schema> {
    let data = schema.data.as_ref().filter(|_| schema.is_json())?;
    Schema::compile(data).ok()
}

impl Step {
    pub(crate) fn input_schema(&self) -> Option<&Schema> {
        self.enforced().input(self.policy().enforced_input())
    }

    pub(crate) fn output_schema(&self) -> Option<&Schema> {
        self.enforced().output(self.policy().enforced_output())
    }
}

impl Pinned {
    fn input_schema(&self) -> Option<&Schema> {
        self.enforced().input(self.definition().enforced_input())
    }

    pub(crate) fn output_schema(&self) -> Option<&Schema> {
        self.enforced().output(self.definition().enforced_output())
    }

    /// Whether there is anything that a run of it may not begin with.
    pub(crate) fn is_choosy(&self) -> bool {
        self.lacking().is_some() || self.input_schema().is_some()
    }

    /// Why no run of it may begin with that input.
    pub(crate) fn refusal(&self, input: &Payload) -> Option<Rejection> {
        if let Some(lacking) = self.lacking() {
            return Some(Rejection::NotFound(lacking.to_owned()));
        }
        let schema = self.input_schema()?;
        let unmarked = unmarked(input);
        let input = unmarked.as_ref().unwrap_or(input);
        let filled = with_defaults(self.definition(), input);
        let found = schema.violations("input", filled.as_ref().unwrap_or(input));
        (!found.is_empty()).then_some(Rejection::Unfit(found))
    }

    /// A schema it enforces and does not have; found out once.
    pub(crate) fn find_lacking(&self) -> Option<String> {
        let definition = self.definition();
        let own = [
            ("inputSchema".to_owned(), definition.enforced_input(), self.input_schema()),
            ("outputSchema".to_owned(), definition.enforced_output(), self.output_schema()),
        ];
        let of_steps = self.steps().iter().flat_map(|step| {
            let task = step.policy();
            let of = |field: &str| format!("{field} of task {}", task.name);
            [
                (of("inputSchema"), task.enforced_input(), step.input_schema()),
                (of("outputSchema"), task.enforced_output(), step.output_schema()),
            ]
        });
        own.into_iter().chain(of_steps).find_map(|(what, wanted, usable)| {
            let wanted = wanted.filter(|_| usable.is_none())?;
            Some(format!("{what}: {}", why_lacking(wanted)))
        })
    }
}

fn why_lacking(schema: &SchemaDef) -> String {
    if schema.is_named() {
        let SchemaDef { name, version, .. } = schema;
        return format!("No such schema found by name: {name}, version: {version}");
    }
    let found = unenforceable(schema).expect("it could not be compiled");
    format!("{} {}", found.path, found.message)
}

/// Those that are named, and will be enforced, in the definition itself and inside its steps.
pub(crate) fn named_schemas(definition: &WorkflowDef) -> BTreeSet<(String, i32)> {
    let own = [definition.enforced_input(), definition.enforced_output()];
    let tasks = definition.all_steps().filter_map(|step| step.task_definition.as_deref());
    let mut named = named_by(tasks);
    named.extend(own.into_iter().flatten().filter_map(key));
    named
}

/// The same of task definitions.
pub(crate) fn named_by<'a>(tasks: impl Iterator<Item = &'a TaskDef>) -> BTreeSet<(String, i32)> {
    let all = tasks.flat_map(|task| [task.enforced_input(), task.enforced_output()]);
    all.flatten().filter_map(key).collect()
}

fn key(schema: &SchemaDef) -> Option<(String, i32)> {
    schema.is_named().then(|| (schema.name.clone(), schema.version))
}

/// A schema that a task definition enforces and that cannot be used.
pub(crate) fn lacking_in(task: &TaskDef) -> Option<String> {
    let both = [("inputSchema", task.enforced_input()), ("outputSchema", task.enforced_output())];
    both.into_iter().find_map(|(field, schema)| {
        let schema = schema.filter(|schema| compiled(schema).is_none())?;
        Some(format!("{field} of task {}: {}", task.name, why_lacking(schema)))
    })
}

/// Copies the schemas that are named, and will be enforced, into the definition.
pub(crate) fn embed(definition: &mut WorkflowDef, registry: &mut impl Registry) {
    if definition.enforce_schema {
        fill(&mut definition.input_schema, registry);
        fill(&mut definition.output_schema, registry);
    }
    definition.for_each_step_mut(|step| {
        if let Some(task) = &mut step.task_definition {
            embed_in_task(task, registry);
        }
    });
}

/// The same for a task definition by itself.
pub fn embed_in_task(task: &mut Arc<TaskDef>, registry: &mut impl Registry) {
    let named = [task.enforced_input(), task.enforced_output()];
    if named.into_iter().flatten().any(SchemaDef::is_named) {
        let task = Arc::make_mut(task);
        fill(&mut task.input_schema, registry);
        fill(&mut task.output_schema, registry);
    }
}

fn fill(schema: &mut Option<SchemaDef>, registry: &mut impl Registry) {
    let Some(schema) = schema.as_mut().filter(|schema| schema.is_named()) else { return };
    if let Some(found) = registry.schema(&schema.name, schema.version) {
        let SchemaDef { version, kind, data, external_ref, .. } = found;
        *schema = SchemaDef { version, kind, data, external_ref, ..schema.clone() };
    }
}
