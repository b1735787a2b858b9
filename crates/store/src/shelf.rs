//! # Shelves: everything a store holds, row by row
//!
//! For whoever moves or compares whole stores. The rows of a shelf come in the order of their keys,
//! byte for byte the same in every store. What is searched by is on no shelf: it follows from the
//! journals.

use semel_engine::{Delivery, Head, MessageKey, MessageRow, Record, RecordKey, Window};
use semel_model::{Digest, ExecutionId};
use serde::{Deserialize, Serialize};

use crate::rows::{DocumentKey, LogLine, Place, Writes};

/// Rows of one kind. They are filled in this order: a definition that is given to an execution is so
/// only before it is pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Shelf {
    Given,
    Pinned,
    Journal,
    Executions,
    Deliveries,
    Messages,
    Records,
    Limits,
    Documents,
    Logs,
}

impl Shelf {
    pub const ALL: [Self; 10] = [
        Self::Given,
        Self::Pinned,
        Self::Journal,
        Self::Executions,
        Self::Deliveries,
        Self::Messages,
        Self::Records,
        Self::Limits,
        Self::Documents,
        Self::Logs,
    ];

    /// For people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Given => "definitions that came with a run",
            Self::Pinned => "pinned definitions",
            Self::Journal => "journal entries",
            Self::Executions => "executions",
            Self::Deliveries => "deliveries",
            Self::Messages => "messages",
            Self::Records => "records",
            Self::Limits => "limits",
            Self::Documents => "documents",
            Self::Logs => "log lines",
        }
    }
}

/// Where a line was noted, in terms of its store: moment, node, lane, round and place. Two stores that
/// hold the same lines in the same order may have noted them elsewhere.
pub type Noted = [i64; 5];

/// A place on a shelf: just after the row of that key, or at the beginning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum After {
    Given(Option<(ExecutionId, Digest)>),
    Pinned(Option<Digest>),
    Journal(Option<(ExecutionId, u64)>),
    Executions(Option<ExecutionId>),
    Deliveries(Option<Place>),
    Messages(Option<MessageKey>),
    Records(Option<RecordKey>),
    Limits(Option<String>),
    Documents(Option<DocumentKey>),
    Logs(Option<(Place, Noted)>),
}

impl After {
    /// The beginning of a shelf.
    pub fn nothing(shelf: Shelf) -> Self {
        match shelf {
            Shelf::Given => Self::Given(None),
            Shelf::Pinned => Self::Pinned(None),
            Shelf::Journal => Self::Journal(None),
            Shelf::Executions => Self::Executions(None),
            Shelf::Deliveries => Self::Deliveries(None),
            Shelf::Messages => Self::Messages(None),
            Shelf::Records => Self::Records(None),
            Shelf::Limits => Self::Limits(None),
            Shelf::Documents => Self::Documents(None),
            Shelf::Logs => Self::Logs(None),
        }
    }

    pub fn shelf(&self) -> Shelf {
        match self {
            Self::Given(_) => Shelf::Given,
            Self::Pinned(_) => Shelf::Pinned,
            Self::Journal(_) => Shelf::Journal,
            Self::Executions(_) => Shelf::Executions,
            Self::Deliveries(_) => Shelf::Deliveries,
            Self::Messages(_) => Shelf::Messages,
            Self::Records(_) => Shelf::Records,
            Self::Limits(_) => Shelf::Limits,
            Self::Documents(_) => Shelf::Documents,
            Self::Logs(_) => Shelf::Logs,
        }
    }
}

/// How much is taken from a shelf at once. One row is, however large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub rows_max: usize,
    pub bytes_max: usize,
}

impl Page {
    pub const ONE_ROW: Self = Self { rows_max: 1, bytes_max: 1 };

    /// Takes rows until the page is full.
    pub fn fill<E>(self, rows: impl IntoIterator<Item = Result<Item, E>>) -> Result<Vec<Item>, E> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for row in rows {
            let row = row?;
            bytes += row.bytes();
            taken.push(row);
            if taken.len() >= self.rows_max || bytes >= self.bytes_max {
                break;
            }
        }
        Ok(taken)
    }
}

/// One row with its key.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Given(ExecutionId, Digest),
    Pinned(Digest, Vec<u8>),
    Entry(ExecutionId, u64, Vec<u8>),
    Head(Box<Head>),
    Delivery(Box<Delivery>),
    Message(Box<MessageRow>),
    Record(RecordKey, Box<Record>),
    Limit(String, Window),
    Document(DocumentKey, Vec<u8>),
    Line(Noted, LogLine),
}

impl Item {
    /// The place just after it.
    pub fn after(&self) -> After {
        match self {
            Self::Given(execution, digest) => After::Given(Some((*execution, *digest))),
            Self::Pinned(digest, _) => After::Pinned(Some(*digest)),
            Self::Entry(execution, seq, _) => After::Journal(Some((*execution, *seq))),
            Self::Head(head) => After::Executions(Some(head.id)),
            Self::Delivery(row) => {
                After::Deliveries(Some(Place { execution: row.execution, task: row.task }))
            }
            Self::Message(row) => After::Messages(Some(row.key)),
            Self::Record(key, _) => After::Records(Some(key.clone())),
            Self::Limit(task_type, _) => After::Limits(Some(task_type.clone())),
            Self::Document(key, _) => After::Documents(Some(key.clone())),
            Self::Line(noted, line) => After::Logs(Some((line.place, *noted))),
        }
    }

    /// The same, wherever its store keeps it.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Line(_, line), Self::Line(_, other)) => line == other,
            (item, other) => item == other,
        }
    }

    /// What of it may be large.
    fn bytes(&self) -> usize {
        match self {
            Self::Given(..) | Self::Head(_) | Self::Limit(..) => 0,
            Self::Pinned(_, body) | Self::Entry(_, _, body) | Self::Document(_, body) => body.len(),
            Self::Delivery(row) => row.input.len() + row.output.len(),
            Self::Message(row) => row.body.len(),
            Self::Record(_, record) => record.detail.encode().map_or(0, |detail| detail.len()),
            Self::Line(_, line) => line.line.len(),
        }
    }

    /// Writes it with the others.
    pub fn put(self, writes: &mut Writes) {
        match self {
            Self::Given(execution, digest) => drop(writes.given.insert((execution, digest))),
            Self::Pinned(digest, body) => drop(writes.pinned.insert(digest, body)),
            Self::Entry(execution, seq, entry) => writes.entries.push((execution, seq, entry)),
            Self::Head(head) => drop(writes.heads.insert(head.id, *head)),
            Self::Delivery(row) => {
                let place = Place { execution: row.execution, task: row.task };
                writes.deliveries.insert(place, Some(*row));
            }
            Self::Message(row) => drop(writes.messages.insert(row.key, Some(*row))),
            Self::Record(key, record) => drop(writes.records.insert(key, Some(*record))),
            Self::Limit(task_type, window) => drop(writes.limits.insert(task_type, window)),
            Self::Document(key, body) => drop(writes.documents.insert(key, Some(body))),
            Self::Line(_, line) => writes.logs.push(line),
        }
    }
}

impl std::fmt::Display for Item {
    /// Its name; never what is in it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given(execution, digest) => {
                write!(f, "definition {digest}, given to execution {execution}")
            }
            Self::Pinned(digest, _) => write!(f, "pinned definition {digest}"),
            Self::Entry(execution, seq, _) => write!(f, "entry {seq} of execution {execution}"),
            Self::Head(head) => write!(f, "execution {}", head.id),
            Self::Delivery(row) => {
                write!(f, "delivery {} of execution {}", row.task, row.execution)
            }
            Self::Message(row) => {
                let MessageKey { from, seq, at } = row.key;
                write!(f, "message {at} of entry {seq} of execution {from}")
            }
            Self::Record(RecordKey { scope, key }, _) => write!(f, "record {key} of {scope}"),
            Self::Limit(task_type, _) => write!(f, "limit of {task_type}"),
            Self::Document(DocumentKey { kind, name, version }, _) => {
                write!(f, "{} document {name} version {version}", kind.as_str())
            }
            Self::Line(_, line) => {
                let Place { execution, task } = line.place;
                write!(f, "a log line of task {task} of execution {execution}")
            }
        }
    }
}
