//! # Lineages: how many descendants of a root are open
//!
//! Counted in the store, by an index, and then on from there: every run that this node begins is added,
//! and the store is asked again before that can be an eighth of what is left. So one node never lets
//! more begin than the limit, several nodes little more, and a run is refused only by a fresh count.
//! Nothing here must survive: what is not known is counted.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use semel_engine::Descendants;
use semel_model::{ExecutionId, Timestamp};
use semel_store::{Store, StoreError};

use crate::draft::Draft;
use crate::round::{Outcome, Round};
use crate::world::World;

/// A root of which nothing is known begins so many before it is counted: most begin a few.
const UNCOUNTED_MAX: u64 = 64;

/// One decision begins so many at most, on one count.
const DECISION_MAX: u64 = 64;

/// What is full, or nearly so, is not counted again for so long: such a tree asks all the time.
const FULL_MS: i64 = 200;

/// Roots that are remembered; beyond that all are forgotten, and counted once more.
const ROOTS_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Lineages {
    /// None: as many as they like.
    max: Option<u64>,
    counts: Mutex<HashMap<ExecutionId, Count>>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    /// As the store had it; none: it was not asked.
    read: Option<(u64, Timestamp)>,
    /// Since then, on this node.
    begun: u64,
}

/// Runs that have begun and are not committed yet.
#[derive(Clone, Copy)]
struct Uncommitted {
    /// Part of the round: these are among what was noted as begun.
    in_round: u64,
    in_draft: u64,
}

impl Count {
    /// Whether it can still be gone by.
    fn is_good(self, max: u64, in_draft: u64, now: Timestamp) -> bool {
        let begun = self.begun + in_draft;
        let few = |read: u64| begun + DECISION_MAX <= max.saturating_sub(read) / 8;
        match self.read {
            None => begun <= UNCOUNTED_MAX && few(0),
            Some((read, at)) => {
                let is_fresh = (0..FULL_MS).contains(&now.since_ms(at));
                let is_below = read >= max || read + begun < max;
                few(read) || (is_fresh && is_below)
            }
        }
    }
}

impl Lineages {
    pub(crate) fn limited_to(max: Option<u64>) -> Self {
        Self { max, ..Self::default() }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.max.is_some()
    }

    /// Runs of that root have become part of a round.
    pub(crate) fn begun(&self, root: ExecutionId, count: u64) {
        if self.max.is_none() {
            return;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.len() >= ROOTS_MAX && !counts.contains_key(&root) {
            counts.clear();
        }
        counts.entry(root).or_default().begun += count;
    }

    /// What is open below that root. None: nobody counts.
    fn open(
        &self,
        store: &dyn Store,
        root: ExecutionId,
        uncommitted: Uncommitted,
    ) -> Result<Option<Descendants>, StoreError> {
        let Some(max) = self.max else { return Ok(None) };
        let Uncommitted { in_round, in_draft } = uncommitted;
        let now = store.now();
        let known = self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&root).copied();
        let mut count = known.unwrap_or_default();
        if !count.is_good(max, in_draft, now) {
            let read = store.open_descendants(root, max)?;
            count = Count { read: Some((read, now)), begun: in_round };
            self.counts.lock().unwrap_or_else(PoisonError::into_inner).insert(root, count);
        }
        let read = count.read.map_or(0, |(read, _)| read);
        Ok(Some(Descendants { open: read + count.begun + in_draft, max }))
    }
}

impl Round {
    /// What is open below that root, with what this round and this draft begin.
    pub(crate) fn open_descendants(
        &self,
        world: &World,
        draft: &Draft,
        root: ExecutionId,
    ) -> Result<Option<Descendants>, Outcome> {
        let begun = |by_root: &BTreeMap<_, u64>| by_root.get(&root).copied().unwrap_or(0);
        let (in_round, in_draft) = (begun(&self.descendants), begun(&draft.descendants));
        let uncommitted = Uncommitted { in_round, in_draft };
        let counted = world.lineages.open(&*world.store, root, uncommitted);
        counted.map_err(|error| Outcome::Answer(Err(error.into())))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::conformance::samples::{self, BEGIN};
    use semel_store::{Clock, MemoryStore};

    use super::*;

    fn store_with(open: u8) -> (MemoryStore, ExecutionId) {
        let store = MemoryStore::new(Arc::new(Clock::manual(BEGIN)));
        let root = samples::execution(200);
        let heads = (0..open)
            .map(|number| semel_engine::Head { root: Some(root), ..samples::head(number) });
        let mut writer = store.writer(0).expect("there is a lane");
        writer.commit(samples::put_heads(heads)).expect("written");
        (store, root)
    }

    const NOTHING: Uncommitted = Uncommitted { in_round: 0, in_draft: 0 };

    #[test]
    fn what_begins_here_is_counted_on_from_what_the_store_had() {
        let (store, root) = store_with(20);
        let lineages = Lineages::limited_to(Some(10_020));
        let open = |uncommitted| {
            let counted = lineages.open(&store, root, uncommitted).expect("readable");
            counted.expect("it is limited").open
        };
        assert_eq!(open(NOTHING), 0, "most roots begin a few, and need not be counted");
        lineages.begun(root, 65);
        assert_eq!(open(NOTHING), 20);
        lineages.begun(root, 1_186);
        assert_eq!(open(NOTHING), 1_206);
        let more = Uncommitted { in_round: 2, in_draft: 1 };
        assert_eq!(open(more), 1_207, "it was just counted");
        store.clock().advance_ms(FULL_MS);
        assert_eq!(open(more), 23, "before an eighth of the rest is used up, it is counted again");
    }

    #[test]
    fn one_node_never_lets_begin_more_than_the_limit() {
        for max in [1, 2, 9, 100] {
            let (store, root) = store_with(0);
            let lineages = Lineages::limited_to(Some(max));
            let mut writer = store.writer(0).expect("there is a lane");
            for number in 0..max {
                let counted = lineages.open(&store, root, NOTHING).expect("readable");
                assert!(counted.is_some_and(|it| it.open < max), "{number} of {max}");
                lineages.begun(root, 1);
                let number = u8::try_from(number).expect("few");
                let head = semel_engine::Head { root: Some(root), ..samples::head(number) };
                writer.commit(samples::put_heads([head])).expect("written");
            }
            let counted = lineages.open(&store, root, NOTHING).expect("readable");
            assert_eq!(counted, Some(Descendants { open: max, max }));
        }
    }

    #[test]
    fn a_full_count_is_counted_again_after_a_moment() {
        let (store, root) = store_with(10);
        let lineages = Lineages::limited_to(Some(10));
        let open = || lineages.open(&store, root, NOTHING).expect("readable").map(|it| it.open);
        lineages.begun(root, 9);
        assert_eq!(open(), Some(10));
        let ended = semel_engine::Head { ended_at: BEGIN, root: Some(root), ..samples::head(1) };
        let mut writer = store.writer(0).expect("there is a lane");
        writer.commit(samples::put_heads([ended])).expect("written");
        assert_eq!(open(), Some(10), "it was just counted");
        store.clock().advance_ms(FULL_MS);
        assert_eq!(open(), Some(9));
    }
}
