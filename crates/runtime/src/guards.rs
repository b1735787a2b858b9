//! # Guards in a round: records that decisions claim, settle and wait for
//!
//! A waiter is a message to itself that the record holds back. Letting go is done in the commit that
//! settles the record: all who wait are told, or the oldest, whose the record is then, so that nobody
//! who comes later is served before.

use semel_engine::{
    Address, Change, Decision, Letter, Message, MessageKey, MessageRow, Record, RecordKey,
    RecordState, Wait,
};
use semel_model::{ExecutionId, TaskId};
use semel_store::Row;

use crate::draft::Draft;
use crate::round::{Layer, Outcome, Round, Want};

/// Waiters that one commit lets go; each of them lets one more go.
pub(crate) const LET_GO_MAX: usize = 1000;

impl Round {
    /// Greater than any fence drawn so far, by this draft as well.
    pub(crate) fn next_fence(&self, draft: &Draft) -> u64 {
        let by_clock = self.held.now.ms().max(0).cast_unsigned() * 1000;
        (self.fence.max(draft.fence) + 1).max(by_clock)
    }

    /// Carries over to the records what a decision made of them, in its order.
    pub(crate) fn note_guards(
        &self,
        draft: &mut Draft,
        layer: &mut Layer,
        decision: &Decision,
    ) -> Result<(), Outcome> {
        let seq = layer.execution.link().seq + 1;
        for (at, change) in decision.changes.iter().enumerate() {
            match change {
                Change::Guarded { scope, key, record, result } => {
                    let key = RecordKey { scope: scope.clone(), key: key.clone() };
                    let before = self.record_over(draft, layer, &key)?.cloned();
                    let record = record.as_deref().cloned().map(|mut record| {
                        record.detail.result =
                            result.map(|at| decision.payloads[at.0 as usize].clone());
                        match &before {
                            Some(before) => record.remembering(before),
                            None => record,
                        }
                    });
                    layer.records.insert(key, record);
                }
                Change::Awaits { task, scope, key, claim } => {
                    let on = RecordKey { scope: scope.clone(), key: key.clone() };
                    let since = self.next_fence(draft);
                    draft.fence = since;
                    let (scope, key, claim) = (scope.clone(), key.clone(), claim.clone());
                    let message = Message::YourTurn { task: *task, scope, key, claim };
                    let id = layer.execution.id();
                    let at = WAITING | u32::try_from(at).expect("an entry has fewer changes");
                    let key = MessageKey { from: id, seq, at };
                    let body = Letter::of(&message, &[]).encode();
                    let waits = Some(Wait { on: on.clone(), since });
                    let row = MessageRow { key, to: Address::Execution(id), body, waits };
                    draft.messages.insert(key, row);
                    self.join_line(draft, layer, on, since)?;
                }
                Change::LeftLine { task, scope, key } => {
                    let key = RecordKey { scope: scope.clone(), key: key.clone() };
                    self.leave_line(draft, layer, &key, *task)?;
                }
                Change::LetGo { scope, key, all } => {
                    let key = RecordKey { scope: scope.clone(), key: key.clone() };
                    self.let_go(draft, layer, &key, *all)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The record as the layer has it, else as the draft or the round has.
    fn record_over<'a>(
        &'a self,
        draft: &'a Draft,
        layer: &'a Layer,
        key: &RecordKey,
    ) -> Result<Option<&'a Record>, Outcome> {
        match layer.records.get(key) {
            Some(record) => Ok(record.as_ref()),
            None => self.record_in(draft, key),
        }
    }

    fn join_line(
        &self,
        draft: &Draft,
        layer: &mut Layer,
        key: RecordKey,
        place: u64,
    ) -> Result<(), Outcome> {
        self.count_line(draft, layer, key.clone(), 1)?;
        if let Some(Some(record)) = layer.records.get_mut(&key) {
            record.detail.last_place = place;
        }
        Ok(())
    }

    fn count_line(
        &self,
        draft: &Draft,
        layer: &mut Layer,
        key: RecordKey,
        by: i64,
    ) -> Result<(), Outcome> {
        let record = self.record_over(draft, layer, &key)?.cloned();
        if let Some(mut record) = record {
            record.detail.line = record.detail.line.saturating_add_signed(by);
            layer.records.insert(key, Some(record));
        }
        Ok(())
    }

    fn let_go(
        &self,
        draft: &mut Draft,
        layer: &mut Layer,
        key: &RecordKey,
        all: bool,
    ) -> Result<(), Outcome> {
        let line = self.line(draft, key)?;
        let count = if all { LET_GO_MAX } else { 1 };
        for row in line.into_iter().take(count) {
            if !all {
                let claim = claim_of(&row);
                let fence = self.next_fence(draft);
                draft.fence = fence;
                let before = self.record_over(draft, layer, key)?.cloned();
                if let (Some(before), Some(claim)) = (before, claim) {
                    layer.records.insert(key.clone(), Some(before.taken_by(&claim, fence)));
                }
            }
            self.count_line(draft, layer, key.clone(), -1)?;
            draft.messages.insert(row.key, MessageRow { waits: None, ..row });
        }
        Ok(())
    }

    /// Who waits no more stands in nobody's way.
    fn leave_line(
        &self,
        draft: &mut Draft,
        layer: &mut Layer,
        key: &RecordKey,
        task: Option<TaskId>,
    ) -> Result<(), Outcome> {
        let to = Address::Execution(layer.execution.id());
        let line = self.line(draft, key)?;
        let own = line.into_iter().find(|row| row.to == to && task_of(row) == task);
        let Some(own) = own else { return Ok(()) };
        if draft.messages.remove(&own.key).is_none() {
            draft.left.push(own.key);
        }
        self.count_line(draft, layer, key.clone(), -1)
    }

    /// Who waits for that record, oldest first, as this draft has it.
    pub(crate) fn line(&self, draft: &Draft, key: &RecordKey) -> Result<Vec<MessageRow>, Outcome> {
        if self.held.skipped.contains(&Row::Record(key.clone())) {
            return Err(Outcome::Defer); // Whoever has the record has its line.
        }
        let held = self.held.waiters.get(key);
        let held = held.ok_or_else(|| Outcome::Again(Want::Waiters(key.clone())))?;
        let held = held.iter().filter_map(|at| Some((*at, self.held.messages.get(at)?.clone())));
        let mut rows: std::collections::BTreeMap<_, _> = held.collect();
        rows.extend(self.writes.messages.iter().map(|(at, row)| (*at, row.clone())));
        rows.extend(draft.messages.iter().map(|(at, row)| (*at, Some(row.clone()))));
        draft.left.iter().for_each(|at| drop(rows.remove(at)));
        let waits = |row: &MessageRow| row.waits.as_ref().is_some_and(|wait| wait.on == *key);
        let mut line: Vec<_> = rows.into_values().flatten().filter(waits).collect();
        line.sort_by_key(|row| (row.waits.as_ref().map(|wait| wait.since), row.key));
        Ok(line)
    }
}

/// Marks the key of a message to itself, so that it is no other message of the same entry.
const WAITING: u32 = 1 << 30;

pub(crate) fn claim_of(row: &MessageRow) -> Option<Record> {
    match Letter::decode(&row.body).ok()?.message {
        Message::YourTurn { claim, .. } => Some(*claim),
        _ => None,
    }
}

fn task_of(row: &MessageRow) -> Option<TaskId> {
    match Letter::decode(&row.body).ok()?.message {
        Message::YourTurn { task, .. } => task,
        _ => None,
    }
}

impl Round {
    /// Whose turn it is has gone: whoever waits behind is next.
    pub(crate) fn pass_turn(&mut self, gone: ExecutionId, key: &RecordKey) -> Result<(), Outcome> {
        let Some(record) = self.held_record(key)?.cloned() else { return Ok(()) };
        let is_its = record.state == RecordState::Claimed && record.run == Some(gone);
        if !is_its && !record.detail.holders.contains(&gone) {
            return Ok(());
        }
        self.line(&Draft::default(), key)?; // All or nothing: it must be held.
        let mut record = match is_its {
            true => Record { state: RecordState::Released, run: None, ..record },
            false => record,
        };
        record.detail.holders.retain(|holder| *holder != gone);
        self.writes.records.insert(key.clone(), Some(record));
        self.free(key, false)
    }
}
