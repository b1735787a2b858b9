//! # Migrations: numbered SQL, applied in order, never edited
//!
//! Under a lock of the database, so nodes that start together apply each once. Each is one
//! transaction and leaves behind its number, its checksum and what it `needs`: the schema a binary
//! must know at least to work on the tables it leaves. One that only adds needs what the one before
//! it needs, so the previous release goes on and may start again; one that takes something away
//! needs the one since which nobody asks for it. Nodes run meanwhile: what it adds has a default or
//! may be NULL, and locks that are not to be had at once are let go and asked for again.
//! A file that was applied and has changed since is refused: two binaries would mean different
//! tables by the same number.

use std::time::Duration;

use semel_model::Digest;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::asks::Session;
use crate::fault::{self, Fault};
use crate::link::Link;
use crate::open::{self, OpenError, Purpose};

struct Migration {
    number: u32,
    needs: u32,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, needs: 1, sql: include_str!("../migrations/0001_begin.sql") },
    Migration { number: 2, needs: 2, sql: include_str!("../migrations/0002_index.sql") },
    Migration { number: 3, needs: 2, sql: include_str!("../migrations/0003_brought.sql") },
    Migration { number: 4, needs: 2, sql: include_str!("../migrations/0004_task_by_id.sql") },
    Migration { number: 5, needs: 2, sql: include_str!("../migrations/0005_unknown.sql") },
    Migration { number: 6, needs: 2, sql: include_str!("../migrations/0006_doubts.sql") },
    Migration { number: 7, needs: 2, sql: include_str!("../migrations/0007_roots.sql") },
];

const LOCK: &str = "SELECT pg_advisory_lock(7359286000)";
const UNLOCK: &str = "SELECT pg_advisory_unlock(7359286000)";
const IS_THERE: &str = "SELECT to_regclass('migrations') IS NOT NULL";
const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, needs integer NOT NULL, checksum bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
)";
const APPLIED: &str = "SELECT number, needs, checksum FROM migrations ORDER BY number";
/// Nodes that run wait behind a migration that waits, so it does not wait for long.
const BRIEFLY: &str = "SET LOCAL lock_timeout = '500ms'";
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(500);

/// What is known of a migration that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Applied {
    number: u32,
    needs: u32,
    checksum: Digest,
}

/// How far the tables of a database are, and how far this binary knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// 0: there are none.
    pub found: u32,
    pub known: u32,
}

impl Schema {
    /// Whether this binary has nothing to add. Tables may be newer and let it in.
    pub fn is_current(self) -> bool {
        self.found >= self.known
    }
}

/// Looks without changing anything; tables another binary must read are refused.
pub fn schema(url: &str) -> Result<Schema, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        let applied = applied(&session).await?;
        refuse_unknown(&applied, MIGRATIONS, Purpose::Serve)?;
        Ok(Schema { found: found(&applied), known: known() })
    })
}

/// Brings the tables to what this binary knows.
pub fn migrate(url: &str) -> Result<Schema, OpenError> {
    let link = Link::new(url)?;
    link.wait(async {
        let session = open::first_contact(&link).await?;
        run(&session, Purpose::Serve).await?;
        Ok(Schema { found: found(&applied(&session).await?), known: known() })
    })
}

/// The schema this binary works by; the tables may be further.
pub(crate) fn known() -> u32 {
    last(MIGRATIONS)
}

pub(crate) async fn has_tables(session: &Session) -> Result<bool, OpenError> {
    Ok(found(&applied(session).await?) > 0)
}

fn last(migrations: &[Migration]) -> u32 {
    migrations.last().map_or(0, |migration| migration.number)
}

fn found(applied: &[Applied]) -> u32 {
    applied.last().map_or(0, |migration| migration.number)
}

pub(crate) async fn run(session: &Session, purpose: Purpose) -> Result<(), OpenError> {
    // Waits as long as another node takes.
    let unlimited = "SET statement_timeout = 0; SET lock_timeout = 0";
    session.client.batch_execute(unlimited).await.map_err(refused)?;
    session.client.batch_execute(LOCK).await.map_err(refused)?;
    let done = run_all(session, MIGRATIONS, purpose).await;
    session.client.batch_execute(UNLOCK).await.map_err(refused)?;
    done
}

async fn run_all(
    session: &Session,
    known: &[Migration],
    purpose: Purpose,
) -> Result<(), OpenError> {
    let before = applied(session).await?;
    refuse_unknown(&before, known, purpose)?;
    if before.is_empty() {
        session.client.batch_execute(TABLE).await.map_err(refused)?;
    }
    for migration in known {
        if before.iter().all(|applied| applied.number != migration.number) {
            apply(session, migration).await?;
        }
    }
    Ok(())
}

async fn apply(session: &Session, migration: &Migration) -> Result<(), OpenError> {
    let Migration { number, needs, sql } = migration;
    let checksum = Digest::of(sql.as_bytes());
    // One message of several statements is one transaction.
    let sql = format!(
        "{BRIEFLY}; {sql}; INSERT INTO migrations (number, needs, checksum) \
         VALUES ({number}, {needs}, '\\x{checksum}')"
    );
    loop {
        match session.client.batch_execute(&sql).await {
            Err(error) if fault::is_contention(&error) => {
                tokio::time::sleep(TRY_AGAIN_AFTER).await;
            }
            done => return done.map_err(refused),
        }
    }
}

async fn applied(session: &Session) -> Result<Vec<Applied>, OpenError> {
    let is_there = session.client.query_one(IS_THERE, &[]).await.map_err(refused)?;
    if !is_there.get::<_, bool>(0) {
        return Ok(Vec::new());
    }
    let rows = session.client.query(APPLIED, &[]).await.map_err(refused)?;
    let number = |number: i32| u32::try_from(number).unwrap_or(0);
    let applied = |row: Row| {
        let digest = <[u8; 32]>::try_from(row.get::<_, Vec<u8>>(2)).unwrap_or_default();
        let checksum = Digest::from_bytes(digest);
        Applied { number: number(row.get(0)), needs: number(row.get(1)), checksum }
    };
    Ok(rows.into_iter().map(applied).collect())
}

/// Who serves has to know what the tables need. Who works on all there is has to know all of it: a
/// copy without a column that was added is not a copy.
fn refuse_unknown(
    applied: &[Applied],
    known: &[Migration],
    purpose: Purpose,
) -> Result<(), OpenError> {
    let (found, known_to) = (found(applied), last(known));
    let needs = match purpose {
        Purpose::Serve => applied.iter().map(|applied| applied.needs).max().unwrap_or(0),
        Purpose::Alone => found,
    };
    if needs > known_to {
        return Err(OpenError::Newer { found, needs, known: known_to });
    }
    for Migration { number, needs, sql } in known {
        let before = applied.iter().find(|applied| applied.number == *number);
        let same = Applied { number: *number, needs: *needs, checksum: Digest::of(sql.as_bytes()) };
        if before.is_some_and(|before| *before != same) {
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
    fn a_migration_needs_nothing_later_than_itself() {
        for Migration { number, needs, .. } in MIGRATIONS {
            assert!((1..=*number).contains(needs), "migration {number} needs {needs}");
        }
    }

    fn applied() -> Vec<Applied> {
        let applied = |Migration { number, needs, sql }: &Migration| {
            let checksum = Digest::of(sql.as_bytes());
            Applied { number: *number, needs: *needs, checksum }
        };
        MIGRATIONS.iter().map(applied).collect()
    }

    fn later(number: u32, needs: u32) -> Applied {
        Applied { number, needs, checksum: Digest::of(b"later") }
    }

    #[test]
    fn tables_that_were_only_added_to_let_an_older_binary_serve() {
        let mut applied = applied();
        let serves = |applied: &[Applied]| refuse_unknown(applied, MIGRATIONS, Purpose::Serve);
        assert!(serves(&[]).is_ok() && serves(&applied).is_ok());
        applied.extend([later(known() + 1, known()), later(known() + 2, 1)]);
        assert!(serves(&applied).is_ok());
        let refused = refuse_unknown(&applied, MIGRATIONS, Purpose::Alone).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { .. }), "a copy would not be one: {refused}");
        applied.extend([later(known() + 3, known() + 1), later(known() + 4, 1)]);
        let refused = serves(&applied).unwrap_err();
        let words = format!("schema {} and needs one that knows {}", known() + 4, known() + 1);
        assert!(refused.to_string().contains(&words), "{refused}");
    }

    #[test]
    fn an_edited_migration_is_refused() {
        let [mut edited, mut lowered] = [applied(), applied()];
        edited[0].checksum = Digest::of(b"edited");
        lowered[0].needs = 0;
        for applied in [edited, lowered] {
            let refused = refuse_unknown(&applied, MIGRATIONS, Purpose::Serve).unwrap_err();
            assert!(matches!(refused, OpenError::Changed { number: 1 }), "{refused}");
        }
    }
}
