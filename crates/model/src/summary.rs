//! # Summaries: what a search shows of a run or a task
//!
//! Times are ISO text here and nowhere else; inputs and outputs are JSON in text.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ExecutionId, TaskId, TaskStatus, WorkflowStatus};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowSummary {
    pub workflow_type: String,
    pub version: i32,
    pub workflow_id: ExecutionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    pub start_time: String,
    pub update_time: String,
    /// Absent until the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<String>,
    pub status: WorkflowStatus,
    pub input: String,
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
    /// Milliseconds; 0 until the end.
    pub execution_time: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    pub failed_reference_task_names: String,
    pub priority: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    pub failed_task_names: Vec<String>,
    pub task_to_domain: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Empty for a run nobody waits for.
    pub parent_workflow_id: String,
    pub classifier: String,
    pub input_size: usize,
    pub output_size: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskSummary {
    pub workflow_id: ExecutionId,
    pub workflow_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    pub scheduled_time: String,
    pub start_time: String,
    pub update_time: String,
    pub end_time: String,
    pub status: TaskStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
    pub execution_time: i64,
    pub queue_wait_time: i64,
    pub task_def_name: String,
    pub task_type: String,
    pub input: String,
    pub output: String,
    pub task_id: TaskId,
    pub task_reference_name: String,
    pub workflow_priority: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}
