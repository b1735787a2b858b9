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

/// What other processes have made ready is taken this late at the latest.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Polls of one queue that wake together.
const OFFERS_MAX: usize = 100;

impl Lane {
    /// Turns what has come due into work, and wakes polls whose tasks have become ready.
    pub fn look_at_timers(&mut self) {
        let now = self.world.store.now();
        self.world.waiters.expire(now);
        self.held.release_late();
        let open: Vec<_> =
            self.openings.iter().filter(|(_, at)| **at <= now).map(|(q, _)| q.clone()).collect();
        for queue in open {
            self.openings.remove(&queue);
            self.wake(&queue, usize::MAX);
        }
        let due = match self.writer.due(now, DUE_MAX) {
            Ok(due) => due,
            Err(error) => return tracing::warn!(%error, "due rows cannot be read"),
        };
        for (queue, count) in &due.ripe {
            self.wake(queue, *count);
        }
        for id in due.executions {
            self.again.push_back(timer(id, Event::Woke));
        }
        for place in due.deliveries {
            self.again.push_back(timer(place.execution, Event::Expired { task: place.task }));
        }
        for (key, to) in due.messages {
            self.again.push_back(Item::unasked(Work::Message(key, to)));
        }
        if self.world.store.is_shared() {
            self.look_at_offers();
        }
        self.sweep(now);
    }

    /// Wakes polls for tasks that other processes have made ready.
    fn look_at_offers(&mut self) {
        let queues = self.world.waiters.to_ask(LOOK_EVERY);
        if queues.is_empty() {
            return;
        }
        match self.writer.offers(&queues, OFFERS_MAX) {
            Ok(offers) => offers.iter().for_each(|(queue, count)| self.wake(queue, *count)),
            Err(error) => tracing::warn!(%error, "what waits cannot be read"),
        }
    }

    /// When somebody who waits for a script will have waited long enough.
    pub(crate) fn next_release(&self) -> Option<std::time::Duration> {
        self.held.next_release()
    }

    /// When this lane next has something to do by itself.
    pub fn next_look(&self) -> Option<Timestamp> {
        let opening = self.openings.values().min().copied();
        let expiry = self.world.waiters.next_expiry();
        [self.writer.next_due(), opening, expiry].into_iter().flatten().min()
    }
}
