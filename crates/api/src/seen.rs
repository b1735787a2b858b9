//! # Answers to callers that waited
//!
//! Rules: docs/reference/rules/synchronous-execution.md#return-strategies.

use axum::response::Response;
use semel_model::{ExecutionId, SignalResponse, Task};
use semel_runtime::{Seen, Snapshot};
use serde_json::json;

use crate::answer::{empty, json as plain, with_header};
use crate::app::App;
use crate::error::ApiError;
use crate::params::Params;
use crate::room::{made, one};
use crate::view;

/// Which of the things that were seen is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    TargetWorkflow,
    BlockingWorkflow,
    BlockingTask,
    BlockingTaskInput,
}

pub(crate) const STRATEGIES: &[&str] =
    &["TARGET_WORKFLOW", "BLOCKING_WORKFLOW", "BLOCKING_TASK", "BLOCKING_TASK_INPUT"];

/// The answer to a request that was carried out, where its run was removed before it could be shown.
pub(crate) fn gone(run: ExecutionId) -> Response {
    let why =
        "the request was carried out; its run has been removed since, so nothing of it is shown";
    with_header(plain(&json!({"workflowId": run})), "x-semel-warning", why)
}

impl Strategy {
    pub(crate) fn of(params: &Params) -> Result<Self, ApiError> {
        match params.text("returnStrategy").unwrap_or("TARGET_WORKFLOW") {
            "TARGET_WORKFLOW" => Ok(Self::TargetWorkflow),
            "BLOCKING_WORKFLOW" => Ok(Self::BlockingWorkflow),
            "BLOCKING_TASK" => Ok(Self::BlockingTask),
            "BLOCKING_TASK_INPUT" => Ok(Self::BlockingTaskInput),
            other => Err(ApiError::Malformed(format!(
                "returnStrategy must be one of {}, not {other}",
                STRATEGIES.join(", ")
            ))),
        }
    }

    fn name(self) -> &'static str {
        STRATEGIES[self as usize]
    }

    /// A task was asked for and none blocks: an empty answer, which is what clients expect.
    pub(crate) async fn answer(self, app: &App, seen: &Seen, request: Option<&str>) -> Response {
        let blocked = seen.blocked.as_ref();
        let run = match self {
            Self::TargetWorkflow => &seen.run,
            Self::BlockingWorkflow => blocked.map_or(&seen.run, |blocked| &blocked.run),
            Self::BlockingTask | Self::BlockingTaskInput => {
                let task = blocked.and_then(|blocked| view::task(&blocked.run, blocked.task));
                let Some(task) = task else { return empty() };
                return one(app, &self.of_task(seen, task, request)).await;
            }
        };
        let told = self.of_run(seen, run, request);
        made(app, &told, || SignalResponse { tasks: None, ..told.clone() }).await
    }

    fn head(self, seen: &Seen, request: Option<&str>) -> SignalResponse {
        SignalResponse {
            response_type: self.name().to_owned(),
            target_workflow_id: Some(seen.run.execution.id()),
            target_workflow_status: Some(seen.run.head.status),
            request_id: request.map(str::to_owned),
            signal_timeout: seen.timed_out,
            ..SignalResponse::default()
        }
    }

    fn of_run(self, seen: &Seen, run: &Snapshot, request: Option<&str>) -> SignalResponse {
        let shown = view::workflow(run, true);
        SignalResponse {
            workflow_id: Some(shown.workflow_id),
            correlation_id: shown.correlation_id,
            input: shown.input,
            output: shown.output,
            priority: shown.priority,
            variables: Some(shown.variables),
            tasks: Some(shown.tasks),
            created_by: shown.created_by,
            create_time: shown.create_time,
            update_time: shown.update_time,
            status: shown.status.as_str().to_owned(),
            ..self.head(seen, request)
        }
    }

    fn of_task(self, seen: &Seen, task: Task, request: Option<&str>) -> SignalResponse {
        SignalResponse {
            workflow_id: Some(task.workflow_instance_id),
            correlation_id: task.correlation_id,
            // One client reads these names instead.
            input_data: Some(task.input_data.clone()),
            output_data: Some(task.output_data.clone()),
            input: task.input_data,
            output: task.output_data,
            priority: task.workflow_priority,
            created_by: task.worker_id,
            create_time: task.start_time,
            update_time: task.update_time,
            status: task.status.as_str().to_owned(),
            task_type: Some(task.task_type),
            task_id: Some(task.task_id),
            reference_task_name: Some(task.reference_task_name),
            retry_count: Some(task.retry_count),
            task_def_name: Some(task.task_def_name),
            retried_task_id: task.retried_task_id,
            workflow_type: Some(task.workflow_type),
            reason_for_incompletion: task.reason_for_incompletion,
            ..self.head(seen, request)
        }
    }
}
