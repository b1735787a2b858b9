//! # Events: what happened, as the road brings it
//!
//! An event is the cause written into the journal, so it must say everything `decide` may look at
//! besides the facts. Payloads are not inside: a [`Slot`] points into the entry's pool, so that an
//! output reported by a worker is stored once and the change it causes points at the same text.

use std::collections::BTreeMap;

use semel_model::{Digest, ExecutionId, TaskId, TaskResultStatus, Traceparent};
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::question::Answer;
use crate::record::RecordKey;

/// Where in an entry's pool a payload lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Started(Start),
    /// A worker answers for a task by its id.
    Reported(Report),
    /// A person or program answers for a step by its name (docs/reference/idempotency.md#by-name).
    Named {
        reference: String,
        force: bool,
        progress: Progress,
        /// The request has a key, so that this is no repeat of another.
        #[serde(default, skip_serializing_if = "is_false")]
        distinct: bool,
    },
    /// Somebody answers for whichever WAIT or YIELD comes first.
    Signalled {
        progress: Progress,
        /// It is kept when nothing waits for it.
        #[serde(default, skip_serializing_if = "is_false")]
        may_wait: bool,
    },
    /// A deadline of the task's delivery has passed.
    Expired {
        task: TaskId,
    },
    /// The execution's own earliest deadline has passed.
    Woke,
    Answered {
        task: TaskId,
        question: Digest,
        answer: Answer,
    },
    Paused,
    Resumed,
    Terminated {
        reason: Option<String>,
        /// Start the failure workflow too.
        #[serde(default)]
        compensate: bool,
    },
    /// What ended unsuccessfully is tried again.
    Retried,
    /// Everything from the beginning; on another definition when one is named.
    Restarted {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        definition: Option<Digest>,
    },
    /// Again from that task on, or from the beginning.
    Reran(Rerun),
    /// A step that has not been reached shall not be done.
    Skipped {
        reference: String,
        input: Slot,
        output: Slot,
    },
    /// Go on at that step.
    Jumped {
        reference: String,
        /// Absent: what the definition says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Slot>,
    },
    /// Go on by another definition.
    Upgraded {
        definition: Digest,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input: Option<Slot>,
        /// Outputs of steps that are skipped over, by reference.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        outputs: BTreeMap<String, Slot>,
    },
    /// Tasks that wait for their callback are offered now.
    CallbacksReset,
    VariablesUpdated {
        variables: Slot,
    },
    /// Variables and a task are changed together, or neither is.
    StateUpdated {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        variables: Option<Slot>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The open task of that reference; with an id, the place where that task must stand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        progress: Progress,
    },
    /// The run is about to be removed.
    Removed,
    /// Another execution says something.
    Told(Message),
    /// The child of that task lives again; decided in the child's commit.
    ChildRevived {
        task: TaskId,
        epoch: u32,
    },
    /// A later start gives its input to this run, which still waits for its turn.
    Coalesced {
        input: Slot,
    },
    /// A message for whichever task pulls it.
    Posted {
        id: String,
        /// The sender gave the id: its repeat is known by it.
        #[serde(default, skip_serializing_if = "is_false")]
        named: bool,
        payload: Slot,
    },
    /// A retry, restart or rerun that does effects once more.
    Redone(Box<Event>),
    /// A person says whether an effect has happened that nobody was sure of.
    EffectResolved(Resolution),
}

impl Event {
    /// The definition the run has from now on, if this event changes it.
    pub fn brings(&self) -> Option<Digest> {
        match self {
            Self::Restarted { definition } => *definition,
            Self::Upgraded { definition, .. } => Some(*definition),
            Self::Redone(event) => event.brings(),
            Self::Started(_)
            | Self::Reported(_)
            | Self::Named { .. }
            | Self::Signalled { .. }
            | Self::Expired { .. }
            | Self::Woke
            | Self::Answered { .. }
            | Self::Paused
            | Self::Resumed
            | Self::Terminated { .. }
            | Self::Retried
            | Self::Reran(_)
            | Self::Skipped { .. }
            | Self::Jumped { .. }
            | Self::CallbacksReset
            | Self::VariablesUpdated { .. }
            | Self::StateUpdated { .. }
            | Self::Removed
            | Self::Told(_)
            | Self::ChildRevived { .. }
            | Self::EffectResolved(_)
            | Self::Coalesced { .. }
            | Self::Posted { .. } => None,
        }
    }

    /// May find that no more runs may be under way.
    pub(crate) fn comes_to_gate(&self) -> bool {
        self.may_revive()
            || matches!(self, Self::Started(_) | Self::Told(Message::ParentReturned { .. }))
    }

    /// May make a closed run live again, and with it those that wait for it.
    pub fn may_revive(&self) -> bool {
        matches!(
            self,
            Self::Retried
                | Self::Restarted { .. }
                | Self::Reran(_)
                | Self::ChildRevived { .. }
                | Self::Redone(_)
        )
    }
}

/// The answer to whether an effect has happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resolution {
    pub scope: String,
    pub key: String,
    pub applied: bool,
    pub output: Slot,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<TaskId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_input: Option<Slot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Slot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
}

/// Everything a run is begun with; the definition itself is pinned under its digest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Start {
    pub definition: Digest,
    pub input: Slot,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(default)]
    pub priority: i32,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub task_to_domain: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// The run under the same key that ends with this start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<ExecutionId>,
    /// The task that waits for this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Begun by another run, in its commit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub born: bool,
    /// How many runs, one inside or after the other, led to this one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u32,
    /// The run that the first of them was, if this is not the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<ExecutionId>,
    /// The trace the run belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Traceparent>,
    /// The event that led to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The gates the runs it is inside of are past, and the effects that it is part of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub under: Vec<RecordKey>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(depth: &u32) -> bool {
    *depth == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    pub execution: ExecutionId,
    pub task: TaskId,
}

/// What a report says about its task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub status: TaskResultStatus,
    pub output: Slot,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(default)]
    pub callback_after_seconds: i64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub task: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// Fingerprint of the whole report: a byte-equal repeat is recognised by it.
    pub fingerprint: Digest,
    pub progress: Progress,
}
