//! # Apply, effect by effect

use semel_model::{TaskStatus, Timestamp};

use crate::change::Change;
use crate::execution::Execution;
use crate::once::EffectStatus;

impl Execution {
    pub(super) fn note_effect(&mut self, change: &Change, at: Timestamp) {
        let Change::EffectNoted { task, once, hand_out, reason, fingerprint } = change else {
            return;
        };
        let id = *task;
        self.alter(id, |task| {
            if let Some(facts) = hand_out {
                task.learn(facts);
            }
            task.reason = reason.clone().or(task.reason.take());
            task.accepted = fingerprint.or(task.accepted);
            let was_held = task.is_held_back();
            if !task.status.is_terminal() {
                task.status = match once.status {
                    EffectStatus::Unknown => TaskStatus::InProgress,
                    // The engine begins it in this commit, or when its delay is over.
                    EffectStatus::Claimed | EffectStatus::Replayed if task.system && !was_held => {
                        task.status
                    }
                    EffectStatus::Claimed | EffectStatus::Waiting | EffectStatus::Replayed => {
                        TaskStatus::Scheduled
                    }
                };
                task.updated_at = at;
                if task.system && once.holds_back() {
                    task.started_at = Timestamp::NOT_YET;
                }
                if was_held {
                    task.ready_at = task.ready_at.max(at); // Nobody could have taken it before.
                }
            }
            task.wait_until = None; // Whoever still waits for an owner outside says so.
            task.once = Some(once.clone());
        });
        self.remember_sent(id);
        if once.status == EffectStatus::Claimed {
            let reference = self.expect_task(id).reference.to_string();
            self.note_claimed(&reference);
        }
    }

    /// From now on these effects have another name.
    pub(super) fn redo_effects(&mut self, tasks: Option<&[String]>) {
        let epochs = &mut self.run_mut().effects;
        match tasks {
            None => epochs.all += 1,
            Some(tasks) => {
                for task in tasks {
                    *epochs.more.entry(task.clone()).or_default() += 1;
                }
            }
        }
    }

    /// What was asked for once more is being done.
    fn note_claimed(&mut self, reference: &str) {
        let epoch = self.effect_epoch(reference);
        if epoch > self.run().effects.claimed(reference) {
            self.run_mut().effects.claimed.insert(reference.to_owned(), epoch);
        }
    }
}
