//! # Queued again: a run that lives again waits for its place
//!
//! Retried, or rerun from a task, a run needs its place at the gate once more. Under a queue it waits
//! for it like a start: it is RUNNING, nothing of it is open, and what it was revived for is done when
//! its turn comes.

use semel_model::{Payload, TaskId};
use serde::{Deserialize, Serialize};

use crate::decide::Stop;
use crate::event::Slot;
use crate::turn::Turn;

/// What a run will do when its turn comes: what failed gets a new attempt, or all is done again from
/// that task on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Then {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<TaskId>,
    /// What that task is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Slot>,
    /// Effects are done once more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redo: bool,
}

/// The same, as a run keeps it in mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Postponed {
    pub(crate) from: Option<TaskId>,
    pub(crate) input: Option<Payload>,
    pub(crate) redo: bool,
}

impl Turn<'_> {
    /// It is the turn of this run.
    pub(crate) fn take_up(&mut self, postponed: Option<Postponed>) -> Result<(), Stop> {
        let Some(Postponed { from, input, redo }) = postponed else { return self.begin_steps() };
        self.redoes = redo;
        let input = input.map(|input| self.store(input));
        match from.and_then(|from| self.task(from)) {
            Some(target) => self.rerun_from(&target, input),
            None => self.retry_failed(),
        }
    }
}
