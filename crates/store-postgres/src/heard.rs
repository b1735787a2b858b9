//! # Heard: when the database last answered a lane of this node
//!
//! Lanes ask several times a second. If nothing was heard for long the database, or this process,
//! has stood still, also where no connection was lost, and leases may have to get that time. Until
//! that is found out it stays so: nobody's answer makes it look as if nothing had been.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shorter than that anything may be kept waiting.
const SILENCE: Duration = Duration::from_secs(5);

pub(crate) struct Heard {
    last: Mutex<Instant>,
    grace: Duration,
}

impl Heard {
    pub(crate) fn new(grace_ms: i64) -> Self {
        let grace = Duration::from_millis(u64::try_from(grace_ms).unwrap_or(0));
        Self { last: Mutex::new(Instant::now()), grace: grace.max(SILENCE) }
    }

    /// An answer was heard.
    pub(crate) fn note(&self) {
        let mut last = self.last();
        if last.elapsed() <= self.grace {
            *last = Instant::now();
        }
    }

    pub(crate) fn was_silent(&self) -> bool {
        self.last().elapsed() > self.grace
    }

    /// Leases have got what they have lost.
    pub(crate) fn made_up_for(&self) {
        *self.last() = Instant::now();
    }

    fn last(&self) -> MutexGuard<'_, Instant> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_lasts_until_it_is_made_up_for() {
        let mut heard = Heard::new(3_600_000);
        heard.note();
        assert!(!heard.was_silent());
        heard.grace = Duration::ZERO;
        heard.note();
        assert!(heard.was_silent(), "an answer does not end it");
        heard.grace = Duration::from_secs(3_600);
        heard.made_up_for();
        assert!(!heard.was_silent());
    }
}
