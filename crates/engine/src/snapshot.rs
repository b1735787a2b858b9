//! # Snapshots: an execution as it stood after an entry
//!
//! A way not to fold a long journal from its beginning. Disposable and never truth: what is written
//! in another format is not read, and the entries behind it must continue its chain.

use std::sync::Arc;

use semel_model::{Digest, ExecutionId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::early::EarlyAnswer;
use crate::entry::Link;
use crate::execution::{Deadline, Execution, Run};
use crate::idle::IdleTurns;
use crate::pin::Pinned;
use crate::sent::Sent;
use crate::task::Task;

/// Raised whenever the fields below, or those of a task, mean something else.
const FORMAT: u32 = 3;

#[derive(Serialize, Deserialize)]
struct Shot {
    format: u32,
    id: ExecutionId,
    definition: Digest,
    seq: u64,
    digest: Digest,
    run: Arc<Run>,
    tasks: Vec<Arc<Task>>,
    unconsumed: Vec<TaskId>,
    /// The workflow's own timeout is still to come.
    is_timed: bool,
    remaining_since: Option<Timestamp>,
    defined: Vec<Digest>,
    last_at: Timestamp,
    #[serde(default)]
    idle_turns: IdleTurns,
    generation: u32,
    sent: Vec<(Digest, Sent)>,
    early: Vec<EarlyAnswer>,
}

impl Execution {
    /// None of a run that messages wait for, or waited: that one is folded.
    pub fn snapshot(&self) -> Option<Vec<u8>> {
        if self.mailbox.is_some() {
            return None;
        }
        let shot = Shot {
            format: FORMAT,
            id: self.id,
            definition: self.definition.digest(),
            seq: self.link.seq,
            digest: self.link.digest,
            run: Arc::clone(&self.run),
            tasks: self.tasks.values().cloned().collect(),
            unconsumed: self.unconsumed().iter().map(|task| task.id).collect(),
            is_timed: self.deadlines.iter().any(|(_, it)| *it == Deadline::Workflow),
            remaining_since: self.remaining_since,
            defined: self.defined.keys().copied().collect(),
            last_at: self.last_at,
            idle_turns: self.idle_turns,
            generation: self.generation,
            sent: self.sent.iter().map(|(name, sent)| (*name, *sent)).collect(),
            early: self.early_answers().cloned().collect(),
        };
        Some(serde_json::to_vec(&shot).expect("an execution is plain data"))
    }

    /// The execution a snapshot tells of; none if this release cannot read it. `pinned` finds the
    /// definitions it names.
    pub fn restored<E>(
        bytes: &[u8],
        mut pinned: impl FnMut(Digest) -> Result<Arc<Pinned>, E>,
    ) -> Result<Option<Self>, E> {
        let Some(shot) = read(bytes) else { return Ok(None) };
        let mut execution = Self::unborn(shot.id, pinned(shot.definition)?);
        execution.link = Link { seq: shot.seq, digest: shot.digest };
        execution.run = shot.run;
        execution.last_at = shot.last_at;
        execution.idle_turns = shot.idle_turns;
        execution.generation = shot.generation;
        execution.sent = shot.sent.into_iter().collect();
        execution.early =
            (!shot.early.is_empty()).then(|| Arc::new(shot.early.into_iter().collect()));
        for digest in shot.defined {
            execution.defined.insert(digest, pinned(digest)?);
        }
        let mut tasks = Vec::with_capacity(shot.tasks.len());
        for mut task in shot.tasks {
            let home = pinned(task.step.definition())?;
            let Some(step) = home.find(task.step.reference()) else { return Ok(None) };
            Arc::make_mut(&mut task).step = step.clone();
            tasks.push(task);
        }
        execution.reindex(tasks, &shot.unconsumed);
        execution.arm_again(shot.is_timed, shot.remaining_since);
        Ok(Some(execution))
    }

    fn arm_again(&mut self, is_timed: bool, remaining_since: Option<Timestamp>) {
        if is_timed {
            self.arm_workflow_deadline();
        }
        self.arm_gate();
        if !self.is_closed() {
            let open: Vec<_> = self.open_tasks().cloned().collect();
            for task in open {
                self.deadlines.extend(self.deadlines_of(&task));
            }
        }
        self.remaining_since = remaining_since;
        self.deadlines.extend(remaining_since.map(|at| (at, Deadline::Remaining)));
    }
}

fn read(bytes: &[u8]) -> Option<Shot> {
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let head: Head = serde_json::from_slice(bytes).ok()?;
    (head.format == FORMAT).then(|| serde_json::from_slice(bytes).ok())?
}
