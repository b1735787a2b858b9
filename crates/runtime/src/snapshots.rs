//! # Snapshots: long runs need not be folded from their beginning
//!
//! Kept beside the index, off the commit path, and only ever a way to begin folding later. One is
//! written when a run has grown by as much as it holds, so that all of them together cost no more
//! than the run itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::Execution;
use semel_model::ExecutionId;
use semel_store::{Batch, Loaded};

use crate::failure::Failure;
use crate::world::World;

/// Runs with fewer entries are folded as quickly as a snapshot is read.
const ENTRIES_MIN: u64 = 256;

/// What is remembered of runs that go on; beyond that, some are written once too often.
const RUNS_MAX: usize = 10_000;

/// How far each long run is kept.
#[derive(Default)]
pub(crate) struct Kept(BTreeMap<ExecutionId, u64>);

impl Kept {
    /// Takes a snapshot of a run that has grown enough.
    pub(crate) fn look(&mut self, batch: &mut Batch, execution: &Execution) {
        let (id, seq) = (execution.id(), execution.link().seq);
        let since = seq.saturating_sub(self.0.get(&id).copied().unwrap_or(0));
        let size = execution.task_count() as u64;
        let has_grown = since >= ENTRIES_MIN.max(size);
        let is_last = execution.is_closed() && since >= ENTRIES_MIN;
        if has_grown || is_last {
            batch.snapshots.extend(execution.snapshot().map(|body| (id, body)));
            if self.0.len() >= RUNS_MAX {
                self.0.clear();
            }
            self.0.insert(id, seq);
        }
        if execution.is_closed() {
            self.0.remove(&id);
        }
    }
}

impl World {
    /// Where folding may begin: what is cached, or else a snapshot.
    pub(crate) fn beginning(&self, id: ExecutionId) -> Option<Arc<Execution>> {
        self.cached(id).or_else(|| self.restored(id))
    }

    fn restored(&self, id: ExecutionId) -> Option<Arc<Execution>> {
        let body = self.store.index().snapshot(id).ok()??;
        let restored = Execution::restored(&body, |digest| self.definitions.pinned(digest));
        restored.ok()?.filter(|execution| execution.id() == id).map(Arc::new)
    }

    /// The execution as it is committed. A beginning that its journal does not continue is dropped.
    pub(crate) fn fold_from(
        &self,
        beginning: Option<Arc<Execution>>,
        id: ExecutionId,
        with_deliveries: bool,
    ) -> Result<Option<(Arc<Execution>, Loaded)>, Failure> {
        let after = beginning.as_ref().map_or(0, |it| it.link().seq);
        let loaded = match with_deliveries {
            true => self.store.load(id, after)?,
            false => self.store.journal(id, after)?,
        };
        let Some(loaded) = loaded else { return Ok(None) };
        let is_usable = after <= loaded.head.link.seq;
        match self.fold(beginning.clone().filter(|_| is_usable), &loaded) {
            Ok(execution) => Ok(Some((execution, loaded))),
            Err(_) if beginning.is_some() => {
                self.forget(id);
                self.fold_from(None, id, with_deliveries)
            }
            Err(failure) => Err(failure),
        }
    }
}
