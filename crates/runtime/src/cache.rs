//! # The cache: executions as they are committed, within a budget of bytes
//!
//! Only a way not to load again: anything in it can be dropped at any moment. Runs that are over go
//! first, then those that nobody has asked for lately. What nobody asks for goes without any need for
//! room, so that a server that has nothing to do gives its memory back.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel_engine::Execution;
use semel_model::ExecutionId;

use crate::memory::Budget;

/// So many of each class stay, whatever they weigh: one that is not kept until its event is decided
/// would be loaded for ever.
const KEPT_MIN: usize = 8;

/// How often the clock of the cache ticks.
pub(crate) const TICK_EVERY: Duration = Duration::from_secs(2);

/// Ticks after which a run that is over, or is not, is dropped if nobody has asked for it.
const ENDED_TICKS: u64 = 2;
const LIVE_TICKS: u64 = 150;

/// How many of those at the front of a line may go to its end instead of being dropped, because they
/// were used since they came there.
const SPARED_MAX: usize = 16;

/// How many are looked at without letting others in.
const LOOKED_AT_ONCE: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Live,
    Ended,
}

/// What is kept of one class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) count: usize,
    pub(crate) bytes: u64,
}

/// Executions of one class, those that came first in front. An entry whose execution has gone or has
/// changed its class is passed over.
#[derive(Default)]
struct Line {
    places: VecDeque<(ExecutionId, u64)>,
    kept: Kept,
}

struct Slot<T> {
    execution: Arc<T>,
    bytes: u64,
    class: Class,
    /// Its entry in the line of its class.
    place: u64,
    /// Somebody has asked for it since it came to its place.
    is_used: bool,
    used_at: u64,
}

struct Slots<T> {
    by_id: HashMap<ExecutionId, Slot<T>>,
    live: Line,
    ended: Line,
    next_place: u64,
    tick: u64,
}

/// What can be kept.
pub(crate) trait Keepable {
    fn id(&self) -> ExecutionId;

    /// In bytes, about.
    fn weight(&self) -> u64;

    fn is_over(&self) -> bool;
}

impl Keepable for Execution {
    fn id(&self) -> ExecutionId {
        self.id()
    }

    fn weight(&self) -> u64 {
        self.weight()
    }

    fn is_over(&self) -> bool {
        self.is_closed()
    }
}

pub(crate) struct Cache<T> {
    slots: Mutex<Slots<T>>,
    budget: Budget,
}

impl<T: Keepable> Cache<T> {
    pub(crate) fn new(budget: Budget) -> Self {
        let (by_id, live, ended) = (HashMap::new(), Line::default(), Line::default());
        let slots = Slots { by_id, live, ended, next_place: 0, tick: 0 };
        Self { slots: Mutex::new(slots), budget }
    }

    pub(crate) fn get(&self, id: ExecutionId) -> Option<Arc<T>> {
        let mut slots = self.slots();
        let tick = slots.tick;
        let slot = slots.by_id.get_mut(&id)?;
        slot.is_used = true;
        slot.used_at = tick;
        Some(Arc::clone(&slot.execution))
    }

    /// Keeps it, and makes room if there is too little.
    pub(crate) fn insert(&self, execution: Arc<T>) {
        let bytes = execution.weight();
        let mut slots = self.slots();
        let replaced = slots.put(execution, bytes);
        let dropped = slots.make_room(self.budget);
        drop(slots); // To free a large run takes a while; nobody else waits for that.
        drop((replaced, dropped));
    }

    pub(crate) fn remove(&self, id: ExecutionId) {
        let removed = self.slots().take(id);
        drop(removed);
    }

    /// Called every [`TICK_EVERY`]: drops what nobody has asked for lately.
    pub(crate) fn tick(&self) {
        self.slots().tick += 1;
        for class in [Class::Ended, Class::Live] {
            let mut left = self.slots().line(class).places.len();
            while left > 0 {
                let count = left.min(LOOKED_AT_ONCE);
                let dropped = self.slots().drop_unused(class, count);
                drop(dropped);
                left -= count;
            }
        }
        self.slots().shrink();
    }

    /// What is kept of runs that go on, and of those that are over.
    pub(crate) fn kept(&self) -> (Kept, Kept) {
        let slots = self.slots();
        (slots.live.kept, slots.ended.kept)
    }

    fn slots(&self) -> MutexGuard<'_, Slots<T>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Keepable> Slots<T> {
    fn line(&mut self, class: Class) -> &mut Line {
        match class {
            Class::Live => &mut self.live,
            Class::Ended => &mut self.ended,
        }
    }

    fn put(&mut self, execution: Arc<T>, bytes: u64) -> Option<Arc<T>> {
        let id = execution.id();
        let class = if execution.is_over() { Class::Ended } else { Class::Live };
        let before = self.take(id);
        let place = match &before {
            Some(before) if before.class == class => before.place,
            Some(_) | None => self.stand(id, class),
        };
        let kept = &mut self.line(class).kept;
        kept.count += 1;
        kept.bytes += bytes;
        let used_at = self.tick;
        let is_used = before.is_some();
        self.by_id.insert(id, Slot { execution, bytes, class, place, is_used, used_at });
        before.map(|slot| slot.execution)
    }

    /// A place at the end of a line.
    fn stand(&mut self, id: ExecutionId, class: Class) -> u64 {
        self.next_place += 1;
        let place = self.next_place;
        let line = self.line(class);
        line.places.push_back((id, place));
        if line.places.len() > 2 * line.kept.count + LOOKED_AT_ONCE {
            self.close_ranks(class);
        }
        place
    }

    /// Those who have left a line have their entries in it until here.
    fn close_ranks(&mut self, class: Class) {
        let mut places = std::mem::take(&mut self.line(class).places);
        let newest = self.next_place; // Its slot is still to come.
        places.retain(|(id, place)| *place == newest || self.stands(*id, *place));
        self.line(class).places = places;
    }

    fn stands(&self, id: ExecutionId, place: u64) -> bool {
        self.by_id.get(&id).is_some_and(|slot| slot.place == place)
    }

    fn take(&mut self, id: ExecutionId) -> Option<Slot<T>> {
        let slot = self.by_id.remove(&id)?;
        let kept = &mut self.line(slot.class).kept;
        kept.count -= 1;
        kept.bytes -= slot.bytes;
        Some(slot)
    }

    fn make_room(&mut self, budget: Budget) -> Vec<Slot<T>> {
        let mut dropped = Vec::new();
        loop {
            let is_over = self.live.kept.bytes + self.ended.kept.bytes > budget.executions();
            let has_too_many_ended = self.ended.kept.bytes > budget.ended();
            let class = match (is_over, has_too_many_ended) {
                (false, false) => break,
                _ if self.ended.kept.count > KEPT_MIN => Class::Ended,
                (true, _) if self.live.kept.count > KEPT_MIN => Class::Live,
                _ => break,
            };
            let Some(slot) = self.drop_first(class) else { break };
            dropped.push(slot);
        }
        dropped
    }

    /// The one that has been there longest, but for those that were used meanwhile.
    fn drop_first(&mut self, class: Class) -> Option<Slot<T>> {
        let mut spared = 0;
        loop {
            let (id, place) = self.line(class).places.pop_front()?;
            if !self.stands(id, place) {
                continue;
            }
            let slot = self.by_id.get_mut(&id)?;
            if !slot.is_used || spared == SPARED_MAX {
                return self.take(id);
            }
            slot.is_used = false;
            spared += 1;
            self.line(class).places.push_back((id, place));
        }
    }

    /// Of the first `count` of a line: those that nobody has asked for lately.
    fn drop_unused(&mut self, class: Class, count: usize) -> Vec<Slot<T>> {
        let ticks = match class {
            Class::Live => LIVE_TICKS,
            Class::Ended => ENDED_TICKS,
        };
        let mut dropped = Vec::new();
        for _ in 0..count {
            let Some((id, place)) = self.line(class).places.pop_front() else { break };
            let Some(slot) = self.by_id.get(&id).filter(|slot| slot.place == place) else {
                continue;
            };
            match self.tick - slot.used_at >= ticks {
                true => dropped.extend(self.take(id)),
                false => self.line(class).places.push_back((id, place)),
            }
        }
        dropped
    }

    /// After a rush its tables are given back too.
    fn shrink(&mut self) {
        if self.by_id.capacity() > 4 * self.by_id.len() {
            self.by_id.shrink_to(2 * self.by_id.len());
        }
        for line in [&mut self.live, &mut self.ended] {
            if line.places.capacity() > 4 * line.places.len() {
                line.places.shrink_to(2 * line.places.len());
            }
        }
    }
}

#[cfg(test)]
mod tests;
