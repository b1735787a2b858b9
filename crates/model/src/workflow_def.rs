//! # Workflow definitions: what should run
//!
//! Absent collections read as empty, explicit nulls stay null; what is not understood here is kept
//! where the contract names it and ignored where it does not.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names::names;
use crate::{Concurrency, InlineDefinition, StartPolicy, Timestamp, WorkflowTask, lenient};

/// What should run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkflowDef {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub owner_app: Option<String>,
    #[serde(deserialize_with = "lenient::time")]
    pub create_time: Timestamp,
    #[serde(deserialize_with = "lenient::time")]
    pub update_time: Timestamp,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub version: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<Vec<WorkflowTask>>,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub input_parameters: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_parameters: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub failure_workflow: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub failure_workflow_version: Option<i32>,
    #[serde(deserialize_with = "lenient::int")]
    pub schema_version: i32,
    #[serde(deserialize_with = "lenient::flag")]
    pub restartable: bool,
    #[serde(deserialize_with = "lenient::flag")]
    pub workflow_status_listener_enabled: bool,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub workflow_status_listener_sink: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub owner_email: Option<String>,
    pub timeout_policy: WorkflowTimeoutPolicy,
    /// 0 means none.
    #[serde(deserialize_with = "lenient::int")]
    pub timeout_seconds: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variables: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_template: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_limit_config: Option<RateLimitConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<SchemaDef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaDef>,
    #[serde(deserialize_with = "lenient::flag")]
    pub enforce_schema: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_config: Option<CacheConfig>,
    /// Ours: which key a start gets, and what a second one under it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency: Option<StartPolicy>,
    /// Ours: how many runs may be under way at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// Ours: the secrets that its runs may use; none: those that it names literally.
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub secrets: Option<Vec<String>>,
    /// Ours: the data of a run brought it, so its expressions do not reach the environment. The server
    /// says so.
    #[serde(deserialize_with = "lenient::flag", skip_serializing_if = "std::ops::Not::not")]
    pub came_as_data: bool,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub masked_fields: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite_tags: Option<Value>,
}

impl Default for WorkflowDef {
    fn default() -> Self {
        Self {
            owner_app: None,
            create_time: Timestamp::NOT_YET,
            update_time: Timestamp::NOT_YET,
            created_by: None,
            updated_by: None,
            name: String::new(),
            description: None,
            version: 1,
            tasks: Some(vec![]),
            input_parameters: Some(vec![]),
            output_parameters: Some(Map::new()),
            failure_workflow: None,
            failure_workflow_version: None,
            schema_version: 2,
            restartable: true,
            workflow_status_listener_enabled: false,
            workflow_status_listener_sink: None,
            owner_email: None,
            timeout_policy: WorkflowTimeoutPolicy::AlertOnly,
            timeout_seconds: 0,
            variables: Some(Map::new()),
            input_template: Some(Map::new()),
            rate_limit_config: None,
            input_schema: None,
            output_schema: None,
            enforce_schema: true,
            metadata: Some(Map::new()),
            cache_config: None,
            idempotency: None,
            concurrency: None,
            secrets: None,
            came_as_data: false,
            masked_fields: Some(vec![]),
            tags: None,
            overwrite_tags: None,
        }
    }
}

impl WorkflowDef {
    /// The top-level steps.
    pub fn steps(&self) -> &[WorkflowTask] {
        self.tasks.as_deref().unwrap_or_default()
    }

    /// Every step of the tree in the order of the text, without inline sub-workflow definitions.
    pub fn all_steps(&self) -> impl Iterator<Item = &WorkflowTask> {
        let mut open: Vec<&WorkflowTask> = self.steps().iter().rev().collect();
        std::iter::from_fn(move || {
            let step = open.pop()?;
            open.extend(step.children().flatten().rev());
            Some(step)
        })
    }

    /// Visits every step of the tree, parents before children.
    pub fn for_each_step_mut(&mut self, mut visit: impl FnMut(&mut WorkflowTask)) {
        let mut open: Vec<&mut WorkflowTask> = self.tasks.iter_mut().flatten().rev().collect();
        while let Some(step) = open.pop() {
            visit(step);
            let first = open.len();
            open.extend(step.children_mut().flatten());
            open[first..].reverse();
        }
    }

    /// How many tasks it describes, those inside others and those of definitions given in place
    /// included.
    pub fn step_count(&self) -> usize {
        let mut open: Vec<&WorkflowTask> = self.steps().iter().collect();
        let mut count = 0;
        while let Some(step) = open.pop() {
            count += 1;
            open.extend(step.children().flatten());
            let given = step.sub_workflow_param.as_ref();
            let given = given.and_then(|given| given.workflow_definition.as_ref());
            if let Some(InlineDefinition::Definition(given)) = given {
                open.extend(given.steps());
            }
        }
        count
    }

    pub fn output_parameters(&self) -> &Map<String, Value> {
        self.output_parameters.as_ref().unwrap_or(&EMPTY_MAP)
    }

    pub fn variables(&self) -> &Map<String, Value> {
        self.variables.as_ref().unwrap_or(&EMPTY_MAP)
    }

    pub fn input_template(&self) -> &Map<String, Value> {
        self.input_template.as_ref().unwrap_or(&EMPTY_MAP)
    }

    pub fn metadata(&self) -> &Map<String, Value> {
        self.metadata.as_ref().unwrap_or(&EMPTY_MAP)
    }

    pub fn masked_fields(&self) -> &[String] {
        self.masked_fields.as_deref().unwrap_or_default()
    }

    pub fn summary(&self) -> WorkflowDefSummary {
        WorkflowDefSummary {
            name: self.name.clone(),
            version: self.version,
            create_time: self.create_time,
            update_time: self.update_time,
        }
    }
}

/// What a null map means to those who only read.
pub(crate) static EMPTY_MAP: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

names! {
    /// What happens when an execution takes longer than it may.
    WorkflowTimeoutPolicy {
        TimeOutWf = "TIME_OUT_WF",
        AlertOnly = "ALERT_ONLY",
    }
}

/// One version of a definition, in lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct WorkflowDefSummary {
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(deserialize_with = "lenient::int")]
    pub version: i32,
    #[serde(deserialize_with = "lenient::time")]
    pub create_time: Timestamp,
    #[serde(deserialize_with = "lenient::time")]
    pub update_time: Timestamp,
}

impl Default for WorkflowDefSummary {
    fn default() -> Self {
        WorkflowDef::default().summary()
    }
}

/// How many executions may run at a time, per key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct RateLimitConfig {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub rate_limit_key: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub concurrent_exec_limit: i32,
    pub policy: RateLimitPolicy,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub concurrent_execution_limit: Option<i32>,
}

impl Default for RateLimitConfig {
    fn default() -> Self {
        Self {
            rate_limit_key: None,
            concurrent_exec_limit: 0,
            policy: RateLimitPolicy::Queue,
            tag: None,
            concurrent_execution_limit: None,
        }
    }
}

names! {
    /// What happens to a start beyond the limit.
    RateLimitPolicy {
        Queue = "QUEUE",
        Reject = "REJECT",
    }
}

/// Reuse of earlier outputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct CacheConfig {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub ttl_in_second: i32,
}

/// The shape inputs or outputs should have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct SchemaDef {
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub owner_app: Option<String>,
    #[serde(deserialize_with = "lenient::time")]
    pub create_time: Timestamp,
    #[serde(deserialize_with = "lenient::time")]
    pub update_time: Timestamp,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    #[serde(deserialize_with = "lenient::text")]
    pub name: String,
    #[serde(deserialize_with = "lenient::int")]
    pub version: i32,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<SchemaType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
}

impl Default for SchemaDef {
    fn default() -> Self {
        Self {
            owner_app: None,
            create_time: Timestamp::NOT_YET,
            update_time: Timestamp::NOT_YET,
            created_by: None,
            updated_by: None,
            name: String::new(),
            version: 1,
            kind: None,
            data: None,
            external_ref: None,
        }
    }
}

names! {
    SchemaType {
        Json = "JSON",
        Avro = "AVRO",
        Protobuf = "PROTOBUF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reference() -> Value {
        serde_json::from_str(include_str!("../reference/workflow_def.json")).unwrap()
    }

    fn read(json: Value) -> WorkflowDef {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn write(definition: &WorkflowDef) -> Value {
        serde_json::to_value(definition).unwrap()
    }

    #[test]
    fn a_minimal_definition_is_written_as_the_reference() {
        let definition =
            read(json!({"name": "wf", "tasks": [{"name": "t", "taskReferenceName": "r"}]}));
        assert_eq!(write(&definition), reference());
    }

    #[test]
    fn the_reference_survives_reading() {
        assert_eq!(write(&read(reference())), reference());
        let direct: WorkflowDef = serde_json::from_value(reference()).unwrap();
        assert_eq!(direct, read(reference()));
    }

    #[test]
    fn an_explicit_null_collection_is_omitted() {
        let definition = read(json!({"name": "wf", "tasks": null, "inputParameters": null,
            "outputParameters": null, "inputTemplate": null, "variables": null, "metadata": null,
            "maskedFields": null}));
        let written = write(&definition);
        for key in ["tasks", "inputParameters", "outputParameters", "inputTemplate", "variables"] {
            assert!(written.get(key).is_none(), "{key}");
        }
        assert!(definition.steps().is_empty());
        assert!(definition.variables().is_empty());
        assert!(definition.masked_fields().is_empty());
    }

    #[test]
    fn an_explicit_null_scalar_is_not_the_default() {
        let definition = read(json!({"name": "wf", "restartable": null, "version": null,
            "enforceSchema": null, "failureWorkflowVersion": ""}));
        assert!(!definition.restartable);
        assert!(!definition.enforce_schema);
        assert_eq!((definition.version, definition.failure_workflow_version), (0, None));
    }

    #[test]
    fn everything_the_contract_names_is_kept() {
        let full = json!({"name": "wf", "description": "d", "version": 4, "failureWorkflow": "f",
            "failureWorkflowVersion": 2, "workflowStatusListenerSink": "s", "ownerEmail": "o@x",
            "ownerApp": "a", "createdBy": "c", "updatedBy": "u", "createTime": 5, "updateTime": 6,
            "timeoutPolicy": "TIME_OUT_WF", "timeoutSeconds": 9, "variables": {"b": null, "a": 1},
            "rateLimitConfig": {"rateLimitKey": "k", "concurrentExecLimit": 3, "policy": "REJECT"},
            "inputSchema": {"name": "s", "version": 2, "type": "JSON", "data": {"x": 1},
                "externalRef": "r", "createTime": 0, "updateTime": 0},
            "cacheConfig": {"key": "k", "ttlInSecond": 7}, "maskedFields": ["m"],
            "idempotency": {"keyExpression": "${workflow.input.id}", "strategy": "FAIL"},
            "concurrency": {"key": "k", "limit": 2, "policy": "SKIP"},
            "tags": [{"key": "k", "value": "v"}], "overwriteTags": true});
        let written = write(&read(full.clone()));
        for (key, value) in full.as_object().unwrap() {
            assert_eq!(&written[key], value, "{key}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored_and_unknown_policies_are_not() {
        assert_eq!(read(json!({"name": "wf", "colour": {"x": [1]}})).name, "wf");
        let error = serde_json::from_str::<WorkflowDef>(r#"{"timeoutPolicy":"RETRY"}"#);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("\"RETRY\", expected one of TIME_OUT_WF, ALERT_ONLY"), "{error}");
    }

    #[test]
    fn all_steps_are_met_in_the_order_of_the_text() {
        let step = |name: &str| json!({"name": name, "taskReferenceName": name});
        let mut definition = read(json!({"name": "wf", "tasks": [
            {"name": "s", "taskReferenceName": "s", "decisionCases": {"z": [step("z1"), step("z2")],
                "a": [{"name": "f", "taskReferenceName": "f",
                    "forkTasks": [[step("f1")], [step("f2")]]}]},
                "defaultCase": [step("d")]},
            {"name": "l", "taskReferenceName": "l", "loopOver": [step("l1"), step("l2")]},
            step("end")]}));
        let order = ["s", "z1", "z2", "f", "f1", "f2", "d", "l", "l1", "l2", "end"];
        let met: Vec<_> = definition.all_steps().map(|step| step.name.as_str()).collect();
        assert_eq!(met, order);
        let mut met = vec![];
        definition.for_each_step_mut(|step| met.push(step.name.clone()));
        assert_eq!(met, order);
    }
}
