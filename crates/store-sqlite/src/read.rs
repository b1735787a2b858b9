//! # Reads: committed data, on connections of their own

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, Row};
use semel_engine::{Delivery, Head, MessageKey, MessageRow, Queue, Record, RecordKey};
use semel_model::{Digest, ExecutionId, Timestamp};
use semel_store::{
    About, After, Census, Clock, DocumentKey, Index, Item, Kind, Loaded, LogLine, Page, Place,
    Store, StoreError, Writer,
};

use crate::at_hand::AtHand;
use crate::columns::{self, head_columns, message_columns, record_columns, select_deliveries};
use crate::index::SqliteIndex;
use crate::lane::{Core, SqliteWriter};
use crate::lock::Lock;
use crate::open::{self, OpenError, Opened, Purpose};
use crate::readers::{Readers, at_once};
use crate::sweep::{self, limit};
use crate::{census, checkpoint, fault, hold, migrate, shelves};

const HEAD: &str = concat!("SELECT ", head_columns!(), " FROM executions WHERE id = ?1");
const DELIVERY: &str = concat!(select_deliveries!(), " WHERE execution = ?1 AND task = ?2");
const DELIVERIES: &str = concat!(select_deliveries!(), " WHERE execution = ?1 ORDER BY task");
const ENTRIES: &str = "SELECT entry FROM journal WHERE execution = ?1 AND seq > ?2 ORDER BY seq";
const RECORD: &str =
    concat!("SELECT ", record_columns!(), " FROM records WHERE scope = ?1 AND key = ?2");
const RECORDS: &str = concat!(
    "SELECT scope, key, ",
    record_columns!(),
    " FROM records WHERE (scope, key) > (?1, ?2) AND scope < ?3 ORDER BY scope, key LIMIT ?4"
);
/// The waiting ones of a record, oldest first.
const WAITERS: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE waits_scope = ?1 AND waits_key = ?2 ORDER BY waits_since, sender, seq, at \
     LIMIT ?3"
);
const MESSAGE: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE sender = ?1 AND seq = ?2 AND at = ?3"
);
const LOGS: &str = "SELECT created_at, line FROM task_logs WHERE execution = ?1 AND task = ?2 \
     ORDER BY noted_at DESC, lane DESC, round DESC, at DESC LIMIT ?3";
const PINNED: &str = "SELECT body FROM pinned WHERE digest = ?1";
const DOCUMENT: &str = "SELECT body FROM documents WHERE kind = ?1 AND name = ?2 AND version = ?3";
const DOCUMENTS: &str =
    "SELECT name, version, body FROM documents WHERE kind = ?1 ORDER BY name, version";
const DOCUMENTS_OF: &str =
    "SELECT name, version, body FROM documents WHERE kind = ?1 AND name = ?2 ORDER BY version";

/// A directory with one database in it, held by this process.
pub struct SqliteStore {
    pub(crate) shared: Arc<Shared>,
}

/// Fields close in this order; see [`open::Opened`].
pub(crate) struct Shared {
    _checkpointer: checkpoint::Checkpointer,
    pub(crate) readers: Readers,
    pub(crate) core: Mutex<Core>,
    pub(crate) at_hand: AtHand,
    index: SqliteIndex,
    pub(crate) documents_generation: AtomicU64,
    pub(crate) clock: Arc<Clock>,
    directory: PathBuf,
    _lock: Lock,
}

impl SqliteStore {
    /// Opens `directory`, making it if it is missing, and holds it until the store and its writers
    /// are dropped.
    pub fn open(directory: &Path, clock: Arc<Clock>) -> Result<Self, OpenError> {
        Ok(Self::of(directory, open::open(directory, &clock, Purpose::Serve)?, clock))
    }

    /// The same for whoever copies all of it, or into it: rows and times stay as they are.
    pub fn open_for_copy(directory: &Path, clock: Arc<Clock>) -> Result<Self, OpenError> {
        Ok(Self::of(directory, open::open(directory, &clock, Purpose::Copy)?, clock))
    }

    fn of(directory: &Path, opened: Opened, clock: Arc<Clock>) -> Self {
        let shared = Shared {
            _checkpointer: opened.checkpointer,
            readers: opened.readers,
            core: Mutex::new(Core::new(opened.connection, opened.mirror)),
            at_hand: AtHand::default(),
            index: opened.index,
            documents_generation: AtomicU64::new(opened.documents_generation),
            clock,
            directory: directory.to_owned(),
            _lock: opened.lock,
        };
        Self { shared: Arc::new(shared) }
    }
}

impl Store for SqliteStore {
    fn writer(&self, lane: u16) -> Result<Box<dyn Writer>, StoreError> {
        Ok(Box::new(SqliteWriter::new(Arc::clone(&self.shared), lane)?))
    }

    fn clock(&self) -> &Arc<Clock> {
        &self.shared.clock
    }

    fn load(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        self.shared.readers.with(|connection| {
            at_once(connection, || {
                let Some(head) = head(connection, id)? else { return Ok(None) };
                let entries = entries(connection, id, after_seq)?;
                Ok(Some(Loaded { head, entries, deliveries: deliveries(connection, id)? }))
            })
        })
    }

    fn journal(&self, id: ExecutionId, after_seq: u64) -> Result<Option<Loaded>, StoreError> {
        self.shared.readers.with(|connection| {
            at_once(connection, || {
                let Some(head) = head(connection, id)? else { return Ok(None) };
                let entries = entries(connection, id, after_seq)?;
                Ok(Some(Loaded { head, entries, deliveries: Vec::new() }))
            })
        })
    }

    fn head(&self, id: ExecutionId) -> Result<Option<Head>, StoreError> {
        self.shared.readers.with(|connection| head(connection, id))
    }

    fn delivery(&self, place: Place) -> Result<Option<Delivery>, StoreError> {
        self.shared.readers.with(|connection| delivery(connection, place))
    }

    fn record(&self, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        self.shared.readers.with(|connection| record(connection, key))
    }

    fn record_at_hand(&self, key: &RecordKey) -> Result<Option<Record>, StoreError> {
        match self.shared.at_hand.get(key) {
            None => self.shared.readers.briefly(|connection| record(connection, key)),
            found => Ok(found),
        }
    }

    fn records(
        &self,
        scopes: &str,
        after: Option<&RecordKey>,
        max: usize,
    ) -> Result<Vec<(RecordKey, Record)>, StoreError> {
        let after = after.map_or((scopes, ""), |after| (&after.scope, &after.key));
        let (scope, key) = after.max((scopes, ""));
        let name = || format!("a record of {scopes}");
        let beyond = format!("{scopes}{}", char::MAX);
        self.shared.readers.with(|connection| {
            let key = (scope, key, &beyond, limit(max));
            all(connection, RECORDS, key, columns::keyed_record, name)
        })
    }

    fn ended_before(&self, before: Timestamp, max: usize) -> Result<Vec<ExecutionId>, StoreError> {
        self.shared.readers.with(|connection| sweep::ended_before(connection, before, max))
    }

    fn expired_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        self.shared.readers.with(|connection| sweep::expired_records(connection, now, max))
    }

    fn lapsed_records(&self, now: Timestamp, max: usize) -> Result<Vec<RecordKey>, StoreError> {
        self.shared.readers.with(|connection| sweep::lapsed_records(connection, now, max))
    }

    fn waiting(&self) -> Result<BTreeMap<Queue, usize>, StoreError> {
        Ok(crate::lane::waiting(&self.shared))
    }

    fn logs(&self, place: Place, max: usize) -> Result<Vec<LogLine>, StoreError> {
        self.shared.readers.with(|connection| logs(connection, place, max))
    }

    fn census(&self) -> Result<Census, StoreError> {
        let counted = self.shared.readers.with(census::count)?;
        Ok(Census { held: crate::lane::held(&self.shared), ..counted })
    }

    fn about(&self) -> Result<About, StoreError> {
        let bytes = census::bytes(&self.shared.directory);
        let bytes = bytes.map_err(|error| StoreError::Unavailable(error.into()))?;
        let schema = Some(migrate::SCHEMA);
        Ok(About { kind: "sqlite", schema, bytes: Some(bytes), node: None })
    }

    fn pinned(&self, digest: Digest) -> Result<Option<Vec<u8>>, StoreError> {
        self.shared.readers.with(|connection| {
            let name = || format!("pinned definition {digest}");
            one(connection, PINNED, [digest.as_bytes()], |row| row.get(0), name)
        })
    }

    fn index(&self) -> &dyn Index {
        &self.shared.index
    }

    fn ends_of_journals(
        &self,
        after: Option<ExecutionId>,
        max: usize,
    ) -> Result<Vec<(ExecutionId, u64)>, StoreError> {
        const ENDS: &str = "SELECT id, seq FROM executions WHERE id > ?1 ORDER BY id LIMIT ?2";
        let after = after.as_ref().map_or(&[][..], |id| id.as_bytes());
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((ExecutionId::from_bytes(row.get(0)?), row.get(1)?));
        let name = || "a head".to_owned();
        self.shared.readers.with(|connection| all(connection, ENDS, (after, max), read, name))
    }

    fn document(&self, key: &DocumentKey) -> Result<Option<Vec<u8>>, StoreError> {
        self.shared.readers.with(|connection| document(connection, key))
    }

    fn documents(
        &self,
        kind: Kind,
        name: Option<&str>,
    ) -> Result<Vec<(DocumentKey, Vec<u8>)>, StoreError> {
        self.shared.readers.with(|connection| {
            let read = |row: &Row<'_>| {
                let key = DocumentKey { kind, name: row.get(0)?, version: row.get(1)? };
                Ok((key, row.get(2)?))
            };
            let row = || format!("a {} document", kind.as_str());
            match name {
                Some(name) => all(connection, DOCUMENTS_OF, (kind.as_str(), name), read, row),
                None => all(connection, DOCUMENTS, [kind.as_str()], read, row),
            }
        })
    }

    fn documents_generation(&self) -> Result<u64, StoreError> {
        Ok(self.shared.documents_generation.load(Ordering::Acquire))
    }

    fn last_round(&self, lane: u16) -> Result<u64, StoreError> {
        self.shared.readers.with(|connection| Ok(hold::last_round(connection, lane)?.unwrap_or(0)))
    }

    fn fence_floor(&self) -> Result<u64, StoreError> {
        const FENCE: &str = "SELECT max(fence) FROM lanes";
        self.shared.readers.with(|connection| {
            let row = || "the fences of the lanes".to_owned();
            let fence: Option<Option<u64>> = one(connection, FENCE, [], |row| row.get(0), row)?;
            Ok(fence.flatten().unwrap_or(0))
        })
    }

    fn last_at(&self) -> Result<Option<Timestamp>, StoreError> {
        const LAST: &str = "SELECT max(at) FROM lanes";
        self.shared.readers.with(|connection| {
            let row = || "the times of the lanes".to_owned();
            let last: Option<Option<i64>> = one(connection, LAST, [], |row| row.get(0), row)?;
            Ok(last.flatten().map(Timestamp::from_ms))
        })
    }

    fn walk(&self, after: &After, page: Page) -> Result<Vec<Item>, StoreError> {
        self.shared.readers.with(|connection| shelves::walk(connection, after, page))
    }
}

pub(crate) fn head(connection: &Connection, id: ExecutionId) -> Result<Option<Head>, StoreError> {
    one(connection, HEAD, [id.as_bytes()], columns::head, || format!("head of execution {id}"))
}

pub(crate) fn delivery(
    connection: &Connection,
    place: Place,
) -> Result<Option<Delivery>, StoreError> {
    let Place { execution, task } = place;
    let name = || format!("delivery {task} of execution {execution}");
    let key = (execution.as_bytes(), task.as_bytes());
    one(connection, DELIVERY, key, columns::delivery, name)
}

pub(crate) fn deliveries(
    connection: &Connection,
    id: ExecutionId,
) -> Result<Vec<Delivery>, StoreError> {
    let name = || format!("a delivery of execution {id}");
    all(connection, DELIVERIES, [id.as_bytes()], columns::delivery, name)
}

fn entries(
    connection: &Connection,
    id: ExecutionId,
    after_seq: u64,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let after = i64::try_from(after_seq).unwrap_or(i64::MAX);
    let name = || format!("a journal entry of execution {id}");
    all(connection, ENTRIES, (id.as_bytes(), after), |row| row.get(0), name)
}

pub(crate) fn record(
    connection: &Connection,
    key: &RecordKey,
) -> Result<Option<Record>, StoreError> {
    let name = || format!("record {} of {}", key.key, key.scope);
    one(connection, RECORD, (&key.scope, &key.key), columns::record, name)
}

/// The messages that wait on a record, oldest first.
pub(crate) fn waiters(
    connection: &Connection,
    key: &RecordKey,
    max: usize,
) -> Result<Vec<MessageRow>, StoreError> {
    let name = || format!("a message that waits on {} of {}", key.key, key.scope);
    let key = (&key.scope, &key.key, limit(max));
    all(connection, WAITERS, key, columns::message, name)
}

pub(crate) fn message(
    connection: &Connection,
    key: MessageKey,
) -> Result<Option<MessageRow>, StoreError> {
    let MessageKey { from, seq, at } = key;
    let name = || format!("message {at} of entry {seq} of execution {from}");
    one(connection, MESSAGE, (from.as_bytes(), seq, at), columns::message, name)
}

fn logs(connection: &Connection, place: Place, max: usize) -> Result<Vec<LogLine>, StoreError> {
    let read = |row: &Row<'_>| {
        Ok(LogLine { place, created_at: Timestamp::from_ms(row.get(0)?), line: row.get(1)? })
    };
    let name = || format!("a log line of task {}", place.task);
    let key = (place.execution.as_bytes(), place.task.as_bytes(), max);
    let mut lines = all(connection, LOGS, key, read, name)?;
    lines.reverse();
    Ok(lines)
}

pub(crate) fn document(
    connection: &Connection,
    key: &DocumentKey,
) -> Result<Option<Vec<u8>>, StoreError> {
    let kind = key.kind.as_str();
    let name = || format!("{kind} document {} version {}", key.name, key.version);
    one(connection, DOCUMENT, (kind, &key.name, key.version), |row| row.get(0), name)
}

pub(crate) fn one<T>(
    connection: &Connection,
    sql: &str,
    key: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    name: impl FnOnce() -> String,
) -> Result<Option<T>, StoreError> {
    let found = cached(connection, sql)?.query_row(key, read).optional();
    found.map_err(|error| fault::in_row(error, name))
}

pub(crate) fn all<T>(
    connection: &Connection,
    sql: &str,
    key: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    name: impl FnOnce() -> String,
) -> Result<Vec<T>, StoreError> {
    let mut statement = cached(connection, sql)?;
    let found = statement.query_map(key, read).and_then(Iterator::collect);
    found.map_err(|error| fault::in_row(error, name))
}

pub(crate) fn cached<'a>(
    connection: &'a Connection,
    sql: &str,
) -> Result<CachedStatement<'a>, StoreError> {
    connection.prepare_cached(sql).map_err(fault::of)
}
