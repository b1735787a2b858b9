//! # Unknown members: what a definition or a request says and nobody reads
//!
//! A member that no model has is dropped when it is read. The registration names each of them, so that
//! a mistyped name is not taken for a setting; a request with a mistyped name is refused, because it
//! would do something else than it says. The known names are those of the JSON Schemas of the models;
//! members that hold data of their author (`inputParameters`, `metadata`) are not looked into.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::{JsonSchema, schema_for};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::spelling::nearest;
use crate::{
    EventHandler, SchemaDef, StartWorkflowRequest, TaskDef, Violation, Warning, WorkflowDef,
};

/// A longer list helps nobody.
const MEMBERS_MAX: usize = 100;
/// Names longer than this are shortened when they are named.
const NAME_CHARS_MAX: usize = 80;
/// Definitions are not read deeper than this.
const DEPTH_MAX: usize = 128;
/// Members that a model names as sent by clients and read by nobody.
const UNREAD: &str = "x-unread";

static WORKFLOW: LazyLock<Value> = LazyLock::new(|| schema_for!(WorkflowDef).to_value());
static TASK: LazyLock<Value> = LazyLock::new(|| schema_for!(TaskDef).to_value());
static HANDLER: LazyLock<Value> = LazyLock::new(|| schema_for!(EventHandler).to_value());
static SCHEMA: LazyLock<Value> = LazyLock::new(|| schema_for!(SchemaDef).to_value());
static START: LazyLock<Value> = LazyLock::new(|| schema_for!(StartWorkflowRequest).to_value());

/// The members of a workflow definition that are dropped.
pub fn unknown_in_workflow(definition: &Value) -> Vec<Warning> {
    unknown(&WORKFLOW, definition, "was dropped")
}

/// The members of a task definition that are dropped.
pub fn unknown_in_task(definition: &Value) -> Vec<Warning> {
    unknown(&TASK, definition, "was dropped")
}

/// The members of an event handler that are dropped.
pub fn unknown_in_handler(handler: &Value) -> Vec<Warning> {
    unknown(&HANDLER, handler, "was dropped")
}

/// The members of an entry of the schema registry that are dropped; what the schema says is its own.
pub fn unknown_in_schema(schema: &Value) -> Vec<Warning> {
    unknown(&SCHEMA, schema, "was dropped")
}

/// The members of a start, given in the inputs of a step, that nobody reads.
pub(crate) fn unknown_in_start(start: &Value) -> Vec<Warning> {
    unknown(&START, start, "changes nothing")
}

fn unknown(root: &'static Value, definition: &Value, fate: &'static str) -> Vec<Warning> {
    let mut search = Search { root, fate, is_request: false, found: Misread::default() };
    search.look(root, definition, "", DEPTH_MAX);
    search.found.warned
}

/// The members of one kind of request.
pub struct RequestMembers {
    root: Value,
}

/// What a request says that nobody reads.
#[derive(Debug, Default, PartialEq)]
pub struct Misread {
    /// Almost the name of a member that is not there: what is meant would not be done.
    pub refused: Vec<Violation>,
    pub warned: Vec<Warning>,
}

impl RequestMembers {
    pub fn of<T: JsonSchema>() -> Self {
        Self { root: schema_for!(T).to_value() }
    }

    /// Of a body. One that cannot be read has none: its reader says so.
    pub fn misread(&self, body: &[u8]) -> Misread {
        let Ok(members) = serde_json::from_slice::<BTreeMap<String, &RawValue>>(body) else {
            return Misread::default();
        };
        let found = Misread::default();
        let mut search = Search { root: &self.root, fate: "was dropped", is_request: true, found };
        let Some(schema) = search.of_object(&self.root) else { return Misread::default() };
        let known = schema.get("properties").and_then(Value::as_object);
        let has = |name: &str| members.contains_key(name);
        for (name, raw) in &members {
            match known.and_then(|known| known.get(name)) {
                // Data of its author may be large, and is not read twice.
                Some(inner) if search.has_members(inner, DEPTH_MAX) => {
                    let value = serde_json::from_str(raw.get()).unwrap_or(Value::Null);
                    search.look(inner, &value, &shown(name), DEPTH_MAX);
                }
                Some(_) => {}
                None if is_something(raw) => search.unknown(schema, "", name, &has),
                None => {}
            }
        }
        search.found
    }
}

fn is_something(raw: &RawValue) -> bool {
    const SHORT: usize = 64;
    let text = raw.get();
    text.len() > SHORT || serde_json::from_str(text).is_ok_and(|value| says_something(&value))
}

struct Search<'a> {
    root: &'a Value,
    /// What became of an unknown member, in words.
    fate: &'static str,
    /// Of a request a mistyped name is refused. What stands in a definition inside of it is not.
    is_request: bool,
    found: Misread,
}

impl<'a> Search<'a> {
    fn look(&mut self, schema: &'a Value, value: &Value, path: &str, depth: usize) {
        if depth == 0 || self.found.warned.len() >= MEMBERS_MAX {
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
        schema: &'a Value,
        members: &Map<String, Value>,
        path: &str,
        depth: usize,
    ) {
        let known = schema.get("properties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        let has = |name: &str| members.contains_key(name);
        for (name, value) in members {
            if let Some(inner) = known.and_then(|known| known.get(name)) {
                self.look(inner, value, &joined(path, &shown(name)), depth - 1);
            } else if let Some(inner) = others {
                self.look(inner, value, &format!("{path}[{}]", shown(name)), depth - 1);
            } else if says_something(value) {
                self.unknown(schema, path, name, &has);
            }
        }
    }

    /// A member that the schema does not have. `has`: what stands beside it.
    fn unknown(&mut self, schema: &'a Value, path: &str, name: &str, has: &dyn Fn(&str) -> bool) {
        let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
        let unread = schema.get(UNREAD).and_then(Value::as_array);
        let is_unread = unread.is_some_and(|all| all.iter().any(|it| it == name));
        if is_unread || self.found.warned.len() + self.found.refused.len() >= MEMBERS_MAX {
            return;
        }
        let path = joined(path, &shown(name));
        let meant = nearest(name, known.keys().map(String::as_str));
        let fate = self.fate;
        match meant {
            Some(meant) if self.is_request && !has(meant) => {
                let message = format!("is not known here; is {meant} meant?");
                self.found.refused.push(Violation::new(path, message));
            }
            Some(meant) => {
                let message = format!("is not known here and {fate}; is {meant} meant?");
                self.found.warned.push(Warning::dropped(path, message));
            }
            None => {
                let message = format!("is not known here and {fate}");
                self.found.warned.push(Warning::dropped(path, message));
            }
        }
    }

    /// The schema without references.
    fn resolved(&self, schema: &'a Value) -> &'a Value {
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
    fn of_object(&self, schema: &'a Value) -> Option<&'a Value> {
        let schema = self.resolved(schema);
        let choices = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let Some(choices) = choices else { return Some(schema) };
        let is_object = |it: &&Value| it.get("properties").is_some();
        choices.iter().filter_map(|it| self.of_object(it)).find(is_object)
    }

    /// Whether there are names to know inside of a member of a request. The definition that a start
    /// brings is judged as a definition.
    fn has_members(&self, schema: &'a Value, depth: usize) -> bool {
        if depth == 0 || is_definition(schema) {
            return false;
        }
        let Some(schema) = self.of_object(schema) else { return false };
        let inside = ["items", "additionalProperties"].into_iter().filter_map(|at| schema.get(at));
        schema.get("properties").is_some()
            || inside.into_iter().any(|inner| self.has_members(inner, depth - 1))
    }
}

fn is_definition(schema: &Value) -> bool {
    let link = |it: &Value| it.get("$ref").and_then(Value::as_str) == Some("#/$defs/WorkflowDef");
    let choices = schema.get("anyOf").and_then(Value::as_array);
    link(schema) || choices.is_some_and(|choices| choices.iter().any(link))
}

fn shown(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// Clients send members that they have no value for.
pub(crate) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
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
        let handler = json!({"name": "h", "actve": true, "actions": [
            {"action": "start_workflow", "start_workflow": {"nam": "w"}}]});
        assert_eq!(
            told(&unknown_in_handler(&handler)),
            [
                format!("actve: {dropped}; is active meant?"),
                format!("actions[0].start_workflow.nam: {dropped}; is name meant?"),
            ]
        );
        let schema = json!({"name": "s", "externalReference": "x"});
        let found = told(&unknown_in_schema(&schema));
        assert_eq!(found, [format!("externalReference: {dropped}")]);
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
        let schema = json!({"name": "s", "version": 1, "type": "JSON",
            "data": {"properties": {"a": {"any": "thing"}}}});
        assert_eq!(told(&unknown_in_schema(&schema)), [""; 0]);
        let handler = json!({"name": "h", "event": "conductor:a", "active": true,
            "tags": [{"key": "k", "value": "v"}], "actions": [
            {"action": "start_workflow", "expandInlineJSON": true, "start_workflow": {"name": "w",
                "version": 1, "input": {"any": {"thing": 1}}, "taskToDomain": {"a": "b"}}},
            {"action": "complete_task", "complete_task": {"workflowId": "1",
                "taskRefName": "a", "output": {"any": {"thing": 1}}}}]});
        assert_eq!(told(&unknown_in_handler(&handler)), [""; 0]);
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

    /// What a start says: refused, then warned of.
    fn of_start(body: &str) -> (Vec<String>, Vec<String>) {
        let found = RequestMembers::of::<StartWorkflowRequest>().misread(body.as_bytes());
        let refused = found.refused.iter().map(|it| format!("{}: {}", it.path, it.message));
        (refused.collect(), told(&found.warned))
    }

    #[test]
    fn a_request_is_refused_that_almost_says_what_it_means() {
        for (body, meant) in [
            (
                r#"{"name":"w","idempotencykey":"k"}"#,
                "idempotencykey: is not known here; is idempotencyKey meant?",
            ),
            (r#"{"name":"w","inptu":{"a":1}}"#, "inptu: is not known here; is input meant?"),
            (r#"{"name":"w","Priority":7}"#, "Priority: is not known here; is priority meant?"),
        ] {
            assert_eq!(of_start(body), (vec![meant.to_owned()], vec![]), "{body}");
        }
        let both = r#"{"name":"w","input":{},"inputs":{"a":1},"colour":"red","none":null}"#;
        let dropped = "is not known here and was dropped";
        assert_eq!(
            of_start(both),
            (
                vec![],
                vec![format!("colour: {dropped}"), format!("inputs: {dropped}; is input meant?")]
            )
        );
        for fine in
            [r#"{"name":"w","input":{"inptu":1}}"#, r#"{"name":"w","inptu":{ }}"#, "[1]", "{"]
        {
            assert_eq!(of_start(fine), (vec![], vec![]), "{fine}");
        }
        let inside = r#"{"workflowDef":{"name":"w","taskss":[{"a":1}]}}"#;
        assert_eq!(of_start(inside), (vec![], vec![]), "a definition is judged as one");
    }

    #[test]
    fn members_inside_of_a_request_are_known_by_their_place() {
        let members = RequestMembers::of::<crate::WorkflowStateUpdate>();
        let body = r#"{"variabels":{"a":1},"taskResult":{"outputdata":{"b":2},"executionMetadata":{"c":3}}}"#;
        let found = members.misread(body.as_bytes());
        let refused: Vec<&str> = found.refused.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(refused, ["taskResult.outputdata", "variabels"]);
        assert_eq!(found.warned, [], "Java's workers always send executionMetadata");
    }
}
