//! # Waiters: polls parked until there is something to hand out
//!
//! A commit that makes n tasks ready wakes n waiters, no more. A poll that gave up is never served:
//! whether somebody listens is settled by one atomic step, so no task is handed to nobody.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    lines: BTreeMap<Queue, VecDeque<Ticket>>,
    next_number: u64,
    /// Grows when a queue gets something: a poll that looked before that must look again.
    changes: BTreeMap<Queue, u64>,
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
        self.parked().changes.get(queue).copied().unwrap_or(0)
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
        if parked.changes.get(&queue).copied().unwrap_or(0) != seen {
            return Some(item);
        }
        item.credit = None; // A parked poll costs the lane nothing.
        parked.next_number += 1;
        let ticket = Ticket { until, number: parked.next_number };
        parked.items.insert(ticket, item);
        parked.lines.entry(queue).or_default().push_back(ticket);
        None
    }

    /// `count` tasks became ready: takes as many waiters that still listen.
    pub(crate) fn wake(&self, queue: &Queue, count: usize) -> Vec<Item> {
        self.parked().wake(queue, count)
    }

    /// `count` places became free under the limit of a type. Which of its domains has a task for them
    /// is not known here, so each wakes as many.
    pub(crate) fn wake_type(&self, task_type: &str, count: usize) -> Vec<Item> {
        let mut parked = self.parked();
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
        drop(parked);
        over.into_values().for_each(|item| (item.reply)(Ok(Answer::Claimed(Vec::new()))));
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
    fn wake(&mut self, queue: &Queue, count: usize) -> Vec<Item> {
        *self.changes.entry(queue.clone()).or_default() += 1;
        let Some(line) = self.lines.get_mut(queue) else { return Vec::new() };
        let mut woken = Vec::new();
        while woken.len() < count
            && let Some(ticket) = line.pop_front()
        {
            // A ticket without an item is a poll that was answered when its time was over.
            woken.extend(self.items.remove(&ticket).filter(listens));
        }
        if line.is_empty() {
            self.lines.remove(queue);
        }
        woken
    }
}

fn listens(item: &Item) -> bool {
    match &item.work {
        Work::Claim(claim) => claim.waiting.listens(),
        _ => false,
    }
}
