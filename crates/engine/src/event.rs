//! # Events: what happened, as the road brings it
//!
//! An event is the cause written into the journal, so it must say everything `decide` may look at
//! besides the facts. Payloads are not inside: a [`Slot`] points into the entry's pool, so that an
//! output reported by a worker is stored once and the change it causes points at the same text.

use std::collections::BTreeMap;

use semel_model::{Digest, TaskId, TaskResultStatus};
use serde::{Deserialize, Serialize};

use crate::question::Answer;

/// Where in an entry's pool a payload lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    Started(Start),
    /// A worker answers for a task by its id.
    Reported(Report),
    /// A person or program answers for a step by its name; see contract 4, rule 3.
    Named {
        reference: String,
        force: bool,
        progress: Progress,
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
    },
}

/// Everything a run is begun with; the definition itself is pinned under its digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
