//! # Bundles: workflow definitions and the task definitions they run under, in one text

use std::sync::Arc;

use semel_lint::{Finding, Settings, lint};
use semel_model::{TaskDef, WorkflowDef};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bundle {
    workflow_defs: Vec<WorkflowDef>,
    #[serde(default)]
    task_defs: Vec<Arc<TaskDef>>,
}

impl Bundle {
    fn registered(&self, name: &str) -> Option<Arc<TaskDef>> {
        self.task_defs.iter().find(|task| task.name == name).cloned()
    }

    pub(crate) fn lint(&self, settings: &Settings) -> Vec<Finding> {
        let registered = |name: &str| self.registered(name);
        let all = self.workflow_defs.iter();
        all.flat_map(|definition| lint(definition, &registered, settings)).collect()
    }

    /// The lint is for what may be registered; hedging without a key is refused there as well.
    pub(crate) fn may_be_registered(&self, called: &str) {
        let registered = |name: &str| self.registered(name);
        for definition in &self.workflow_defs {
            let mut violations = definition.violations_knowing(&registered);
            violations.retain(|violation| !violation.path.ends_with("hedgingConfig"));
            assert_eq!(violations, [], "{called}");
        }
        for task in &self.task_defs {
            assert_eq!(task.violations(), [], "{called}");
        }
    }
}
