//! # Counting: what is there, by indexes made for it

use std::path::Path;

use rusqlite::Connection;
use semel_model::ExecutionId;
use semel_store::{Census, StoreError};

use crate::read::{all, one};

const LIVE: &str =
    "SELECT name, version, count(*) FROM executions WHERE ended_at = 0 GROUP BY name, version";
const PARKED: &str = "SELECT count(*) FROM executions WHERE parked IS NOT NULL";

/// All but what workers hold, which the mirror knows.
pub(crate) fn count(connection: &Connection) -> Result<Census, StoreError> {
    let row = || "a count of executions".to_owned();
    let live = all(connection, LIVE, [], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)), row)?;
    let parked = one(connection, PARKED, [], |row| row.get(0), row)?;
    let live = live.into_iter().collect();
    Ok(Census { live, parked: parked.unwrap_or(0), ..Census::default() })
}

const DESCENDANTS: &str = "SELECT count(*) FROM \
     (SELECT 1 FROM executions WHERE root = ?1 AND ended_at = 0 LIMIT ?2)";

pub(crate) fn descendants(
    connection: &Connection,
    root: ExecutionId,
    max: u64,
) -> Result<u64, StoreError> {
    let row = || format!("the descendants of execution {root}");
    let asked = (root.as_bytes(), i64::try_from(max).unwrap_or(i64::MAX));
    let counted = one(connection, DESCENDANTS, asked, |row| row.get(0), row)?;
    Ok(counted.unwrap_or(0))
}

/// Everything of the database in that directory.
pub(crate) fn bytes(directory: &Path) -> std::io::Result<u64> {
    let mut total = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("semel") {
            // A log may be gone by now.
            total += entry.metadata().map_or(0, |found| found.len());
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_counted_by_reading_every_execution() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection, semel_model::Timestamp::NOT_YET).unwrap();
        for (sql, index) in [(LIVE, "executions_live"), (PARKED, "executions_parked")] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let lines = plan.query_map([], |row| row.get::<_, String>(3)).unwrap();
            let lines: Vec<_> = lines.map(Result::unwrap).collect();
            let is_by_index = lines.len() == 1 && lines[0].ends_with(&format!("INDEX {index}"));
            assert!(is_by_index, "{sql}: {lines:?}");
        }
        let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {DESCENDANTS}")).unwrap();
        let lines = plan.query_map((0, 1), |row| row.get::<_, String>(3)).unwrap();
        let lines: Vec<_> = lines.map(Result::unwrap).collect();
        let is_by_index =
            |line: &String| line.contains("COVERING INDEX executions_open_by_root (root=?");
        assert!(lines.iter().any(is_by_index), "{lines:?}");
    }
}
