//! # Calls: one request, before it is sent

use std::time::Duration;

use reqwest::Method;
use serde::Serialize;

use crate::error::ClientError;

const WITHIN: Duration = Duration::from_secs(60);

pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) segments: Vec<String>,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) body: Option<(&'static str, String)>,
    /// From the first byte sent to the last byte received.
    pub(crate) within: Duration,
}

impl Call {
    /// `path` is ours and may have slashes; names of others go through [`Call::name`].
    pub(crate) fn new(method: Method, path: &str) -> Self {
        let segments = path.split('/').map(str::to_owned).collect();
        Self { method, segments, query: Vec::new(), body: None, within: WITHIN }
    }

    pub(crate) fn get(path: &str) -> Self {
        Self::new(Method::GET, path)
    }

    pub(crate) fn post(path: &str) -> Self {
        Self::new(Method::POST, path)
    }

    pub(crate) fn put(path: &str) -> Self {
        Self::new(Method::PUT, path)
    }

    pub(crate) fn delete(path: &str) -> Self {
        Self::new(Method::DELETE, path)
    }

    pub(crate) fn name(mut self, name: impl ToString) -> Self {
        self.segments.push(name.to_string());
        self
    }

    pub(crate) fn query(mut self, name: &'static str, value: impl ToString) -> Self {
        self.query.push((name, value.to_string()));
        self
    }

    pub(crate) fn query_if(self, name: &'static str, value: Option<impl ToString>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// JSON that is text already is passed on as it is written.
    pub(crate) fn json_text(mut self, text: impl Into<String>) -> Self {
        self.body = Some(("application/json", text.into()));
        self
    }

    pub(crate) fn json<T: Serialize>(self, body: &T) -> Result<Self, ClientError> {
        let text = serde_json::to_string(body).map_err(ClientError::Unreadable)?;
        Ok(self.json_text(text))
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        self.body = Some(("text/plain", text.to_owned()));
        self
    }

    pub(crate) fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }
}
