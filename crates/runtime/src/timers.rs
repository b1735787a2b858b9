//! # Timers: what a lane does because time has passed
//!
//! Whatever fires becomes an item of a round, and is disarmed by its commit.

use std::time::Duration;

use semel_engine::Event;
use semel_model::Timestamp;

use crate::lane::{Lane, timer};
use crate::work::{Item, Work};

/// Due rows looked at before one round.
const DUE_MAX: usize = 256;

/// So much of what is due may wait in a lane before more is looked for: it is told again after a while.
const BEHIND_MAX: usize = 4 * DUE_MAX;

/// What other processes have made ready is taken this late at the latest.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Polls of one queue that wake together.
const OFFERS_MAX: usize = 100;

impl Lane {
    /// Turns what has come due into work, and wakes polls whose tasks have become ready.
    pub fn look_at_timers(&mut self) {
        let now = self.world.store.now();
        self.looked_at = now;
        self.held.release_late();
        let open: Vec<_> =
            self.openings.iter().filter(|(_, at)| **at <= now).map(|(q, _)| q.clone()).collect();
        for queue in open {
            self.openings.remove(&queue);
            self.wake(&queue, usize::MAX);
        }
        if self.keeps_time {
            self.world.waiters.expire(now);
            if !self.inboxes.is_any_behind(BEHIND_MAX) {
                self.look_at_what_is_due(now);
            }
            self.look_for_lapsed(now);
            self.sweep(now);
        }
    }

    fn look_at_what_is_due(&mut self, now: Timestamp) {
        let due = match self.writer.due(now, DUE_MAX) {
            Ok(due) => due,
            Err(error) => return self.world.outage.failed(&error, "due rows cannot be read"),
        };
        self.world.note_look();
        for (queue, count) in &due.ripe {
            self.wake(queue, *count);
        }
        for id in due.executions {
            self.send(timer(id, Event::Woke));
        }
        for place in due.deliveries {
            self.send(timer(place.execution, Event::Expired { task: place.task }));
        }
        for (key, to) in due.messages {
            self.send(Item::unasked(Work::Message(key, to)));
        }
        if self.world.store.is_shared() {
            self.look_at_offers();
        }
    }

    /// Wakes polls for tasks that other processes have made ready.
    fn look_at_offers(&mut self) {
        let queues = self.world.waiters.to_ask(LOOK_EVERY);
        if queues.is_empty() {
            return;
        }
        match self.writer.offers(&queues, OFFERS_MAX) {
            Ok(offers) => offers.iter().for_each(|(queue, count)| {
                self.wake(queue, *count);
            }),
            Err(error) => self.world.outage.failed(&error, "what waits cannot be read"),
        }
    }

    /// When somebody who waits for a script will have waited long enough.
    pub(crate) fn next_release(&self) -> Option<std::time::Duration> {
        self.held.next_release()
    }

    /// When this lane next has something to do by itself.
    pub fn next_look(&self) -> Option<Timestamp> {
        let opening = self.openings.values().min().copied();
        if !self.keeps_time {
            return opening;
        }
        let expiry = self.world.waiters.next_expiry();
        [self.writer.next_due(), opening, expiry].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_engine::Head;
    use semel_store::conformance::samples::{self, BEGIN};
    use semel_store::{Clock, MemoryStore};

    use super::*;
    use crate::inboxes::Inboxes;
    use crate::sabotage::Sabotage;
    use crate::world::World;

    #[test]
    fn what_is_due_waits_in_the_store_while_a_lane_is_behind() {
        let store = MemoryStore::new(Arc::new(Clock::manual(BEGIN)));
        let world = Arc::new(World::new(Arc::new(store)));
        let [own, other] = [Arc::default(), Arc::default()];
        let inboxes = Inboxes::of([Arc::clone(&own), Arc::clone(&other)]);
        let lane = Lane::new(0, world, own, Sabotage::None).unwrap();
        let mut lane = lane.among(inboxes, true);
        let due = Head { wake_at: Some(BEGIN), ..samples::head(1) };
        lane.writer.commit(samples::put_heads([due])).unwrap();
        (0..=BEHIND_MAX).for_each(|_| other.push(Item::unasked(Work::Beat)));
        lane.look_at_timers();
        assert_eq!(lane.again.len() + other.len(), BEHIND_MAX + 1);
        drop(other.gather(1));
        lane.look_at_timers();
        assert_eq!(lane.again.len() + other.len(), BEHIND_MAX + 1, "it has been told");
    }
}
