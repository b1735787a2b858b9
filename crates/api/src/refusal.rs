//! # Refusals: a no with everything a machine needs to know about it

use axum::http::StatusCode;
use serde_json::{Map, Value};

/// Answers with the shape of every error; the details are its `metadata`.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) metadata: Map<String, Value>,
    /// Asking again may help, after so many seconds.
    pub(crate) retry_after_seconds: Option<u64>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: String) -> Self {
        let (metadata, headers) = (Map::new(), Vec::new());
        Self { status, code, message, metadata, retry_after_seconds: None, headers }
    }

    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        if !value.is_null() {
            self.metadata.insert(name.to_owned(), value);
        }
        self
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }
}
