//! # Outcomes: what became of an effect when its task has ended
//!
//! Contract: docs/reference/idempotency.md#outcome.
//! A hand-out is itself a commit, so of a task that nobody took it is proved that
//! nothing happened. A worker may say more in its output, `{"_effect": {"applied": false}}`. What
//! has ended for good is settled in the same commit: stored and replayed from then on, given to the
//! next in line, or left in doubt.

use std::sync::Arc;

use semel_model::{EffectPolicy, Payload, TaskId, TaskStatus};
use serde_json::Value;

use crate::decide::Stop;
use crate::kinds::Kind;
use crate::once::kept_until;
use crate::record::{Record, RecordKey, RecordState};
use crate::task::Task;
use crate::turn::{Closing, Turn};

/// Where in its output a worker says whether the effect has happened.
const MARKER: &str = "_effect";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Applied,
    NotApplied,
    /// It failed, and nobody said more.
    Perhaps,
    Unknown,
}

/// All that a worker says of the effect.
pub(crate) fn marker(output: &Payload) -> Option<Value> {
    if !output.text().contains(MARKER) {
        return None;
    }
    output.value().get(MARKER).cloned()
}

/// What a worker says of the effect; none: nothing. A word that is neither yes nor no leaves doubt.
pub(crate) fn said(output: &Payload) -> Option<Outcome> {
    match marker(output)?.get("applied")? {
        Value::Bool(true) => Some(Outcome::Applied),
        Value::Bool(false) => Some(Outcome::NotApplied),
        Value::Null => None,
        Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Some(Outcome::Unknown)
        }
    }
}

impl Turn<'_> {
    /// Of a task that ends now, if it has an effect and is not tried again by itself.
    pub(crate) fn outcome_of(&self, id: TaskId, closing: &Closing) -> Option<Outcome> {
        let task = self.execution().task(id)?;
        if !task.has_claim() || task.status.is_terminal() {
            return None;
        }
        let known = self.known.get(&id).copied();
        match closing.status {
            TaskStatus::Completed => Some(Outcome::Applied),
            TaskStatus::FailedWithTerminalError | TaskStatus::Canceled => {
                let output = closing.output.map_or(&task.output, |slot| self.payload(slot));
                let polls = closing.hand_out.polls;
                known.or_else(|| Some(self.outcome(task, closing.status, output, polls)))
            }
            TaskStatus::Failed
            | TaskStatus::TimedOut
            | TaskStatus::CompletedWithErrors
            | TaskStatus::Skipped
            | TaskStatus::Scheduled
            | TaskStatus::InProgress => None,
        }
    }

    fn outcome(&self, task: &Task, status: TaskStatus, output: &Payload, polls: u32) -> Outcome {
        if let Some(said) = said(output) {
            return said;
        }
        if task.system && task.has_acted() {
            return match status {
                TaskStatus::Failed => Outcome::Perhaps,
                TaskStatus::FailedWithTerminalError
                | TaskStatus::TimedOut
                | TaskStatus::Canceled
                | TaskStatus::Completed
                | TaskStatus::CompletedWithErrors
                | TaskStatus::Skipped
                | TaskStatus::Scheduled
                | TaskStatus::InProgress => Outcome::Unknown,
            };
        }
        if polls == 0 {
            return match self.may_have_applied_before(task) {
                true => Outcome::Unknown,
                false => Outcome::NotApplied,
            };
        }
        match status {
            TaskStatus::FailedWithTerminalError => Outcome::NotApplied,
            TaskStatus::TimedOut | TaskStatus::Canceled => Outcome::Unknown,
            TaskStatus::Failed
            | TaskStatus::Completed
            | TaskStatus::CompletedWithErrors
            | TaskStatus::Skipped
            | TaskStatus::Scheduled
            | TaskStatus::InProgress => Outcome::Perhaps,
        }
    }

    /// An earlier attempt may have done it.
    pub(crate) fn may_have_applied_before(&self, task: &Task) -> bool {
        self.attempts_before(task).any(|task| may_have_applied(&task))
    }

    fn attempts_before(&self, task: &Task) -> impl Iterator<Item = Arc<Task>> {
        let before = |task: &Arc<Task>| task.replaces.and_then(|id| self.task(id));
        std::iter::successors(task.replaces.and_then(|id| self.task(id)), before)
    }

    /// A failure that is not tried again any more.
    pub(crate) fn give_up_effect(&mut self, task: &Task) {
        if task.has_claim() && !task.replaced {
            let known = self.known.get(&task.id).copied();
            let judged = || self.outcome(task, task.status, &task.output, task.polls);
            let outcome = known.unwrap_or_else(judged);
            self.outcomes.push((task.id, outcome));
        }
    }

    /// The run ends: what failed and was not followed yet is not tried again.
    pub(crate) fn give_up_effects(&mut self) {
        let is_left = |task: &Arc<Task>| {
            matches!(task.status, TaskStatus::Failed | TaskStatus::TimedOut) && task.has_claim()
        };
        let execution = self.execution();
        let mut left = execution.unconsumed();
        left.extend(self.failed.iter().filter_map(|id| self.task(*id)));
        left.retain(is_left);
        left.iter().for_each(|task| self.give_up_effect(task));
    }

    /// Settles what has happened before anything follows from it.
    pub(crate) fn conclude_applied(&mut self) -> Result<(), Stop> {
        let outcomes = std::mem::take(&mut self.outcomes);
        for (task, outcome) in outcomes {
            match outcome {
                Outcome::Applied => self.conclude(task, outcome)?,
                Outcome::NotApplied | Outcome::Perhaps | Outcome::Unknown => {
                    self.outcomes.push((task, outcome));
                }
            }
        }
        Ok(())
    }

    /// Settles the effects of all tasks that have ended for good.
    pub(crate) fn conclude_effects(&mut self) -> Result<(), Stop> {
        for (task, outcome) in std::mem::take(&mut self.outcomes) {
            self.conclude(task, outcome)?;
        }
        Ok(())
    }

    fn conclude(&mut self, id: TaskId, outcome: Outcome) -> Result<(), Stop> {
        let Some(task) = self.task(id).filter(|task| !task.replaced) else { return Ok(()) };
        let Some(once) = task.once.clone() else { return Ok(()) };
        let key = once.record();
        let step = task.step.clone();
        let policy = step.effect().unwrap_or_default();
        let Ok(named) = self.named_effect(&task, &policy) else { return Ok(()) };
        let record = match self.guard(&key)? {
            Some(record) => record,
            // Somebody has forgotten it, and it has happened all the same.
            None if outcome == Outcome::Applied => self.claim_for(&task, &named),
            None => return Ok(()),
        };
        let is_open = matches!(record.state, RecordState::Claimed | RecordState::Unknown);
        if !is_open || !self.owns(&record, &named) {
            return Ok(());
        }
        self.settle_effect(&task, &policy, &key, record, outcome)
    }

    /// The record says what became of the effect, and whoever waits hears of it.
    pub(crate) fn settle_effect(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        key: &RecordKey,
        mut record: Record,
        outcome: Outcome,
    ) -> Result<(), Stop> {
        record.detail.task = Some(task.id);
        record.detail.decided_at = Some(self.now());
        let until = kept_until(policy, self.now());
        let has_failed = !task.status.is_successful();
        let is_kept = match outcome {
            Outcome::Applied => has_failed,
            Outcome::NotApplied | Outcome::Perhaps => policy.caches_failures() && was_tried(task),
            Outcome::Unknown => false,
        };
        if is_kept {
            record.state = RecordState::Failed;
            record.expires_at = Some(until);
            record.detail.result = Some(task.output.clone());
            record.detail.failure.clone_from(&task.reason);
            let record = self.noting(record, task, "FAILED");
            self.put_guard(key, Some(record));
            return self.let_go(key, true);
        }
        match outcome {
            Outcome::Applied => {
                self.complete_effect(task, policy, key, record, task.output.clone(), "COMPLETED")
            }
            Outcome::NotApplied => {
                record.expires_at = Some(until);
                let record = self.noting(record, task, "RELEASED");
                self.release_guard(key, record)
            }
            Outcome::Perhaps | Outcome::Unknown => self.doubt_effect(task, key, record),
        }
    }

    pub(crate) fn complete_effect(
        &mut self,
        task: &Task,
        policy: &EffectPolicy,
        key: &RecordKey,
        mut record: Record,
        output: Payload,
        outcome: &str,
    ) -> Result<(), Stop> {
        record.state = RecordState::Completed;
        record.expires_at = Some(kept_until(policy, self.now()));
        record.detail.decided_at = Some(self.now());
        record.detail.result = Some(output);
        let record = self.noting(record, task, outcome);
        self.put_guard(key, Some(record));
        self.let_go(key, true)
    }

    /// It may have happened. Whoever waits does as its own policy says.
    pub(crate) fn doubt_effect(
        &mut self,
        task: &Task,
        key: &RecordKey,
        mut record: Record,
    ) -> Result<(), Stop> {
        if record.state == RecordState::Unknown {
            return Ok(());
        }
        record.state = RecordState::Unknown;
        record.detail.task = Some(task.id);
        record.detail.decided_at = Some(self.now());
        record.detail.resolved = None;
        let record = self.noting(record, task, "UNKNOWN");
        self.put_guard(key, Some(record));
        self.let_go(key, true)
    }
}

/// A worker had it, or the engine began it, and nobody said that nothing happened.
fn may_have_applied(task: &Task) -> bool {
    let denies = said(&task.output) == Some(Outcome::NotApplied);
    let was_handed_out = task.polls > 0 && task.status != TaskStatus::FailedWithTerminalError;
    !denies && (was_handed_out || (task.system && task.has_acted()))
}

/// Its failure tells something: somebody was at it.
fn was_tried(task: &Task) -> bool {
    task.polls > 0 || (task.system && task.status != TaskStatus::Canceled)
}

impl Task {
    /// What the engine began for it goes on by itself: its run was begun, or its message published.
    /// The other types end in the commit that begins them, or only compute.
    fn has_acted(&self) -> bool {
        let kind = self.kind();
        (kind == Kind::SubWorkflow && self.children > 0)
            || (kind == Kind::Event && !self.output.is_empty())
    }
}
