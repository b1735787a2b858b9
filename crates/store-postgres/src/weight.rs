//! # Weight: what one commit may bring
//!
//! PostgreSQL takes no message of a gigabyte and drops the connection of whoever sends one. What is
//! refused here has a culprit, and is split until it stands alone.

use semel_store::{StoreError, Writes};

const BYTES_MAX: usize = 512 * 1024 * 1024;

pub(crate) fn check(writes: &Writes) -> Result<(), StoreError> {
    let bytes = bytes(writes);
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    let message = format!("one commit would write {bytes} bytes, the most is {BYTES_MAX}");
    Err(StoreError::Corrupt(message))
}

/// Of what can be large.
fn bytes(writes: &Writes) -> usize {
    let entries = writes.entries.iter().map(|(_, _, entry)| entry.len());
    let rows = writes.deliveries.values().flatten();
    let rows = rows.map(|row| row.input.len() + row.output.len());
    let messages = writes.messages.values().flatten().map(|message| message.body.len());
    let pinned = writes.pinned.values().map(Vec::len);
    let documents = writes.documents.values().flatten().map(Vec::len);
    let lines = writes.logs.iter().map(|line| line.line.len());
    entries.chain(rows).chain(messages).chain(pinned).chain(documents).chain(lines).sum()
}

#[cfg(test)]
mod tests {
    use semel_model::ExecutionId;

    use super::*;

    #[test]
    fn what_no_message_can_hold_is_refused_before_it_is_sent() {
        let entry = (ExecutionId::from_bytes([1; 16]), 1, vec![0; BYTES_MAX]);
        let mut writes = Writes { entries: vec![entry], ..Writes::default() };
        assert!(check(&writes).is_ok());
        writes.pinned.insert(semel_model::Digest::of(b"d"), vec![0]);
        assert!(matches!(check(&writes), Err(StoreError::Corrupt(_))));
    }
}
