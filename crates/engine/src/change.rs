//! # Changes: what is now so
//!
//! Facts, never instructions: a newer engine folds old journals exactly as written. Fields are only
//! ever added, with a default. `apply` (in `execution.rs`) is the one reader.

use std::collections::BTreeMap;

use semel_model::{Digest, TaskId, TaskStatus, Timestamp, WorkflowStatus};
use serde::{Deserialize, Serialize};

use crate::event::Slot;
use crate::question::Question;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    Started {
        input: Slot,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        correlation_id: Option<String>,
        #[serde(default)]
        priority: i32,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        task_to_domain: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        created_by: Option<String>,
    },
    TaskScheduled {
        task: TaskId,
        reference: String,
        #[serde(default)]
        attempt: u32,
        input: Slot,
        ready_at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
        /// The attempt this one replaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces: Option<TaskId>,
        /// Run by the engine: in progress at once, and never offered to workers.
        #[serde(default, skip_serializing_if = "is_false")]
        system: bool,
    },
    /// The task ends by itself at that time.
    TaskWaits {
        task: TaskId,
        until: Timestamp,
    },
    /// These of the run's variables are now so; the others stay.
    VariablesSet {
        variables: Slot,
    },
    /// The task waits for an answer before it is offered to workers.
    Asked {
        task: TaskId,
        question: Question,
        retry_at: Timestamp,
    },
    /// The task's question is answered and its queue is known.
    TaskPlaced {
        task: TaskId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        domain: Option<String>,
    },
    /// A worker reported progress and gave the task back until `ready_at`.
    TaskProgressed {
        task: TaskId,
        output: Slot,
        ready_at: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default)]
        callback_after_seconds: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<Digest>,
        #[serde(default)]
        hand_out: HandOutFacts,
    },
    TaskClosed {
        task: TaskId,
        status: TaskStatus,
        /// Absent: the output stays what it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Slot>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<Digest>,
        #[serde(default)]
        hand_out: HandOutFacts,
    },
    /// A timeout whose policy is ALERT_ONLY has passed; it will not pass again.
    TaskAlerted {
        task: TaskId,
        timeout: Timeout,
    },
    /// The workflow timeout has passed and its policy is ALERT_ONLY.
    ExecutionAlerted,
    Paused,
    Resumed,
    ExecutionClosed {
        status: WorkflowStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        output: Slot,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed_task: Option<TaskId>,
    },
}

/// What the delivery row knew when it was given up: who held the task and since when.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HandOutFacts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "is_none_polled")]
    pub polls: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
}

fn is_zero(at: &Timestamp) -> bool {
    !at.is_set()
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_none_polled(polls: &u32) -> bool {
    *polls == 0
}

/// The clocks a task runs against; see `timeout.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Timeout {
    Total,
    Run,
    Poll,
    Response,
}
