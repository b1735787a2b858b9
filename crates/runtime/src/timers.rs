//! # Timers: what a lane does because time has passed
//!
//! Whatever fires becomes an item of a round, and is disarmed by its commit.

use std::time::Duration;

use semel_engine::Event;
use semel_model::Timestamp;
use semel_store::Writes;

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
        self.held.release_late();
        let open: Vec<_> =
            self.openings.iter().filter(|(_, at)| **at <= now).map(|(q, _)| q.clone()).collect();
        for queue in open {
            self.openings.remove(&queue);
            self.wake(&queue, usize::MAX);
        }
        if self.keeps_time {
            self.world.waiters.expire(now);
            self.look_at_what_is_due(now);
            self.sweep(now);
        }
    }

    fn look_at_what_is_due(&mut self, now: Timestamp) {
        let due = match self.writer.due(now, DUE_MAX) {
            Ok(due) => due,
            Err(error) => return tracing::warn!(%error, "due rows cannot be read"),
        };
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
        if !self.keeps_time {
            return opening;
        }
        let expiry = self.world.waiters.next_expiry();
        [self.writer.next_due(), opening, expiry].into_iter().flatten().min()
    }
}

/// The earliest time for which these writes arm something.
pub(crate) fn armed(writes: &Writes) -> Option<Timestamp> {
    let heads = writes.heads.values().filter_map(|head| head.wake_at);
    let rows = || writes.deliveries.values().flatten();
    let due = rows().filter_map(|row| row.hand_out.due_at());
    let ripe = rows().map(|row| row.ready_at).filter(|at| *at > writes.stamp.at);
    heads.chain(due).chain(ripe).min()
}
