//! # Removals in a round: nothing of an execution is left
//!
//! Asked for by a person, or because its time is over. A run that is still live ends first, so that
//! neither parent nor children wait for it. A key is freed by a person; when only time has passed,
//! it stays taken for a while longer.

use semel_engine::{Event, Head, Record, RecordKey, Rejection};
use semel_model::Timestamp;

use crate::draft::{Draft, Hearing};
use crate::round::{Outcome, Round};
use crate::work::{Answer, Ended, Removal};
use crate::world::World;

/// How long a key outlives its run's retention.
const KEY_RETENTION_MS: i64 = 30 * 24 * 3_600 * 1_000;

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
        match self.erase(world, &head, &removal.actor, None) {
            Ok(()) => Outcome::Answer(Ok(Answer::Noted)),
            Err(outcome) => outcome,
        }
    }

    /// Removes runs that ended before `before`, each if that is still so.
    pub(crate) fn expire(&mut self, world: &World, runs: &[Ended], before: Timestamp) -> Outcome {
        let key_until = self.held.now.plus_ms(KEY_RETENTION_MS);
        for Ended { id, .. } in runs {
            let Ok(head) = self.head(*id) else { continue }; // Busy or gone: the next sweep will see.
            let is_over = head.status.is_terminal() && head.ended_at < before;
            if is_over && self.erase(world, &head, "semel", Some(key_until)).is_err() {
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

    /// `key_until`: how long the key stays taken; none frees it.
    fn erase(
        &mut self,
        world: &World,
        head: &Head,
        actor: &str,
        key_until: Option<Timestamp>,
    ) -> Result<(), Outcome> {
        let record = self.record_of(head)?;
        if !head.status.is_terminal() {
            self.end_for_removal(world, head, actor)?;
        }
        if let Some((key, record)) = record {
            let kept =
                key_until.map(|until| Record { live: false, expires_at: Some(until), ..record });
            self.writes.records.insert(key, kept);
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
        let held = self.held_record(&key)?.filter(|record| record.run == head.id);
        Ok(held.cloned().map(|record| (key, record)))
    }
}

/// The start key a run was begun with, if it was.
pub(crate) fn record_key(head: &Head) -> Option<RecordKey> {
    head.idempotency_key.as_deref().map(|key| RecordKey::start(&head.name, key))
}
