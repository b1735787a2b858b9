//! # A lane: gather, hold, decide, write, answer
//!
//! A plain struct with [`Lane::step`]; its thread is a wrapper (`threads.rs`), so the simulator can
//! drive several of them with one seed, and stop any of them between any two steps.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use semel_engine::{Event, Queue};
use semel_model::{ExecutionId, Timestamp};
use semel_store::{Stamp, StoreError, Touches, Writer};

use crate::asking::Held;
use crate::dirty;
use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::inboxes::Inboxes;
use crate::ledger::unlocked;
use crate::prepared::Prepared;
use crate::round::{Outcome, Round, Want};
use crate::sabotage::Sabotage;
use crate::work::{Answer, EventWork, Item, Work};
use crate::world::World;

/// Items in one round.
const ROUND_ITEMS_MAX: usize = 512;

/// After this many looks for more rows a request is told to come back.
const MISSES_MAX: u8 = 8;

pub struct Lane {
    stamp: Stamp,
    pub(crate) writer: Box<dyn Writer>,
    pub(crate) world: Arc<World>,
    pub(crate) inbox: Arc<Inbox>,
    /// Decided again in the next round, before what waits in the inbox.
    pub(crate) again: VecDeque<Item>,
    pub(crate) openings: BTreeMap<Queue, Timestamp>,
    /// Those of all lanes of its node.
    pub(crate) inboxes: Inboxes,
    /// Whether it looks at the clock, for all lanes of its node.
    pub(crate) keeps_time: bool,
    /// Callers who wait for scripts.
    pub(crate) held: Held,
    /// How many items the next round takes: fewer after one that could not be held or written.
    pub(crate) width: usize,
    /// The last look at the clock.
    pub(crate) looked_at: Timestamp,
    /// Until then nothing is looked for that could be removed.
    pub(crate) swept_until: Timestamp,
    /// Until then no claims are looked for that have lapsed.
    pub(crate) lapses_until: Timestamp,
    /// When it last set out to note that the store is alive.
    tried_at: Timestamp,
    sabotage: Sabotage,
}

/// The lane cannot go on, and the process must end.
#[derive(Debug, thiserror::Error)]
pub enum LaneDown {
    #[error("a commit failed and its outcome cannot be known; the process must end")]
    Unknown(#[source] StoreError),
    #[error(
        "another process works under the name of this node; the process must end: give each a \
         name of its own, with --node"
    )]
    Replaced,
}

impl From<StoreError> for LaneDown {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Replaced => Self::Replaced,
            error => Self::Unknown(error),
        }
    }
}

/// What a step leaves to its driver.
#[derive(Default)]
pub struct Stepped {
    /// Items dealt with; 0 means that there was nothing to do.
    pub items: usize,
    /// Items with the execution that must be loaded before they are decided.
    pub prefetch: Vec<(Item, ExecutionId)>,
}

impl Lane {
    pub fn new(
        number: u16,
        world: Arc<World>,
        inbox: Arc<Inbox>,
        sabotage: Sabotage,
    ) -> Result<Self, StoreError> {
        let writer = world.store.writer(number)?;
        let fence = world.store.fence_floor()?;
        let round = world.store.last_round(number)?;
        // Opening the store has just credited the downtime: silence is counted from here.
        let stamp = Stamp { lane: number, round, fence, at: world.store.now() };
        Ok(Self {
            stamp,
            writer,
            world,
            inboxes: Inboxes::of([Arc::clone(&inbox)]),
            keeps_time: true,
            inbox,
            again: VecDeque::new(),
            openings: BTreeMap::new(),
            held: Held::default(),
            width: ROUND_ITEMS_MAX,
            looked_at: Timestamp::NOT_YET,
            swept_until: Timestamp::NOT_YET,
            lapses_until: Timestamp::NOT_YET,
            tried_at: Timestamp::NOT_YET,
            sabotage,
        })
    }

    /// As one of several lanes of a node.
    pub(crate) fn among(self, inboxes: Inboxes, keeps_time: bool) -> Self {
        Self { inboxes, keeps_time, ..self }
    }

    /// What follows from a commit, or is due, goes to the lane that does such work, and waits there
    /// for its turn.
    pub(crate) fn send(&self, item: Item) {
        self.inboxes.push(item);
    }

    /// One round: everything that waits, one transaction, one fsync; answers leave last.
    pub fn step(&mut self) -> Result<Stepped, LaneDown> {
        match self.begin()? {
            Some(prepared) => self.finish(prepared),
            None => Ok(Stepped::default()),
        }
    }

    /// Gathers, holds and decides. None: nothing waits.
    pub fn begin(&mut self) -> Result<Option<Prepared>, LaneDown> {
        let began = Instant::now();
        let (items, waits) = self.gather();
        if items.is_empty() {
            return Ok(None);
        }
        let ready_bytes = usize::try_from(self.world.budget().answer()).ok();
        let mut touches = Touches { waits, ready_bytes, ..Touches::default() };
        let seen: Vec<u64> =
            items.iter().map(|item| self.world.touch(item, &mut touches)).collect();
        // With one lane of a node only: whoever carries them keeps lookups, and others who carry, waiting.
        // Nobody waits for a row because of them.
        let riding = match self.keeps_time && !waits {
            true => self.world.hits.candidates(&items, self.world.store.now()),
            false => Vec::new(),
        };
        touches.records.extend(riding.iter().cloned());
        let held = match self.writer.hold(&touches) {
            Ok(held) => held,
            Err(StoreError::Replaced) => return Err(LaneDown::Replaced),
            Err(error) => {
                self.not_held(items, &error);
                return Ok(None);
            }
        };
        self.world.meters.contended(held.skipped.len(), waits);
        let round = Round::new(held, self.stamp.fence, self.sabotage);
        let mut prepared = Prepared::new(round, began, items.len());
        prepared.riding = riding;
        let mut behind = BTreeSet::new();
        for (item, seen) in items.into_iter().zip(seen) {
            let execution = item.work.execution();
            if execution.is_some_and(|id| behind.contains(&id)) {
                self.again.push_back(item); // Order within an execution is kept.
                continue;
            }
            if self.decide(&mut prepared, item, seen) == Decided::Later {
                behind.extend(execution);
            }
        }
        if prepared.is_empty() {
            self.be_patient();
        }
        self.serve_waiters(&mut prepared);
        Ok(Some(prepared))
    }

    /// A task that became ready in this round is handed to a poll that waits for it in the same
    /// commit. Polls that name themselves wait for the next round, where their token is held.
    fn serve_waiters(&mut self, prepared: &mut Prepared) {
        let ready: Vec<_> = prepared.round.ready.keys().cloned().collect();
        for queue in ready {
            let mut waiting = prepared.take_parked(&queue);
            let fresh = prepared.round.ready.get(&queue).map_or(0, Vec::len);
            let missing = fresh.saturating_sub(waiting.len());
            waiting.extend(
                self.world.waiters.wake(&queue, missing).into_iter().map(|item| (item, None)),
            );
            for (item, seen) in waiting {
                let outcome = match &item.work {
                    Work::Claim(claim) if !claim.named => prepared.round.claim(&self.world, claim),
                    _ => Outcome::Again(Want::Round),
                };
                match (outcome, seen) {
                    (Outcome::Answer(answer), _) => prepared.replies.push((item, answer)),
                    (Outcome::Later, _) => self.again.push_back(item),
                    (_, Some(seen)) => prepared.parked.push((item, seen)),
                    (_, None) => self.again.push_back(item),
                }
            }
        }
    }

    fn decide(&mut self, prepared: &mut Prepared, mut item: Item, seen: u64) -> Decided {
        let round = &mut prepared.round;
        let replayed = round.replayed(&self.world, &item);
        let outcome = replayed.unwrap_or_else(|| match &item.work {
            Work::Start(work) => round.start(&self.world, work),
            Work::Event(work) => round.event(&self.world, work, &item.wants),
            Work::Claim(claim) => round.claim(&self.world, claim),
            Work::Renew(renewal) => round.renew(&self.world, renewal),
            Work::Documents(writes) => round.documents(writes),
            Work::Log(line) => round.log(line),
            Work::Lift(id) => round.lift(&self.world, *id),
            Work::Park(id, reason) => round.park(*id, reason),
            Work::Message(key, _) => round.message(&self.world, *key),
            Work::Remove(removal) => round.remove(&self.world, removal),
            Work::Expire(runs, before) => round.expire(&self.world, runs, *before),
            Work::Settle(settlement) => round.settle(&self.world, settlement),
            Work::Forget(keys) => round.forget(&self.world, keys),
            Work::Call(call) => round.call(call),
            Work::Reset(key, by) => round.reset(key, by),
            Work::Beat => Outcome::Answer(Ok(Answer::Noted)),
        });
        round.keep(&self.world, &item, &outcome);
        match outcome {
            Outcome::Answer(answer) => prepared.replies.push((item, answer)),
            Outcome::Park => prepared.parked.push((item, seen)),
            Outcome::Prefetch(id) => {
                prepared.prefetch.push((item, id));
                return Decided::Later;
            }
            Outcome::Defer => {
                self.put_off(item);
                return Decided::Later;
            }
            Outcome::Later => {
                self.again.push_back(item);
                return Decided::Later;
            }
            Outcome::Again(want) => {
                prepared.round.tally.misses += 1;
                if !self.world.widen(&mut item, want) {
                    item.misses += 1;
                }
                if item.misses > MISSES_MAX {
                    prepared.replies.push((item, Err(Failure::Unavailable)));
                } else {
                    self.again.push_back(item);
                }
                return Decided::Later;
            }
        }
        Decided::Now
    }

    /// Writes, and only then answers.
    pub fn finish(&mut self, mut prepared: Prepared) -> Result<Stepped, LaneDown> {
        let beat = prepared.replies.iter().any(|(item, _)| matches!(item.work, Work::Beat));
        if prepared.round.writes.is_empty() && !beat {
            self.writer.release();
            return Ok(self.after(prepared, "unchanged", None));
        }
        self.stamp.round += 1;
        self.stamp.at = prepared.round.held.now;
        self.stamp.fence = prepared.round.fence;
        let world = Arc::clone(&self.world);
        let closed = (!prepared.riding.is_empty()).then(|| world.hits.close());
        let carried = prepared.round.carry(&prepared.riding, &world.hits);
        let mut writes = std::mem::take(&mut prepared.round.writes);
        prepared.round.removed.clone_from(&writes.removed);
        prepared.unlocked = unlocked(&writes);
        if self.world.dirty.is_watched() {
            prepared.overlays = dirty::overlays(&writes);
        }
        writes.stamp = self.stamp;
        let armed = writes.armed();
        let writing = Instant::now();
        match self.writer.commit(writes) {
            Ok(()) => {}
            Err(StoreError::Unknown) if self.resolve()? => self.writer.release(),
            Err(error) => {
                world.hits.put_back(carried);
                return Ok(match error {
                    StoreError::Unknown => self.cut_off(prepared),
                    error => self.not_written(prepared, &error),
                });
            }
        }
        drop(closed);
        if self.sabotage.dies_after_commit() {
            return Err(LaneDown::Unknown(StoreError::Unknown));
        }
        self.width = ROUND_ITEMS_MAX;
        self.world.note_commit(self.stamp.at);
        if let Some(at) = armed.filter(|_| !self.keeps_time) {
            self.inboxes.rouse(at);
        }
        Ok(self.after(prepared, "committed", Some(writing.elapsed())))
    }

    /// When the store last noted, or tried to note, that it is alive.
    pub(crate) fn last_try(&self) -> Timestamp {
        self.stamp.at.max(self.tried_at)
    }

    /// Notes that the store is alive, with the next round.
    pub(crate) fn beat(&mut self, now: Timestamp) {
        self.tried_at = now;
        self.again.push_back(Item::unasked(Work::Beat));
    }

    /// Whether any deadline is armed, so that the length of a downtime would matter.
    pub(crate) fn is_armed(&self) -> bool {
        self.writer.next_due().is_some()
    }

    /// After a commit of unknown outcome: did it happen?
    fn resolve(&mut self) -> Result<bool, LaneDown> {
        Ok(self.writer.happened(self.stamp)?)
    }

    /// Whether a step would find something.
    pub fn has_work(&self) -> bool {
        !self.again.is_empty() || !self.inbox.is_empty()
    }
}

#[derive(PartialEq, Eq)]
enum Decided {
    Now,
    Later,
}

pub(crate) fn timer(execution: ExecutionId, event: Event) -> Item {
    Item::unasked(Work::Event(Box::new(EventWork::own(execution, event))))
}
