//! # Starts by steps: what the definition of a run says of a step that asks for it
//!
//! A START_WORKFLOW or SUB_WORKFLOW step is held to the same rules as whoever starts by the API: the
//! key that the definition computes, the payload that is compared, the gate that may be closed. The
//! definition is at hand while deciding; what follows from it is a fact of the entry.

use semel_model::{
    ConcurrencyPolicy, Digest, ExecutionId, IdempotencyStrategy, OnPayloadMismatch, Payload,
    WorkflowDef, effective_concurrency,
};
use serde::{Deserialize, Serialize};

use crate::decide::Stop;
use crate::event::Start;
use crate::facts::Claim;
use crate::gate::limit;
use crate::gate_key::{counted_by, gate_record};
use crate::record::{Record, RecordKey, RecordState};
use crate::start_key::StartKey;
use crate::turn::Turn;

/// What a definition says of one start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruling {
    /// The key it computes, for a step that brings none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<String>,
    /// Why it cannot compute one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strategy: Option<IdempotencyStrategy>,
    /// Of what the run is to be started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fingerprint: Option<Digest>,
    /// Another payload under the same key is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refuses: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) gate: Option<Gate>,
}

/// A gate that turns away whoever comes beyond the limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gate {
    record: RecordKey,
    limit: usize,
    skips: bool,
}

/// What a closed gate makes of a start.
pub(crate) enum Turned {
    /// Nothing is begun, and that run is in the way.
    Skipped(ExecutionId),
    Refused(String),
}

/// How a payload compares with that of the run that exists under its key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payloads {
    Alike,
    Flagged,
    Refused,
}

/// A start as a step asks for it.
pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: Option<i32>,
    /// The definition, if it came with the step.
    pub(crate) own: Option<&'a WorkflowDef>,
    pub(crate) start: &'a Start,
    pub(crate) input: &'a Payload,
    /// The step brings a key, or has one of its own.
    pub(crate) is_keyed: bool,
}

impl Ruling {
    fn of(definition: &WorkflowDef, asked: &Asked<'_>) -> Self {
        let Asked { start, input, .. } = *asked;
        let said = definition.idempotency.as_ref().and_then(|policy| policy.strategy);
        let chosen = StartKey::chosen(definition, start, input, None, None);
        let (key, fault) = match chosen {
            Ok(key) => (key.map(|key| key.key), None),
            Err(fault) => (None, Some(fault.to_string())),
        };
        let is_keyed = asked.is_keyed || key.is_some();
        let compared = is_keyed.then(|| {
            let any = StartKey::new("", IdempotencyStrategy::Fail);
            any.comparing(definition, input, false)
        });
        let compared = compared.filter(|it| it.on_mismatch != OnPayloadMismatch::Ignore);
        let refuses = |it: &StartKey| it.on_mismatch == OnPayloadMismatch::Fail;
        Self {
            key,
            fault,
            strategy: said,
            refuses: compared.as_ref().is_some_and(refuses),
            fingerprint: compared.and_then(|it| it.fingerprint),
            gate: gate_of(definition, start, input),
        }
    }

    pub(crate) fn compare(&self, found: Option<Claim>) -> Payloads {
        let first = found.and_then(|found| found.fingerprint);
        match (first, self.fingerprint) {
            (Some(first), Some(own)) if first != own => match self.refuses {
                true => Payloads::Refused,
                false => Payloads::Flagged,
            },
            _ => Payloads::Alike,
        }
    }
}

impl Turn<'_> {
    /// What the definition says of the start of that run; nothing if it is not registered.
    pub(crate) fn ruling(&mut self, run: ExecutionId, asked: &Asked<'_>) -> Result<Ruling, Stop> {
        let registered = match asked.own {
            Some(_) => None,
            None => self.registered(asked.name, asked.version)?,
        };
        if let Some(said) = self.ruled(run) {
            return Ok(said);
        }
        let found = match asked.own {
            Some(own) => Some(Ruling::of(own, asked)),
            None => {
                let at_hand = registered.and_then(|found| self.at_hand(found.definition));
                at_hand.map(|pinned| Ruling::of(pinned.definition(), asked))
            }
        };
        Ok(found.map_or_else(Ruling::default, |found| self.note_ruling(run, found)))
    }

    /// A run that would be turned away at its gate is not begun. One that is begun takes its place,
    /// as far as this turn is concerned.
    pub(crate) fn turned_away(
        &mut self,
        run: ExecutionId,
        name: &str,
        gate: Option<Gate>,
        replaces: Option<ExecutionId>,
    ) -> Result<Option<Turned>, Stop> {
        let Some(Gate { record, limit, skips }) = gate else { return Ok(None) };
        let held = self.guard(&record)?;
        let mut held = held.unwrap_or_else(|| Record::new(RecordState::Claimed, self.now()));
        let holders = &mut held.detail.holders;
        holders.retain(|holder| Some(*holder) != replaces);
        match holders.first().copied() {
            Some(first) if holders.len() >= limit => {
                let refused = || {
                    format!(
                        "concurrency limit: {limit} of workflow {name} may be under way at \
                             once; in the way is {first}"
                    )
                };
                Ok(Some(if skips { Turned::Skipped(first) } else { Turned::Refused(refused()) }))
            }
            _ => {
                holders.push(run);
                self.guarded.insert(record, Some(held));
                Ok(None)
            }
        }
    }
}

/// Why a step does not get the run that exists.
pub(crate) fn mismatch(key: &str, existing: ExecutionId) -> String {
    format!("run {existing} exists under idempotencyKey {key} and was started with another payload")
}

fn gate_of(definition: &WorkflowDef, start: &Start, input: &Payload) -> Option<Gate> {
    let policy = effective_concurrency(definition)?;
    let skips = match policy.policy {
        ConcurrencyPolicy::Skip => true,
        ConcurrencyPolicy::Fail => false,
        ConcurrencyPolicy::Queue
        | ConcurrencyPolicy::CancelRunning
        | ConcurrencyPolicy::TerminateRunning
        | ConcurrencyPolicy::Coalesce => return None,
    };
    let key = counted_by(definition, start, input)?.ok()?;
    Some(Gate { record: gate_record(definition, key), limit: limit(&policy), skips })
}
