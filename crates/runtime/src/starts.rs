//! # Starts: a run is created once
//!
//! The key is judged on its held record, in the round that would create the run (contract 1), so a
//! crash leaves both or neither.

use std::sync::Arc;

use semel_engine::{
    Event, Execution, Facts, Pinned, Record, RecordKey, Standing, Start, StartKey, judge_start,
};
use semel_model::{ExecutionId, Payload};
use semel_store::Row;

use crate::failure::Failure;
use crate::round::{Layer, Outcome, Round};
use crate::work::Answer;
use crate::world::World;

#[derive(Clone)]
pub struct StartWork {
    /// Drawn by the caller; used only if this start creates the run.
    pub id: ExecutionId,
    pub definition: Arc<Pinned>,
    pub start: Start,
    pub input: Payload,
    pub key: Option<StartKey>,
    pub principal: String,
    pub event_id: String,
}

impl StartWork {
    pub fn record_key(&self) -> Option<RecordKey> {
        let name = &self.definition.definition().name;
        self.key.as_ref().map(|key| RecordKey::start(name, &key.key))
    }
}

impl Round {
    pub(crate) fn start(&mut self, world: &World, work: &StartWork) -> Outcome {
        let record = work.record_key();
        if let Some((key, wanted)) = record.as_ref().zip(work.key.as_ref()) {
            if self.held.skipped.contains(&Row::Record(key.clone())) {
                return Outcome::Defer;
            }
            let Some(held) = self.record(key) else { return Outcome::Again };
            match judge_start(held, wanted.strategy) {
                Standing::Create => {}
                Standing::Existing(id) => {
                    return Outcome::Answer(Ok(Answer::Started { id, created: false }));
                }
                Standing::Conflict(existing) => {
                    let key = key.clone();
                    return Outcome::Answer(Err(Failure::Conflict { existing, key }));
                }
            }
        }
        self.create(world, work, record)
    }

    fn create(&mut self, world: &World, work: &StartWork, record: Option<RecordKey>) -> Outcome {
        let mut execution = Execution::unborn(work.id, Arc::clone(&work.definition));
        let event = Event::Started(work.start.clone());
        let facts = Facts { now: self.held.now, ..Facts::default() };
        let payloads = std::slice::from_ref(&work.input);
        let decision = match self.decide(&mut execution, &event, payloads, &facts) {
            Ok(decision) => decision,
            Err(outcome) => return outcome,
        };
        let mut layer = Layer::new(execution, &work.principal, &work.event_id);
        layer.write(event, decision, &work.principal);
        if let Some(key) = record {
            let record = Record {
                run: work.id,
                live: layer.execution.is_live(),
                version: work.definition.definition().version,
                created_at: self.held.now,
                expires_at: None,
            };
            layer.records.insert(key, Some(record));
        }
        self.writes
            .pinned
            .entry(work.definition.digest())
            .or_insert_with(|| work.definition.text());
        world.definitions.know(&work.definition);
        self.merge(world, layer);
        Outcome::Answer(Ok(Answer::Started { id: work.id, created: true }))
    }
}
