//! # Comparing the index with the journals
//!
//! Both are walked by id, a few at a time, between other work. A run whose row is missing, of another
//! seq or not known to have all its tasks is written again; one that is gone is removed. A claim
//! leaves no entry in a journal, so of live runs the deliveries are looked at too.

use std::collections::{BTreeMap, BTreeSet};

use semel_model::ExecutionId;
use semel_store::{Batch, Place, StoreError};

use super::Indexer;
use crate::dirty::Overlay;
use crate::failure::Failure;
use crate::world::World;

/// Runs compared at a time.
const STRIDE: usize = 500;

/// Where a comparison stands.
#[derive(Debug, Default)]
pub(super) struct Walk {
    after: Option<ExecutionId>,
}

impl Indexer {
    /// One stride; none: everything has been compared.
    pub(super) fn compare(&self, walk: Walk) -> Result<Option<Walk>, Failure> {
        let world = &self.world;
        let ends = world.store.ends_of_journals(walk.after, STRIDE)?;
        let indexed = world.store.index().indexed(walk.after, STRIDE)?;
        let last_end = ends.last().filter(|_| ends.len() == STRIDE).map(|(id, _)| *id);
        let last_row = indexed.last().filter(|_| indexed.len() == STRIDE).map(|(id, _)| *id);
        // Beyond the shorter of the two nothing is known of the other.
        let until = last_end.into_iter().chain(last_row).min();
        let is_near = |id: &ExecutionId| until.is_none_or(|until| *id <= until);
        let ends: BTreeMap<_, _> = ends.into_iter().filter(|(id, _)| is_near(id)).collect();
        let indexed: BTreeMap<_, _> = indexed.into_iter().filter(|(id, _)| is_near(id)).collect();
        let mut batch = Batch::default();
        for id in ends.keys().chain(indexed.keys()).collect::<BTreeSet<_>>() {
            match (ends.get(id), indexed.get(id)) {
                (None, _) => batch.removed.push(*id),
                (Some(end), Some(row)) if *end == row.seq && row.is_whole => {
                    if row.is_live {
                        world.index_hand_outs(&mut batch, *id, *end)?;
                    }
                }
                (Some(_), row) => {
                    world.index_again(&mut batch, *id, row.map_or(0, |row| row.seq));
                }
            }
            self.write_large(&mut batch)?;
        }
        self.write(&mut batch)?;
        Ok(until.map(|until| Walk { after: Some(until) }))
    }
}

impl World {
    /// A run that cannot be read is left out: it must not keep the others from being found. A row of a
    /// later moment than there was is nobody's.
    fn index_again(&self, batch: &mut Batch, id: ExecutionId, indexed: u64) {
        match self.read(id) {
            Ok(Some(snapshot)) => {
                if snapshot.execution.link().seq < indexed {
                    batch.removed.push(id);
                }
                Self::index_whole(batch, &snapshot);
            }
            Ok(None) => batch.removed.push(id),
            Err(failure) => {
                tracing::warn!(%failure, execution = %id, "a run cannot be read and is not indexed");
            }
        }
    }

    fn index_hand_outs(&self, batch: &mut Batch, id: ExecutionId, seq: u64) -> Result<(), Failure> {
        let loaded = match self.store.load(id, seq) {
            Err(StoreError::Corrupt(what)) => {
                tracing::warn!(what, execution = %id, "a run cannot be read and is not indexed");
                return Ok(());
            }
            loaded => loaded?,
        };
        let Some(loaded) = loaded else { return Ok(()) };
        for row in loaded.deliveries.iter().filter(|row| row.hand_out.leased) {
            let place = Place { execution: id, task: row.task };
            batch.handed_over.insert(place, Overlay::of(&row.hand_out).handed_over());
        }
        Ok(())
    }
}
