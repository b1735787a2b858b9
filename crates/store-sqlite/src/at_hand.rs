//! # At hand: records as the last commits have left them
//!
//! Whoever asks twice mostly asks soon, so what was just written is answered without the database.
//! Only the one writer puts something in, after its commit; before it, it takes out what the commit may
//! change. So nothing here is older than what is committed, and a commit whose outcome is not known
//! leaves nothing behind. Readers put nothing in: what they have read may be old by then.

use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use semel_engine::{Record, RecordKey};
use semel_store::Writes;

/// Of all records together, about.
const BYTES_MAX: u64 = 16 << 20;
/// Of one without its texts, about.
const RECORD_BYTES: u64 = 512;
/// A larger one is not worth its room.
const RECORD_BYTES_MAX: u64 = 4 << 10;

pub(crate) struct AtHand(Cache<RecordKey, Record, ByBytes>);

#[derive(Clone)]
struct ByBytes;

impl Weighter<RecordKey, Record> for ByBytes {
    fn weight(&self, key: &RecordKey, record: &Record) -> u64 {
        let detail = &record.detail;
        let about = detail.about.as_ref().map_or(0, String::len);
        let result = detail.result.as_ref().map_or(0, semel_model::Payload::len);
        RECORD_BYTES + (key.scope.len() + key.key.len() + about + result) as u64
    }
}

impl Default for AtHand {
    fn default() -> Self {
        let options = OptionsBuilder::new()
            .estimated_items_capacity((BYTES_MAX / RECORD_BYTES) as usize)
            .weight_capacity(BYTES_MAX)
            .build()
            .expect("both capacities are given");
        let (hasher, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
        Self(Cache::with_options(options, ByBytes, hasher, lifecycle))
    }
}

impl AtHand {
    pub(crate) fn get(&self, key: &RecordKey) -> Option<Record> {
        self.0.get(key)
    }

    /// Before a commit: from here on it may be otherwise.
    pub(crate) fn forget(&self, writes: &Writes) {
        writes.records.keys().for_each(|key| drop(self.0.remove(key)));
    }

    /// After it.
    pub(crate) fn note(&self, writes: &Writes) {
        for (key, record) in &writes.records {
            if let Some(record) =
                record.as_ref().filter(|it| ByBytes.weight(key, it) <= RECORD_BYTES_MAX)
            {
                self.0.insert(key.clone(), record.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use semel_store::conformance::samples;

    use super::*;

    fn writes(record: Option<Record>) -> (RecordKey, Writes) {
        let key = RecordKey::start("w", "k");
        (key.clone(), Writes { records: [(key, record)].into(), ..Writes::default() })
    }

    #[test]
    fn what_is_being_written_or_was_removed_is_not_at_hand() {
        let at_hand = AtHand::default();
        let (key, put) = writes(Some(samples::record(1)));
        at_hand.note(&put);
        assert_eq!(at_hand.get(&key), Some(samples::record(1)));
        at_hand.forget(&put);
        assert_eq!(at_hand.get(&key), None, "nobody knows until it is written");
        at_hand.note(&put);
        let (_, dropped) = writes(None);
        at_hand.forget(&dropped);
        at_hand.note(&dropped);
        assert_eq!(at_hand.get(&key), None);
    }

    #[test]
    fn a_record_that_is_too_large_is_left_to_the_database() {
        let mut large = samples::record(1);
        large.detail.about = Some("x".repeat(RECORD_BYTES_MAX as usize));
        let (key, put) = writes(Some(large));
        let at_hand = AtHand::default();
        at_hand.note(&put);
        assert_eq!(at_hand.get(&key), None);
    }
}
