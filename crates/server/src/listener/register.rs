//! # The register: every connection, what it is doing and since when

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use metrics::{counter, gauge};
use semel_api::Seldom;
use tokio::sync::Notify;

use super::Rules;

/// Connections beyond the limit, for those who ask how the server is.
const SPARE: usize = 16;
/// These need not wait long for a request.
const SPARE_HEAD: Duration = Duration::from_secs(2);
/// Who has waited less makes no room for others.
const WAITED_AT_LEAST: Duration = Duration::from_secs(1);
/// How long a client may take to notice that its connection has ended.
const LEAVING: Duration = Duration::from_secs(5);

/// The first buffer of a connection. It is in the budget of memory by the number of connections.
pub(super) const CONNECTION_BYTES: usize = 8 * 1024;

/// As much of an answer has to be taken, or of a body to come, before it counts as going on.
pub(super) const PROGRESS_BYTES: usize = 64 * 1024;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It has said nothing yet.
    New,
    /// The head of a request is under way.
    Head,
    /// The head of a request has come, and its body is waited for.
    Body,
    /// A request is being served.
    Serving,
    /// Everything it asked for is answered.
    Idle,
    /// We have said that it is over, and read on so that it is heard.
    Leaving,
}

const PHASES: [Phase; 6] =
    [Phase::New, Phase::Head, Phase::Body, Phase::Serving, Phase::Idle, Phase::Leaving];

/// One connection, as those see it who look after it.
pub(super) struct Entry {
    pub(super) is_spare: bool,
    /// The last answer was given before the request was read to its end.
    pub(super) is_unread: AtomicBool,
    /// Since when, and a digit for the phase.
    doing: AtomicU64,
    /// Since when the client does not take its answer; 0: it does.
    stalled: AtomicU64,
    /// Bytes that it has taken since.
    taken: AtomicUsize,
    /// Bytes of the head that is under way.
    head: AtomicUsize,
    pub(super) ended: Notify,
}

/// Milliseconds of this process, from 1 on.
pub(super) fn now_ms() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

impl Entry {
    fn new(is_spare: bool) -> Self {
        let entry = Self {
            is_spare,
            is_unread: AtomicBool::new(false),
            doing: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            taken: AtomicUsize::new(0),
            head: AtomicUsize::new(0),
            ended: Notify::new(),
        };
        entry.enter(Phase::New);
        entry
    }

    pub(super) fn enter(&self, phase: Phase) {
        self.forget_head();
        self.enter_since(phase, now_ms());
    }

    /// So much more of a head has come. What all requests hold together then, if that has grown.
    fn hold_head(&self, bytes: usize) -> Option<usize> {
        let before = self.head.fetch_add(bytes, Ordering::Relaxed);
        let more = counted(before + bytes) - counted(before);
        (more > 0).then(|| semel_api::hold_head(more))
    }

    fn forget_head(&self) {
        let bytes = counted(self.head.swap(0, Ordering::Relaxed));
        if bytes > 0 {
            semel_api::free_head(bytes);
        }
    }

    pub(super) fn enter_since(&self, phase: Phase, since: u64) {
        self.doing.store(since * 8 + phase as u64, Ordering::Relaxed);
    }

    pub(super) fn phase(&self) -> Phase {
        self.doing().0
    }

    fn doing(&self) -> (Phase, u64) {
        let doing = self.doing.load(Ordering::Relaxed);
        let phase = usize::try_from(doing % 8).ok().and_then(|digit| PHASES.get(digit));
        (phase.copied().unwrap_or(Phase::New), doing / 8)
    }

    /// The client does not take what is written.
    pub(super) fn stalls(&self) {
        if self.stalled.load(Ordering::Relaxed) == 0 {
            self.taken.store(0, Ordering::Relaxed);
            self.stalled.store(now_ms(), Ordering::Relaxed);
        }
    }

    /// It has taken some. A little now and then is standing still too.
    pub(super) fn takes(&self, bytes: usize) {
        if self.taken.fetch_add(bytes, Ordering::Relaxed) + bytes >= PROGRESS_BYTES {
            self.goes_on();
        }
    }

    /// It has taken enough, or all there is.
    pub(super) fn goes_on(&self) {
        self.taken.store(0, Ordering::Relaxed);
        self.stalled.store(0, Ordering::Relaxed);
    }

    /// Why it has to end now.
    fn overdue(&self, rules: &Rules, now: u64) -> Option<&'static str> {
        let (phase, since) = self.doing();
        let (reason, within) = match phase {
            Phase::New | Phase::Head if self.is_spare => ("header", SPARE_HEAD),
            Phase::New | Phase::Head => ("header", rules.head),
            Phase::Idle => ("idle", rules.idle),
            Phase::Leaving => ("leaving", LEAVING),
            // The body has a time of its own, and its end is an answer.
            Phase::Body | Phase::Serving => ("", Duration::MAX),
        };
        let is_over = |since: u64, within: Duration| {
            u128::from(now.saturating_sub(since)) >= within.as_millis()
        };
        let stalled = self.stalled.load(Ordering::Relaxed);
        if stalled > 0 {
            return is_over(stalled, rules.stalled).then_some("answer");
        }
        is_over(since, within).then_some(reason)
    }

    /// For how long it has done nothing but rest, or keep us waiting.
    fn waited_ms(&self, now: u64) -> Option<u64> {
        let (phase, since) = self.doing();
        let since = match self.stalled.load(Ordering::Relaxed) {
            0 if phase == Phase::Serving => return None,
            0 => since,
            stalled => stalled,
        };
        Some(now.saturating_sub(since))
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.forget_head();
    }
}

/// What of a head is counted: every connection has the first buffer anyway.
fn counted(bytes: usize) -> usize {
    bytes.saturating_sub(CONNECTION_BYTES)
}

pub(super) struct Register {
    rules: Rules,
    entries: Mutex<HashMap<u64, Arc<Entry>>>,
    next: AtomicU64,
    freed: Notify,
}

/// Where a connection stands in the register until it ends.
pub(super) struct Place {
    pub(super) entry: Arc<Entry>,
    pub(super) register: Arc<Register>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.register.remove(self.number);
    }
}

impl Register {
    pub(super) fn new(rules: Rules) -> Self {
        let (entries, next, freed) = (Mutex::default(), AtomicU64::new(0), Notify::new());
        Self { rules, entries, next, freed }
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<u64, Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_any(&self) -> bool {
        !self.entries().is_empty()
    }

    pub(super) fn has_room(&self) -> bool {
        let open = self.entries().len();
        open < self.rules.connections_max + SPARE || self.make_room()
    }

    /// Returns after a connection has ended.
    pub(super) async fn freed(&self) {
        self.freed.notified().await;
    }

    pub(super) fn admit(self: &Arc<Self>) -> Place {
        let is_full = self.entries().len() >= self.rules.connections_max;
        let is_spare = is_full && !self.make_room();
        if is_full {
            note_full(is_spare);
        }
        let entry = Arc::new(Entry::new(is_spare));
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut entries = self.entries();
        entries.insert(number, Arc::clone(&entry));
        tell(entries.len());
        drop(entries);
        Place { entry, register: Arc::clone(self), number }
    }

    fn remove(&self, number: u64) {
        let mut entries = self.entries();
        entries.remove(&number);
        tell(entries.len());
        drop(entries);
        self.freed.notify_one();
    }

    /// Ends the connection that has waited longest; whether there was one.
    pub(super) fn make_room(&self) -> bool {
        let now = now_ms();
        let mut entries = self.entries();
        let waited = entries.iter().filter_map(|(number, entry)| {
            let waited = entry.waited_ms(now)?;
            (u128::from(waited) >= WAITED_AT_LEAST.as_millis()).then_some((waited, *number))
        });
        let longest = waited.max().and_then(|(_, number)| entries.remove(&number));
        drop(entries);
        longest.inspect(|entry| end(entry, "room")).is_some()
    }

    /// So much more of the head of that connection has come. Where heads and bodies take more than their share
    /// of the memory, the connection that has been sending its head for longest ends: others need no time.
    pub(super) fn note_head(&self, entry: &Entry, bytes: usize) {
        let is_full =
            entry.hold_head(bytes).is_some_and(|held| held > self.rules.requests_bytes_max);
        if !is_full {
            return;
        }
        let entries = self.entries();
        let heads =
            entries.values().filter(|entry| counted(entry.head.load(Ordering::Relaxed)) > 0);
        let heads = heads.filter(|entry| entry.phase() == Phase::Head);
        let longest = heads.min_by_key(|entry| entry.doing().1).map(Arc::clone);
        drop(entries);
        if let Some(entry) = longest {
            entry.forget_head();
            end(&entry, "heads");
        }
    }

    pub(super) fn end_overdue(&self) {
        let now = now_ms();
        for entry in self.entries().values() {
            if let Some(reason) = entry.overdue(&self.rules, now) {
                end(entry, reason);
            }
        }
    }
}

fn end(entry: &Entry, reason: &'static str) {
    counter!("semel_connections_ended_total", "reason" => reason).increment(1);
    entry.ended.notify_one();
}

fn tell(open: usize) {
    gauge!("semel_connections_open").set(open as f64);
}

fn note_full(is_spare: bool) {
    static TOLD: Seldom = Seldom::new();
    if TOLD.is_due() {
        let instead = if is_spare { "this one gets 503" } else { "one that waited was closed" };
        tracing::warn!("as many connections are open as may be (connections_max); {instead}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(connections_max: usize) -> Arc<Register> {
        let second = Duration::from_secs(1);
        Arc::new(Register::new(Rules {
            connections_max,
            requests_bytes_max: 1_000_000,
            head: 10 * second,
            idle: 100 * second,
            stalled: 30 * second,
        }))
    }

    #[test]
    fn each_phase_has_its_time() {
        let register = register(9);
        let entry = register.admit().entry.clone();
        let overdue = |phase, after_ms: u64| {
            entry.enter(phase);
            entry.overdue(&register.rules, now_ms() + after_ms)
        };
        assert_eq!(overdue(Phase::New, 9_000), None);
        assert_eq!(overdue(Phase::New, 10_000), Some("header"));
        assert_eq!(overdue(Phase::Head, 10_000), Some("header"));
        assert_eq!(overdue(Phase::Idle, 99_000), None);
        assert_eq!(overdue(Phase::Idle, 100_000), Some("idle"));
        assert_eq!(overdue(Phase::Leaving, 5_000), Some("leaving"));
        assert_eq!(overdue(Phase::Serving, 1_000_000), None);
        assert_eq!(overdue(Phase::Body, 1_000_000), None);
        entry.stalls();
        assert_eq!(overdue(Phase::Serving, 30_000), Some("answer"));
        entry.goes_on();
        assert_eq!(overdue(Phase::Serving, 30_000), None);
    }

    #[test]
    fn who_keeps_us_waiting_makes_room_and_who_is_served_does_not() {
        let entry = register(9).admit().entry.clone();
        let waited = |phase| {
            entry.enter(phase);
            entry.waited_ms(now_ms() + 1_000).is_some_and(|waited| waited >= 1_000)
        };
        assert!(!waited(Phase::Serving));
        for phase in [Phase::New, Phase::Head, Phase::Body, Phase::Idle, Phase::Leaving] {
            assert!(waited(phase), "{phase:?}");
        }
        entry.stalls();
        assert!(waited(Phase::Serving), "its answer is not taken");
    }

    #[test]
    fn the_head_that_takes_longest_makes_room_for_the_others() {
        let register = register(99);
        let places: Vec<_> = (0..30u64)
            .map(|at| {
                let place = register.admit();
                place.entry.enter_since(Phase::Head, now_ms() + at);
                place
            })
            .collect();
        let is_ended = |place: &Place| place.entry.head.load(Ordering::Relaxed) == 0;
        for place in &places {
            register.note_head(&place.entry, CONNECTION_BYTES);
            register.note_head(&place.entry, 50_000);
        }
        let ended: Vec<usize> = (0..30).filter(|at| is_ended(&places[*at])).collect();
        assert!(ended.len() >= 10, "{ended:?}");
        assert_eq!(ended, (0..ended.len()).collect::<Vec<_>>(), "the oldest go first");
        places[29].entry.enter(Phase::Serving);
        assert!(is_ended(&places[29]), "a head that is whole is not counted");
        drop(places);
    }

    #[test]
    fn a_little_of_an_answer_now_and_then_is_not_going_on() {
        let register = register(9);
        let entry = register.admit().entry.clone();
        let is_overdue = || entry.overdue(&register.rules, now_ms() + 30_000) == Some("answer");
        entry.takes(PROGRESS_BYTES - 1);
        entry.stalls();
        entry.takes(PROGRESS_BYTES - 1);
        entry.stalls();
        assert!(is_overdue());
        entry.takes(1);
        assert!(!is_overdue());
        entry.stalls();
        assert!(is_overdue());
        entry.goes_on();
        assert!(!is_overdue());
    }

    #[test]
    fn beyond_the_limit_there_is_a_reserve_and_then_no_room() {
        let register = register(2);
        let places: Vec<_> = (0..2 + SPARE)
            .map(|_| {
                assert!(register.has_room());
                let place = register.admit();
                place.entry.enter(Phase::Serving);
                place
            })
            .collect();
        let spare = places.iter().filter(|place| place.entry.is_spare).count();
        assert_eq!(spare, SPARE);
        assert!(!register.has_room());
        drop(places);
        assert!(register.has_room() && !register.has_any());
    }
}
