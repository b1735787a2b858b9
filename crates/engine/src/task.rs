//! # Tasks: one attempt at a step, as the journal tells it

use std::sync::Arc;

use semel_model::{Digest, ExecutionId, Payload, TaskId, TaskStatus, Timestamp, WorkflowTask};

use serde::{Deserialize, Serialize};

use crate::kinds::Kind;
use crate::once::{EffectStatus, Once};
use crate::pin::Step;
use crate::question::Question;

/// One attempt at a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub reference: Arc<str>,
    /// Where it stands in the definition it was scheduled from.
    pub step: Step,
    pub seq: u32,
    pub attempt: u32,
    pub status: TaskStatus,
    pub input: Payload,
    pub output: Payload,
    pub reason: Option<String>,
    pub domain: Option<String>,
    pub replaces: Option<TaskId>,
    pub replaced: bool,
    pub scheduled_at: Timestamp,
    pub first_scheduled_at: Timestamp,
    pub ready_at: Timestamp,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub ended_at: Timestamp,
    pub callback_after_seconds: i64,
    pub worker: Option<String>,
    pub polls: u32,
    pub fence: Option<u64>,
    /// The name under which a holder signed a report that was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Box<Signature>>,
    /// Fingerprint of the last accepted report; its repeat is recognised by it.
    pub accepted: Option<Digest>,
    /// What is still asked about it, and when it will be asked again.
    pub question: Option<Asked>,
    pub alerted_poll: bool,
    pub alerted_run: bool,
    pub alerted_total: bool,
    /// Run by the engine itself.
    pub system: bool,
    /// When it ends by itself.
    pub wait_until: Option<Timestamp>,
    /// Skipped before the run came there: listed before all others.
    pub is_ahead: bool,
    /// Cancelled by a jump over it.
    pub is_passed_over: bool,
    /// Done once more under its old id: only a current hand-out speaks for it.
    pub is_reset: bool,
    pub child: Option<Child>,
    /// How many children it has had.
    pub children: u32,
    /// Which turn of each loop around it this is, from the outside in.
    pub turns: Vec<u32>,
    /// The loop it is directly inside of.
    pub within: Option<TaskId>,
    /// The dynamic fork whose branch it is part of.
    pub fork: Option<TaskId>,
    pub flow: Flow,
    /// How it stands to its effect, if that is done once.
    #[serde(default)]
    pub once: Option<Box<Once>>,
}

/// A worker that polls under one name and reports under another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    pub holder: String,
    pub name: String,
}

/// What a task of control flow keeps in mind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Flow {
    #[default]
    None,
    /// What a SWITCH has chosen.
    Case(String),
    /// How many branches of a fork have begun; where those of a dynamic one are defined.
    Fork {
        begun: u32,
        branches: Option<Digest>,
    },
    Join(Join),
    Loop(Loop),
}

/// What a join waits for, by reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Join {
    pub on: Arc<[Arc<str>]>,
    /// How many of them are not over.
    pub missing: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loop {
    /// The turn it is in; 0 before the first.
    pub turn: u32,
    /// What it goes over, if it goes over a list.
    pub items: Option<Arc<[Payload]>>,
}

/// The run a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Child {
    pub run: ExecutionId,
    pub epoch: u32,
    /// Found under a key, not begun by this task: it is never cancelled by it.
    pub is_observed: bool,
}

impl Task {
    /// A JOIN or a loop: it ends when other tasks of the run have, and does nothing itself.
    pub fn is_passive(&self) -> bool {
        self.kind().is_passive()
    }

    /// Offered to workers: open, and its queue is known.
    pub fn is_placed(&self) -> bool {
        let is_free = self.question.is_none() && !self.is_held_back();
        !self.status.is_terminal() && !self.system && is_free
    }

    /// Its effect is somebody else's, or nobody knows whether it has happened.
    pub(crate) fn is_held_back(&self) -> bool {
        self.once.as_ref().is_some_and(|once| once.holds_back())
    }

    /// Open, and nobody knows whether its effect has happened.
    pub fn is_in_doubt(&self) -> bool {
        let is_unknown = |once: &Once| once.status == EffectStatus::Unknown;
        !self.status.is_terminal() && self.once.as_deref().is_some_and(is_unknown)
    }

    /// It has happened after all, and it was this one's.
    pub(crate) fn end_doubt(&mut self) {
        if let Some(once) = self.once.as_mut().filter(|once| once.status == EffectStatus::Unknown) {
            once.status = EffectStatus::Claimed;
        }
    }

    /// The effect is its own to finish.
    pub(crate) fn has_claim(&self) -> bool {
        self.once.as_ref().is_some_and(|once| match once.status {
            EffectStatus::Claimed => true,
            EffectStatus::Unknown => once.owner.is_none(),
            EffectStatus::Waiting | EffectStatus::Replayed => false,
        })
    }

    /// The turn of the innermost loop it is in; 0 outside of loops. Of a loop, its own.
    pub fn iteration(&self) -> u32 {
        match &self.flow {
            Flow::Loop(own) => own.turn,
            Flow::None | Flow::Case(_) | Flow::Fork { .. } | Flow::Join(_) => {
                self.turns.last().copied().unwrap_or(0)
            }
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.step.kind()
    }

    pub(crate) fn as_loop(&self) -> Option<&Loop> {
        match &self.flow {
            Flow::Loop(own) => Some(own),
            Flow::None | Flow::Case(_) | Flow::Fork { .. } | Flow::Join(_) => None,
        }
    }

    pub(crate) fn as_join(&self) -> Option<&Join> {
        match &self.flow {
            Flow::Join(join) => Some(join),
            Flow::None | Flow::Case(_) | Flow::Fork { .. } | Flow::Loop(_) => None,
        }
    }

    /// What a choice of this case leads to. For a DECISION an empty case counts as none.
    pub(crate) fn steps_of_case(&self, case: &str) -> &[WorkflowTask] {
        let step = self.step.task();
        match step.case(case) {
            Some(steps) if self.kind() == Kind::Switch || !steps.is_empty() => steps,
            Some(_) | None => step.default_case(),
        }
    }

    /// The name of a step inside the same turns of the same loops.
    pub(crate) fn neighbour(&self, reference: &str, loops: usize) -> String {
        in_turns(reference, &self.turns[..loops.min(self.turns.len())])
    }

    /// A WAIT or a YIELD that only somebody's word will end.
    pub fn is_blocking(&self) -> bool {
        let waits = !self.status.is_terminal() && self.kind().is_wait();
        waits && self.wait_until.is_none() && !self.is_ahead
    }
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub question: Question,
    /// What it is about, when it is a script.
    pub input: Payload,
    pub asked_at: Timestamp,
    /// The turn a loop was in: it may ask the same in the next.
    pub turn: u32,
    /// When it will be asked again.
    pub retry_at: Timestamp,
}

impl Asked {
    pub fn digest(&self, task: TaskId) -> Digest {
        self.question.digest(task, &self.input, self.asked_at, self.turn)
    }
}

/// What a task at this step is called in these turns of the loops around it.
pub(crate) fn in_turns(reference: &str, turns: &[u32]) -> String {
    turns.iter().fold(reference.to_owned(), |name, turn| format!("{name}__{turn}"))
}
