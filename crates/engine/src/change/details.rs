//! # Details: what changes are made of

use semel_model::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};

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
