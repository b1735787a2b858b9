//! # Descendants: how many runs of one lineage may be open
//!
//! Depth has a limit, and so has breadth: a definition that starts itself twice doubles with every
//! step. What is counted are the open runs that SUB_WORKFLOW and START_WORKFLOW steps, and failure
//! workflows, have begun below one root. The count comes with the event; it is noted in the entry
//! where it refused a run.

use semel_model::ExecutionId;
use serde::{Deserialize, Serialize};

use crate::decide::Stop;
use crate::execution::Execution;
use crate::turn::Turn;

/// The descendants of one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descendants {
    /// Those that have begun and not ended.
    pub open: u64,
    /// As many may be.
    pub max: u64,
}

impl Execution {
    /// The run that its lineage began with: itself, if no run began it.
    pub fn root(&self) -> ExecutionId {
        self.run().root.unwrap_or(self.id())
    }

    /// The same, if it is another one.
    pub fn root_above(&self) -> Option<ExecutionId> {
        self.run().root
    }
}

impl Turn<'_> {
    /// Why a step may not begin one more run.
    pub(crate) fn no_room_for_descendant(&mut self, name: &str) -> Result<Option<String>, Stop> {
        let Some(counted) = self.descendants()? else { return Ok(None) };
        let Descendants { open, max } = counted;
        let open = open + self.runs_begun();
        if open < max {
            return Ok(None);
        }
        self.note_descendants(counted);
        let root = self.execution().root();
        Ok(Some(format!(
            "{open} descendants of run {root} are open, and open_descendants_max is {max}: no run of \
             {name} was begun"
        )))
    }
}
