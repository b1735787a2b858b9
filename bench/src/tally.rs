//! # Tally: what the load generator counted
//!
//! One shared set of counters for all connections; a window is the difference of two readings.
//! **May not:** measure time or judge a count; `report` prints, the reader judges.

use std::sync::{Mutex, PoisonError};

/// How many failures are shown in full on stderr; the rest are only counted.
const FAILURES_SHOWN_MAX: u64 = 5;
/// A run with this many failures issues no further starts: the server is gone or broken.
pub(crate) const FAILURES_MAX: u64 = 1000;

#[derive(Default)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
}

#[derive(Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) tasks: u64,
    pub(crate) polls: u64,
    pub(crate) polls_empty: u64,
    pub(crate) tasks_handed_by_update: u64,
    pub(crate) answers_refused: u64,
    pub(crate) connections_broken: u64,
    pub(crate) answers_throttled: u64,
}

impl Tally {
    pub(crate) fn add(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn read(&self) -> Counts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a failure and shows the first few, so a broken run explains itself.
    pub(crate) fn fail(&self, what: &str, change: impl FnOnce(&mut Counts)) {
        self.add(change);
        if self.read().failures() <= FAILURES_SHOWN_MAX {
            eprintln!("failed: {what}");
        }
    }
}

impl Counts {
    pub(crate) fn failures(&self) -> u64 {
        self.answers_refused + self.connections_broken
    }

    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            tasks: self.tasks - earlier.tasks,
            polls: self.polls - earlier.polls,
            polls_empty: self.polls_empty - earlier.polls_empty,
            tasks_handed_by_update: self.tasks_handed_by_update - earlier.tasks_handed_by_update,
            answers_refused: self.answers_refused - earlier.answers_refused,
            connections_broken: self.connections_broken - earlier.connections_broken,
            answers_throttled: self.answers_throttled - earlier.answers_throttled,
        }
    }
}
