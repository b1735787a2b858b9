//! # Weight: about how many bytes of memory an execution takes
//!
//! Kept up to date task by task, so that weighing costs the same however many tasks there are. Texts are
//! counted as long as they are, everything else at a flat rate per task and per run. What several runs
//! share (a definition, a payload passed on) is counted in each of them: the weight is rather too high.

use crate::execution::Execution;
use crate::task::{Flow, Loop, Task};

/// A run without its tasks and texts: the nodes its collections begin with are most of it.
const RUN_BYTES: u64 = 6 * 1024;

/// A task with its places in the collections of its run.
const TASK_BYTES: u64 = 1024;

/// One name in what a join waits for, and the join in what that name is awaited by.
const AWAITED_BYTES: u64 = 512;

/// One remembered key, message or answer without its text.
const ITEM_BYTES: u64 = 128;

impl Execution {
    /// In bytes, about.
    pub fn weight(&self) -> u64 {
        let run = self.run();
        let texts = run.input.len() + run.output.len() + run.variables.len();
        let early = self.early_answers().map(|answer| ITEM_BYTES + answer.output.len() as u64);
        let mailbox = self.mailbox.as_ref().map_or(0, |mailbox| mailbox.weight(ITEM_BYTES));
        let sent = self.sent.len() as u64 * ITEM_BYTES;
        RUN_BYTES + texts as u64 + self.task_bytes + sent + mailbox + early.sum::<u64>()
    }
}

impl Task {
    pub(crate) fn weight(&self) -> u64 {
        let reason = self.reason.as_ref().map_or(0, String::len);
        let asked = self.question.as_ref().map_or(0, |asked| asked.input.len());
        let texts = self.input.len() + self.output.len() + reason + asked;
        let flow = match &self.flow {
            Flow::Join(join) => join.on.len() as u64 * AWAITED_BYTES,
            // Its items come from its input: their texts are about as long as that.
            Flow::Loop(Loop { items: Some(items), .. }) => {
                items.len() as u64 * ITEM_BYTES + self.input.len() as u64
            }
            Flow::Loop(_) | Flow::None | Flow::Case(_) | Flow::Fork { .. } => 0,
        };
        TASK_BYTES + texts as u64 + flow
    }
}
