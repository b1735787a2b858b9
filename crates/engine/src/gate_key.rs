//! # Keys of gates: by what the runs of a definition are counted
//!
//! A key with a part that is null, missing or empty is none: such a run is not counted, and says so.
//! Counting all of them together would let strangers wait for each other.

use semel_model::{Digest, IDEMPOTENCY_KEY_BYTES_MAX, Payload, WorkflowDef, effective_concurrency};
use serde_json::json;

use crate::event::Start;
use crate::execution::Execution;
use crate::expression::{Heard, with_defaults};
use crate::gate::GATE_SCOPE;
use crate::record::RecordKey;

/// The record of the gate that runs with that key come to. A blank key counts all runs together.
pub(crate) fn gate_record(definition: &WorkflowDef, key: String) -> RecordKey {
    let fits = key.len() <= IDEMPOTENCY_KEY_BYTES_MAX && !key.contains('\0');
    let key = if fits { key } else { format!("sha256:{}", Digest::of(key.as_bytes())) };
    RecordKey { scope: format!("{GATE_SCOPE}{}", definition.name), key }
}

/// The key by which a start is counted: blank counts all runs together. The error says why it is
/// not counted.
pub(crate) fn counted_by(
    definition: &WorkflowDef,
    start: &Start,
    input: &Payload,
) -> Option<Result<String, String>> {
    let policy = effective_concurrency(definition)?;
    let Some(template) = policy.key() else { return Some(Ok(String::new())) };
    let input = with_defaults(definition, input).unwrap_or_else(|| input.clone());
    let workflow = json!({
        "input": input.value(),
        "correlationId": start.correlation_id,
        "workflowType": definition.name,
        "version": definition.version,
        "priority": start.priority,
        "idempotencyKey": start.idempotency_key,
    });
    let key = Heard::new(&Payload::from_value(&json!({"workflow": workflow}))).key(template);
    Some(key.map_err(|missing| {
        format!("concurrency.key is {template}, and {missing}: the run is not counted")
    }))
}

/// Why a start of that definition is counted at no gate, though its definition has one.
pub fn not_counted(definition: &WorkflowDef, start: &Start, input: &Payload) -> Option<String> {
    counted_by(definition, start, input)?.err()
}

impl Execution {
    /// Why it is counted at no gate, though its definition has one.
    pub fn not_counted(&self) -> Option<String> {
        if self.run.guards.place.is_some() {
            return None;
        }
        let start = Start {
            correlation_id: self.correlation_id().map(str::to_owned),
            priority: self.priority(),
            idempotency_key: self.idempotency_key().map(str::to_owned),
            ..Start::default()
        };
        not_counted(self.definition().definition(), &start, self.input())
    }
}
