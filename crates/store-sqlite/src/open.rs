//! # Opening: one process per directory, and leases that outlive the silence
//!
//! Takes the lock, brings the tables up to date, goes on from the last time the store has seen,
//! gives open leases the time we were away (a worker could not renew), and builds the mirror.
//! Nothing is served before all of that is durable.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use semel_model::{ExecutionId, Timestamp};
use semel_store::transfer::Mark;
use semel_store::{Clock, Mirror, StoreError};

use crate::checkpoint::{Checkpointer, WAL_PAGES};
use crate::columns::{self, delivery_columns_small};
use crate::index::SqliteIndex;
use crate::lock::{Lock, lock};
use crate::readers::Readers;
use crate::{fault, migrate, private, read, write};

pub(crate) const DATABASE: &str = "semel.db";
const PAGE_BYTES: i64 = 8192;
const CACHE_KIB: i64 = 32 * 1024;
const STATEMENTS: usize = 64;
/// The writer waits for nobody but a checkpoint that starts the log again.
const BUSY_MS: u64 = 10_000;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(
        "{} is used by another process; stop that process, or use a directory of its own for this one",
        .directory.display()
    )]
    Held { directory: PathBuf },
    #[error(
        "the data has schema {found} and this binary knows {known}; \
         start the newer release that wrote it, or restore a backup made by this one"
    )]
    Newer { found: u32, known: u32 },
    #[error(
        "migration {number} is not the one that was applied to this data; \
         start a released binary, migrations are never edited"
    )]
    Changed { number: u32 },
    #[error("{} cannot be used as a data directory; check that it may be written", .directory.display())]
    Directory { directory: PathBuf, source: std::io::Error },
    #[error(
        "the copy of {from} into {} is not finished; run the same `semel copy` again, it goes on \
         where it was and says when it is done",
        .directory.display()
    )]
    Unfinished { directory: PathBuf, from: String },
    #[error("the database could not be opened")]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What it is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Serve,
    /// Nothing is done to what is there, which may be half of something.
    Copy,
}

/// An open directory. Dropped in this order: the writer's connection is the last to close, which
/// copies the log into the file, and only then is the directory free for another process.
pub(crate) struct Opened {
    pub(crate) checkpointer: Checkpointer,
    pub(crate) readers: Readers,
    pub(crate) connection: Connection,
    pub(crate) mirror: Mirror,
    pub(crate) index: SqliteIndex,
    pub(crate) documents_generation: u64,
    pub(crate) lock: Lock,
}

pub(crate) fn open(
    directory: &Path,
    clock: &Arc<Clock>,
    purpose: Purpose,
) -> Result<Opened, OpenError> {
    let lock = lock(directory)?;
    private::close_to_others(directory);
    let file = directory.join(DATABASE);
    private::make_file(&file)
        .map_err(|source| OpenError::Directory { directory: directory.to_owned(), source })?;
    let mut connection = connect(&file)?;
    migrate::run(&mut connection, clock.now())?;
    if purpose == Purpose::Serve {
        refuse_unfinished(&connection, directory)?;
        credit_downtime(&connection, clock)?;
    }
    let mirror = mirror(&connection, clock.now())?;
    let documents_generation = connection.query_row(
        "SELECT value FROM meta WHERE name = 'documents_generation'",
        [],
        |row| row.get(0),
    )?;
    let readers = Readers::open(&file)?;
    let checkpointer = Checkpointer::start(&file, &mut connection, WAL_PAGES)?;
    let index = SqliteIndex::open(directory);
    Ok(Opened { checkpointer, readers, connection, mirror, index, documents_generation, lock })
}

fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    connection.pragma_update(None, "page_size", PAGE_BYTES)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", "ON")?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Half of a copy is nobody's data.
fn refuse_unfinished(connection: &Connection, directory: &Path) -> Result<(), OpenError> {
    let Some(mark) = read::document(connection, &Mark::key())? else { return Ok(()) };
    let mark = Mark::decode(&mark)?;
    if mark.is_done() {
        return Ok(());
    }
    let (directory, from) = (directory.to_owned(), mark.from().to_owned());
    Err(OpenError::Unfinished { directory, from })
}

fn credit_downtime(connection: &Connection, clock: &Clock) -> Result<(), OpenError> {
    let last: Option<i64> =
        connection.query_row("SELECT max(at) FROM lanes", [], |row| row.get(0))?;
    let Some(last) = last.map(Timestamp::from_ms) else { return Ok(()) };
    clock.not_before(last);
    let now = clock.now();
    let downtime_ms = now.since_ms(last);
    write::transact(connection, || {
        let credit = "UPDATE deliveries SET lease_until = min(lease_until, ?1 - ?2) + ?2 \
                      WHERE leased AND lease_until IS NOT NULL";
        connection.execute(credit, (i64::MAX, downtime_ms)).map_err(fault::of)?;
        // Else a second start before the first round would credit the same time again.
        connection.execute("UPDATE lanes SET at = ?1", [now.ms()]).map_err(fault::of)?;
        Ok(())
    })?;
    Ok(())
}

fn mirror(connection: &Connection, now: Timestamp) -> Result<Mirror, StoreError> {
    let mut mirror = Mirror::default();
    let deliveries = concat!("SELECT ", delivery_columns_small!(), " FROM deliveries");
    let mut statement = connection.prepare(deliveries).map_err(fault::of)?;
    let mut rows = statement.query([]).map_err(fault::of)?;
    while let Some(row) = rows.next().map_err(fault::of)? {
        let delivery = columns::delivery(row)
            .map_err(|error| fault::in_row(error, || "a row of deliveries".to_owned()))?;
        mirror.insert(&delivery);
    }
    let wakes = "SELECT id, wake_at FROM executions WHERE wake_at IS NOT NULL";
    let mut statement = connection.prepare(wakes).map_err(fault::of)?;
    let wakes = statement.query_map([], |row| {
        Ok((ExecutionId::from_bytes(row.get(0)?), Timestamp::from_ms(row.get(1)?)))
    });
    for wake in wakes.map_err(fault::of)? {
        let (id, at) =
            wake.map_err(|error| fault::in_row(error, || "a row of executions".to_owned()))?;
        mirror.set_wake(id, Some(at));
    }
    let ended = "SELECT DISTINCT execution FROM deliveries \
                 JOIN executions ON executions.id = deliveries.execution WHERE ended_at > 0";
    let id = |row: &rusqlite::Row<'_>| row.get(0).map(ExecutionId::from_bytes);
    for id in read::all(connection, ended, [], id, || "a row of executions".to_owned())? {
        mirror.set_ended(id, true);
    }
    // Whoever was carrying them is gone, so all of them are due.
    let messages = "SELECT sender, seq, at, receiver, sink FROM messages \
                    WHERE waits_scope IS NULL";
    let messages =
        read::all(connection, messages, [], columns::addressed, || "a row of messages".to_owned());
    for (key, to) in messages? {
        mirror.insert_message(key, to, now);
    }
    Ok(mirror)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStore;

    fn clock() -> Arc<Clock> {
        Arc::new(Clock::manual(Timestamp::from_ms(1_000)))
    }

    #[test]
    fn a_directory_in_use_is_refused_until_it_is_free() {
        let directory = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(directory.path(), clock()).unwrap();
        let refused = SqliteStore::open(directory.path(), clock()).err().unwrap();
        assert!(matches!(refused, OpenError::Held { .. }), "{refused}");
        assert!(refused.to_string().contains("used by another process"), "{refused}");
        drop(store);
        SqliteStore::open(directory.path(), clock()).unwrap();
    }

    #[test]
    fn a_missing_directory_is_made_and_left_without_a_log() {
        let parent = tempfile::tempdir().unwrap();
        let directory = parent.path().join("a").join("b");
        let store = SqliteStore::open(&directory, clock()).unwrap();
        assert!(directory.join("semel.db-wal").exists());
        drop(store);
        assert!(directory.join("semel.db").exists());
        assert!(!directory.join("semel.db-wal").exists(), "a clean close copies the log");
    }

    #[test]
    fn a_path_that_is_a_file_is_refused_by_name() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("file");
        std::fs::write(&path, "").unwrap();
        let refused = SqliteStore::open(&path, clock()).err().unwrap();
        assert!(refused.to_string().contains("file cannot be used"), "{refused}");
    }

    #[test]
    fn half_of_a_copy_is_refused_by_who_would_serve_it() {
        use semel_store::conformance::samples;
        use semel_store::transfer::transfer;
        use semel_store::{MemoryStore, Page, Shelf, Stamp, Store, Writes};

        let directory = tempfile::tempdir().unwrap();
        let (source, path) = (MemoryStore::new(clock()), directory.path());
        let stamp = |fence| Stamp { lane: 0, round: 1, at: Timestamp::from_ms(5), fence };
        let put = |writes, fence| {
            source.writer(0).unwrap().commit(Writes { stamp: stamp(fence), ..writes }).unwrap();
        };
        put(samples::journal(1, 3), 7);
        put(samples::put_heads([samples::head(2)]), 7); // It has no journal.
        let target = SqliteStore::open_for_copy(path, clock()).unwrap();
        transfer("there", &source, &target, &mut |_| {}).unwrap();
        drop(target);
        let refused = SqliteStore::open(path, clock()).err().unwrap();
        assert!(matches!(refused, OpenError::Unfinished { .. }), "{refused}");
        assert!(refused.to_string().contains("semel copy"), "{refused}");
        let target = SqliteStore::open_for_copy(path, clock()).unwrap();
        assert_eq!(target.last_at().unwrap(), Some(Timestamp::from_ms(5)), "as in the source");
        let page = Page { rows_max: 9, bytes_max: 999 };
        let heads = target.walk(&semel_store::After::nothing(Shelf::Executions), page).unwrap();
        assert_eq!(heads.len(), 2);
    }

    #[test]
    fn data_of_a_newer_release_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        drop(SqliteStore::open(directory.path(), clock()).unwrap());
        let connection = Connection::open(directory.path().join(DATABASE)).unwrap();
        connection.execute("INSERT INTO migrations VALUES (999, zeroblob(32), 0)", []).unwrap();
        drop(connection);
        let refused = SqliteStore::open(directory.path(), clock()).err().unwrap();
        assert!(matches!(refused, OpenError::Newer { found: 999, .. }), "{refused}");
    }
}
