//! # The journal entry: one event that changed something, appended, never edited
//!
//! Entries chain by digest, so an edit anywhere shows. A payload is stored once, in the entry's
//! pool; event and changes point at it.

use semel_model::{Digest, Payload, Timestamp};
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::event::Event;
use crate::execution::Execution;
use crate::facts::Facts;

/// Recorded in every entry: only entries of this version are decided again by `verify`.
pub const ENGINE_VERSION: u32 = 8;

/// Position of an entry and the digest of its bytes. The default stands before the first entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link {
    pub seq: u64,
    pub digest: Digest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub at: Timestamp,
    pub engine_version: u32,
    pub actor: String,
    /// Names the request or message that brought the event; for audit.
    #[serde(default)]
    pub event_id: String,
    pub cause: Event,
    pub facts: Facts,
    pub changes: Vec<Change>,
    pub payloads: Vec<Payload>,
    pub prev: Digest,
}

#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("entry {seq} does not parse")]
    Unreadable { seq: u64, source: serde_json::Error },
    #[error("entry {seq} does not continue the chain")]
    Broken { seq: u64 },
}

impl Entry {
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an entry is plain data")
    }

    /// Reads the entry that follows `after` and checks that it continues the chain.
    pub fn decode(bytes: &[u8], after: Link) -> Result<(Self, Link), EntryError> {
        let seq = after.seq + 1;
        let entry: Self = serde_json::from_slice(bytes)
            .map_err(|source| EntryError::Unreadable { seq, source })?;
        if entry.prev != after.digest {
            return Err(EntryError::Broken { seq });
        }
        Ok((entry, Link { seq, digest: Digest::of(bytes) }))
    }

    /// Writes the entry that follows the execution's last one and moves its link there.
    pub fn append(self, execution: &mut Execution) -> Vec<u8> {
        let seq = execution.link().seq + 1;
        let bytes = Self { prev: execution.link().digest, ..self }.encode();
        execution.set_link(Link { seq, digest: Digest::of(&bytes) });
        bytes
    }
}
