//! # Records that a family shares: claimed, decided, waited for
//!
//! Does what the runtime does with the changes that speak of records: the row is written in the
//! commit, whoever waits is a letter that the record holds back, and letting go is part of the
//! commit that settles it.

use std::sync::Arc;

use semel_engine::{
    Change, Entry, Letter, Message, MessageKey, Record, RecordKey, RecordState, effect_record,
};
use semel_model::ExecutionId;

use crate::family::Family;

/// Marks the key of a letter to itself.
const WAITING: u32 = 1 << 30;

impl Family {
    pub(crate) fn carry_guards(&mut self, from: ExecutionId, entry: &Entry) {
        let seq = self.execution(from).link().seq;
        for (at, change) in entry.changes.iter().enumerate() {
            match change {
                Change::Guarded { scope, key, record, result } => {
                    let key = RecordKey { scope: scope.clone(), key: key.clone() };
                    let result = result.map(|slot| entry.payloads[slot.0 as usize].clone());
                    let record = record.as_deref().cloned().map(|mut record| {
                        record.detail.result = result;
                        record
                    });
                    self.write_guard(key, record);
                }
                Change::Awaits { task, scope, key, claim } => {
                    let on = RecordKey { scope: scope.clone(), key: key.clone() };
                    let (task, scope, key) = (*task, scope.clone(), key.clone());
                    let message = Message::YourTurn { task, scope, key, claim: claim.clone() };
                    let at = WAITING | u32::try_from(at).expect("few changes");
                    let name = MessageKey { from, seq, at };
                    self.count(&on, 1);
                    self.line.push((on, name, from, Letter::of(&message, &[])));
                }
                Change::LetGo { scope, key, all } => {
                    let key = RecordKey { scope: scope.clone(), key: key.clone() };
                    self.let_go(&key, *all);
                }
                _ => {}
            }
        }
    }

    fn write_guard(&mut self, key: RecordKey, record: Option<Record>) {
        let guards = &mut Arc::make_mut(&mut self.shelf).guards;
        match (record, guards.get(&key)) {
            (Some(record), Some(before)) => _ = guards.insert(key, record.remembering(before)),
            (Some(record), None) => _ = guards.insert(key, record),
            (None, _) => _ = guards.remove(&key),
        }
    }

    fn count(&mut self, key: &RecordKey, by: i64) {
        if let Some(record) = Arc::make_mut(&mut self.shelf).guards.get_mut(key) {
            record.detail.line = record.detail.line.saturating_add_signed(by);
        }
    }

    fn let_go(&mut self, key: &RecordKey, all: bool) {
        while let Some(at) = self.line.iter().position(|(on, ..)| on == key) {
            let (_, name, to, letter) = self.line.remove(at);
            if let (Message::YourTurn { claim, .. }, false) = (&letter.message, all) {
                let guards = &mut Arc::make_mut(&mut self.shelf).guards;
                let taken = guards[key].taken_by(claim, 1);
                guards.insert(key.clone(), taken);
            }
            self.count(key, -1);
            self.letters.insert(name, (to, letter));
            if !all {
                return;
            }
        }
    }

    pub(crate) fn effect(&self, scope: &str, key: &str) -> &Record {
        &self.shelf.guards[&effect_record(scope, key)]
    }

    #[track_caller]
    pub(crate) fn effect_is(&self, scope: &str, key: &str, state: RecordState) {
        let record = self.effect(scope, key);
        assert_eq!(record.state, state, "{record:?}");
    }

    /// What was decided on it, oldest first.
    pub(crate) fn ring(&self, scope: &str, key: &str) -> Vec<&str> {
        self.effect(scope, key).detail.ring.iter().map(|it| it.outcome.as_str()).collect()
    }
}
