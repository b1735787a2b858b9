//! # Waits: what waits for what, for people who ask why
//!
//! Plain reads of committed data that hold nothing; nothing is decided by them.

use std::collections::BTreeMap;

use semel_engine::{MessageRow, RecordKey};
use semel_model::Timestamp;

use crate::StoreError;
use crate::rows::LimitRow;

/// The unit of the places in a line, per millisecond: places are drawn like fences, by the clock.
pub const PLACES_PER_MS: u64 = 1_000;

/// How many of a kind are open, and since when the oldest is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Open {
    pub count: u64,
    pub oldest: Option<Timestamp>,
}

/// What is open at one look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenWaits {
    /// Messages that wait for records, by what the scope of the record begins with.
    pub lines: BTreeMap<String, Open>,
    /// Executions that are left alone, by their last change.
    pub parked: Open,
    /// Records of which nobody knows the outcome, by the moment that began.
    pub unknown: Open,
}

pub trait Waits: Send + Sync {
    /// How much of the limits of a task type is used.
    fn limit(&self, task_type: &str) -> Result<LimitRow, StoreError>;

    /// The messages that wait for a record, oldest first.
    fn line(&self, record: &RecordKey, max: usize) -> Result<Vec<MessageRow>, StoreError>;

    fn open_waits(&self) -> Result<OpenWaits, StoreError>;
}

/// When whoever has this place joined the line.
pub fn joined_at(place: u64) -> Timestamp {
    Timestamp::from_ms(i64::try_from(place / PLACES_PER_MS).unwrap_or(i64::MAX))
}

/// `gate:checkout` is a gate.
pub fn line_kind(scope: &str) -> &str {
    scope.split(':').next().unwrap_or(scope)
}

impl Open {
    pub fn add(&mut self, since: Timestamp) {
        self.count += 1;
        self.oldest = Some(self.oldest.map_or(since, |oldest| oldest.min(since)));
    }
}
