//! # Apply, of guards: the locks a run has, and where it stands at its gate

use super::Page;
use crate::change::Change;
use crate::execution::{Deadline, Execution};
use crate::gate::Place;
use crate::lock::LOCK_SCOPE;
use crate::queued_again::{Postponed, Then};
use crate::record::{RecordKey, RecordState};

impl Execution {
    /// Others' changes of records are nothing to the run itself.
    pub(super) fn note_guard(&mut self, change: &Change, page: &Page<'_>) {
        if let Change::Guarded { scope, key, record, .. } = change {
            let id = self.id;
            let is_own = record.as_ref().is_some_and(|record| {
                record.state == RecordState::Claimed && record.run == Some(id)
            });
            if scope == LOCK_SCOPE {
                let awaits = record.as_ref().filter(|_| is_own).map(|it| it.detail.awaits.clone());
                self.note_lock(key, is_own, awaits.unwrap_or_default());
            }
        } else if let Change::Queued { scope, key, blocked_by, until, then } = change {
            let gate = RecordKey { scope: scope.clone(), key: key.clone() };
            let (blocked_by, until) = (*blocked_by, *until);
            let then = then.map(|Then { from, input, redo }| {
                let input = input.map(|slot| page.payload(slot));
                Postponed { from, input, redo }
            });
            self.run_mut().queued_since = Some(page.at);
            self.stand(Place { gate, passed: false, shared: false, blocked_by, until, then });
        } else if let Change::Admitted { scope, key, shared, later } = change {
            let gate = RecordKey { scope: scope.clone(), key: key.clone() };
            let (shared, blocked_by, until) = (*shared, None, None);
            let before = self.run.guards.place.as_ref().filter(|_| *later);
            let then = before.and_then(|place| place.then.clone());
            self.stand(Place { gate, passed: true, shared, blocked_by, until, then });
        }
    }

    fn note_lock(&mut self, name: &str, is_own: bool, awaits: Vec<String>) {
        let guards = &mut self.run_mut().guards;
        match is_own {
            true => _ = guards.locks.insert(name.to_owned()),
            false => _ = guards.locks.remove(name),
        }
        match awaits.is_empty() {
            true => _ = guards.waits.remove(name),
            false => _ = guards.waits.insert(name.to_owned(), awaits),
        }
    }

    fn stand(&mut self, place: Place) {
        if let Some(until) = self.run.guards.place.as_ref().and_then(|before| before.until) {
            self.deadlines.remove(&(until, Deadline::Gate));
        }
        self.run_mut().guards.place = Some(place);
        self.arm_gate();
    }

    pub(crate) fn arm_gate(&mut self) {
        let until = self.run.guards.place.as_ref().and_then(|place| place.until);
        self.deadlines.extend(until.map(|until| (until, Deadline::Gate)));
    }
}
