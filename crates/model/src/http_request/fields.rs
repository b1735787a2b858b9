//! # Fields: one object of a request, read name by name
//!
//! As liberally as Jackson: `"50"` is 50. The text of every field is kept.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_json::value::RawValue;

/// What the client says of connection and length, nobody else may: two answers to how long a request
/// is are how one request is smuggled inside another.
const RESERVED: [&str; 6] =
    ["content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"];

pub(super) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    pub(super) fn read(text: &'a str) -> Result<Self, String> {
        let is_object = text.trim_start().starts_with('{');
        let fields = serde_json::from_str(text).ok().filter(|_| is_object);
        fields.map(Self).ok_or_else(|| "must be an object".to_owned())
    }

    fn value(&self, name: &str) -> Option<Value> {
        let value = serde_json::from_str(self.0.get(name)?.get()).unwrap_or(Value::Null);
        Some(value).filter(|value: &Value| !value.is_null())
    }

    pub(super) fn object(&self, name: &str) -> Result<Option<Self>, String> {
        let Some(raw) = self.0.get(name).filter(|raw| raw.get() != "null") else {
            return Ok(None);
        };
        Self::read(raw.get()).map(Some).map_err(|why| format!("{name} {why}"))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        scalar(&value).map(Some).ok_or_else(|| format!("{name} must be text"))
    }

    /// Text, or a list of texts.
    pub(super) fn texts(&self, name: &str) -> Result<Option<String>, String> {
        let Some(Value::Array(list)) = self.value(name) else { return self.text(name) };
        let texts: Option<Vec<String>> = list.iter().map(scalar).collect();
        texts.map(|texts| Some(texts.join(", "))).ok_or_else(|| format!("{name} must be text"))
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<i64>, String> {
        let Some(value) = self.value(name) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        number.map(Some).ok_or_else(|| format!("{name} must be a whole number"))
    }

    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, String> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Ok(Some(false)),
            Some(_) => Err(format!("{name} must be true or false")),
        }
    }

    /// Text as it is, anything else as its JSON.
    pub(super) fn body(&self, name: &str) -> Result<Option<String>, String> {
        let Some(raw) = self.0.get(name).map(|raw| raw.get()).filter(|raw| *raw != "null") else {
            return Ok(None);
        };
        if !raw.starts_with('"') {
            return Ok(Some(raw.to_owned()));
        }
        serde_json::from_str(raw).map(Some).map_err(|_| format!("{name} is not readable text"))
    }

    /// One entry per value; a null is none.
    pub(super) fn headers(&self, name: &str, max: usize) -> Result<Vec<(String, String)>, String> {
        let Some(value) = self.value(name) else { return Ok(Vec::new()) };
        let Value::Object(map) = value else { return Err(format!("{name} must be an object")) };
        let mut headers = Vec::new();
        for (header, value) in map {
            if RESERVED.contains(&header.to_ascii_lowercase().as_str()) {
                return Err(format!("{name}.{header} is not yours to set"));
            }
            let values = match value {
                Value::Null => continue,
                Value::Array(list) => list,
                one => vec![one],
            };
            for value in values {
                let text = scalar(&value).ok_or_else(|| format!("{name}.{header} must be text"))?;
                headers.push((header.clone(), text));
            }
        }
        if headers.len() > max {
            return Err(format!("{name} has more than {max} entries"));
        }
        Ok(headers)
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
