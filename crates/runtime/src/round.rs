//! # A round: everything that waits, decided on rows that are held
//!
//! Each event decides in a [`Layer`] over the round: accepted it is merged, so the next event sees
//! it; refused, missed or panicked it is dropped, and nothing else with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_engine::{
    Address, Change, Decided, Decision, Delivery, ENGINE_VERSION, Entry, Event, Execution, Head,
    MessageKey, Queue, Record, RecordKey, follow,
};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp};
use semel_store::{Held, Place, Rank, Writes};

use crate::dirty::Touched;
use crate::failure::Failure;
use crate::tally::Tally;
use crate::work::Answer;
use crate::world::World;

pub(crate) struct Round {
    pub(crate) held: Held,
    pub(crate) writes: Writes,
    /// Executions as this round has them; cached after the commit.
    pub(crate) executions: BTreeMap<ExecutionId, Arc<Execution>>,
    /// What it changed of them that is searched by.
    pub(crate) touched: BTreeMap<ExecutionId, Touched>,
    /// Tasks this round has given to somebody.
    pub(crate) taken: BTreeSet<Place>,
    pub(crate) asked: Vec<(ExecutionId, TaskId)>,
    /// Tasks that can be taken, by queue, best first: ready before this round, or made so by it.
    pub(crate) lines: BTreeMap<Queue, BTreeSet<Rank>>,
    /// Queues of which it has given something.
    pub(crate) served: BTreeSet<Queue>,
    /// Tasks that became ready in this round, by queue.
    pub(crate) ready: BTreeMap<Queue, Vec<Place>>,
    /// Executions of which nothing is left, once this round is written.
    pub(crate) removed: BTreeSet<ExecutionId>,
    /// Messages this round sends.
    pub(crate) sent: Vec<Sending>,
    /// How many places became free under the limit of each type.
    pub(crate) freed: BTreeMap<String, usize>,
    /// When a rate limit that refused a poll opens again.
    pub(crate) openings: BTreeMap<Queue, Timestamp>,
    /// The highest fence drawn so far.
    pub(crate) fence: u64,
    pub(crate) sabotage: crate::sabotage::Sabotage,
    pub(crate) tally: Tally,
    /// Who was answered from which record.
    pub(crate) hits: Vec<(RecordKey, Decided)>,
    /// Runs that it begins, by the root of their lineage.
    pub(crate) descendants: BTreeMap<ExecutionId, u64>,
}

/// Whatever a round draws is higher than what was drawn for any row it holds, by whichever lane: so a
/// row's fences rise, and places in a line are in the order of coming.
fn highest_fence(held: &Held) -> u64 {
    let records =
        held.records.values().flatten().map(|it| it.detail.fence.max(it.detail.last_place));
    let deliveries = held.deliveries.values().flatten().map(|row| row.hand_out.fence);
    records.chain(deliveries).max().unwrap_or(0)
}

/// A message on its way.
pub(crate) struct Sending {
    pub(crate) key: MessageKey,
    pub(crate) to: Address,
    /// It ends the run that hears it.
    pub(crate) ends: bool,
}

impl Sending {
    pub(crate) fn new(key: MessageKey, to: Address) -> Self {
        Self { key, to, ends: false }
    }
}

/// What became of one item.
pub(crate) enum Outcome {
    Answer(Result<Answer, Failure>),
    /// Another lane holds a row of it: decide in the next round.
    Defer,
    /// There is more in the next round, which is nobody's fault.
    Later,
    /// More must be held.
    Again(Want),
    /// That execution is not in memory.
    Prefetch(ExecutionId),
    /// A poll with nothing to give it.
    Park,
}

/// What was missed: held in the next round.
pub(crate) enum Want {
    Deliveries(Vec<Place>),
    /// The limit row of the type that is claimed.
    Limit,
    Record(RecordKey),
    /// Several of them.
    Records(Vec<RecordKey>),
    /// Those who wait in line for that record.
    Waiters(RecordKey),
    Head(ExecutionId),
    /// Nothing more: the next round as such.
    Round,
}

/// One event's changes before they are part of the round.
pub(crate) struct Layer {
    pub(crate) execution: Execution,
    pub(crate) rows: BTreeMap<TaskId, Option<Delivery>>,
    pub(crate) records: BTreeMap<RecordKey, Option<Record>>,
    entries: Vec<(u64, Vec<u8>)>,
    asked: Vec<TaskId>,
    touched: Touched,
    pub(crate) tally: Tally,
    principal: String,
    event_id: String,
}

impl Layer {
    pub(crate) fn new(execution: Execution, principal: &str, event_id: &str) -> Self {
        Self {
            execution,
            rows: BTreeMap::new(),
            records: BTreeMap::new(),
            entries: Vec::new(),
            asked: Vec::new(),
            touched: Touched::default(),
            tally: Tally::default(),
            principal: principal.to_owned(),
            event_id: event_id.to_owned(),
        }
    }

    /// Who the run belongs to.
    pub(crate) fn principal(&self) -> &str {
        &self.principal
    }

    /// Journals a decision and carries it over to the rows that follow from it.
    pub(crate) fn write(&mut self, event: Event, decision: Decision, actor: &str) {
        for change in &decision.changes {
            follow(&mut self.rows, &self.execution, change);
            self.touched.note(change);
            if let Change::Asked { task, .. } | Change::AskedAgain { task, .. } = change {
                self.asked.push(*task);
            }
        }
        let entry = Entry {
            at: decision.at,
            engine_version: ENGINE_VERSION,
            actor: actor.to_owned(),
            event_id: self.event_id.clone(),
            cause: event,
            facts: decision.used,
            changes: decision.changes,
            payloads: decision.payloads,
            prev: Digest::default(),
        };
        let bytes = entry.append(&mut self.execution);
        self.touched.note_entry();
        self.entries.push((self.execution.link().seq, bytes));
    }
}

impl Round {
    pub(crate) fn new(held: Held, fence: u64, sabotage: crate::sabotage::Sabotage) -> Self {
        let fence = fence.max(highest_fence(&held));
        let mut round = Self {
            held,
            writes: Writes::default(),
            executions: BTreeMap::new(),
            touched: BTreeMap::new(),
            taken: BTreeSet::new(),
            asked: Vec::new(),
            lines: BTreeMap::new(),
            served: BTreeSet::new(),
            ready: BTreeMap::new(),
            removed: BTreeSet::new(),
            sent: Vec::new(),
            freed: BTreeMap::new(),
            openings: BTreeMap::new(),
            fence,
            sabotage,
            tally: Tally::default(),
            hits: Vec::new(),
            descendants: BTreeMap::new(),
        };
        let ready = round.held.ready.values().flatten();
        let rows: Vec<_> =
            ready.filter_map(|place| round.held.deliveries.get(place)?.clone()).collect();
        rows.iter().for_each(|row| round.offer(row));
        round
    }

    /// Puts a row where claims of this round find it.
    pub(crate) fn offer(&mut self, row: &Delivery) {
        let rank = Rank::of(row);
        self.fence = self.fence.max(row.hand_out.fence); // The next one may be drawn for it.
        self.lines.entry(row.queue.clone()).or_default().insert(rank);
    }

    /// The record as this round has it. None: it is not held.
    pub(crate) fn record(&self, key: &RecordKey) -> Option<Option<&Record>> {
        let written = self.writes.records.get(key);
        written.or_else(|| self.held.records.get(key)).map(Option::as_ref)
    }

    /// The delivery as this round has it. None: it is not held.
    pub(crate) fn delivery(&self, place: Place) -> Option<Option<&Delivery>> {
        let written = self.writes.deliveries.get(&place);
        written.or_else(|| self.held.deliveries.get(&place)).map(Option::as_ref)
    }

    /// All held deliveries of an execution that exist.
    pub(crate) fn deliveries_of(&self, id: ExecutionId) -> BTreeMap<TaskId, Option<Delivery>> {
        let range = Place { execution: id, task: TaskId::from_bytes([0; 16]) }..=Place {
            execution: id,
            task: TaskId::from_bytes([0xff; 16]),
        };
        let held = self.held.deliveries.range(range.clone());
        let mut rows: BTreeMap<_, _> = held.map(|(at, row)| (at.task, row.clone())).collect();
        let written = self.writes.deliveries.range(range);
        rows.extend(written.map(|(at, row)| (at.task, row.clone())));
        rows.retain(|_, row| row.is_some());
        rows
    }

    /// Makes a layer part of the round.
    pub(crate) fn merge(&mut self, world: &World, layer: Layer) {
        let id = layer.execution.id();
        self.tally.absorb(layer.tally);
        for (seq, bytes) in layer.entries {
            self.writes.entries.push((id, seq, bytes));
        }
        for (task, row) in layer.rows {
            let place = Place { execution: id, task };
            self.note_ready(world, place, row.as_ref());
            self.writes.deliveries.insert(place, row);
        }
        self.touched.entry(id).or_default().extend(layer.touched);
        self.writes.records.extend(layer.records);
        self.asked.extend(layer.asked.into_iter().map(|task| (id, task)));
        if let Some(head) = Head::of(&layer.execution, &layer.principal) {
            self.writes.heads.insert(id, head);
        }
        self.executions.insert(id, Arc::new(layer.execution));
    }

    /// A row that can be taken now wakes a waiter of its queue. A lease that ends makes room under
    /// the limit of its type: for later claims of this round, and for waiters in any domain.
    fn note_ready(&mut self, world: &World, place: Place, row: Option<&Delivery>) {
        let before = self.delivery(place).flatten();
        let freed = before.filter(|before| before.hand_out.leased);
        let is_leased = row.is_some_and(|row| row.hand_out.leased);
        if let Some(freed) = freed.filter(|_| !is_leased) {
            let limited = world.limits_of(freed).is_ok_and(|limits| !limits.is_unlimited());
            let task_type = freed.queue.task_type.clone();
            if let Some(limit) = self.held.limits.get_mut(&task_type) {
                limit.in_flight = limit.in_flight.saturating_sub(1);
            }
            if limited {
                *self.freed.entry(task_type).or_default() += 1;
            }
        }
        if let Some(row) = row.filter(|row| !is_leased && row.ready_at <= self.held.now) {
            self.ready.entry(row.queue.clone()).or_default().push(place);
            self.offer(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use semel_engine::{LockAct, Ruled};
    use semel_store::{Clock, MemoryStore};

    use super::*;
    use crate::lane::Lane;
    use crate::ledger::{Asks, Call};
    use crate::sabotage::Sabotage;
    use crate::work::{Item, Work};

    fn acquired(lane: &mut Lane, lock: &str) -> u64 {
        let (tell, told) = channel();
        let act = LockAct::Acquire { owner: lock.to_owned(), lease_ms: 0 };
        let (asks, by) = (Asks::Lock(act), "ann".to_owned());
        let call = Call { key: RecordKey::lock(lock), asks, by };
        let reply = Box::new(move |answer| drop(tell.send(answer)));
        lane.inbox.push(Item::new(Work::Call(Box::new(call)), reply));
        lane.step().unwrap();
        match told.recv().unwrap() {
            Ok(Answer::Ruled(ruled)) => match *ruled {
                Ruled::Started { fence, .. } => fence,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_lock_that_goes_from_lane_to_lane_has_rising_fences_though_time_stands_still() {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_800_000_000_000)));
        let world = Arc::new(World::new(Arc::new(MemoryStore::new(clock))));
        let [mut ann, mut bob] = [0, 1].map(|number| {
            let (world, inbox) = (Arc::clone(&world), Arc::default());
            Lane::new(number, world, inbox, Sabotage::None).unwrap()
        });
        for number in 0..5 {
            acquired(&mut ann, &number.to_string());
        }
        let first = acquired(&mut ann, "door");
        let second = acquired(&mut bob, "door");
        assert!(second > first, "{first}, then {second}");
    }
}
