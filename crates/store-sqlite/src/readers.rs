//! # Readers: a few read-only connections, taken in turn
//!
//! They see what is committed and never wait for a round, only for each other.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use semel_store::StoreError;

use crate::fault;

const READERS: usize = 4;
const CACHE_KIB: i64 = 4 * 1024;
/// Only while a file left by a crash is being recovered.
const BUSY_MS: u64 = 5_000;
const STATEMENTS: usize = 32;

pub(crate) struct Readers {
    idle: Mutex<Vec<Connection>>,
    returned: Condvar,
    /// For reads of one row: nobody who takes long is ever in front of them.
    brief: Mutex<Connection>,
}

impl Readers {
    pub(crate) fn open(file: &Path) -> rusqlite::Result<Self> {
        let idle = (0..READERS).map(|_| open(file)).collect::<Result<_, _>>()?;
        let brief = Mutex::new(open(file)?);
        Ok(Self { idle: Mutex::new(idle), returned: Condvar::new(), brief })
    }

    /// A read of one row.
    pub(crate) fn briefly<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        read(&self.brief.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lent = Lent { readers: self, connection: Some(self.take()) };
        let connection = lent.connection.as_ref().expect("lent until dropped");
        read(connection)
    }

    fn take(&self) -> Connection {
        let mut idle = self.idle();
        loop {
            match idle.pop() {
                Some(connection) => return connection,
                None => idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Lent<'a> {
    readers: &'a Readers,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.readers.idle().extend(self.connection.take());
        self.readers.returned.notify_one();
    }
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// Several reads of one moment.
pub(crate) fn at_once<T>(
    connection: &Connection,
    read: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    connection.prepare_cached("BEGIN").and_then(|mut sql| sql.execute([])).map_err(fault::of)?;
    let found = read();
    connection.prepare_cached("COMMIT").and_then(|mut sql| sql.execute([])).map_err(fault::of)?;
    found
}
