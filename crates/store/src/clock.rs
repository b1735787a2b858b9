//! # The clock: time as the store tells it
//!
//! Monotonic since the process began, set by the wall clock and never behind the last commit; when
//! the wall clock steps, this one follows slowly, so a step expires nothing. Tests move it. A store
//! of many nodes keeps the time for all of them ([`Elsewhere`]).

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use semel_model::Timestamp;

/// At most this many milliseconds of correction per second.
const SLEW_MS_PER_SECOND: i64 = 1;

pub struct Clock(Mutex<Source>);

/// A clock that somebody else keeps.
pub trait Elsewhere: Send + Sync {
    /// Never earlier than what it said before.
    fn now(&self) -> Timestamp;

    /// Moves time forward for everybody who goes by it; tests only.
    fn advance_ms(&self, ms: i64);
}

enum Source {
    Elsewhere(Box<dyn Elsewhere>),
    Wall { base: Timestamp, since: Instant, offset_ms: i64, slewed_at: Instant },
    Manual(Timestamp),
}

impl Clock {
    pub fn wall() -> Self {
        let since = Instant::now();
        Self(Mutex::new(Source::Wall { base: wall_time(), since, offset_ms: 0, slewed_at: since }))
    }

    /// Stands still until it is advanced.
    pub fn manual(start: Timestamp) -> Self {
        Self(Mutex::new(Source::Manual(start)))
    }

    pub fn elsewhere(clock: impl Elsewhere + 'static) -> Self {
        Self(Mutex::new(Source::Elsewhere(Box::new(clock))))
    }

    pub fn now(&self) -> Timestamp {
        let mut source = self.source();
        match &mut *source {
            Source::Elsewhere(clock) => clock.now(),
            Source::Manual(now) => *now,
            Source::Wall { base, since, offset_ms, slewed_at } => {
                slew(base, *since, slewed_at, wall_time());
                base.plus_ms(millis(since.elapsed()) + *offset_ms)
            }
        }
    }

    /// Moves time forward; tests only.
    pub fn advance_ms(&self, ms: i64) {
        match &mut *self.source() {
            Source::Elsewhere(clock) => clock.advance_ms(ms),
            Source::Manual(now) => *now = now.plus_ms(ms),
            Source::Wall { offset_ms, .. } => *offset_ms += ms,
        }
    }

    /// The store has seen a later time than the wall shows: go on from there.
    pub fn not_before(&self, floor: Timestamp) {
        let now = self.now();
        if floor > now {
            self.advance_ms(floor.since_ms(now));
        }
    }

    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

fn slew(base: &mut Timestamp, since: Instant, slewed_at: &mut Instant, wall: Timestamp) {
    let passed = slewed_at.elapsed();
    if passed < Duration::from_secs(1) {
        return;
    }
    let drift = wall.since_ms(base.plus_ms(millis(since.elapsed())));
    let most = SLEW_MS_PER_SECOND * i64::try_from(passed.as_secs()).unwrap_or(0);
    *base = base.plus_ms(drift.clamp(-most, most));
    *slewed_at = Instant::now();
}

fn wall_time() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(millis(since))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_still_until_advanced() {
        let clock = Clock::manual(Timestamp::from_ms(5));
        assert_eq!(clock.now(), clock.now());
        clock.advance_ms(10);
        assert_eq!(clock.now(), Timestamp::from_ms(15));
    }

    #[test]
    fn a_step_of_the_wall_clock_is_followed_slowly() {
        for step_ms in [3_600_000, -3_600_000] {
            let begin = Timestamp::from_ms(1_767_225_600_000);
            let (mut base, wall) = (begin, begin.plus_ms(step_ms));
            // Ten seconds have passed, as the monotonic clock has it.
            let since = Instant::now();
            let mut slewed_at = since.checked_sub(Duration::from_secs(10)).unwrap();
            slew(&mut base, since, &mut slewed_at, wall);
            assert_eq!(base.since_ms(begin), 10 * SLEW_MS_PER_SECOND * step_ms.signum());
            slew(&mut base, since, &mut slewed_at, wall);
            assert_eq!(base.since_ms(begin).abs(), 10 * SLEW_MS_PER_SECOND, "not again at once");
        }
    }

    #[test]
    fn time_goes_on_from_what_the_store_has_seen() {
        let clock = Clock::wall();
        let later = clock.now().plus_ms(3_600_000);
        clock.not_before(later);
        assert!(clock.now() >= later);
        clock.not_before(Timestamp::from_ms(1));
        assert!(clock.now() >= later, "an earlier floor changes nothing");
    }
}
