//! # Starts: a run is created once
//!
//! Contract: docs/reference/idempotency.md#start-keys.
//! The key is judged on its held record, in the round that would create the run, so a
//! crash leaves both or neither. A start that would change nothing needs no round: what is committed
//! under its key is its answer.

use std::sync::Arc;

use semel_engine::{
    Decided, Event, Execution, Pinned, Record, RecordKey, Rejection, Standing, Start, StartKey,
    judge_start,
};
use semel_model::{
    ExecutionId, IdempotencyStrategy, OnPayloadMismatch, Payload, Timestamp, WorkflowStatus,
};
use serde::{Deserialize, Serialize};

use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::lives::Origin;
use crate::round::{Outcome, Round};
use crate::work::Answer;
use crate::world::World;

#[derive(Clone)]
pub struct StartWork {
    /// Drawn by the caller; used only if this start creates the run.
    pub id: ExecutionId,
    pub definition: Arc<Pinned>,
    /// The generation in which the definition was found by its name.
    pub found_in: Option<u64>,
    pub start: Start,
    pub input: Payload,
    pub key: Option<StartKey>,
    pub principal: String,
    pub event_id: String,
}

/// The run under a key, as whoever asked for the key found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    pub run: ExecutionId,
    pub live: bool,
    /// How it ended, if it is over and that was noted.
    pub ended: Option<WorkflowStatus>,
    pub version: i32,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// It was started with something else than is given now.
    pub mismatch: bool,
}

/// A start that its key does not allow.
#[derive(Clone, Debug)]
pub struct Refused {
    pub why: Why,
    pub key: RecordKey,
    pub strategy: IdempotencyStrategy,
    pub found: Found,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The strategy says no.
    Conflict,
    /// The payload is another.
    Mismatch,
    /// The run is asked for, and is no longer kept.
    Gone,
}

impl Refused {
    pub fn told(&self) -> String {
        let (key, run, strategy) = (&self.key.key, self.found.run, self.strategy);
        match self.why {
            Why::Conflict => {
                let other = if self.found.mismatch { "; it has another payload" } else { "" };
                format!("a run exists under idempotency key {key}: {run} ({strategy}){other}")
            }
            Why::Mismatch => format!(
                "run {run} was started under idempotency key {key} with another payload: send the \
                 same again, or use another key"
            ),
            Why::Gone => format!(
                "run {run} under idempotency key {key} is no longer kept, and {strategy} asks for it"
            ),
        }
    }
}

impl StartWork {
    pub fn record_key(&self) -> Option<RecordKey> {
        let name = &self.definition.definition().name;
        self.key.as_ref().map(|key| RecordKey::start(name, &key.key))
    }
}

enum Verdict {
    /// Begin it; that run under the key ends first.
    Begin(Option<ExecutionId>),
    Decided(Box<Result<Answer, Failure>>, Decided),
}

/// What becomes of a start, given the record under its key.
fn verdict(
    record: Option<&Record>,
    work: &StartWork,
    wanted: &StartKey,
    now: Timestamp,
) -> Verdict {
    let Some((record, run)) = record.and_then(|record| Some((record, record.run?))) else {
        return Verdict::Begin(None);
    };
    let is_creator = wanted.request.is_some()
        && wanted.request == record.detail.request
        && record.detail.owner.as_ref() == Some(&work.principal);
    // Whoever made the run and asks once more is told what it would have been told.
    let strategy = if is_creator { IdempotencyStrategy::ReturnExisting } else { wanted.strategy };
    let standing = judge_start(record.claim(), strategy);
    let differs = record
        .detail
        .fingerprint
        .is_some_and(|it| wanted.fingerprint.is_some_and(|mine| mine != it));
    let mismatch = differs && wanted.on_mismatch != OnPayloadMismatch::Ignore;
    let why = match standing {
        Standing::Create => return Verdict::Begin(None),
        Standing::Replace(run) => return Verdict::Begin(Some(run)),
        _ if mismatch && wanted.on_mismatch == OnPayloadMismatch::Fail => Some(Why::Mismatch),
        Standing::Existing(_) => None,
        Standing::Conflict(_) => Some(Why::Conflict),
        Standing::Gone(_) => Some(Why::Gone),
    };
    let found = Found {
        run,
        live: record.live,
        ended: record.detail.ended,
        version: record.version,
        created_at: record.created_at,
        expires_at: record.expires_at,
        mismatch,
    };
    let outcome = if why.is_some() { "REJECTED" } else { "RETURNED_EXISTING" }.to_owned();
    let decided = Decided { at: now, by: work.principal.clone(), outcome, mismatch };
    let answer = match why {
        None => Ok(Answer::Started { id: run, created: false, found: Some(Box::new(found)) }),
        Some(why) => {
            let key = RecordKey::start(&work.definition.definition().name, &wanted.key);
            let refused = Refused { why, key, strategy: wanted.strategy, found };
            Err(Failure::Refused(Box::new(refused)))
        }
    };
    Verdict::Decided(Box::new(answer), decided)
}

impl World {
    /// The answer to a start that its key decides, if the store has the record at hand: the read is
    /// the moment at which it was so. Whatever would write is left to a round.
    pub(crate) fn known_start(
        &self,
        work: &StartWork,
    ) -> Result<Option<Result<Answer, Failure>>, Failure> {
        let Some((key, wanted)) = work.record_key().zip(work.key.as_ref()) else {
            return Ok(None);
        };
        let now = self.store.now();
        let Some(record) = self.store.record_at_hand(&key)? else { return Ok(None) };
        if record.detail.given {
            return Ok(None); // How its run fares is known to a round.
        }
        match verdict(record.kept_at(now), work, wanted, now) {
            Verdict::Begin(_) => Ok(None),
            Verdict::Decided(answer, decided) => {
                self.hits.note(&key, decided);
                self.meters.started(&work.definition.definition().name, &answer);
                Ok(Some(*answer))
            }
        }
    }
}

impl Round {
    pub(crate) fn start(&mut self, world: &World, work: &StartWork) -> Outcome {
        let mut replaces = None;
        if let Some((key, wanted)) = work.record_key().as_ref().zip(work.key.as_ref()) {
            let held = match self.start_record(&Draft::default(), key) {
                Ok(held) => held,
                Err(outcome) => return outcome,
            };
            match verdict(held.as_ref(), work, wanted, self.held.now) {
                Verdict::Begin(old) => replaces = old,
                Verdict::Decided(answer, decided) => {
                    self.hit(key, decided);
                    return Outcome::Answer(*answer);
                }
            }
        }
        match work.found_in.map_or(Ok(true), |found| world.definitions.is_current(found)) {
            Ok(true) => {}
            Ok(false) => return Outcome::Answer(Err(Failure::Outdated)),
            Err(failure) => return Outcome::Answer(Err(failure)),
        }
        match self.create(world, work, replaces) {
            Ok(()) => {
                Outcome::Answer(Ok(Answer::Started { id: work.id, created: true, found: None }))
            }
            Err(Outcome::Answer(Err(Failure::Rejected(Rejection::Limited(limited))))) => {
                self.beyond_limit(world, work, replaces, &limited)
            }
            Err(outcome) => outcome,
        }
    }

    fn create(
        &mut self,
        world: &World,
        work: &StartWork,
        replaces: Option<ExecutionId>,
    ) -> Result<(), Outcome> {
        let mut draft = Draft::default();
        self.create_in(world, &mut draft, work, replaces)?;
        self.merge_all(world, draft);
        Ok(())
    }

    pub(crate) fn create_in(
        &self,
        world: &World,
        draft: &mut Draft,
        work: &StartWork,
        replaces: Option<ExecutionId>,
    ) -> Result<(), Outcome> {
        if let Some(key) = &work.key {
            let (fingerprint, request) = (key.fingerprint, key.request.clone());
            draft.origins.insert(work.id, Origin { fingerprint, request });
        }
        if let Some(old) = replaces {
            self.end_replaced(world, draft, old, work.id, &work.principal)?;
        }
        let unborn = Execution::unborn(work.id, Arc::clone(&work.definition));
        let event = Event::Started(Start { replaces, ..work.start.clone() });
        let hearing = Hearing {
            event: &event,
            payloads: std::slice::from_ref(&work.input),
            definition: Some(&work.definition),
            actor: &work.principal,
            event_id: &work.event_id,
            principal: &work.principal,
            epoch: None,
            wants: None,
        };
        self.hear(world, draft, &unborn, &hearing)?;
        self.deliver_births(world, draft)
    }
}
