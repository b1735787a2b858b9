//! # Walking: all rows of a table, in the order of its key
//!
//! A page is read until it is full and no further, so rows may be of any size.

use rusqlite::{Connection, Params, Row};
use semel_engine::MessageKey;
use semel_model::{Digest, ExecutionId, TaskId, Timestamp};
use semel_store::{After, DocumentKey, Item, Kind, LogLine, Noted, Page, Place, StoreError};

use crate::columns::{self, head_columns, message_columns, record_columns, select_deliveries};
use crate::fault;
use crate::read::cached;

/// From the beginning, and after a key.
macro_rules! walk {
    ($select:expr, $key:literal, $after:literal) => {
        [
            concat!($select, " ORDER BY ", $key),
            concat!($select, " WHERE (", $key, ") > (", $after, ") ORDER BY ", $key),
        ]
    };
}

const GIVEN: [&str; 2] =
    walk!("SELECT execution, digest FROM given", "execution, digest", "?1, ?2");
const PINNED: [&str; 2] = walk!("SELECT digest, body FROM pinned", "digest", "?1");
const JOURNAL: [&str; 2] =
    walk!("SELECT execution, seq, entry FROM journal", "execution, seq", "?1, ?2");
const HEADS: [&str; 2] = walk!(concat!("SELECT ", head_columns!(), " FROM executions"), "id", "?1");
const DELIVERIES: [&str; 2] = walk!(select_deliveries!(), "execution, task", "?1, ?2");
const MESSAGES: [&str; 2] = walk!(
    concat!("SELECT ", message_columns!(), " FROM messages"),
    "sender, seq, at",
    "?1, ?2, ?3"
);
const RECORDS: [&str; 2] = walk!(
    concat!("SELECT scope, key, ", record_columns!(), " FROM records"),
    "scope, key",
    "?1, ?2"
);
const LIMITS: [&str; 2] = walk!("SELECT task_type, window FROM limits", "task_type", "?1");
const DOCUMENTS: [&str; 2] =
    walk!("SELECT kind, name, version, body FROM documents", "kind, name, version", "?1, ?2, ?3");
const LOGS: [&str; 2] = walk!(
    "SELECT execution, task, noted_at, lane, round, at, created_at, line FROM task_logs",
    "execution, task, noted_at, lane, round, at",
    "?1, ?2, ?3, ?4, ?5, ?6"
);

pub(crate) fn walk(
    connection: &Connection,
    after: &After,
    page: Page,
) -> Result<Vec<Item>, StoreError> {
    let shelf = Shelf { connection, page };
    match after {
        After::Given(after) => {
            let key =
                after.as_ref().map(|(execution, digest)| (execution.as_bytes(), digest.as_bytes()));
            shelf.read(GIVEN, key, |row| Ok(Item::Given(execution(row)?, digest(row, 1)?)))
        }
        After::Pinned(after) => {
            let key = after.as_ref().map(|digest| [digest.as_bytes()]);
            shelf.read(PINNED, key, |row| Ok(Item::Pinned(digest(row, 0)?, row.get(1)?)))
        }
        After::Journal(after) => {
            let key = after.as_ref().map(|(execution, seq)| (execution.as_bytes(), seq));
            shelf.read(JOURNAL, key, |row| {
                Ok(Item::Entry(execution(row)?, row.get(1)?, row.get(2)?))
            })
        }
        After::Executions(after) => {
            let key = after.as_ref().map(|id| [id.as_bytes()]);
            shelf.read(HEADS, key, |row| columns::head(row).map(Box::new).map(Item::Head))
        }
        After::Deliveries(after) => {
            let key = after.as_ref().map(|at| (at.execution.as_bytes(), at.task.as_bytes()));
            shelf.read(DELIVERIES, key, |row| {
                columns::delivery(row).map(Box::new).map(Item::Delivery)
            })
        }
        After::Messages(after) => {
            let key = |MessageKey { from, seq, at }| (*from.as_bytes(), seq, at);
            shelf.read(MESSAGES, after.map(key), |row| {
                columns::message(row).map(Box::new).map(Item::Message)
            })
        }
        After::Records(after) => {
            let key = after.as_ref().map(|key| (&key.scope, &key.key));
            shelf.read(RECORDS, key, |row| {
                let (key, record) = columns::keyed_record(row)?;
                Ok(Item::Record(key, Box::new(record)))
            })
        }
        After::Limits(after) => shelf.read(LIMITS, after.as_ref().map(|name| [name]), limit),
        After::Documents(after) => {
            let key = after.as_ref().map(|key| (key.kind.as_str(), &key.name, key.version));
            shelf.read(DOCUMENTS, key, document)
        }
        After::Logs(after) => {
            let key = |(at, [noted_at, _, lane, round, number]): (Place, Noted)| {
                let Place { execution, task } = at;
                (*execution.as_bytes(), *task.as_bytes(), noted_at, lane, round, number)
            };
            shelf.read(LOGS, after.map(key), line)
        }
    }
}

struct Shelf<'a> {
    connection: &'a Connection,
    page: Page,
}

impl Shelf<'_> {
    fn read(
        &self,
        [all, beyond]: [&str; 2],
        after: Option<impl Params>,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<Item>,
    ) -> Result<Vec<Item>, StoreError> {
        let sql = if after.is_some() { beyond } else { all };
        let mut statement = cached(self.connection, sql)?;
        let rows = match after {
            Some(key) => statement.query(key),
            None => statement.query([]),
        };
        let items = self.page.fill(rows.map_err(fault::of)?.mapped(read));
        items.map_err(|error| fault::in_row(error, || "a row that is walked over".to_owned()))
    }
}

fn execution(row: &Row<'_>) -> rusqlite::Result<ExecutionId> {
    row.get(0).map(ExecutionId::from_bytes)
}

fn digest(row: &Row<'_>, at: usize) -> rusqlite::Result<Digest> {
    row.get(at).map(Digest::from_bytes)
}

fn limit(row: &Row<'_>) -> rusqlite::Result<Item> {
    let window: Vec<u8> = row.get(1)?;
    let window = serde_json::from_slice(&window).map_err(|error| unreadable(1, error.into()))?;
    Ok(Item::Limit(row.get(0)?, window))
}

fn document(row: &Row<'_>) -> rusqlite::Result<Item> {
    let kind: String = row.get(0)?;
    let unknown = || unreadable(0, format!("a document of an unknown kind, {kind}").into());
    let kind = Kind::named(&kind).ok_or_else(unknown)?;
    let key = DocumentKey { kind, name: row.get(1)?, version: row.get(2)? };
    Ok(Item::Document(key, row.get(3)?))
}

fn line(row: &Row<'_>) -> rusqlite::Result<Item> {
    let place = Place { execution: execution(row)?, task: row.get(1).map(TaskId::from_bytes)? };
    let noted = [row.get(2)?, 0, row.get(3)?, row.get(4)?, row.get(5)?];
    let created_at = Timestamp::from_ms(row.get(6)?);
    Ok(Item::Line(noted, LogLine { place, created_at, line: row.get(7)? }))
}

fn unreadable(at: usize, error: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Blob, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shelf_is_sorted_and_none_is_read_from_its_beginning() {
        let mut connection = Connection::open_in_memory().unwrap();
        crate::migrate::run(&mut connection, Timestamp::NOT_YET).unwrap();
        let shelves =
            [GIVEN, PINNED, JOURNAL, HEADS, DELIVERIES, MESSAGES, RECORDS, LIMITS, DOCUMENTS, LOGS];
        for [all, beyond] in shelves {
            for (sql, words) in [(all, "SCAN"), (beyond, "SEARCH")] {
                let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
                let lines = plan.raw_query().mapped(|row| row.get::<_, String>(3));
                let lines: Vec<_> = lines.map(Result::unwrap).collect();
                assert!(lines[0].starts_with(words), "{sql}: {lines:?}");
                assert!(!lines.iter().any(|line| line.contains("TEMP B-TREE")), "{sql}: {lines:?}");
            }
        }
    }
}
