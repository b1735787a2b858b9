//! # The index in memory: every row is looked at
//!
//! Also what other stores' indexes are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};

use semel_model::{ExecutionId, TaskId};

use crate::StoreError;
use crate::index::{Batch, Index, Indexed, RunRow, TaskRow};
use crate::rows::Place;
use crate::search::{Direction, Field, Hits, Search, TaskSearch, Value, WorkflowSearch};

#[derive(Default)]
pub(super) struct MemoryIndex(Mutex<Rows>);

#[derive(Default)]
struct Rows {
    runs: BTreeMap<ExecutionId, RunRow>,
    /// Up to where each of them was brought without a gap.
    whole: BTreeMap<ExecutionId, u64>,
    words: BTreeMap<ExecutionId, String>,
    wordless: BTreeSet<ExecutionId>,
    tasks: BTreeMap<Place, TaskRow>,
    places: BTreeMap<TaskId, Place>,
    snapshots: BTreeMap<ExecutionId, Vec<u8>>,
}

impl MemoryIndex {
    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn empty(&mut self, id: ExecutionId) {
        let first = Place { execution: id, task: TaskId::from_bytes([0; 16]) };
        let last = Place { execution: id, task: TaskId::from_bytes([0xff; 16]) };
        for place in self.tasks.range(first..=last).map(|(place, _)| *place).collect::<Vec<_>>() {
            self.tasks.remove(&place);
            self.places.remove(&place.task);
        }
    }

    fn remove(&mut self, id: ExecutionId) {
        self.empty(id);
        self.runs.remove(&id);
        self.whole.remove(&id);
        self.words.remove(&id);
        self.wordless.remove(&id);
        self.snapshots.remove(&id);
    }

    fn put(&mut self, batch: &Batch) {
        batch.removed.iter().for_each(|id| self.remove(*id));
        batch.emptied.iter().for_each(|(id, _)| self.empty(*id));
        for row in &batch.runs {
            let before = self.runs.insert(row.id, row.clone());
            if row.has_new_words || before.is_none() {
                self.wordless.insert(row.id);
            }
            let whole = self.whole.entry(row.id).or_default();
            for brought in &row.brings {
                if brought.after <= *whole {
                    *whole = brought.to.max(*whole);
                }
            }
        }
        for row in &batch.tasks {
            self.tasks.insert(row.place, row.clone());
            self.places.insert(row.place.task, row.place);
        }
        for (place, to) in &batch.handed_over {
            if let Some(row) = self.tasks.get_mut(place).filter(|row| !row.ended_at.is_set()) {
                row.hand_over(*to);
            }
        }
        for words in &batch.words {
            if self.runs.get(&words.of).is_some_and(|row| row.seq <= words.seq) {
                self.words.insert(words.of, words.text.clone());
                self.wordless.remove(&words.of);
            }
        }
        self.snapshots.extend(batch.snapshots.iter().cloned());
    }
}

impl Index for MemoryIndex {
    fn put(&self, batch: &Batch) -> Result<(), StoreError> {
        self.rows().put(batch);
        Ok(())
    }

    fn workflows(&self, search: &WorkflowSearch) -> Result<Hits<ExecutionId>, StoreError> {
        let rows = self.rows();
        let words = |id| rows.words.get(&id).map_or("", String::as_str);
        let found = rows.runs.values();
        let found = found.filter(|row| search.finds(|field| row.value(field), words(row.id)));
        Ok(page(search, found.collect(), RunRow::value, |row| row.id))
    }

    fn tasks(&self, search: &TaskSearch) -> Result<Hits<Place>, StoreError> {
        let rows = self.rows();
        let found = rows.tasks.values();
        let found = found.filter(|row| search.finds(|field| row.value(field), &row.words));
        // Ids of tasks are drawn from all there are, so they order those of any run.
        let hits = page(search, found.collect(), TaskRow::value, |row| {
            (row.place.task, row.place.execution)
        });
        let place = |(task, execution)| Place { execution, task };
        Ok(Hits { total: hits.total, page: hits.page.into_iter().map(place).collect() })
    }

    fn place_of(&self, task: TaskId) -> Result<Option<Place>, StoreError> {
        Ok(self.rows().places.get(&task).copied())
    }

    fn indexed(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, Indexed)>, StoreError> {
        let rows = self.rows();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let runs = rows.runs.range((from, Bound::Unbounded));
        let indexed = |row: &RunRow| Indexed {
            seq: row.seq,
            is_whole: rows.whole.get(&row.id) == Some(&row.seq),
            is_live: !row.status.is_terminal(),
        };
        Ok(runs.take(max).map(|(id, row)| (*id, indexed(row))).collect())
    }

    fn wordless(&self, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        let rows = self.rows();
        Ok(rows.wordless.iter().take(max).copied().collect())
    }

    fn snapshot(&self, id: ExecutionId) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.rows().snapshots.get(&id).cloned())
    }

    fn reset(&self) -> Result<(), StoreError> {
        *self.rows() = Rows::default();
        Ok(())
    }
}

fn page<F: Field, R, T: Ord>(
    search: &Search<F>,
    mut found: Vec<&R>,
    value: impl for<'a> Fn(&'a R, F) -> Value<'a>,
    id: impl Fn(&R) -> T,
) -> Hits<T> {
    let towards = |order: std::cmp::Ordering, direction| match direction {
        Direction::Ascending => order,
        Direction::Descending => order.reverse(),
    };
    found.sort_by(|a, b| {
        let fields = search.order.iter();
        let by_fields = fields
            .map(|(field, direction)| towards(value(a, *field).cmp(&value(b, *field)), *direction));
        let first = by_fields.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
        first.then_with(|| towards(id(a).cmp(&id(b)), search.tie()))
    });
    let page = found.iter().skip(search.start).take(search.size);
    Hits { total: found.len(), page: page.map(|row| id(row)).collect() }
}
