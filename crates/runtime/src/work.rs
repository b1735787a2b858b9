//! # Work: what a lane is asked to do
//!
//! Every request, report, poll and timer becomes one [`Item`] with a reply that is sent after the
//! commit, or never.

use std::collections::BTreeSet;
use std::sync::Arc;

use semel_engine::{Address, Delivery, Event, MessageKey, Pinned, Queue, RecordKey, Ruled, Token};
use semel_model::{Digest, ExecutionId, Payload, TaskId, Timestamp};
use semel_store::{DocumentKey, LogLine, Place};

use crate::edits::Edited;
use crate::failure::Failure;
use crate::inbox::Credit;
use crate::ledger::Call;
use crate::requests::{Settled, Settlement, Step};
use crate::shares::Claimant;
use crate::starts::{Found, StartWork};
use crate::waiters::Waiting;

/// Called once, after the commit.
pub type Reply = Box<dyn FnOnce(Result<Answer, Failure>) + Send>;

pub struct Item {
    pub work: Work,
    pub reply: Reply,
    /// How often more rows were needed than were held, although all that was named is.
    pub(crate) misses: u8,
    /// How often a row of it was held by somebody else, since it was last waited for.
    pub(crate) skips: u8,
    /// How often it was waited for in vain.
    pub(crate) waits: u8,
    pub(crate) wants: Wants,
    pub(crate) credit: Option<Credit>,
    /// Whose it is, when nobody has asked for it.
    pub(crate) claimant: Claimant,
    /// Of which request with a key it is a step.
    pub(crate) step: Option<Box<Step>>,
}

/// What to hold besides the obvious: earlier rounds missed it.
#[derive(Default)]
pub(crate) struct Wants {
    pub(crate) deliveries: BTreeSet<Place>,
    /// The limit row of this type.
    pub(crate) limit: Option<String>,
    pub(crate) records: BTreeSet<RecordKey>,
    /// Records whose line of waiters is wanted.
    pub(crate) waiters: BTreeSet<RecordKey>,
    pub(crate) heads: BTreeSet<ExecutionId>,
}

impl Item {
    pub fn new(work: Work, reply: Reply) -> Self {
        let (misses, skips, waits) = (0, 0, 0);
        Self {
            work,
            reply,
            misses,
            skips,
            waits,
            wants: Wants::default(),
            credit: None,
            claimant: Claimant::default(),
            step: None,
        }
    }

    pub(crate) fn of(self, claimant: Claimant) -> Self {
        Self { claimant, ..self }
    }

    /// The id of the request, if somebody asked for this one.
    pub(crate) fn request(&self) -> Option<&str> {
        let id = match &self.work {
            Work::Start(work) => &work.event_id,
            Work::Event(work) => &work.event_id,
            _ => return None,
        };
        Some(id.as_str()).filter(|id| !id.is_empty())
    }

    /// For what nobody waits for: timers, answers to questions.
    pub fn unasked(work: Work) -> Self {
        Self::new(work, Box::new(|_| {}))
    }
}

pub enum Work {
    Start(Box<StartWork>),
    Event(Box<EventWork>),
    Claim(Claim),
    Renew(Renewal),
    Documents(Vec<DocumentWrite>),
    /// Keeps a line about a task.
    Log(LogLine),
    /// Lifts an execution that was parked.
    Lift(ExecutionId),
    /// Parks an execution whose event could not be written.
    Park(ExecutionId, String),
    /// Carries a message to whom it is for.
    Message(MessageKey, Address),
    Remove(Removal),
    /// Removes runs that ended before that time.
    Expire(Vec<Ended>, Timestamp),
    /// Keeps the answer to a request with a key.
    Settle(Box<Settlement>),
    /// Frees keys that have expired.
    Forget(Vec<RecordKey>),
    /// Is about one record.
    Call(Box<Call>),
    /// Frees a start key because a person says so.
    Reset(RecordKey, String),
    /// Notes that the store is alive, so that downtime is measured from here.
    Beat,
}

impl Work {
    /// The execution it is about, if it is about one that exists.
    pub(crate) fn execution(&self) -> Option<ExecutionId> {
        match self {
            Self::Event(work) => Some(work.execution),
            Self::Lift(id) | Self::Park(id, _) | Self::Message(_, Address::Execution(id)) => {
                Some(*id)
            }
            Self::Remove(removal) => Some(removal.id),
            Self::Start(_)
            | Self::Claim(_)
            | Self::Renew(_)
            | Self::Documents(_)
            | Self::Log(_)
            | Self::Message(_, Address::Sink(_))
            | Self::Expire(..)
            | Self::Settle(_)
            | Self::Forget(_)
            | Self::Call(_)
            | Self::Reset(..)
            | Self::Beat => None,
        }
    }
}

/// An event for an execution that exists.
#[derive(Clone)]
pub struct EventWork {
    pub execution: ExecutionId,
    pub event: Event,
    pub payloads: Vec<Payload>,
    /// The definition the event brings, if it brings one.
    pub definition: Option<Arc<Pinned>>,
    pub actor: String,
    pub event_id: String,
    /// `update-v2`: what to hand out with the answer.
    pub next: Option<Next>,
    /// What a worker wrote about the task; kept if its report counts.
    pub logs: Vec<LogLine>,
}

impl EventWork {
    /// What nobody outside has asked for.
    pub(crate) fn own(execution: ExecutionId, event: Event) -> Self {
        Self {
            execution,
            event,
            payloads: Vec::new(),
            definition: None,
            actor: "semel".to_owned(),
            event_id: String::new(),
            next: None,
            logs: Vec::new(),
        }
    }
}

/// The next task of the same queue, for the worker that reported.
#[derive(Clone)]
pub struct Next {
    pub worker: Option<String>,
    pub token: Token,
}

pub struct Claim {
    pub queue: Queue,
    pub worker: Option<String>,
    pub count: usize,
    pub token: Token,
    /// The caller chose the token: a repeat of this poll must find what it was given.
    pub named: bool,
    /// Until when the poll may be parked; now or earlier: not at all.
    pub wait_until: Timestamp,
    /// Whether anybody still listens.
    pub waiting: Arc<Waiting>,
    /// Definitions of which nothing is wanted.
    pub passed_over: Arc<BTreeSet<Digest>>,
}

/// What a worker of our own asks a queue for.
pub struct Poll {
    pub queue: Queue,
    pub worker: &'static str,
    pub count: usize,
    /// Definitions of which nothing is wanted.
    pub passed_over: Arc<BTreeSet<Digest>>,
}

pub struct Removal {
    pub id: ExecutionId,
    /// Its key stays taken as if only its time were over.
    pub keeps_key: bool,
    pub actor: String,
}

/// A run that is over, and the key it was started under.
pub struct Ended {
    pub(crate) id: ExecutionId,
    pub(crate) key: Option<RecordKey>,
}

#[derive(Clone)]
pub struct Renewal {
    pub place: Place,
    pub fence: Option<u64>,
    pub worker: Option<String>,
    /// By a worker of the server itself: a refusal is no news to anybody.
    pub is_in_house: bool,
}

#[derive(Clone, Debug)]
pub struct DocumentWrite {
    pub key: DocumentKey,
    /// None deletes.
    pub body: Option<Vec<u8>>,
    pub rule: DocumentRule,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DocumentRule {
    Any,
    MustBeAbsent,
    MustExist,
    /// It must still be this; none: absent.
    Unchanged(Option<Vec<u8>>),
}

/// One task in the hands of a worker.
#[derive(Clone, Debug)]
pub struct HandedOut {
    pub delivery: Delivery,
    pub definition: Arc<Pinned>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Applied,
    /// It says what was accepted before.
    Repeated,
    /// Kept for a task that is not there yet.
    Kept,
}

#[derive(Debug)]
pub enum Answer {
    Started {
        id: ExecutionId,
        created: bool,
        /// The run under the key, when it is not a new one.
        found: Option<Box<Found>>,
    },
    Done {
        standing: Standing,
        /// The run that heard it. None: an earlier release kept the answer without it.
        run: Option<ExecutionId>,
        /// The task the event was about, when it was about one.
        task: Option<TaskId>,
        next: Option<Box<HandedOut>>,
    },
    Claimed(Vec<HandedOut>),
    Renewed {
        lease_until: Option<Timestamp>,
    },
    /// Nothing was created: that run is in the way.
    Skipped {
        id: ExecutionId,
    },
    /// That run waits for its turn, and has the input now.
    Coalesced {
        id: ExecutionId,
    },
    Ruled(Box<Ruled>),
    /// There is nothing to reset.
    NotHeld,
    Noted,
    /// How a document was edited when that was asked for before.
    Edited(Edited),
    Settled(Settled),
}
