//! # The index file: searched by, and never missed
//!
//! `semel-index.db` lies beside the database, with a writer and readers of its own, and is never
//! synced: killed at any moment it is still whole, and after a power cut it is made anew. A file
//! that is missing, unreadable or of another release is replaced by an empty one, which whoever
//! fills the index notices.
//!
//! **May not:** keep the store from opening.

mod ask;
mod clauses;
mod plan;
#[cfg(test)]
mod tests;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use rusqlite::{Connection, Row};
use semel_model::{Digest, ExecutionId, TaskId};
use semel_store::search::{Hits, TaskSearch, WorkflowSearch};
use semel_store::{Batch, Index, Indexed, Place, StoreError};

use crate::read::{all, one};
use crate::readers::{Readers, at_once};
use crate::{fault, private};

const FILE: &str = "semel-index.db";
const SCHEMA: &str = include_str!("index/schema.sql");
const PAGE_BYTES: i64 = 8192;
const CACHE_KIB: i64 = 16 * 1024;
const WAL_PAGES: i64 = 4_000;
const STATEMENTS: usize = 32;
const BUSY_MS: u64 = 5_000;

const INDEXED: &str =
    "SELECT id, seq, whole = seq, live FROM runs WHERE id > ?1 ORDER BY id LIMIT ?2";
const PLACE: &str = "SELECT execution FROM tasks WHERE task = ?1";
const SNAPSHOT: &str = "SELECT body FROM snapshots WHERE execution = ?1";
const WORDLESS: &str = "SELECT id FROM runs WHERE worded = 0 ORDER BY id LIMIT ?1";

pub(crate) struct SqliteIndex {
    file: PathBuf,
    open: RwLock<Option<Open>>,
}

/// Readers close first, so that the writer copies the log.
struct Open {
    readers: Readers,
    writer: Mutex<Connection>,
}

impl Drop for Open {
    /// Synced for once: what is closed in peace can be trusted whatever happens to the machine.
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        let closed = "PRAGMA synchronous = FULL; UPDATE meta SET opened_in = ''";
        if let Err(error) = writer.execute_batch(closed) {
            tracing::debug!(%error, "the search index was not closed in peace");
        }
    }
}

impl SqliteIndex {
    /// Opens what is there, or makes it anew. Where even that fails, searches are refused and the
    /// next write tries again.
    pub(crate) fn open(directory: &Path) -> Self {
        let file = directory.join(FILE);
        let open = match open(&file) {
            Ok(open) => Some(open),
            Err(error) => {
                tracing::warn!(%error, file = %file.display(), "the search index is made anew");
                anew(&file).inspect_err(|error| unusable(&file, error)).ok()
            }
        };
        Self { file, open: RwLock::new(open) }
    }

    fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().ok_or_else(closed)?.readers.with(read)
    }
}

impl Index for SqliteIndex {
    fn put(&self, batch: &Batch) -> Result<(), StoreError> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let writer = &open.as_ref().ok_or_else(closed)?.writer;
        let writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        write::put(&writer, batch)
    }

    fn workflows(&self, search: &WorkflowSearch) -> Result<Hits<ExecutionId>, StoreError> {
        self.read(|connection| {
            at_once(connection, || {
                ask::page(connection, search, |row| row.get(0).map(ExecutionId::from_bytes))
            })
        })
    }

    fn tasks(&self, search: &TaskSearch) -> Result<Hits<Place>, StoreError> {
        self.read(|connection| {
            at_once(connection, || {
                let hits = ask::page(connection, search, |row| row.get(0).map(TaskId::from_bytes))?;
                let places = hits.page.iter().map(|task| place(connection, *task));
                let places = places.collect::<Result<Vec<_>, _>>()?;
                Ok(Hits { total: hits.total, page: places.into_iter().flatten().collect() })
            })
        })
    }

    fn place_of(&self, task: TaskId) -> Result<Option<Place>, StoreError> {
        self.read(|connection| place(connection, task))
    }

    fn indexed(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, Indexed)>, StoreError> {
        let after = after.as_ref().map_or(&[][..], |id| id.as_bytes());
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| {
            let indexed = Indexed { seq: row.get(1)?, is_whole: row.get(2)?, is_live: row.get(3)? };
            Ok((ExecutionId::from_bytes(row.get(0)?), indexed))
        };
        let name = || "an indexed run".to_owned();
        self.read(|connection| all(connection, INDEXED, (after, max), read, name))
    }

    fn snapshot(&self, id: ExecutionId) -> Result<Option<Vec<u8>>, StoreError> {
        let name = || format!("the snapshot of {id}");
        let read = |row: &Row<'_>| row.get(0);
        self.read(|connection| Ok(all(connection, SNAPSHOT, [id.as_bytes()], read, name)?.pop()))
    }

    fn wordless(&self, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| row.get(0).map(ExecutionId::from_bytes);
        self.read(|connection| {
            all(connection, WORDLESS, [max], read, || "an indexed run".to_owned())
        })
    }

    fn reset(&self) -> Result<(), StoreError> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        *open = None;
        *open = Some(anew(&self.file)?);
        Ok(())
    }
}

fn place(connection: &Connection, task: TaskId) -> Result<Option<Place>, StoreError> {
    let read = |row: &Row<'_>| Ok(Place { execution: ExecutionId::from_bytes(row.get(0)?), task });
    one(connection, PLACE, [task.as_bytes()], read, || format!("indexed task {task}"))
}

fn closed() -> StoreError {
    StoreError::Corrupt("the search index could not be opened".to_owned())
}

fn unusable(file: &Path, error: &StoreError) {
    tracing::error!(%error, file = %file.display(), "there is no search index; searches are refused");
}

/// An empty index in place of whatever is there.
fn anew(file: &Path) -> Result<Open, StoreError> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::Unavailable(Box::new(error)));
            }
            _ => {}
        }
    }
    open(file)
}

fn open(file: &Path) -> Result<Open, StoreError> {
    private::make_file(file).map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    let writer = connect(file).map_err(fault::of)?;
    trust(&writer)?;
    let readers = Readers::open(file).map_err(fault::of)?;
    Ok(Open { readers, writer: Mutex::new(writer) })
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.pragma_update(None, "wal_autocheckpoint", WAL_PAGES)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        let create = format!("BEGIN; {SCHEMA} PRAGMA user_version = {}; COMMIT", version());
        connection.execute_batch(&create)?;
    }
    Ok(connection)
}

/// Only what this release wrote, and what no power cut can have torn: nothing here is ever synced
/// while it is open.
fn trust(connection: &Connection) -> Result<(), StoreError> {
    let found: i64 =
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(fault::of)?;
    if found != version() {
        return Err(StoreError::Corrupt("another release wrote it".to_owned()));
    }
    let now = boot();
    let before: String = connection
        .query_row("SELECT opened_in FROM meta", [], |row| row.get(0))
        .map_err(fault::of)?;
    if !before.is_empty() && Some(&before) != now.as_ref() {
        let why = "it was open when the machine went down, or elsewhere";
        return Err(StoreError::Corrupt(why.to_owned()));
    }
    let now = now.unwrap_or_else(|| "somewhere".to_owned());
    connection.execute("UPDATE meta SET opened_in = ?1", [now]).map_err(fault::of)?;
    Ok(())
}

/// Names this run of the machine, where that is known.
fn boot() -> Option<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

/// Tells one schema from another.
fn version() -> i64 {
    let digest = Digest::of(SCHEMA.as_bytes());
    let [a, b, c, d, ..] = *digest.as_bytes();
    i64::from(i32::from_be_bytes([a, b, c, d]))
}
