//! # Migrations: numbered SQL, applied in order, never edited
//!
//! Each is one transaction and leaves its number and checksum behind. A file that was applied and
//! has changed since is refused: two binaries would mean different tables by the same number.

use rusqlite::{Connection, TransactionBehavior};
use semel_model::{Digest, Timestamp};

use crate::open::OpenError;

struct Migration {
    number: u32,
    sql: &'static str,
}

const MIGRATIONS: &[Migration] = &[
    Migration { number: 1, sql: include_str!("../migrations/0001_begin.sql") },
    Migration { number: 2, sql: include_str!("../migrations/0002_messages.sql") },
    Migration { number: 3, sql: include_str!("../migrations/0003_task_logs.sql") },
    Migration { number: 4, sql: include_str!("../migrations/0004_observed.sql") },
    Migration { number: 5, sql: include_str!("../migrations/0005_given.sql") },
    Migration { number: 6, sql: include_str!("../migrations/0006_records.sql") },
    Migration { number: 7, sql: include_str!("../migrations/0007_effect_epochs.sql") },
    Migration { number: 8, sql: include_str!("../migrations/0008_unknown.sql") },
    Migration { number: 9, sql: include_str!("../migrations/0009_doubts.sql") },
    Migration { number: 10, sql: include_str!("../migrations/0010_roots.sql") },
];

const TABLE: &str = "CREATE TABLE IF NOT EXISTS migrations (
    number INTEGER NOT NULL PRIMARY KEY, checksum BLOB NOT NULL, at INTEGER NOT NULL
) STRICT";

/// Brings the tables to what this binary knows.
pub(crate) fn run(connection: &mut Connection, now: Timestamp) -> Result<(), OpenError> {
    run_all(connection, MIGRATIONS, now)
}

/// The schema of data that is only looked at; data another binary must read is refused.
pub(crate) fn refuse_unknown(connection: &Connection) -> Result<u32, OpenError> {
    let applied = applied(connection)?;
    refuse_newer(&applied, MIGRATIONS)?;
    for migration in MIGRATIONS {
        let before = applied.iter().find(|(number, _)| *number == migration.number);
        if before.is_some_and(|(_, checksum)| *checksum != Digest::of(migration.sql.as_bytes())) {
            return Err(OpenError::Changed { number: migration.number });
        }
    }
    Ok(applied.last().map_or(0, |(number, _)| *number))
}

/// The schema this binary writes.
pub const SCHEMA: u32 = MIGRATIONS[MIGRATIONS.len() - 1].number;

fn run_all(
    connection: &mut Connection,
    known: &[Migration],
    now: Timestamp,
) -> Result<(), OpenError> {
    connection.execute_batch(TABLE)?;
    let applied = applied(connection)?;
    refuse_newer(&applied, known)?;
    for migration in known {
        let checksum = Digest::of(migration.sql.as_bytes());
        match applied.iter().find(|(number, _)| *number == migration.number) {
            Some((_, before)) if *before == checksum => {}
            Some(_) => return Err(OpenError::Changed { number: migration.number }),
            None => apply(connection, migration, checksum, now)?,
        }
    }
    Ok(())
}

fn applied(connection: &Connection) -> Result<Vec<(u32, Digest)>, OpenError> {
    let mut statement =
        connection.prepare("SELECT number, checksum FROM migrations ORDER BY number")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, Digest::from_bytes(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn refuse_newer(applied: &[(u32, Digest)], known: &[Migration]) -> Result<(), OpenError> {
    let last_known = known.last().map_or(0, |migration| migration.number);
    match applied.last() {
        Some((found, _)) if *found > last_known => {
            Err(OpenError::Newer { found: *found, known: last_known })
        }
        _ => Ok(()),
    }
}

fn apply(
    connection: &mut Connection,
    migration: &Migration,
    checksum: Digest,
    now: Timestamp,
) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(migration.sql)?;
    transaction.execute(
        "INSERT INTO migrations (number, checksum, at) VALUES (?1, ?2, ?3)",
        (migration.number, checksum.as_bytes(), now.ms()),
    )?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use semel_engine::RecordKey;

    use super::*;
    use crate::{read, sweep};

    const FIRST: Migration = Migration { number: 1, sql: "CREATE TABLE a (x INTEGER)" };
    const SECOND: Migration = Migration { number: 2, sql: "CREATE TABLE b (x INTEGER)" };

    fn run_on(connection: &mut Connection, known: &[Migration]) -> Result<(), OpenError> {
        run_all(connection, known, Timestamp::from_ms(7))
    }

    #[test]
    fn migrations_are_numbered_from_one_without_gaps() {
        let numbers: Vec<u32> = MIGRATIONS.iter().map(|migration| migration.number).collect();
        assert_eq!(numbers, (1..=u32::try_from(MIGRATIONS.len()).unwrap()).collect::<Vec<_>>());
    }

    #[test]
    fn each_migration_is_applied_once() {
        let mut connection = Connection::open_in_memory().unwrap();
        run_on(&mut connection, &[FIRST]).unwrap();
        run_on(&mut connection, &[FIRST, SECOND]).unwrap();
        run_on(&mut connection, &[FIRST, SECOND]).unwrap();
        assert_eq!(applied(&connection).unwrap().len(), 2);
    }

    #[test]
    fn a_migration_that_changed_after_it_was_applied_is_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        run_on(&mut connection, &[FIRST]).unwrap();
        let edited = Migration { number: 1, sql: "CREATE TABLE a (y INTEGER)" };
        let refused = run_on(&mut connection, &[edited]).unwrap_err();
        assert!(matches!(refused, OpenError::Changed { number: 1 }), "{refused}");
    }

    #[test]
    fn tables_newer_than_this_binary_are_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        run_on(&mut connection, &[FIRST, SECOND]).unwrap();
        let refused = run_on(&mut connection, &[FIRST]).unwrap_err();
        assert!(matches!(refused, OpenError::Newer { found: 2, known: 1 }), "{refused}");
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing_behind() {
        let mut connection = Connection::open_in_memory().unwrap();
        let broken = Migration { number: 1, sql: "CREATE TABLE a (x INTEGER); CREATE TABLE a (x)" };
        run_on(&mut connection, &[broken]).unwrap_err();
        assert!(applied(&connection).unwrap().is_empty());
        run_on(&mut connection, &[FIRST]).unwrap();
    }

    #[test]
    fn rows_written_before_the_second_migration_are_read_after_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        run_on(&mut connection, &MIGRATIONS[..1]).unwrap();
        let before = "
            INSERT INTO records VALUES ('s', 'k', zeroblob(16), 1, 2, 3);
            INSERT INTO executions VALUES (zeroblob(16), 1, zeroblob(32), NULL, 'COMPLETED', NULL,
                'w', 1, NULL, NULL, '', 5, 6, 7)";
        connection.execute_batch(before).unwrap();
        run_on(&mut connection, MIGRATIONS).unwrap();
        let key = RecordKey { scope: "s".to_owned(), key: "k".to_owned() };
        let record = read::record(&connection, &key).unwrap().unwrap();
        assert_eq!((record.created_at, record.expires_at), (Timestamp::from_ms(3), None));
        let latest = Timestamp::from_ms(i64::MAX);
        assert_eq!(sweep::ended_before(&connection, latest, 9).unwrap(), [record.run.unwrap()]);
        assert_eq!(sweep::expired_records(&connection, latest, 9).unwrap(), []);
    }

    #[test]
    fn claims_and_doubts_of_before_are_known_by_their_moments() {
        let mut connection = Connection::open_in_memory().unwrap();
        run_on(&mut connection, &MIGRATIONS[..8]).unwrap();
        for (scope, key, state, detail) in [
            ("effect:s", "open", "CLAIMED", r#"{"owner":"ann","leaseUntil":50}"#),
            ("lock", "till", "CLAIMED", r#"{"owner":"ann","leaseUntil":50}"#),
            ("effect:s", "asked", "UNKNOWN", r#"{"leaseUntil":40}"#),
            ("effect:s", "of a run", "UNKNOWN", r#"{"leaseUntil":40,"decidedAt":60}"#),
        ] {
            let sql = "INSERT INTO records (scope, key, run, live, version, created_at, state, \
                 detail) VALUES (?1, ?2, x'', 0, 0, 3, ?3, CAST(?4 AS BLOB))";
            connection.execute(sql, (scope, key, state, detail)).unwrap();
        }
        run_on(&mut connection, MIGRATIONS).unwrap();
        let latest = Timestamp::from_ms(i64::MAX);
        let open = RecordKey { scope: "effect:s".to_owned(), key: "open".to_owned() };
        assert_eq!(sweep::lapsed_records(&connection, latest, 9).unwrap(), [open]);
        let sql = "SELECT doubted_at FROM records WHERE state = 'UNKNOWN' ORDER BY key";
        let mut statement = connection.prepare(sql).unwrap();
        let doubts = statement.query_map([], |row| row.get(0)).unwrap();
        assert_eq!(doubts.collect::<Result<Vec<i64>, _>>().unwrap(), [40, 60]);
    }
}
