//! # Publishing: what event handlers hear of a run besides its EVENT tasks
//!
//! A step may name events for the states its tasks come into (`onStateChange`), a definition may ask
//! to be listened to as a whole (`listening.rs`). Each is a row of the commit that made it so, with
//! an id that follows from where it stands. A definition that asks for nothing pays for nothing.
//!
//! A worker begins its task by a claim, which never touches the run. So that a task has begun is told
//! by the first commit that knows of it: a progress, or the end.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::{Value, json};

use crate::change::Change;
use crate::task::Task;
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

/// A state of a task that somebody may want to hear of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Scheduled,
    Started,
    Succeeded,
    Failed,
    Cancelled,
}

impl State {
    /// As a key of `onStateChange` names it.
    fn key(self) -> &'static str {
        match self {
            Self::Scheduled => "onScheduled",
            Self::Started => "onStart",
            Self::Succeeded => "onSuccess",
            Self::Failed => "onFailed",
            Self::Cancelled => "onCancelled",
        }
    }

    /// A failure that an optional step absorbs has been told as what it was.
    fn at_end(status: TaskStatus) -> Option<Self> {
        match status {
            TaskStatus::Completed => Some(Self::Succeeded),
            TaskStatus::Failed | TaskStatus::FailedWithTerminalError | TaskStatus::TimedOut => {
                Some(Self::Failed)
            }
            TaskStatus::Canceled => Some(Self::Cancelled),
            TaskStatus::CompletedWithErrors
            | TaskStatus::Skipped
            | TaskStatus::Scheduled
            | TaskStatus::InProgress => None,
        }
    }
}

impl Turn<'_> {
    /// Somebody may want to hear of what becomes so. Steps that came with data are asked one by one.
    pub(crate) fn is_heard(&self) -> bool {
        self.execution().definition().is_heard() || !self.execution().defined.is_empty()
    }

    /// Before a change that is the first to know that a worker has begun.
    pub(crate) fn announce_begin(&mut self, change: &Change) {
        let (Change::TaskProgressed { task, hand_out, .. }
        | Change::TaskClosed { task, hand_out, .. }) = change
        else {
            return;
        };
        let is_open = |task: &Arc<Task>| !task.started_at.is_set() && !task.status.is_terminal();
        if hand_out.started_at.is_set() && self.task(*task).is_some_and(|task| is_open(&task)) {
            self.announce_task(*task, State::Started);
        }
    }

    /// Tells whoever listens what has just become so.
    pub(crate) fn announce(&mut self, change: &Change) {
        if let Change::TaskScheduled { task, .. } | Change::TaskReset { task, .. } = change {
            self.announce_task(*task, State::Scheduled);
            let begins = self.task(*task).is_some_and(|task| task.started_at.is_set());
            if begins {
                self.announce_task(*task, State::Started);
            }
        } else if let Change::TaskBegan { task } = change {
            self.announce_task(*task, State::Started);
        } else if let Change::TaskClosed { task, status, .. } = change
            && let Some(state) = State::at_end(*status)
        {
            self.announce_task(*task, state);
        }
        self.tell_run(change);
    }

    fn announce_task(&mut self, id: TaskId, state: State) {
        let Some(task) = self.task(id) else { return };
        self.publish_state(&task, state);
        let event = match state {
            State::Scheduled => TaskStatus::Scheduled,
            State::Started => TaskStatus::InProgress,
            State::Succeeded | State::Failed | State::Cancelled => task.status,
        };
        self.tell_task(&task, event.as_str());
    }

    /// The events that the step names for this state.
    fn publish_state(&mut self, task: &Task, state: State) {
        let step = Arc::clone(task.step.task());
        let named = step.on_state_change.iter().flat_map(|all| all.iter());
        let wanted = named.filter(|(keys, _)| keys.split(',').any(|key| key.trim() == state.key()));
        for (at, event) in wanted.flat_map(|(_, events)| events).enumerate() {
            // What came with data has not been looked at before.
            if event.kind.is_empty() || event.kind.contains('\0') {
                continue;
            }
            let payload = Value::Object(event.payload.clone().unwrap_or_default());
            let payload = Payload::from_value(&self.resolve_value(&payload, Some(task.id)));
            let message = TaskId::of_news(task.id.as_bytes(), state.key(), self.seq(), at);
            self.publish(message, event.kind.clone(), payload);
        }
    }

    pub(crate) fn publish(&mut self, message: TaskId, sink: String, body: Payload) {
        let bytes = body.len();
        let error = || json!({"error": format!("a payload of {bytes} bytes is over the limit")});
        let is_small = bytes <= PAYLOAD_BYTES_MAX;
        let body = if is_small { body } else { Payload::from_value(&error()) };
        let body = self.store(body);
        self.emit(Change::Published { task: message, sink, body });
    }
}
