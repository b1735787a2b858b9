//! # Reading: one execution as it is committed
//!
//! Head, journal tail and delivery rows come from one moment; cached state only saves folding.

use std::sync::Arc;

use semel_engine::{Delivery, Entry, Execution, Head, Link, Record, RecordKey};
use semel_model::{ExecutionId, Timestamp};

use crate::failure::Failure;
use crate::world::World;

#[derive(Clone, Debug)]
pub struct Snapshot {
    pub head: Head,
    pub execution: Arc<Execution>,
    /// Who holds what: overlays the open tasks of the execution.
    pub deliveries: Vec<Delivery>,
    /// When it was read.
    pub now: Timestamp,
}

impl World {
    pub fn read(&self, id: ExecutionId) -> Result<Option<Snapshot>, Failure> {
        self.snapshot_of(id, true)
    }

    /// The same without its deliveries.
    pub fn glance(&self, id: ExecutionId) -> Result<Option<Snapshot>, Failure> {
        self.snapshot_of(id, false)
    }

    /// What is known under a key, as it is committed.
    pub fn known_under(&self, key: &RecordKey) -> Result<Option<Record>, Failure> {
        Ok(self.store.record(key)?)
    }

    /// Whether the run is still kept.
    pub fn has_run(&self, id: ExecutionId) -> Result<bool, Failure> {
        Ok(self.store.head(id)?.is_some())
    }

    fn snapshot_of(&self, id: ExecutionId, whole: bool) -> Result<Option<Snapshot>, Failure> {
        let Some((execution, loaded)) = self.fold_from(self.beginning(id), id, whole)? else {
            return Ok(None);
        };
        let now = self.store.now();
        Ok(Some(Snapshot { head: loaded.head, execution, deliveries: loaded.deliveries, now }))
    }

    /// The journal after `after_seq`, with the digest of each entry; about so many bytes of it.
    pub fn log(
        &self,
        id: ExecutionId,
        after_seq: u64,
        bytes_max: u64,
    ) -> Result<Option<Vec<(Link, Entry)>>, Failure> {
        let Some(loaded) = self.store.load(id, 0)? else { return Ok(None) };
        let mut link = Link::default();
        let mut entries = Vec::new();
        let mut held = 0;
        for bytes in &loaded.entries {
            let (entry, next) = Entry::decode(bytes, link)?;
            link = next;
            if link.seq > after_seq {
                held += bytes.len() as u64;
                entries.push((link, entry));
            }
            if held > bytes_max {
                break;
            }
        }
        Ok(Some(entries))
    }
}
