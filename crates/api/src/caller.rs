//! # The caller: who asks, and by which request

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use semel_model::Traceparent;
use semel_runtime::Holder;

use crate::watch::Asked;

/// Who acts while authentication is off.
pub(crate) const ANONYMOUS: &str = "anonymous";

#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) principal: String,
    /// The application whose key it is, as clients name such a user: `app:ID`.
    application: Option<String>,
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

    /// Who is named as the author of applications and event handlers, as Orkes names them.
    pub(crate) fn author(&self) -> &str {
        self.application.as_deref().unwrap_or(&self.principal)
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
        let holder = parts.extensions.get::<Holder>();
        let application = holder.map(|holder| user_id(&holder.application.id));
        Ok(Self { principal, application, request, traceparent })
    }
}

/// What an application is called as a user.
pub(crate) fn user_id(application: &str) -> String {
    format!("app:{application}")
}

/// Put into a request by the guard once it knows.
#[derive(Clone, Debug)]
pub(crate) struct Principal(pub(crate) String);
