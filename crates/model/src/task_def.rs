//! # Task definitions: how attempts are made, timed and repeated

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::names::names;
use crate::workflow_def::EMPTY_MAP;
use crate::{CacheConfig, EffectPolicy, SchemaDef, Timestamp, WorkflowTask, lenient};

/// How attempts at a step are made, timed and repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct TaskDef {
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
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub owner_email: Option<String>,
    #[serde(deserialize_with = "lenient::int")]
    pub retry_count: i32,
    /// Per attempt; 0 means none.
    #[serde(deserialize_with = "lenient::int")]
    pub timeout_seconds: i64,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub input_keys: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub output_keys: Option<Vec<String>>,
    /// Names of secrets and variables handed out with the task.
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub runtime_metadata: Option<Vec<String>>,
    pub timeout_policy: TaskTimeoutPolicy,
    pub retry_logic: RetryLogic,
    #[serde(deserialize_with = "lenient::int")]
    pub retry_delay_seconds: i32,
    /// Longest silence of a worker; 0 means none.
    #[serde(deserialize_with = "lenient::int")]
    pub response_timeout_seconds: i64,
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub poll_timeout_seconds: Option<i32>,
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub concurrent_exec_limit: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_template: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient::int")]
    pub rate_limit_per_frequency: i32,
    #[serde(deserialize_with = "lenient::int_or_one")]
    pub rate_limit_frequency_in_seconds: i32,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub isolation_group_id: Option<String>,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub execution_name_space: Option<String>,
    #[serde(deserialize_with = "lenient::int_or_one")]
    pub backoff_scale_factor: i32,
    /// 0 means no cap.
    #[serde(deserialize_with = "lenient::int")]
    pub max_retry_delay_seconds: i32,
    #[serde(deserialize_with = "lenient::int")]
    pub backoff_jitter_ms: i32,
    /// Over all attempts; 0 means none.
    #[serde(deserialize_with = "lenient::int")]
    pub total_timeout_seconds: i64,
    #[serde(deserialize_with = "lenient::flag")]
    pub task_status_listener_enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<SchemaDef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<SchemaDef>,
    #[serde(deserialize_with = "lenient::flag")]
    pub enforce_schema: bool,
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub base_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overwrite_tags: Option<Value>,
    /// Ours: a stale report is answered with an error instead of politely ignored.
    #[serde(deserialize_with = "lenient::boxed_flag", skip_serializing_if = "Option::is_none")]
    pub strict_fencing: Option<bool>,
    /// Ours: what it does to the world, and how often it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<EffectPolicy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_config: Option<CacheConfig>,
    /// Ours: whoever wrote it says that repeating a request without a key does no harm.
    #[serde(deserialize_with = "lenient::boxed_flag", skip_serializing_if = "Option::is_none")]
    pub assume_idempotent: Option<bool>,
}

impl Default for TaskDef {
    fn default() -> Self {
        Self {
            owner_app: None,
            create_time: Timestamp::NOT_YET,
            update_time: Timestamp::NOT_YET,
            created_by: None,
            updated_by: None,
            name: String::new(),
            description: None,
            owner_email: None,
            retry_count: 3,
            timeout_seconds: 0,
            input_keys: Some(vec![]),
            output_keys: Some(vec![]),
            runtime_metadata: Some(vec![]),
            timeout_policy: TaskTimeoutPolicy::TimeOutWf,
            retry_logic: RetryLogic::Fixed,
            retry_delay_seconds: 60,
            response_timeout_seconds: 3600,
            poll_timeout_seconds: None,
            concurrent_exec_limit: None,
            input_template: Some(Map::new()),
            rate_limit_per_frequency: 0,
            rate_limit_frequency_in_seconds: 1,
            isolation_group_id: None,
            execution_name_space: None,
            backoff_scale_factor: 1,
            max_retry_delay_seconds: 0,
            backoff_jitter_ms: 0,
            total_timeout_seconds: 0,
            task_status_listener_enabled: true,
            input_schema: None,
            output_schema: None,
            enforce_schema: false,
            base_type: None,
            tags: None,
            overwrite_tags: None,
            strict_fencing: None,
            effect: None,
            cache_config: None,
            assume_idempotent: None,
        }
    }
}

impl TaskDef {
    /// What a step without a definition runs under: a SIMPLE one has all defaults, any other type
    /// is never repeated and may be silent for ever.
    pub fn ad_hoc(name: &str, kind: &str) -> Self {
        let defaults = Self { name: name.to_owned(), ..Self::default() };
        if kind == WorkflowTask::SIMPLE {
            return defaults;
        }
        Self { retry_count: 0, response_timeout_seconds: 0, ..defaults }
    }

    pub fn input_template(&self) -> &Map<String, Value> {
        self.input_template.as_ref().unwrap_or(&EMPTY_MAP)
    }

    pub fn runtime_metadata(&self) -> &[String] {
        self.runtime_metadata.as_deref().unwrap_or_default()
    }
}

names! {
    /// What happens when an attempt takes longer than it may.
    TaskTimeoutPolicy {
        Retry = "RETRY",
        TimeOutWf = "TIME_OUT_WF",
        AlertOnly = "ALERT_ONLY",
    }
}

names! {
    /// How the delay grows from attempt to attempt.
    RetryLogic {
        Fixed = "FIXED",
        ExponentialBackoff = "EXPONENTIAL_BACKOFF",
        LinearBackoff = "LINEAR_BACKOFF",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reference() -> Value {
        serde_json::from_str(include_str!("../reference/task_def.json")).unwrap()
    }

    fn read(json: Value) -> TaskDef {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn write(definition: &TaskDef) -> Value {
        serde_json::to_value(definition).unwrap()
    }

    #[test]
    fn a_minimal_definition_is_written_as_the_reference() {
        assert_eq!(write(&read(json!({"name": "t"}))), reference());
    }

    #[test]
    fn the_reference_survives_reading() {
        assert_eq!(write(&read(reference())), reference());
    }

    #[test]
    fn null_is_zero_and_absent_is_the_default() {
        assert_eq!(read(json!({"retryCount": null})).retry_count, 0);
        assert_eq!(read(json!({})).retry_count, 3);
        assert_eq!(read(json!({"responseTimeoutSeconds": null})).response_timeout_seconds, 0);
        let windows = read(json!({"rateLimitFrequencyInSeconds": null, "backoffScaleFactor": ""}));
        assert_eq!(windows.rate_limit_frequency_in_seconds, 1);
        assert_eq!(windows.backoff_scale_factor, 1);
    }

    #[test]
    fn everything_the_contract_names_is_kept() {
        let full = json!({"name": "t", "description": "d", "ownerEmail": "e", "ownerApp": "a",
            "createdBy": "c", "updatedBy": "u", "createTime": 1, "updateTime": 2,
            "retryLogic": "LINEAR_BACKOFF", "timeoutPolicy": "RETRY", "pollTimeoutSeconds": 4,
            "concurrentExecLimit": 5, "inputKeys": ["k"], "inputTemplate": {"x": null},
            "isolationGroupId": "g", "executionNameSpace": "n", "baseType": "b",
            "runtimeMetadata": ["s"], "tags": [], "overwriteTags": false, "strictFencing": true,
            "assumeIdempotent": true, "effect": {"mode": "ONCE", "key": "${id}"},
            "cacheConfig": {"key": "k", "ttlInSecond": 7},
            "outputSchema": {"name": "s", "version": 1, "createTime": 0, "updateTime": 0}});
        let written = write(&read(full.clone()));
        for (key, value) in full.as_object().unwrap() {
            assert_eq!(&written[key], value, "{key}");
        }
    }

    #[test]
    fn a_step_without_a_definition_retries_only_when_simple() {
        let simple = TaskDef::ad_hoc("t", "SIMPLE");
        assert_eq!((simple.retry_count, simple.response_timeout_seconds), (3, 3600));
        let http = TaskDef::ad_hoc("t", "HTTP");
        assert_eq!((http.retry_count, http.response_timeout_seconds), (0, 0));
    }
}
