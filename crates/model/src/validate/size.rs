//! # The size of definitions: one that nobody could work with is not taken
//!
//! Every decision about a run may look through its definition, so a huge one costs everybody. How large
//! is too large is for the operator to say.

use crate::{Violation, WorkflowDef};

/// What one definition of a workflow may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// What is wrong with a definition that is too large. `path` is where it stands.
    pub fn violation(self, definition: &WorkflowDef, path: &str) -> Option<Violation> {
        let tasks = definition.step_count();
        if tasks > self.tasks_max {
            let message = format!(
                "the definition has {tasks} tasks, those inside others included; definition_tasks_max of \
                 the server allows {} (docs/errors/DEFINITION_SIZE.md)",
                self.tasks_max
            );
            return Some(Violation::new(format!("{path}tasks"), message));
        }
        let bytes = serde_json::to_vec(definition).map_or(0, |text| text.len());
        (bytes > self.bytes_max).then(|| {
            let message = format!(
                "the definition takes {bytes} bytes as JSON; definition_bytes_max of the server allows {} \
                 (docs/errors/DEFINITION_SIZE.md)",
                self.bytes_max
            );
            Violation::new(path.trim_end_matches('.'), message)
        })
    }
}
