//! # Unknown members: what a definition says and nobody reads
//!
//! A member that no model has is dropped when a definition is read. The registration names each of
//! them, so that a mistyped name is not taken for a setting. The known names are those of the JSON
//! Schemas of the models; members that hold data of their author (`inputParameters`, `metadata`) are
//! not looked into.

use std::sync::LazyLock;

use schemars::schema_for;
use serde_json::{Map, Value};

use crate::{TaskDef, Warning, WorkflowDef};

/// A longer list helps nobody.
const MEMBERS_MAX: usize = 100;
/// Names longer than this are shortened when they are named.
const NAME_CHARS_MAX: usize = 80;
/// Definitions are not read deeper than this.
const DEPTH_MAX: usize = 128;
/// How many letters a mistyped name may differ in.
const DISTANCE_MAX: usize = 2;

static WORKFLOW: LazyLock<Value> = LazyLock::new(|| schema_for!(WorkflowDef).to_value());
static TASK: LazyLock<Value> = LazyLock::new(|| schema_for!(TaskDef).to_value());

/// The members of a workflow definition that are dropped.
pub fn unknown_in_workflow(definition: &Value) -> Vec<Warning> {
    unknown(&WORKFLOW, definition)
}

/// The members of a task definition that are dropped.
pub fn unknown_in_task(definition: &Value) -> Vec<Warning> {
    unknown(&TASK, definition)
}

fn unknown(root: &'static Value, definition: &Value) -> Vec<Warning> {
    let mut search = Search { root, found: Vec::new() };
    search.look(root, definition, "", DEPTH_MAX);
    search.found
}

struct Search {
    root: &'static Value,
    found: Vec<Warning>,
}

impl Search {
    fn look(&mut self, schema: &'static Value, value: &Value, path: &str, depth: usize) {
        if depth == 0 || self.found.len() >= MEMBERS_MAX {
            return;
        }
        match value {
            Value::Object(members) => {
                if let Some(schema) = self.of_object(schema) {
                    self.members(schema, members, path, depth);
                }
            }
            Value::Array(items) => {
                let Some(inner) = self.resolved(schema).get("items") else { return };
                for (at, item) in items.iter().enumerate() {
                    self.look(inner, item, &format!("{path}[{at}]"), depth - 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    fn members(
        &mut self,
        schema: &'static Value,
        members: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
            if let Some(inner) = known.and_then(|known| known.get(name)) {
                self.look(inner, value, &joined(path, &shown), depth - 1);
            } else if let Some(inner) = others {
                self.look(inner, value, &format!("{path}[{shown}]"), depth - 1);
            } else if let Some(known) = known.filter(|_| says_something(value))
                && self.found.len() < MEMBERS_MAX
            {
                let message = match nearest(name, known) {
                    Some(meant) => format!("is not known here and was dropped; is {meant} meant?"),
                    None => "is not known here and was dropped".to_owned(),
                };
                self.found.push(Warning::dropped(joined(path, &shown), message));
            }
        }
    }

    /// The schema without references.
    fn resolved(&self, schema: &'static Value) -> &'static Value {
        let mut schema = schema;
        for _ in 0..DEPTH_MAX {
            let Some(link) = schema.get("$ref").and_then(Value::as_str) else { break };
            let Some(target) = link.strip_prefix('#').and_then(|it| self.root.pointer(it)) else {
                break;
            };
            schema = target;
        }
        schema
    }

    /// What an object is read as: where there is a choice, the one that objects fit.
    fn of_object(&self, schema: &'static Value) -> Option<&'static Value> {
        let schema = self.resolved(schema);
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let Some(choices) = choices else { return Some(schema) };
        let is_object = |it: &&Value| it.get("properties").is_some();
        choices.iter().filter_map(|it| self.of_object(it)).find(is_object)
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Clients send members that they have no value for.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// The known name that was probably meant.
fn nearest<'a>(name: &str, known: &'a Map<String, Value>) -> Option<&'a str> {
    let given = plain(name);
    if given.is_empty() || given.len() > NAME_CHARS_MAX {
        return None;
    }
    let near = known.keys().map(|known| (distance(&given, &plain(known)), known.as_str()));
    let (distance, found) = near.min()?;
    (distance <= DISTANCE_MAX && distance * 2 < given.len()).then_some(found)
}

/// `retry_count` and `RetryCount` are `retryCount` to whoever writes them.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters have to be put in, taken out or changed.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, letter) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (place, other) in right.iter().enumerate() {
            let changed = diagonal + usize::from(letter != other);
            diagonal = row[place + 1];
            row[place + 1] = changed.min(diagonal + 1).min(row[place] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(warnings: &[Warning]) -> Vec<String> {
        warnings.iter().map(|it| format!("{}: {}", it.path, it.message)).collect()
    }

    #[test]
    fn every_unknown_member_is_named_with_its_place() {
        let definition = json!({"name": "w", "colour": "red", "tasks": [
            {"name": "a", "taskReferenceName": "a", "retrycount": 3,
             "effect": {"key": "${id}", "onUnkown": "HOLD"},
             "taskDefinition": {"name": "a", "timeout_seconds": 5}},
            {"name": "s", "taskReferenceName": "s", "type": "SWITCH", "decisionCases": {"x": [
                {"name": "b", "taskReferenceName": "b", "flavour": 1}]}},
            {"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN", "forkTasks": [[
                {"name": "c", "taskReferenceName": "c", "subWorkflowParam": {"name": "i",
                 "workflowDefinition": {"name": "i", "size": 2, "tasks": [
                    {"name": "d", "taskReferenceName": "d", "weight": true}]}}}]]}]});
        let dropped = "is not known here and was dropped";
        assert_eq!(
            told(&unknown_in_workflow(&definition)),
            [
                format!("colour: {dropped}"),
                format!("tasks[0].retrycount: {dropped}; is retryCount meant?"),
                format!("tasks[0].effect.onUnkown: {dropped}; is onUnknown meant?"),
                format!(
                    "tasks[0].taskDefinition.timeout_seconds: {dropped}; is timeoutSeconds meant?"
                ),
                format!("tasks[1].decisionCases[x][0].flavour: {dropped}"),
                format!(
                    "tasks[2].forkTasks[0][0].subWorkflowParam.workflowDefinition.size: {dropped}"
                ),
                format!(
                    "tasks[2].forkTasks[0][0].subWorkflowParam.workflowDefinition.tasks[0].weight: \
                 {dropped}"
                ),
            ]
        );
        let task = json!({"name": "t", "retryCounts": 3, "effect": {"keys": "x"}});
        let found = told(&unknown_in_task(&task));
        assert!(found[0].starts_with("retryCounts: ") && found[1].starts_with("effect.keys: "));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn known_members_and_the_data_of_authors_are_left_alone() {
        let definition = json!({"name": "w", "nothing": null, "empty": [], "none": {}, "blank": "",
            "variables": {"any": {"thing": 1}}, "metadata": {"x": {"y": 1}},
            "inputTemplate": {"a": {"b": 1}}, "outputParameters": {"c": {"d": "e"}},
            "tags": [{"key": "k", "value": "v", "type": "t", "more": 1}], "overwriteTags": true,
            "inputSchema": {"name": "s", "data": {"properties": {"a": {"type": "string"}}}},
            "tasks": [{"name": "a", "taskReferenceName": "a", "workflowTaskType": "SIMPLE",
                "inputParameters": {"http_request": {"what": "ever"}}, "metadata": {"x": {"y": 1}},
                "onStateChange": {"onStart": [{"type": "t", "payload": {"any": {"thing": 1}}}]},
                "subWorkflowParam": {"name": "c", "taskToDomain": {"a": "b"},
                    "priority": {"any": 1}, "workflowDefinition": "${workflow.input.it}"}}]});
        assert_eq!(told(&unknown_in_workflow(&definition)), [""; 0]);
        for written in [json!(WorkflowDef::default()), json!(crate::WorkflowTask::default())] {
            let definition = json!({"name": "w", "tasks": [written.clone()]});
            let own = if written.get("tasks").is_some() { written } else { definition };
            assert_eq!(told(&unknown_in_workflow(&own)), [""; 0]);
        }
        assert_eq!(told(&unknown_in_task(&json!(TaskDef::default()))), [""; 0]);
    }

    #[test]
    fn a_hostile_definition_gets_a_bounded_answer() {
        let many: Map<String, Value> =
            (0..1_000).map(|at| (format!("{}{at}", "x".repeat(1_000)), json!(1))).collect();
        let found = unknown_in_workflow(&Value::Object(many));
        assert_eq!(found.len(), MEMBERS_MAX);
        assert!(found.iter().all(|it| it.path.len() <= NAME_CHARS_MAX));
        assert_eq!(told(&unknown_in_workflow(&json!([1, {"a": 2}]))), [""; 0]);
    }
}
