//! # Requests and answers around executions
//!
//! Starting one, doing something to many, and saying that something went wrong.

use std::collections::BTreeMap;
use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    ExecutionId, IdempotencyStrategy, Payload, Task, TaskId, TaskResult, Timestamp, Warning,
    WorkflowDef, WorkflowStatus, lenient,
};

/// `POST /workflow`: begin an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StartWorkflowRequest {
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    /// None means the latest.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(deserialize_with = "lenient::object")]
    pub input: Payload,
    #[serde(deserialize_with = "lenient::text_map", skip_serializing_if = "Option::is_none")]
    pub task_to_domain: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_def: Option<WorkflowDef>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub external_input_payload_storage_path: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub priority: i32,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_strategy: Option<IdempotencyStrategy>,
}

impl Default for StartWorkflowRequest {
    fn default() -> Self {
        Self {
            name: String::new(),
            version: None,
            correlation_id: None,
            input: Payload::empty(),
            task_to_domain: Some(BTreeMap::new()),
            workflow_def: None,
            external_input_payload_storage_path: None,
            priority: 0,
            created_by: None,
            idempotency_key: None,
            idempotency_strategy: None,
        }
    }
}

impl StartWorkflowRequest {
    /// What it starts: the name it gives, else that of the definition it brings.
    pub fn workflow_name(&self) -> &str {
        match &self.workflow_def {
            Some(definition) if self.name.is_empty() => &definition.name,
            Some(_) | None => &self.name,
        }
    }

    /// A key that is none, and what the definition that it brings says otherwise than the request: the
    /// definition counts.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        if self.idempotency_key.as_deref().is_some_and(|key| key.trim().is_empty()) {
            let message = "is blank, which is no key: unless the definition has a keyExpression, the \
                           same start again begins another run";
            found.push(Warning::no_effect("idempotencyKey", message));
        }
        let Some(definition) = &self.workflow_def else { return found };
        if !self.name.is_empty() && self.name != definition.name {
            let message =
                format!("is not looked at: workflowDef brings its own name, {}", definition.name);
            found.push(Warning::no_effect("name", message));
        }
        // 0 is the latest.
        let version = self.version.filter(|version| *version != 0);
        if version.is_some_and(|version| version != definition.version) {
            let own = definition.version;
            let message = format!("is not looked at: workflowDef brings its own version, {own}");
            found.push(Warning::no_effect("version", message));
        }
        found
    }
}

/// Types whose tasks, or whose runs, are named by something else than the definition that has them.
const BRINGING_OTHERS: [&str; 4] =
    ["DYNAMIC", "FORK_JOIN_DYNAMIC", "START_WORKFLOW", "SUB_WORKFLOW"];

impl StartWorkflowRequest {
    /// Domains for tasks that no run of the definition can have, nor a run that it begins.
    pub fn domain_warnings(&self, definition: &WorkflowDef) -> Vec<Warning> {
        let asked = self.task_to_domain.iter().flatten().map(|(task, _)| task);
        let asked: Vec<&String> = asked.filter(|task| *task != "*").collect();
        if asked.is_empty() || definition.failure_workflow.is_some() {
            return Vec::new();
        }
        let mut steps: Vec<_> = definition.all_steps().collect();
        let effects: Vec<_> = steps.iter().filter_map(|step| step.effect.as_ref()).collect();
        steps.extend(effects.into_iter().filter_map(|effect| effect.probe.as_deref()));
        if steps.iter().any(|step| BRINGING_OTHERS.contains(&step.kind.as_str())) {
            return Vec::new();
        }
        let is_there = |task: &str| steps.iter().any(|step| step.name == task || step.kind == task);
        let strangers = asked.into_iter().filter(|task| !is_there(task));
        let warning = |task: &String| {
            let message = "no step of the definition has that name, so nothing goes to the domain";
            Warning::no_effect(format!("taskToDomain.{task}"), message)
        };
        strangers.map(warning).collect()
    }
}

/// What became of each of many.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct BulkResponse {
    pub bulk_error_results: BTreeMap<String, String>,
    pub bulk_successful_results: Vec<String>,
}

/// The body of every answer that is not a success.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct ErrorBody {
    /// The HTTP status once more: some clients look only here.
    pub status: u16,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// A promise that asking again is safe.
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation_errors: Option<Vec<Violation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// `EXPIRED_TOKEN` and `INVALID_TOKEN` make clients refresh their token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl ErrorBody {
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), ..Self::default() }
    }

    /// The answer to a request that breaks rules; clients match on its message.
    pub fn invalid(violations: Vec<Violation>) -> Self {
        Self {
            validation_errors: Some(violations),
            ..Self::new(400, "Validation failed, check below errors for detail.")
        }
    }
}

/// One broken rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Violation {
    pub path: String,
    pub message: String,
    /// For scalars only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invalid_value: Option<String>,
}

impl Violation {
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), invalid_value: None }
    }

    #[must_use]
    pub fn with_value(self, value: impl Display) -> Self {
        Self { invalid_value: Some(value.to_string()), ..self }
    }
}

/// A page of what was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult<T> {
    /// All matches, not only those of the page.
    pub total_hits: usize,
    pub results: Vec<T>,
}

/// Changes to a run from outside, in one request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkflowStateUpdate {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub task_reference_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_result: Option<TaskResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Payload>,
}

/// What those are told who waited for a run: a workflow or a task, as `responseType` says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SignalResponse {
    pub response_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_workflow_id: Option<ExecutionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_workflow_status: Option<WorkflowStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_id: Option<ExecutionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    pub input: Payload,
    pub output: Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_data: Option<Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_data: Option<Payload>,
    /// Patience ended first.
    pub signal_timeout: bool,
    pub priority: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Payload>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<Task>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    pub create_time: Timestamp,
    pub update_time: Timestamp,
    /// Of the workflow or of the task.
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_task_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_def_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retried_task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_for_incompletion: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_minimal_start_is_written_as_the_reference() {
        let request: StartWorkflowRequest = serde_json::from_str(r#"{"name":"wf"}"#).unwrap();
        assert_eq!(
            serde_json::to_value(&request).unwrap(),
            json!({"name": "wf", "input": {}, "taskToDomain": {}, "priority": 0})
        );
    }

    #[test]
    fn a_start_reads_what_clients_send() {
        let text = r#"{"name":"wf","version":"","input":{"b": 1.0},"priority":"7",
            "idempotencyKey":42,"idempotencyStrategy":"RETURN_EXISTING","taskToDomain":{"*":"d"},
            "workflowDef":{"name":"wf"},"correlationId":null,"extra":1}"#;
        let request: StartWorkflowRequest = serde_json::from_str(text).unwrap();
        assert_eq!((request.version, request.priority), (None, 7));
        assert_eq!(request.input.text(), r#"{"b": 1.0}"#);
        assert_eq!(request.idempotency_key.as_deref(), Some("42"));
        assert_eq!(request.idempotency_strategy, Some(IdempotencyStrategy::ReturnExisting));
        assert_eq!(request.workflow_def.unwrap().version, 1);
        assert_eq!(request.task_to_domain.unwrap()["*"], "d");
        let request: StartWorkflowRequest = serde_json::from_str(r#"{"input":null}"#).unwrap();
        assert!(request.input.is_empty());
    }

    #[test]
    fn a_start_is_told_what_its_definition_says_otherwise() {
        let told = |text: &str| {
            let request: StartWorkflowRequest = serde_json::from_str(text).unwrap();
            request.warnings().into_iter().map(|it| it.path).collect::<Vec<_>>()
        };
        let other = r#"{"name":"b","version":7,"workflowDef":{"name":"a","version":2}}"#;
        assert_eq!(told(other), ["name", "version"]);
        for same in [
            r#"{"name":"a","version":2,"workflowDef":{"name":"a","version":2}}"#,
            r#"{"name":"a","version":0,"workflowDef":{"name":"a","version":2}}"#,
            r#"{"workflowDef":{"name":"a"}}"#,
            r#"{"name":"b","version":7}"#,
        ] {
            assert_eq!(told(same), [""; 0], "{same}");
        }
    }

    #[test]
    fn an_unknown_strategy_is_refused() {
        let error =
            serde_json::from_str::<StartWorkflowRequest>(r#"{"idempotencyStrategy":"fail"}"#);
        assert!(error.unwrap_err().to_string().contains("\"fail\", expected one of FAIL,"));
    }

    #[test]
    fn errors_look_like_conductors() {
        let body = ErrorBody {
            instance: Some("host-1".into()),
            ..ErrorBody::new(404, "No such workflow found by id: w123")
        };
        assert_eq!(
            serde_json::to_value(&body).unwrap(),
            json!({"status": 404, "message": "No such workflow found by id: w123",
                "instance": "host-1", "retryable": false})
        );
        let body = ErrorBody::invalid(vec![Violation::new(
            "updateTask.taskResult.taskId",
            "Task ID cannot be null or empty",
        )]);
        let reference = json!({"status": 400,
            "message": "Validation failed, check below errors for detail.", "retryable": false,
            "validationErrors": [{"path": "updateTask.taskResult.taskId",
                "message": "Task ID cannot be null or empty"}]});
        assert_eq!(serde_json::to_value(&body).unwrap(), reference);
        assert_eq!(serde_json::from_value::<ErrorBody>(reference).unwrap(), body);
    }

    #[test]
    fn a_violation_shows_the_value_it_found() {
        let violation = Violation::new("priority", "too high").with_value(100);
        assert_eq!(
            serde_json::to_value(&violation).unwrap(),
            json!({"path": "priority", "message": "too high", "invalidValue": "100"})
        );
    }

    #[test]
    fn a_bulk_answer_always_has_both_parts() {
        assert_eq!(
            serde_json::to_value(BulkResponse::default()).unwrap(),
            json!({"bulkErrorResults": {}, "bulkSuccessfulResults": []})
        );
    }
}
