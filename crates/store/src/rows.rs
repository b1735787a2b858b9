//! # Rows: what a round touches, holds and writes
//!
//! Sorted maps throughout: holding in one global order is what keeps two rounds from deadlock.

use std::collections::{BTreeMap, BTreeSet};

use semel_engine::{
    Address, Delivery, Head, MessageKey, MessageRow, Queue, Record, RecordKey, Token, Window,
};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

/// A row handed out by `due` is not offered again for this long, nor is a new message, which its
/// writer carries.
pub const DUE_LEASE_MS: i64 = 5_000;

/// Where a delivery lies: tasks are clustered by their execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub execution: ExecutionId,
    pub task: TaskId,
}

/// Kinds of named documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    WorkflowDefinition,
    TaskDefinition,
    Environment,
    Secret,
    /// Tags of a workflow, over all its versions.
    WorkflowTags,
    TaskTags,
    Application,
    EventHandler,
    Schema,
    /// How far a copy of another store into this one is. It is of this store and never copied.
    Copy,
}

impl Kind {
    pub const ALL: [Self; 10] = [
        Self::WorkflowDefinition,
        Self::TaskDefinition,
        Self::Environment,
        Self::Secret,
        Self::WorkflowTags,
        Self::TaskTags,
        Self::Application,
        Self::EventHandler,
        Self::Schema,
        Self::Copy,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::WorkflowDefinition => "workflow",
            Self::TaskDefinition => "task",
            Self::Environment => "environment",
            Self::Secret => "secret",
            Self::WorkflowTags => "workflow-tags",
            Self::TaskTags => "task-tags",
            Self::Application => "application",
            Self::EventHandler => "handler",
            Self::Schema => "schema",
            Self::Copy => "copy",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentKey {
    pub kind: Kind,
    pub name: String,
    /// 0 for kinds without versions.
    pub version: i32,
}

/// Anything that can be held by one lane at a time, in the order of holding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Row {
    Head(ExecutionId),
    Limit(String),
    Record(RecordKey),
    Delivery(Place),
    Message(MessageKey),
    Document(DocumentKey),
    /// The name of a poll: what is handed out under it is handed out by one lane.
    Poll(Token),
}

/// What a round wants to hold.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    pub heads: BTreeSet<ExecutionId>,
    pub limits: BTreeSet<String>,
    pub records: BTreeSet<RecordKey>,
    pub deliveries: BTreeSet<Place>,
    /// Executions of which every delivery is wanted.
    pub all_deliveries: BTreeSet<ExecutionId>,
    /// How many ready tasks are wanted from each queue.
    pub wanted: BTreeMap<Queue, usize>,
    /// Definitions of which none is wanted, by queue.
    pub passed_over: BTreeMap<Queue, BTreeSet<Digest>>,
    /// Of each of these queues no more rows are held once their payloads are so many bytes together.
    pub ready_bytes: Option<usize>,
    /// Hand-outs made under these tokens.
    pub tokens: BTreeSet<Token>,
    /// Of these tokens, that nothing was handed out under them is held too.
    pub polls: BTreeSet<Token>,
    pub messages: BTreeSet<MessageKey>,
    /// How many of the messages that wait on a record are wanted, oldest first. They are held with the
    /// record, which has to be wanted too, and not without it.
    pub waiters: BTreeMap<RecordKey, usize>,
    pub documents: BTreeSet<DocumentKey>,
    /// Rows that others hold are waited for, if the store can, and not skipped. Whoever waits for long
    /// is told that they are contended.
    pub waits: bool,
}

impl Touches {
    /// Somebody wants so many ready tasks of a queue, none of those definitions. What one of several
    /// wants is wanted.
    pub fn want(&mut self, queue: &Queue, count: usize, passed_over: &BTreeSet<Digest>) {
        let is_first = !self.wanted.contains_key(queue);
        *self.wanted.entry(queue.clone()).or_default() += count;
        if is_first && !passed_over.is_empty() {
            self.passed_over.insert(queue.clone(), passed_over.clone());
        } else if let Some(known) = self.passed_over.get_mut(queue) {
            known.retain(|definition| passed_over.contains(definition));
        }
    }

    /// The definitions of which none is wanted from that queue.
    pub fn passed_over(&self, queue: &Queue) -> Option<&BTreeSet<Digest>> {
        self.passed_over.get(queue).filter(|definitions| !definitions.is_empty())
    }

    /// Ready rows of one queue, best first, until they are too large together. False: there may be more.
    pub fn fill<E>(
        &self,
        rows: impl IntoIterator<Item = Place>,
        mut take: impl FnMut(Place) -> Result<usize, E>,
    ) -> Result<(Vec<Place>, bool), E> {
        let (mut places, mut bytes) = (Vec::new(), 0);
        for place in rows {
            if self.ready_bytes.is_some_and(|max| bytes >= max) {
                return Ok((places, false));
            }
            bytes += take(place)?;
            places.push(place);
        }
        Ok((places, true))
    }
}

/// What a round holds: every row asked for, present or absent, but for those another lane holds.
#[derive(Clone, Debug, Default)]
pub struct Held {
    pub now: Timestamp,
    pub heads: BTreeMap<ExecutionId, Option<Head>>,
    pub limits: BTreeMap<String, LimitRow>,
    pub records: BTreeMap<RecordKey, Option<Record>>,
    pub deliveries: BTreeMap<Place, Option<Delivery>>,
    /// Ready tasks per queue, best first; their rows are in `deliveries`.
    pub ready: BTreeMap<Queue, Vec<Place>>,
    /// Queues of which fewer are held than were wanted, because their payloads are large.
    pub cut: BTreeSet<Queue>,
    /// What was handed out under each token; none of a token of which another lane holds something.
    pub by_token: BTreeMap<Token, Vec<Place>>,
    pub messages: BTreeMap<MessageKey, Option<MessageRow>>,
    /// Those that wait on each record, oldest first; their rows are in `messages`.
    pub waiters: BTreeMap<RecordKey, Vec<MessageKey>>,
    pub documents: BTreeMap<DocumentKey, Option<Vec<u8>>>,
    pub skipped: BTreeSet<Row>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitRow {
    pub window: Window,
    /// Tasks of this type under a lease.
    pub in_flight: usize,
}

/// Names one round of one lane of one process, so that an unknown commit can be asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    pub lane: u16,
    pub round: u64,
    pub at: Timestamp,
    /// The highest fence drawn so far.
    pub fence: u64,
}

/// What a worker wrote about its task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    pub place: Place,
    /// When, as the worker says.
    pub created_at: Timestamp,
    pub line: String,
}

/// What a round writes. Each row once; `None` deletes it.
#[derive(Clone, Debug, Default)]
pub struct Writes {
    pub stamp: Stamp,
    pub entries: Vec<(ExecutionId, u64, Vec<u8>)>,
    pub heads: BTreeMap<ExecutionId, Head>,
    pub limits: BTreeMap<String, Window>,
    pub records: BTreeMap<RecordKey, Option<Record>>,
    pub deliveries: BTreeMap<Place, Option<Delivery>>,
    /// What is written here is leased to its writer, who carries it at once.
    pub messages: BTreeMap<MessageKey, Option<MessageRow>>,
    /// Appended, in this order.
    pub logs: Vec<LogLine>,
    /// After the commit nothing is left of these executions: no head, entry, delivery or log, not even
    /// one this round writes, and no pinned definition that was given to these alone. Messages they
    /// sent or are sent, records and other pinned definitions stay.
    pub removed: BTreeSet<ExecutionId>,
    pub pinned: BTreeMap<Digest, Vec<u8>>,
    /// Pinned definitions that came with the data of an execution, and that nobody else can name. One
    /// that was pinned before and given to nobody stays for ever: who needs it is not known.
    pub given: BTreeSet<(ExecutionId, Digest)>,
    pub documents: BTreeMap<DocumentKey, Option<Vec<u8>>>,
}

impl Writes {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.heads.is_empty()
            && self.limits.is_empty()
            && self.records.is_empty()
            && self.deliveries.is_empty()
            && self.messages.is_empty()
            && self.logs.is_empty()
            && self.removed.is_empty()
            && self.pinned.is_empty()
            && self.given.is_empty()
            && self.documents.is_empty()
    }

    /// The earliest time at which something of it comes due, or can be taken.
    pub fn armed(&self) -> Option<Timestamp> {
        let heads = self.heads.values().filter_map(|head| head.wake_at);
        let rows = || self.deliveries.values().flatten();
        let due = rows().filter_map(|row| row.hand_out.due_at());
        let ripe = rows().map(|row| row.ready_at).filter(|at| *at > self.stamp.at);
        let sent = self.messages.values().flatten().filter(|row| row.waits.is_none());
        let messages = sent.map(|_| self.messages_due_at());
        heads.chain(due).chain(ripe).chain(messages).min()
    }

    /// When messages that their writer has not carried are told.
    pub fn messages_due_at(&self) -> Timestamp {
        self.stamp.at.plus_ms(DUE_LEASE_MS)
    }
}

/// A worker asked a queue for work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Polled {
    pub queue: Queue,
    pub worker: Option<String>,
    pub at: Timestamp,
}

/// One execution as it is committed.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub head: Head,
    pub entries: Vec<Vec<u8>>,
    pub deliveries: Vec<Delivery>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Due {
    /// Tasks whose delay is over, by queue; told once.
    pub ripe: BTreeMap<Queue, usize>,
    pub executions: Vec<ExecutionId>,
    pub deliveries: Vec<Place>,
    /// Messages nobody has carried yet, and whom they are for.
    pub messages: Vec<(MessageKey, Address)>,
}
