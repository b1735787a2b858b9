//! # Redoing: effects that a person wants once more
//!
//! Retry, rerun and restart are retries like any other: what has happened is replayed. Only whoever
//! says so gets a second effect. The epoch of a task's effect grows then, so its name changes, and a
//! record under a key of one's own is claimed anew, once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::execution::Execution;
use crate::task::Task;
use crate::turn::Turn;

/// How often effects were asked for once more.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Epochs {
    /// All of the run.
    pub(crate) all: u32,
    /// Those of single tasks on top, by name.
    pub(crate) more: BTreeMap<String, u32>,
    /// The epoch in which the effect of a task was last claimed.
    pub(crate) claimed: BTreeMap<String, u32>,
}

impl Epochs {
    pub(crate) fn is_empty(&self) -> bool {
        self.all == 0 && self.more.is_empty()
    }

    pub(crate) fn claimed(&self, reference: &str) -> u32 {
        self.claimed.get(reference).copied().unwrap_or(0)
    }
}

impl Execution {
    /// How often the effect of a task of that name was asked for once more.
    pub(crate) fn effect_epoch(&self, reference: &str) -> u32 {
        let epochs = &self.run().effects;
        epochs.all + epochs.more.get(reference).copied().unwrap_or(0)
    }
}

impl Turn<'_> {
    /// What is done again is done once more, if that was asked for. None: everything.
    pub(crate) fn redo(&mut self, tasks: Option<BTreeSet<String>>) {
        if self.redoes {
            let tasks = tasks.map(|tasks| tasks.into_iter().collect());
            self.emit(Change::EffectsRedone { tasks });
        }
    }

    /// Its effect was asked for once more, and that has not been done yet.
    pub(crate) fn must_redo(&self, reference: &str) -> bool {
        let execution = self.execution();
        execution.effect_epoch(reference) > execution.run().effects.claimed(reference)
    }
}

/// What tasks are called, each name once.
pub(crate) fn names(tasks: &[Arc<Task>]) -> BTreeSet<String> {
    tasks.iter().map(|task| task.reference.to_string()).collect()
}
