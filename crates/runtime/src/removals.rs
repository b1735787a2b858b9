//! # Removals in a round: nothing of an execution is left
//!
//! Asked for by a person, or because its time is over. A run that is still live ends first, so that
//! neither parent nor children wait for it. A key is freed by a person, unless the operator wants
//! keys to outlive that; when only time has passed, it stays taken for a while longer.

use semel_engine::{Decided, Event, Head, RING_MAX, Record, RecordKey, RecordState, Rejection};
use semel_model::Timestamp;

use crate::draft::{Draft, Hearing};
use crate::lives::KEY_RETENTION_SECONDS;
use crate::round::{Outcome, Round};
use crate::work::{Answer, Ended, Removal};
use crate::world::World;

/// What becomes of the key of a run that is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    Freed,
    Kept,
}

impl Round {
    pub(crate) fn remove(&mut self, world: &World, removal: &Removal) -> Outcome {
        let id = removal.id;
        let head = match self.head(id) {
            Ok(head) => head,
            Err(outcome) => return outcome,
        };
        if removal.only_closed && !head.status.is_terminal() {
            let message = format!(
                "workflow {id} is {} and cannot be archived: terminate it first, or remove it with \
                 archiveWorkflow=false",
                head.status
            );
            return Outcome::Answer(Err(Rejection::Invalid(message).into()));
        }
        let key = if removal.keeps_key { Key::Kept } else { Key::Freed };
        match self.erase(world, &head, &removal.actor, key) {
            Ok(()) => Outcome::Answer(Ok(Answer::Noted)),
            Err(outcome) => outcome,
        }
    }

    /// Removes runs that ended before `before`, each if that is still so.
    pub(crate) fn expire(&mut self, world: &World, runs: &[Ended], before: Timestamp) -> Outcome {
        for Ended { id, .. } in runs {
            let Ok(head) = self.head(*id) else { continue }; // Busy or gone: the next sweep will see.
            let is_over = head.status.is_terminal() && head.ended_at < before;
            if is_over && self.erase(world, &head, "semel", Key::Kept).is_err() {
                tracing::debug!(execution = %id, "left for the next sweep");
            }
        }
        Outcome::Answer(Ok(Answer::Noted))
    }

    /// Frees keys whose time is over.
    pub(crate) fn forget(&mut self, keys: &[RecordKey]) -> Outcome {
        for key in keys {
            let expired =
                |record: &&Record| record.expires_at.is_some_and(|at| at <= self.held.now);
            if self.held_record(key).is_ok_and(|held| held.filter(expired).is_some()) {
                self.writes.records.insert(key.clone(), None);
            }
        }
        Outcome::Answer(Ok(Answer::Noted))
    }

    /// A person frees a key: the next start under it makes a run. What it said stays to be read.
    pub(crate) fn reset(&mut self, key: &RecordKey, by: &str) -> Outcome {
        let held = match self.held_record(key) {
            Ok(held) => held.cloned(),
            Err(outcome) => return outcome,
        };
        let Some(mut record) = held else { return Outcome::Answer(Ok(Answer::NotHeld)) };
        let Some(run) = record.run.take() else { return Outcome::Answer(Ok(Answer::Noted)) };
        // While the run lives, that it once had the key must be known.
        let until = self.held.now.plus_ms(KEY_RETENTION_SECONDS * 1000);
        record.expires_at = (!record.live).then_some(until);
        record.state = RecordState::Released;
        record.live = false;
        record.detail.ended = None;
        record.detail.request = None;
        record.detail.fingerprint = None;
        record.detail.earlier.insert(0, run);
        record.detail.earlier.truncate(RING_MAX);
        let (at, by, outcome) = (self.held.now, by.to_owned(), "RESET".to_owned());
        record.note(Decided { at, by, outcome, mismatch: false });
        self.writes.records.insert(key.clone(), Some(record));
        Outcome::Answer(Ok(Answer::Noted))
    }

    fn erase(&mut self, world: &World, head: &Head, actor: &str, key: Key) -> Result<(), Outcome> {
        let record = self.record_of(head)?;
        if !head.status.is_terminal() {
            self.end_for_removal(world, head, actor)?;
        }
        if let Some((at, record)) = record {
            let seconds = record.detail.retention_seconds.unwrap_or(KEY_RETENTION_SECONDS);
            let until = self.held.now.plus_ms(seconds.saturating_mul(1000));
            let kept = Record { live: false, expires_at: Some(until), ..record };
            self.writes.records.insert(at, (key == Key::Kept).then_some(kept));
        }
        self.executions.remove(&head.id);
        self.writes.removed.insert(head.id);
        Ok(())
    }

    /// Parent, children and watchers of a live run hear of its end.
    fn end_for_removal(&mut self, world: &World, head: &Head, actor: &str) -> Result<(), Outcome> {
        let (_, execution) = self.execution(world, head.id)?;
        let mut draft = Draft::default();
        let hearing = Hearing {
            event: &Event::Removed,
            payloads: &[],
            definition: None,
            actor,
            event_id: "",
            principal: &head.principal,
            epoch: None,
            wants: None,
        };
        self.hear(world, &mut draft, &execution, &hearing)?;
        self.merge_all(world, draft);
        Ok(())
    }

    /// The record that names this run as the latest under its key.
    fn record_of(&self, head: &Head) -> Result<Option<(RecordKey, Record)>, Outcome> {
        let Some(key) = record_key(head) else { return Ok(None) };
        let held = self.held_record(&key)?.filter(|record| record.run == Some(head.id));
        Ok(held.cloned().map(|record| (key, record)))
    }
}

/// The start key a run was begun with, if it was.
pub(crate) fn record_key(head: &Head) -> Option<RecordKey> {
    head.idempotency_key.as_deref().map(|key| RecordKey::start(&head.name, key))
}
