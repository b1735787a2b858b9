//! # Given definitions: a workflow that comes with the data
//!
//! A SUB_WORKFLOW or START_WORKFLOW step may bring the whole definition of the run it begins. It is
//! held to the rules of registration, pinned on what is registered at that moment, and stored by the
//! commit that creates the run; nobody else can find it by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_model::{Digest, ExecutionId, Payload, SchemaDef, TaskDef, WorkflowDef, WorkflowTask};
use serde_json::{Map, Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::pin::{Registry, pin, unpinned_child};
use crate::schema::named_schemas;
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

/// Broken rules that a reason tells of.
const VIOLATIONS_TOLD_MAX: usize = 5;

/// What a given definition is held to.
#[derive(Clone, Copy)]
pub(super) enum Rules {
    /// Nobody has looked at it before.
    OfRegistration,
    /// Those that it was held to when the step that brings it was registered.
    OfSteps,
}

impl Turn<'_> {
    /// From now on it is known by its digest. The inner error says what is wrong with it, or why that
    /// run may not begin by it with that input.
    pub(super) fn pin_given(
        &mut self,
        mut definition: WorkflowDef,
        run: ExecutionId,
        input: &Payload,
        rules: Rules,
    ) -> Result<Result<Digest, String>, Stop> {
        let count = definition.step_count();
        if let Some(max) = self.definition_tasks_exceeded(count) {
            return Ok(Err(format!(
                "the definition has {count} tasks, those inside others included; definition_tasks_max of the \
                 server allows {max} (docs/errors/DEFINITION_SIZE.md)"
            )));
        }
        if definition.came_as_data {
            definition.for_each_step_mut(without_runtime_values);
        }
        let mut names = BTreeSet::new();
        let mut children = BTreeSet::new();
        definition.for_each_step_mut(|step| {
            if step.task_definition.is_none() {
                names.insert(step.name.clone());
            }
            children.extend(unpinned_child(step));
        });
        let tasks = self.task_definitions(names.iter().map(String::as_str).collect())?;
        let known = |name: &str| tasks.get(name).cloned();
        let violations = match rules {
            Rules::OfRegistration => definition.violations_knowing(&known),
            Rules::OfSteps => definition.violations_given(&known),
        };
        if !violations.is_empty() {
            let told = violations.iter().take(VIOLATIONS_TOLD_MAX);
            let told: Vec<_> = told.map(|it| format!("{}: {}", it.path, it.message)).collect();
            return Ok(Err(told.join(". ")));
        }
        let mut latest = BTreeMap::new();
        for name in children {
            let found = self.registered(&name, None)?;
            latest.extend(found.map(|found| (name, found.version)));
        }
        let schemas = self.schemas(&named_schemas(&definition))?;
        let pinned = match pin(definition, &mut Known { tasks, latest, schemas }) {
            Ok(pinned) => pinned,
            Err(name) => {
                return Ok(Err(format!("No such workflow defined. name={name}, version=null")));
            }
        };
        let bytes = pinned.text().len();
        if bytes > PAYLOAD_BYTES_MAX {
            let limit = PAYLOAD_BYTES_MAX;
            return Ok(Err(format!("a definition of {bytes} bytes is over the limit of {limit}")));
        }
        let choosy = pinned.is_choosy().then_some(&pinned);
        if let Some(why) = self.refusal_by(choosy, run, input) {
            return Ok(Err(why));
        }
        if !self.execution().defined.contains_key(&pinned.digest()) {
            let text = String::from_utf8(pinned.text().to_vec()).expect("JSON is UTF-8");
            let text = Payload::from_text(text).expect("what was just written is JSON");
            let definition = self.store(text);
            self.emit(Change::Defined { definition });
        }
        Ok(Ok(pinned.digest()))
    }
}

/// The task definition that a step brings names values of the server to be handed out; one that came as
/// data may not.
pub(super) fn without_runtime_values(step: &mut WorkflowTask) {
    let own = step.task_definition.as_mut().filter(|own| !own.runtime_metadata().is_empty());
    if let Some(own) = own {
        Arc::make_mut(own).runtime_metadata = None;
    }
}

/// A definition as it came with data.
pub(super) fn read(given: &Value) -> Result<WorkflowDef, String> {
    if !given.is_object() {
        return Err(format!("the definition must be an object, not {given}"));
    }
    serde_json::from_value(given.clone())
        .map_err(|error| format!("the definition cannot be read: {error}"))
}

/// The key of what the engine itself says in an input.
const METADATA: &str = "_systemMetadata";

/// A run by a definition of its own says so in its input, as in Conductor.
pub fn marked_dynamic(input: &Payload) -> Payload {
    let mut input = match input.value() {
        Value::Object(input) => input,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    let metadata = input.entry(METADATA).or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("dynamic".to_owned(), json!(true));
    }
    Payload::from_value(&Value::Object(input))
}

/// The input as it was given, for those who ask what shape it has.
pub(crate) fn unmarked(input: &Payload) -> Option<Payload> {
    if !input.text().contains(METADATA) {
        return None;
    }
    let mut given = input.value();
    let metadata = given.get_mut(METADATA)?.as_object_mut()?;
    metadata.remove("dynamic")?;
    if metadata.is_empty() {
        given.as_object_mut()?.shift_remove(METADATA);
    }
    Some(Payload::from_value(&given))
}

/// What the facts say is registered.
#[derive(Default)]
pub(super) struct Known {
    pub(super) tasks: BTreeMap<String, Arc<TaskDef>>,
    pub(super) latest: BTreeMap<String, i32>,
    /// Registered task definitions have theirs in them.
    pub(super) schemas: BTreeMap<(String, i32), SchemaDef>,
}

impl Registry for Known {
    fn task(&mut self, name: &str) -> Option<Arc<TaskDef>> {
        self.tasks.get(name).cloned()
    }

    fn latest(&mut self, workflow: &str) -> Option<i32> {
        self.latest.get(workflow).copied()
    }

    fn schema(&mut self, name: &str, version: i32) -> Option<SchemaDef> {
        self.schemas.get(&(name.to_owned(), version)).cloned()
    }
}
