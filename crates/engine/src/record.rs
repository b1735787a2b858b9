//! # Records: one table for every kind of "have I seen this?"
//!
//! Today they guard workflow start keys. A record names the latest run under its key and whether it
//! is live; every commit that starts or ends a keyed run updates it, so a start is judged on the
//! held record alone.

use semel_model::{ExecutionId, Timestamp};

use crate::facts::Claim;

/// Compared byte for byte: no trimming, no case folding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordKey {
    pub scope: String,
    pub key: String,
}

impl RecordKey {
    pub fn start(workflow: &str, key: &str) -> Self {
        Self { scope: format!("wf:{workflow}"), key: key.to_owned() }
    }
}

impl Record {
    /// What a start is judged on.
    pub fn claim(&self) -> Claim {
        Claim { run: self.run, live: self.live }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub run: ExecutionId,
    /// RUNNING or PAUSED.
    pub live: bool,
    pub version: i32,
    pub created_at: Timestamp,
    /// When the key becomes free again; set when its run is removed by retention.
    pub expires_at: Option<Timestamp>,
}
