//! # Hits: who asked again, counted without a commit of its own
//!
//! A duplicate that is answered from a record changes nothing, so it must not cost a write. That it
//! asked is kept in memory and rides with a round that writes anyway: those of its own records, and
//! every now and then, or with a note of being alive, those of others. Lookups add what still waits; a
//! crash loses at most that.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use semel_engine::{Decided, RING_MAX, Record, RecordKey};
use semel_model::Timestamp;

use crate::failure::Failure;
use crate::round::Round;
use crate::work::{Item, Work};
use crate::world::World;

/// Records whose hits ride with one commit.
const RIDE_MAX: usize = 1000;

/// How often a round is asked to take hits of others along: holding their records is work.
const RIDE_EVERY_MS: i64 = 1_000;

/// Records whose hits may wait; further ones are not remembered.
const WAIT_MAX: usize = 20_000;

#[derive(Default)]
pub(crate) struct Hits {
    waiting: Mutex<BTreeMap<RecordKey, Waiting>>,
    /// Closed while hits are on their way: a lookup finds them either here or in the store.
    way: RwLock<()>,
    /// When a round was last asked to take some along, in milliseconds.
    asked_at: AtomicI64,
}

/// What one record has yet to hear.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    count: u64,
    last: Vec<Decided>,
}

impl Waiting {
    fn add(&mut self, decided: Decided) {
        self.count += 1;
        if self.last.len() >= RING_MAX {
            self.last.remove(0);
        }
        self.last.push(decided);
    }

    fn tell(self, record: &mut Record) {
        record.detail.hits += self.count - self.last.len() as u64;
        self.last.into_iter().for_each(|decided| record.hit(decided));
    }
}

impl Hits {
    pub(crate) fn note(&self, key: &RecordKey, decided: Decided) {
        let mut waiting = self.waiting();
        let has_room = waiting.len() < WAIT_MAX;
        match waiting.entry(key.clone()) {
            Entry::Occupied(mut known) => known.get_mut().add(decided),
            Entry::Vacant(vacant) if has_room => vacant.insert(Waiting::default()).add(decided),
            Entry::Vacant(_) => {}
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting().is_empty()
    }

    /// Those that could ride with a round of these items.
    pub(crate) fn candidates(&self, items: &[Item], now: Timestamp) -> Vec<RecordKey> {
        let is_time = now.ms() >= self.asked_at.load(Ordering::Relaxed) + RIDE_EVERY_MS;
        if !is_time && !items.iter().any(|item| matches!(item.work, Work::Beat)) {
            return Vec::new();
        }
        self.asked_at.store(now.ms(), Ordering::Relaxed);
        self.waiting().keys().take(RIDE_MAX).cloned().collect()
    }

    /// Nobody looks until this is dropped.
    pub(crate) fn close(&self) -> RwLockWriteGuard<'_, ()> {
        self.way.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> RwLockReadGuard<'_, ()> {
        self.way.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, key: &RecordKey) -> Option<Waiting> {
        self.waiting().remove(key)
    }

    /// They did not get there: what was noted since comes after them.
    pub(crate) fn put_back(&self, taken: Vec<(RecordKey, Waiting)>) {
        let mut waiting = self.waiting();
        for (key, mut before) in taken {
            let entry = waiting.entry(key).or_default();
            let since = std::mem::take(entry);
            let unnamed = since.count - since.last.len() as u64;
            since.last.into_iter().for_each(|decided| before.add(decided));
            before.count += unnamed;
            *entry = before;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<RecordKey, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Round {
    /// Somebody was answered from that record.
    pub(crate) fn hit(&mut self, key: &RecordKey, decided: Decided) {
        self.hits.push((key.clone(), decided));
    }

    /// This round is written anyway: its own hits and those that waited become part of it. Those of
    /// a record that is gone are forgotten.
    pub(crate) fn carry(&mut self, riding: &[RecordKey], hits: &Hits) -> Vec<(RecordKey, Waiting)> {
        for (key, decided) in std::mem::take(&mut self.hits) {
            match self.record(&key).map(Option::<&Record>::cloned) {
                Some(Some(mut record)) => {
                    record.hit(decided);
                    self.writes.records.insert(key, Some(record));
                }
                Some(None) => {}
                None => self.hits.push((key, decided)),
            }
        }
        let mut taken = Vec::new();
        for key in riding {
            let Some(held) = self.record(key).map(Option::<&Record>::cloned) else { continue };
            let Some(waiting) = hits.take(key) else { continue };
            if let Some(mut record) = held {
                waiting.clone().tell(&mut record);
                self.writes.records.insert(key.clone(), Some(record));
            }
            taken.push((key.clone(), waiting));
        }
        taken
    }
}

impl World {
    /// A record as it is, and who has asked for it so far.
    pub fn record(&self, key: &RecordKey) -> Result<Option<Record>, Failure> {
        let _open = self.hits.open();
        let mut found = self.store.record(key)?;
        if let (Some(record), Some(waiting)) = (&mut found, self.hits.waiting().get(key)) {
            waiting.clone().tell(record);
        }
        Ok(found)
    }

    /// The same of records after that key whose scope begins so, by scope and key.
    pub fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Result<Vec<(RecordKey, Record)>, Failure> {
        let _open = self.hits.open();
        let mut found = self.store.records(scopes, after, max)?;
        let waiting = self.hits.waiting();
        for (key, record) in &mut found {
            if let Some(waiting) = waiting.get(key) {
                waiting.clone().tell(record);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use semel_engine::RecordState;

    fn decided(at: i64) -> Decided {
        let (by, outcome) = ("me".to_owned(), "REPLAYED".to_owned());
        Decided { at: Timestamp::from_ms(at), by, outcome, mismatch: false }
    }

    fn key(key: &str) -> RecordKey {
        RecordKey { scope: "s".to_owned(), key: key.to_owned() }
    }

    #[test]
    fn what_did_not_get_there_comes_before_what_was_noted_since() {
        let hits = Hits::default();
        (0..40).for_each(|at| hits.note(&key("k"), decided(at)));
        let taken = hits.take(&key("k")).unwrap();
        (40..42).for_each(|at| hits.note(&key("k"), decided(at)));
        hits.put_back(vec![(key("k"), taken)]);
        let mut record = Record::new(RecordState::Completed, Timestamp::from_ms(0));
        hits.take(&key("k")).unwrap().tell(&mut record);
        let ring: Vec<_> = record.detail.ring.iter().map(|it| it.at.ms()).collect();
        assert_eq!(ring, (10..42).collect::<Vec<_>>());
        assert_eq!(record.detail.hits, 42);
        assert!(hits.is_empty());
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let hits = Hits::default();
        (0..WAIT_MAX + 5).for_each(|at| hits.note(&key(&at.to_string()), decided(0)));
        hits.note(&key("0"), decided(1));
        assert_eq!(hits.waiting().len(), WAIT_MAX);
        assert_eq!(hits.take(&key("0")).unwrap().count, 2);
        let beat = [Item::unasked(Work::Beat)];
        let begin = Timestamp::from_ms(RIDE_EVERY_MS);
        assert_eq!(hits.candidates(&[], begin).len(), RIDE_MAX);
        assert_eq!(hits.candidates(&[], begin.plus_ms(1)).len(), 0, "not with every round");
        assert_eq!(hits.candidates(&beat, begin.plus_ms(1)).len(), RIDE_MAX);
        assert_eq!(hits.candidates(&[], begin.plus_ms(1 + RIDE_EVERY_MS)).len(), RIDE_MAX);
    }
}
