//! # What waits: reads by the indexes made for it

use rusqlite::{Connection, Row};
use semel_engine::{MessageRow, RecordKey};
use semel_model::Timestamp;
use semel_store::{LimitRow, Open, OpenWaits, StoreError, Waits, joined_at};

use crate::read::{SqliteStore, all, one, waiters};
use crate::{hold, lane};

const LINES: &str = "SELECT substr(waits_scope, 1, instr(waits_scope || ':', ':') - 1), count(*), \
     min(waits_since) FROM messages WHERE waits_scope IS NOT NULL GROUP BY 1";
const PARKED: &str = "SELECT count(*), min(updated_at) FROM executions WHERE parked IS NOT NULL";
const UNKNOWN: &str = "SELECT count(*), min(doubted_at) FROM records WHERE state = 'UNKNOWN'";

impl Waits for SqliteStore {
    fn limit(&self, task_type: &str) -> Result<LimitRow, StoreError> {
        let in_flight = lane::in_flight(&self.shared, task_type);
        let readers = &self.shared.readers;
        let window = readers.with(|connection| hold::window(connection, task_type))?;
        Ok(LimitRow { window, in_flight })
    }

    fn line(&self, record: &RecordKey, max: usize) -> Result<Vec<MessageRow>, StoreError> {
        self.shared.readers.with(|connection| waiters(connection, record, max))
    }

    fn open_waits(&self) -> Result<OpenWaits, StoreError> {
        self.shared.readers.with(open_waits)
    }
}

fn open_waits(connection: &Connection) -> Result<OpenWaits, StoreError> {
    let name = || "a count of what waits".to_owned();
    let line = |row: &Row<'_>| {
        let oldest = row.get::<_, Option<u64>>(2)?.map(joined_at);
        Ok((row.get(0)?, Open { count: row.get(1)?, oldest }))
    };
    let open = |row: &Row<'_>| {
        let oldest = row.get::<_, Option<i64>>(1)?.map(Timestamp::from_ms);
        Ok(Open { count: row.get(0)?, oldest })
    };
    let lines = all(connection, LINES, [], line, name)?.into_iter().collect();
    let parked = one(connection, PARKED, [], open, name)?.unwrap_or_default();
    let unknown = one(connection, UNKNOWN, [], open, name)?.unwrap_or_default();
    Ok(OpenWaits { lines, parked, unknown })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_indexes_made_for_it() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection, Timestamp::NOT_YET).unwrap();
        for (sql, index) in [
            (LINES, "messages_waiting"),
            (PARKED, "executions_parked"),
            (UNKNOWN, "records_unknown"),
        ] {
            let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let mut rows = plan.raw_query();
            let mut lines: Vec<String> = Vec::new();
            while let Some(row) = rows.next().unwrap() {
                lines.push(row.get(3).unwrap());
            }
            assert!(lines[0].contains(&format!("INDEX {index}")), "{sql}: {lines:?}");
        }
    }
}
