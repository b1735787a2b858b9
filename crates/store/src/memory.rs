//! # The memory store: everything in maps, for tests and throw-away servers
//!
//! With a simulated disk it keeps two copies, what was written and what was synced; a crash leaves
//! the second. Several lanes may work on it: rows are held by one lane at a time, and a lane skips
//! what another holds, as on PostgreSQL.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_engine::{Delivery, Head, Record, RecordKey, Window};
use semel_model::{Digest, ExecutionId, Timestamp};

use crate::clock::Clock;
use crate::mirror::Mirror;
use crate::rows::{
    DocumentKey, Due, Held, Kind, LimitRow, Loaded, Place, Row, Stamp, Touches, Writes,
};
use crate::{Store, StoreError, Writer};

#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
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

#[derive(Clone, Default)]
struct Tables {
    heads: BTreeMap<ExecutionId, Head>,
    journal: BTreeMap<(ExecutionId, u64), Vec<u8>>,
    deliveries: BTreeMap<Place, Delivery>,
    records: BTreeMap<RecordKey, Record>,
    limits: BTreeMap<String, Window>,
    pinned: BTreeMap<Digest, Vec<u8>>,
    documents: BTreeMap<DocumentKey, Vec<u8>>,
    documents_generation: u64,
    lanes: BTreeMap<u16, Stamp>,
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
        Self { shared: Arc::new(Mutex::new(shared)), clock }
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
        shared.mirror = shared.live.mirror();
    }

    /// Every execution there is; for tests that check them all.
    pub fn executions(&self) -> Vec<ExecutionId> {
        self.shared().live.heads.keys().copied().collect()
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tables {
    fn write(&mut self, writes: &Writes) {
        for (id, seq, bytes) in &writes.entries {
            let before = self.journal.insert((*id, *seq), bytes.clone());
            assert!(before.is_none(), "journal entries are appended, never edited");
        }
        self.heads.extend(writes.heads.iter().map(|(id, head)| (*id, head.clone())));
        self.limits.extend(writes.limits.clone());
        self.pinned.extend(writes.pinned.clone());
        put_all(&mut self.records, &writes.records);
        put_all(&mut self.deliveries, &writes.deliveries);
        put_all(&mut self.documents, &writes.documents);
        self.documents_generation += u64::from(!writes.documents.is_empty());
        let last = self.lanes.entry(writes.stamp.lane).or_default();
        let fence = last.fence.max(writes.stamp.fence);
        *last = Stamp { fence, at: last.at.max(writes.stamp.at), ..writes.stamp };
    }

    fn credit(&mut self, ms: i64) {
        for row in self.deliveries.values_mut() {
            row.hand_out.lease_until = row.hand_out.lease_until.map(|until| until.plus_ms(ms));
        }
    }

    fn mirror(&self) -> Mirror {
        let mut mirror = Mirror::default();
        self.deliveries.values().for_each(|row| mirror.insert(row));
        self.heads.iter().for_each(|(id, head)| mirror.set_wake(*id, head.wake_at));
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

    fn pinned(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.shared().live.pinned.get(&digest).cloned())
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
}

struct MemoryWriter {
    store: MemoryStore,
    lane: u16,
}

/// One hold under way: takes each row unless another lane has it.
struct Taking<'a> {
    shared: &'a mut Shared,
    lane: u16,
    held: Held,
}

impl Taking<'_> {
    fn take(&mut self, row: Row) -> bool {
        let unheld =
            matches!(row, Row::Record(_)) && self.shared.plants.contains(&Plant::RecordsNotHeld);
        match self.shared.held.get(&row) {
            Some(holder) if *holder != self.lane && !unheld => {
                self.held.skipped.insert(row);
                false
            }
            _ => {
                self.shared.held.insert(row, self.lane);
                true
            }
        }
    }

    fn take_delivery(&mut self, place: Place) -> bool {
        let taken = self.take(Row::Delivery(place));
        if taken {
            let row = self.shared.live.deliveries.get(&place).cloned();
            self.held.deliveries.insert(place, row);
        }
        taken
    }

    fn take_documents(&mut self, touches: &Touches) {
        for key in &touches.documents {
            if self.take(Row::Document(key.clone())) {
                let found = self.shared.live.documents.get(key).cloned();
                self.held.documents.insert(key.clone(), found);
            }
        }
    }

    fn take_heads_and_records(&mut self, touches: &Touches) {
        for id in &touches.heads {
            if self.take(Row::Head(*id)) {
                self.held.heads.insert(*id, self.shared.live.heads.get(id).cloned());
            }
        }
        for name in &touches.limits {
            if self.take(Row::Limit(name.clone())) {
                let window = self.shared.live.limits.get(name).cloned().unwrap_or_default();
                let in_flight = self.shared.mirror.in_flight(name);
                self.held.limits.insert(name.clone(), LimitRow { window, in_flight });
            }
        }
        for key in &touches.records {
            if self.take(Row::Record(key.clone())) {
                let found = self.shared.live.records.get(key).cloned();
                self.held.records.insert(key.clone(), found);
            }
        }
    }

    fn take_deliveries(&mut self, touches: &Touches) {
        for place in &touches.deliveries {
            self.take_delivery(*place);
        }
        for id in &touches.all_deliveries {
            for place in self.shared.mirror.of_execution(*id) {
                self.take_delivery(place);
            }
        }
        for token in &touches.tokens {
            let places = self.shared.mirror.by_token(token);
            let places: Vec<_> = places.into_iter().filter(|at| self.take_delivery(*at)).collect();
            self.held.by_token.insert(*token, places);
        }
        for (queue, count) in &touches.wanted {
            let (shared, lane, now) = (&mut *self.shared, self.lane, self.held.now);
            let held = &shared.held;
            let busy = |at: &Place| held.get(&Row::Delivery(*at)).is_some_and(|by| *by != lane);
            let places = shared.mirror.ready(queue, now, *count, busy);
            places.iter().for_each(|place| {
                self.take_delivery(*place);
            });
            self.held.ready.insert(queue.clone(), places);
        }
    }
}

impl Writer for MemoryWriter {
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError> {
        let now = self.store.clock.now();
        let mut shared = self.store.shared();
        let held = Held { now, ..Held::default() };
        let mut taking = Taking { shared: &mut shared, lane: self.lane, held };
        taking.take_heads_and_records(touches);
        taking.take_deliveries(touches);
        taking.take_documents(touches);
        Ok(taking.held)
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
