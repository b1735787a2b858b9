//! # Facts: the snapshot a decision is made on
//!
//! Taken before deciding and never changed while deciding. What was used is copied into the entry,
//! so that the decision can be made again from the journal alone.

use std::collections::BTreeMap;

use semel_model::{Digest, ExecutionId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::delivery::HandOut;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub now: Timestamp,
    /// The held delivery rows: who has which task, under which fence, until when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deliveries: BTreeMap<TaskId, HandOut>,
    /// Registered workflows by name and version; version 0 is the latest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, BTreeMap<i32, Option<Registered>>>,
    /// The held records of start keys, by scope and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, BTreeMap<String, Option<Claim>>>,
    /// The epoch the parent's task will have when this run lives again; none without a parent that
    /// would notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
}

/// A registered workflow, pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub definition: Digest,
    pub version: i32,
}

/// What the record of a start key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub run: ExecutionId,
    pub live: bool,
}
