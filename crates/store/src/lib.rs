//! # The store: where what is so is kept
//!
//! A handful of verbs, none of which knows a task type: [`Writer::hold`] and [`Writer::commit`] of a
//! round, [`Writer::due`], and reads of committed data on [`Store`]. A round's writes are one
//! transaction; when `commit` returns they survive any crash.
//!
//! **May use:** the engine's rows as plain data. **May not:** judge them.

#![warn(clippy::wildcard_enum_match_arm)]

mod census;
mod chain;
mod clock;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod index;
mod memory;
mod mirror;
mod rows;
pub mod search;
mod set_back;
mod shelf;
pub mod transfer;
mod waits;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_engine::{Delivery, Head, Queue, Record, RecordKey};
use semel_model::{Digest, ExecutionId, Timestamp};

pub use census::{About, Census};
pub use chain::Chain;
pub use clock::{Clock, Elsewhere};
pub use index::{
    Batch, HandedOver, Index, Indexed, RunRow, Stretch, TASK_WORDS_BYTES_MAX, TaskRow,
    WORDS_BYTES_MAX, Words, within,
};
pub use memory::{CommitFault, MemoryStore, Plant};
pub use mirror::{Mirror, Rank};
pub use rows::{
    DUE_LEASE_MS, DocumentKey, Due, Held, Kind, LimitRow, Loaded, LogLine, Place, Polled, Row,
    Stamp, Touches, Writes,
};
pub use set_back::{SET_BACK_NAMED_MAX, SetBack};
pub use shelf::{After, Item, Noted, Page, Shelf};
pub use waits::{Open, OpenWaits, PLACES_PER_MS, Waits, joined_at, line_kind};

/// Thirty days of a fence's clock, in its unit (microseconds). A floor that is lifted so far lies above
/// all that can have been drawn and forgotten, also by a clock that was that far ahead.
pub const FENCE_MARGIN: u64 = 30 * 24 * 3_600 * 1_000_000;

/// Named by what the caller must do, not by what the database said.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the commit may or may not have happened")]
    Unknown,
    #[error("rows are contended")]
    Contended,
    #[error("storage is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("stored data does not parse: {0}")]
    Corrupt(String),
    #[error("another process works under the name of this node")]
    Replaced,
}

/// Hears of queues in which there is something to take; none: it may be any.
pub type Hear = Box<dyn Fn(BTreeSet<Queue>) + Send + Sync>;

/// Committed data, readable by anybody. Reads never wait for a round.
pub trait Store: Waits + Send + Sync {
    /// A lane's own way in. Each lane has one; a second for the same lane replaces the first.
    fn writer(&self, lane: u16) -> Result<Box<dyn Writer>, StoreError>;

    /// Whether other processes commit to it too. What they change is seen by whoever looks again.
    fn is_shared(&self) -> bool {
        false
    }

    /// The last poll of each queue that other processes have told of; lost in a crash.
    fn polls(&self) -> Result<Vec<Polled>, StoreError> {
        Ok(Vec::new())
    }

    /// Tells other processes, if there are any.
    fn note_poll(&self, polled: &Polled) -> Result<(), StoreError> {
        let _ = polled;
        Ok(())
    }

    /// Tells other processes, if there are any, that there are tasks in these queues which nobody here
    /// waits for. Only a hint.
    fn hint(&self, queues: BTreeSet<Queue>) {
        let _ = queues;
    }

    /// Called from now on, on any thread, with what others hint at.
    fn on_hint(&self, hear: Hear) {
        drop(hear);
    }

    fn clock(&self) -> &Arc<Clock>;

    fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// Head, entries after `after_seq` and delivery rows, all from one moment.
    fn load(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError>;

    /// The same without deliveries.
    fn journal(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        let loaded = self.load(id, after_seq)?;
        Ok(loaded.map(|loaded| Loaded { deliveries: Vec::new(), ..loaded }))
    }

    fn head(&self, id: ExecutionId) -> Result<Option<Head>, StoreError>;

    fn delivery(&self, place: Place) -> Result<Option<Delivery>, StoreError>;

    fn record(&self, key: &RecordKey) -> Result<Option<Record>, StoreError>;

    /// The same where it can be told without waiting for anybody, in the time of a look into
    /// memory; none says nothing.
    fn record_at_hand(&self, _key: &RecordKey) -> Result<Option<Record>, StoreError> {
        Ok(None)
    }

    /// Records after that key whose scope begins so, by scope and key.
    fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Result<Vec<(RecordKey, Record)>, StoreError>;

    /// Runs that ended before then, earliest first, those of the same time by id.
    fn ended_before(&self, before: Timestamp, max: usize) -> Result<Vec<ExecutionId>, StoreError>;

    /// Records that have expired by `now`, earliest first, those of the same time by key.
    fn expired_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError>;

    /// Effects of owners outside whose lease is over by `now`, earliest first, those of the same time by
    /// key.
    fn lapsed_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError>;

    /// The last lines written about a task, oldest first.
    fn logs(&self, place: Place, max: usize) -> Result<Vec<LogLine>, StoreError>;

    /// How many tasks wait in each queue, ready or not.
    fn waiting(&self) -> Result<BTreeMap<Queue, usize>, StoreError>;

    /// How many runs whose lineage began with that one have not ended; not more than `max` are counted.
    fn open_descendants(&self, root: ExecutionId, max: u64) -> Result<u64, StoreError>;

    /// What there is, counted.
    fn census(&self) -> Result<Census, StoreError>;

    fn about(&self) -> Result<About, StoreError>;

    /// A pinned definition by its digest.
    fn pinned(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError>;

    fn document(&self, key: &DocumentKey) -> Result<Option<Vec<u8>>, StoreError>;

    /// What there is to be searched by; never needed to know what is so.
    fn index(&self) -> &dyn Index;

    /// Executions after that id and where their journals end, by id.
    fn ends_of_journals(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, u64)>, StoreError>;

    /// All documents of a kind, or those of one name, by name and version.
    fn documents(
        &self,
        kind: Kind,
        name: Option<&str>,
    ) -> Result<Vec<(DocumentKey, Vec<u8>)>, StoreError>;

    /// Grows with every commit that writes a document; what was read before may be stale after.
    fn documents_generation(&self) -> Result<u64, StoreError>;

    /// The number of the lane's last committed round: a new process counts on from there, so that
    /// no two rounds of a lane ever share a number.
    fn last_round(&self, lane: u16) -> Result<u64, StoreError>;

    /// Floor for fences: above every fence a commit has ever noted.
    fn fence_floor(&self) -> Result<u64, StoreError>;

    /// When it was last known to be alive; none before the first commit.
    fn last_at(&self) -> Result<Option<Timestamp>, StoreError>;

    /// The next rows of a shelf, in the order of their keys; none at its end. For those who want all.
    fn walk(&self, after: &After, page: Page) -> Result<Vec<Item>, StoreError>;
}

/// One lane's rounds. Everything held is released by `commit` or `release`.
pub trait Writer: Send {
    /// Reads and holds rows, in one global order. What another lane holds is skipped, not waited for.
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError>;

    /// Writes the round in one transaction and returns when it is durable.
    fn commit(&mut self, writes: Writes) -> Result<(), StoreError>;

    /// Gives up what is held, with nothing written.
    fn release(&mut self);

    /// Did the round with this stamp happen? Asked after [`StoreError::Unknown`].
    fn happened(&mut self, stamp: Stamp) -> Result<bool, StoreError>;

    /// What has come due, leased to this lane for a while so that nobody else fires it too.
    fn due(&mut self, now: Timestamp, max: usize) -> Result<Due, StoreError>;

    /// How many tasks can be taken from each of these queues, up to `max`. Only a store that is shared
    /// has something to tell that its commits did not.
    fn offers(
        &mut self,
        queues: &BTreeSet<Queue>,
        max: usize,
    ) -> Result<BTreeMap<Queue, usize>, StoreError> {
        let _ = (queues, max);
        Ok(BTreeMap::new())
    }

    /// When `due` will next have something, or a waited-for task becomes ready, as far as known.
    fn next_due(&self) -> Option<Timestamp>;
}
