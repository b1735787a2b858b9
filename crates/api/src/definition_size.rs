//! # The size of definitions: one that nobody could work with is not taken
//!
//! Every decision about a run may look through its definition, so a huge one costs everybody. How large
//! is too large is for the operator to say.

use semel_model::{Violation, WorkflowDef};

use crate::error::ApiError;

/// What one definition of a workflow may be.
#[derive(Clone, Copy, Debug)]
pub struct DefinitionLimits {
    pub tasks_max: usize,
    pub bytes_max: usize,
}

impl Default for DefinitionLimits {
    fn default() -> Self {
        Self { tasks_max: 5_000, bytes_max: 4 << 20 }
    }
}

impl DefinitionLimits {
    /// Refuses what is too large, before anything else looks at it. `path` is where it stands.
    pub(crate) fn check(self, definition: &WorkflowDef, path: &str) -> Result<(), ApiError> {
        let tasks = definition.step_count();
        if tasks > self.tasks_max {
            let message = format!(
                "the definition has {tasks} tasks, those inside others included; definition_tasks_max of \
                 the server allows {} (docs/errors/DEFINITION_SIZE.md)",
                self.tasks_max
            );
            return Err(ApiError::Invalid(vec![Violation::new(format!("{path}tasks"), message)]));
        }
        let bytes = serde_json::to_vec(definition).map_or(0, |text| text.len());
        if bytes > self.bytes_max {
            let message = format!(
                "the definition takes {bytes} bytes as JSON; definition_bytes_max of the server allows {} \
                 (docs/errors/DEFINITION_SIZE.md)",
                self.bytes_max
            );
            let place = path.trim_end_matches('.');
            return Err(ApiError::Invalid(vec![Violation::new(place, message)]));
        }
        Ok(())
    }
}
