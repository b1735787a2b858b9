//! # Start keys: asked twice, started once
//!
//! Contract: docs/reference/idempotency.md#sequential-object.
//! The sequential object that concurrent starts under one key are linearizable against,
//! and what a start is recognised by: its key, its payload, the request that brought it.

use semel_model::{
    Digest, ExecutionId, IDEMPOTENCY_KEY_BYTES_MAX, IdempotencyStrategy, OnPayloadMismatch,
    Payload, WorkflowDef, WorkflowStatus, canonical,
};
use serde_json::{Value, json};

use crate::event::Start;
use crate::expression::{Heard, with_defaults};
use crate::facts::Claim;

/// The key a start brought and what to do when it is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartKey {
    pub key: String,
    pub strategy: IdempotencyStrategy,
    /// Of what the run is to be started with.
    pub fingerprint: Option<Digest>,
    pub on_mismatch: OnPayloadMismatch,
    /// The id its sender gave this request, to be recognised by when it asks again.
    pub request: Option<String>,
}

impl StartKey {
    pub fn new(key: impl Into<String>, strategy: IdempotencyStrategy) -> Self {
        let (fingerprint, request) = (None, None);
        let on_mismatch = OnPayloadMismatch::Flag;
        Self { key: key.into(), strategy, fingerprint, on_mismatch, request }
    }

    /// The key that was brought, else the one the definition computes. Its strategy is the
    /// definition's if the key is, because some clients always send one.
    pub fn chosen(
        definition: &WorkflowDef,
        start: &Start,
        input: &Payload,
        key: Option<String>,
        strategy: Option<IdempotencyStrategy>,
    ) -> Result<Option<Self>, KeyFault> {
        let said = definition.idempotency.as_ref().and_then(|policy| policy.strategy);
        let default = IdempotencyStrategy::Fail;
        if let Some(key) = key.filter(|key| !key.trim().is_empty()) {
            return Ok(Some(Self::new(key, strategy.or(said).unwrap_or(default))));
        }
        let key = computed_key(definition, start, input)?;
        Ok(key.map(|key| Self::new(key, said.or(strategy).unwrap_or(default))))
    }

    /// The same, comparing what is given with what the first one gave. Who is `strict` wants to
    /// hear of a difference unless the definition says otherwise.
    #[must_use]
    pub fn comparing(self, definition: &WorkflowDef, input: &Payload, strict: bool) -> Self {
        let policy = definition.idempotency.as_ref();
        let lists = policy.is_some_and(|policy| !policy.fingerprint().is_empty());
        let default = match strict || lists {
            true => OnPayloadMismatch::Fail,
            false => OnPayloadMismatch::Flag,
        };
        let said = policy.and_then(|policy| policy.on_payload_mismatch);
        let fingerprint = Some(fingerprint(definition, input));
        Self { fingerprint, on_mismatch: said.unwrap_or(default), ..self }
    }
}

/// Why no key can be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    #[error("{0}")]
    Missing(String),
    #[error("{0}")]
    Invalid(String),
}

/// What an unkeyed start of that definition is keyed by; none if it does not say.
fn computed_key(
    definition: &WorkflowDef,
    start: &Start,
    input: &Payload,
) -> Result<Option<String>, KeyFault> {
    let policy = definition.idempotency.as_ref();
    let Some(expression) = policy.and_then(|policy| policy.key_expression()) else {
        return Ok(None);
    };
    let input = with_defaults(definition, input).unwrap_or_else(|| input.clone());
    let about = json!({
        "correlationId": start.correlation_id,
        "workflowType": definition.name,
        "version": definition.version,
        "priority": start.priority,
    });
    let mut heard = Heard::of_start(&input.respelled(), &about);
    let key = heard.key(expression).map_err(|missing| {
        KeyFault::Missing(format!(
            "workflow {} is keyed by {expression}, and {missing} in this start: give what it \
             names, or an idempotencyKey",
            definition.name
        ))
    })?;
    if key.len() > IDEMPOTENCY_KEY_BYTES_MAX || key.contains('\0') {
        return Err(KeyFault::Invalid(format!(
            "{expression} must come to 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without NUL"
        )));
    }
    Ok(Some(key))
}

/// Of the whole input, or of the places in it that the definition lists.
pub fn fingerprint(definition: &WorkflowDef, input: &Payload) -> Digest {
    let paths = definition.idempotency.as_ref().map(|policy| policy.fingerprint());
    let input = with_defaults(definition, input).unwrap_or_else(|| input.clone());
    let compared = match paths.filter(|paths| !paths.is_empty()) {
        None => input.compared(),
        Some(paths) => {
            let mut heard = Heard::new(&Payload::from_value(&json!({"input": input.compared()})));
            let found = paths.iter().map(|path| heard.value(&format!("${{{}}}", path.trim())));
            Value::Array(found.collect())
        }
    };
    Digest::of(canonical(&compared).as_bytes())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Create,
    /// That run ends in the same commit.
    Replace(ExecutionId),
    Existing(ExecutionId),
    Conflict(ExecutionId),
    /// That run is asked for, and is no longer kept.
    Gone(ExecutionId),
}

pub fn judge(record: Option<Claim>, strategy: IdempotencyStrategy) -> Standing {
    let Some(record) = record else { return Standing::Create };
    let existing = match record.gone {
        true => Standing::Gone(record.run),
        false => Standing::Existing(record.run),
    };
    match strategy {
        IdempotencyStrategy::Fail => Standing::Conflict(record.run),
        IdempotencyStrategy::ReturnExisting => existing,
        IdempotencyStrategy::FailOnRunning if record.live => Standing::Conflict(record.run),
        IdempotencyStrategy::ReturnExistingUnlessFailed if has_failed(record) => Standing::Create,
        IdempotencyStrategy::ReturnExistingUnlessFailed => existing,
        IdempotencyStrategy::TerminateExisting if record.live => Standing::Replace(record.run),
        IdempotencyStrategy::ReturnRunning if record.live => existing,
        IdempotencyStrategy::FailOnRunning
        | IdempotencyStrategy::TerminateExisting
        | IdempotencyStrategy::ReturnRunning => Standing::Create,
    }
}

/// It is over, and did not complete.
fn has_failed(record: Claim) -> bool {
    let failed = |status: WorkflowStatus| status != WorkflowStatus::Completed;
    !record.live && record.ended.is_some_and(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use semel_model::StartPolicy;

    const RUN: [u8; 16] = [1; 16];

    fn claim(live: bool, ended: Option<WorkflowStatus>) -> Option<Claim> {
        Some(Claim {
            run: ExecutionId::from_bytes(RUN),
            live,
            ended,
            ..Claim::live(ExecutionId::from_bytes(RUN))
        })
    }

    #[test]
    fn the_sequential_object_of_contract_1() {
        let run = ExecutionId::from_bytes(RUN);
        let live = claim(true, None);
        let completed = claim(false, Some(WorkflowStatus::Completed));
        let failed = claim(false, Some(WorkflowStatus::Failed));
        let (new, same) = (Standing::Create, Standing::Existing(run));
        let (refused, replaced) = (Standing::Conflict(run), Standing::Replace(run));
        for (strategy, when_live, when_completed, when_failed) in [
            ("FAIL", refused, refused, refused),
            ("RETURN_EXISTING", same, same, same),
            ("FAIL_ON_RUNNING", refused, new, new),
            ("RETURN_EXISTING_UNLESS_FAILED", same, same, new),
            ("TERMINATE_EXISTING", replaced, new, new),
            ("RETURN_RUNNING", same, new, new),
        ] {
            let strategy = strategy.parse().unwrap();
            assert_eq!(judge(None, strategy), Standing::Create);
            assert_eq!(judge(live, strategy), when_live, "{strategy} live");
            assert_eq!(judge(completed, strategy), when_completed, "{strategy} completed");
            assert_eq!(judge(failed, strategy), when_failed, "{strategy} failed");
        }
        for status in [WorkflowStatus::TimedOut, WorkflowStatus::Terminated] {
            let strategy = IdempotencyStrategy::ReturnExistingUnlessFailed;
            assert_eq!(judge(claim(false, Some(status)), strategy), Standing::Create);
        }
    }

    #[test]
    fn a_run_that_is_gone_is_missed_by_whoever_wants_it() {
        let run = ExecutionId::from_bytes(RUN);
        let gone = Claim { gone: true, ..claim(false, Some(WorkflowStatus::Completed)).unwrap() };
        for (strategy, expected) in [
            ("FAIL", Standing::Conflict(run)),
            ("RETURN_EXISTING", Standing::Gone(run)),
            ("RETURN_EXISTING_UNLESS_FAILED", Standing::Gone(run)),
            ("FAIL_ON_RUNNING", Standing::Create),
            ("RETURN_RUNNING", Standing::Create),
            ("TERMINATE_EXISTING", Standing::Create),
        ] {
            assert_eq!(judge(Some(gone), strategy.parse().unwrap()), expected, "{strategy}");
        }
    }

    fn definition(policy: StartPolicy) -> WorkflowDef {
        WorkflowDef { name: "wf".to_owned(), idempotency: Some(policy), ..WorkflowDef::default() }
    }

    fn input(text: &str) -> Payload {
        Payload::from_text(text.to_owned()).unwrap()
    }

    #[test]
    fn a_key_is_computed_from_what_the_start_brings() {
        let expression = "order-${workflow.input.id}-${workflow.correlationId}".to_owned();
        let policy = StartPolicy { key_expression: Some(expression), ..StartPolicy::default() };
        let start = Start { correlation_id: Some("c".to_owned()), ..Start::default() };
        let key = computed_key(&definition(policy), &start, &input(r#"{"id":7}"#));
        assert_eq!(key, Ok(Some("order-7-c".to_owned())));
        let policy = StartPolicy {
            key_expression: Some("${workflow.input.id}".to_owned()),
            ..StartPolicy::default()
        };
        let nothing = computed_key(&definition(policy), &Start::default(), &input("{}"));
        assert!(nothing.unwrap_err().to_string().contains("keyed by ${workflow.input.id}"));
        let unkeyed = definition(StartPolicy::default());
        assert_eq!(computed_key(&unkeyed, &Start::default(), &input("{}")), Ok(None));
    }

    #[test]
    fn what_is_compared_is_the_input_or_what_the_definition_lists() {
        let whole = WorkflowDef::default();
        let of = |definition: &WorkflowDef, text| fingerprint(definition, &input(text));
        assert_eq!(of(&whole, r#"{"a":1,"b":[2.0]}"#), of(&whole, r#"{"b": [2], "a": 1.0}"#));
        assert_ne!(of(&whole, r#"{"a":1}"#), of(&whole, r#"{"a":1,"b":null}"#));
        let paths = vec!["input.order.id".to_owned(), "input.amount".to_owned()];
        let listed = definition(StartPolicy { fingerprint: Some(paths), ..StartPolicy::default() });
        let first = of(&listed, r#"{"order":{"id":"9"},"amount":1,"at":1}"#);
        assert_eq!(of(&listed, r#"{"order":{"id":"9"},"amount":1.0,"at":2}"#), first);
        assert_ne!(of(&listed, r#"{"order":{"id":9},"amount":1,"at":1}"#), first);
    }

    #[test]
    fn every_digit_of_a_number_counts() {
        let paths = Some(vec!["input.wei".to_owned()]);
        let listed = definition(StartPolicy { fingerprint: paths, ..StartPolicy::default() });
        let key_expression = Some("${workflow.input.wei}".to_owned());
        let by_amount = definition(StartPolicy { key_expression, ..StartPolicy::default() });
        let template = [("more".to_owned(), serde_json::json!(1))].into_iter().collect();
        let filled = WorkflowDef { input_template: Some(template), ..WorkflowDef::default() };
        for definition in [&WorkflowDef::default(), &listed, &filled] {
            let of =
                |digits: &str| fingerprint(definition, &input(&format!(r#"{{"wei":{digits}}}"#)));
            assert_ne!(of("123456789012345678901"), of("123456789012345678902"));
            assert_eq!(of("123456789012345678901"), of("123456789012345678901.0"));
            assert_eq!(of("1"), of("1.0"));
        }
        let key = |digits: &str| {
            let input = input(&format!(r#"{{"wei":{digits}}}"#));
            computed_key(&by_amount, &Start::default(), &input).unwrap().unwrap()
        };
        assert_eq!(key("123456789012345678901"), "123456789012345678901");
        assert_eq!(key("123456789012345678902.0"), "123456789012345678902");
        assert_eq!(key("1.50"), "1.5");
    }

    #[test]
    fn a_difference_is_told_or_refused() {
        let key = || StartKey::new("k", IdempotencyStrategy::Fail);
        let plain = WorkflowDef::default();
        let of = |definition: &WorkflowDef, strict| {
            key().comparing(definition, &Payload::empty(), strict).on_mismatch
        };
        assert_eq!(of(&plain, false), OnPayloadMismatch::Flag);
        assert_eq!(of(&plain, true), OnPayloadMismatch::Fail);
        let paths = Some(vec!["input.a".to_owned()]);
        let listed = StartPolicy { fingerprint: paths, ..StartPolicy::default() };
        assert_eq!(of(&definition(listed.clone()), false), OnPayloadMismatch::Fail);
        let said = Some(OnPayloadMismatch::Ignore);
        let ignoring = definition(StartPolicy { on_payload_mismatch: said, ..listed });
        assert_eq!(of(&ignoring, true), OnPayloadMismatch::Ignore);
    }
}
