//! # The lint: what a definition promises and its numbers cannot keep
//!
//! Definitions that may be registered and are still likely to do a thing twice, or to hang. Rules
//! over plain data, each with a code and a page in `docs/errors`. **May use:** `model`. **May not:**
//! refuse anything; who asks decides what a finding is worth.

mod effects;
mod expression;
mod finding;
mod http;
mod keys;
mod parts;
mod registration;
mod retention;
mod schemas;
mod secrets;
mod timeouts;
mod walk;
mod window;

use std::sync::Arc;

use semel_model::{DefinitionLimits, KeyHosts, TaskDef, WorkflowDef};

pub use finding::{Code, Finding, Linted, Severity};
pub use registration::findings_of_task;
pub use schemas::{schemas_in_place, schemas_of_task};
use walk::walk;
pub use window::Window;

/// A longer report helps nobody, and a hostile definition could ask for a huge one.
pub const FINDINGS_MAX: usize = 1_000;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// What a definition alone does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long runs are kept after their end: so long can somebody run them again. None: for ever.
    pub execution_retention_seconds: Option<i64>,
    /// How long whoever triggers a start may deliver it again.
    pub sender_window_seconds: i64,
    /// How long a client may ask again.
    pub client_window_seconds: i64,
    /// How far clocks may be apart.
    pub skew_seconds: i64,
    /// Hosts that the server knows to honour keys.
    pub key_hosts: KeyHosts,
    /// How large a definition may be.
    pub definition_limits: DefinitionLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            execution_retention_seconds: Some(30 * DAY_SECONDS),
            sender_window_seconds: 3 * DAY_SECONDS,
            client_window_seconds: DAY_SECONDS,
            skew_seconds: 60,
            key_hosts: KeyHosts::default(),
            definition_limits: DefinitionLimits::default(),
        }
    }
}

/// What is registered under a task's name.
pub type Registered<'a> = &'a dyn Fn(&str) -> Option<Arc<TaskDef>>;

/// Everything found in a definition: first what registration will say, then the rest in the order of
/// the text; what definitions given in place have comes after.
pub fn lint(
    definition: &WorkflowDef,
    registered: Registered<'_>,
    settings: &Settings,
) -> Vec<Finding> {
    let mut findings = registration::of_definition(definition, registered, settings);
    for scene in walk(definition, registered) {
        findings.extend(keys::of_definition(&scene));
        findings.extend(parts::of_definition(&scene));
        findings.extend(secrets::of_definition(&scene));
        findings.extend(retention::of_definition(&scene, settings));
        for place in &scene.places {
            findings.extend(retention::of_step(place, settings));
            findings.extend(keys::of_step(place));
            findings.extend(parts::of_step(&scene, place));
            findings.extend(effects::of_step(place));
            findings.extend(http::of_step(place, settings));
            findings.extend(timeouts::of_step(place));
            if findings.len() > FINDINGS_MAX {
                break;
            }
        }
    }
    findings.truncate(FINDINGS_MAX);
    findings
}

/// As [`lint`], with the name of what was looked at.
pub fn linted(definition: &WorkflowDef, registered: Registered<'_>, settings: &Settings) -> Linted {
    Linted {
        name: definition.name.clone(),
        version: definition.version,
        findings: lint(definition, registered, settings),
    }
}
