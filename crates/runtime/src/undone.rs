//! # Undone: rounds that did not happen
//!
//! Nobody was answered, so all of it may be decided again. What is in the way for good is found by
//! halves: it has a culprit, and the others must not suffer for it.

use semel_store::StoreError;

use crate::failure::Failure;
use crate::lane::{Lane, Stepped};
use crate::patience::WAITS_MAX;
use crate::prepared::{Prepared, Replies};
use crate::work::{Item, Work};

const NOT_CARRIED_OUT: &str = "a round could not be carried out";
/// Of a round that failed, so that somebody can look.
const REQUESTS_LOGGED_MAX: usize = 5;

impl Lane {
    /// The round did not happen, and may be what cut the connection off: it is decided again by fewer
    /// items, and one that is alone not for ever.
    pub(crate) fn cut_off(&mut self, mut prepared: Prepared) -> Stepped {
        let count = prepared.replies.len() + prepared.parked.len();
        self.width = (count / 2).max(1);
        if let ([(item, _)], []) = (&mut *prepared.replies, &*prepared.parked) {
            item.waits += 1;
            if item.waits > WAITS_MAX {
                return self.not_written(prepared, &StoreError::Contended);
            }
        }
        self.once_more(prepared)
    }

    /// The round did not happen: all of it is decided again.
    fn once_more(&mut self, prepared: Prepared) -> Stepped {
        self.writer.release();
        self.world.meters.round(&prepared.course("decided_again", None));
        let items = prepared.replies.into_iter().map(|(item, _)| item);
        let items = items.chain(prepared.parked.into_iter().map(|(item, _)| item));
        for item in items.collect::<Vec<_>>().into_iter().rev() {
            self.again.push_front(item);
        }
        Stepped { items: 1, prefetch: prepared.prefetch }
    }

    /// The write was refused and nothing happened. A full disk is everybody's problem; anything else
    /// has a culprit: the round is split until it stands alone.
    pub(crate) fn not_written(&mut self, prepared: Prepared, error: &StoreError) -> Stepped {
        if let StoreError::Unavailable(why) = error {
            self.world.set_trouble(Some(why.to_string()));
        }
        let alone = prepared.replies.len() + prepared.parked.len() <= 1;
        if !alone && !matches!(error, StoreError::Unavailable(_)) {
            self.width = (prepared.replies.len() / 2).max(1);
            return self.once_more(prepared);
        }
        self.writer.release();
        self.world.meters.round(&prepared.course("refused", None));
        let items = prepared.replies.into_iter().map(|(item, _)| item);
        let items: Vec<_> =
            items.chain(prepared.parked.into_iter().map(|(item, _)| item)).collect();
        self.refuse(items, error);
        Stepped { items: 1, prefetch: prepared.prefetch }
    }

    /// Nothing happened. What stands alone with something that cannot be stored or read is left alone
    /// from now on.
    pub(crate) fn refuse(&mut self, items: Vec<Item>, error: &StoreError) {
        let culprit = match &*items {
            [Item { work: Work::Park(..), .. }] => None,
            [item] => item.work.execution(),
            _ => None,
        };
        if let (StoreError::Corrupt(why), Some(id)) = (error, culprit) {
            self.again.push_back(Item::unasked(Work::Park(id, why.clone())));
        }
        let requests: Vec<_> =
            items.iter().filter_map(Item::request).take(REQUESTS_LOGGED_MAX).collect();
        let count = items.len();
        match error {
            StoreError::Unavailable(_) => self.world.outage.failed(error, NOT_CARRIED_OUT),
            _ => tracing::error!(%error, items = count, ?requests, "{NOT_CARRIED_OUT}"),
        }
        let refused = items.into_iter().map(|item| (item, Err(Failure::Unavailable)));
        let refused: Replies = refused.collect();
        self.world.meters.answers(&refused);
        for (item, answer) in refused {
            (item.reply)(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use semel_model::ExecutionId;
    use semel_store::{Clock, MemoryStore};

    use super::*;
    use crate::sabotage::Sabotage;
    use crate::world::World;

    #[test]
    fn what_cuts_every_round_off_stands_alone_and_is_given_up() {
        let store = Arc::new(MemoryStore::new(Arc::new(Clock::wall())));
        let world = Arc::new(World::new(store));
        let mut lane = Lane::new(0, world, Arc::default(), Sabotage::None).unwrap();
        let (tell, told) = channel();
        for number in 0..4 {
            let (work, tell) = (Work::Lift(ExecutionId::from_bytes([number; 16])), tell.clone());
            let reply = move |answer: Result<_, Failure>| {
                tell.send((number, answer.is_ok())).expect("somebody listens");
            };
            lane.inbox.push(Item::new(work, Box::new(reply)));
        }
        for items in [4, 2, 1, 1, 1, 1, 1] {
            assert!(told.try_recv().is_err(), "nobody is answered before that");
            let prepared = lane.begin().unwrap().unwrap();
            assert_eq!(prepared.replies.len(), items);
            lane.cut_off(prepared);
        }
        assert_eq!(told.try_recv(), Ok((0, false)));
        assert!(told.try_recv().is_err() && lane.has_work(), "the others are decided again");
    }
}
