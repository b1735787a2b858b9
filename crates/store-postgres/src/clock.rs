//! # The clock of the database
//!
//! Every round reads it. Between two looks this node goes on from the last one by its own monotonic
//! clock, so asking for the time costs nothing; decisions are made on what the round has read.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use semel_model::Timestamp;
use semel_store::{Elsewhere, StoreError};
use tokio_postgres::Row;

use crate::asks::values;
use crate::columns::Fields;
use crate::readers::Readers;

/// The time as SQL.
macro_rules! now_ms {
    () => {
        "(SELECT coalesce(stands_at, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
          + offset_ms FROM clock)"
    };
}

pub(crate) use now_ms;

/// The time, whether it stands still, and the generation of the documents.
pub(crate) const LOOK: &str = concat!(
    "SELECT ",
    now_ms!(),
    ", (SELECT stands_at IS NOT NULL FROM clock), \
     (SELECT value FROM meta WHERE name = 'documents_generation')"
);
const ADVANCE: &str = "UPDATE clock SET offset_ms = offset_ms + $1";

/// What one look has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) now: Timestamp,
    pub(crate) stands: bool,
    pub(crate) documents_generation: u64,
}

impl Seen {
    pub(crate) fn of(rows: &[Row]) -> Result<Self, StoreError> {
        let row =
            rows.first().ok_or_else(|| StoreError::Corrupt("the clock is gone".to_owned()))?;
        let mut fields = Fields::of(row);
        Ok(Self {
            now: fields.time()?,
            stands: fields.next()?,
            documents_generation: fields.count()?,
        })
    }
}

/// The last look, and when that was.
pub(crate) struct DatabaseClock {
    last: Mutex<(Seen, Instant)>,
}

impl DatabaseClock {
    pub(crate) fn new(seen: Seen) -> Self {
        Self { last: Mutex::new((seen, Instant::now())) }
    }

    pub(crate) fn now(&self) -> Timestamp {
        let last = self.last();
        let (seen, at) = *last;
        match seen.stands {
            true => seen.now,
            false => seen.now.plus_ms(i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX)),
        }
    }

    /// Never back: a look that was answered late says nothing new.
    pub(crate) fn note(&self, seen: Seen) {
        let now = self.now();
        *self.last() = (Seen { now: seen.now.max(now), ..seen }, Instant::now());
    }

    fn last(&self) -> MutexGuard<'_, (Seen, Instant)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same for everybody who only wants to know the time, or to move it.
pub(crate) struct Kept {
    pub(crate) clock: Arc<DatabaseClock>,
    pub(crate) readers: Arc<Readers>,
}

impl Elsewhere for Kept {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn advance_ms(&self, ms: i64) {
        let moved = self.readers.write(async |session| {
            session.rows(ADVANCE, values![ms]).await?;
            session.rows(LOOK, Vec::new()).await
        });
        match moved.and_then(|rows| Seen::of(&rows)) {
            Ok(seen) => self.clock.note(seen),
            Err(error) => tracing::error!(%error, "the clock cannot be moved"),
        }
    }
}
