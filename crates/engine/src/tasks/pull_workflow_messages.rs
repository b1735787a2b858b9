//! # PULL_WORKFLOW_MESSAGES: takes what was posted to the run
//!
//! Messages leave the mailbox in the decision that ends the task with them, so none is lost between
//! the two and none is given twice. An attempt that ends otherwise has taken nothing. A task that is
//! done again, or removed to be done again, gives back what it had taken.

use std::sync::Arc;

use semel_model::{Digest, TaskId, TaskStatus};
use serde_json::Value;

use crate::change::{Change, Removed};
use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::mailbox::{MAILBOX_BYTES_MAX, MESSAGE_BYTES_MAX, MESSAGES_MAX, told};
use crate::task::Task;
use crate::turn::Turn;

/// Messages that one task may take.
const BATCH_MAX: u64 = 100;

impl Turn<'_> {
    /// A message comes in. A task that waits for one takes it at once.
    pub(crate) fn post(&mut self, id: &str, named: bool, payload: Slot) -> Result<(), Stop> {
        let digest = Digest::of(self.payload(payload).text().as_bytes());
        match self.execution().mailbox().known(id).filter(|_| named) {
            Some(known) if known == digest => return Ok(()), // It is there, or was.
            Some(_) => {
                let message = format!("messageId {id} belongs to another message: give a new one");
                return Err(Rejection::WrongState(message).into());
            }
            None => {}
        }
        self.expect_running("post a message to")?;
        self.expect_object("the message", payload)?;
        let bytes = self.payload(payload).len();
        if bytes > MESSAGE_BYTES_MAX {
            let message = format!("a message of {bytes} bytes is over {MESSAGE_BYTES_MAX}");
            return Err(Rejection::Invalid(message).into());
        }
        let (now, run) = (self.now(), self.execution().id());
        if !self.execution().mailbox().has_room(bytes, now) {
            let message = format!(
                "workflow {run} has {} messages that nobody has pulled; it takes {MESSAGES_MAX}, \
                 of {MAILBOX_BYTES_MAX} bytes together",
                self.execution().mailbox().len()
            );
            return Err(Rejection::Full(message).into());
        }
        self.drop_stale();
        self.emit(Change::MessagePosted { id: id.to_owned(), named, payload });
        let waits = |task: &&Arc<Task>| {
            task.kind() == Kind::PullMessages && task.status == TaskStatus::InProgress
        };
        let waiting = self.execution().open_tasks().find(waits).map(|task| task.id);
        if let Some(task) = waiting {
            self.begin_pull(task);
        }
        Ok(())
    }

    fn drop_stale(&mut self) {
        let count = self.execution().mailbox().stale(self.now());
        if count > 0 {
            self.emit(Change::MessagesTaken { count });
        }
    }

    pub(crate) fn begin_pull(&mut self, id: TaskId) {
        let input = self.execution().expect_task(id).input.value();
        self.drop_stale();
        let found = self.execution().mailbox().first(batch(&input), self.now());
        if found.is_empty() && is_blocking(&input) {
            return; // Until somebody posts.
        }
        if !found.is_empty() {
            self.emit(Change::MessagesTaken { count: found.len() });
        }
        let output = told(self.execution().id(), found);
        self.end_system(id, TaskStatus::Completed, output, None);
    }

    /// Before tasks are done again, or removed: what they pulled waits again, in its old order. The
    /// turns of a loop that are only forgotten keep theirs.
    pub(crate) fn give_back_messages(&mut self, change: &Change) {
        if !self.execution().has_mail() {
            return;
        }
        let execution = self.execution();
        let pulled = |task: &&Arc<Task>| {
            task.kind() == Kind::PullMessages && task.status == TaskStatus::Completed
        };
        let is_concerned = |task: &&Arc<Task>| is_done_again(change, execution, task);
        let found = execution.tasks().filter(pulled).filter(is_concerned);
        let mut found: Vec<TaskId> = found.map(|task| task.id).collect();
        found.reverse();
        found.into_iter().for_each(|task| self.emit(Change::MessagesReturned { task }));
    }
}

fn is_done_again(change: &Change, execution: &Execution, task: &Task) -> bool {
    if let Change::TaskReset { task: reset, .. } = change {
        return *reset == task.id;
    }
    let Change::TasksRemoved { which, .. } = change else { return false };
    match which {
        Removed::All => true,
        Removed::After(first) => !task.is_ahead && task.seq > execution.expect_task(*first).seq,
        Removed::Steps(names) => names.iter().any(|name| **name == *task.reference),
        Removed::Turns { .. } => false,
    }
}

/// Numbers and flags may be the text that an expression gave.
fn batch(input: &Value) -> usize {
    let given = input.get("batchSize");
    let text = given.and_then(Value::as_str).and_then(|text| text.trim().parse().ok());
    let count = text.or_else(|| given.and_then(Value::as_u64)).unwrap_or(1);
    usize::try_from(count.clamp(1, BATCH_MAX)).unwrap_or(1)
}

fn is_blocking(input: &Value) -> bool {
    let given = input.get("blocking");
    let is_text = given.and_then(Value::as_str).is_some_and(|it| it.eq_ignore_ascii_case("false"));
    !is_text && given.and_then(Value::as_bool) != Some(false)
}
