//! # Places: waiting for one, and giving it back
//!
//! The [`Shares`] behind a lock, and those who wait for them. What waits is told to the runtime, so that
//! whoever asks why a run waits is told too.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use semel_model::Digest;
use semel_runtime::{HandedOut, Runtime};
use semel_store::Place;
use tokio::sync::{Notify, oneshot};

use super::shares::{Number, Shares};

pub(super) struct Places {
    runtime: Arc<Runtime>,
    state: Mutex<State>,
    /// Somebody left, or waits.
    changed: Notify,
}

struct State {
    shares: Shares,
    tasks: BTreeMap<Number, Task>,
}

struct Task {
    place: Place,
    go: Option<oneshot::Sender<()>>,
}

/// One task that was taken: what it holds is given back when this is dropped.
pub(super) struct Seat {
    places: Arc<Places>,
    number: Number,
}

impl Places {
    pub(super) fn new(runtime: Arc<Runtime>, count: usize, share_max: usize) -> Self {
        let shares = Shares::new(count, share_max);
        let state = Mutex::new(State { shares, tasks: BTreeMap::new() });
        Self { runtime, state, changed: Notify::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn take(self: &Arc<Self>, task: &HandedOut) -> Seat {
        let row = &task.delivery;
        let workflow = &task.definition.definition().name;
        let mut state = self.state();
        let number = state.shares.take(workflow, row.definition, row.input.len());
        let place = Place { execution: row.execution, task: row.task };
        state.tasks.insert(number, Task { place, go: None });
        Seat { places: Arc::clone(self), number }
    }

    /// How many may be taken, at least one, and of which definitions none.
    pub(super) async fn room(&self) -> (usize, BTreeSet<Digest>) {
        let mut has_told = false;
        loop {
            let changed = self.changed.notified();
            {
                let shares = &self.state().shares;
                if shares.room() > 0 {
                    return (shares.room(), shares.passed_over());
                }
                if shares.is_crowded() && !std::mem::replace(&mut has_told, true) {
                    tracing::warn!(
                        "more HTTP tasks wait for their share than may: none is taken until one \
                         has gone"
                    );
                }
            }
            changed.await;
        }
    }

    /// Returns when something that was passed over no longer is.
    pub(super) async fn reconsidered(&self, passed_over: &BTreeSet<Digest>) {
        loop {
            let changed = self.changed.notified();
            let now = self.state().shares.passed_over();
            if !passed_over.is_subset(&now) {
                return;
            }
            changed.await;
        }
    }

    /// After every change.
    fn go_on(&self, state: &mut State) {
        for number in state.shares.admit() {
            if let Some(go) = state.tasks.get_mut(&number).and_then(|task| task.go.take()) {
                let _ = go.send(()); // Whoever is gone gives it back by itself.
            }
        }
        let waiting = state
            .shares
            .waiting()
            .into_iter()
            .filter_map(|(number, share)| Some((state.tasks.get(&number)?.place, share)));
        self.runtime.held_up().tell(waiting.collect(), state.shares.passed_over());
        self.changed.notify_one();
    }
}

impl Seat {
    /// Returns when the request may be sent; false: too many wait already.
    pub(super) async fn granted(&self, host: &str) -> bool {
        let granted = {
            let mut state = self.places.state();
            let (go, granted) = oneshot::channel();
            if let Some(task) = state.tasks.get_mut(&self.number) {
                task.go = Some(go);
            }
            if !state.shares.ask(self.number, host) {
                return false;
            }
            self.places.go_on(&mut state);
            granted
        };
        granted.await.is_ok()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = self.places.state();
        state.tasks.remove(&self.number);
        state.shares.end(self.number);
        self.places.go_on(&mut state);
    }
}
