//! # Migrations: numbered SQL, applied in order, never edited
//!
//! Under a lock of the database, so nodes that start together apply each once. Each is one
//! transaction and leaves its number and checksum behind. A file that was applied and has changed
//! since is refused: two binaries would mean different tables by the same number.

use semel_model::Digest;
use tokio_postgres::error::SqlState;

use crate::asks::Session;
use crate::fault::{self, Fault};
use crate::link::Link;
use crate::open::{self, OpenError};

struct Migration {
    number: u32,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, sql: include_str!("../migrations/0001_begin.sql") },
    Migration { number: 2, sql: include_str!("../migrations/0002_index.sql") },
];

const LOCK: &str = "SELECT pg_advisory_lock(7359286000)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(7359286000)";
const IS_THERE: &str = "SELECT to_regclass('migrations') IS NOT NULL";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, checksum bytea NOT NULL, at timestamptz NOT NULL DEFAULT now()
)";

/// How far the tables of a database are, and how far this binary knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// 0: there are none.
    pub found: u32,
    pub known: u32,
}

impl Schema {
    pub fn is_current(self) -> bool {
        self.found == self.known
    }
}

/// Looks without changing anything; tables another binary must read are refused.
pub fn schema(url: &str) -> Result<Schema, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        let applied = applied(&session).await?;
        refuse_unknown(&applied, MIGRATIONS)?;
        Ok(Schema { found: applied.last().map_or(0, |(number, _)| *number), known: known() })
    })
}

/// Brings the tables to what this binary knows.
pub fn migrate(url: &str) -> Result<Schema, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        run(&session).await?;
        Ok(Schema { found: known(), known: known() })
    })
}

/// The schema this binary writes.
pub(crate) fn known() -> u32 {
    MIGRATIONS.last().map_or(0, |migration| migration.number)
}

pub(crate) async fn run(session: &Session) -> Result<(), OpenError> {
    // Waits as long as another node takes.
    let unlimited = "SET statement_timeout = 0; SET lock_timeout = 0";
    session.client.batch_execute(unlimited).await.map_err(refused)?;
    session.client.batch_execute(LOCK).await.map_err(refused)?;
    let done = run_all(session, MIGRATIONS).await;
    session.client.batch_execute(UNLOCK).await.map_err(refused)?;
    done
}

async fn run_all(session: &Session, known: &[Migration]) -> Result<(), OpenError> {
    let before = applied(session).await?;
    refuse_unknown(&before, known)?;
    if before.is_empty() {
        session.client.batch_execute(TABLE).await.map_err(refused)?;
    }
    for migration in known {
        if before.iter().any(|(number, _)| *number == migration.number) {
            continue;
        }
        let Migration { number, sql } = migration;
        let checksum = Digest::of(sql.as_bytes());
        // One message of several statements is one transaction.
        let sql = format!(
            "{sql}; INSERT INTO migrations (number, checksum) VALUES ({number}, '\\x{checksum}')"
        );
        session.client.batch_execute(&sql).await.map_err(refused)?;
    }
    Ok(())
}

async fn applied(session: &Session) -> Result<Vec<(u32, Digest)>, OpenError> {
    let is_there = session.client.query_one(IS_THERE, &[]).await.map_err(refused)?;
    if !is_there.get::<_, bool>(0) {
        return Ok(Vec::new());
    }
    let sql = "SELECT number, checksum FROM migrations ORDER BY number";
    let rows = session.client.query(sql, &[]).await.map_err(refused)?;
    let mut applied = Vec::new();
    for row in rows {
        let (number, checksum): (i32, Vec<u8>) = (row.get(0), row.get(1));
        let digest = <[u8; 32]>::try_from(checksum).unwrap_or_default();
        applied.push((u32::try_from(number).unwrap_or(0), Digest::from_bytes(digest)));
    }
    Ok(applied)
}

fn refuse_unknown(applied: &[(u32, Digest)], known: &[Migration]) -> Result<(), OpenError> {
    let last_known = known.last().map_or(0, |migration| migration.number);
    if let Some((found, _)) = applied.last().filter(|(found, _)| *found > last_known) {
        return Err(OpenError::Newer { found: *found, known: last_known });
    }
    for Migration { number, sql } in known {
        let before = applied.iter().find(|(applied, _)| applied == number);
        if before.is_some_and(|(_, checksum)| *checksum != Digest::of(sql.as_bytes())) {
            return Err(OpenError::Changed { number: *number });
        }
    }
    Ok(())
}

fn refused(error: tokio_postgres::Error) -> OpenError {
    match error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) {
        true => OpenError::Rights { said: fault::described(&error) },
        false => Fault::Said(error).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_numbered_from_one_without_gaps() {
        let numbers: Vec<u32> = MIGRATIONS.iter().map(|migration| migration.number).collect();
        assert_eq!(numbers, (1..=known()).collect::<Vec<_>>());
    }

    #[test]
    fn tables_of_a_newer_or_another_binary_are_refused() {
        let digest = |migration: &Migration| Digest::of(migration.sql.as_bytes());
        let applied: Vec<_> = MIGRATIONS.iter().map(|it| (it.number, digest(it))).collect();
        assert!(refuse_unknown(&applied, MIGRATIONS).is_ok());
        assert!(refuse_unknown(&[], MIGRATIONS).is_ok());
        let refused = refuse_unknown(&applied, &MIGRATIONS[..1]).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { known: 1, .. }), "{refused}");
        let edited = [(1, Digest::of(b"edited"))];
        let refused = refuse_unknown(&edited, MIGRATIONS).unwrap_err();
        assert!(matches!(refused, OpenError::Changed { number: 1 }), "{refused}");
    }
}
