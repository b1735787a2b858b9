//! # Lives of keyed runs: the record says which run is the latest, and how it fares
//!
//! Written in the commit that begins, ends or revives the run, so that whoever starts under the same
//! key is judged on the record alone.

use semel_engine::{Decided, Event, Execution, Record, RecordKey, RecordState, fingerprint, shown};
use semel_model::{Digest, ExecutionId};

use crate::draft::{Draft, Hearing};
use crate::failure::Failure;
use crate::round::{Layer, Outcome, Round, Want};
use crate::starts::StartWork;
use crate::world::World;

/// What is known of the request that begins a run.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) fingerprint: Option<Digest>,
    pub(crate) request: Option<String>,
}

impl Round {
    pub(crate) fn kept<'a>(&self, record: Option<&'a Record>) -> Option<&'a Record> {
        record.and_then(|record| record.kept_at(self.held.now))
    }

    /// The record under a start key, as a start is judged on it. That of a start which was given
    /// another's run fares as that run does.
    pub(crate) fn start_record(
        &self,
        draft: &Draft,
        key: &RecordKey,
    ) -> Result<Option<Record>, Outcome> {
        let Some(record) = self.kept(self.record_in(draft, key)?) else { return Ok(None) };
        let Some(run) = record.run.filter(|_| record.detail.given) else {
            return Ok(Some(record.clone()));
        };
        let drafted = draft.layers.iter().rev().find(|layer| layer.execution.id() == run);
        let status = match drafted {
            Some(layer) => layer.execution.status(),
            None if !self.knows_head(run) => return Err(Outcome::Again(Want::Head(run))),
            None => match self.head(run) {
                Ok(head) => Some(head.status),
                Err(Outcome::Answer(Err(Failure::NoExecution(_)))) => None,
                Err(outcome) => return Err(outcome),
            },
        };
        Ok(Some(record.faring(status)))
    }

    /// A start that was answered with another's run has a record too: asked again, it is told the
    /// same and changes nothing.
    pub(crate) fn note_given(&mut self, work: &StartWork, run: ExecutionId, outcome: &str) {
        let Some((key, wanted)) = work.record_key().zip(work.key.as_ref()) else { return };
        let Ok(held) = self.held_record(&key) else { return };
        let definition = work.definition.definition();
        let mut record = Record::new(RecordState::Completed, self.held.now);
        record.run = Some(run);
        record.version = definition.version;
        record.detail.given = true;
        record.detail.fingerprint = wanted.fingerprint;
        record.detail.request.clone_from(&wanted.request);
        record.detail.owner = Some(work.principal.clone());
        let policy = definition.idempotency.as_ref();
        record.detail.retention_seconds = policy.and_then(|policy| policy.retention_seconds);
        record.expires_at = Some(record.kept_until(self.held.now));
        if let Some(before) = held {
            record.detail.follow(before, run);
        }
        let (at, by, outcome) = (self.held.now, work.principal.clone(), outcome.to_owned());
        record.note(Decided { at, by, outcome, mismatch: false });
        self.writes.records.insert(key, Some(record));
    }

    /// A keyed run that begins, ends or lives again says so in its record. It may not live again
    /// while a newer run under its key does.
    pub(crate) fn note_life(
        &self,
        draft: &Draft,
        before: &Execution,
        revived: bool,
        layer: &mut Layer,
    ) -> Result<(), Outcome> {
        let after = &layer.execution;
        let begins = before.status().is_none();
        let turns = begins || revived || before.is_live() != after.is_live();
        let Some(key) = after.idempotency_key().filter(|_| turns) else { return Ok(()) };
        let key = RecordKey::start(&after.definition().definition().name, key);
        let held = self.record_in(draft, &key)?;
        let own = held.filter(|record| record.run == Some(after.id()));
        let lives = begins || revived || after.is_live();
        if lives
            && own.is_none()
            && let Some(existing) = held.filter(|record| record.live).and_then(|record| record.run)
        {
            return Err(Outcome::Answer(Err(Failure::Conflict { existing, key })));
        }
        if lives || own.is_some() {
            let mut record = match own {
                Some(own) => own.clone(),
                None => self.successor(held, draft, layer, begins),
            };
            let status = after.status().filter(|status| status.is_terminal());
            record.live = after.is_live();
            record.expires_at = None;
            record.detail.ended = status;
            layer.records.insert(key, Some(record));
        } else if let Some(left) = held.filter(|it| it.run.is_none() && it.expires_at.is_none()) {
            // The key was reset while this run was live: nobody needs its record any longer.
            let expires_at =
                Some(self.held.now.plus_ms(semel_engine::KEY_RETENTION_SECONDS * 1000));
            layer.records.insert(key, Some(Record { expires_at, ..left.clone() }));
        }
        Ok(())
    }

    /// The record of a run that is now the latest under its key; who was before is remembered.
    fn successor(
        &self,
        held: Option<&Record>,
        draft: &Draft,
        layer: &Layer,
        begins: bool,
    ) -> Record {
        let run = &layer.execution;
        let definition = run.definition().definition();
        let mut record = Record::new(RecordState::Completed, self.held.now);
        record.run = Some(run.id());
        record.version = definition.version;
        let detail = &mut record.detail;
        if let Some(before) = held {
            detail.follow(before, run.id());
        }
        let policy = definition.idempotency.as_ref();
        detail.retention_seconds = policy.and_then(|policy| policy.retention_seconds);
        detail.owner = Some(layer.principal().to_owned());
        let origin = draft.origins.get(&run.id());
        detail.request = origin.and_then(|origin| origin.request.clone());
        let known = origin.and_then(|origin| origin.fingerprint);
        detail.fingerprint =
            Some(known.unwrap_or_else(|| fingerprint(definition, &shown(run.input()))));
        let outcome = if begins { "CREATED" } else { "REVIVED" }.to_owned();
        let (at, by) = (self.held.now, layer.principal().to_owned());
        record.note(Decided { at, by, outcome, mismatch: false });
        record
    }

    /// Ends the run that another one takes the place of, in the same draft.
    pub(crate) fn end_replaced(
        &self,
        world: &World,
        draft: &mut Draft,
        old: ExecutionId,
        new: ExecutionId,
        actor: &str,
    ) -> Result<(), Outcome> {
        let (principal, execution) = self.replaced(world, draft, old)?;
        if !execution.is_live() {
            return Ok(());
        }
        let reason = Some(format!("Replaced by run {new} under the same idempotency key"));
        let hearing = Hearing {
            event: &Event::Terminated { reason, compensate: false },
            payloads: &[],
            definition: None,
            actor,
            event_id: "",
            principal: &principal,
            epoch: None,
            wants: None,
        };
        self.hear(world, draft, &execution, &hearing)?;
        Ok(())
    }

    /// As the draft has it, else as the round has. Which run it is was read from the held record; it
    /// may have to be held first.
    fn replaced(
        &self,
        world: &World,
        draft: &Draft,
        id: ExecutionId,
    ) -> Result<(String, Execution), Outcome> {
        let drafted = draft.layers.iter().rev().find(|layer| layer.execution.id() == id);
        if let Some(layer) = drafted {
            return Ok((layer.principal().to_owned(), layer.execution.clone()));
        }
        if !self.knows_head(id) {
            return Err(Outcome::Again(Want::Head(id)));
        }
        let (head, execution) = self.execution(world, id)?;
        Ok((head.principal, (*execution).clone()))
    }
}
