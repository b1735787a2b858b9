//! # Messages: what one execution tells another
//!
//! The sender's commit writes the row, the receiver's commit deletes it, so a message is neither
//! lost nor heard twice. Rows whose address is a sink are publications: the same rows, carried
//! outside.

use semel_model::ExecutionId;

/// Names a message for ever: the entry that sent it, and its place among what that entry sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}
