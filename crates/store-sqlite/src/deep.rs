//! # Reading everything: every page, every journal
//!
//! A disk may have lost what nobody has asked for yet. **May not:** change anything; a server may be
//! running on the directory.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::open::{DATABASE, OpenError};
use crate::proof::{self, Counts, Proof};
use crate::{index, migrate};

const BUSY_MS: u64 = 5_000;

/// What was read; the inner error is the first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deep {
    pub database: Result<(), String>,
    pub journals: Result<Counts, String>,
    /// None: there is no index yet.
    pub index: Option<Result<(), String>>,
}

/// None: there is no database yet. `told` hears how many journal entries were read.
pub fn read_all(directory: &Path, told: &mut dyn FnMut(u64)) -> Result<Option<Deep>, OpenError> {
    let file = directory.join(DATABASE);
    if !file.exists() {
        return Ok(None);
    }
    let connection = open(&file)?;
    migrate::refuse_unknown(&connection)?;
    connection.execute_batch("BEGIN; SELECT count(*) FROM meta")?; // All of one moment.
    let database = said(proof::structure(&connection));
    let journals = said(proof::journals(&connection, told));
    drop(connection);
    let file = directory.join(index::FILE);
    let index = file.exists().then(|| said(open(&file).and_then(|index| proof::structure(&index))));
    Ok(Some(Deep { database, journals, index }))
}

fn open(file: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    Ok(connection)
}

fn said<T>(proof: Proof<T>) -> Result<T, String> {
    proof.unwrap_or_else(|error| Err(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};
    use std::sync::Arc;

    use semel_store::conformance::samples;
    use semel_store::{Clock, Store as _, Writes};

    use super::*;
    use crate::SqliteStore;

    #[test]
    fn every_page_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        assert_eq!(read_all(path, &mut |_| {}).unwrap(), None);
        let store = SqliteStore::open(path, Arc::new(Clock::manual(samples::BEGIN))).unwrap();
        let logs = |number| Writes {
            pinned: [(semel_model::Digest::of(&[number]), vec![number; 60_000])].into(),
            ..Writes::default()
        };
        let mut writer = store.writer(0).unwrap();
        for number in 1..9 {
            writer.commit(logs(number)).unwrap();
        }
        drop((writer, store));
        let read = read_all(path, &mut |_| {}).unwrap().unwrap();
        assert_eq!((read.database, read.index), (Ok(()), Some(Ok(()))));
        // A page of a body nobody asked for names another one as its next.
        let mut file = std::fs::File::options().write(true).open(path.join(DATABASE)).unwrap();
        let pages = file.metadata().unwrap().len() / 8192;
        file.seek(std::io::SeekFrom::Start((pages - 3) * 8192)).unwrap();
        file.write_all(&[0, 0, 0, 2]).unwrap();
        let read = read_all(path, &mut |_| {}).unwrap().unwrap();
        assert!(read.database.is_err(), "{read:?}");
        SqliteStore::open(path, Arc::new(Clock::manual(samples::BEGIN))).unwrap();
    }
}
