//! # Heard: a message as the root of the expressions of an event handler
//!
//! `${order.id}` and `${$.order.id}` are the same place in it. Nothing else is in scope: neither a
//! run nor the environment.

use std::sync::Arc;

use semel_model::{Payload, TaskId};
use serde_json::{Map, Value};

use super::json::{Json, Object};
use super::origin::Origin;
use super::path::Path;
use super::resolve::{MissingPart, Reading, Resolve};
use crate::script::plain::Program;

pub(crate) struct Heard {
    document: Arc<Json>,
    reading: Reading,
}

impl Heard {
    pub(crate) fn new(message: &Payload) -> Self {
        Self { document: Arc::new(Json::read(message)), reading: Reading::default() }
    }

    /// A run that is to start: what is known about it, and its input with every digit.
    pub(crate) fn of_start(input: &Payload, about: &Value) -> Self {
        let about = Json::data(about);
        let entries = about.as_object().into_iter().flat_map(Object::iter);
        let entries = entries.map(|(key, value)| (key.to_owned(), value.clone()));
        let run = entries.chain([("input".to_owned(), Json::read(input))]).collect::<Object>();
        let document = [("workflow".to_owned(), Json::Object(run))].into_iter().collect::<Object>();
        Self { document: Arc::new(Json::Object(document)), reading: Reading::default() }
    }

    /// With texts that hold an object or a list read as what they hold.
    pub(crate) fn expanded(&self) -> Self {
        Self { document: Arc::new(expanded(&self.document)), reading: Reading::default() }
    }

    /// Whether a condition is true of the message. The error is one that JavaScript would have
    /// thrown, or names what is not computed here.
    pub(crate) fn holds(&self, condition: &Program) -> Result<bool, String> {
        condition.is_true(&self.document).map_err(|obstacle| obstacle.to_string())
    }

    /// The object with its expressions put in place, and over it what else it shall hold.
    pub(crate) fn object(
        &mut self,
        template: &Map<String, Value>,
        over: &[(&str, &str)],
    ) -> Payload {
        let resolved =
            template.iter().map(|(key, value)| (key.clone(), self.resolve(value, None, 1)));
        let mut entries: Vec<(String, Json)> = resolved.collect();
        let over = over
            .iter()
            .map(|(key, text)| ((*key).to_owned(), Json::String((*text).to_owned().into())));
        entries.extend(over);
        Json::Object(entries.into_iter().collect::<Object>()).to_payload()
    }

    /// None if it comes to nothing.
    pub(crate) fn text(&mut self, template: &str) -> Option<String> {
        let found = self.resolve_text(template, None, 0);
        let text = (!found.is_null()).then(|| found.into_plain());
        text.filter(|text| !text.trim().is_empty())
    }

    /// The text of a key.
    pub(crate) fn key(&mut self, template: &str) -> Result<String, MissingPart> {
        self.resolve_key(template, None)
    }

    /// What the template comes to, as it is.
    pub(crate) fn value(&mut self, template: &str) -> Value {
        self.resolve_text(template, None, 0).to_payload().value()
    }

    /// A field at the top of the message.
    pub(crate) fn field(&self, name: &str) -> Option<Value> {
        Some(self.document.as_object()?.get(name)?.to_payload().value())
    }
}

impl Resolve for Heard {
    fn reading(&mut self) -> &mut Reading {
        &mut self.reading
    }

    fn named(&mut self, _: &str, _: Option<TaskId>) -> Option<Json> {
        None
    }

    fn is_data(&self, _: Option<TaskId>) -> bool {
        false
    }

    /// The message is all there is, and all of it is data.
    fn may_read(&self, _: Origin<'_>, _: bool, _: Option<TaskId>) -> bool {
        true
    }

    fn root(&mut self, _: &Path) -> (Option<Arc<Json>>, usize) {
        (Some(Arc::clone(&self.document)), 0)
    }
}

fn expanded(value: &Json) -> Json {
    match value {
        Json::String(text) if text.trim_start().starts_with(['{', '[']) => {
            Json::read_text(text).unwrap_or_else(|| value.clone())
        }
        Json::Array(items) => Json::Array(items.iter().map(expanded).collect()),
        Json::Object(object) => {
            let entries = object.iter().map(|(key, value)| (key.to_owned(), expanded(value)));
            Json::Object(entries.collect::<Object>())
        }
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => value.clone(),
    }
}
