//! # Questions: what `decide` cannot know, it asks
//!
//! `Asked` parks the task and the cascade goes on elsewhere; the runtime answers with an event. An
//! answer whose digest is not the open question's is a no-op. An open question is a deadline of the
//! execution, so a dead asker is replaced.

use std::collections::BTreeSet;

use semel_model::{Digest, Payload, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::Slot;
use crate::script::Language;

/// How long an open question waits before it is asked again.
pub(crate) const ASK_RETRY_MS: i64 = 5_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// Which of these domains had a worker polling for this task type lately?
    ActiveDomains { task_type: String, domains: Vec<String> },
    /// What does this program say of the input that is asked with it?
    Script { language: Language, source: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    ActiveDomains(BTreeSet<String>),
    Script(Said),
}

/// A verdict as an event brings it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Said {
    Value(Slot),
    Failed(String),
    Exhausted(String),
}

impl Question {
    pub(crate) fn digest(
        &self,
        task: TaskId,
        input: &Payload,
        asked_at: Timestamp,
        turn: u32,
    ) -> Digest {
        let text = serde_json::to_vec(self).expect("a question is plain data");
        let task = task.as_bytes().as_slice();
        match self {
            Self::ActiveDomains { .. } => Digest::of_parts([task, &text]),
            Self::Script { .. } => {
                let (at, turn) = (asked_at.ms().to_be_bytes(), turn.to_be_bytes());
                Digest::of_parts([task, text.as_slice(), input.text().as_bytes(), &at, &turn])
            }
        }
    }
}
