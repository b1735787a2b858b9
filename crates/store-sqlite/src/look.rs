//! # Look: what is in a data directory, without touching it
//!
//! For whoever examines a directory that a server may hold. **May not:** write, migrate, or keep
//! the directory from anybody.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use semel_model::Timestamp;
use semel_store::Kind;

use crate::migrate;
use crate::open::{DATABASE, OpenError};

const BUSY_MS: u64 = 5_000;

/// A data directory as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    pub schema: u32,
    /// What this binary would bring it to.
    pub schema_known: u32,
    /// Of the database and its log together.
    pub bytes: u64,
    /// When its server was last known to be alive.
    pub last_at: Option<Timestamp>,
    /// The sealed secrets, by name.
    pub secrets: BTreeMap<String, Vec<u8>>,
}

/// None: there is no database yet.
pub fn look(directory: &Path) -> Result<Option<Look>, OpenError> {
    let file = directory.join(DATABASE);
    if !file.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&file, flags)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS))?;
    let schema = migrate::refuse_unknown(&connection)?;
    let last_at: Option<i64> =
        connection.query_row("SELECT max(at) FROM lanes", [], |row| row.get(0))?;
    let mut statement = connection.prepare("SELECT name, body FROM documents WHERE kind = ?1")?;
    let secrets =
        statement.query_map([Kind::Secret.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let secrets = secrets.collect::<rusqlite::Result<_>>()?;
    let length = |name: &str| directory.join(name).metadata().map_or(0, |data| data.len());
    Ok(Some(Look {
        schema,
        schema_known: migrate::SCHEMA,
        bytes: length(DATABASE) + length(&format!("{DATABASE}-wal")),
        last_at: last_at.map(Timestamp::from_ms),
        secrets,
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_store::Clock;

    use super::*;
    use crate::{SqliteStore, is_held};

    #[test]
    fn looking_changes_nothing_and_sees_who_holds_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(look(directory.path()).unwrap(), None);
        assert!(!is_held(directory.path()).unwrap());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_000)));
        let store = SqliteStore::open(directory.path(), Arc::clone(&clock)).unwrap();
        assert!(is_held(directory.path()).unwrap());
        let seen = look(directory.path()).unwrap().unwrap();
        assert_eq!((seen.schema, seen.last_at), (seen.schema_known, None));
        assert!(seen.bytes > 0);
        drop(store);
        assert!(!is_held(directory.path()).unwrap());
        assert_eq!(look(directory.path()).unwrap().unwrap().schema, seen.schema);
        SqliteStore::open(directory.path(), clock).unwrap();
    }
}
