//! # Start policies: which key a start gets when it brings none
//!
//! What a definition says about starts of itself. Whoever starts it with a key of his own overrules
//! the expression; the fingerprint holds for both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{IdempotencyStrategy, OnPayloadMismatch, lenient};

/// `idempotency` of a workflow definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct StartPolicy {
    /// Text with expressions over what the start brings, as `${workflow.input.orderId}`.
    #[serde(deserialize_with = "lenient::boxed_text", skip_serializing_if = "Option::is_none")]
    pub key_expression: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<IdempotencyStrategy>,
    /// Paths that must be equal under one key, as `input.amount`; none compares the whole input.
    #[serde(deserialize_with = "lenient::texts", skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Vec<String>>,
    /// None is FAIL if there is a fingerprint, else FLAG.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_payload_mismatch: Option<OnPayloadMismatch>,
    /// Beyond the life of the run.
    #[serde(deserialize_with = "lenient::boxed_int", skip_serializing_if = "Option::is_none")]
    pub retention_seconds: Option<i64>,
}

impl StartPolicy {
    /// A blank expression is none.
    pub fn key_expression(&self) -> Option<&str> {
        self.key_expression.as_deref().filter(|text| !text.trim().is_empty())
    }

    pub fn fingerprint(&self) -> &[String] {
        self.fingerprint.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everything_the_contract_names_is_kept_and_nothing_is_added() {
        for json in [
            json!({"keyExpression": "${workflow.input.id}", "strategy": "RETURN_EXISTING",
                "fingerprint": ["input.id"], "onPayloadMismatch": "IGNORE", "retentionSeconds": 9}),
            json!({"strategy": "TERMINATE_EXISTING"}),
            json!({}),
        ] {
            let policy: StartPolicy = serde_json::from_str(&json.to_string()).unwrap();
            assert_eq!(serde_json::to_value(policy).unwrap(), json);
        }
    }

    #[test]
    fn a_blank_expression_is_none() {
        let policy: StartPolicy = serde_json::from_str(r#"{"keyExpression":" "}"#).unwrap();
        assert_eq!(policy.key_expression(), None);
        assert!(policy.fingerprint().is_empty());
    }
}
