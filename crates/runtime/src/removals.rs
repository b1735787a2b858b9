//! # Removals in a round: nothing of an execution is left
//!
//! Asked for by a person, or because its time is over. A run that is still live ends first, so that
//! neither parent nor children wait for it. A key is freed by a person, unless the operator wants
//! keys to outlive that; when only time has passed, it stays taken for a while longer.

use semel_engine::{
    Decided, Event, Head, KEY_RETENTION_SECONDS, RING_MAX, Record, RecordKey, RecordState,
};
use semel_model::Timestamp;

use crate::draft::{Draft, Hearing};
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
        let head = match self.head(removal.id) {
            Ok(head) => head,
            Err(outcome) => return outcome,
        };
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
    pub(crate) fn forget(&mut self, world: &World, keys: &[RecordKey]) -> Outcome {
        let now = self.held.now;
        for key in keys {
            let Ok(Some(record)) = self.held_record(key) else { continue };
            if record.expires_at.is_none_or(|at| at > now) {
                continue;
            }
            let left = record.detail.given.then(|| looked_after(world, record, now));
            self.writes.records.insert(key.clone(), left);
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
        record.detail.given = false;
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
            let until = record.kept_until(self.held.now);
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

/// The key of a start that was given another's run stays taken as long as that run is kept, and after
/// that for as long as the key of a removed run.
fn looked_after(world: &World, record: &Record, now: Timestamp) -> Record {
    let found = record.run.map(|run| world.store.head(run));
    let is_gone = matches!(found, None | Some(Ok(None)));
    let mut left = Record { expires_at: Some(record.kept_until(now)), ..record.clone() };
    left.detail.given = !is_gone;
    left
}

/// The start key a run was begun with, if it was.
pub(crate) fn record_key(head: &Head) -> Option<RecordKey> {
    head.idempotency_key.as_deref().map(|key| RecordKey::start(&head.name, key))
}
