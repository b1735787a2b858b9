//! # The clock: time as the store tells it
//!
//! Set by the wall clock, never going back, and never behind the last commit. A wall clock that has
//! gone forward is followed at once, as after a downtime; one that has gone back is waited for slowly.
//! What this process was away, because it was frozen or because time stepped, is counted, so that
//! leases can be given that time. Tests move it. A store of many nodes keeps the time for all of them
//! ([`Elsewhere`]).

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use semel_model::Timestamp;

/// A wall clock that is a little off is followed so, in milliseconds per second.
const SLEW_MS_PER_SECOND: i64 = 1;
/// One that is behind by more is waited for at nine tenths of its speed.
const WAIT_MS_PER_SECOND: i64 = 100;
/// Further ahead than this, the wall clock has stepped.
const STEP_MS: i64 = 1_000;
/// A server looks at the clock twice a second at least. Who has not for so long stood still.
const SILENT_MS_MAX: i64 = 5_000;

pub struct Clock(Mutex<Source>);

/// A clock that somebody else keeps.
pub trait Elsewhere: Send + Sync {
    /// Never earlier than what it said before.
    fn now(&self) -> Timestamp;

    /// How far it is ahead of the clock it goes by. None: only tests move it.
    fn skew_ms(&self) -> Option<i64>;

    /// Moves time forward for everybody who goes by it; tests only.
    fn advance_ms(&self, ms: i64);
}

enum Source {
    Elsewhere(Box<dyn Elsewhere>),
    Wall(Wall),
    Manual { now: Timestamp, away_ms: i64 },
}

impl Clock {
    pub fn wall() -> Self {
        Self(Mutex::new(Source::Wall(Wall::new(Instant::now(), wall_time(), false))))
    }

    /// The same for a server whose time tests move: it may be as far ahead as they like.
    pub fn wall_for_tests() -> Self {
        Self(Mutex::new(Source::Wall(Wall::new(Instant::now(), wall_time(), true))))
    }

    /// Stands still until it is advanced.
    pub fn manual(start: Timestamp) -> Self {
        Self(Mutex::new(Source::Manual { now: start, away_ms: 0 }))
    }

    pub fn elsewhere(clock: impl Elsewhere + 'static) -> Self {
        Self(Mutex::new(Source::Elsewhere(Box::new(clock))))
    }

    pub fn now(&self) -> Timestamp {
        match &mut *self.source() {
            Source::Elsewhere(clock) => clock.now(),
            Source::Manual { now, .. } => *now,
            Source::Wall(wall) => wall.look(Instant::now(), wall_time()),
        }
    }

    /// Moves time forward; tests only.
    pub fn advance_ms(&self, ms: i64) {
        match &mut *self.source() {
            Source::Elsewhere(clock) => clock.advance_ms(ms),
            Source::Manual { now, .. } => *now = now.plus_ms(ms),
            Source::Wall(wall) => wall.moved_ms += ms,
        }
    }

    /// Time passes while this process stands still; tests only.
    pub fn freeze_ms(&self, ms: i64) {
        if let Source::Manual { now, away_ms } = &mut *self.source() {
            *now = now.plus_ms(ms);
            *away_ms += ms;
        }
    }

    /// How long this process was away so far, as of the last look: frozen, or left behind by a wall
    /// clock that went forward. A store that others keep the time of credits that itself.
    pub fn away_ms(&self) -> i64 {
        match &*self.source() {
            Source::Elsewhere(_) => 0,
            Source::Manual { away_ms, .. } => *away_ms,
            Source::Wall(wall) => wall.away_ms,
        }
    }

    /// How far the store's time is ahead of the clock it goes by, negative if behind. None: it goes by
    /// none, or tests move it.
    pub fn skew_ms(&self) -> Option<i64> {
        match &*self.source() {
            Source::Wall(wall) if !wall.is_for_tests => {
                Some(wall.own(Instant::now()).since_ms(wall_time()))
            }
            Source::Elsewhere(clock) => clock.skew_ms(),
            Source::Wall(_) | Source::Manual { .. } => None,
        }
    }

    /// How far that time is ahead of the wall clock; none where it does not go by that, or tests move it.
    pub fn ahead_ms(&self, at: Timestamp) -> Option<i64> {
        match &*self.source() {
            Source::Wall(wall) if !wall.is_for_tests => Some(at.since_ms(wall_time())),
            Source::Wall(_) | Source::Elsewhere(_) | Source::Manual { .. } => None,
        }
    }

    /// The store has seen a later time than the wall shows: go on from there.
    pub fn not_before(&self, floor: Timestamp) {
        let now = self.now();
        let ahead_ms = floor.since_ms(now);
        if ahead_ms <= 0 {
            return;
        }
        match &mut *self.source() {
            Source::Wall(wall) if !wall.is_for_tests => wall.base = wall.base.plus_ms(ahead_ms),
            Source::Wall(wall) => wall.moved_ms += ahead_ms,
            Source::Manual { now, .. } => *now = floor,
            Source::Elsewhere(clock) => clock.advance_ms(ahead_ms),
        }
    }

    fn source(&self) -> std::sync::MutexGuard<'_, Source> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// The wall clock, followed by way of the monotonic one.
struct Wall {
    /// The time at `since`, as it has turned out until now.
    base: Timestamp,
    since: Instant,
    looked_at: Instant,
    slewed_at: Instant,
    /// Somebody was told that it is so late already.
    told: Timestamp,
    away_ms: i64,
    /// By tests.
    moved_ms: i64,
    is_for_tests: bool,
}

impl Wall {
    fn new(at: Instant, wall: Timestamp, is_for_tests: bool) -> Self {
        Self {
            base: wall,
            since: at,
            looked_at: at,
            slewed_at: at,
            told: wall,
            away_ms: 0,
            moved_ms: 0,
            is_for_tests,
        }
    }

    fn look(&mut self, at: Instant, wall: Timestamp) -> Timestamp {
        let silent_ms = millis(at.saturating_duration_since(self.looked_at));
        self.looked_at = at;
        if silent_ms > SILENT_MS_MAX {
            self.away_ms += silent_ms;
        }
        let behind_ms = wall.since_ms(self.own(at));
        if behind_ms > STEP_MS {
            self.base = self.base.plus_ms(behind_ms);
            self.away_ms += behind_ms;
        } else {
            self.slew(at, behind_ms);
        }
        self.told = self.told.max(self.own(at).plus_ms(self.moved_ms));
        self.told
    }

    fn slew(&mut self, at: Instant, behind_ms: i64) {
        let passed = at.saturating_duration_since(self.slewed_at);
        let seconds = i64::try_from(passed.as_secs()).unwrap_or(0);
        if seconds == 0 {
            return;
        }
        let per_second = if behind_ms < -STEP_MS { WAIT_MS_PER_SECOND } else { SLEW_MS_PER_SECOND };
        let most = per_second.saturating_mul(seconds);
        self.base = self.base.plus_ms(behind_ms.clamp(-most, most));
        self.slewed_at = at;
    }

    /// Without what tests have moved.
    fn own(&self, at: Instant) -> Timestamp {
        self.base.plus_ms(millis(at.saturating_duration_since(self.since)))
    }
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

    const BEGIN: Timestamp = Timestamp::from_ms(1_767_225_600_000);
    const HOUR_MS: i64 = 3_600_000;

    /// A machine: its monotonic clock, and what its wall clock shows beyond that.
    struct Machine {
        began: Instant,
        passed_ms: i64,
        stepped_ms: i64,
        wall: Wall,
    }

    impl Machine {
        fn new() -> Self {
            let began = Instant::now();
            Self { began, passed_ms: 0, stepped_ms: 0, wall: Wall::new(began, BEGIN, false) }
        }

        /// The time since it began, as the store has it.
        fn look(&mut self) -> i64 {
            let at = self.began + Duration::from_millis(self.passed_ms.try_into().unwrap());
            let wall = BEGIN.plus_ms(self.passed_ms + self.stepped_ms);
            self.wall.look(at, wall).since_ms(BEGIN)
        }

        /// So long with a look every half second; the time at its end.
        fn run(&mut self, ms: i64) -> i64 {
            for _ in 0..ms / 500 {
                self.passed_ms += 500;
                let (before, now) = (self.wall.told, self.look());
                assert!(BEGIN.plus_ms(now) >= before, "time never goes back");
            }
            self.look()
        }
    }

    #[test]
    fn a_manual_clock_stands_still_until_advanced() {
        let clock = Clock::manual(Timestamp::from_ms(5));
        assert_eq!(clock.now(), clock.now());
        clock.advance_ms(10);
        assert_eq!((clock.now(), clock.away_ms()), (Timestamp::from_ms(15), 0));
        clock.freeze_ms(10);
        assert_eq!((clock.now(), clock.away_ms()), (Timestamp::from_ms(25), 10));
    }

    #[test]
    fn a_wall_clock_that_steps_forward_is_followed_at_once_and_nobody_was_there() {
        let mut machine = Machine::new();
        assert_eq!(machine.run(10_000), 10_000);
        machine.stepped_ms = HOUR_MS;
        assert_eq!(machine.run(500), HOUR_MS + 10_500);
        assert_eq!(machine.wall.away_ms, HOUR_MS);
        assert_eq!(machine.run(10_000), HOUR_MS + 20_500);
        assert_eq!(machine.wall.away_ms, HOUR_MS, "once");
    }

    #[test]
    fn a_wall_clock_that_steps_back_is_waited_for() {
        let mut machine = Machine::new();
        machine.run(10_000);
        machine.stepped_ms = -HOUR_MS;
        assert_eq!(machine.run(10_000), 19_000, "nine tenths of its speed");
        machine.run(11 * HOUR_MS);
        assert_eq!(machine.look(), machine.passed_ms - HOUR_MS, "until both are the same");
        machine.stepped_ms = 0;
        assert_eq!(machine.look(), machine.passed_ms);
        assert_eq!(machine.wall.away_ms, HOUR_MS, "it was never ahead again");
    }

    #[test]
    fn a_small_step_is_followed_slowly_and_is_nothing_to_make_up_for() {
        for step_ms in [900, -900] {
            let mut machine = Machine::new();
            machine.stepped_ms = step_ms;
            let slewed_ms = machine.run(10_000) - 10_000;
            assert_eq!(slewed_ms, 10 * SLEW_MS_PER_SECOND * step_ms.signum());
            assert_eq!(machine.wall.away_ms, 0);
        }
    }

    #[test]
    fn a_process_that_stood_still_was_away() {
        let mut machine = Machine::new();
        machine.run(10_000);
        machine.passed_ms += 60_000; // Stopped by a signal: both clocks go on.
        assert_eq!((machine.look(), machine.wall.away_ms), (70_000, 60_000));
        machine.stepped_ms += 30_000; // A machine that was paused: only the wall clock did.
        assert_eq!((machine.look(), machine.wall.away_ms), (100_000, 90_000));
        machine.passed_ms += SILENT_MS_MAX;
        machine.look();
        assert_eq!(machine.wall.away_ms, 90_000, "a short silence is none");
    }

    #[test]
    fn time_goes_on_from_what_the_store_has_seen() {
        for clock in [Clock::wall(), Clock::wall_for_tests()] {
            let later = clock.now().plus_ms(HOUR_MS);
            clock.not_before(later);
            assert!(clock.now() >= later);
            clock.not_before(Timestamp::from_ms(1));
            assert!(clock.now() >= later, "an earlier floor changes nothing");
            assert_eq!(clock.away_ms(), 0);
        }
    }

    #[test]
    fn how_far_ahead_it_is_can_be_told() {
        let clock = Clock::wall();
        clock.not_before(clock.now().plus_ms(HOUR_MS));
        assert!(clock.skew_ms().is_some_and(|skew| (HOUR_MS - 60_000..=HOUR_MS).contains(&skew)));
        assert_eq!(Clock::wall_for_tests().skew_ms(), None);
    }
}
