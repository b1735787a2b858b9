//! # Definitions: which task definition a step runs under
//!
//! Rules: docs/reference/rules/runs-and-definitions.md#definition-of-a-task.

use std::sync::Arc;

use semel_engine::{Registry, pin};
use semel_model::{
    RetryLogic, SchemaDef, TaskDef, TaskTimeoutPolicy, WorkflowDef, WorkflowTimeoutPolicy,
};
use serde_json::{Value, json};

use crate::shapes::{flow, with};

/// Where one task definition is registered, of seven retries.
struct Known;

impl Registry for Known {
    fn task(&mut self, name: &str) -> Option<Arc<TaskDef>> {
        let definition = json!({"name": "known", "retryCount": 7});
        let definition = serde_json::from_value(definition).expect("a task definition");
        (name == "known").then(|| Arc::new(definition))
    }

    fn latest(&mut self, _: &str) -> Option<i32> {
        None
    }

    fn schema(&mut self, _: &str, _: i32) -> Option<SchemaDef> {
        None
    }
}

/// What a step of these fields runs under.
fn policy(fields: Value) -> TaskDef {
    let step = with(json!({"name": "unknown", "taskReferenceName": "a"}), fields);
    let definition: WorkflowDef = serde_json::from_value(flow(&[step])).expect("a definition");
    let pinned = pin(definition, &mut Known).expect("no child is named");
    pinned.step("a").policy().clone()
}

#[test]
fn the_definition_in_the_step_counts_then_the_registered_one_then_the_defaults() {
    let inline = json!({"name": "known", "taskDefinition": {"name": "known", "retryCount": 9}});
    assert_eq!(policy(with(inline, json!({"type": "SIMPLE"}))).retry_count, 9);
    for kind in ["SIMPLE", "MY_OWN", "HUMAN", "WAIT", "EVENT"] {
        let registered = policy(json!({"name": "known", "type": kind}));
        assert_eq!((registered.retry_count, registered.response_timeout_seconds), (7, 3600));
    }
    let simple = policy(json!({"type": "SIMPLE"}));
    assert_eq!((simple.retry_count, simple.response_timeout_seconds), (3, 3600));
    for kind in ["MY_OWN", "HUMAN", "WAIT", "EVENT"] {
        let other = policy(json!({"type": kind}));
        assert_eq!((other.retry_count, other.response_timeout_seconds), (0, 0), "{kind}");
    }
}

#[test]
fn what_a_definition_does_not_say_is_conductors_default() {
    let task = TaskDef::default();
    assert_eq!((task.retry_count, task.retry_delay_seconds), (3, 60));
    assert_eq!((task.retry_logic, task.backoff_scale_factor), (RetryLogic::Fixed, 1));
    assert_eq!((task.max_retry_delay_seconds, task.backoff_jitter_ms), (0, 0));
    assert_eq!((task.timeout_seconds, task.total_timeout_seconds), (0, 0));
    assert_eq!(task.timeout_policy, TaskTimeoutPolicy::TimeOutWf);
    assert_eq!((task.response_timeout_seconds, task.poll_timeout_seconds), (3600, None));
    assert_eq!((task.rate_limit_per_frequency, task.rate_limit_frequency_in_seconds), (0, 1));
    let workflow = WorkflowDef::default();
    assert_eq!((workflow.version, workflow.schema_version), (1, 2));
    assert_eq!((workflow.restartable, workflow.timeout_seconds), (true, 0));
    assert_eq!(workflow.timeout_policy, WorkflowTimeoutPolicy::AlertOnly);
}
