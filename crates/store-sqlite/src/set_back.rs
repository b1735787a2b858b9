//! # Setting the clock of the data back
//!
//! A store never lets its time go back by itself: leases, due times and keys would begin again. Where a
//! clock was once far ahead, somebody has to say so. What is in the hands of workers, and what waits
//! for them, is moved along; what runs wait for by themselves stands in their journals and stays.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use semel_model::{ExecutionId, Timestamp};
use semel_store::{Clock, SET_BACK_NAMED_MAX, SetBack, StoreError};

use crate::damage::{Beside, examine};
use crate::lock::lock;
use crate::open::{DATABASE, OpenError, connect};
use crate::{fault, migrate, write};

#[derive(Debug, thiserror::Error)]
pub enum SetBackError {
    #[error("{} holds no data; name the directory of the server with --data", .directory.display())]
    NoData { directory: PathBuf },
    #[error("the data cannot be opened")]
    Open(#[from] OpenError),
}

impl SetBackError {
    /// A server works on it.
    pub fn is_served(&self) -> bool {
        matches!(self, Self::Open(OpenError::Held { .. }))
    }
}

impl From<StoreError> for SetBackError {
    fn from(error: StoreError) -> Self {
        Self::Open(error.into())
    }
}

/// Durable when it returns. None: the data is not ahead of the clock, and nothing was changed.
pub fn set_clock_back(directory: &Path, clock: &Clock) -> Result<Option<SetBack>, SetBackError> {
    let file = directory.join(DATABASE);
    if !file.exists() {
        return Err(SetBackError::NoData { directory: directory.to_owned() });
    }
    let _lock = lock(directory)?;
    examine(directory, Beside::NobodyToServe)?;
    let mut connection = connect(&file).map_err(OpenError::from)?;
    let now = clock.now();
    migrate::run(&mut connection, now)?;
    let last: Option<i64> = connection
        .query_row("SELECT max(at) FROM lanes", [], |row| row.get(0))
        .map_err(OpenError::from)?;
    let last = Timestamp::from_ms(last.unwrap_or(0));
    let ahead_ms = last.since_ms(now);
    if ahead_ms <= 0 {
        return Ok(None);
    }
    let tasks = moved(&connection, ahead_ms, now)?;
    let (waiting, named) = waiting(&connection, last).map_err(OpenError::from)?;
    Ok(Some(SetBack { ahead_ms, tasks, waiting, named }))
}

fn moved(connection: &Connection, ahead_ms: i64, now: Timestamp) -> Result<usize, StoreError> {
    let mut tasks = 0;
    write::transact(connection, || {
        let run = |sql: &str, values: &[i64]| {
            connection.execute(sql, rusqlite::params_from_iter(values)).map_err(fault::of)
        };
        run("UPDATE lanes SET at = min(at, ?1)", &[now.ms()])?;
        // None becomes earlier than now: nothing ends because of this.
        let deliveries = "UPDATE deliveries SET \
             lease_until = CASE WHEN lease_until > ?1 THEN max(lease_until - ?2, ?1) ELSE lease_until END, \
             run_until = CASE WHEN run_until > ?1 THEN max(run_until - ?2, ?1) ELSE run_until END, \
             poll_until = CASE WHEN poll_until > ?1 THEN max(poll_until - ?2, ?1) ELSE poll_until END, \
             ready_at = CASE WHEN ready_at > ?1 THEN max(ready_at - ?2, ?1) ELSE ready_at END \
             WHERE max(ready_at, coalesce(lease_until, 0), coalesce(run_until, 0), coalesce(poll_until, 0)) > ?1";
        tasks = run(deliveries, &[now.ms(), ahead_ms])?;
        // Windows of rate limits that begin in years would let nobody in until then.
        run("DELETE FROM limits", &[])?;
        Ok(())
    })?;
    Ok(tasks)
}

fn waiting(connection: &Connection, last: Timestamp) -> rusqlite::Result<(u64, Vec<ExecutionId>)> {
    let sql = "SELECT id FROM executions WHERE wake_at >= ?1 ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([last.ms()])?;
    let (mut waiting, mut named) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        waiting += 1;
        if named.len() < SET_BACK_NAMED_MAX {
            named.push(ExecutionId::from_bytes(row.get(0)?));
        }
    }
    Ok((waiting, named))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use semel_engine::Head;
    use semel_store::conformance::samples;
    use semel_store::{Stamp, Store as _, Touches, Writes};

    use super::*;
    use crate::SqliteStore;

    const TEN_YEARS_MS: i64 = 10 * 365 * 24 * 3_600_000;

    #[test]
    fn data_of_a_clock_that_was_ten_years_ahead_is_refused_until_it_is_set_back() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let now = Clock::wall().now();
        let ahead = now.plus_ms(TEN_YEARS_MS);
        let store = SqliteStore::open(path, Arc::new(Clock::manual(ahead))).unwrap();
        let held = samples::leased(samples::delivery(1, 1), ahead);
        let mut open = samples::delivery(1, 2);
        open.ready_at = ahead;
        let waits = Head { wake_at: Some(ahead.plus_ms(60_000)), ..samples::head(1) };
        let stamp = Stamp { lane: 0, round: 1, at: ahead, fence: 1 };
        let heads = samples::put_heads([waits]).heads;
        let rows = samples::put_deliveries([held.clone(), open]);
        let mut writer = store.writer(0).unwrap();
        writer.commit(Writes { stamp, heads, ..rows }).unwrap();
        drop((writer, store));
        let refused = SqliteStore::open(path, Arc::new(Clock::wall())).err().unwrap();
        assert!(matches!(refused, OpenError::Ahead { .. }), "{refused}");
        for part in [" days ahead of the clock", "semel set-clock-back --data"] {
            assert!(refused.to_string().contains(part), "{refused}");
        }
        drop(SqliteStore::open(path, Arc::new(Clock::wall_for_tests())).unwrap());
        let clock = Clock::manual(now);
        let done = set_clock_back(path, &clock).unwrap().expect("it was ahead");
        assert_eq!((done.tasks, done.waiting), (2, 1), "{done:?}");
        assert_eq!(done.named, [samples::execution(1)]);
        assert!(done.ahead_ms >= TEN_YEARS_MS);
        assert_eq!(set_clock_back(path, &clock).unwrap(), None);
        let store = SqliteStore::open(path, Arc::new(Clock::manual(now))).unwrap();
        let lease = store.delivery(samples::place_of(&held)).unwrap().unwrap().hand_out.lease_until;
        let lease = lease.unwrap().since_ms(now);
        assert!((0..=24 * 3_600_000).contains(&lease), "{lease}");
        let wanted = [(samples::queue("work"), 9)].into();
        let ready = Touches { wanted, ..Touches::default() };
        let ready = store.writer(0).unwrap().hold(&ready).unwrap().ready;
        assert_eq!(ready.values().map(Vec::len).sum::<usize>(), 1, "{ready:?}");
    }
}
