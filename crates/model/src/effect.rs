//! # Effect policies: what a task does to the world, and how often it may
//!
//! A step says its own, or its task definition does; Orkes's `cacheConfig` is read as one. Absent
//! members stay absent, and the accessors know what absence means. Which key a task gets, and what
//! becomes of it, is for the engine.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::{CacheConfig, TaskDef, WorkflowTask, lenient};

/// How much longer than the run it came from an effect is remembered when nobody says: 30 days.
pub const EFFECT_RETENTION_SECONDS: i64 = 30 * 24 * 60 * 60;

/// What is done at most once, how it is recognised, and what to do in doubt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct EffectPolicy {
    pub mode: EffectMode,
    /// Who shares a key: TASK_NAME, WORKFLOW_NAME, WORKFLOW, or a name of one's own.
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Text with expressions over the task's input; none is the effect key of the task.
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Paths into the task's input that must be equal under one key.
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_payload_mismatch: Option<OnPayloadMismatch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_in_progress: Option<OnInProgress>,
    /// None is PROBE where there is a probe, else HOLD; see [`EffectPolicy::on_unknown`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_unknown: Option<OnUnknown>,
    /// Asks the far side whether it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Box<WorkflowTask>>,
    #[serde(deserialize_with = "lenient::boxed_flag", skip_serializing_if = "Option::is_none")]
    pub cache_failures: Option<bool>,
    /// From the moment it is decided; none outlives the run by [`EFFECT_RETENTION_SECONDS`].
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub retention_seconds: Option<i64>,
    /// How long the far side remembers a key it was sent.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub downstream_retention_seconds: Option<i64>,
}

impl EffectPolicy {
    pub fn scope(&self) -> EffectScope<'_> {
        match self.scope.as_deref() {
            None | Some("TASK_NAME") => EffectScope::TaskName,
            Some("WORKFLOW_NAME") => EffectScope::WorkflowName,
            Some("WORKFLOW") => EffectScope::Workflow,
            Some(name) => EffectScope::Named(name),
        }
    }

    /// A blank key is none.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref().filter(|key| !key.trim().is_empty())
    }

    pub fn fingerprint(&self) -> &[String] {
        self.fingerprint.as_deref().unwrap_or_default()
    }

    pub fn on_payload_mismatch(&self) -> OnPayloadMismatch {
        self.on_payload_mismatch.unwrap_or(OnPayloadMismatch::Fail)
    }

    pub fn on_in_progress(&self) -> OnInProgress {
        self.on_in_progress.unwrap_or(OnInProgress::Wait)
    }

    /// What nobody wrote down is not repeated: `RETRY` is a choice that has to be made. Requests of
    /// HTTP tasks have a rule of their own in the engine.
    pub fn on_unknown(&self) -> OnUnknown {
        let unsaid = if self.probe.is_some() { OnUnknown::Probe } else { OnUnknown::Hold };
        self.on_unknown.unwrap_or(unsaid)
    }

    pub fn caches_failures(&self) -> bool {
        self.cache_failures.unwrap_or(false)
    }

    /// A cache without a key, or that keeps nothing, is none. A worker's task is tried again, as in
    /// Conductor; of a request its sender decides, as of one without a cache.
    fn of_cache(cache: &CacheConfig, kind: &str) -> Option<Self> {
        let key = cache.key.clone().filter(|key| !key.trim().is_empty())?;
        (cache.ttl_in_second > 0).then(|| Self {
            key: Some(key),
            on_payload_mismatch: Some(OnPayloadMismatch::Flag),
            on_unknown: (kind != "HTTP").then_some(OnUnknown::Retry),
            retention_seconds: Some(cache.ttl_in_second.into()),
            ..Self::default()
        })
    }
}

/// The policy a step runs under: its own, that of its task definition, or what `cacheConfig` means.
pub fn effective_effect<'a>(
    task_def: &'a TaskDef,
    workflow_task: &'a WorkflowTask,
) -> Option<Cow<'a, EffectPolicy>> {
    let said = workflow_task.effect.as_ref().or(task_def.effect.as_ref());
    if let Some(policy) = said {
        return Some(Cow::Borrowed(policy));
    }
    let cache = workflow_task.cache_config.as_ref().or(task_def.cache_config.as_ref())?;
    EffectPolicy::of_cache(cache, &workflow_task.kind).map(Cow::Owned)
}

/// Within what an effect key names one effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectScope<'a> {
    TaskName,
    WorkflowName,
    /// One execution.
    Workflow,
    Named(&'a str),
}

names! {
    /// How often an effect may happen.
    #[derive(Default)]
    EffectMode {
        #[default]
        Once = "ONCE",
    }
}

names! {
    /// What happens to a task whose effect may have happened or not.
    OnUnknown {
        Retry = "RETRY",
        Probe = "PROBE",
        Hold = "HOLD",
        Fail = "FAIL",
    }
}

names! {
    /// What happens to a task whose key another one holds.
    OnInProgress {
        Wait = "WAIT",
        Fail = "FAIL",
    }
}

names! {
    /// What happens when a key comes again with something else.
    OnPayloadMismatch {
        Fail = "FAIL",
        Flag = "FLAG",
        /// For start keys only.
        Ignore = "IGNORE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: &Value) -> EffectPolicy {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn task(json: &Value) -> TaskDef {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    fn step(json: &Value) -> WorkflowTask {
        serde_json::from_str(&json.to_string()).unwrap()
    }

    #[test]
    fn everything_the_contract_names_is_kept() {
        let full = json!({"mode": "ONCE", "scope": "WORKFLOW", "key": "${order_id}",
            "fingerprint": ["amount"], "onPayloadMismatch": "FLAG", "onInProgress": "FAIL",
            "onUnknown": "PROBE", "cacheFailures": true, "retentionSeconds": 5,
            "downstreamRetentionSeconds": 6,
            "probe": {"name": "find", "taskReferenceName": "p", "type": "HTTP"}});
        let written = serde_json::to_value(read(&full)).unwrap();
        for (key, value) in full.as_object().unwrap() {
            match key.as_str() {
                "probe" => assert_eq!(written["probe"]["name"], "find"),
                _ => assert_eq!(&written[key], value, "{key}"),
            }
        }
        let again: EffectPolicy = serde_json::from_value(written.clone()).unwrap();
        assert_eq!(serde_json::to_value(again).unwrap(), written);
    }

    #[test]
    fn what_is_absent_stays_absent_and_has_a_meaning() {
        let policy = read(&json!({}));
        assert_eq!(serde_json::to_value(&policy).unwrap(), json!({"mode": "ONCE"}));
        assert_eq!(policy.scope(), EffectScope::TaskName);
        assert_eq!((policy.key(), policy.fingerprint()), (None, &[][..]));
        assert_eq!(policy.on_payload_mismatch(), OnPayloadMismatch::Fail);
        assert_eq!(policy.on_in_progress(), OnInProgress::Wait);
        assert_eq!((policy.on_unknown, policy.caches_failures()), (None, false));
        assert_eq!(policy.retention_seconds, None);
    }

    #[test]
    fn nothing_is_repeated_in_doubt_unless_that_is_written_down() {
        assert_eq!(read(&json!({})).on_unknown(), OnUnknown::Hold);
        let probe = json!({"name": "find", "type": "HTTP"});
        assert_eq!(read(&json!({"probe": probe})).on_unknown(), OnUnknown::Probe);
        for said in OnUnknown::ALL {
            let policy = read(&json!({"probe": probe, "onUnknown": said}));
            assert_eq!(policy.on_unknown(), *said);
        }
    }

    #[test]
    fn scalars_are_read_leniently() {
        let policy = read(&json!({"key": 7, "retentionSeconds": "60", "cacheFailures": "true",
            "fingerprint": [1], "scope": "payments", "downstreamRetentionSeconds": null,
            "colour": "ignored"}));
        assert_eq!((policy.key(), policy.retention_seconds), (Some("7"), Some(60)));
        assert_eq!(policy.scope(), EffectScope::Named("payments"));
        assert!(policy.caches_failures());
        assert_eq!(policy.fingerprint(), ["1"]);
        let error = serde_json::from_str::<EffectPolicy>(r#"{"onUnknown":"GUESS"}"#).unwrap_err();
        assert!(error.to_string().contains("expected one of RETRY, PROBE, HOLD, FAIL"), "{error}");
    }

    #[test]
    fn the_step_wins_over_its_definition_and_both_over_a_cache() {
        let cache = json!({"key": "${id}", "ttlInSecond": 60});
        let plain = task(&json!({"name": "t"}));
        let own = task(&json!({"name": "t", "effect": {"key": "task"}, "cacheConfig": cache}));
        let key = |task: &TaskDef, step: &WorkflowTask| {
            effective_effect(task, step).and_then(|policy| policy.key().map(str::to_owned))
        };
        assert_eq!(key(&own, &step(&json!({"effect": {"key": "step"}}))).unwrap(), "step");
        assert_eq!(key(&own, &step(&json!({}))).unwrap(), "task");
        assert_eq!(key(&own, &step(&json!({"cacheConfig": cache}))).unwrap(), "task");
        assert_eq!(effective_effect(&plain, &step(&json!({}))), None);
        assert!(matches!(effective_effect(&own, &step(&json!({}))), Some(Cow::Borrowed(_))));
    }

    #[test]
    fn a_cache_is_an_effect_that_is_kept_for_a_while() {
        let cache = json!({"key": "${id}", "ttlInSecond": 60});
        let plain = task(&json!({"name": "t"}));
        let expected = read(&json!({"key": "${id}", "retentionSeconds": 60, "onUnknown": "RETRY",
            "onPayloadMismatch": "FLAG"}));
        let found = step(&json!({"cacheConfig": cache}));
        assert_eq!(*effective_effect(&plain, &found).unwrap(), expected);
        let cached = task(&json!({"name": "t", "cacheConfig": cache}));
        assert_eq!(*effective_effect(&cached, &step(&json!({}))).unwrap(), expected);
        let request = step(&json!({"type": "HTTP", "cacheConfig": cache}));
        assert_eq!(effective_effect(&plain, &request).unwrap().on_unknown, None);
        for none in [json!({"ttlInSecond": 60}), json!({"key": "k"}), json!({"key": " "})] {
            assert_eq!(effective_effect(&plain, &step(&json!({"cacheConfig": none}))), None);
        }
    }

    #[test]
    fn a_probe_counts_as_a_step_inside_a_step() {
        let mut value = json!({});
        for _ in 0..100 {
            value = json!({"effect": {"probe": value}});
        }
        let error = serde_json::from_value::<WorkflowTask>(value).unwrap_err().to_string();
        assert_eq!(error, "steps are nested more than 32 deep");
    }
}
