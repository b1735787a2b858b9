//! # Claims that lapse: nobody knows what their owner has done
//!
//! An owner outside has an effect for the time of a lease. When the lease is over and the owner has
//! said nothing, the effect is in doubt, from the end of the lease on.

use semel_model::Timestamp;

use crate::ledger::{LetsGo, Ruled, Ruling};
use crate::once::is_effect;
use crate::record::{Record, RecordKey, RecordState};

impl Record {
    /// Its owner has not been heard of in time.
    pub fn has_lapsed(&self, now: Timestamp) -> bool {
        self.detail.lease_until.is_some_and(|until| until <= now)
    }

    /// The state as it is seen from outside: of a claim that has lapsed nobody knows.
    pub fn state_at(&self, now: Timestamp) -> RecordState {
        if self.is_lost(now) { RecordState::Unknown } else { self.state }
    }

    pub(crate) fn is_lost(&self, now: Timestamp) -> bool {
        self.state == RecordState::Claimed && self.has_lapsed(now)
    }

    /// When an effect that somebody outside does comes into doubt, unless its owner says something
    /// before.
    pub fn lapses_at(&self, key: &RecordKey) -> Option<Timestamp> {
        let is_outside = self.state == RecordState::Claimed && self.run.is_none();
        self.detail.lease_until.filter(|_| is_outside && is_effect(key))
    }

    /// Since when nobody knows the outcome.
    pub fn doubted_at(&self) -> Option<Timestamp> {
        let since = self.detail.decided_at.or(self.detail.lease_until);
        (self.state == RecordState::Unknown).then(|| since.unwrap_or(self.created_at))
    }

    /// A claim whose lease is over.
    pub(crate) fn lapsed(&self) -> Self {
        let mut unknown = Self { state: RecordState::Unknown, ..self.clone() };
        unknown.detail.decided_at = self.detail.lease_until;
        unknown
    }
}

/// The lease of a claim is over: whoever waits hears that nobody knows.
pub(crate) fn lapse(record: &Record) -> Ruling {
    let unknown = record.lapsed();
    let verdict = Ruled::Unknown(Box::new(unknown.clone()));
    Ruling { record: Some(unknown), verdict, lets_go: LetsGo::All }
}
