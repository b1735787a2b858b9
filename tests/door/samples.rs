//! # Samples: definitions with every field that means something
//!
//! Tests change a field at a time and look at what becomes of it: a new field belongs here first.

use serde_json::{Value, json};

pub(crate) fn definition(name: &str) -> Value {
    let idempotency = json!({"strategy": "RETURN_EXISTING", "fingerprint": ["input.given"],
        "onPayloadMismatch": "FLAG", "retentionSeconds": 60});
    let concurrency = json!({"key": "${workflow.input.given}", "limit": 1000,
        "policy": "QUEUE", "maxQueue": 10, "queueTimeoutSeconds": 60});
    json!({"name": name, "version": 1, "schemaVersion": 2, "description": "d",
        "ownerApp": "o", "ownerEmail": "a@example.com", "createTime": 1, "updateTime": 2,
        "createdBy": "me", "updatedBy": "me", "inputParameters": ["given"],
        "outputParameters": {"out": "${only.output.n}"}, "restartable": true,
        "workflowStatusListenerEnabled": false, "timeoutPolicy": "TIME_OUT_WF",
        "timeoutSeconds": 3600, "variables": {"v": 1}, "inputTemplate": {"given": 0},
        "enforceSchema": true, "metadata": {"m": 1}, "maskedFields": ["secret"],
        "inputSchema": {"name": "in", "version": 1, "type": "JSON",
            "data": {"type": "object", "properties": {"given": {"title": "t"}}}},
        "outputSchema": {"data": {"type": "object"}},
        "rateLimitConfig": {"rateLimitKey": "k", "concurrentExecLimit": 5},
        "cacheConfig": {"key": "k", "ttlInSecond": 5}, "tags": [{"key": "a", "value": "b"}],
        "idempotency": idempotency, "concurrency": concurrency,
        "tasks": [step(name)]})
}

fn step(name: &str) -> Value {
    let effect = json!({"mode": "ONCE", "scope": "WORKFLOW", "fingerprint": ["a"],
        "onPayloadMismatch": "FLAG", "onInProgress": "WAIT", "onUnknown": "RETRY",
        "cacheFailures": false, "retentionSeconds": 60, "downstreamRetentionSeconds": 60});
    json!({"name": name, "taskReferenceName": "only", "type": "SIMPLE",
        "description": "d", "inputParameters": {"a": "${workflow.input.given}", "b": [1]},
        "startDelay": 0, "optional": false, "asyncComplete": false, "retryCount": 1,
        "permissive": false, "taskDefinition": task_definition(name), "effect": effect})
}

pub(crate) fn task_definition(name: &str) -> Value {
    let cache = json!({"key": "", "ttlInSecond": 0});
    json!({"name": name, "description": "d", "ownerEmail": "a@example.com",
        "ownerApp": "o", "createTime": 1, "updateTime": 2, "createdBy": "me",
        "updatedBy": "me", "retryCount": 2, "timeoutSeconds": 600, "inputKeys": ["a"],
        "outputKeys": ["b"], "runtimeMetadata": [], "timeoutPolicy": "RETRY",
        "retryLogic": "FIXED", "retryDelaySeconds": 0, "responseTimeoutSeconds": 60,
        "pollTimeoutSeconds": 60, "concurrentExecLimit": 0, "inputTemplate": {"t": 1},
        "rateLimitPerFrequency": 0, "rateLimitFrequencyInSeconds": 1,
        "isolationGroupId": "i", "executionNameSpace": "e", "backoffScaleFactor": 1,
        "maxRetryDelaySeconds": 0, "backoffJitterMs": 0, "totalTimeoutSeconds": 0,
        "taskStatusListenerEnabled": true, "enforceSchema": true, "baseType": "b",
        "inputSchema": {"data": {"type": "object"}}, "outputSchema": {"data": {}},
        "tags": [], "strictFencing": false, "assumeIdempotent": false,
        "cacheConfig": cache})
}
