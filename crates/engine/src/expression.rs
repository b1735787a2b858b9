//! # Expressions: `${...}` over the run and its tasks
//!
//! A string that is one whole expression takes the value with its type; an expression inside text
//! becomes text. Only template strings are looked at, never the data they bring in. A path that
//! leads nowhere is null, and so is one that is not valid or costs too much: no run fails over an
//! expression.
//!
//! Numbers that are passed on keep their text, `1.10` and integers of any size; only functions
//! calculate, in doubles. (A number written in a definition is what the definition's reader made of
//! it: beyond 64 bits, the nearest double.)
//!
//! Payloads are read once per turn and paths borrow from them, so the cost is what is visited and
//! what is copied, and both have a limit.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{Payload, TaskId};
use serde_json::{Map, Value};

use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::pin::Step;
use crate::turn::Turn;

mod cursor;
mod filter;
mod functions;
mod holds;
mod json;
mod mask;
mod path;
mod pattern;
mod position;
mod reader;
mod scope;
mod secrets;
mod select;
mod template;

pub use mask::Mask;
pub use secrets::{Secret, mentions_secrets, reveal, secrets_in};

use json::{Json, Object};
use path::Query;
use scope::Source;
use secrets::SECRETS;
use select::{Answer, Budget, Root};
use template::Part;

/// Expressions inside expressions; one nested deeper is null, before the stack ends.
const NESTING_MAX: usize = 32;

/// How deep a resolved payload may nest: it must stay readable (JSON is read to 128 levels). A value
/// that would reach deeper is null.
const DEPTH_MAX: usize = 120;

/// What one path may visit, and what it may copy: a little more than the largest payload can hold.
/// `$..*..*` over a large document is null.
const PATH_NODES_MAX: usize = 6_000_000;

/// What all paths of a turn may visit and copy together, a second's work at most. When it is spent
/// every further expression is null.
const TURN_NODES_MAX: usize = 12_000_000;

/// Types whose input is their parameters alone, whatever template their task definition has.
const UNTEMPLATED: [&str; 12] = [
    "SWITCH",
    "DECISION",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "JOIN",
    "SUB_WORKFLOW",
    "START_WORKFLOW",
    "SET_VARIABLE",
    "EVENT",
    "WAIT",
    "HUMAN",
    "TERMINATE",
];

/// What the expressions of a turn have read, and what they may still read.
#[derive(Debug)]
pub(crate) struct Reading {
    documents: BTreeMap<Source, (Payload, Arc<Json>)>,
    nodes_left: usize,
}

impl Default for Reading {
    fn default() -> Self {
        Self { documents: BTreeMap::new(), nodes_left: TURN_NODES_MAX }
    }
}

impl Turn<'_> {
    /// The start input with the definition's `inputTemplate` under it.
    pub(crate) fn with_defaults(&mut self, slot: Slot) -> Result<Slot, Stop> {
        let definition = Arc::clone(self.execution().definition().definition());
        if !self.payload(slot).is_object() {
            let message = "input must be a JSON object".to_owned();
            return Err(Rejection::Invalid(message).into());
        }
        let Some(template) = definition.input_template.as_ref().filter(|map| !map.is_empty())
        else {
            return Ok(slot);
        };
        let input = object(self.payload(slot));
        let is_missing = |key: &str| input.get(key).is_none_or(Json::is_null);
        let missing = template.iter().filter(|(key, _)| is_missing(key));
        let missing: Vec<(String, Json)> =
            missing.map(|(key, value)| (key.clone(), value.into())).collect();
        if missing.is_empty() {
            return Ok(slot);
        }
        let filled: Object = input.into_entries().into_iter().chain(missing).collect();
        Ok(self.store(Json::Object(filled).to_payload()))
    }

    /// A task's input: the step's parameters resolved, over `before` when this is a retry.
    pub(crate) fn task_input(
        &mut self,
        step: &Step,
        task: TaskId,
        before: Option<&Payload>,
    ) -> Payload {
        let is_templated = !UNTEMPLATED.contains(&step.task().kind.as_str());
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
                found = fallback.map_or(Json::Null, Json::from);
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

    /// `depth` is that of the place the value goes to.
    fn resolve(&mut self, template: &Value, task: Option<TaskId>, depth: usize) -> Json {
        match template {
            Value::String(text) => {
                let found = self.resolve_text(text, task, 0);
                if depth + found.size().levels > DEPTH_MAX { Json::Null } else { found }
            }
            Value::Array(items) => {
                let resolved = items.iter().map(|item| self.resolve(item, task, depth + 1));
                Json::Array(resolved.collect())
            }
            Value::Object(map) => {
                let resolved = |(key, value): (&String, &Value)| {
                    (key.clone(), self.resolve(value, task, depth + 1))
                };
                Json::Object(map.iter().map(resolved).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Json::from(template),
        }
    }

    fn resolve_text(&mut self, text: &str, task: Option<TaskId>, nesting: usize) -> Json {
        let parts = template::split(text);
        if let [Part::Expression(path)] = parts.as_slice() {
            return self.evaluate(path, task, nesting);
        }
        let mut out = String::with_capacity(text.len());
        for part in parts {
            match part {
                // Inside a path text is text; in what is stored it must not pass for a secret.
                Part::Text(text) if nesting > 0 => out.push_str(text),
                Part::Text(text) => out.push_str(&secrets::escaped(text)),
                Part::Expression(path) => {
                    out.push_str(&self.evaluate(path, task, nesting).into_plain());
                }
            }
        }
        Json::String(out)
    }

    fn evaluate(&mut self, written: &str, task: Option<TaskId>, nesting: usize) -> Json {
        if nesting >= NESTING_MAX {
            return Json::Null;
        }
        let path = if written.contains("${") {
            Cow::Owned(self.resolve_text(written, task, nesting + 1).into_plain())
        } else {
            Cow::Borrowed(written)
        };
        let path = path.trim();
        if path.is_empty() {
            return Json::String(String::new());
        }
        // Only the definition says that something is a secret, never the data brought into a path.
        if written.trim_start().starts_with(SECRETS) {
            let is_plain = !path.contains(['$', '{', '}']);
            return if is_plain { Json::String(format!("${{{path}}}")) } else { Json::Null };
        }
        if let Some(value) = self.named(path, task) {
            return value;
        }
        Query::parse(path).map_or(Json::Null, |query| self.select(&query))
    }

    fn select(&mut self, query: &Query) -> Json {
        let paths = query.documents.iter().chain([&query.path]);
        let roots: Vec<(Option<Arc<Json>>, usize)> = paths.map(|path| self.root(path)).collect();
        let borrowed: Vec<Root<'_>> = roots
            .iter()
            .map(|(document, taken)| Root { document: document.as_deref(), taken: *taken })
            .collect();
        let answer = self.spending(|budget| select::answer(query, &borrowed, budget));
        answer.and_then(|answer| self.copy(answer)).unwrap_or(Json::Null)
    }

    /// The only place where what was found is copied.
    fn copy(&mut self, answer: Answer<'_>) -> Option<Json> {
        let found = match &answer {
            Answer::One(found) => found.as_slice(),
            Answer::Many(found) => found,
        };
        self.spending(|budget| {
            found.iter().try_for_each(|value| budget.spend(value.size().nodes))
        })?;
        match answer {
            Answer::One(found) => found.map(Cow::into_owned),
            Answer::Many(found) => {
                Some(Json::Array(found.into_iter().map(Cow::into_owned).collect()))
            }
        }
    }

    /// Work on the budget of one path, and on the turn's.
    fn spending<T>(&mut self, work: impl FnOnce(&mut Budget) -> Option<T>) -> Option<T> {
        let allowed = PATH_NODES_MAX.min(self.reading.nodes_left);
        let mut budget = Budget::new(allowed);
        let done = work(&mut budget);
        self.reading.nodes_left -= allowed - budget.left();
        done
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

fn object(payload: &Payload) -> Object {
    match Json::read(payload) {
        Json::Object(object) => object,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Object::default()
        }
    }
}
