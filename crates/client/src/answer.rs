//! # Answers: what the server said, word for word and typed

use std::marker::PhantomData;

use reqwest::header::HeaderMap;
use serde::de::DeserializeOwned;

use crate::error::ClientError;

/// A success. The text stays as it came, so that it can be shown unaltered.
pub struct Answer<T> {
    text: String,
    headers: HeaderMap,
    typed: PhantomData<fn() -> T>,
}

impl<T> Answer<T> {
    pub(crate) fn new(text: String, headers: HeaderMap) -> Self {
        Self { text, headers, typed: PhantomData }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl<T: DeserializeOwned> Answer<T> {
    pub fn read(&self) -> Result<T, ClientError> {
        serde_json::from_str(&self.text).map_err(ClientError::Unreadable)
    }
}
