//! # Given definitions: a workflow that comes with the data
//!
//! A SUB_WORKFLOW or START_WORKFLOW step may bring the whole definition of the run it begins. It is
//! held to the rules of registration, pinned on what is registered at that moment, and stored by the
//! commit that creates the run; nobody else can find it by its name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_model::{Digest, Payload, SchemaDef, TaskDef, WorkflowDef};
use serde_json::{Map, Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::pin::{Registry, pin, unpinned_child};
use crate::release::unsupported;
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

/// Broken rules that a reason tells of.
const VIOLATIONS_TOLD_MAX: usize = 5;

impl Turn<'_> {
    /// From now on it is known by its digest. The inner error says what is wrong with it.
    pub(super) fn pin_given(
        &mut self,
        mut definition: WorkflowDef,
    ) -> Result<Result<Digest, String>, Stop> {
        let mut names = BTreeSet::new();
        let mut children = BTreeSet::new();
        definition.for_each_step_mut(|step| {
            if step.task_definition.is_none() {
                names.insert(step.name.clone());
            }
            children.extend(unpinned_child(step));
        });
        let tasks = self.task_definitions(names.iter().map(String::as_str).collect())?;
        let mut violations = definition.violations_knowing(&|name| tasks.get(name).cloned());
        violations.extend(unsupported(&definition, ""));
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
        let pinned = match pin(definition, &mut Known { tasks, latest }) {
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
        if !self.execution().defined.contains_key(&pinned.digest()) {
            let text = String::from_utf8(pinned.text()).expect("JSON is UTF-8");
            let text = Payload::from_text(text).expect("what was just written is JSON");
            let definition = self.store(text);
            self.emit(Change::Defined { definition });
        }
        Ok(Ok(pinned.digest()))
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

/// A run by a definition of its own says so in its input, as in Conductor.
pub fn marked_dynamic(input: &Payload) -> Payload {
    let mut input = match input.value() {
        Value::Object(input) => input,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    let metadata = input.entry("_systemMetadata").or_insert_with(|| json!({}));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("dynamic".to_owned(), json!(true));
    }
    Payload::from_value(&Value::Object(input))
}

/// What the facts say is registered.
struct Known {
    tasks: BTreeMap<String, Arc<TaskDef>>,
    latest: BTreeMap<String, i32>,
}

impl Registry for Known {
    fn task(&mut self, name: &str) -> Option<Arc<TaskDef>> {
        self.tasks.get(name).cloned()
    }

    fn latest(&mut self, workflow: &str) -> Option<i32> {
        self.latest.get(workflow).copied()
    }

    /// Task definitions have theirs in them; the definition itself has to bring its own.
    fn schema(&mut self, _: &str, _: i32) -> Option<SchemaDef> {
        None
    }
}
