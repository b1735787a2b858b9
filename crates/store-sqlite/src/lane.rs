//! # The lane: the one writer
//!
//! Owns the write connection and the mirror while it works. The mirror follows a round only after
//! its COMMIT. A lane that was replaced, or whose last commit is unknown, writes nothing more.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use rusqlite::Connection;
use semel_model::Timestamp;
use semel_store::{Due, Held, Mirror, Stamp, StoreError, Touches, Writer, Writes};

use crate::hold::{self, Seen};
use crate::read::Shared;
use crate::write;

pub(crate) struct Core {
    connection: Connection,
    mirror: Mirror,
    /// Counts writers; the latest is the lane.
    writers: u64,
    /// After a failed fsync nothing can be known until the file is opened again.
    is_unknown: bool,
}

impl Core {
    pub(crate) fn new(connection: Connection, mirror: Mirror) -> Self {
        Self { connection, mirror, writers: 0, is_unknown: false }
    }
}

pub(crate) struct SqliteWriter {
    shared: Arc<Shared>,
    number: u64,
    seen: Seen,
}

impl SqliteWriter {
    pub(crate) fn new(shared: Arc<Shared>, lane: u16) -> Result<Self, StoreError> {
        if lane != 0 {
            let message = format!("SQLite has one writer, lane 0; there is no lane {lane}");
            return Err(StoreError::Unavailable(message.into()));
        }
        let mut core = lock(&shared);
        core.writers += 1;
        let number = core.writers;
        drop(core);
        Ok(Self { shared, number, seen: Seen::default() })
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Core> {
    shared.core.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The core, if it is still this writer's to use.
fn enter(shared: &Shared, number: u64) -> Result<MutexGuard<'_, Core>, StoreError> {
    let core = lock(shared);
    if core.writers != number {
        return Err(StoreError::Contended);
    }
    if core.is_unknown {
        return Err(StoreError::Unknown);
    }
    Ok(core)
}

impl Writer for SqliteWriter {
    fn hold(&mut self, touches: &Touches) -> Result<Held, StoreError> {
        let now = self.shared.clock.now();
        let mut core = enter(&self.shared, self.number)?;
        let Core { connection, mirror, .. } = &mut *core;
        hold::hold(connection, mirror, &mut self.seen, touches, now)
    }

    fn commit(&mut self, writes: Writes) -> Result<(), StoreError> {
        let mut core = enter(&self.shared, self.number)?;
        let done = write::round(&core.connection, &core.mirror, &writes, &self.seen);
        self.seen.clear();
        match &done {
            Ok(()) => core.mirror.follow(&writes),
            Err(StoreError::Unknown) => core.is_unknown = true,
            Err(_) => {}
        }
        if done.is_ok() && !writes.documents.is_empty() {
            self.shared.documents_generation.fetch_add(1, Ordering::Release);
        }
        done
    }

    fn release(&mut self) {
        self.seen.clear();
    }

    fn happened(&mut self, stamp: Stamp) -> Result<bool, StoreError> {
        let core = enter(&self.shared, self.number)?;
        Ok(hold::last_round(&core.connection, stamp.lane)? == Some(stamp.round))
    }

    fn due(&mut self, now: Timestamp, max: usize) -> Result<Due, StoreError> {
        Ok(enter(&self.shared, self.number)?.mirror.due(now, max))
    }

    fn next_due(&self) -> Option<Timestamp> {
        lock(&self.shared).mirror.next_due()
    }
}
