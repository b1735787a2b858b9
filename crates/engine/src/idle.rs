//! # Idle turns: loops that go on by themselves
//!
//! A loop may go on for years as long as something comes from outside: a worker's report, a message, a
//! person, a wait. A turn is idle that begins within a second of the turn before while nothing came, and
//! as many as that in a row are a loop without end. They are counted over all loops of a run: a loop inside
//! another one counts, and so does a turn whose child had nothing from outside either. Going over a list is
//! not counted, since lists end.

use semel_model::{TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::turn::Turn;

/// A turn that begins so much later was waited for.
const IDLE_WITHIN_MS: i64 = 1_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdleTurns {
    count: u32,
    last_at: Timestamp,
    /// Something has come from outside, ever.
    #[serde(default)]
    heard: bool,
}

impl IdleTurns {
    fn turn(&mut self, at: Timestamp, counts: bool) {
        let is_idle = at.since_ms(self.last_at) < IDLE_WITHIN_MS;
        let before = if is_idle { self.count } else { 0 };
        self.count = before.saturating_add(u32::from(counts));
        self.last_at = at;
    }
}

impl Execution {
    /// Follows a change that was just applied.
    pub(crate) fn count_idle(&mut self, change: &Change, at: Timestamp) {
        if let Change::LoopTurned { task, .. } = change {
            let own = self.task(*task).and_then(|task| task.as_loop());
            let counts = own.is_some_and(|own| own.items.is_none());
            self.idle_turns.turn(at, counts);
        } else if self.is_from_outside(change) {
            self.idle_turns.count = 0;
            self.idle_turns.heard = true;
        }
    }

    /// Something has come from outside in the life of the run: a parent that waits for it has waited for
    /// more than steps of the server.
    pub(crate) fn has_heard(&self) -> bool {
        self.idle_turns.heard
    }

    fn is_from_outside(&self, change: &Change) -> bool {
        if let Change::TaskClosed { task, hand_out, .. } = change {
            let is_handed_out = hand_out.fence.is_some() || hand_out.worker.is_some();
            return is_handed_out || hand_out.child_heard || self.is_ended_by_others(*task);
        }
        if let Change::TaskProgressed { task, .. } = change {
            // The progress of a JOIN is a note of its own program.
            return self.task(*task).is_none_or(|task| task.as_join().is_none());
        }
        matches!(change, Change::MessagePosted { .. })
    }

    /// Only a worker or a person ends such a task.
    fn is_ended_by_others(&self, id: TaskId) -> bool {
        let Some(task) = self.task(id) else { return false };
        let kind = task.kind();
        let is_theirs = matches!(kind, Kind::Worker | Kind::Human | Kind::Yield);
        is_theirs || (kind == Kind::Wait && task.wait_until.is_none())
    }
}

impl Turn<'_> {
    /// Why a loop may not turn once more; none: it may.
    pub(crate) fn turns_idly(&mut self) -> Option<String> {
        let max = self.idle_turns_max()?;
        let idle = self.execution().idle_turns;
        let goes_on = self.now().since_ms(idle.last_at) < IDLE_WITHIN_MS && idle.count >= max;
        goes_on.then(|| {
            self.note_idle_turns_max();
            format!(
                "{max} turns of loops in a row within a second of each other, and nothing came from a \
                 worker, a message or a wait: loop_turns_max of the server allows no more \
                 (docs/errors/LOOP_TURNS.md)"
            )
        })
    }
}
