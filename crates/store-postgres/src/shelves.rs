//! # Walking: all rows of a table, in the order of its key
//!
//! A page ends with the row that fills it; what lies beyond is not even fetched.

use semel_store::{After, Item, LogLine, Noted, Page, Place, StoreError};
use tokio_postgres::Row;

use crate::asks::{Value, values};
use crate::columns::{
    self, Fields, delivery_columns, head_columns, limit, message_columns, record_columns,
    task_uuid, uuid,
};
use crate::missing;
use crate::readers::Readers;

/// From the beginning, and after a key: so many rows of a table, and of these those before which
/// there are not so many bytes.
macro_rules! walk {
    ($columns:expr, $table:literal, $bytes:literal, $key:literal, $after:literal) => {
        [
            walk!(@sql $columns, $table, $bytes, $key, ""),
            walk!(@sql $columns, $table, $bytes, $key, concat!(" WHERE (", $key, ") > (", $after, ")")),
        ]
    };
    (@sql $columns:expr, $table:literal, $bytes:literal, $key:literal, $where:expr) => {
        concat!(
            "SELECT ", $columns, " FROM (SELECT *, sum(", $bytes, ") OVER (ORDER BY ", $key, ") - ",
            $bytes, " AS bytes_before FROM (SELECT * FROM ", $table, $where, " ORDER BY ", $key,
            " LIMIT $1) page) page WHERE bytes_before < $2::bigint ORDER BY ", $key
        )
    };
}

const GIVEN: [&str; 2] =
    walk!("execution, digest", "given", "0::bigint", "execution, digest", "$3, $4");
const PINNED: [&str; 2] =
    walk!("digest, body", "pinned", "octet_length(body)::bigint", "digest", "$3");
const JOURNAL: [&str; 2] = walk!(
    "execution, seq, entry",
    "journal",
    "octet_length(entry)::bigint",
    "execution, seq",
    "$3, $4"
);
const HEADS: [&str; 2] = walk!(head_columns!(), "executions", "0::bigint", "id", "$3");
const DELIVERIES: [&str; 2] = walk!(
    delivery_columns!(),
    "deliveries",
    "(octet_length(input) + octet_length(output))::bigint",
    "execution, task",
    "$3, $4"
);
const MESSAGES: [&str; 2] = walk!(
    message_columns!(),
    "messages",
    "octet_length(body)::bigint",
    "sender, seq, at",
    "$3, $4, $5"
);
const RECORDS: [&str; 2] = walk!(
    record_columns!(),
    "records",
    "coalesce(octet_length(detail), 0)::bigint",
    "scope, key",
    "$3, $4"
);
const LIMITS: [&str; 2] = walk!("task_type, used", "limits", "0::bigint", "task_type", "$3");
const DOCUMENTS: [&str; 2] = walk!(
    "kind, name, version, body",
    "documents",
    "octet_length(body)::bigint",
    "kind, name, version",
    "$3, $4, $5"
);
const LOGS: [&str; 2] = walk!(
    "execution, task, noted_at, node, lane, round, at, created_at, line",
    "task_logs",
    "octet_length(line)::bigint",
    "execution, task, noted_at, node, lane, round, at",
    "$3, $4, $5, $6, $7, $8, $9"
);

pub(crate) fn walk(readers: &Readers, after: &After, page: Page) -> Result<Vec<Item>, StoreError> {
    let bytes_max = limit(page.bytes_max);
    let ([all, beyond], read) = table(after);
    let rows = readers.read(async |session| {
        let mut values = values![limit(page.rows_max), bytes_max];
        let key = key(after);
        let sql = if key.is_empty() { all } else { beyond };
        values.extend(key);
        session.rows(sql, values).await
    })?;
    rows.iter().map(read).collect()
}

type Read = fn(&Row) -> Result<Item, StoreError>;

/// What is asked, and how a row is read.
fn table(after: &After) -> ([&'static str; 2], Read) {
    match after {
        After::Given(_) => (GIVEN, given),
        After::Pinned(_) => (PINNED, pinned),
        After::Journal(_) => (JOURNAL, entry),
        After::Executions(_) => (HEADS, |row| Ok(Item::Head(Box::new(columns::head(row)?)))),
        After::Deliveries(_) => {
            (DELIVERIES, |row| Ok(Item::Delivery(Box::new(columns::delivery(row)?))))
        }
        After::Messages(_) => (MESSAGES, |row| Ok(Item::Message(Box::new(columns::message(row)?)))),
        After::Records(_) => (RECORDS, |row| {
            columns::record(row).map(|(key, record)| Item::Record(key, Box::new(record)))
        }),
        After::Limits(_) => (LIMITS, limit_row),
        After::Documents(_) => {
            (DOCUMENTS, |row| missing::document(row).map(|(key, body)| Item::Document(key, body)))
        }
        After::Logs(_) => (LOGS, line),
    }
}

/// Its parts; none at the beginning.
fn key(after: &After) -> Vec<Value<'_>> {
    match after {
        After::Given(Some((execution, digest))) => {
            values![uuid(*execution), digest.as_bytes().as_slice()]
        }
        After::Pinned(Some(digest)) => values![digest.as_bytes().as_slice()],
        After::Journal(Some((execution, seq))) => values![uuid(*execution), seq.cast_signed()],
        After::Executions(Some(id)) => values![uuid(*id)],
        After::Deliveries(Some(Place { execution, task })) => {
            values![uuid(*execution), task_uuid(*task)]
        }
        After::Messages(Some(key)) => {
            values![uuid(key.from), key.seq.cast_signed(), i64::from(key.at)]
        }
        After::Records(Some(key)) => values![key.scope.as_str(), key.key.as_str()],
        After::Limits(Some(task_type)) => values![task_type.as_str()],
        After::Documents(Some(key)) => {
            values![key.kind.as_str(), key.name.as_str(), key.version]
        }
        After::Logs(Some((Place { execution, task }, [noted_at, node, lane, round, at]))) => {
            let small = |number: &i64| i32::try_from(*number).unwrap_or(i32::MAX);
            values![
                uuid(*execution),
                task_uuid(*task),
                *noted_at,
                *node,
                small(lane),
                *round,
                small(at)
            ]
        }
        After::Given(None)
        | After::Pinned(None)
        | After::Journal(None)
        | After::Executions(None)
        | After::Deliveries(None)
        | After::Messages(None)
        | After::Records(None)
        | After::Limits(None)
        | After::Documents(None)
        | After::Logs(None) => Vec::new(),
    }
}

fn given(row: &Row) -> Result<Item, StoreError> {
    let mut fields = Fields::of(row);
    Ok(Item::Given(fields.execution()?, fields.digest()?))
}

fn pinned(row: &Row) -> Result<Item, StoreError> {
    let mut fields = Fields::of(row);
    Ok(Item::Pinned(fields.digest()?, fields.next()?))
}

fn entry(row: &Row) -> Result<Item, StoreError> {
    let mut fields = Fields::of(row);
    Ok(Item::Entry(fields.execution()?, fields.count()?, fields.next()?))
}

fn limit_row(row: &Row) -> Result<Item, StoreError> {
    let mut fields = Fields::of(row);
    let (task_type, used): (String, &[u8]) = (fields.next()?, fields.next()?);
    let used = serde_json::from_slice(used);
    let used = used.map_err(|error| StoreError::Corrupt(format!("limit {task_type}: {error}")))?;
    Ok(Item::Limit(task_type, used))
}

fn line(row: &Row) -> Result<Item, StoreError> {
    let mut fields = Fields::of(row);
    let place = Place { execution: fields.execution()?, task: fields.task()? };
    let (noted_at, node): (i64, i64) = (fields.next()?, fields.next()?);
    let (lane, round): (i32, i64) = (fields.next()?, fields.next()?);
    let at: i32 = fields.next()?;
    let noted: Noted = [noted_at, node, lane.into(), round, at.into()];
    let created_at = fields.time()?;
    Ok(Item::Line(noted, LogLine { place, created_at, line: fields.next()? }))
}
