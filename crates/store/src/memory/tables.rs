//! # Tables: the rows of the memory store
//!
//! Two of these are kept when a disk is simulated, so all that a commit writes is written here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use semel_engine::{Delivery, Head, MessageKey, MessageRow, Record, RecordKey, Window};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp};

use crate::mirror::Mirror;
use crate::rows::{DocumentKey, LogLine, Place, Stamp, Writes};

#[derive(Clone, Default)]
pub(super) struct Tables {
    pub(super) heads: BTreeMap<ExecutionId, Head>,
    pub(super) journal: BTreeMap<(ExecutionId, u64), Vec<u8>>,
    pub(super) deliveries: BTreeMap<Place, Delivery>,
    pub(super) messages: BTreeMap<MessageKey, MessageRow>,
    pub(super) records: BTreeMap<RecordKey, Record>,
    pub(super) limits: BTreeMap<String, Window>,
    pub(super) pinned: BTreeMap<Digest, Vec<u8>>,
    pub(super) given: BTreeSet<(ExecutionId, Digest)>,
    pub(super) documents: BTreeMap<DocumentKey, Vec<u8>>,
    pub(super) logs: BTreeMap<Place, Vec<LogLine>>,
    pub(super) documents_generation: u64,
    pub(super) lanes: BTreeMap<u16, Stamp>,
}

impl Tables {
    pub(super) fn write(&mut self, writes: &Writes) {
        for (id, seq, bytes) in &writes.entries {
            let before = self.journal.insert((*id, *seq), bytes.clone());
            assert!(before.is_none(), "journal entries are appended, never edited");
        }
        self.heads.extend(writes.heads.iter().map(|(id, head)| (*id, head.clone())));
        self.limits.extend(writes.limits.clone());
        for (execution, digest) in &writes.given {
            let is_given = self.given.iter().any(|(_, other)| other == digest);
            // What was there and given to nobody may be needed by anybody.
            if is_given || !self.pinned.contains_key(digest) {
                self.given.insert((*execution, *digest));
            }
        }
        self.pinned.extend(writes.pinned.clone());
        put_all(&mut self.records, &writes.records);
        put_all(&mut self.deliveries, &writes.deliveries);
        put_all(&mut self.messages, &writes.messages);
        put_all(&mut self.documents, &writes.documents);
        for line in &writes.logs {
            self.logs.entry(line.place).or_default().push(line.clone());
        }
        self.documents_generation += u64::from(!writes.documents.is_empty());
        let last = self.lanes.entry(writes.stamp.lane).or_default();
        let fence = last.fence.max(writes.stamp.fence);
        *last = Stamp { fence, at: last.at.max(writes.stamp.at), ..writes.stamp };
        // Last: a removal outweighs what the same round writes.
        writes.removed.iter().for_each(|id| self.remove(*id));
    }

    fn remove(&mut self, id: ExecutionId) {
        self.heads.remove(&id);
        let entries = self.journal.range((id, 0)..=(id, u64::MAX));
        for key in entries.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.journal.remove(&key);
        }
        let first = Place { execution: id, task: TaskId::from_bytes([0; 16]) };
        let deliveries = self.deliveries.range(first..).map(|(place, _)| *place);
        for place in deliveries.take_while(|place| place.execution == id).collect::<Vec<_>>() {
            self.deliveries.remove(&place);
        }
        self.logs.retain(|place, _| place.execution != id);
        let is_own = |(execution, _): &&(ExecutionId, Digest)| *execution == id;
        let given: Vec<Digest> = self.given.iter().filter(is_own).map(|it| it.1).collect();
        self.given.retain(|(execution, _)| *execution != id);
        for digest in given {
            if !self.given.iter().any(|(_, other)| *other == digest) {
                self.pinned.remove(&digest);
            }
        }
    }

    pub(super) fn credit(&mut self, ms: i64) {
        for row in self.deliveries.values_mut() {
            let lease_until = row.hand_out.lease_until.filter(|_| row.hand_out.leased);
            if let Some(until) = lease_until {
                row.hand_out.lease_until = Some(until.plus_ms(ms));
            }
        }
    }

    pub(super) fn ended_before(&self, before: Timestamp, max: usize) -> Vec<ExecutionId> {
        let ended = self.heads.values().map(|head| (head.ended_at, head.id));
        let has_ended = |at: Timestamp| at > Timestamp::NOT_YET && at < before;
        let mut ended: Vec<_> = ended.filter(|(at, _)| has_ended(*at)).collect();
        ended.sort_unstable();
        ended.into_iter().take(max).map(|(_, id)| id).collect()
    }

    /// Messages that wait on a record, oldest first.
    pub(super) fn waiters(&self, record: &RecordKey) -> Vec<MessageKey> {
        let waits = self.messages.iter().filter_map(|(key, row)| Some((row.waits.as_ref()?, key)));
        let mut found: Vec<_> = waits
            .filter(|(wait, _)| wait.on == *record)
            .map(|(wait, key)| (wait.since, *key))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|(_, key)| key).collect()
    }

    pub(super) fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Vec<(RecordKey, Record)> {
        let first = RecordKey { scope: scopes.to_owned(), key: String::new() };
        let after =
            (Bound::Excluded(after.map_or(&first, |after| after.max(&first))), Bound::Unbounded);
        let records = self.records.range::<RecordKey, _>(after);
        let records = records.take_while(|(key, _)| key.scope.starts_with(scopes));
        records.take(max).map(|(key, record)| (key.clone(), record.clone())).collect()
    }

    pub(super) fn expired_records(&self, now: Timestamp, max: usize) -> Vec<RecordKey> {
        self.records_by(|_, record| record.expires_at, now, max)
    }

    pub(super) fn lapsed_records(&self, now: Timestamp, max: usize) -> Vec<RecordKey> {
        self.records_by(|key, record| record.lapses_at(key), now, max)
    }

    fn records_by(
        &self,
        at: fn(&RecordKey, &Record) -> Option<Timestamp>,
        now: Timestamp,
        max: usize,
    ) -> Vec<RecordKey> {
        let timed = self.records.iter().filter_map(|(key, row)| Some((at(key, row)?, key)));
        let mut found: Vec<_> = timed.filter(|(at, _)| *at <= now).collect();
        found.sort_unstable();
        found.into_iter().take(max).map(|(_, key)| key.clone()).collect()
    }

    /// As at open: whoever was carrying messages is gone.
    pub(super) fn mirror(&self, now: Timestamp) -> Mirror {
        let mut mirror = Mirror::default();
        self.deliveries.values().for_each(|row| mirror.insert(row));
        for (id, head) in &self.heads {
            mirror.set_wake(*id, head.wake_at);
            mirror.set_ended(*id, head.ended_at.is_set());
        }
        let messages = self.messages.iter();
        let messages = messages.filter(|(_, row)| row.waits.is_none());
        messages.for_each(|(key, row)| mirror.insert_message(*key, row.to.clone(), now));
        mirror
    }
}

fn put_all<K: Ord + Clone, V: Clone>(table: &mut BTreeMap<K, V>, writes: &BTreeMap<K, Option<V>>) {
    for (key, value) in writes {
        match value {
            Some(value) => table.insert(key.clone(), value.clone()),
            None => table.remove(key),
        };
    }
}
