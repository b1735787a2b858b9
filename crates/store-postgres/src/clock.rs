//! # The clock of the database
//!
//! Every round reads it. Between two looks this node goes on from the last one by its own monotonic
//! clock, so asking for the time costs nothing; decisions are made on what the round has read. Time
//! never goes back: where the database's clock does, it stands still until it is where it was.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use semel_model::Timestamp;
use semel_store::{Elsewhere, StoreError};
use tokio_postgres::Row;

use crate::asks::values;
use crate::columns::Fields;
use crate::due::NextKnown;
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

/// From here on the log tells that the clock is behind.
const AHEAD_MS_TOLD: i64 = 5_000;

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

/// The time of this node.
pub(crate) struct DatabaseClock(Mutex<State>);

#[derive(Clone, Copy)]
struct State {
    /// The last look, and when that was.
    seen: Seen,
    at: Instant,
    /// Somebody was told that it is so late already.
    said: Timestamp,
    /// The log has told that the clock of the database is behind.
    is_told: bool,
}

impl State {
    fn now(&self) -> Timestamp {
        self.shown().max(self.said)
    }

    /// What the database's clock shows, as far as this node knows.
    fn shown(&self) -> Timestamp {
        let passed_ms = match self.seen.stands {
            true => 0,
            false => i64::try_from(self.at.elapsed().as_millis()).unwrap_or(i64::MAX),
        };
        self.seen.now.plus_ms(passed_ms)
    }

    fn skew_ms(&self) -> i64 {
        self.now().since_ms(self.shown())
    }

    /// One line when the clock turns out to be behind, and one when it has caught up.
    fn tell(&mut self) {
        let ahead_ms = self.skew_ms();
        let is_behind = !self.seen.stands && ahead_ms > AHEAD_MS_TOLD;
        if is_behind && !self.is_told {
            tracing::warn!(
                ahead_ms,
                "the clock of the database is behind the time of the data: time stands still until the \
                 clock has caught up; keep it with NTP"
            );
        } else if self.is_told && !is_behind {
            tracing::info!("the clock of the database has caught up with the time of the data");
        }
        self.is_told = is_behind;
    }
}

impl DatabaseClock {
    /// Not before the last commit of any node.
    pub(crate) fn new(seen: Seen, last: Timestamp) -> Self {
        let mut state = State { seen, at: Instant::now(), said: last, is_told: false };
        state.tell();
        Self(Mutex::new(state))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.state().now()
    }

    /// What time it was then: never before what was said, even if the look was.
    pub(crate) fn note(&self, seen: Seen) -> Timestamp {
        let mut state = self.state();
        let said = state.now();
        *state = State { seen, at: Instant::now(), said, ..*state };
        state.tell();
        seen.now.max(said)
    }

    /// How far time is ahead of the clock of the database. None: it only moves when somebody moves it.
    pub(crate) fn skew_ms(&self) -> Option<i64> {
        let state = self.state();
        (!state.seen.stands).then(|| state.skew_ms())
    }

    /// Whether it only moves when somebody moves it.
    pub(crate) fn stands(&self) -> bool {
        self.state().seen.stands
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same for everybody who only wants to know the time, or to move it.
pub(crate) struct Kept {
    pub(crate) clock: Arc<DatabaseClock>,
    pub(crate) readers: Arc<Readers>,
    pub(crate) next: Arc<NextKnown>,
}

impl Elsewhere for Kept {
    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn skew_ms(&self) -> Option<i64> {
        self.clock.skew_ms()
    }

    fn advance_ms(&self, ms: i64) {
        let moved = self.readers.write(async |session| {
            session.rows(ADVANCE, values![ms]).await?;
            session.rows(LOOK, Vec::new()).await
        });
        match moved.and_then(|rows| Seen::of(&rows)) {
            Ok(seen) => drop(self.clock.note(seen)),
            Err(error) => tracing::error!(%error, "the clock cannot be moved"),
        }
        self.next.forget(); // Other nodes may have written something that is due by then.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ms: i64) -> Seen {
        Seen { now: Timestamp::from_ms(ms), stands: true, documents_generation: 0 }
    }

    #[test]
    fn how_far_time_is_ahead_of_the_clock_is_known() {
        let at = Timestamp::from_ms;
        let looked = |ms| Seen { stands: false, ..seen(ms) };
        let clock = DatabaseClock::new(looked(0), at(60_000));
        let skew = |clock: &DatabaseClock| clock.skew_ms().unwrap();
        assert!((59_000..=60_000).contains(&skew(&clock)), "{}", skew(&clock));
        clock.note(looked(50_000));
        assert!((9_000..=10_000).contains(&skew(&clock)), "{}", skew(&clock));
        clock.note(looked(61_000));
        assert_eq!(skew(&clock), 0);
        assert_eq!(DatabaseClock::new(seen(0), at(60_000)).skew_ms(), None, "tests move it");
    }

    #[test]
    fn time_stands_still_until_the_database_has_caught_up() {
        let at = Timestamp::from_ms;
        let clock = DatabaseClock::new(seen(5), at(9));
        assert_eq!(clock.now(), at(9), "somebody has committed then");
        for (ms, now) in [(7, 9), (20, 20), (3, 20), (19, 20), (21, 21)] {
            assert_eq!(clock.note(seen(ms)), at(now));
            assert_eq!(clock.now(), at(now));
        }
    }
}
