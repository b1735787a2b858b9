//! # Concurrency: how many runs of a definition may be under way at once
//!
//! Ours says it in full; Orkes's `rateLimitConfig` is read as the part of it that it is.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::names;
use crate::{RateLimitConfig, RateLimitPolicy, WorkflowDef, lenient};

/// `concurrency` of a workflow definition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Concurrency {
    /// Text with expressions over what the start brings; runs with equal keys are counted together,
    /// without a key all of them.
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(deserialize_with = "lenient::int_or_one")]
    pub limit: i32,
    pub policy: ConcurrencyPolicy,
    /// None means no limit.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub max_queue: Option<i32>,
    /// None waits for ever.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub queue_timeout_seconds: Option<i64>,
}

impl Default for Concurrency {
    fn default() -> Self {
        Self {
            key: None,
            limit: 1,
            policy: ConcurrencyPolicy::Queue,
            max_queue: None,
            queue_timeout_seconds: None,
        }
    }
}

impl Concurrency {
    /// A blank key is none.
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref().filter(|key| !key.trim().is_empty())
    }

    /// A limit below 1 is none: Orkes writes 0 for it.
    fn of_rate_limit(config: &RateLimitConfig) -> Option<Self> {
        let limits = [Some(config.concurrent_exec_limit), config.concurrent_execution_limit];
        let limit = limits.into_iter().flatten().find(|limit| *limit > 0)?;
        let policy = match config.policy {
            RateLimitPolicy::Queue => ConcurrencyPolicy::Queue,
            RateLimitPolicy::Reject => ConcurrencyPolicy::Fail,
        };
        Some(Self { key: config.rate_limit_key.clone(), limit, policy, ..Self::default() })
    }
}

/// The limit a definition runs under: its own, or what `rateLimitConfig` means.
pub fn effective_concurrency(definition: &WorkflowDef) -> Option<Cow<'_, Concurrency>> {
    if let Some(own) = &definition.concurrency {
        return Some(Cow::Borrowed(own));
    }
    Concurrency::of_rate_limit(definition.rate_limit_config.as_ref()?).map(Cow::Owned)
}

names! {
    /// What happens to a start beyond the limit.
    ConcurrencyPolicy {
        /// It waits for its turn.
        Queue = "QUEUE",
        /// It is answered with the run in its way.
        Skip = "SKIP",
        Fail = "FAIL",
        /// The oldest makes room for it.
        CancelRunning = "CANCEL_RUNNING",
        TerminateRunning = "TERMINATE_RUNNING",
        /// It takes the place of the one that waits.
        Coalesce = "COALESCE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(json: Value) -> Option<Concurrency> {
        let definition: WorkflowDef = serde_json::from_str(&json.to_string()).unwrap();
        effective_concurrency(&definition).map(Cow::into_owned)
    }

    #[test]
    fn everything_the_contract_names_is_kept() {
        let json = json!({"key": "${workflow.input.account}", "limit": 2, "policy": "COALESCE",
            "maxQueue": 3, "queueTimeoutSeconds": 4});
        let read: Concurrency = serde_json::from_str(&json.to_string()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), json);
    }

    #[test]
    fn nothing_said_is_one_at_a_time_in_turn() {
        let read: Concurrency = serde_json::from_str(r#"{"limit": null, "key": " "}"#).unwrap();
        assert_eq!((read.limit, read.policy, read.key()), (1, ConcurrencyPolicy::Queue, None));
    }

    #[test]
    fn a_rate_limit_is_a_queue() {
        let expected = Concurrency { key: Some("k".into()), limit: 3, ..Concurrency::default() };
        let limit = json!({"rateLimitKey": "k", "concurrentExecLimit": 3});
        assert_eq!(of(json!({"rateLimitConfig": limit})), Some(expected.clone()));
        let other = json!({"rateLimitKey": "k", "concurrentExecutionLimit": 3});
        assert_eq!(of(json!({"rateLimitConfig": other})), Some(expected));
        let reject = json!({"concurrentExecLimit": 1, "policy": "REJECT"});
        let policy = of(json!({"rateLimitConfig": reject})).unwrap().policy;
        assert_eq!(policy, ConcurrencyPolicy::Fail);
        assert_eq!(of(json!({"rateLimitConfig": {"rateLimitKey": "k"}})), None);
        assert_eq!(of(json!({})), None);
    }

    #[test]
    fn our_own_wins_over_a_rate_limit() {
        let both = json!({"concurrency": {"limit": 5}, "rateLimitConfig": {
            "concurrentExecLimit": 1}});
        assert_eq!(of(both).unwrap().limit, 5);
    }
}
