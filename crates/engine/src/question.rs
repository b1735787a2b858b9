//! # Questions: what `decide` cannot know, it asks
//!
//! `Asked` parks the task and the cascade goes on elsewhere; the runtime answers with an event. An
//! answer whose digest is not the open question's is a no-op. An open question is a deadline of the
//! execution, so a dead asker is replaced.

use std::collections::BTreeSet;

use semel_model::{Digest, TaskId};
use serde::{Deserialize, Serialize};

/// How long an open question waits before it is asked again.
pub(crate) const ASK_RETRY_MS: i64 = 5_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Question {
    /// Which of these domains had a worker polling for this task type lately?
    ActiveDomains { task_type: String, domains: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    ActiveDomains(BTreeSet<String>),
}

impl Question {
    pub fn digest(&self, task: TaskId) -> Digest {
        let text = serde_json::to_vec(self).expect("a question is plain data");
        Digest::of_parts([task.as_bytes().as_slice(), &text])
    }
}
