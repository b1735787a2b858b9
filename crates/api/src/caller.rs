//! # The caller: who asks, and by which request

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use semel_model::Traceparent;

use crate::watch::Asked;

/// Who acts while authentication is off.
pub(crate) const ANONYMOUS: &str = "anonymous";

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) principal: String,
    /// The id of the request, as every answer and every line of the log says it.
    pub(crate) request: String,
    /// The trace that what it starts belongs to.
    pub(crate) traceparent: Option<Traceparent>,
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
        let asked = parts.extensions.get::<Asked>();
        let request = asked.map_or_else(String::new, |asked| asked.id.to_string());
        let traceparent = asked.and_then(|asked| asked.traceparent);
        let principal = parts.extensions.get::<Principal>();
        let principal = principal.map_or(ANONYMOUS, |principal| &principal.0).to_owned();
        Ok(Self { principal, request, traceparent })
    }
}

/// Put into a request by the guard once it knows.
#[derive(Clone, Debug)]
pub(crate) struct Principal(pub(crate) String);
