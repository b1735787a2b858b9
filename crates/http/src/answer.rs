//! # Answers: what came back, and how a task's output shows it

use std::collections::BTreeMap;

use semel_model::Payload;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::retry_after;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) phrase: String,
    /// In the order and spelling of the wire.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// As Conductor shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'a> {
    status_code: u16,
    reason_phrase: &'a str,
    headers: BTreeMap<&'a str, Vec<&'a str>>,
    body: &'a RawValue,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    pub(crate) fn retry_after(&self) -> Option<u64> {
        retry_after::seconds(self.header("retry-after")?, self.header("date"))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// For reasons: the status, its phrase, and how the body begins.
    pub(crate) fn brief(&self) -> String {
        const BODY_CHARS_MAX: usize = 200;
        let text = self.text();
        let text: String = text.trim().chars().take(BODY_CHARS_MAX).collect();
        let head = format!("{} {}", self.status, self.phrase);
        let head = head.trim_end();
        if text.is_empty() { head.to_owned() } else { format!("{head}: {text}") }
    }

    /// As JSON text. A body that is an object, a list or a number is shown as that, anything else as
    /// text; none as null.
    pub(crate) fn shown(&self) -> String {
        let text = self.text();
        let trimmed = text.trim();
        let is_value = trimmed.starts_with(|first: char| "{[-0123456789".contains(first));
        if trimmed.is_empty() {
            return self.with_body(RawValue::NULL);
        }
        if let Some(value) = serde_json::from_str(trimmed).ok().filter(|_| is_value) {
            let shown = self.with_body(value);
            // Inside an output it still has to be readable by whoever looks inside.
            if Payload::readable(&format!("{{\"response\":{shown}}}")).is_ok() {
                return shown;
            }
        }
        let plain: Option<String> = serde_json::from_str(trimmed).ok();
        let plain = RawValue::from_string(quoted(&plain.unwrap_or(text)));
        self.with_body(plain.as_deref().unwrap_or(RawValue::NULL))
    }

    fn with_body(&self, body: &RawValue) -> String {
        let mut headers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, value) in &self.headers {
            headers.entry(name).or_default().push(value);
        }
        let shown = Shown { status_code: self.status, reason_phrase: &self.phrase, headers, body };
        serde_json::to_string(&shown).unwrap_or_else(|_| "null".to_owned())
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(body: &str) -> Answer {
        let headers = [("a", "1"), ("A", "2"), ("a", "3")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Answer { status: 200, phrase: "OK".to_owned(), headers, body: body.as_bytes().to_vec() }
    }

    fn body(text: &str) -> Value {
        serde_json::from_str::<Value>(&answer(text).shown()).unwrap()["body"].clone()
    }

    #[test]
    fn a_body_is_shown_as_what_it_is() {
        assert_eq!(body(r#" {"a": [1]} "#), json!({"a": [1]}));
        assert_eq!(body("[1, 2]"), json!([1, 2]));
        assert_eq!(body("5"), json!(5));
        assert_eq!(body("\"text\""), json!("text"));
        assert_eq!(body("true"), json!("true"));
        assert_eq!(body("null"), json!("null"));
        assert_eq!(body("plain {"), json!("plain {"));
        assert_eq!(body("{not json"), json!("{not json"));
        assert_eq!(body("12 monkeys"), json!("12 monkeys"));
        assert_eq!(body(" "), Value::Null);
        assert!(answer(r#"{"n":1.10}"#).shown().contains(r#""body":{"n":1.10}"#));
    }

    #[test]
    fn a_body_nobody_can_read_is_text() {
        let deep = format!("{}1{}", "[".repeat(126), "]".repeat(126));
        assert_eq!(body(&deep), json!(deep));
        assert_eq!(body("[1e999]"), json!("[1e999]"));
        let trick = r#"{"$serde_json::private::RawValue": "x"}"#;
        assert_eq!(body(trick), json!(trick));
    }

    #[test]
    fn headers_are_lists_and_found_in_any_spelling() {
        let shown: Value = serde_json::from_str(&answer("").shown()).unwrap();
        assert_eq!(shown["headers"], json!({"A": ["2"], "a": ["1", "3"]}));
        assert_eq!(answer("").header("A"), Some("1"));
    }
}
