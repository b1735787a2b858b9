//! # Bundles: workflow definitions and the task definitions they run under, in one text

use std::sync::Arc;

use semel_lint::{Finding, Settings, lint};
use semel_model::{TaskDef, WorkflowDef, unknown_in_workflow};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Bundle {
    workflow_defs: Vec<Given>,
    #[serde(default)]
    task_defs: Vec<Arc<TaskDef>>,
}

/// A definition, and what is dropped when it is read.
struct Given {
    definition: WorkflowDef,
    unknown: Vec<Finding>,
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let unknown = unknown_in_workflow(&value).iter().map(Finding::of_warning).collect();
        let definition = serde_json::from_value(value).map_err(serde::de::Error::custom)?;
        Ok(Self { definition, unknown })
    }
}

impl Bundle {
    fn registered(&self, name: &str) -> Option<Arc<TaskDef>> {
        self.task_defs.iter().find(|task| task.name == name).cloned()
    }

    pub(crate) fn lint(&self, settings: &Settings) -> Vec<Finding> {
        let registered = |name: &str| self.registered(name);
        let judged = |given: &Given| {
            [given.unknown.clone(), lint(&given.definition, &registered, settings)].concat()
        };
        self.workflow_defs.iter().flat_map(judged).collect()
    }

    /// The lint is for what may be registered; hedging without a key is refused there as well.
    pub(crate) fn may_be_registered(&self, called: &str) {
        let registered = |name: &str| self.registered(name);
        for Given { definition, .. } in &self.workflow_defs {
            let mut violations = definition.violations_knowing(&registered);
            violations.retain(|violation| !violation.path.ends_with("hedgingConfig"));
            assert_eq!(violations, [], "{called}");
        }
        for task in &self.task_defs {
            assert_eq!(task.violations(), [], "{called}");
        }
    }
}
