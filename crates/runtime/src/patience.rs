//! # Patience: rows that somebody else holds
//!
//! A round skips them and goes on with the rest; what needed them is decided in the next one. What was
//! skipped too often, or is all there is to do, gets a round that waits for its rows in the one order
//! in which everybody holds: its turn comes, and nobody spins. That it was in vain is said in the end.

use std::collections::BTreeSet;

use semel_store::StoreError;

use crate::inbox::BESIDE_CALLERS;
use crate::lane::Lane;
use crate::work::Item;

/// So often an item is put off before it is waited for.
const SKIPS_MAX: u8 = 3;

/// So often rows are waited for before whoever asked is told to come back.
pub(crate) const WAITS_MAX: u8 = 4;

impl Lane {
    /// What the next round is about, and whether it waits for rows that others hold.
    pub(crate) fn gather(&mut self) -> (Vec<Item>, bool) {
        if self.again.iter().any(is_patient) {
            return (self.gather_patient(), true);
        }
        let mut items = self.decided_again();
        let is_doomed = |item: &Item| self.world.is_doomed(&item.work);
        items.extend(self.inbox.gather(self.width - items.len(), &is_doomed));
        (items, false)
    }

    /// Decided again before what waits, but little internal work in a round that callers wait for: a
    /// party all of whose items need a second look must not have all of it.
    fn decided_again(&mut self) -> Vec<Item> {
        let (mut items, mut internal) = (Vec::new(), 0);
        let internal_max = match self.inbox.has_callers() {
            true => self.width.div_ceil(2).min(BESIDE_CALLERS),
            false => self.width,
        };
        for item in std::mem::take(&mut self.again) {
            let is_internal = item.credit.is_none();
            let is_over = items.len() >= self.width || (is_internal && internal >= internal_max);
            if is_over {
                self.again.push_back(item);
            } else {
                internal += usize::from(is_internal);
                items.push(item);
            }
        }
        items
    }

    /// With everything else that is about the same executions: it is decided in order, and the wait
    /// is shared.
    fn gather_patient(&mut self) -> Vec<Item> {
        let patient = self.again.iter().filter(|item| is_patient(item));
        let executions: BTreeSet<_> = patient.filter_map(|item| item.work.execution()).collect();
        let mut items = Vec::new();
        for item in std::mem::take(&mut self.again) {
            let execution = item.work.execution();
            let is_company = execution.is_some_and(|id| executions.contains(&id));
            match items.len() < self.width && (is_patient(&item) || is_company) {
                true => items.push(item),
                false => self.again.push_back(item),
            }
        }
        items
    }

    /// Somebody else has a row of it.
    pub(crate) fn put_off(&mut self, mut item: Item) {
        item.skips = item.skips.saturating_add(1);
        self.again.push_back(item);
    }

    /// Nothing of a round could be decided: there is nothing to do but wait.
    pub(crate) fn be_patient(&mut self) {
        self.again.iter_mut().filter(|item| item.skips > 0).for_each(|it| it.skips = SKIPS_MAX);
    }

    /// Nothing happened. Rows that are contended are asked for again, by fewer items, and so is what
    /// cannot be read until it stands alone; any other error is everybody's.
    pub(crate) fn not_held(&mut self, items: Vec<Item>, error: &StoreError) {
        self.width = (items.len() / 2).max(1);
        match error {
            StoreError::Contended => {}
            StoreError::Corrupt(_) if items.len() > 1 => {
                return items.into_iter().rev().for_each(|item| self.again.push_front(item));
            }
            error => {
                if let StoreError::Unavailable(why) = error {
                    self.world.set_trouble(Some(why.to_string()));
                }
                return self.refuse(items, error);
            }
        }
        let (late, rest): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| item.waits >= WAITS_MAX);
        for mut item in rest.into_iter().rev() {
            item.waits += 1;
            item.skips = 0;
            self.again.push_front(item);
        }
        if !late.is_empty() {
            self.refuse(late, error);
        }
    }
}

fn is_patient(item: &Item) -> bool {
    item.skips >= SKIPS_MAX
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, channel};

    use semel_model::ExecutionId;
    use semel_store::{Clock, MemoryStore};

    use super::*;
    use crate::failure::Failure;
    use crate::sabotage::Sabotage;
    use crate::work::{Answer, Work};
    use crate::world::World;

    /// Of one node, with an item each about the same execution.
    fn lanes() -> [(Lane, Receiver<Result<Answer, Failure>>); 2] {
        let store = Arc::new(MemoryStore::new(Arc::new(Clock::wall())));
        let world = Arc::new(World::new(store));
        [0, 1].map(|number| {
            let (world, inbox) = (Arc::clone(&world), Arc::default());
            let lane = Lane::new(number, world, inbox, Sabotage::None).unwrap();
            let (tell, told) = channel();
            let work = Work::Lift(ExecutionId::from_bytes([1; 16]));
            lane.inbox.push(Item::new(work, Box::new(move |answer| drop(tell.send(answer)))));
            (lane, told)
        })
    }

    #[test]
    fn who_has_nothing_else_to_do_waits_for_what_another_lane_holds() {
        let [(mut ann, _told_ann), (mut bob, told)] = lanes();
        let under_way = ann.begin().unwrap().unwrap();
        bob.step().unwrap();
        assert!(told.try_recv().is_err());
        let (items, waits) = bob.gather();
        assert_eq!((items.len(), waits), (1, true));
        bob.again.extend(items);
        ann.finish(under_way).unwrap();
        bob.step().unwrap();
        assert!(matches!(told.recv(), Ok(Err(Failure::NoExecution(_)))), "it was its turn");
    }

    #[test]
    fn after_contention_the_next_round_takes_half_until_one_is_written() {
        let [(mut lane, _told), _] = lanes();
        (0..7).for_each(|_| lane.inbox.push(Item::unasked(Work::Beat)));
        for count in [8, 4, 2, 1] {
            let (items, _) = lane.gather();
            assert_eq!(items.len(), count);
            lane.not_held(items, &StoreError::Contended);
        }
        lane.step().unwrap(); // There was nothing to write.
        lane.step().unwrap();
        assert_eq!(lane.gather().0.len(), 6, "one was held and written");
    }

    #[test]
    fn who_has_waited_in_vain_for_long_is_told_to_come_back() {
        let [(mut lane, told), _] = lanes();
        for _ in 0..WAITS_MAX {
            let (items, _) = lane.gather();
            lane.not_held(items, &StoreError::Contended);
            assert!(told.try_recv().is_err());
        }
        let (items, _) = lane.gather();
        lane.not_held(items, &StoreError::Contended);
        assert!(matches!(told.recv(), Ok(Err(Failure::Unavailable))));
        assert!(!lane.has_work());
    }

    #[test]
    fn what_cannot_be_read_stands_alone_before_anybody_suffers_for_it() {
        let [(mut lane, told), (_, _)] = lanes();
        let id = ExecutionId::from_bytes([2; 16]);
        lane.inbox.push(Item::unasked(Work::Lift(id)));
        let unreadable = StoreError::Corrupt("a row".to_owned());
        let (items, _) = lane.gather();
        assert_eq!(items.len(), 2);
        lane.not_held(items, &unreadable);
        assert!(told.try_recv().is_err());
        let (alone, _) = lane.gather();
        assert_eq!(alone.len(), 1);
        lane.not_held(alone, &unreadable);
        assert!(matches!(told.recv(), Ok(Err(Failure::Unavailable))));
        let (rest, _) = lane.gather();
        let is_parked = |item: &Item| matches!(item.work, Work::Park(..));
        assert!(!is_parked(&rest[0]), "the other one is decided first");
        let (parked, _) = lane.gather();
        assert!(parked.iter().all(is_parked) && parked.len() == 1);
        lane.not_held(parked, &unreadable);
        assert!(!lane.has_work(), "what cannot even be parked is not parked for ever");
    }
}
