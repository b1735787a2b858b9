//! # Touches: which rows an item will need
//!
//! Guessed from the item and the execution in memory, before anything is held. A guess that was too
//! small is noticed while deciding (a miss) and widened.

use std::collections::BTreeSet;

use semel_engine::{Address, Event, Execution, Limits, Queue, RecordKey};
use semel_model::ExecutionId;
use semel_store::{Place, Touches};

use crate::events::{queue_of, subject};
use crate::guards::LET_GO_MAX;
use crate::round::Want;
use crate::work::{EventWork, Item, Work};
use crate::world::World;

/// Deliveries of a run that are held at a guess.
const HELD_UNASKED_MAX: usize = 64;

/// It changes every delivery of the run.
fn needs_all(event: &Event) -> bool {
    matches!(event, Event::Paused | Event::Resumed)
}

impl World {
    /// Notes what was missed. False: it had been asked for before.
    pub(crate) fn widen(&self, item: &mut Item, want: Want) -> bool {
        match want {
            Want::Deliveries(places) => {
                let before = item.wants.deliveries.len();
                item.wants.deliveries.extend(places);
                item.wants.deliveries.len() > before
            }
            Want::Record(key) => item.wants.records.insert(key),
            Want::Records(keys) => {
                let before = item.wants.records.len();
                item.wants.records.extend(keys);
                item.wants.records.len() > before
            }
            Want::Waiters(key) => item.wants.waiters.insert(key),
            Want::Head(id) => item.wants.heads.insert(id),
            Want::Limit => {
                let limit = self.limit_of(&item.work);
                std::mem::replace(&mut item.wants.limit, limit).is_none()
            }
            Want::Round => false,
        }
    }

    fn limit_of(&self, work: &Work) -> Option<String> {
        match work {
            Work::Claim(claim) => Some(claim.queue.task_type.clone()),
            Work::Event(work) => self.queue_after(work).map(|queue| queue.task_type),
            Work::Start(_)
            | Work::Renew(_)
            | Work::Documents(_)
            | Work::Log(_)
            | Work::Lift(_)
            | Work::Park(..)
            | Work::Message(..)
            | Work::Remove(_)
            | Work::Expire(..)
            | Work::Settle(_)
            | Work::Forget(_)
            | Work::Call(_)
            | Work::Reset(..)
            | Work::Beat => None,
        }
    }

    /// Names the rows an item will touch; returns what its queue looked like.
    pub(crate) fn touch(&self, item: &Item, touches: &mut Touches) -> u64 {
        let wants = &item.wants;
        touches.limits.extend(wants.limit.clone());
        touches.records.extend(wants.records.iter().cloned());
        let waiters = wants.waiters.iter().cloned();
        touches.waiters.extend(waiters.map(|key| (key, LET_GO_MAX)));
        touches.records.extend(wants.waiters.iter().cloned());
        touches.heads.extend(&wants.heads);
        touches.deliveries.extend(&wants.deliveries);
        if let Some(step) = &item.step {
            touches.records.extend([step.key(), step.request.named.key.clone()]);
        }
        match &item.work {
            Work::Start(work) => touches.records.extend(work.record_key()),
            Work::Event(work) => {
                self.touch_execution(work.execution, touches);
                self.touch_event(work, touches);
            }
            Work::Message(key, to) => {
                touches.messages.insert(*key);
                if let Address::Execution(id) = to {
                    self.touch_execution(*id, touches);
                }
            }
            Work::Remove(removal) => {
                self.touch_execution(removal.id, touches);
                touches.all_deliveries.insert(removal.id);
            }
            Work::Expire(runs, _) => {
                touches.heads.extend(runs.iter().map(|run| run.id));
                touches.records.extend(runs.iter().filter_map(|run| run.key.clone()));
            }
            Work::Reset(key, _) => {
                touches.records.insert(key.clone());
            }
            Work::Settle(settlement) => {
                let request = &settlement.request;
                touches.records.insert(request.named.key.clone());
                touches.records.extend(request.further_steps());
            }
            Work::Forget(keys) => touches.records.extend(keys.iter().cloned()),
            Work::Call(call) => {
                touches.records.insert(call.key.clone());
            }
            Work::Claim(claim) => {
                touches.want(&claim.queue, claim.count, &claim.passed_over);
                if claim.named {
                    touches.tokens.insert(claim.token);
                    touches.polls.insert(claim.token);
                }
                touches.limits.extend(self.limited(&claim.queue));
                return self.waiters.seen(&claim.queue);
            }
            Work::Renew(renewal) => {
                touches.deliveries.insert(renewal.place);
            }
            Work::Documents(writes) => {
                touches.documents.extend(writes.iter().map(|write| write.key.clone()));
            }
            Work::Log(line) => {
                touches.heads.insert(line.place.execution);
            }
            Work::Lift(id) | Work::Park(id, _) => {
                touches.heads.insert(*id);
                touches.all_deliveries.insert(*id);
            }
            Work::Beat => {}
        }
        0
    }

    fn touch_event(&self, work: &EventWork, touches: &mut Touches) {
        let id = work.execution;
        let Some(execution) = self.cached(id) else {
            // It may be in memory by the time it is decided.
            touches.all_deliveries.insert(id);
            return;
        };
        if work.event.may_revive() {
            self.touch_ancestors(&execution, touches);
        }
        match subject(&work.event, &execution) {
            Some(task) => {
                touches.deliveries.insert(Place { execution: id, task });
            }
            None if needs_all(&work.event) || execution.open_count() <= HELD_UNASKED_MAX => {
                touches.all_deliveries.insert(id);
            }
            None => {} // What it needs of so many it will name.
        }
        if let (Some(next), Some(queue)) = (&work.next, self.queue_after(work)) {
            touches.limits.extend(self.limited(&queue));
            touches.want(&queue, 1, &BTreeSet::new());
            touches.tokens.insert(next.token);
        }
    }

    /// The head, and the record of its key.
    fn touch_execution(&self, id: ExecutionId, touches: &mut Touches) {
        touches.heads.insert(id);
        let Some(execution) = self.cached(id) else { return };
        if let Some(key) = execution.idempotency_key() {
            let name = &execution.definition().definition().name;
            touches.records.insert(RecordKey::start(name, key));
        }
    }

    /// Those who may live again with this run.
    fn touch_ancestors(&self, execution: &Execution, touches: &mut Touches) {
        let mut above = execution.parent();
        while let Some(parent) = above {
            self.touch_execution(parent.execution, touches);
            above = self.cached(parent.execution).and_then(|found| found.parent());
        }
    }

    fn queue_after(&self, work: &EventWork) -> Option<Queue> {
        work.next.as_ref()?;
        let execution = self.cached(work.execution)?;
        let task = execution.task(subject(&work.event, &execution)?)?;
        Some(queue_of(task))
    }

    /// The limit row of a type that is registered as limited, as far as is known: the round looks
    /// again, and misses the row if it has to.
    fn limited(&self, queue: &Queue) -> Option<String> {
        let found = self.definitions.task_lately(&queue.task_type).ok()??;
        let limits = Limits::of(&found);
        (!limits.is_unlimited()).then(|| queue.task_type.clone())
    }
}
