//! # Facts: the snapshot a decision is made on
//!
//! Taken before deciding and never changed while deciding. What was used is copied into the entry,
//! so that the decision can be made again from the journal alone.

use std::collections::BTreeMap;

use semel_model::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::delivery::HandOut;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub now: Timestamp,
    /// The held delivery rows: who has which task, under which fence, until when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deliveries: BTreeMap<TaskId, HandOut>,
}
