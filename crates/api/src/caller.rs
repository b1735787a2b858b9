//! # The caller: who asks, and by which request

use std::convert::Infallible;

use axum::extract::FromRequestParts;
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
        let known = self.principal != ANONYMOUS;
        worker.filter(|_| !known).unwrap_or_else(|| self.principal.clone())
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let request = parts.headers.get("x-request-id").and_then(|value| value.to_str().ok());
        let request = request.unwrap_or_default().chars().take(REQUEST_ID_CHARS_MAX).collect();
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.map_or(ANONYMOUS, |principal| &principal.0).to_owned();
        Ok(Self { principal, request })
    }
}

/// Put into a request by the guard once it knows.
#[derive(Clone, Debug)]
pub(crate) struct Principal(pub(crate) String);
