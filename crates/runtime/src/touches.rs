//! # Touches: which rows an item will need
//!
//! Guessed from the item and the execution in memory, before anything is held. A guess that was too
//! small is noticed while deciding (a miss) and widened.

use semel_engine::{Limits, Queue, RecordKey};
use semel_store::{Place, Touches};

use crate::events::{queue_of, subject};
use crate::work::{EventWork, Item, Work};
use crate::world::World;

impl World {
    pub(crate) fn widen(&self, item: &mut Item) {
        item.wide = true;
        item.limit = match &item.work {
            Work::Claim(claim) => Some(claim.queue.task_type.clone()),
            Work::Event(work) => self.queue_after(work).map(|queue| queue.task_type),
            Work::Start(_)
            | Work::Renew(_)
            | Work::Documents(_)
            | Work::Lift(_)
            | Work::Park(..)
            | Work::Beat => None,
        };
    }

    /// Names the rows an item will touch; returns what its queue looked like.
    pub(crate) fn touch(&self, item: &Item, touches: &mut Touches) -> u64 {
        touches.limits.extend(item.limit.clone());
        match &item.work {
            Work::Start(work) => touches.records.extend(work.record_key()),
            Work::Event(work) => self.touch_event(item, work, touches),
            Work::Claim(claim) => {
                *touches.wanted.entry(claim.queue.clone()).or_default() += claim.count;
                touches.tokens.insert(claim.token);
                touches.limits.extend(self.limited(&claim.queue));
                return self.waiters.seen(&claim.queue);
            }
            Work::Renew(renewal) => {
                touches.deliveries.insert(renewal.place);
            }
            Work::Documents(writes) => {
                touches.documents.extend(writes.iter().map(|write| write.key.clone()));
            }
            Work::Lift(id) | Work::Park(id, _) => {
                touches.heads.insert(*id);
                touches.all_deliveries.insert(*id);
            }
            Work::Beat => {}
        }
        0
    }

    fn touch_event(&self, item: &Item, work: &EventWork, touches: &mut Touches) {
        let id = work.execution;
        touches.heads.insert(id);
        let Some(execution) = self.cached(id) else { return };
        if let Some(key) = execution.idempotency_key() {
            let name = &execution.definition().definition().name;
            touches.records.insert(RecordKey::start(name, key));
        }
        match subject(&work.event, &execution) {
            Some(task) if !item.wide => {
                touches.deliveries.insert(Place { execution: id, task });
            }
            _ => {
                touches.all_deliveries.insert(id);
            }
        }
        if let (Some(next), Some(queue)) = (&work.next, self.queue_after(work)) {
            touches.limits.extend(self.limited(&queue));
            *touches.wanted.entry(queue).or_default() += 1;
            touches.tokens.insert(next.token);
        }
    }

    fn queue_after(&self, work: &EventWork) -> Option<Queue> {
        work.next.as_ref()?;
        let execution = self.cached(work.execution)?;
        let task = execution.task(subject(&work.event, &execution)?)?;
        Some(queue_of(&execution, task))
    }

    /// The limit row of a type that is registered as limited.
    fn limited(&self, queue: &Queue) -> Option<String> {
        let found = self.definitions.task(&queue.task_type).ok()??;
        let limits = Limits::of(&found);
        (!limits.is_unlimited()).then(|| queue.task_type.clone())
    }
}
