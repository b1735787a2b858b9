//! # Starts: a run is created once
//!
//! The key is judged on its held record, in the round that would create the run (contract 1), so a
//! crash leaves both or neither.

use std::sync::Arc;

use semel_engine::{
    Event, Execution, Pinned, Record, RecordKey, Standing, Start, StartKey, judge_start,
};
use semel_model::{ExecutionId, Payload};

use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Outcome, Round};
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
        if let Some((key, wanted)) = work.record_key().as_ref().zip(work.key.as_ref()) {
            let held = match self.held_record(key) {
                Ok(held) => held,
                Err(outcome) => return outcome,
            };
            match judge_start(held.map(Record::claim), wanted.strategy) {
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
        match self.create(world, work) {
            Ok(()) => Outcome::Answer(Ok(Answer::Started { id: work.id, created: true })),
            Err(outcome) => outcome,
        }
    }

    fn create(&mut self, world: &World, work: &StartWork) -> Result<(), Outcome> {
        let unborn = Execution::unborn(work.id, Arc::clone(&work.definition));
        let event = Event::Started(work.start.clone());
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
        let mut draft = Draft::default();
        self.hear(world, &mut draft, &unborn, &hearing)?;
        self.deliver_births(world, &mut draft)?;
        self.merge_all(world, draft);
        Ok(())
    }
}
