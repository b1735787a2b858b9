//! # The inbox: bounded, and fair to those who finish work
//!
//! A caller needs a credit to enter. When the lane falls behind, starts are shed first, reports and
//! lease renewals last: finishing old work beats beginning new work. Internal sends never block and
//! need none, because the row they are about will be found again. A round that callers wait for takes
//! little internal work, so that it is short, and never less than it takes of them; how internal work
//! shares its part is in `shares.rs`.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel_model::Timestamp;

use crate::failure::Failure;
use crate::shares::Shares;
use crate::work::Item;

/// Items a lane may owe an answer to.
const CREDITS_MAX: usize = 8192;

/// Internal work in a round with few callers.
pub(crate) const BESIDE_CALLERS: usize = 128;

/// In the order in which they are shed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    Start,
    Operation,
    Poll,
    Report,
}

impl Class {
    fn share(self) -> usize {
        match self {
            Self::Start => CREDITS_MAX / 2,
            Self::Operation => CREDITS_MAX / 8 * 5,
            Self::Poll => CREDITS_MAX / 4 * 3,
            Self::Report => CREDITS_MAX,
        }
    }
}

#[derive(Default)]
pub struct Inbox {
    state: Mutex<State>,
    filled: Condvar,
    owed: Arc<AtomicUsize>,
}

#[derive(Default)]
struct State {
    /// What callers have asked for.
    items: VecDeque<Item>,
    /// What nobody has asked for.
    own: Shares,
    closed: bool,
    nudged: bool,
    /// Items being loaded; they come back.
    away: usize,
    /// Set while the lane sleeps with empty hands: when it will next look by itself.
    rests_until: Option<Timestamp>,
    /// Something was armed for then while the lane was awake: it may have looked before that.
    armed: Option<Timestamp>,
}

impl State {
    /// Nothing waits, nothing is away, and by `now` the lane has nothing to do by itself.
    fn is_quiet(&self, now: Timestamp) -> bool {
        let rests = self.rests_until.is_some_and(|until| until > now);
        let is_told = self.nudged || self.armed.is_some();
        rests && self.is_empty() && self.away == 0 && !is_told
    }

    fn is_empty(&self) -> bool {
        self.items.is_empty() && self.own.len() == 0
    }

    fn add(&mut self, item: Item) {
        match item.credit {
            Some(_) => self.items.push_back(item),
            None => self.own.push(item),
        }
    }
}

/// All of them at one moment: lanes send each other work.
pub(crate) fn are_quiet(inboxes: &[Arc<Inbox>], now: Timestamp) -> bool {
    let states: Vec<_> = inboxes.iter().map(|inbox| inbox.state()).collect();
    states.iter().all(|state| state.is_quiet(now))
}

/// Held while an item is owed an answer.
pub(crate) struct Credit(Arc<AtomicUsize>);

impl Drop for Credit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Inbox {
    /// Lets a caller's item in, or says that there is no room.
    pub fn submit(&self, mut item: Item, class: Class) -> Result<(), Failure> {
        let owed = self.owed.fetch_add(1, Ordering::Relaxed);
        let credit = Credit(Arc::clone(&self.owed));
        if owed >= class.share() {
            return Err(Failure::Busy);
        }
        item.credit = Some(credit);
        let mut state = self.state();
        if state.closed {
            return Err(Failure::Unavailable);
        }
        state.add(item);
        self.filled.notify_one();
        Ok(())
    }

    /// An internal send.
    pub fn push(&self, item: Item) {
        let mut state = self.state();
        if !state.closed {
            state.add(item);
            self.filled.notify_one();
        }
    }

    /// Up to `max` items, without waiting. `is_doomed`: it is about a run below one that has ended.
    pub(crate) fn gather(&self, max: usize, is_doomed: &dyn Fn(&Item) -> bool) -> Vec<Item> {
        let mut state = self.state();
        let own = state.own.len().min(max / 2);
        let count = state.items.len().min(max - own);
        let mut items: Vec<Item> = state.items.drain(..count).collect();
        let own_max = if count > 0 { BESIDE_CALLERS.max(count) } else { max };
        items.extend(state.own.take(own_max.min(max - count), is_doomed));
        items
    }

    /// Waits until there is something, the time is over, or the inbox is nudged or closed. `until`
    /// is when the lane has something to do by itself.
    pub(crate) fn wait(&self, at_most: Duration, until: Timestamp) {
        let mut state = self.state();
        let is_early = state.armed.take().is_some_and(|at| at < until);
        if state.is_empty() && !state.closed && !state.nudged && !is_early {
            state.rests_until = Some(until);
            let waited = self.filled.wait_timeout(state, at_most);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.rests_until = None;
        state.nudged = false;
    }

    /// An item leaves to be loaded.
    pub(crate) fn lend(&self) {
        self.state().away += 1;
    }

    /// It is back, or was answered where it was.
    pub(crate) fn take_back(&self, item: Option<Item>) {
        let mut state = self.state();
        state.away -= 1;
        if let Some(item) = item.filter(|_| !state.closed) {
            state.add(item);
            self.filled.notify_one();
        }
    }

    /// Waits for what is away, a while; false: nothing is, and nothing came.
    pub(crate) fn wait_for_lent(&self, at_most: Duration) -> bool {
        let is_waiting = |state: &mut State| state.is_empty() && state.away > 0;
        let waited = self.filled.wait_timeout_while(self.state(), at_most, is_waiting);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        !state.is_empty() || state.away > 0
    }

    #[cfg(test)]
    pub(crate) fn is_quiet(&self, now: Timestamp) -> bool {
        self.state().is_quiet(now)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state().closed
    }

    /// Wakes the lane without work: time was moved, or it shall look at its timers.
    pub fn nudge(&self) {
        self.state().nudged = true;
        self.filled.notify_all();
    }

    /// The lane does not sleep beyond that time.
    pub(crate) fn rouse(&self, at: Timestamp) {
        let mut state = self.state();
        match state.rests_until {
            Some(until) if at < until => {
                state.nudged = true;
                self.filled.notify_all();
            }
            Some(_) => {}
            None => state.armed = Some(state.armed.map_or(at, |armed| armed.min(at))),
        }
    }

    /// Refuses everything from now on and drops what waits, unanswered.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        state.items.clear();
        state.own.clear();
        self.filled.notify_all();
    }

    pub fn len(&self) -> usize {
        let state = self.state();
        state.items.len() + state.own.len()
    }

    /// Whether more than so much waits that nobody has asked for.
    pub(crate) fn is_behind(&self, max: usize) -> bool {
        self.state().own.len() > max
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Somebody outside waits for an answer.
    pub(crate) fn has_callers(&self) -> bool {
        !self.state().items.is_empty()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    #[test]
    fn starts_are_shed_first_and_reports_last() {
        let inbox = Inbox::default();
        let submit = |class| inbox.submit(Item::unasked(Work::Beat), class);
        let admitted = (0..CREDITS_MAX).take_while(|_| submit(Class::Start).is_ok()).count();
        assert_eq!(admitted, CREDITS_MAX / 2);
        assert!(matches!(submit(Class::Start), Err(Failure::Busy)));
        assert!(submit(Class::Report).is_ok());
        drop(inbox.gather(CREDITS_MAX, &|_| false));
        assert!(submit(Class::Start).is_ok(), "an answered item gives its credit back");
    }

    #[test]
    fn callers_wait_one_short_round_beside_any_amount_of_internal_work() {
        let inbox = Inbox::default();
        let asked = |items: &[Item]| items.iter().filter(|item| item.credit.is_some()).count();
        (0..1_000).for_each(|_| inbox.push(Item::unasked(Work::Beat)));
        for _ in 0..10 {
            assert!(inbox.submit(Item::unasked(Work::Beat), Class::Start).is_ok());
        }
        let round = inbox.gather(100, &|_| false);
        assert_eq!((asked(&round), round.len()), (10, 100), "who came last waits one round");
        for _ in 0..1_000 {
            assert!(inbox.submit(Item::unasked(Work::Beat), Class::Start).is_ok());
        }
        let round = inbox.gather(100, &|_| false);
        assert_eq!((asked(&round), round.len()), (50, 100), "and nobody takes all of it");
        while inbox.has_callers() {
            drop(inbox.gather(950, &|_| false));
        }
        (0..1_000).for_each(|_| inbox.push(Item::unasked(Work::Beat)));
        assert!(inbox.submit(Item::unasked(Work::Beat), Class::Start).is_ok());
        assert_eq!(inbox.gather(512, &|_| false).len(), BESIDE_CALLERS + 1, "it is short");
        assert_eq!(inbox.gather(512, &|_| false).len(), 512, "who waits alone has all of it");
        assert_eq!(inbox.gather(1, &|_| false).len(), 1);
    }

    #[test]
    fn a_lane_is_behind_by_what_nobody_has_asked_for() {
        let inbox = Inbox::default();
        for _ in 0..3 {
            assert!(inbox.submit(Item::unasked(Work::Beat), Class::Report).is_ok());
        }
        (0..2).for_each(|_| inbox.push(Item::unasked(Work::Beat)));
        assert!(!inbox.is_behind(2));
        inbox.push(Item::unasked(Work::Beat));
        assert!(inbox.is_behind(2));
    }
}
