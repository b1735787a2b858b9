//! # Searching: what the door may ask of the index
//!
//! A search first lets the index catch up with what was committed before it, so that whoever
//! started a run finds it; not for ever, and then it says what is missing.

use std::time::{Duration, Instant};

use semel_model::{ExecutionId, TaskId};
use semel_store::search::{Hits, TaskSearch, WorkflowSearch};
use semel_store::{Index, Place, StoreError};

use crate::failure::Failure;
use crate::runtime::Runtime;
use crate::world::World;

/// How long a search waits for the index.
const SETTLE_MAX: Duration = Duration::from_secs(2);

/// How far another node may be behind with what it has committed: two of its looks.
const OTHERS_BEHIND: Duration = Duration::from_millis(500);
const ASK_EVERY: Duration = Duration::from_millis(50);

/// One page of what a search finds, as ids in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found<T> {
    pub total_hits: usize,
    pub ids: Vec<T>,
    /// False while the index is behind: there may be more.
    pub is_complete: bool,
}

impl Runtime {
    pub async fn search_workflows(
        &self,
        search: WorkflowSearch,
    ) -> Result<Found<ExecutionId>, Failure> {
        let is_complete = self.settle(search.free_text.is_some()).await;
        let hits = self.in_turn(asked(move |index| index.workflows(&search))).await?;
        Ok(found(hits, is_complete))
    }

    pub async fn search_tasks(&self, search: TaskSearch) -> Result<Found<Place>, Failure> {
        let is_complete = self.settle(false).await;
        let hits = self.in_turn(asked(move |index| index.tasks(&search))).await?;
        Ok(found(hits, is_complete))
    }

    /// Where a task lies, by its id alone. It may have gone meanwhile: read its execution.
    pub async fn place_of_task(&self, task: TaskId) -> Result<Option<Place>, Failure> {
        let known = self.ask_index(move |index| index.place_of(task)).await?;
        if known.is_some() {
            return Ok(known);
        }
        let is_complete = self.settle(false).await;
        match self.place_soon(task).await? {
            None if !is_complete => Err(Failure::Unavailable), // It may be there all the same.
            place => Ok(place),
        }
    }

    /// What another node has committed is indexed a moment later, and nobody here is told when.
    async fn place_soon(&self, task: TaskId) -> Result<Option<Place>, Failure> {
        let wait = if self.world().store.is_shared() { OTHERS_BEHIND } else { Duration::ZERO };
        let until = Instant::now() + wait;
        loop {
            let place = self.ask_index(move |index| index.place_of(task)).await?;
            if place.is_some() || Instant::now() >= until {
                return Ok(place);
            }
            tokio::time::sleep(ASK_EVERY).await;
        }
    }

    /// Lets the index catch up with what was committed before this call; false when it did not in
    /// time.
    pub async fn settle(&self, with_words: bool) -> bool {
        let dirty = &self.world().dirty;
        tokio::time::timeout(SETTLE_MAX, dirty.caught_up(with_words)).await.is_ok()
    }

    async fn ask_index<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Index) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Failure> {
        self.blocking(asked(ask)).await
    }
}

/// An index that turns out to be unreadable is made anew, unless others have it too.
fn asked<T>(
    ask: impl FnOnce(&dyn Index) -> Result<T, StoreError>,
) -> impl FnOnce(&World) -> Result<T, Failure> {
    move |world| match ask(world.store.index()) {
        Err(StoreError::Corrupt(what)) => {
            tracing::error!(what, "the search index cannot be read");
            world.give_up_index();
            Err(Failure::Unavailable)
        }
        answer => Ok(answer?),
    }
}

fn found<T>(hits: Hits<T>, is_complete: bool) -> Found<T> {
    Found { total_hits: hits.total, ids: hits.page, is_complete }
}
