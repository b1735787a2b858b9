//! # Keyed routes: those that take an `Idempotency-Key`

use crate::routes::Route;

/// Asked with POST, and change nothing: they are simply asked again. A token is nobody's business.
const LOOKS: &[&str] = &[
    "/api/metadata/workflow/validate",
    "/api/workflow/test",
    "/api/workflow/{name}/correlated",
    "/api/workflow/correlated/batch",
    "/api/workflow/{id}/verify",
    "/api/tasks/{task}/ack",
    "/api/tasks/queue/requeue/{name}",
    "/api/secrets",
    "/api/lint",
    "/api/token",
];

impl Route {
    /// Takes an `Idempotency-Key`.
    pub(crate) fn is_keyed(&self) -> bool {
        self.method != "GET" && self.path.starts_with("/api/") && !LOOKS.contains(&self.path)
    }
}
