//! # Counting: what is there, by indexes made for it, and who asks for it

use std::collections::BTreeMap;

use semel_engine::Queue;
use semel_model::ExecutionId;
use semel_store::{Census, Polled, StoreError};
use tokio_postgres::Row;

use crate::asks::{Asks, values};
use crate::columns::{Fields, uuid};
use crate::readers::Readers;

const LIVE: &str =
    "SELECT name, version, count(*) FROM executions WHERE ended_at = 0 GROUP BY name, version";
const PARKED: &str = "SELECT count(*) FROM executions WHERE parked IS NOT NULL";
const HELD: &str = "SELECT task_type, count(*) FROM deliveries WHERE leased GROUP BY task_type";
const WAITING: &str = "SELECT task_type, domain, count(*) FROM deliveries WHERE NOT leased GROUP BY task_type, domain";
const POLLS: &str = "SELECT task_type, domain, worker, at FROM polls";
const NOTE_POLL: &str = "INSERT INTO polls (task_type, domain, worker, at) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (task_type, domain) \
     DO UPDATE SET worker = excluded.worker, at = excluded.at WHERE polls.at < excluded.at";
const BYTES: &str = "SELECT pg_database_size(current_database())";

pub(crate) fn count(readers: &Readers) -> Result<Census, StoreError> {
    let mut asks = Asks::default();
    let [live, parked, held] = [LIVE, PARKED, HELD].map(|sql| asks.add(sql, Vec::new()));
    let mut answers = readers.read(async |session| session.answers(&asks).await)?;
    let mut census = Census::default();
    for row in answers.take(live) {
        let mut fields = Fields::of(&row);
        census.live.insert((fields.next()?, fields.next()?), fields.count()?);
    }
    for row in answers.take(parked) {
        census.parked = Fields::of(&row).count()?;
    }
    for row in answers.take(held) {
        let mut fields = Fields::of(&row);
        census.held.insert(fields.next()?, fields.count()?);
    }
    Ok(census)
}

const DESCENDANTS: &str = "SELECT count(*) FROM \
     (SELECT 1 FROM executions WHERE root = $1 AND ended_at = 0 LIMIT $2) AS found";

pub(crate) fn descendants(
    readers: &Readers,
    root: ExecutionId,
    max: u64,
) -> Result<u64, StoreError> {
    let max = i64::try_from(max).unwrap_or(i64::MAX);
    let asked = || values![uuid(root), max];
    let rows = readers.read(async |session| session.rows(DESCENDANTS, asked()).await)?;
    rows.first().map_or(Ok(0), |row| Fields::of(row).count())
}

pub(crate) fn waiting(readers: &Readers) -> Result<BTreeMap<Queue, usize>, StoreError> {
    let rows = readers.read(async |session| session.rows(WAITING, Vec::new()).await)?;
    let mut waiting = BTreeMap::new();
    for row in rows {
        let mut fields = Fields::of(&row);
        let queue = Queue { task_type: fields.next()?, domain: fields.next()? };
        waiting.insert(queue, usize::try_from(fields.count()?).unwrap_or(usize::MAX));
    }
    Ok(waiting)
}

pub(crate) fn polls(readers: &Readers) -> Result<Vec<Polled>, StoreError> {
    let rows = readers.read(async |session| session.rows(POLLS, Vec::new()).await)?;
    let polled = |row: &Row| {
        let mut fields = Fields::of(row);
        let queue = Queue { task_type: fields.next()?, domain: fields.next()? };
        Ok(Polled { queue, worker: fields.next()?, at: fields.time()? })
    };
    rows.iter().map(polled).collect()
}

pub(crate) fn note_poll(readers: &Readers, polled: &Polled) -> Result<(), StoreError> {
    let Polled { queue, worker, at } = polled;
    let (task_type, domain) = (queue.task_type.as_str(), queue.domain.as_deref());
    let row = || values![task_type, domain, worker.as_deref(), at.ms()];
    readers.read(async |session| session.rows(NOTE_POLL, row()).await).map(drop)
}

pub(crate) fn bytes(readers: &Readers) -> Result<u64, StoreError> {
    let rows = readers.read(async |session| session.rows(BYTES, Vec::new()).await)?;
    rows.first().map_or(Ok(0), |row| Fields::of(row).count())
}
