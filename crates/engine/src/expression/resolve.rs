//! # Resolving: templates with their expressions put in place
//!
//! The same for every scope: a run and its tasks, or the message an event handler hears. What a path
//! begins in is the scope's to say.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use semel_model::{Payload, TaskId};
use serde_json::Value;

use super::PATH_NODES_MAX;
use super::json::Json;
use super::origin::{Origin, is_written};
use super::path::{Path, Query};
use super::scope::Source;
use super::secrets::SECRETS;
use super::select::{self, Answer, Budget, Root};
use super::template::{self, Part};
use super::text::Text;

/// Expressions inside expressions; one nested deeper is null, before the stack ends.
const NESTING_MAX: usize = 32;

/// How deep a resolved payload may nest: it must stay readable (JSON is read to 128 levels). A value
/// that would reach deeper is null.
const DEPTH_MAX: usize = 120;

/// What all paths of a turn may visit and copy together, a second's work at most. When it is spent
/// every further expression is null.
const TURN_NODES_MAX: usize = 12_000_000;

/// What the expressions of a turn have read, and what they may still read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(super) documents: BTreeMap<Source, (Payload, Arc<Json>)>,
    nodes_left: usize,
    /// The last thing that was asked for cost more than was left.
    is_over: bool,
    /// The first expression that cost too much, since somebody asked last.
    costly: Option<String>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            documents: BTreeMap::new(),
            nodes_left: TURN_NODES_MAX,
            is_over: false,
            costly: None,
        }
    }
}

impl Reading {
    /// Less is left than one path may spend: what is still to be done waits for a turn of its own.
    pub(crate) fn is_worn(&self) -> bool {
        self.nodes_left < PATH_NODES_MAX
    }

    /// Something else was computed that costs as much as reading so many nodes.
    pub(crate) fn spend(&mut self, nodes: usize) {
        self.nodes_left = self.nodes_left.saturating_sub(nodes);
    }

    /// Why something is null that would have had a value: an expression cost too much.
    pub(crate) fn take_costly(&mut self) -> Option<String> {
        self.costly.take()
    }

    fn note_costly(&mut self, written: &str) {
        const SHOWN_CHARS_MAX: usize = 200;
        if !std::mem::take(&mut self.is_over) || self.costly.is_some() {
            return;
        }
        let shown: String = written.chars().take(SHOWN_CHARS_MAX).collect();
        let more = if shown.len() < written.len() { "..." } else { "" };
        self.costly = Some(format!(
            "the expression ${{{shown}{more}}} costs more than expressions may \
             (docs/errors/EXPRESSION_COST.md)"
        ));
    }
}

/// A part of a key that is null, missing or empty: there is no key then, since everybody who lacks
/// that part would have the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingPart(String);

impl fmt::Display for MissingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is null, missing or empty", self.0)
    }
}

/// Where expressions look.
pub(super) trait Resolve {
    fn reading(&mut self) -> &mut Reading;

    /// The whole path as a name of its own, not a path.
    fn named(&mut self, name: &str, task: Option<TaskId>) -> Option<Json>;

    /// The step of that task came as data: what it reads is data, too.
    fn is_data(&self, task: Option<TaskId>) -> bool;

    /// Whether an expression of that task may begin there. `is_written`: the definition says so, not the
    /// data that an inner expression has brought.
    fn may_read(&self, origin: Origin<'_>, is_written: bool, task: Option<TaskId>) -> bool;

    /// The document a path starts in, and how many of its steps led there.
    fn root(&mut self, path: &Path) -> (Option<Arc<Json>>, usize);

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
            Value::Null | Value::Bool(_) | Value::Number(_) => Json::written(template),
        }
    }

    fn resolve_text(&mut self, text: &str, task: Option<TaskId>, nesting: usize) -> Json {
        let parts = template::split(text);
        if let [Part::Expression(path)] = parts.as_slice() {
            return self.evaluate(path, task, nesting);
        }
        let mut out = Text::default();
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expression(path) => {
                    out.push(&self.evaluate(path, task, nesting).into_text());
                }
            }
        }
        Json::String(out)
    }

    /// The text of a key. Every expression in it has to come to something.
    fn resolve_key(&mut self, template: &str, task: Option<TaskId>) -> Result<String, MissingPart> {
        let mut key = String::new();
        for part in template::split(template) {
            match part {
                Part::Text(text) => key.push_str(text),
                Part::Expression(path) => {
                    let found = self.evaluate(path, task, 0);
                    if found.is_blank() {
                        return Err(MissingPart(format!("${{{path}}}")));
                    }
                    key.push_str(&found.into_plain());
                }
            }
        }
        match key.trim().is_empty() {
            true => Err(MissingPart(template.to_owned())),
            false => Ok(key),
        }
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
            return Json::String(Text::default());
        }
        let is_computed = written.contains("${");
        let is_data = self.is_data(task);
        // Only the definition says that something is a secret, never the data brought into a path.
        if written.trim_start().starts_with(SECRETS) {
            let is_plain = !is_data && !path.contains(['$', '{', '}']);
            return match is_plain {
                true => Json::String(Text::late(format!("${{{path}}}"))),
                false => Json::Null,
            };
        }
        if let Some(value) = self.named(path, task).filter(|_| !is_computed) {
            return value;
        }
        let found = self.find(written, path, task);
        self.reading().note_costly(written);
        if is_computed || is_data { found.disarmed() } else { found }
    }

    /// What a path leads to, if it begins where this expression may begin.
    fn find(&mut self, written: &str, path: &str, task: Option<TaskId>) -> Json {
        let is_computed = written.contains("${");
        let paid = self.spending(|budget| budget.spend(Query::price(path)));
        let query = paid.and_then(|()| Query::parse(path)).filter(|query| {
            query.origins().all(|origin| {
                let is_written = !is_computed || is_written(origin, written);
                self.may_read(origin, is_written, task)
            })
        });
        query.map_or(Json::Null, |query| self.select(&query))
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

    /// Work on the budget of one path, and on the turn's. None is over budget.
    fn spending<T>(&mut self, work: impl FnOnce(&mut Budget) -> Option<T>) -> Option<T> {
        let allowed = PATH_NODES_MAX.min(self.reading().nodes_left);
        let mut budget = Budget::new(allowed);
        let done = work(&mut budget);
        let reading = self.reading();
        reading.nodes_left -= allowed - budget.left();
        reading.is_over |= done.is_none();
        done
    }
}
