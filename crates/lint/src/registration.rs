//! # Registration: what it refuses, and what it warns about
//!
//! Whoever asks the lint first is told at least what the registration will say.

use semel_model::{TaskDef, Violation, Warning, WarningKind, WorkflowDef, unknown_in_task};
use serde_json::Value;

use crate::finding::{Code, Finding};
use crate::{Registered, Settings};

pub(crate) fn of_definition(
    definition: &WorkflowDef,
    registered: Registered<'_>,
    settings: &Settings,
) -> Vec<Finding> {
    let mut refused: Vec<Violation> =
        settings.definition_limits.violation(definition, "").into_iter().collect();
    refused.extend(definition.violations_knowing(registered));
    refused.retain(|violation| !violation.path.ends_with("hedgingConfig")); // It has E-HTTP-1.
    let warned = definition.warnings_knowing(registered);
    refused
        .iter()
        .map(Finding::of_violation)
        .chain(warned.iter().map(Finding::of_warning))
        .collect()
}

/// What the registration of a task definition will say, but for its schemas. `written` is its text.
pub fn findings_of_task(task: &TaskDef, written: &Value) -> Vec<Finding> {
    let refused = task.violations();
    let warned = unknown_in_task(written).into_iter().chain(task.warnings());
    let refused = refused.iter().map(Finding::of_violation);
    refused.chain(warned.map(|warning| Finding::of_warning(&warning))).collect()
}

impl Finding {
    /// A broken rule, for which registration answers 400.
    pub fn of_violation(Violation { path, message, .. }: &Violation) -> Self {
        let fix = "put it right: registration answers 400 and keeps nothing";
        Self::new(Code::EReg1, path, message, fix)
    }

    pub fn of_warning(Warning { kind, path, message }: &Warning) -> Self {
        let (code, fix) = match kind {
            WarningKind::FailsAtRunTime => {
                (Code::WRun1, "change it before a run gets there: until then it only fails")
            }
            WarningKind::NoEffect => {
                (Code::WRun2, "leave it out, or do not rely on it: it is kept and changes nothing")
            }
            WarningKind::Dropped => {
                (Code::WRun3, "write the name that is meant, or leave it out: nobody reads it")
            }
            WarningKind::ReadsNull => {
                (Code::WRun4, "begin it with workflow or with the reference of a step")
            }
        };
        Self::new(code, path, message, fix)
    }
}
