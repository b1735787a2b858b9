//! # Task results: what workers say
//!
//! As liberal as Conductor in reading; the door decides what is missing and the engine what counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Payload, TaskResultStatus, Timestamp, lenient};

/// What a worker says about a task. Identity and status are optional so that the door can name what is
/// missing. Java's workers send two members more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
#[schemars(extend("x-unread" = ["executionMetadata", "outputMessage"]))]
pub struct TaskResult {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub workflow_instance_id: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskResultStatus>,
    #[serde(deserialize_with = "lenient::object")]
    pub output_data: Payload,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
    /// With IN_PROGRESS: deliver again after this.
    #[serde(deserialize_with = "lenient::int")]
    pub callback_after_seconds: i64,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logs: Option<Vec<TaskExecLog>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub external_output_payload_storage_path: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub sub_workflow_id: Option<String>,
    /// If true, everything else is ignored.
    #[serde(deserialize_with = "lenient::flag")]
    pub extend_lease: bool,
    #[serde(deserialize_with = "lenient::flag")]
    pub supports_cancellation: bool,
    /// Ours: names the hand-out this is the answer to.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub fence_token: Option<u64>,
}

impl Default for TaskResult {
    fn default() -> Self {
        Self {
            workflow_instance_id: None,
            task_id: None,
            status: None,
            output_data: Payload::empty(),
            reason_for_incompletion: None,
            callback_after_seconds: 0,
            worker_id: None,
            logs: Some(vec![]),
            external_output_payload_storage_path: None,
            sub_workflow_id: None,
            extend_lease: false,
            supports_cancellation: false,
            fence_token: None,
        }
    }
}

impl TaskResult {
    pub fn logs(&self) -> &[TaskExecLog] {
        self.logs.as_deref().unwrap_or_default()
    }
}

/// A line a worker wrote about a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskExecLog {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub task_id: Option<String>,
    /// As sent; some clients send seconds.
    #[serde(deserialize_with = "lenient::time")]
    pub created_time: Timestamp,
}

/// Who polled a queue last, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct PollData {
    #[serde(deserialize_with = "lenient::text")]
    pub queue_name: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<String>,
    #[serde(deserialize_with = "lenient::time")]
    pub last_poll_time: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: Value) -> TaskResult {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    #[test]
    fn a_result_survives_the_wire() {
        let text = r#"{"workflowInstanceId":"w","taskId":"t","status":"COMPLETED","outputData":{"b":1.0,"a":null},"callbackAfterSeconds":0,"logs":[{"log":"l","createdTime":5}],"extendLease":false,"supportsCancellation":false}"#;
        let result: TaskResult = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
        assert_eq!(result.logs()[0].created_time, Timestamp::from_ms(5));
    }

    #[test]
    fn missing_parts_are_left_for_the_door_to_report() {
        let result = read(json!({}));
        assert_eq!(result, TaskResult::default());
        assert_eq!((result.task_id, result.status), (None, None));
        let result = read(json!({"outputData": null, "logs": null, "status": null}));
        assert!(result.output_data.is_empty());
        assert!(result.logs().is_empty());
    }

    #[test]
    fn a_fence_is_read_from_a_number_and_from_text() {
        assert_eq!(read(json!({"fenceToken": 7})).fence_token, Some(7));
        assert_eq!(read(json!({"fenceToken": "18446744073709551615"})).fence_token, Some(u64::MAX));
        assert_eq!(read(json!({"fenceToken": ""})).fence_token, None);
    }

    #[test]
    fn what_java_workers_add_is_ignored() {
        let result = read(json!({"taskId": "t", "status": "FAILED", "executionMetadata":
            {"empty": true, "additionalContext": {}}, "outputMessage": null}));
        assert_eq!(result.status, Some(TaskResultStatus::Failed));
    }

    #[test]
    fn a_status_no_worker_may_report_is_refused() {
        let error = serde_json::from_str::<TaskResult>(r#"{"status":"SKIPPED"}"#).unwrap_err();
        assert!(error.to_string().contains("\"SKIPPED\", expected one of IN_PROGRESS, FAILED,"));
    }

    #[test]
    fn poll_data_leaves_out_an_absent_domain() {
        let data = PollData { queue_name: "q".into(), ..PollData::default() };
        assert_eq!(
            serde_json::to_value(&data).unwrap(),
            json!({"queueName": "q", "lastPollTime": 0})
        );
    }
}
