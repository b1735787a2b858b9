//! # In line: tasks that waited for an effect hear of it
//!
//! What they waited for is decided, or it is their turn. A turn is never lost: an attempt that is
//! over gives it to the one in its place, or back.

use semel_model::TaskId;

use crate::decide::Stop;
use crate::record::{Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
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
                Ok(named) => self.judge_effect(&task, &policy, &named, true)?,
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
