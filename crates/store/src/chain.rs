//! # The chain: one journal, read entry by entry
//!
//! Each entry carries the digest of the one before, and the head that of the last: an entry that is
//! missing, added or edited shows.

use semel_engine::{Entry, Link};
use semel_model::ExecutionId;

/// A journal, as far as it was read.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    pub execution: ExecutionId,
    head: Link,
    last: Link,
}

impl Chain {
    /// Nothing is read yet; it should end where the head says.
    pub fn new(execution: ExecutionId, head: Link) -> Self {
        Self { execution, head, last: Link::default() }
    }

    /// The error is what is wrong with it.
    pub fn follow(&mut self, seq: u64, bytes: &[u8]) -> Result<(), String> {
        let wrong = |what: String| format!("execution {}: {what}", self.execution);
        if seq != self.last.seq + 1 {
            return Err(wrong(format!("entry {} is missing", self.last.seq + 1)));
        }
        let (_, link) =
            Entry::decode(bytes, self.last).map_err(|error| wrong(error.to_string()))?;
        self.last = link;
        Ok(())
    }

    /// There is no more to read.
    pub fn end(self) -> Result<(), String> {
        let Self { execution, head, last } = self;
        if last == head {
            return Ok(());
        }
        Err(format!(
            "execution {execution}: its row names entry {} and its journal ends with entry {}, \
             or their digests differ",
            head.seq, last.seq
        ))
    }
}
