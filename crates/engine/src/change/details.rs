//! # Details: what changes are made of

use semel_model::{ExecutionId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::Progress;

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
    /// The worker that was handed the task, where `worker` signed another name and sent no fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<String>,
    /// Nobody held it, and the child that it waited for had something from outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub child_heard: bool,
}

/// Tasks that are as if they had never been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Removed {
    All,
    /// Those scheduled after this one.
    After(TaskId),
    /// All attempts at these, by the names of tasks.
    Steps(Vec<String>),
    /// What the loop did up to and including this turn.
    Turns {
        of: TaskId,
        through: u32,
    },
}

fn is_zero(at: &Timestamp) -> bool {
    !at.is_set()
}

pub(super) fn is_none_polled(polls: &u32) -> bool {
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

pub(super) fn is_false(flag: &bool) -> bool {
    !flag
}

/// What becomes of an answer whose task is not there yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AnswerChange {
    /// The run keeps it.
    Kept {
        /// That of this entry.
        number: u64,
        /// None: for whichever WAIT or YIELD comes first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reference: Option<String>,
        progress: Progress,
        until: Timestamp,
    },
    /// The task has appeared, and takes it.
    Taken { number: u64, task: TaskId },
    /// The time of these is over.
    Dropped { numbers: Vec<u64> },
    /// A signal that a run below has not needed: nothing takes it here either, so that it is kept to
    /// be seen.
    Unneeded { number: u64, progress: Progress, until: Timestamp },
    /// The run is completed and has not needed these: the run above may.
    Returned { numbers: Vec<u64>, to: ExecutionId },
}
