//! # Sweeping: finding what can go
//!
//! By partial indexes, so a look costs what it finds and not what the tables hold.

use rusqlite::{Connection, Row};
use semel_engine::RecordKey;
use semel_model::{ExecutionId, Timestamp};
use semel_store::StoreError;

use crate::read::all;

/// SQLite uses a partial index only for a query that repeats its condition.
const ENDED: &str = "SELECT id FROM executions WHERE ended_at > 0 AND ended_at < ?1 \
     ORDER BY ended_at, id LIMIT ?2";
const EXPIRED: &str = "SELECT scope, key FROM records WHERE expires_at <= ?1 \
     ORDER BY expires_at, scope, key LIMIT ?2";
const LAPSED: &str = "SELECT scope, key FROM records WHERE lapses_at <= ?1 \
     ORDER BY lapses_at, scope, key LIMIT ?2";

pub(crate) fn ended_before(
    connection: &Connection,
    before: Timestamp,
    max: usize,
) -> Result<Vec<ExecutionId>, StoreError> {
    let read = |row: &Row<'_>| row.get(0).map(ExecutionId::from_bytes);
    all(connection, ENDED, (before.ms(), limit(max)), read, || "an ended execution".to_owned())
}

pub(crate) fn expired_records(
    connection: &Connection,
    now: Timestamp,
    max: usize,
) -> Result<Vec<RecordKey>, StoreError> {
    let name = || "an expired record".to_owned();
    all(connection, EXPIRED, (now.ms(), limit(max)), record_key, name)
}

pub(crate) fn lapsed_records(
    connection: &Connection,
    now: Timestamp,
    max: usize,
) -> Result<Vec<RecordKey>, StoreError> {
    let name = || "a claim that has lapsed".to_owned();
    all(connection, LAPSED, (now.ms(), limit(max)), record_key, name)
}

fn record_key(row: &Row<'_>) -> rusqlite::Result<RecordKey> {
    Ok(RecordKey { scope: row.get(0)?, key: row.get(1)? })
}

pub(crate) fn limit(max: usize) -> i64 {
    i64::try_from(max).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::migrate;

    fn plan(sql: &str) -> Vec<String> {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate::run(&mut connection, Timestamp::from_ms(7)).unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = statement.query_map((9, 9), |row| row.get(3)).unwrap();
        steps.map(Result::unwrap).collect()
    }

    #[test]
    fn what_has_ended_is_found_by_its_index_alone() {
        let expected = "SEARCH executions USING COVERING INDEX executions_by_end \
                        (ended_at>? AND ended_at<?)";
        assert_eq!(plan(ENDED), [expected]);
    }

    #[test]
    fn what_has_expired_is_found_by_its_index_alone() {
        let expected = "SEARCH records USING COVERING INDEX records_by_expiry (expires_at<?)";
        assert_eq!(plan(EXPIRED), [expected]);
    }

    #[test]
    fn what_has_lapsed_is_found_by_its_index_alone() {
        let expected = "SEARCH records USING COVERING INDEX records_lapsing (lapses_at<?)";
        assert_eq!(plan(LAPSED), [expected]);
    }
}
