//! # Guards: records that a run claims, settles or waits for
//!
//! Effects, locks and gates differ in what they mean; what they do to their record is the same. It
//! is judged on the held row, and written with the decision. Whoever finds it taken waits in line:
//! a message to itself that the record holds back.

use semel_model::{Payload, TaskId};

use crate::change::Change;
use crate::decide::Stop;
use crate::lock::LOCK_SCOPE;
use crate::once::is_effect;
use crate::record::{Detail, Record, RecordKey, RecordState};
use crate::turn::Turn;

impl Turn<'_> {
    /// The record is now so; none: there is none.
    pub(crate) fn put_guard(&mut self, key: &RecordKey, record: Option<Record>) {
        let result = record.as_ref().and_then(|record| record.detail.result.clone());
        let result: Option<Payload> = result;
        let result = result.map(|result| self.store(result));
        // Whoever looks again sees what a decision may see: nothing is noted twice.
        self.guarded.insert(key.clone(), record.as_ref().map(Record::fact));
        let record = record.map(|mut record| {
            record.detail.result = None; // It is among the payloads.
            Box::new(record)
        });
        let RecordKey { scope, key } = key.clone();
        self.emit(Change::Guarded { scope, key, record, result });
    }

    /// Waits in line for a record there is; when it is this one's turn, it becomes what `claim` says.
    pub(crate) fn await_guard(
        &mut self,
        task: Option<TaskId>,
        key: &RecordKey,
        claim: Record,
    ) -> Result<(), Stop> {
        if let Some(mut record) = self.guard(key)? {
            record.detail.line += 1;
            self.guarded.insert(key.clone(), Some(record));
        }
        let RecordKey { scope, key } = key.clone();
        self.emit(Change::Awaits { task, scope, key, claim: Box::new(claim) });
        Ok(())
    }

    /// It is this run's turn, or the record is decided. Nobody who no longer wants it keeps it.
    pub(crate) fn take_turn(
        &mut self,
        task: Option<TaskId>,
        key: &RecordKey,
        claim: &Record,
    ) -> Result<(), Stop> {
        if is_effect(key) {
            return self.take_effect_turn(task, key, claim);
        }
        let Some(task) = task else { return self.take_place(key) };
        if key.scope == LOCK_SCOPE && self.take_lock(task, key)? {
            return Ok(());
        }
        let id = self.execution().id();
        let Some(record) = self.guard(key)? else { return Ok(()) };
        if record.state == RecordState::Claimed && record.run == Some(id) {
            self.release_guard(key, record)?;
        }
        Ok(())
    }

    /// Gives a record up that this run has claimed.
    pub(crate) fn release_guard(&mut self, key: &RecordKey, record: Record) -> Result<(), Stop> {
        let mut record = Record { state: RecordState::Released, run: None, ..record };
        let id = self.execution().id();
        record.detail.holders.retain(|holder| *holder != id);
        record.detail.owner = None;
        record.detail.decided_at = Some(self.now());
        self.put_guard(key, Some(record));
        self.let_go(key, false)
    }

    /// Lets go whoever waits: all of them, or the oldest, whose the record is then.
    pub(crate) fn let_go(&mut self, key: &RecordKey, all: bool) -> Result<(), Stop> {
        let Some(record) = self.guard(key)?.filter(|record| record.detail.line > 0) else {
            return Ok(());
        };
        if !all {
            // Whose it is now is not known here; whoever asks in this turn finds it taken.
            let taken = Record::new(RecordState::Claimed, record.created_at);
            let line = record.detail.line - 1;
            let detail = Detail { line, holders: record.detail.holders, ..taken.detail };
            self.guarded.insert(key.clone(), Some(Record { detail, ..taken }));
        }
        let RecordKey { scope, key } = key.clone();
        self.emit(Change::LetGo { scope, key, all });
        Ok(())
    }
}
