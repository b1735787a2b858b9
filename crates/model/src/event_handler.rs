//! # Event handlers: what is done when a message comes
//!
//! Every text in an action may hold expressions over the message. **May not:** resolve them; the
//! engine does.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::names::names;
use crate::{IdempotencyStrategy, Tag, lenient};

/// What a handler waits for, and what it does then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct EventHandler {
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    /// The source and a place in it, `conductor:order:paid`.
    #[serde(deserialize_with = "lenient::text")]
    pub event: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    #[serde(deserialize_with = "list")]
    pub actions: Vec<Action>,
    #[serde(deserialize_with = "lenient::flag")]
    pub active: bool,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub evaluator_type: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Tag>>,
}

impl EventHandler {
    /// None: always.
    pub fn condition(&self) -> Option<&str> {
        self.condition.as_deref().map(str::trim).filter(|text| !text.is_empty())
    }

    pub fn tags(&self) -> &[Tag] {
        self.tags.as_deref().unwrap_or_default()
    }
}

names! {
    /// What an action does.
    ActionKind {
        StartWorkflow = "start_workflow",
        CompleteTask = "complete_task",
        FailTask = "fail_task",
        TerminateWorkflow = "terminate_workflow",
        UpdateWorkflowVariables = "update_workflow_variables",
    }
}

/// One thing a handler does. Its kind says which of the blocks counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Action {
    #[serde(deserialize_with = "lenient::text")]
    pub action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_workflow: Option<StartAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete_task: Option<TaskAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_task: Option<TaskAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminate_workflow: Option<TerminateAction>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_workflow_variables: Option<VariablesAction>,
    /// Texts of the message that hold JSON are read first.
    #[serde(rename = "expandInlineJSON", deserialize_with = "lenient::flag")]
    pub expand_inline_json: bool,
}

impl Action {
    /// None: unknown.
    pub fn kind(&self) -> Option<ActionKind> {
        self.action.parse().ok()
    }

    /// The block its kind asks for is there.
    pub fn has_block(&self, kind: ActionKind) -> bool {
        match kind {
            ActionKind::StartWorkflow => self.start_workflow.is_some(),
            ActionKind::CompleteTask => self.complete_task.is_some(),
            ActionKind::FailTask => self.fail_task.is_some(),
            ActionKind::TerminateWorkflow => self.terminate_workflow.is_some(),
            ActionKind::UpdateWorkflowVariables => self.update_workflow_variables.is_some(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StartAction {
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    /// None means the latest.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(deserialize_with = "map")]
    pub input: Map<String, Value>,
    #[serde(deserialize_with = "lenient::text_map", skip_serializing_if = "Option::is_none")]
    pub task_to_domain: Option<BTreeMap<String, String>>,
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    #[serde(alias = "workflowIdempotencyKey")]
    pub idempotency_key: Option<String>,
    #[serde(alias = "workflowIdempotencyStrategy", skip_serializing_if = "Option::is_none")]
    pub idempotency_strategy: Option<IdempotencyStrategy>,
}

/// Which task is answered for: that of the id, or the newest of the reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskAction {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub task_ref_name: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(deserialize_with = "map")]
    pub output: Map<String, Value>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TerminateAction {
    #[serde(deserialize_with = "lenient::text")]
    pub workflow_id: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub termination_reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct VariablesAction {
    #[serde(deserialize_with = "lenient::text")]
    pub workflow_id: String,
    #[serde(deserialize_with = "map")]
    pub variables: Map<String, Value>,
    /// Lists are added to those that are there.
    #[serde(deserialize_with = "lenient::flag")]
    pub append_array: bool,
}

fn list<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<Action>, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}

fn map<'de, D: Deserializer<'de>>(d: D) -> Result<Map<String, Value>, D::Error> {
    Ok(Option::deserialize(d)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_handler_reads_what_clients_send_and_is_written_back() {
        let text = r#"{"name": "paid", "event": "conductor:order:paid", "active": "true",
            "condition": null, "unknown": [1], "evaluatorType": "javascript",
            "actions": [{"action": "complete_task", "expandInlineJSON": 1, "complete_task":
                {"workflowId": "${id}", "taskRefName": "wait", "output": null, "more": {}}}]}"#;
        let handler: EventHandler = serde_json::from_str(text).unwrap();
        assert_eq!((handler.active, handler.condition()), (true, None));
        assert_eq!(handler.actions[0].kind(), Some(ActionKind::CompleteTask));
        assert_eq!(
            serde_json::to_value(&handler).unwrap(),
            json!({"name": "paid", "event": "conductor:order:paid", "active": true,
                "evaluatorType": "javascript", "actions": [{"action": "complete_task",
                    "complete_task": {"workflowId": "${id}", "taskRefName": "wait", "output": {}},
                    "expandInlineJSON": true}]})
        );
    }

    #[test]
    fn a_handler_is_inactive_until_it_says_otherwise() {
        let handler: EventHandler = serde_json::from_str("{\"actions\": null}").unwrap();
        assert!(!handler.active && handler.actions.is_empty());
    }

    #[test]
    fn a_start_may_carry_a_key_in_either_spelling() {
        for text in [r#"{"idempotencyKey": 7}"#, r#"{"workflowIdempotencyKey": "7"}"#] {
            let start: StartAction = serde_json::from_str(text).unwrap();
            assert_eq!(start.idempotency_key.as_deref(), Some("7"));
        }
    }
}
