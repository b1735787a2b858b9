//! # Waiters: polls parked until there is something to hand out
//!
//! A commit that makes n tasks ready wakes n waiters, no more. A poll that gave up is never served:
//! whether somebody listens is settled by one atomic step, so no task is handed to nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use semel_engine::Queue;
use semel_model::Timestamp;

use crate::work::{Answer, Item, Work};

/// Whether a poll still listens. The lane takes it, or the caller gives up; never both.
#[derive(Default)]
pub struct Waiting(AtomicU8);

const LISTENING: u8 = 0;
const TAKEN: u8 = 1;
const GONE: u8 = 2;

impl Waiting {
    /// The lane is about to serve it. False: nobody listens any more.
    pub(crate) fn take(&self) -> bool {
        self.step(LISTENING, TAKEN) || self.0.load(Ordering::Acquire) == TAKEN
    }

    /// The lane had nothing for it.
    pub(crate) fn put_back(&self) {
        self.step(TAKEN, LISTENING);
    }

    /// The caller stops listening. False: it is being served and must wait for the answer.
    pub fn give_up(&self) -> bool {
        self.step(LISTENING, GONE)
    }

    fn listens(&self) -> bool {
        self.0.load(Ordering::Acquire) != GONE
    }

    fn step(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[derive(Default)]
pub(crate) struct Waiters(Mutex<Parked>);

#[derive(Default)]
struct Parked {
    items: BTreeMap<Ticket, Item>,
    /// Parked polls of each queue, by number: first come, first served.
    lines: BTreeMap<Queue, BTreeMap<u64, Ticket>>,
    next_number: u64,
    /// Grows when a queue of the type gets something: a poll that looked before that looks again.
    /// Types share counters, so that their number is bounded; a false alarm costs one more look.
    changes: BTreeMap<u64, u64>,
    /// When the store was last asked what others have made ready.
    asked: Option<Instant>,
}

/// Counters for all task types.
const COUNTERS: u64 = 1024;

fn counter(task_type: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    task_type.hash(&mut hasher);
    hasher.finish() % COUNTERS
}

/// Names a parked poll, earliest end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ticket {
    until: Timestamp,
    number: u64,
}

impl Waiters {
    /// Read before looking for tasks, given back to [`Waiters::park`].
    pub(crate) fn seen(&self, queue: &Queue) -> u64 {
        self.parked().seen(queue)
    }

    /// Parks a poll, unless its queue got something since it looked: then the item comes back.
    pub(crate) fn park(
        &self,
        queue: Queue,
        seen: u64,
        until: Timestamp,
        mut item: Item,
    ) -> Option<Item> {
        let mut parked = self.parked();
        if parked.seen(&queue) != seen {
            return Some(item);
        }
        item.credit = None; // A parked poll costs the lane nothing.
        parked.next_number += 1;
        let ticket = Ticket { until, number: parked.next_number };
        parked.items.insert(ticket, item);
        parked.lines.entry(queue).or_default().insert(ticket.number, ticket);
        None
    }

    /// The queues somebody waits for, once in so long; at other times none.
    pub(crate) fn to_ask(&self, every: Duration) -> BTreeSet<Queue> {
        let mut parked = self.parked();
        let is_time = parked.asked.is_none_or(|asked| asked.elapsed() >= every);
        if parked.lines.is_empty() || !is_time {
            return BTreeSet::new();
        }
        parked.asked = Some(Instant::now());
        parked.lines.keys().cloned().collect()
    }

    /// Others have made something ready in one of these queues, or in any. True: somebody here waits
    /// for it, so the store is asked at the next look.
    pub(crate) fn hinted(&self, queues: &BTreeSet<Queue>) -> bool {
        let mut parked = self.parked();
        let is_waited_for = match queues.is_empty() {
            true => !parked.lines.is_empty(),
            false => queues.iter().any(|queue| parked.lines.contains_key(queue)),
        };
        if is_waited_for {
            parked.asked = None;
        }
        is_waited_for
    }

    /// `count` tasks became ready: takes as many waiters that still listen.
    pub(crate) fn wake(&self, queue: &Queue, count: usize) -> Vec<Item> {
        self.parked().wake(queue, count)
    }

    /// `count` places became free under the limit of a type. Which of its domains has a task for them
    /// is not known here, so each wakes as many.
    pub(crate) fn wake_type(&self, task_type: &str, count: usize) -> Vec<Item> {
        let mut parked = self.parked();
        parked.note(task_type);
        let first = Queue { task_type: task_type.to_owned(), domain: None };
        let lines = parked.lines.range(first..).map(|(queue, _)| queue.clone());
        let lines: Vec<_> = lines.take_while(|queue| queue.task_type == task_type).collect();
        lines.iter().flat_map(|queue| parked.wake(queue, count)).collect()
    }

    /// Answers polls whose time is over.
    pub(crate) fn expire(&self, now: Timestamp) {
        let mut parked = self.parked();
        let after = Ticket { until: now.plus_ms(1), number: 0 };
        let kept = parked.items.split_off(&after);
        let over = std::mem::replace(&mut parked.items, kept);
        over.iter().for_each(|(ticket, item)| parked.leave(*ticket, item));
        drop(parked);
        over.into_values().for_each(|item| (item.reply)(Ok(Answer::Claimed(Vec::new()))));
    }

    pub(crate) fn len(&self) -> usize {
        self.parked().items.len()
    }

    /// When the first parked poll's time is over.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        self.parked().items.first_key_value().map(|(ticket, _)| ticket.until)
    }

    /// Drops all of them, unanswered.
    pub(crate) fn clear(&self) {
        let mut parked = self.parked();
        parked.items.clear();
        parked.lines.clear();
    }

    fn parked(&self) -> MutexGuard<'_, Parked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parked {
    fn seen(&self, queue: &Queue) -> u64 {
        self.changes.get(&counter(&queue.task_type)).copied().unwrap_or(0)
    }

    fn note(&mut self, task_type: &str) {
        *self.changes.entry(counter(task_type)).or_default() += 1;
    }

    fn wake(&mut self, queue: &Queue, count: usize) -> Vec<Item> {
        self.note(&queue.task_type);
        let Some(line) = self.lines.get_mut(queue) else { return Vec::new() };
        let mut woken = Vec::new();
        while woken.len() < count
            && let Some((_, ticket)) = line.pop_first()
        {
            woken.extend(self.items.remove(&ticket).filter(listens));
        }
        if line.is_empty() {
            self.lines.remove(queue);
        }
        woken
    }

    /// A poll whose time is over leaves its line.
    fn leave(&mut self, ticket: Ticket, item: &Item) {
        let Work::Claim(claim) = &item.work else { return };
        if let Some(line) = self.lines.get_mut(&claim.queue) {
            line.remove(&ticket.number);
            if line.is_empty() {
                self.lines.remove(&claim.queue);
            }
        }
    }
}

fn listens(item: &Item) -> bool {
    match &item.work {
        Work::Claim(claim) => claim.waiting.listens(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_model::Digest;

    use super::*;
    use crate::work::Claim;

    fn queue(task_type: &str) -> Queue {
        Queue { task_type: task_type.to_owned(), domain: None }
    }

    fn poll(queue: &Queue, until: Timestamp) -> Item {
        Item::unasked(Work::Claim(Claim {
            queue: queue.clone(),
            worker: None,
            count: 1,
            token: Digest::default(),
            named: false,
            wait_until: until,
            waiting: Arc::new(Waiting::default()),
            passed_over: Arc::default(),
        }))
    }

    #[test]
    fn polls_whose_time_is_over_leave_nothing_behind() {
        let waiters = Waiters::default();
        for n in 0..100 {
            let (queue, until) = (queue(&format!("t{n}")), Timestamp::from_ms(n));
            assert!(waiters.park(queue.clone(), 0, until, poll(&queue, until)).is_none());
        }
        waiters.expire(Timestamp::from_ms(1_000));
        let parked = waiters.parked();
        assert!(parked.items.is_empty() && parked.lines.is_empty());
    }

    #[test]
    fn a_wake_between_looking_and_parking_is_not_lost() {
        let waiters = Waiters::default();
        let (queue, until) = (queue("t"), Timestamp::from_ms(9));
        let seen = waiters.seen(&queue);
        assert!(waiters.wake(&queue, 1).is_empty());
        assert!(waiters.park(queue.clone(), seen, until, poll(&queue, until)).is_some());
        let seen = waiters.seen(&queue);
        assert!(waiters.park(queue.clone(), seen, until, poll(&queue, until)).is_none());
        assert_eq!(waiters.wake(&queue, 5).len(), 1);
    }

    #[test]
    fn a_hint_is_for_those_who_wait_for_it() {
        let waiters = Waiters::default();
        let (waited, other, until) = (queue("t"), queue("u"), Timestamp::from_ms(9));
        assert!(!waiters.hinted(&BTreeSet::new()), "nobody waits");
        waiters.park(waited.clone(), 0, until, poll(&waited, until));
        assert_eq!(waiters.to_ask(Duration::MAX), [waited.clone()].into(), "never asked before");
        assert!(!waiters.hinted(&[other].into()));
        assert_eq!(waiters.to_ask(Duration::MAX), [].into());
        for queues in [BTreeSet::new(), [waited.clone()].into()] {
            assert!(waiters.hinted(&queues));
            assert_eq!(waiters.to_ask(Duration::MAX), [waited.clone()].into());
        }
    }

    #[test]
    fn a_poll_that_gave_up_is_passed_over() {
        let waiters = Waiters::default();
        let (queue, until) = (queue("t"), Timestamp::from_ms(9));
        let gone = poll(&queue, until);
        if let Work::Claim(claim) = &gone.work {
            assert!(claim.waiting.give_up());
        }
        waiters.park(queue.clone(), 0, until, gone);
        waiters.park(queue.clone(), 0, until, poll(&queue, until));
        assert_eq!(waiters.wake(&queue, 1).len(), 1, "the one that listens");
        assert!(waiters.wake(&queue, 1).is_empty());
    }
}
