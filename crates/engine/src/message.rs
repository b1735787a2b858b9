//! # Messages: what one execution tells another
//!
//! The sender's commit writes the row, the receiver's commit deletes it, so a message is neither
//! lost nor heard twice. Rows whose address is a sink are publications: the same rows, carried
//! outside.
//!
//! Parent and child agree on an **epoch**: the parent's task counts it up whenever the same child
//! shall live again. A message of another epoch is about an earlier life and changes nothing,
//! however late it comes.

use semel_model::{ExecutionId, Payload, TaskId, Timestamp, WorkflowStatus};
use serde::{Deserialize, Serialize};

use crate::event::{Progress, Slot};
use crate::handling::Handled;
use crate::record::{Record, RecordKey};

/// Of a child that lives on although its parent gave it up; no parent ever counts so far.
pub(crate) const EPOCH_ALONE: u32 = u32::MAX;

/// Names a message for ever: the entry that sent it, and its place among what that entry sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageKey {
    pub from: ExecutionId,
    pub seq: u64,
    pub at: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Address {
    Execution(ExecutionId),
    /// An event queue, such as `conductor:order:paid`.
    Sink(String),
}

/// A message as it lies in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageRow {
    pub key: MessageKey,
    pub to: Address,
    pub body: Vec<u8>,
    /// It is carried only when the record lets it go.
    pub waits: Option<Wait>,
}

/// A message that is held back by a record: whoever it is for waits for the record's owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    pub on: RecordKey,
    /// Its place in the line: the oldest has the smallest number.
    pub since: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Message {
    /// To a parent, or to whoever watches: that run has ended.
    ChildEnded { task: TaskId, epoch: u32, child: ExecutionId, end: ChildEnd },
    /// To a child: the task that began it has ended, or its run has.
    ParentLeft { epoch: u32, reason: String },
    /// To a child: its parent lives again and waits for it once more.
    ParentReturned { task: TaskId, epoch: u32 },
    /// To a run found under a key: tell me when you end.
    Watch { from: ExecutionId, task: TaskId, epoch: u32 },
    /// To whoever waited in line: the record is decided, or theirs.
    YourTurn { task: Option<TaskId>, scope: String, key: String, claim: Box<Record> },
    /// From an event handler: what its action does here.
    Handled(Box<Handled>),
    /// To a parent: a signal that the child has not needed.
    Signal { progress: Progress, until: Timestamp },
    /// To whoever sent such a signal: nobody above took it.
    SignalRefused { progress: Progress, until: Timestamp },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChildEnd {
    Ended {
        status: WorkflowStatus,
        name: String,
        version: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        output: Slot,
        /// Something has come from outside while it was under way.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        heard: bool,
    },
    /// It cannot tell any more.
    Gone { reason: String },
}

impl Message {
    /// What the sender must hear when `to` cannot answer for itself; nobody may wait for ever.
    pub fn refused(&self, to: ExecutionId, reason: &str) -> Option<Self> {
        match self {
            Self::ParentReturned { task, epoch } | Self::Watch { task, epoch, .. } => {
                let end = ChildEnd::Gone { reason: reason.to_owned() };
                Some(Self::ChildEnded { task: *task, epoch: *epoch, child: to, end })
            }
            Self::Signal { progress, until } => {
                Some(Self::SignalRefused { progress: progress.clone(), until: *until })
            }
            Self::ChildEnded { .. }
            | Self::ParentLeft { .. }
            | Self::YourTurn { .. }
            | Self::Handled(_)
            | Self::SignalRefused { .. } => None,
        }
    }
}

/// A message with the payloads its slots point at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Letter {
    pub message: Message,
    pub payloads: Vec<Payload>,
}

impl Letter {
    /// Takes along only the payload the message speaks of.
    pub fn of(message: &Message, payloads: &[Payload]) -> Self {
        let mut message = message.clone();
        let payloads = match &mut message {
            Message::ChildEnded { end: ChildEnd::Ended { output, .. }, .. } => {
                let found = payloads[output.0 as usize].clone();
                *output = Slot(0);
                vec![found]
            }
            Message::Handled(handled) => {
                let found = payloads[handled.payload.0 as usize].clone();
                handled.payload = Slot(0);
                vec![found]
            }
            Message::Signal { progress, .. } | Message::SignalRefused { progress, .. } => {
                let found = payloads[progress.output.0 as usize].clone();
                progress.output = Slot(0);
                vec![found]
            }
            Message::ChildEnded { end: ChildEnd::Gone { .. }, .. }
            | Message::ParentLeft { .. }
            | Message::ParentReturned { .. }
            | Message::YourTurn { .. }
            | Message::Watch { .. } => Vec::new(),
        };
        Self { message, payloads }
    }

    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a letter is plain data")
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(bytes)
    }
}
