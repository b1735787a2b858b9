//! # References: where the expressions of a definition start
//!
//! A path that starts nowhere is null when a run gets there, and nobody is told. At the outermost steps
//! Conductor refuses it; everywhere else it is a warning. The data of a run may bring steps that no
//! definition has: the branches of a dynamic fork.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    LABEL_CHARS_MAX, Place, SYSTEM_PARAMETERS, VALUE_CHARS_MAX, expressions, head_of, is_json_path,
    shortened,
};
use crate::spelling::nearest;
use crate::{
    InlineDefinition, NAMED_RUN_FIELDS, NAMED_TASK_FIELDS, RUN_FIELDS, TASK_FIELDS, Warning,
    WorkflowDef, WorkflowTask,
};

/// The references of one definition.
pub(super) struct References<'a> {
    known: HashSet<&'a str>,
}

impl<'a> References<'a> {
    pub(super) fn of(places: &[Place<'a>]) -> Self {
        Self { known: places.iter().map(|place| place.step.task_reference_name.as_str()).collect() }
    }

    pub(super) fn contains(&self, reference: &str) -> bool {
        self.known.contains(reference)
    }

    /// What a definition says of itself that leads nowhere.
    pub(super) fn lost_in_head(&self, prefix: &str, definition: &WorkflowDef) -> Vec<Warning> {
        let mut found = vec![];
        for (name, value) in definition.output_parameters() {
            let name_shown = shortened(name, LABEL_CHARS_MAX);
            let path = format!("{prefix}outputParameters.{name_shown}");
            self.look(&mut found, &path, value, Heads::Judged);
        }
        found
    }

    /// What a step says that leads nowhere. `is_refused`: an unknown head among its inputs is refused
    /// already.
    pub(super) fn lost_in_step(&self, place: &Place<'_>, is_refused: bool) -> Vec<Warning> {
        let mut found = vec![];
        let heads = if is_refused { Heads::Refused } else { Heads::Judged };
        for (name, value) in place.step.input_parameters() {
            let name = shortened(name, LABEL_CHARS_MAX);
            self.look(&mut found, &format!("{}.inputParameters.{name}", place.path), value, heads);
        }
        for (field, value) in other_templates(place.step) {
            self.look(&mut found, &format!("{}.{field}", place.path), &value, Heads::Judged);
        }
        found
    }

    fn look(&self, found: &mut Vec<Warning>, path: &str, value: &Value, heads: Heads) {
        for (_, text) in texts("", value) {
            for expression in expressions(text) {
                if found.len() >= super::VIOLATIONS_MAX {
                    return;
                }
                // An expression in an expression is text by the time the outer one is read.
                if expression.is_nested {
                    continue;
                }
                if let Some(why) = self.lost(expression.inside, heads) {
                    let shown = shortened(expression.inside, VALUE_CHARS_MAX);
                    found.push(Warning::null(path, format!("${{{shown}}} is null: {why}")));
                }
            }
        }
    }

    /// Why a path starts nowhere, if so.
    fn lost(&self, inside: &str, heads: Heads) -> Option<String> {
        if SYSTEM_PARAMETERS.contains(&inside) || inside.starts_with("NETFLIX_") {
            return None;
        }
        if !is_json_path(inside) {
            return (heads == Heads::Judged).then(|| "it is no path".to_owned());
        }
        if has_no_head(inside) {
            return None;
        }
        let head = head_of(inside);
        let (owner, known): (String, Vec<&str>) = if head == "workflow" {
            ("a run".to_owned(), RUN_FIELDS.into_iter().chain(NAMED_RUN_FIELDS).collect())
        } else if self.contains(head) || self.contains(without_iterations(head)) {
            ("a task".to_owned(), TASK_FIELDS.into_iter().chain(NAMED_TASK_FIELDS).collect())
        } else {
            return (heads == Heads::Judged).then(|| self.no_step(head));
        };
        let field = field_of(inside, head).filter(|field| !known.contains(field))?;
        let shown = shortened(field, LABEL_CHARS_MAX);
        let meant = nearest(field, known.into_iter());
        let meant = meant.map(|meant| format!("; is {meant} meant?")).unwrap_or_default();
        Some(format!("{owner} has no field {shown}{meant}"))
    }

    fn no_step(&self, head: &str) -> String {
        let shown = shortened(head, LABEL_CHARS_MAX);
        let meant = nearest(head, self.known.iter().copied().chain(["workflow"]));
        match meant {
            Some(meant) => format!("there is no step {shown}; is {meant} meant?"),
            None => format!("there is no step {shown}, unless the data of a run bring one"),
        }
    }
}

/// Whether unknown heads are still to be told of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heads {
    Judged,
    Refused,
}

/// A function of its arguments, or a path that computes its head.
fn has_no_head(inside: &str) -> bool {
    let end = inside.find(['.', '[', '(', '{']).unwrap_or(inside.len());
    inside[end..].starts_with('(') || inside.starts_with('$') || inside.starts_with('@')
}

/// `step` of `step__1`, which names the task of one iteration.
fn without_iterations(head: &str) -> &str {
    match head.rsplit_once("__") {
        Some((step, turn)) if !turn.is_empty() && turn.bytes().all(|it| it.is_ascii_digit()) => {
            without_iterations(step)
        }
        Some(_) | None => head,
    }
}

/// The name behind the head, where it is written out.
fn field_of<'a>(inside: &'a str, head: &str) -> Option<&'a str> {
    let rest = inside.strip_prefix(head)?.strip_prefix('.')?;
    let field = rest.split(['.', '[', '(', '{']).next().unwrap_or_default();
    let is_name = !field.is_empty() && field.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_call = rest[field.len()..].starts_with('(');
    (is_name && !is_call).then_some(field)
}

/// Templates of a step besides its inputs.
fn other_templates(step: &WorkflowTask) -> Vec<(String, Value)> {
    let mut found = vec![];
    let mut add = |field: &str, text: &Option<String>| {
        found.extend(text.as_ref().map(|text| (field.to_owned(), Value::from(text.as_str()))));
    };
    match step.kind.as_str() {
        "EVENT" => add("sink", &step.sink),
        "DO_WHILE" => add("items", &step.items),
        _ => {}
    }
    if let Some(params) = step.sub_workflow_param.as_ref().filter(|_| step.kind == "SUB_WORKFLOW") {
        add("subWorkflowParam.name", &params.name);
        add("subWorkflowParam.idempotencyKey", &params.idempotency_key);
        if let Some(InlineDefinition::Expression(text)) = &params.workflow_definition {
            add("subWorkflowParam.workflowDefinition", &Some(text.clone()));
        }
        for domain in params.task_to_domain.iter().flat_map(|map| map.values()) {
            add("subWorkflowParam.taskToDomain", &Some(domain.clone()));
        }
        let priority = params.priority.clone();
        found.extend(priority.map(|priority| ("subWorkflowParam.priority".to_owned(), priority)));
    }
    for (keys, events) in step.on_state_change.iter().flat_map(|all| all.iter()) {
        let keys = shortened(keys, LABEL_CHARS_MAX);
        let payloads = events.iter().filter_map(|event| event.payload.clone());
        found.extend(payloads.map(|it| (format!("onStateChange[{keys}].payload"), it.into())));
    }
    found
}

/// Every text inside a value, with the innermost name above it.
pub(super) fn texts<'a>(name: &'a str, value: &'a Value) -> Vec<(&'a str, &'a str)> {
    let (mut open, mut found) = (vec![(name, value)], vec![]);
    while let Some((name, value)) = open.pop() {
        match value {
            Value::Object(map) => {
                open.extend(map.iter().rev().map(|(name, value)| (name.as_str(), value)));
            }
            Value::Array(list) => open.extend(list.iter().rev().map(|value| (name, value))),
            Value::String(text) => found.push((name, text.as_str())),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}
