//! # In line: tasks that waited for an effect hear of it
//!
//! What they waited for is decided, or it is their turn. A turn is never lost: an attempt that is
//! over gives it to the one in its place, or back.

use semel_model::TaskId;

use crate::change::Change;
use crate::decide::Stop;
use crate::record::{Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    /// Somebody outside has the effect for the time of a lease. A task that waits looks when that is
    /// over: nobody else may ever come.
    pub(crate) fn look_when_it_lapses(&mut self, task: TaskId, record: &Record) {
        let lapses = record.detail.lease_until.filter(|until| *until > self.now());
        if let Some(until) = lapses.filter(|_| record.state == RecordState::Claimed) {
            self.emit(Change::TaskWaits { task, until });
        }
    }

    /// It is time to look whether the owner is still there. If not, nobody knows what became of the
    /// effect, and everybody who waits does as its own policy says.
    pub(crate) fn look_at_owner(&mut self, task: &Task) -> Result<(), Stop> {
        let Some(once) = task.once.clone() else { return Ok(()) };
        let key = once.record();
        let record = self.guard(&key)?;
        let lapsed = record.clone().filter(|record| self.is_lost(record));
        if let Some(lapsed) = lapsed {
            self.lose(task, &key, &lapsed)?;
        }
        self.note_once(task.id, once);
        if let Some(record) = record {
            self.look_when_it_lapses(task.id, &record);
        }
        Ok(())
    }

    /// Its owner has not been heard of in time.
    pub(crate) fn is_lost(&self, record: &Record) -> bool {
        record.is_lost(self.now())
    }

    /// The record of a lost owner is in doubt, and whoever waits hears of it.
    pub(crate) fn lose(
        &mut self,
        task: &Task,
        key: &RecordKey,
        lapsed: &Record,
    ) -> Result<Record, Stop> {
        let record = self.noting(lapsed.lapsed(), task, "UNKNOWN");
        self.put_guard(key, Some(record.clone()));
        self.let_go(key, true)?;
        Ok(record.fact())
    }

    /// It is the turn of a task that waited, or what it waited for is decided.
    pub(crate) fn take_effect_turn(
        &mut self,
        id: Option<TaskId>,
        key: &RecordKey,
        claim: &Record,
    ) -> Result<(), Stop> {
        let Some(record) = self.guard(key)? else { return Ok(()) };
        let is_ours = record.state == RecordState::Claimed
            && record.run == Some(self.execution().id())
            && record.detail.owner == claim.detail.owner;
        let waits = |task: &Task| {
            let once = task.once.as_ref().filter(|once| once.record() == *key);
            !task.status.is_terminal() && once.is_some_and(|once| once.holds_back())
        };
        let mut found = id.and_then(|id| self.task(id)).filter(|task| waits(task));
        if found.is_none() && is_ours {
            // The attempt that waited is over; another one may stand in its place.
            let execution = self.execution();
            let is_owner = |reference: &str| {
                claim.detail.owner.as_deref() == Some(execution.effect_key(reference).as_str())
            };
            let open = execution.open_tasks().find(|task| is_owner(&task.reference)).cloned();
            match open {
                Some(task) if waits(&task) => found = Some(task),
                Some(_) => return Ok(()),
                None => return self.release_guard(key, record),
            }
        }
        if let Some(task) = found {
            let step = task.step.clone();
            let policy = step.effect().unwrap_or_default();
            match self.named_effect(&task, &policy) {
                Ok(named) => {
                    self.judge_effect(&task, &policy, &named, true)?;
                    self.expect_same_request(task.id);
                }
                Err(why) => self.fail_at_once(task.id, why),
            }
        }
        match self.guard(key)? {
            // One commit lets go so many; whoever is told tells the rest.
            Some(record)
                if matches!(record.state, RecordState::Completed | RecordState::Failed) =>
            {
                self.let_go(key, true)
            }
            Some(_) | None => Ok(()),
        }
    }
}
