//! # Tasks: attempts as clients see them
//!
//! Written for every poll and every look at an execution, so the parts shared with the definition
//! are shared here too, and payloads are passed through as text.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    ExecutionId, Payload, TaskDef, TaskId, TaskStatus, Timestamp, Traceparent, WorkflowTask,
    lenient,
};

/// One attempt at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    pub task_type: String,
    pub status: TaskStatus,
    #[serde(default, deserialize_with = "lenient::object")]
    pub input_data: Payload,
    pub reference_task_name: String,
    #[serde(default)]
    pub retry_count: u32,
    #[serde(default)]
    pub seq: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default)]
    pub poll_count: u32,
    pub task_def_name: String,
    #[serde(default)]
    pub scheduled_time: Timestamp,
    #[serde(default)]
    pub start_time: Timestamp,
    #[serde(default)]
    pub end_time: Timestamp,
    #[serde(default)]
    pub update_time: Timestamp,
    #[serde(default)]
    pub start_delay_in_seconds: i32,
    /// The attempt this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retried_task_id: Option<TaskId>,
    /// This attempt was replaced.
    #[serde(default)]
    pub retried: bool,
    /// The outcome has been acted upon.
    #[serde(default)]
    pub executed: bool,
    #[serde(default)]
    pub callback_from_worker: bool,
    #[serde(default)]
    pub response_timeout_seconds: i64,
    pub workflow_instance_id: ExecutionId,
    pub workflow_type: String,
    pub task_id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
    #[serde(default)]
    pub callback_after_seconds: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(default, deserialize_with = "lenient::object")]
    pub output_data: Payload,
    #[serde(default)]
    pub workflow_task: Arc<WorkflowTask>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(default)]
    pub rate_limit_per_frequency: i32,
    #[serde(default)]
    pub rate_limit_frequency_in_seconds: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_input_payload_storage_path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_output_payload_storage_path: Option<String>,
    #[serde(default)]
    pub workflow_priority: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_name_space: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation_group_id: Option<String>,
    #[serde(default)]
    pub iteration: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sub_workflow_id: Option<ExecutionId>,
    #[serde(default)]
    pub subworkflow_changed: bool,
    #[serde(default)]
    pub first_start_time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    #[serde(default)]
    pub execution_metadata: ExecutionMetadata,
    /// In poll answers only, and never stored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runtime_metadata: BTreeMap<String, String>,
    /// Written as null when absent, alone among all fields.
    pub task_definition: Option<Arc<TaskDef>>,
    #[serde(default)]
    pub queue_wait_time: i64,
    #[serde(default)]
    pub loop_over_task: bool,
    /// Ours: names this hand-out; text, because not every client can count this far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence_token: Option<String>,
    /// Ours: the worker has until then to report or to ask for more time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_until: Option<Timestamp>,
    /// Ours: how often this step has been tried, this time included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Ours: names what the task does to the world; every attempt has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_key: Option<String>,
    /// Ours: how it stands to an effect that is done once: CLAIMED, WAITING, REPLAYED or UNKNOWN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_status: Option<String>,
    /// Ours: whose effect it was given, or waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_owner: Option<EffectOwner>,
    /// Ours: what it was given was done with something else than it asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub effect_payload_mismatch: bool,
    /// Ours: the last reports of workers who did not hold it any more. None of them counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stale_reports: Vec<StaleReport>,
    /// Ours: the trace its run was started in, for the worker to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
}

/// The task whose effect it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EffectOwner {
    pub workflow_id: ExecutionId,
    pub task_id: TaskId,
}

/// A report that came too late.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleReport {
    pub at: Timestamp,
    pub by: String,
    pub reason: String,
}

/// Timings that Conductor's own workers exchange. We keep none, so it is always written empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionMetadata;

impl Serialize for ExecutionMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Nothing {}
        let mut object = serializer.serialize_struct("ExecutionMetadata", 3)?;
        object.serialize_field("additionalContext", &Nothing {})?;
        object.serialize_field("empty", &true)?;
        object.serialize_field("additionalContextMap", &Nothing {})?;
        object.end()
    }
}

impl<'de> Deserialize<'de> for ExecutionMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn reference() -> Value {
        let mut task: Value = serde_json::from_str(include_str!("../reference/task.json")).unwrap();
        task["workflowTask"] = serde_json::to_value(WorkflowTask::default()).unwrap();
        task
    }

    #[test]
    fn the_reference_survives_reading() {
        let task: Task = serde_json::from_str(&reference().to_string()).unwrap();
        assert_eq!(serde_json::to_value(&task).unwrap(), reference());
        let direct: Task = serde_json::from_value(reference()).unwrap();
        assert_eq!(direct, task);
    }

    #[test]
    fn a_minimal_task_is_written_as_the_reference() {
        let reference = reference();
        let mut minimal = json!({"seq": 1, "callbackFromWorker": true,
            "responseTimeoutSeconds": 3600});
        for key in [
            "taskType",
            "status",
            "referenceTaskName",
            "taskDefName",
            "scheduledTime",
            "updateTime",
            "workflowInstanceId",
            "workflowType",
            "taskId",
        ] {
            minimal[key] = reference[key].clone();
        }
        let task: Task = serde_json::from_str(&minimal.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&task).unwrap(), reference);
    }

    #[test]
    fn our_own_fields_and_the_optional_ones_are_written_when_set() {
        let mut task: Task = serde_json::from_value(reference()).unwrap();
        task.fence_token = Some("12".into());
        task.lease_until = Some(Timestamp::from_ms(99));
        task.attempt = Some(2);
        task.worker_id = Some("ann".into());
        task.runtime_metadata.insert("secret".into(), "s".into());
        task.output_data = Payload::from_text(r#"{"a": 1.0, "b": null}"#.into()).unwrap();
        task.task_definition = Some(Arc::new(TaskDef::ad_hoc("t", "SIMPLE")));
        let text = serde_json::to_string(&task).unwrap();
        assert!(text.contains(r#""outputData":{"a": 1.0, "b": null}"#));
        let written: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(written["fenceToken"], "12");
        assert_eq!(written["leaseUntil"], 99);
        assert_eq!(written["attempt"], 2);
        assert_eq!(written["runtimeMetadata"], json!({"secret": "s"}));
        assert_eq!(written["taskDefinition"]["name"], "t");
        assert_eq!(serde_json::from_str::<Task>(&text).unwrap(), task);
    }
}
