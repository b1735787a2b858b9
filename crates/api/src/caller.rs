//! # The caller: who asks, and by which request

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;

/// Who acts while authentication is off.
pub(crate) const ANONYMOUS: &str = "anonymous";

/// What an id of a request may hold of what the client sent.
const REQUEST_ID_CHARS_MAX: usize = 200;

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) principal: String,
    /// As the client named the request; empty if it did not.
    pub(crate) request: String,
}

impl Caller {
    /// Who is named in the journal: whoever is known, else who a worker says it is.
    pub(crate) fn acting(&self, worker: Option<String>) -> String {
        worker.filter(|_| self.known().is_none()).unwrap_or_else(|| self.principal.clone())
    }

    /// None while authentication is off.
    pub(crate) fn known(&self) -> Option<String> {
        Some(self.principal.clone()).filter(|principal| principal != ANONYMOUS)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let request = request_id(&parts.headers);
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.map_or(ANONYMOUS, |principal| &principal.0).to_owned();
        Ok(Self { principal, request })
    }
}

pub(crate) fn request_id(headers: &HeaderMap) -> String {
    let request = headers.get("x-request-id").and_then(|value| value.to_str().ok());
    request.unwrap_or_default().chars().take(REQUEST_ID_CHARS_MAX).collect()
}

/// Put into a request by the guard once it knows.
#[derive(Clone, Debug)]
pub(crate) struct Principal(pub(crate) String);
