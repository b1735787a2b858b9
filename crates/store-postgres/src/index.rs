//! # The index: tables to search by, in the same database
//!
//! Written by every node about what it has committed itself, a moment later, and without waiting for
//! a disk: what a crash of the database takes with it is noticed and written again.

mod ask;
mod clauses;
mod names;
mod write;

use std::sync::Arc;

use semel_model::{ExecutionId, TaskId};
use semel_store::search::{Hits, TaskSearch, WorkflowSearch};
use semel_store::{Batch, Index, Indexed, Place, StoreError};
use tokio_postgres::Row;

use crate::asks::values;
use crate::columns::{self, Fields, limit, task_uuid, uuid};
use crate::readers::Readers;

/// Another node may not have indexed it yet; what a worker can ask about has a delivery.
const PLACE: &str = "SELECT execution, task FROM tasks WHERE task = $1 UNION ALL \
     SELECT execution, task FROM deliveries WHERE task = $1 LIMIT 1";
const INDEXED: &str = "SELECT id, seq, brought @> int8range(0, seq, '(]'), live FROM runs \
     WHERE id > $1 ORDER BY id LIMIT $2";
const INDEXED_ALL: &str = "SELECT id, seq, brought @> int8range(0, seq, '(]'), live FROM runs \
     ORDER BY id LIMIT $1";
const WORDLESS: &str = "SELECT id FROM runs WHERE NOT worded ORDER BY id LIMIT $1";
const SNAPSHOT: &str = "SELECT body FROM snapshots WHERE execution = $1";
/// Other nodes were in the way of a batch so many times: then it is given up.
const TRIES_AGAIN_MAX: usize = 3;
const RESET: &str = "TRUNCATE runs, tasks, snapshots";

pub(crate) struct PostgresIndex {
    readers: Arc<Readers>,
}

impl PostgresIndex {
    pub(crate) fn new(readers: Arc<Readers>) -> Self {
        Self { readers }
    }
}

impl Index for PostgresIndex {
    fn put(&self, batch: &Batch) -> Result<(), StoreError> {
        // Said twice is said once: the rows are as the batch says.
        let put = || self.readers.read(async |session| write::put(session, batch).await);
        let mut done = put();
        for _ in 0..TRIES_AGAIN_MAX {
            if !matches!(done, Err(StoreError::Contended)) {
                break;
            }
            done = put();
        }
        done
    }

    fn workflows(&self, search: &WorkflowSearch) -> Result<Hits<ExecutionId>, StoreError> {
        let (total, page) = ask::page(&self.readers, search)?;
        let page = page.iter().map(|row| Fields::of(row).execution());
        Ok(Hits { total, page: page.collect::<Result<_, _>>()? })
    }

    fn tasks(&self, search: &TaskSearch) -> Result<Hits<Place>, StoreError> {
        let (total, page) = ask::page(&self.readers, search)?;
        let place = |row: &Row| {
            let mut fields = Fields::of(row);
            let task = fields.task()?;
            Ok::<_, StoreError>(Place { task, execution: fields.execution()? })
        };
        Ok(Hits { total, page: page.iter().map(place).collect::<Result<_, _>>()? })
    }

    fn place_of(&self, task: TaskId) -> Result<Option<Place>, StoreError> {
        let key = || values![task_uuid(task)];
        let rows = self.readers.read(async |session| session.rows(PLACE, key()).await)?;
        rows.first().map(columns::place).transpose()
    }

    fn indexed(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, Indexed)>, StoreError> {
        let rows = self.readers.read(async |session| match after {
            Some(after) => session.rows(INDEXED, values![uuid(after), limit(max)]).await,
            None => session.rows(INDEXED_ALL, values![limit(max)]).await,
        })?;
        let indexed = |row: &Row| {
            let mut fields = Fields::of(row);
            let id = fields.execution()?;
            let (seq, is_whole) = (fields.count()?, fields.next()?);
            Ok((id, Indexed { seq, is_whole, is_live: fields.next()? }))
        };
        rows.iter().map(indexed).collect()
    }

    fn wordless(&self, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        let key = || values![limit(max)];
        let rows = self.readers.read(async |session| session.rows(WORDLESS, key()).await)?;
        rows.iter().map(|row| Fields::of(row).execution()).collect()
    }

    fn snapshot(&self, id: ExecutionId) -> Result<Option<Vec<u8>>, StoreError> {
        let key = || values![uuid(id)];
        let rows = self.readers.read(async |session| session.rows(SNAPSHOT, key()).await)?;
        rows.first().map(|row| Fields::of(row).next()).transpose()
    }

    fn reset(&self) -> Result<(), StoreError> {
        self.readers.read(async |session| session.rows(RESET, Vec::new()).await).map(drop)
    }
}
