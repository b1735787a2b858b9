//! # The sweep: what has been over for long enough goes
//!
//! Looked for now and then, in batches; each batch is an item of a round like any other, so that
//! nobody waits for it. Keys outlive their runs and go later.

use semel_engine::Act;
use semel_model::Timestamp;

use crate::lane::Lane;
use crate::ledger::{Asks, Call};
use crate::removals::record_key;
use crate::work::{Ended, Item, Work};

/// Between two looks when there is nothing more to do, and when there may be.
const SWEEP_MS: i64 = 10_000;
const NEXT_BATCH_MS: i64 = 100;

/// Between two looks for claims of owners outside that have lapsed.
const LAPSES_MS: i64 = 1_000;

/// Runs or keys in one batch.
const BATCH_MAX: usize = 100;

/// Entries of runs in one batch, unless a single one has more.
const ENTRIES_MAX: u64 = 20_000;

impl Lane {
    pub(crate) fn sweep(&mut self, now: Timestamp) {
        if now < self.swept_until {
            return;
        }
        let found = match self.look_for_ended(now) {
            Ok(found) => found,
            Err(error) => {
                self.world.outage.failed(&error, "what can be removed cannot be read");
                false
            }
        };
        self.swept_until = now.plus_ms(if found { NEXT_BATCH_MS } else { SWEEP_MS });
    }

    /// Effects of owners outside whose lease is over come into doubt. Several nodes may find the same
    /// one: it is judged on the held record, so that one of them writes.
    pub(crate) fn look_for_lapsed(&mut self, now: Timestamp) {
        if now < self.lapses_until {
            return;
        }
        self.lapses_until = now.plus_ms(LAPSES_MS);
        let keys = match self.world.store.lapsed_records(now, BATCH_MAX) {
            Ok(keys) => keys,
            Err(error) => {
                return self.world.outage.failed(&error, "claims that lapsed cannot be read");
            }
        };
        for key in keys {
            let call = Call { key, asks: Asks::Ledger(Act::Lapse), by: "semel".to_owned() };
            self.send(Item::unasked(Work::Call(Box::new(call))));
        }
    }

    fn look_for_ended(&mut self, now: Timestamp) -> Result<bool, semel_store::StoreError> {
        let keys = self.world.store.expired_records(now, BATCH_MAX)?;
        let mut found = !keys.is_empty();
        if found {
            self.again.push_back(Item::unasked(Work::Forget(keys)));
        }
        if let Some(retention_ms) = self.world.retention_ms {
            let before = now.plus_ms(-retention_ms);
            let (mut runs, mut entries) = (Vec::new(), 0);
            for id in self.world.store.ended_before(before, BATCH_MAX)? {
                let Some(head) = self.world.store.head(id)? else { continue };
                entries += head.link.seq;
                if entries > ENTRIES_MAX && !runs.is_empty() {
                    break;
                }
                runs.push(Ended { id, key: record_key(&head) });
            }
            if !runs.is_empty() {
                found = true;
                self.again.push_back(Item::unasked(Work::Expire(runs, before)));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_engine::{Head, Link};
    use semel_model::ExecutionId;
    use semel_store::conformance::samples::{self, BEGIN};
    use semel_store::{Clock, MemoryStore, Writes};

    use super::*;
    use crate::sabotage::Sabotage;
    use crate::world::World;

    fn ended(number: u8, entries: u64) -> Head {
        let head = samples::head(number);
        let link = Link { seq: entries, ..head.link };
        Head { link, ended_at: BEGIN.plus_ms(number.into()), ..head }
    }

    #[test]
    fn a_batch_has_as_many_entries_as_a_round_bears_unless_a_single_run_has_more() {
        let world = World::new(Arc::new(MemoryStore::new(Arc::new(Clock::manual(BEGIN)))));
        let world = Arc::new(world.keeping(Some(1)));
        let mut lane = Lane::new(0, world, Arc::default(), Sabotage::None).unwrap();
        let half = ENTRIES_MAX / 2;
        let runs = [(1, 2 * ENTRIES_MAX), (2, half), (3, half), (4, 1)];
        let heads = samples::put_heads(runs.map(|(number, entries)| ended(number, entries)));
        lane.writer.commit(heads).unwrap();
        for (turn, batch) in [vec![1], vec![2, 3], vec![4]].into_iter().enumerate() {
            lane.sweep(BEGIN.plus_ms((turn as i64 + 1) * SWEEP_MS));
            let Some(Work::Expire(runs, _)) = lane.again.pop_front().map(|item| item.work) else {
                panic!("there was something to remove")
            };
            let runs: Vec<ExecutionId> = runs.into_iter().map(|run| run.id).collect();
            assert_eq!(runs, batch.into_iter().map(samples::execution).collect::<Vec<_>>());
            let removed = runs.into_iter().collect();
            lane.writer.commit(Writes { removed, ..Writes::default() }).unwrap();
        }
    }
}
