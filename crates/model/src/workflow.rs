//! # Workflows: executions as clients see them

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ExecutionId, Payload, Task, TaskId, TaskResultStatus, Timestamp, Traceparent, WorkflowDef,
    WorkflowStatus, lenient,
};

/// One run of a definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Workflow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_app: Option<String>,
    #[serde(default)]
    pub create_time: Timestamp,
    #[serde(default)]
    pub update_time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    pub status: WorkflowStatus,
    #[serde(default)]
    pub end_time: Timestamp,
    pub workflow_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_workflow_id: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_workflow_task_id: Option<TaskId>,
    /// In the order they were scheduled.
    #[serde(default)]
    pub tasks: Vec<Task>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub input: Payload,
    #[serde(default, deserialize_with = "lenient::object")]
    pub output: Payload,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re_run_from_workflow_id: Option<ExecutionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
    /// The event that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(default)]
    pub task_to_domain: BTreeMap<String, String>,
    #[serde(default)]
    pub failed_reference_task_names: Vec<String>,
    #[serde(default)]
    pub failed_task_names: Vec<String>,
    /// The snapshot this run uses.
    #[serde(default)]
    pub workflow_definition: Arc<WorkflowDef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_input_payload_storage_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_output_payload_storage_path: Option<String>,
    #[serde(default)]
    pub priority: i32,
    #[serde(default, deserialize_with = "lenient::object")]
    pub variables: Payload,
    #[serde(default)]
    pub last_retried_time: Timestamp,
    #[serde(default)]
    pub history: Vec<Workflow>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit_key: Option<String>,
    #[serde(default)]
    pub rate_limited: bool,
    /// It waits for its turn; this run was in its way when it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by: Option<ExecutionId>,
    /// Why the limit of its definition does not count it: a part of `concurrency.key` is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aggregate_token_usage: Option<Value>,
    #[serde(default)]
    pub start_time: Timestamp,
    pub workflow_name: String,
    #[serde(default)]
    pub workflow_version: i32,
    /// Ours: the trace it was started in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    /// Ours: answers for tasks that are not there yet, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_answers: Vec<KeptAnswer>,
}

/// What somebody said for a task that is not there yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptAnswer {
    /// Absent: for whichever WAIT or YIELD comes first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_reference_name: Option<String>,
    pub status: TaskResultStatus,
    #[serde(default, deserialize_with = "lenient::object")]
    pub output: Payload,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    pub received_at: Timestamp,
    /// After this the answer counts no more.
    pub expires_at: Timestamp,
}

/// `GET /workflow/{id}/status`: the short answer. Output and variables only when asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowState {
    pub workflow_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Payload>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<Payload>,
    pub status: WorkflowStatus,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reference() -> Value {
        let text = include_str!("../reference/workflow.json");
        let mut workflow: Value = serde_json::from_str(text).unwrap();
        workflow["workflowDefinition"] = serde_json::to_value(WorkflowDef::default()).unwrap();
        workflow
    }

    #[test]
    fn the_reference_survives_reading() {
        let workflow: Workflow = serde_json::from_str(&reference().to_string()).unwrap();
        assert_eq!(serde_json::to_value(&workflow).unwrap(), reference());
        let direct: Workflow = serde_json::from_value(reference()).unwrap();
        assert_eq!(direct, workflow);
    }

    #[test]
    fn a_minimal_execution_is_written_as_the_reference() {
        let reference = reference();
        let mut minimal = json!({"ownerApp": ""});
        for key in
            ["status", "workflowId", "createTime", "startTime", "workflowName", "workflowVersion"]
        {
            minimal[key] = reference[key].clone();
        }
        let workflow: Workflow = serde_json::from_str(&minimal.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&workflow).unwrap(), reference);
    }

    #[test]
    fn tasks_inside_an_execution_survive() {
        let task: Value = serde_json::from_str(include_str!("../reference/task.json")).unwrap();
        let mut json = reference();
        json["tasks"] = json!([task]);
        json["tasks"][0]["outputData"] = json!({"a": {"b": null}});
        let workflow: Workflow = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(workflow.tasks[0].output_data.text(), r#"{"a":{"b":null}}"#);
        let text = serde_json::to_string(&workflow).unwrap();
        assert_eq!(serde_json::from_str::<Workflow>(&text).unwrap(), workflow);
    }

    #[test]
    fn a_state_shows_output_only_when_asked() {
        let mut state = WorkflowState {
            workflow_id: ExecutionId::draw(),
            correlation_id: None,
            output: None,
            variables: None,
            status: WorkflowStatus::Running,
        };
        let short = json!({"workflowId": state.workflow_id, "status": "RUNNING"});
        assert_eq!(serde_json::to_value(&state).unwrap(), short);
        state.output = Some(Payload::empty());
        assert_eq!(serde_json::to_value(&state).unwrap()["output"], json!({}));
    }
}
