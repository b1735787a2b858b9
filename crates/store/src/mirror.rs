//! # The mirror: who waits where, kept in memory
//!
//! Queues, due times, tokens, leases and undelivered messages as the committed rows have them, so
//! that polls and timers never query. Changed only after a commit and rebuilt at open; it is never
//! the truth.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use semel_engine::{Address, Delivery, MessageKey, Queue, Token};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp};

use crate::rows::{DUE_LEASE_MS, Due, Place, Writes};

#[derive(Default)]
pub struct Mirror {
    spots: BTreeMap<Place, Spot>,
    queues: BTreeMap<Queue, Line>,
    leased: HashMap<String, usize>,
    tokens: HashMap<Token, BTreeSet<Place>>,
    wakes: HashMap<ExecutionId, Timestamp>,
    messages: HashMap<MessageKey, Undelivered>,
    /// Executions that are over and still have tasks: nobody is handed one of those.
    ended: BTreeSet<ExecutionId>,
    /// Somebody has asked what is due: until then everything that is ready is news.
    has_told: bool,
    due: BTreeSet<(Timestamp, DueKey)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum DueKey {
    Execution(ExecutionId),
    Delivery(Place),
    Message(MessageKey),
}

/// What the mirror knows of one delivery.
struct Spot {
    queue: Queue,
    rank: Rank,
    leased: bool,
    token: Option<Token>,
    due: Option<Timestamp>,
}

/// What the mirror knows of one message.
struct Undelivered {
    to: Address,
    due: Timestamp,
}

/// The order of handing out: priority first, then who has been ready longest, then who was
/// scheduled first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    priority: Reverse<i32>,
    ready_at: Timestamp,
    seq: u32,
    pub place: Place,
    /// No part of the order: the place decides before it.
    pub definition: Digest,
}

impl Rank {
    pub fn of(row: &Delivery) -> Self {
        Self {
            priority: Reverse(row.priority),
            ready_at: row.ready_at,
            seq: row.seq,
            place: Place { execution: row.execution, task: row.task },
            definition: row.definition,
        }
    }
}

#[derive(Default)]
struct Line {
    ready: BTreeSet<Rank>,
    later: BTreeSet<(Timestamp, Rank)>,
    /// Became ready by the passing of time, and nobody was told yet.
    untold: BTreeSet<(Timestamp, Rank)>,
}

impl Line {
    /// Moves what has become ready by `now`.
    fn ripen(&mut self, now: Timestamp) {
        while self.later.first().is_some_and(|(at, _)| *at <= now) {
            if let Some((at, rank)) = self.later.pop_first() {
                self.ready.insert(rank);
                self.untold.insert((at, rank));
            }
        }
    }
}

impl Mirror {
    /// Follows a committed round.
    pub fn follow(&mut self, writes: &Writes) {
        for (place, row) in &writes.deliveries {
            self.remove(*place);
            if let Some(row) = row {
                self.insert(row);
                self.promote(row, writes.stamp.at);
            }
        }
        for (id, head) in &writes.heads {
            self.set_wake(*id, head.wake_at);
            self.set_ended(*id, head.ended_at.is_set());
        }
        if !self.ended.is_empty() {
            writes.deliveries.keys().for_each(|place| self.forget_ended(place.execution));
        }
        for (key, row) in &writes.messages {
            self.drop_message(*key);
            if let Some(row) = row.as_ref().filter(|row| row.waits.is_none()) {
                self.insert_message(*key, row.to.clone(), writes.messages_due_at());
            }
        }
        // Last: a removal outweighs what the same round writes.
        for id in &writes.removed {
            self.of_execution(*id).into_iter().for_each(|place| self.remove(place));
            self.set_wake(*id, None);
            self.set_ended(*id, false);
        }
    }

    /// Told with every head: tasks that are left of an execution that is over are not handed out.
    pub fn set_ended(&mut self, id: ExecutionId, has_ended: bool) {
        if has_ended && self.has_tasks(id) {
            self.ended.insert(id);
        } else if !self.ended.is_empty() {
            self.ended.remove(&id);
        }
    }

    /// Without tasks it makes no difference.
    fn forget_ended(&mut self, id: ExecutionId) {
        if self.ended.contains(&id) && !self.has_tasks(id) {
            self.ended.remove(&id);
        }
    }

    pub fn insert(&mut self, row: &Delivery) {
        let place = Place { execution: row.execution, task: row.task };
        let hand_out = &row.hand_out;
        let rank = Rank::of(row);
        let spot = Spot {
            queue: row.queue.clone(),
            rank,
            leased: hand_out.leased,
            token: hand_out.token,
            due: hand_out.due_at(),
        };
        if spot.leased {
            *self.leased.entry(spot.queue.task_type.clone()).or_default() += 1;
        } else {
            let line = self.queues.entry(spot.queue.clone()).or_default();
            line.later.insert((row.ready_at, rank));
        }
        if let Some(token) = spot.token {
            self.tokens.entry(token).or_default().insert(place);
        }
        if let Some(due) = spot.due {
            self.due.insert((due, DueKey::Delivery(place)));
        }
        self.spots.insert(place, spot);
    }

    /// A row that has changed without a round.
    pub fn replace(&mut self, row: &Delivery) {
        self.remove(Place { execution: row.execution, task: row.task });
        self.insert(row);
    }

    /// A row that is ready when it is written is no news to the timers: its commit wakes waiters.
    fn promote(&mut self, row: &Delivery, now: Timestamp) {
        let rank = Rank::of(row);
        let is_no_news = self.has_told && row.ready_at <= now;
        if let Some(line) = self.queues.get_mut(&row.queue).filter(|_| is_no_news)
            && line.later.remove(&(rank.ready_at, rank))
        {
            line.ready.insert(rank);
        }
    }

    fn remove(&mut self, place: Place) {
        let Some(spot) = self.spots.remove(&place) else { return };
        if spot.leased {
            if let Some(count) = self.leased.get_mut(&spot.queue.task_type) {
                *count = count.saturating_sub(1);
            }
        } else if let Some(line) = self.queues.get_mut(&spot.queue) {
            line.ready.remove(&spot.rank);
            line.later.remove(&(spot.rank.ready_at, spot.rank));
            line.untold.remove(&(spot.rank.ready_at, spot.rank));
            if line.ready.is_empty() && line.later.is_empty() {
                self.queues.remove(&spot.queue);
            }
        }
        if let Some(token) = spot.token {
            self.drop_token(token, place);
        }
        if let Some(due) = spot.due {
            self.due.remove(&(due, DueKey::Delivery(place)));
        }
    }

    fn drop_token(&mut self, token: Token, place: Place) {
        if let Some(places) = self.tokens.get_mut(&token) {
            places.remove(&place);
            if places.is_empty() {
                self.tokens.remove(&token);
            }
        }
    }

    pub fn set_wake(&mut self, id: ExecutionId, wake_at: Option<Timestamp>) {
        if let Some(before) = self.wakes.remove(&id) {
            self.due.remove(&(before, DueKey::Execution(id)));
        }
        if let Some(at) = wake_at {
            self.wakes.insert(id, at);
            self.due.insert((at, DueKey::Execution(id)));
        }
    }

    /// A message that is offered from `due` on.
    pub fn insert_message(&mut self, key: MessageKey, to: Address, due: Timestamp) {
        self.due.insert((due, DueKey::Message(key)));
        self.messages.insert(key, Undelivered { to, due });
    }

    fn drop_message(&mut self, key: MessageKey) {
        if let Some(message) = self.messages.remove(&key) {
            self.due.remove(&(message.due, DueKey::Message(key)));
        }
    }

    /// Up to `count` ready tasks of a queue, best first, without those `taken`, those of definitions that
    /// are passed over, and those of executions that are over.
    pub fn ready(
        &mut self,
        queue: &Queue,
        now: Timestamp,
        count: usize,
        passed_over: Option<&BTreeSet<Digest>>,
        taken: impl Fn(&Place) -> bool,
    ) -> Vec<Place> {
        let Some(line) = self.queues.get_mut(queue) else { return Vec::new() };
        line.ripen(now);
        let ended = &self.ended;
        let is_free = |place: &Place| !ended.contains(&place.execution) && !taken(place);
        let is_wanted =
            |rank: &&Rank| passed_over.is_none_or(|them| !them.contains(&rank.definition));
        let wanted = line.ready.iter().filter(is_wanted).map(|rank| rank.place);
        wanted.filter(is_free).take(count).collect()
    }

    /// How many tasks wait in each queue, ready or not.
    pub fn waiting(&self) -> BTreeMap<Queue, usize> {
        let count = |line: &Line| line.ready.len() + line.later.len();
        self.queues.iter().map(|(queue, line)| (queue.clone(), count(line))).collect()
    }

    /// How many tasks of each type are under a lease.
    pub fn held(&self) -> BTreeMap<String, u64> {
        let held = self.leased.iter().filter(|(_, count)| **count > 0);
        held.map(|(task_type, count)| (task_type.clone(), *count as u64)).collect()
    }

    pub fn contains(&self, place: Place) -> bool {
        self.spots.contains_key(&place)
    }

    pub fn in_flight(&self, task_type: &str) -> usize {
        self.leased.get(task_type).copied().unwrap_or(0)
    }

    pub fn by_token(&self, token: &Token) -> Vec<Place> {
        self.tokens.get(token).into_iter().flatten().copied().collect()
    }

    pub fn of_execution(&self, execution: ExecutionId) -> Vec<Place> {
        self.places_of(execution).copied().collect()
    }

    /// Looks at one task at most: a run that is over may have very many left.
    fn has_tasks(&self, execution: ExecutionId) -> bool {
        self.places_of(execution).next().is_some()
    }

    fn places_of(&self, execution: ExecutionId) -> impl Iterator<Item = &Place> {
        let first = Place { execution, task: TaskId::from_bytes([0; 16]) };
        let last = Place { execution, task: TaskId::from_bytes([0xff; 16]) };
        self.spots.range(first..=last).map(|(place, _)| place)
    }

    /// What has come due; each is offered again only after a while, unless a commit moves it.
    pub fn due(&mut self, now: Timestamp, max: usize) -> Due {
        let mut due = Due::default();
        self.has_told = true;
        for (queue, line) in &mut self.queues {
            line.ripen(now);
            if !line.untold.is_empty() {
                due.ripe.insert(queue.clone(), std::mem::take(&mut line.untold).len());
            }
        }
        while due.executions.len() + due.deliveries.len() + due.messages.len() < max
            && self.due.first().is_some_and(|(at, _)| *at <= now)
        {
            let Some((_, key)) = self.due.pop_first() else { break };
            let again = now.plus_ms(DUE_LEASE_MS);
            self.due.insert((again, key));
            match key {
                DueKey::Execution(id) => {
                    self.wakes.insert(id, again);
                    due.executions.push(id);
                }
                DueKey::Delivery(place) => {
                    if let Some(spot) = self.spots.get_mut(&place) {
                        spot.due = Some(again);
                    }
                    due.deliveries.push(place);
                }
                DueKey::Message(key) => {
                    if let Some(message) = self.messages.get_mut(&key) {
                        message.due = again;
                        due.messages.push((key, message.to.clone()));
                    }
                }
            }
        }
        due
    }

    /// The next due time, or the next moment a task becomes ready.
    pub fn next_due(&self) -> Option<Timestamp> {
        let lines = self.queues.values();
        let ready = lines.flat_map(|line| line.untold.first().or(line.later.first()));
        let ready = ready.map(|(at, _)| *at);
        ready.chain(self.due.first().map(|(at, _)| *at)).min()
    }
}
