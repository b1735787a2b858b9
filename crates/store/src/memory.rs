//! # The memory store: everything in maps, for tests and throw-away servers
//!
//! With a simulated disk it keeps two copies, what was written and what was synced; a crash leaves
//! the second. Several lanes may work on it: rows are held by one lane at a time, and a lane skips
//! what another holds, as on PostgreSQL.

mod hold;
mod index;
mod shelves;
mod tables;
mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_engine::{Delivery, Head, Queue, Record, RecordKey};
use semel_model::{Digest, ExecutionId, Timestamp};

use self::index::MemoryIndex;
use self::tables::Tables;
use crate::census::{About, Census};
use crate::clock::Clock;
use crate::index::Index;
use crate::mirror::Mirror;
use crate::rows::{
    DocumentKey, Due, Held, Kind, Loaded, LogLine, Place, Row, Stamp, Touches, Writes,
};
use crate::shelf::{After, Item, Page};
use crate::{Store, StoreError, Writer};

#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
    index: Arc<MemoryIndex>,
    clock: Arc<Clock>,
}

struct Shared {
    live: Tables,
    mirror: Mirror,
    held: BTreeMap<Row, u16>,
    /// What survives a crash; none when this store simulates no disk.
    synced: Option<Tables>,
    next_fault: Option<CommitFault>,
    plants: BTreeSet<Plant>,
}

/// How the next commit goes wrong. The lane sees the same error either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitFault {
    /// Nothing was written, and the writer cannot know.
    LostBefore,
    /// Everything was written and synced, and the writer cannot know.
    LostAfter,
}

/// Bugs that can be planted, to prove that the simulator finds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Plant {
    /// A commit answers before its fsync.
    FsyncSkipped,
    /// Records are read but not held.
    RecordsNotHeld,
}

impl MemoryStore {
    /// For a server without a disk: nothing survives the process.
    pub fn new(clock: Arc<Clock>) -> Self {
        Self::with(clock, None)
    }

    /// Keeps what a crash would leave.
    pub fn with_disk(clock: Arc<Clock>) -> Self {
        Self::with(clock, Some(Tables::default()))
    }

    fn with(clock: Arc<Clock>, synced: Option<Tables>) -> Self {
        let shared = Shared {
            live: Tables::default(),
            mirror: Mirror::default(),
            held: BTreeMap::new(),
            synced,
            next_fault: None,
            plants: BTreeSet::new(),
        };
        Self { shared: Arc::new(Mutex::new(shared)), index: Arc::default(), clock }
    }

    pub fn plant(&self, bug: Plant) {
        self.shared().plants.insert(bug);
    }

    pub fn fail_next_commit(&self, fault: CommitFault) {
        self.shared().next_fault = Some(fault);
    }

    /// Power is cut: what was not synced is gone, nobody holds anything, and open leases get the
    /// time the store was away.
    pub fn crash(&self) {
        let mut shared = self.shared();
        if let Some(synced) = &shared.synced {
            shared.live = synced.clone();
        }
        shared.held.clear();
        shared.next_fault = None;
        let last = shared.live.lanes.values().map(|stamp| stamp.at).max();
        let now = self.clock.now();
        let downtime_ms = last.map_or(0, |at| now.since_ms(at).max(0));
        shared.live.credit(downtime_ms);
        // Else a second crash before the first round would credit the same time again.
        shared.live.lanes.values_mut().for_each(|stamp| stamp.at = stamp.at.max(now));
        shared.synced = shared.synced.as_ref().map(|_| shared.live.clone());
        shared.mirror = shared.live.mirror(now);
    }

    /// Every execution there is; for tests that check them all.
    pub fn executions(&self) -> Vec<ExecutionId> {
        self.shared().live.heads.keys().copied().collect()
    }

    /// How many messages nobody has heard yet; for tests that wait for silence.
    pub fn messages_count(&self) -> usize {
        self.shared().live.messages.len()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn writer(&self, lane: u16) -> Result<Box<dyn Writer>, StoreError> {
        self.shared().held.retain(|_, holder| *holder != lane);
        Ok(Box::new(MemoryWriter { store: self.clone(), lane }))
    }

    fn clock(&self) -> &Arc<Clock> {
        &self.clock
    }

    fn load(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        let shared = self.shared();
        let Some(head) = shared.live.heads.get(&id).cloned() else { return Ok(None) };
        let entries = shared.live.journal.range((id, after_seq.saturating_add(1))..=(id, u64::MAX));
        let deliveries = shared.mirror.of_execution(id);
        Ok(Some(Loaded {
            head,
            entries: entries.map(|(_, bytes)| bytes.clone()).collect(),
            deliveries: deliveries
                .iter()
                .filter_map(|place| shared.live.deliveries.get(place).cloned())
                .collect(),
        }))
    }

    fn head(&self, id: ExecutionId) -> Result<Option<Head>, StoreError> {
        Ok(self.shared().live.heads.get(&id).cloned())
    }

    fn delivery(&self, place: Place) -> Result<Option<Delivery>, StoreError> {
        Ok(self.shared().live.deliveries.get(&place).cloned())
    }

    fn record(&self, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        Ok(self.shared().live.records.get(key).cloned())
    }

    fn record_at_hand(&self, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        self.record(key)
    }

    fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Result<Vec<(RecordKey, Record)>, StoreError> {
        Ok(self.shared().live.records(scopes, after, max))
    }

    fn ended_before(&self, before: Timestamp, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        Ok(self.shared().live.ended_before(before, max))
    }

    fn expired_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        Ok(self.shared().live.expired_records(now, max))
    }

    fn lapsed_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        Ok(self.shared().live.lapsed_records(now, max))
    }

    fn waiting(&self) -> Result<BTreeMap<Queue, usize>, StoreError> {
        Ok(self.shared().mirror.waiting())
    }

    fn logs(&self, place: Place, max: usize) -> Result<Vec<LogLine>, StoreError> {
        let lines = self.shared().live.logs.get(&place).cloned().unwrap_or_default();
        Ok(lines[lines.len().saturating_sub(max)..].to_vec())
    }

    fn open_descendants(&self, root: ExecutionId, max: u64) -> Result<u64, StoreError> {
        let shared = self.shared();
        let is_open = |head: &&Head| head.root == Some(root) && !head.ended_at.is_set();
        let max = usize::try_from(max).unwrap_or(usize::MAX);
        Ok(shared.live.heads.values().filter(is_open).take(max).count() as u64)
    }

    fn census(&self) -> Result<Census, StoreError> {
        let shared = self.shared();
        let mut census = Census { held: shared.mirror.held(), ..Census::default() };
        for head in shared.live.heads.values() {
            census.parked += u64::from(head.parked.is_some());
            if !head.ended_at.is_set() {
                *census.live.entry((head.name.clone(), head.version)).or_default() += 1;
            }
        }
        Ok(census)
    }

    fn about(&self) -> Result<About, StoreError> {
        Ok(About { kind: "memory", schema: None, bytes: None, node: None })
    }

    fn pinned(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared().live.pinned.get(&digest).cloned())
    }

    fn index(&self) -> &dyn Index {
        &*self.index
    }

    fn ends_of_journals(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, u64)>, StoreError> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let shared = self.shared();
        let heads = shared.live.heads.range((from, Bound::Unbounded)).take(max);
        Ok(heads.map(|(id, head)| (*id, head.link.seq)).collect())
    }

    fn document(&self, key: &DocumentKey) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared().live.documents.get(key).cloned())
    }

    fn documents(
        &self,
        kind: Kind,
        name: Option<&str>,
    ) -> Result<Vec<(DocumentKey, Vec<u8>)>, StoreError> {
        let shared = self.shared();
        let all = shared
            .live
            .documents
            .iter()
            .filter(|(key, _)| key.kind == kind && name.is_none_or(|name| key.name == name));
        Ok(all.map(|(key, body)| (key.clone(), body.clone())).collect())
    }

    fn documents_generation(&self) -> Result<u64, StoreError> {
        Ok(self.shared().live.documents_generation)
    }

    fn last_round(&self, lane: u16) -> Result<u64, StoreError> {
        Ok(self.shared().live.lanes.get(&lane).map_or(0, |stamp| stamp.round))
    }

    fn fence_floor(&self) -> Result<u64, StoreError> {
        Ok(self.shared().live.lanes.values().map(|stamp| stamp.fence).max().unwrap_or(0))
    }

    fn last_at(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.shared().live.lanes.values().map(|stamp| stamp.at).max())
    }

    fn walk(&self, after: &After, page: Page) -> Result<Vec<Item>, StoreError> {
        Ok(self.shared().live.walk(after, page))
    }
}

struct MemoryWriter {
    store: MemoryStore,
    lane: u16,
}

impl Writer for MemoryWriter {
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError> {
        let now = self.store.clock.now();
        let mut shared = self.store.shared();
        Ok(hold::hold(&mut shared, self.lane, touches, now))
    }

    fn commit(&mut self, writes: Writes) -> Result<(), StoreError> {
        let mut shared = self.store.shared();
        let fault = shared.next_fault.take();
        if fault != Some(CommitFault::LostBefore) {
            shared.live.write(&writes);
            shared.mirror.follow(&writes);
            let skipped = shared.plants.contains(&Plant::FsyncSkipped);
            if let Some(synced) = shared.synced.as_mut().filter(|_| !skipped) {
                synced.write(&writes);
            }
        }
        if fault.is_some() {
            return Err(StoreError::Unknown);
        }
        shared.held.retain(|_, holder| *holder != self.lane);
        Ok(())
    }

    fn release(&mut self) {
        self.store.shared().held.retain(|_, holder| *holder != self.lane);
    }

    fn happened(&mut self, stamp: Stamp) -> Result<bool, StoreError> {
        let shared = self.store.shared();
        Ok(shared.live.lanes.get(&stamp.lane).is_some_and(|last| last.round == stamp.round))
    }

    fn due(&mut self, now: Timestamp, max: usize) -> Result<Due, StoreError> {
        Ok(self.store.shared().mirror.due(now, max))
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.store.shared().mirror.next_due()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::samples;

    #[test]
    fn a_line_whose_record_another_lane_holds_is_left_to_that_lane() {
        let store = MemoryStore::new(Arc::new(Clock::manual(samples::BEGIN)));
        let (mut ann, mut bob) = (store.writer(0).unwrap(), store.writer(1).unwrap());
        let on = RecordKey { scope: "s".to_owned(), key: "k".to_owned() };
        let waits = Some(semel_engine::Wait { on: on.clone(), since: 1 });
        let row = semel_engine::MessageRow { waits, ..samples::message(1, 1, 0) };
        ann.commit(samples::put_messages([row.clone()])).unwrap();
        let record = Touches { records: [on.clone()].into(), ..Touches::default() };
        ann.hold(&record).unwrap();
        let line = Touches { waiters: [(on.clone(), 9)].into(), ..record };
        assert_eq!(bob.hold(&line).unwrap().waiters, [].into());
        ann.release();
        let held = ann.hold(&line).unwrap();
        assert_eq!(held.waiters, [(on, vec![row.key])].into(), "nobody has kept it");
    }

    #[test]
    fn a_message_that_another_lane_holds_is_skipped_until_it_is_let_go() {
        let store = MemoryStore::new(Arc::new(Clock::manual(samples::BEGIN)));
        let (row, other) = (samples::message(1, 1, 0), samples::message(1, 1, 1));
        let mut lanes = [0, 1].map(|lane| store.writer(lane).unwrap());
        lanes[0].commit(samples::put_messages([row.clone(), other.clone()])).unwrap();
        let one = Touches { messages: [row.key].into(), ..Touches::default() };
        let both = Touches { messages: [row.key, other.key].into(), ..Touches::default() };
        assert_eq!(lanes[0].hold(&one).unwrap().messages, [(row.key, Some(row.clone()))].into());
        let held = lanes[1].hold(&both).unwrap();
        assert_eq!(held.messages, [(other.key, Some(other))].into());
        assert_eq!(held.skipped, [Row::Message(row.key)].into());
        lanes[1].release();
        lanes[0].commit(samples::drop_messages([row.key])).unwrap();
        let held = lanes[1].hold(&one).unwrap();
        assert_eq!(held.messages, [(row.key, None)].into(), "heard once, by whoever held it");
        assert_eq!(held.skipped, [].into());
    }

    #[test]
    fn a_message_is_offered_to_one_lane() {
        let store = MemoryStore::new(Arc::new(Clock::manual(samples::BEGIN)));
        let mut lanes = [0, 1].map(|lane| store.writer(lane).unwrap());
        let stamp = Stamp { at: samples::BEGIN, ..Stamp::default() };
        let writes = samples::put_messages([samples::message(1, 1, 0)]);
        lanes[0].commit(Writes { stamp, ..writes }).unwrap();
        let due_at = lanes[1].next_due().unwrap();
        assert_eq!(lanes[1].due(due_at, 9).unwrap().messages.len(), 1);
        assert_eq!(lanes[0].due(due_at, 9).unwrap().messages.len(), 0);
    }

    #[test]
    fn a_message_of_an_unknown_commit_is_there_if_the_commit_is() {
        for (fault, is_there) in [(CommitFault::LostBefore, false), (CommitFault::LostAfter, true)]
        {
            let store = MemoryStore::with_disk(Arc::new(Clock::manual(samples::BEGIN)));
            let mut lane = store.writer(0).unwrap();
            store.fail_next_commit(fault);
            let error = lane.commit(samples::put_messages([samples::message(1, 1, 0)]));
            assert!(matches!(error, Err(StoreError::Unknown)));
            store.crash();
            let due = store.writer(0).unwrap().due(samples::BEGIN, 9).unwrap();
            assert_eq!(!due.messages.is_empty(), is_there, "{fault:?}");
        }
    }
}
