//! # An outage of the store: one line when it begins, one when it is over
//!
//! While the store does not answer, every round and every look fails, many times a second. Only the first is worth a
//! line; the last line says what the others were.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use semel_store::StoreError;

/// Of the store, as this process sees it.
#[derive(Default)]
pub(crate) struct Outage(Mutex<Option<Under>>);

struct Under {
    since: Instant,
    failures: u64,
}

impl Outage {
    /// Something could not be done. Of a store that does not answer it is said once; anything else is always said.
    pub(crate) fn failed(&self, error: &StoreError, what: &'static str) {
        if !matches!(error, StoreError::Unavailable(_)) {
            return tracing::error!(%error, "{what}");
        }
        let mut under = self.lock();
        if let Some(under) = &mut *under {
            under.failures += 1;
            return tracing::debug!(%error, "{what}");
        }
        *under = Some(Under { since: Instant::now(), failures: 1 });
        tracing::warn!(
            %error, what,
            "the store cannot be used; requests are answered 503, and the next line comes when that is over"
        );
    }

    /// The store did something.
    pub(crate) fn over(&self) {
        let Some(Under { since, failures }) = self.lock().take() else { return };
        let seconds = since.elapsed().as_secs();
        tracing::warn!(seconds, failures, "the store can be used again");
    }

    fn lock(&self) -> MutexGuard<'_, Option<Under>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
