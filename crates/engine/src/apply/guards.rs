//! # Apply, of guards: the locks a run has, and where it stands at its gate

use crate::change::Change;
use crate::execution::{Deadline, Execution};
use crate::gate::Place;
use crate::lock::LOCK_SCOPE;
use crate::record::{RecordKey, RecordState};

impl Execution {
    /// Others' changes of records are nothing to the run itself.
    pub(super) fn note_guard(&mut self, change: &Change) {
        if let Change::Guarded { scope, key, record, .. } = change {
            let id = self.id;
            let is_own = record.as_ref().is_some_and(|record| {
                record.state == RecordState::Claimed && record.run == Some(id)
            });
            if scope == LOCK_SCOPE && is_own {
                self.run_mut().guards.locks.insert(key.clone());
            } else if scope == LOCK_SCOPE {
                self.run_mut().guards.locks.remove(key);
            }
        } else if let Change::Queued { scope, key, blocked_by, until } = change {
            let gate = RecordKey { scope: scope.clone(), key: key.clone() };
            let (blocked_by, until) = (*blocked_by, *until);
            self.stand(Place { gate, passed: false, shared: false, blocked_by, until });
        } else if let Change::Admitted { scope, key, shared } = change {
            let gate = RecordKey { scope: scope.clone(), key: key.clone() };
            let (shared, blocked_by, until) = (*shared, None, None);
            self.stand(Place { gate, passed: true, shared, blocked_by, until });
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
