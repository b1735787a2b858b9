//! # The lane: the one writer
//!
//! Owns the write connection and the mirror while it works. The mirror follows a round only after
//! its COMMIT. A lane that was replaced, or whose last commit is unknown, writes nothing more.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use rusqlite::Connection;
use semel_engine::Queue;
use semel_model::Timestamp;
use semel_store::{Clock, Due, Held, Mirror, Stamp, StoreError, Touches, Writer, Writes};

use crate::credit;
use crate::hold::{self, Seen};
use crate::last_commit::LastCommit;
use crate::open::AHEAD_MS_TOLD;
use crate::read::Shared;
use crate::write;

pub(crate) struct Core {
    connection: Connection,
    mirror: Mirror,
    /// Counts writers; the latest is the lane.
    writers: u64,
    /// What the clock has said of being away, as far as leases got it.
    credited_ms: i64,
    /// The mirror does not show yet what was credited.
    owes_mirror: bool,
    /// Somebody was told that the wall clock is behind.
    is_ahead: bool,
    /// After a failed fsync nothing can be known until the file is opened again.
    is_unknown: bool,
}

impl Core {
    /// Open leases have got all that the clock has been away until now.
    pub(crate) fn new(connection: Connection, mirror: Mirror, clock: &Clock) -> Self {
        let credited_ms = clock.away_ms();
        Self {
            connection,
            mirror,
            writers: 0,
            credited_ms,
            owes_mirror: false,
            is_ahead: false,
            is_unknown: false,
        }
    }

    /// Before anybody looks whether a lease is over. What time it is.
    fn look(&mut self, clock: &Clock) -> Result<Timestamp, StoreError> {
        let now = clock.now();
        let away_ms = clock.away_ms();
        let ms = away_ms - self.credited_ms;
        if ms > 0 {
            credit::open_leases(&self.connection, ms, now)?;
            self.credited_ms = away_ms;
            self.owes_mirror = true;
            tracing::warn!(
                away_ms = ms,
                "this process stood still, or the clock of the machine went forward; \
                 open leases get that time"
            );
        }
        // What is committed is credited, also if it cannot be read back at once.
        if self.owes_mirror {
            credit::reflect(&self.connection, &mut self.mirror)?;
            self.owes_mirror = false;
        }
        Ok(now)
    }

    /// Once when the wall clock falls behind, and once when it has caught up.
    fn tell_skew(&mut self, clock: &Clock) {
        let Some(ahead_ms) = clock.skew_ms() else { return };
        let is_ahead = ahead_ms > AHEAD_MS_TOLD;
        if is_ahead && !self.is_ahead {
            tracing::warn!(ahead_ms, "the clock of the machine went back; time waits for it");
        } else if !is_ahead && self.is_ahead {
            tracing::info!("the clock of the machine has caught up");
        }
        self.is_ahead = is_ahead;
    }
}

pub(crate) struct SqliteWriter {
    shared: Arc<Shared>,
    number: u64,
    seen: Seen,
}

impl SqliteWriter {
    pub(crate) fn new(shared: Arc<Shared>, lane: u16) -> Result<Self, StoreError> {
        if lane != 0 {
            let message = format!("SQLite has one writer, lane 0; there is no lane {lane}");
            return Err(StoreError::Unavailable(message.into()));
        }
        let mut core = lock(&shared);
        core.writers += 1;
        let number = core.writers;
        drop(core);
        Ok(Self { shared, number, seen: Seen::default() })
    }
}

impl SqliteWriter {
    /// Before anybody is told.
    fn note(&self, stamp: Stamp) {
        if stamp.lane == 0 {
            self.shared.commits.note(LastCommit { round: stamp.round, at: stamp.at });
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Core> {
    shared.core.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn waiting(shared: &Shared) -> BTreeMap<Queue, usize> {
    lock(shared).mirror.waiting()
}

pub(crate) fn held(shared: &Shared) -> BTreeMap<String, u64> {
    lock(shared).mirror.held()
}

pub(crate) fn in_flight(shared: &Shared, task_type: &str) -> usize {
    lock(shared).mirror.in_flight(task_type)
}

/// The core, if it is still this writer's to use.
fn enter(shared: &Shared, number: u64) -> Result<MutexGuard<'_, Core>, StoreError> {
    let core = lock(shared);
    if core.writers != number {
        return Err(StoreError::Contended);
    }
    if core.is_unknown {
        return Err(StoreError::Unknown);
    }
    Ok(core)
}

impl Writer for SqliteWriter {
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError> {
        let mut core = enter(&self.shared, self.number)?;
        let now = core.look(&self.shared.clock)?;
        let Core { connection, mirror, .. } = &mut *core;
        hold::hold(connection, mirror, &mut self.seen, touches, now)
    }

    fn commit(&mut self, writes: Writes) -> Result<(), StoreError> {
        let mut core = enter(&self.shared, self.number)?;
        self.shared.at_hand.forget(&writes);
        let done = write::round(&core.connection, &core.mirror, &writes, &self.seen);
        self.seen.clear();
        match &done {
            Ok(()) => {
                self.note(writes.stamp);
                core.mirror.follow(&writes);
                self.shared.at_hand.note(&writes);
            }
            Err(StoreError::Unknown) => core.is_unknown = true,
            Err(_) => {}
        }
        if done.is_ok() && !writes.documents.is_empty() {
            self.shared.documents_generation.fetch_add(1, Ordering::Release);
        }
        done
    }

    fn release(&mut self) {
        self.seen.clear();
    }

    fn happened(&mut self, stamp: Stamp) -> Result<bool, StoreError> {
        let core = enter(&self.shared, self.number)?;
        Ok(hold::last_round(&core.connection, stamp.lane)? == Some(stamp.round))
    }

    fn due(&mut self, now: Timestamp, max: usize) -> Result<Due, StoreError> {
        let mut core = enter(&self.shared, self.number)?;
        core.look(&self.shared.clock)?;
        core.tell_skew(&self.shared.clock);
        Ok(core.mirror.due(now, max))
    }

    fn next_due(&self) -> Option<Timestamp> {
        lock(&self.shared).mirror.next_due()
    }
}

#[cfg(test)]
mod tests {
    use semel_engine::Delivery;
    use semel_store::Store;
    use semel_store::conformance::samples;
    use tempfile::TempDir;

    use super::*;
    use crate::SqliteStore;

    fn open() -> (TempDir, SqliteStore) {
        let directory = TempDir::new().unwrap();
        let clock = Arc::new(Clock::manual(samples::BEGIN));
        let store = SqliteStore::open(directory.path(), clock).unwrap();
        (directory, store)
    }

    fn execute(store: &SqliteStore, sql: &str) {
        lock(&store.shared).connection.execute_batch(sql).unwrap();
    }

    fn one_entry() -> Writes {
        let entries = vec![(samples::execution(1), 1, b"entry".to_vec())];
        Writes { entries, ..samples::put_heads([samples::head(1)]) }
    }

    #[test]
    fn a_round_that_fails_leaves_nothing_behind() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        writer.commit(one_entry()).unwrap();
        let again = Writes {
            heads: samples::put_heads([samples::head(2)]).heads,
            deliveries: samples::put_deliveries([samples::delivery(2, 1)]).deliveries,
            ..one_entry()
        };
        let error = writer.commit(again).unwrap_err();
        assert!(error.to_string().contains("entry 1 of execution 01010101"), "{error}");
        assert_eq!(store.head(samples::execution(2)).unwrap(), None);
        let wanted = [(samples::queue("work"), 9)].into();
        let held = writer.hold(&Touches { wanted, ..Touches::default() }).unwrap();
        assert!(held.deliveries.is_empty(), "the mirror did not follow");
        writer.commit(samples::put_heads([samples::head(2)])).unwrap();
    }

    #[test]
    fn a_full_disk_rolls_the_round_back_and_the_next_one_goes_on() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        writer.commit(one_entry()).unwrap();
        execute(&store, "PRAGMA max_page_count = 30");
        let large = vec![(samples::execution(1), 2, vec![0; 1 << 20])];
        let heads = samples::put_heads([samples::full_head(1)]);
        let error = writer.commit(Writes { entries: large, ..heads }).unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
        assert_eq!(store.head(samples::execution(1)).unwrap(), Some(samples::head(1)));
        writer.commit(samples::put_heads([samples::head(2)])).unwrap();
    }

    #[test]
    fn after_an_unknown_commit_nothing_is_held_written_or_answered() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        lock(&store.shared).is_unknown = true;
        assert!(matches!(writer.hold(&Touches::default()), Err(StoreError::Unknown)));
        assert!(matches!(writer.commit(one_entry()), Err(StoreError::Unknown)));
        assert!(matches!(writer.happened(Stamp::default()), Err(StoreError::Unknown)));
    }

    #[test]
    fn a_replaced_writer_writes_nothing_more() {
        let (_directory, store) = open();
        let mut first = store.writer(0).unwrap();
        let mut second = store.writer(0).unwrap();
        assert!(matches!(first.commit(one_entry()), Err(StoreError::Contended)));
        second.commit(one_entry()).unwrap();
    }

    #[test]
    fn leases_get_the_time_in_which_this_process_stood_still() {
        const HOUR_MS: i64 = 3_600_000;
        let (directory, store) = open();
        let clock = Arc::clone(store.clock());
        let mut writer = store.writer(0).unwrap();
        let row = samples::leased(samples::delivery(1, 1), samples::BEGIN);
        let (place, until) = (samples::place_of(&row), row.hand_out.lease_until.unwrap());
        let stamp = Stamp { lane: 0, round: 1, at: samples::BEGIN, fence: 1 };
        writer.commit(Writes { stamp, ..samples::put_deliveries([row]) }).unwrap();
        clock.freeze_ms(HOUR_MS);
        let due = writer.due(clock.now(), 9).unwrap();
        assert!(due.deliveries.is_empty(), "it could not be renewed: {due:?}");
        let lease = |store: &SqliteStore| store.delivery(place).unwrap().unwrap().hand_out;
        assert_eq!(lease(&store).lease_until, Some(until.plus_ms(HOUR_MS)));
        clock.freeze_ms(HOUR_MS);
        let touches = Touches { deliveries: [place].into(), ..Touches::default() };
        let held = writer.hold(&touches).unwrap();
        let found = held.deliveries[&place].as_ref().unwrap().hand_out.lease_until;
        assert_eq!(found, Some(until.plus_ms(2 * HOUR_MS)), "decided on what it is now");
        drop((writer, store));
        let store = SqliteStore::open(directory.path(), Arc::clone(&clock)).unwrap();
        assert_eq!(lease(&store).lease_until, found, "the time is not credited twice");
        let mut writer = store.writer(0).unwrap();
        clock.advance_ms(59_000);
        assert!(writer.due(clock.now(), 9).unwrap().deliveries.is_empty());
        clock.advance_ms(2_000);
        assert_eq!(writer.due(clock.now(), 9).unwrap().deliveries, [place]);
    }

    #[test]
    fn there_is_one_lane() {
        let (_directory, store) = open();
        assert!(matches!(store.writer(1), Err(StoreError::Unavailable(_))));
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let (_directory, store) = open();
        let row = samples::delivery(1, 2);
        store.writer(0).unwrap().commit(samples::put_deliveries([row.clone()])).unwrap();
        execute(&store, "UPDATE deliveries SET input = x'ff'");
        let error = store.delivery(samples::place_of(&row)).unwrap_err();
        assert!(matches!(&error, StoreError::Corrupt(_)), "{error}");
        let name = format!("delivery {} of execution {}", row.task, row.execution);
        assert!(error.to_string().contains(&name), "{error}");
    }

    #[test]
    fn payloads_that_lie_apart_go_with_their_row() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        let small = samples::delivery(1, 1);
        let input = samples::payload(&format!("\"{}\"", "x".repeat(5_000)));
        let large = Delivery { input, ..small.clone() };
        let at = samples::place_of(&small);
        let apart = |store: &SqliteStore| -> u32 {
            let sql = "SELECT count(*) FROM delivery_payloads";
            lock(&store.shared).connection.query_row(sql, [], |row| row.get(0)).unwrap()
        };
        for is_held in [true, false] {
            for (row, count) in
                [(Some(&large), 1), (Some(&small), 0), (Some(&large), 1), (None, 0), (None, 0)]
            {
                if is_held {
                    let deliveries = [at].into();
                    writer.hold(&Touches { deliveries, ..Touches::default() }).unwrap();
                }
                let deliveries = [(at, row.cloned())].into();
                writer.commit(Writes { deliveries, ..Writes::default() }).unwrap();
                assert_eq!(store.delivery(at).unwrap().as_ref(), row);
                assert_eq!(apart(&store), count);
            }
        }
    }

    #[test]
    fn payloads_that_lie_apart_go_with_a_removed_execution() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        let input = samples::payload(&format!("\"{}\"", "x".repeat(5_000)));
        let large = |at| Delivery { input: input.clone(), ..samples::delivery(at, 1) };
        writer.commit(samples::put_deliveries([large(1), large(2)])).unwrap();
        let removed = [samples::execution(1), samples::execution(3)].into();
        let again = samples::put_deliveries([large(1), large(3)]);
        writer.commit(Writes { removed, ..again }).unwrap();
        let of = "SELECT DISTINCT execution FROM delivery_payloads";
        let of = lock(&store.shared).connection.query_row(of, [], |row| row.get(0)).unwrap();
        assert_eq!(semel_model::ExecutionId::from_bytes(of), samples::execution(2));
    }

    #[test]
    fn a_message_without_an_address_is_named() {
        let (_directory, store) = open();
        let mut writer = store.writer(0).unwrap();
        let row = samples::message(1, 7, 2);
        writer.commit(samples::put_messages([row.clone()])).unwrap();
        execute(&store, "UPDATE messages SET receiver = NULL");
        let error = writer.hold(&Touches { messages: [row.key].into(), ..Touches::default() });
        let error = error.unwrap_err();
        assert!(matches!(&error, StoreError::Corrupt(_)), "{error}");
        let name = format!("message 2 of entry 7 of execution {}", row.key.from);
        assert!(error.to_string().contains(&name), "{error}");
    }
}
