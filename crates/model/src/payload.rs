//! # Payloads: JSON kept as it came
//!
//! Inputs and outputs travel as raw text and are parsed only when an expression looks inside.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::exact::respelled;
use crate::{canonical, exact, lenient};

/// Shared, immutable JSON text.
#[derive(Clone)]
pub struct Payload(Arc<RawValue>);

static EMPTY: LazyLock<Payload> =
    LazyLock::new(|| Payload::from_text("{}".to_owned()).expect("{} is JSON"));

impl Payload {
    /// `{}`, which is what an absent payload means on the wire.
    pub fn empty() -> Self {
        EMPTY.clone()
    }

    pub fn from_text(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(|raw| Self(raw.into()))
    }

    /// An object that can be read to its end; what is stored of strangers has to be.
    pub fn readable(text: &str) -> Result<Self, serde_json::Error> {
        lenient::object(&mut serde_json::Deserializer::from_str(text))
    }

    pub fn from_value(value: &Value) -> Self {
        let text = serde_json::to_string(value).expect("a JSON value always has a text");
        Self::from_text(text).expect("the text of a JSON value is JSON")
    }

    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Parsed. JSON that no value can hold (`1e999`) reads as null.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or(Value::Null)
    }

    /// Parsed for comparing, with every digit of its numbers. Not to be shown or stored.
    pub fn compared(&self) -> Value {
        exact(self.text()).unwrap_or(Value::Null)
    }

    /// The one text of everything that says the same, every digit counted.
    pub fn canonical(&self) -> String {
        canonical(&self.compared())
    }

    /// The same, its numbers in one spelling, with all the digits that count.
    #[must_use]
    pub fn respelled(&self) -> Self {
        let text = respelled(self.text()).and_then(|text| Self::from_text(text).ok());
        text.unwrap_or_else(|| Self::from_value(&Value::Null))
    }

    pub fn is_object(&self) -> bool {
        self.text().starts_with('{')
    }

    pub fn len(&self) -> usize {
        self.text().len()
    }

    pub fn is_empty(&self) -> bool {
        self.text() == "{}"
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::empty()
    }
}

impl PartialEq for Payload {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.text() == other.text()
    }
}

impl Eq for Payload {}

impl Ord for Payload {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_length = self.len().cmp(&other.len());
        by_length.then_with(|| self.text().cmp(other.text()))
    }
}

impl PartialOrd for Payload {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer).map_err(de::Error::custom)?;
        Ok(Self(raw.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_keeps_its_bytes() {
        let text = r#"{"b": 1.0, "a": [1e3, null]}"#;
        let payload: Payload = serde_json::from_str(text).unwrap();
        assert_eq!(payload.text(), text);
        assert_eq!(serde_json::to_string(&payload).unwrap(), text);
    }

    #[test]
    fn payloads_are_compared_by_every_digit() {
        let of = |text: &str| Payload::from_text(text.to_owned()).unwrap().canonical();
        assert_eq!(of(r#"{"b": 1.0, "a": 2}"#), of(r#"{"a":2,"b":1}"#));
        assert_ne!(
            of(r#"{"wei": 100000000000000000001}"#),
            of(r#"{"wei": 100000000000000000002}"#)
        );
    }
}
