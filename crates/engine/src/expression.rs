//! # Expressions: `${...}` over the run and its tasks
//!
//! A string that is one whole expression takes the value with its type; an expression inside text
//! becomes text. Only template strings are looked at, never the data they bring in. A path that
//! leads nowhere is null, and so is one that is not valid: no run fails over those. One that costs too
//! much is null too, and fails the step, or the output, that it was written for.
//!
//! Numbers that are passed on keep their text, `1.10` and integers of any size; only functions
//! calculate, in doubles. (A number written in a definition is what the definition's reader made of
//! it: beyond 64 bits, the nearest double.)
//!
//! Payloads are read once per turn and paths borrow from them, so the cost is what is visited and
//! what is copied, and both have a limit.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{Ordered, Payload, TaskId, WorkflowDef, is_templated};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::pin::Step;
use crate::step_keys::written_keys;
use crate::turn::Turn;

mod cursor;
mod filter;
mod functions;
mod heard;
mod holds;
mod json;
mod mask;
mod origin;
mod path;
mod pattern;
mod position;
mod reader;
mod resolve;
mod scope;
mod secrets;
mod select;
mod template;
mod text;

pub use mask::Mask;
pub use secrets::{Secret, disarmed, is_unfinished, mentions_secrets, reveal, secrets_in, shown};

pub(crate) use heard::Heard;
pub(crate) use json::Json;
pub(crate) use resolve::{MissingPart, Reading};

use json::Object;
use resolve::Resolve;

/// What one path may visit, and what it may copy: a little more than the largest payload can hold.
/// `$..*..*` over a large document is beyond it.
const PATH_NODES_MAX: usize = 6_000_000;

/// What stands between `${` and `}` in a text.
pub(crate) fn expressions_of(text: &str) -> Vec<&str> {
    let inside = |part| match part {
        template::Part::Expression(path) => Some(path),
        template::Part::Text(_) => None,
    };
    template::split(text).into_iter().filter_map(inside).collect()
}

/// The same, of what stands before any of those characters.
pub(crate) fn expressions_before<'t>(text: &'t str, ends: &[char]) -> Vec<&'t str> {
    let before = |part: &template::Part<'_>| match part {
        template::Part::Expression(_) => true,
        template::Part::Text(text) => !text.contains(ends),
    };
    let inside = |part| match part {
        template::Part::Expression(path) => Some(path),
        template::Part::Text(_) => None,
    };
    template::split(text).into_iter().take_while(before).filter_map(inside).collect()
}

/// Whether a text has an expression in it.
pub(crate) fn is_computed(text: &str) -> bool {
    !expressions_of(text).is_empty()
}

/// The start input with the definition's `inputTemplate` under it; none: nothing of it is missing.
pub(crate) fn with_defaults(definition: &WorkflowDef, input: &Payload) -> Option<Payload> {
    let template = definition.input_template.as_ref().filter(|map| !map.is_empty())?;
    let input = object(input);
    let is_missing = |key: &str| input.get(key).is_none_or(Json::is_null);
    let missing = template.iter().filter(|(key, _)| is_missing(key));
    let missing: Vec<(String, Json)> =
        missing.map(|(key, value)| (key.clone(), Json::written(value))).collect();
    if missing.is_empty() {
        return None;
    }
    let filled: Object = input.into_entries().into_iter().chain(missing).collect();
    Some(Json::Object(filled).to_payload())
}

impl Turn<'_> {
    /// The start input with the definition's `inputTemplate` under it.
    pub(crate) fn with_defaults(&mut self, slot: Slot) -> Result<Slot, Stop> {
        let definition = Arc::clone(self.execution().definition().definition());
        if !self.payload(slot).is_object() {
            let message = "input must be a JSON object".to_owned();
            return Err(Rejection::Invalid(message).into());
        }
        let filled = with_defaults(&definition, self.payload(slot));
        Ok(filled.map_or(slot, |filled| self.store(filled)))
    }

    /// A task's input: the step's parameters resolved, over `before` when this is a retry.
    pub(crate) fn task_input(
        &mut self,
        step: &Step,
        task: TaskId,
        before: Option<&Payload>,
    ) -> Payload {
        let is_templated = is_templated(&step.task().kind);
        let template = step.policy().input_template.as_ref();
        let template = template.filter(|map| is_templated && !map.is_empty());
        let parameters = step.task().input_parameters.as_ref().filter(|map| !map.is_empty());
        if template.is_none() && parameters.is_none() {
            return before.cloned().unwrap_or_default();
        }
        let mut wanted: BTreeMap<&String, &Value> = BTreeMap::new();
        let mut order = Vec::new();
        for (key, value) in parameters.into_iter().flatten().chain(template.into_iter().flatten()) {
            let known = wanted.entry(key).or_insert_with(|| {
                order.push(key);
                value
            });
            if known.is_null() {
                *known = value;
            }
        }
        let mut resolved = before.map(object).unwrap_or_default().into_entries();
        for key in order {
            let mut found = self.resolve(wanted[key], Some(task), 1);
            if found.is_null() {
                let fallback = template.and_then(|map| map.get(key));
                found = fallback.map_or(Json::Null, Json::written);
            }
            for written in written_keys(step, key, wanted[key]) {
                let text = self.resolve_key(written.template, Some(task));
                found = found
                    .put(&written.path, text.map_or(Json::Null, |text| Json::String(text.into())));
            }
            resolved.push((key.clone(), found));
        }
        Json::Object(resolved.into_iter().collect()).to_payload()
    }

    pub(crate) fn resolve_output(&mut self, parameters: &Map<String, Value>) -> Payload {
        let resolved: Object = parameters
            .iter()
            .map(|(key, value)| (key.clone(), self.resolve(value, None, 1)))
            .collect();
        Json::Object(resolved).to_payload()
    }

    /// Any template, outside a task's parameters.
    pub(crate) fn resolve_value(&mut self, template: &Value, task: Option<TaskId>) -> Value {
        self.resolve(template, task, 1).to_payload().value()
    }

    /// The text of a key, outside a task's parameters.
    pub(crate) fn key_text(
        &mut self,
        template: &str,
        task: Option<TaskId>,
    ) -> Result<String, MissingPart> {
        self.resolve_key(template, task)
    }

    /// Parameters alone, without template or defaults.
    pub(crate) fn resolve_parameters(&mut self, step: &Step, task: TaskId) -> Payload {
        let Some(parameters) = step.task().input_parameters.as_ref() else {
            return Payload::empty();
        };
        let resolved: Object = parameters
            .iter()
            .map(|(key, value)| (key.clone(), self.resolve(value, Some(task), 2)))
            .collect();
        Json::Object(resolved).to_payload()
    }
}

/// One object over another, key by key; anything else gives way.
pub(crate) fn merged(under: &Payload, over: &Payload) -> Payload {
    match (Json::read(under), Json::read(over)) {
        (Json::Object(under), Json::Object(over)) => {
            let entries = under.into_entries().into_iter().chain(over.into_entries());
            Json::Object(entries.collect()).to_payload()
        }
        _ => over.clone(),
    }
}

/// An object with these members, in place of those of the same name. The texts of the others stay as they are.
pub(crate) fn with_members<const N: usize>(
    object: &Payload,
    members: [(&str, Box<RawValue>); N],
) -> Payload {
    let before: Ordered<Box<RawValue>> = serde_json::from_str(object.text()).unwrap_or_default();
    let before = before.iter().map(|(name, text)| (name.to_owned(), text.clone()));
    let members = members.into_iter().map(|(name, text)| (name.to_owned(), text));
    let all: Ordered<Box<RawValue>> = before.chain(members).collect();
    let text = serde_json::to_string(&all).expect("members with their texts are an object");
    Payload::from_text(text).expect("an object is JSON")
}

/// The second object, its lists put behind those of the first.
pub(crate) fn appended(to: &Payload, given: &Payload) -> Payload {
    let before = object(to);
    let entries = object(given).into_entries().into_iter().map(|(key, value)| {
        let value = match (before.get(&key), value) {
            (Some(Json::Array(before)), Json::Array(more)) => {
                Json::Array(before.iter().cloned().chain(more).collect())
            }
            (_, value) => value,
        };
        (key, value)
    });
    Json::Object(entries.collect::<Object>()).to_payload()
}

fn object(payload: &Payload) -> Object {
    match Json::read(payload) {
        Json::Object(object) => object,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Object::default()
        }
    }
}
