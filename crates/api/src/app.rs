//! # What handlers share

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use semel_model::{DefinitionLimits, Digest, WorkflowDef};
use semel_runtime::Runtime;

use crate::auth::Auth;
use crate::error::ApiError;
use crate::watch::Watch;
use crate::web::WebRules;

/// One for all: every request has its share of it.
pub(crate) type App = Arc<House>;

/// What the door is opened with.
pub struct House {
    pub runtime: Arc<Runtime>,
    pub limits: Limits,
    /// None: everybody may do everything.
    pub auth: Option<Arc<Auth>>,
    pub keys: KeyRules,
    /// Serves `POST /test/clock`.
    pub test_clock: bool,
    pub watch: Watch,
    pub web: WebRules,
}

/// What the operator wants of keys.
#[derive(Clone, Debug, Default)]
pub struct KeyRules {
    /// Paths under which whatever changes something needs an `Idempotency-Key`.
    pub required: Arc<[String]>,
    /// A start whose key came with something else before is refused, unless its definition says
    /// otherwise.
    pub strict: bool,
    /// Removing a run by hand does not free its key.
    pub outlive_removal: bool,
    /// The log tells keys by their digest: they may be personal data.
    pub hashed_in_logs: bool,
}

impl KeyRules {
    pub(crate) fn needed_for(&self, path: &str) -> bool {
        self.required.iter().any(|prefix| path.starts_with(prefix.as_str()))
    }

    /// A key as the log may tell it.
    pub(crate) fn told<'a>(&self, key: &'a str) -> Cow<'a, str> {
        match self.hashed_in_logs {
            true => Cow::Owned(format!("sha256:{}", Digest::of(key.as_bytes()))),
            false => Cow::Borrowed(key),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub body_bytes_max: usize,
    /// Of all bodies that are held at one time.
    pub bodies_bytes_max: usize,
    /// How long a body may stand still.
    pub body_timeout_ms: u64,
    /// How long the body of a login may take.
    pub header_timeout_ms: u64,
    pub poll_wait_ms_max: u64,
    pub execute_wait_ms_max: u64,
    pub definitions: DefinitionLimits,
}

impl Limits {
    pub(crate) fn execute_wait(self, asked: Duration) -> Duration {
        asked.min(Duration::from_millis(self.execute_wait_ms_max))
    }

    /// Refuses a definition that is too large. `path` is where it stands.
    pub(crate) fn checked(self, definition: &WorkflowDef, path: &str) -> Result<(), ApiError> {
        let violation = self.definitions.violation(definition, path);
        violation.map_or(Ok(()), |violation| Err(ApiError::Invalid(vec![violation])))
    }
}
