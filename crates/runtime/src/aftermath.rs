//! # After the commit: what follows from what is so
//!
//! Nothing here can fail, and all of it can be lost in a crash: numbers, caches, marks for the index,
//! messages to be carried, polls to be woken, and last the answers.

use std::collections::BTreeSet;
use std::time::Duration;

use semel_engine::{Asked, Queue};
use semel_model::{ExecutionId, TaskId};

use crate::lane::{Lane, Stepped};
use crate::prepared::Prepared;
use crate::round::{Round, Sending};
use crate::shares::Claimant;
use crate::work::{Item, Work};
use crate::world::party_of;

impl Lane {
    /// Everything here follows from a commit that has happened.
    pub(crate) fn after(
        &mut self,
        prepared: Prepared,
        outcome: &'static str,
        commit: Option<Duration>,
    ) -> Stepped {
        let course = prepared.course(outcome, commit);
        let Prepared { mut round, replies, parked, prefetch, overlays, unlocked, .. } = prepared;
        unlocked.iter().for_each(|key| self.world.bells.ring(key));
        // Before anybody is answered: who asks for numbers after an answer finds it counted.
        self.world.meters.told(std::mem::take(&mut round.tally), &replies);
        self.world.meters.round(&course);
        for (key, decided) in std::mem::take(&mut round.hits) {
            self.world.hits.note(&key, decided);
        }
        let removed = std::mem::take(&mut round.removed);
        let touched = std::mem::take(&mut round.touched);
        let asked = self.questions(&round);
        self.world.dirty.mark(&round.executions, touched, overlays, &removed);
        for id in removed {
            self.world.forget(id);
            self.world.watchers.changed(id);
        }
        let sent = self.messages(&mut round);
        for execution in round.executions.into_values() {
            let id = execution.id();
            self.world.remember(execution);
            self.world.watchers.changed(id);
        }
        sent.into_iter().for_each(|item| self.send(item));
        self.openings.extend(round.openings);
        for (item, seen) in parked {
            self.park(item, seen); // Before waking, so that they hear of what this round freed.
        }
        let mut left_over = BTreeSet::new();
        for (queue, places) in round.ready {
            let left = places.iter().filter(|place| !round.taken.contains(place)).count();
            if self.wake(&queue, left) < left {
                left_over.insert(queue);
            }
        }
        if !left_over.is_empty() {
            self.world.store.hint(left_over);
        }
        for (task_type, count) in round.freed {
            self.again.extend(self.world.waiters.wake_type(&task_type, count));
        }
        self.ask_all(asked);
        for (item, answer) in replies {
            self.reply(item, answer);
        }
        Stepped { items: course.items.max(1), prefetch }
    }

    /// What the round sends, in the share of whoever sends it.
    fn messages(&self, round: &mut Round) -> Vec<Item> {
        let sent = std::mem::take(&mut round.sent).into_iter();
        let item = |Sending { key, to, ends }| {
            let sender = round.executions.get(&key.from).map(|run| party_of(run));
            let party = sender.unwrap_or_else(|| self.world.claimant(key.from).party);
            Item::unasked(Work::Message(key, to)).of(Claimant { party, ends })
        };
        sent.map(item).collect()
    }

    /// As the round has left them: a cache may keep none of it.
    fn questions(&self, round: &Round) -> Vec<(ExecutionId, TaskId, Asked)> {
        let asked = round.asked.iter().filter_map(|(id, task)| {
            let decided = round.executions.get(id).cloned();
            let run = decided.or_else(|| self.world.cached(*id))?;
            Some((*id, *task, run.task(*task)?.question.clone()?))
        });
        asked.collect()
    }

    fn park(&mut self, item: Item, seen: u64) {
        if let Work::Claim(claim) = &item.work {
            let (queue, until) = (claim.queue.clone(), claim.wait_until);
            self.again.extend(self.world.waiters.park(queue, seen, until, item));
            if !self.keeps_time {
                self.inboxes.rouse(until);
            }
        }
    }

    /// How many polls were waiting.
    pub(crate) fn wake(&mut self, queue: &Queue, count: usize) -> usize {
        let woken = self.world.waiters.wake(queue, count);
        let count = woken.len();
        self.again.extend(woken);
        count
    }
}
