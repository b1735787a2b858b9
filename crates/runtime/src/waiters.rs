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

    fn step(&self, from: u8, to: u8) -> bool {
        self.0.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

#[derive(Default)]
pub(crate) struct Waiters(Mutex<Parked>);

#[derive(Default)]
struct Parked {
    by_queue: BTreeMap<Queue, VecDeque<(Timestamp, Item)>>,
    /// Grows when a queue gets something: a poll that looked before that must look again.
    changes: BTreeMap<Queue, u64>,
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
        parked.by_queue.entry(queue).or_default().push_back((until, item));
        None
    }

    /// `count` tasks became ready: takes as many waiters that still listen.
    pub(crate) fn wake(&self, queue: &Queue, count: usize) -> Vec<Item> {
        let mut parked = self.parked();
        *parked.changes.entry(queue.clone()).or_default() += 1;
        let Some(line) = parked.by_queue.get_mut(queue) else { return Vec::new() };
        let mut woken = Vec::new();
        while woken.len() < count
            && let Some((_, item)) = line.pop_front()
        {
            if listens(&item) {
                woken.push(item);
            }
        }
        if line.is_empty() {
            parked.by_queue.remove(queue);
        }
        woken
    }

    /// Answers polls whose time is over, and forgets those nobody listens to.
    pub(crate) fn expire(&self, now: Timestamp) {
        let mut over = Vec::new();
        let mut parked = self.parked();
        for line in parked.by_queue.values_mut() {
            let kept: VecDeque<_> = std::mem::take(line)
                .into_iter()
                .filter_map(|(until, item)| {
                    if until > now && listens(&item) {
                        return Some((until, item));
                    }
                    over.push(item);
                    None
                })
                .collect();
            *line = kept;
        }
        parked.by_queue.retain(|_, line| !line.is_empty());
        drop(parked);
        over.into_iter().for_each(|item| (item.reply)(Ok(Answer::Claimed(Vec::new()))));
    }

    /// When the first parked poll's time is over.
    pub(crate) fn next_expiry(&self) -> Option<Timestamp> {
        let parked = self.parked();
        parked.by_queue.values().flatten().map(|(until, _)| *until).min()
    }

    /// Drops all of them, unanswered.
    pub(crate) fn clear(&self) {
        self.parked().by_queue.clear();
    }

    fn parked(&self) -> MutexGuard<'_, Parked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listens(item: &Item) -> bool {
    match &item.work {
        Work::Claim(claim) => {
            claim.waiting.take() && {
                claim.waiting.put_back();
                true
            }
        }
        _ => false,
    }
}
