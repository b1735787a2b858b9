//! # Held up: tasks that a worker of our own has to let wait
//!
//! The worker tells, explanations and numbers are made of it. It is in memory only, and of this process:
//! what another node has taken, it explains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use semel_model::Digest;
use semel_store::Place;

/// Whose share of the places is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Share {
    Workflow,
    Host,
}

impl Share {
    pub(crate) const ALL: [Self; 2] = [Self::Workflow, Self::Host];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Workflow => "workflow",
            Self::Host => "host",
        }
    }

    /// After the name of a task.
    fn sentence(self) -> &'static str {
        match self {
            Self::Workflow => "its workflow has as many HTTP requests open as its share allows",
            Self::Host => {
                "the host it speaks to has as many HTTP requests open as its share allows"
            }
        }
    }
}

#[derive(Default)]
pub struct HeldUp(Mutex<Told>);

#[derive(Default)]
struct Told {
    tasks: BTreeMap<Place, Share>,
    definitions: BTreeSet<Digest>,
}

impl HeldUp {
    /// All that waits, and the definitions of which nothing more is taken.
    pub fn tell(&self, tasks: BTreeMap<Place, Share>, definitions: BTreeSet<Digest>) {
        *self.told() = Told { tasks, definitions };
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self, share: Share) -> usize {
        self.told().tasks.values().filter(|of| **of == share).count()
    }

    /// Why a task waits; none: this worker does not let it wait.
    pub(crate) fn why(&self, place: Place, definition: Digest, is_taken: bool) -> Option<String> {
        let told = self.told();
        let share = match told.tasks.get(&place) {
            Some(share) => *share,
            None if !is_taken && told.definitions.contains(&definition) => Share::Workflow,
            None => return None,
        };
        Some(share.sentence().to_owned())
    }
}
