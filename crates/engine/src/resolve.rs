//! # Resolving: a person says whether an effect has happened
//!
//! The record and the task that waits are settled in one commit. The first answer stands: the same
//! one again changes nothing, another one is refused.

use std::sync::Arc;

use semel_model::{Digest, Payload, Timestamp};

use crate::change::Change;
use crate::decide::{Rejection, Stop};
use crate::event::Resolution;
use crate::once::{EffectStatus, Named, kept_until};
use crate::record::{Decided, Record, RecordKey, RecordState, Resolved};
use crate::replay::told;
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn resolve_effect(&mut self, said: &Resolution) -> Result<(), Stop> {
        self.expect_object("output", said.output)?;
        let key = RecordKey { scope: said.scope.clone(), key: said.key.clone() };
        let missing = || Rejection::NotFound(format!("there is no effect {}", told(&key)));
        let mut record = self.guard(&key)?.ok_or_else(missing)?;
        let output = self.payload(said.output).clone();
        let (by, note) = (said.by.clone(), said.note.clone());
        let answer = Resolved::new(said.applied, &output, by, note, self.now());
        if record.state != RecordState::Unknown {
            return Ok(was_answered(&record, &answer, &key)?);
        }
        if record.run != Some(self.execution().id()) {
            let message = format!("effect {} belongs to another workflow: ask again", told(&key));
            return Err(Rejection::WrongState(message).into());
        }
        let is_held = |task: &&Arc<Task>| {
            let once = task.once.as_ref().filter(|once| once.record() == key);
            task.is_in_doubt() && once.is_some_and(|once| once.owner.is_none())
        };
        let held = self.execution().open_tasks().find(is_held).cloned();
        let by = answer.told_by();
        record.detail.resolved = Some(answer);
        record.detail.decided_at = Some(self.now());
        let (at, outcome, mismatch) = (self.now(), "RESOLVED".to_owned(), false);
        record.note(Decided { at, by, outcome, mismatch });
        match held {
            Some(task) => self.resolve_held(&task, &key, record, said.applied, output),
            None => self.resolve_record(&key, record, said.applied, output),
        }
    }

    /// The task that waited ends with that output, or is offered again.
    fn resolve_held(
        &mut self,
        task: &Arc<Task>,
        key: &RecordKey,
        record: Record,
        applied: bool,
        output: Payload,
    ) -> Result<(), Stop> {
        self.cancel_probe(task)?;
        let step = task.step.clone();
        let policy = step.effect().unwrap_or_default();
        let named = self.named_effect(task, &policy).map_err(Rejection::Invalid)?;
        if applied {
            self.store_resolved(key, record, output.clone(), kept_until(&policy, self.now()));
            self.let_go(key, true)?;
            self.end_applied(task, &named, true, output);
            return Ok(());
        }
        self.offer_again(task, &named, record);
        Ok(())
    }

    /// A person says that it has not happened, so it is tried once more: whatever was tried before
    /// does not count.
    fn offer_again(&mut self, task: &Task, named: &Named, record: Record) {
        let mut record = Record { state: RecordState::Claimed, ..record };
        record.detail.fence = self.fence();
        self.put_guard(&named.record, Some(record));
        // The engine has not begun its own tasks that are held: they begin when they are due.
        if !task.system {
            let input = self.store(task.input.clone());
            self.emit(Change::TaskReset { task: task.id, attempt: task.attempt, input });
        }
        self.note_effect(task.id, named, EffectStatus::Claimed, None);
    }

    /// Nobody waits who had it last.
    fn resolve_record(
        &mut self,
        key: &RecordKey,
        mut record: Record,
        applied: bool,
        output: Payload,
    ) -> Result<(), Stop> {
        let last = record.detail.task.and_then(|task| self.task(task));
        let step = last.map(|task| task.step.clone());
        let policy = step.as_ref().and_then(|step| step.effect()).unwrap_or_default();
        let until = kept_until(&policy, self.now());
        if applied {
            self.store_resolved(key, record, output, until);
            return self.let_go(key, true);
        }
        record.expires_at = Some(until);
        self.release_guard(key, record)
    }

    fn store_resolved(
        &mut self,
        key: &RecordKey,
        record: Record,
        output: Payload,
        until: Timestamp,
    ) {
        let (state, expires_at) = (RecordState::Completed, Some(until));
        let mut record = Record { state, expires_at, ..record };
        record.detail.result = Some(output);
        self.put_guard(key, Some(record));
    }
}

/// Nobody is in doubt: the same answer was given before, or it comes too late.
fn was_answered(record: &Record, answer: &Resolved, key: &RecordKey) -> Result<(), Rejection> {
    if answer.was_given(record) {
        return Ok(());
    }
    Err(Rejection::Decided(too_late(record, key)))
}

/// Why nobody asks any more.
pub fn too_late(record: &Record, key: &RecordKey) -> String {
    let decided = match &record.detail.resolved {
        Some(first) => {
            let said = if first.applied { "has happened" } else { "has not happened" };
            format!("{} has said that it {said}", first.by)
        }
        None => format!("it is {}", record.state.as_str()),
    };
    format!("effect {} is not in doubt: {decided}", told(key))
}

impl Resolved {
    pub fn new(
        applied: bool,
        output: &Payload,
        by: String,
        note: Option<String>,
        at: Timestamp,
    ) -> Self {
        let output = Digest::of(output.canonical().as_bytes());
        Self { at, by, note, applied, output }
    }

    /// Whoever says it, with the note.
    pub(crate) fn told_by(&self) -> String {
        match &self.note {
            Some(note) => format!("{}: {note}", self.by),
            None => self.by.clone(),
        }
    }

    /// What the record says already is the same.
    pub(crate) fn was_given(&self, record: &Record) -> bool {
        if let Some(first) = &record.detail.resolved {
            return (first.applied, first.output) == (self.applied, self.output);
        }
        let digest = |result: &Payload| Digest::of(result.canonical().as_bytes());
        let result = record.detail.result.as_ref().map(digest);
        match record.state {
            RecordState::Completed => self.applied && result == Some(self.output),
            RecordState::Released => !self.applied,
            RecordState::Claimed | RecordState::Failed | RecordState::Unknown => false,
        }
    }
}
