//! # Explain: why a run waits
//!
//! The one place that decides it, for the API, the command line and the user interface. A pure
//! function of the execution and of what is known around it: the runtime reads what [`needs`] names,
//! and [`explain`] puts it into words. **May not:** change anything, nor guess what it was not told.

mod effect;
mod inside;
mod run;
mod words;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_model::{
    Blocker, BlockerKind, ExecutionId, Explanation, PollData, StaleReport, TaskId, Timestamp, Wait,
    WaitKind, WhatToDo, lock_name,
};

use crate::delivery::{Delivery, Queue};
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::rate::{Limits, Window};
use crate::record::{Record, RecordKey};
use crate::task::Task;

/// Open tasks of a run that are explained one by one.
pub const EXPLAINED_TASKS_MAX: usize = 100;

/// What has to be read before a run can be explained.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Records that something of the run waits for, and the lines before them.
    pub records: BTreeSet<RecordKey>,
    /// Runs that it waits for.
    pub children: BTreeSet<ExecutionId>,
    /// Tasks that are offered to workers.
    pub offered: BTreeSet<TaskId>,
}

/// What is known around a run when it is explained.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    pub now: Timestamp,
    /// Why it was set aside, if it was.
    pub parked: Option<String>,
    pub deliveries: BTreeMap<TaskId, Delivery>,
    pub polls: Vec<PollData>,
    /// How many tasks wait in each queue.
    pub waiting: BTreeMap<Queue, usize>,
    /// By task type; a type without limits is not among them.
    pub limits: BTreeMap<String, LimitState>,
    pub records: BTreeMap<RecordKey, Record>,
    /// Who waits for each record, oldest first.
    pub lines: BTreeMap<RecordKey, Vec<InLine>>,
    /// Runs it waits for; none: the run is gone.
    pub children: BTreeMap<ExecutionId, Option<Explanation>>,
    pub stale: BTreeMap<TaskId, Vec<StaleReport>>,
    /// Tasks that a worker of the server's own lets wait, and why: the end of a sentence.
    pub held_up: BTreeMap<TaskId, String>,
}

/// What a task type may do at once and per window, and how much of it is used.
#[derive(Clone, Debug)]
pub struct LimitState {
    pub limits: Limits,
    pub window: Window,
    pub in_flight: usize,
}

/// Somebody who waits for a record: a run, or one task of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InLine {
    pub run: ExecutionId,
    pub task: Option<TaskId>,
}

pub fn needs(execution: &Execution) -> Needs {
    let mut needs = Needs::default();
    needs.records.extend(execution.queued_at().cloned());
    for task in explained(execution) {
        needs.records.extend(task.once.as_ref().map(|once| once.record()));
        needs.records.extend(wanted_lock(task));
        needs.children.extend(task.child.map(|child| child.run));
        if task.is_placed() {
            needs.offered.insert(task.id);
        }
    }
    needs
}

/// Why a run waits, or how it ended.
pub fn explain(execution: &Execution, around: &Surroundings) -> Explanation {
    Scene { execution, around }.explanation()
}

fn explained(execution: &Execution) -> impl Iterator<Item = &Arc<Task>> {
    execution.open_tasks().take(EXPLAINED_TASKS_MAX)
}

fn wanted_lock(task: &Task) -> Option<RecordKey> {
    Some(RecordKey::lock(&task.wanted_lock()?))
}

impl Task {
    /// The name of the lock that an open ACQUIRE_LOCK waits for.
    pub fn wanted_lock(&self) -> Option<String> {
        let is_open = self.kind() == Kind::AcquireLock && !self.status.is_terminal();
        is_open.then(|| lock_name(&self.input.value()).ok()).flatten()
    }
}

/// A run and what is known around it.
struct Scene<'a> {
    execution: &'a Execution,
    around: &'a Surroundings,
}

impl Scene<'_> {
    fn now(&self) -> Timestamp {
        self.around.now
    }

    fn id(&self) -> ExecutionId {
        self.execution.id()
    }

    /// A wait of the run as a whole.
    fn of_run(&self, kind: WaitKind, sentence: String) -> Wait {
        Wait {
            kind,
            task_reference_name: None,
            task_id: None,
            task_type: None,
            sentence,
            since: None,
            until: None,
            blocked_by: Vec::new(),
            what_to_do: None,
            docs: kind.docs(),
        }
    }

    fn of_task(&self, task: &Task, kind: WaitKind, sentence: String) -> Wait {
        Wait {
            task_reference_name: Some(task.reference.to_string()),
            task_id: Some(task.id),
            task_type: Some(task.step.task_type().to_owned()),
            since: Some(begun(task)),
            ..self.of_run(kind, sentence)
        }
    }

    /// The place of this run, or of one of its tasks, in the line for a record: 1 is next.
    fn position(&self, key: &RecordKey, task: Option<TaskId>) -> Option<u64> {
        let own = InLine { run: self.id(), task };
        let at = self.around.lines.get(key)?.iter().position(|one| *one == own)?;
        u64::try_from(at + 1).ok()
    }
}

/// Since when a task is at what it does.
fn begun(task: &Task) -> Timestamp {
    if task.started_at.is_set() { task.started_at } else { task.scheduled_at }
}

fn blocker(kind: BlockerKind, name: impl Into<String>) -> Blocker {
    Blocker { kind, name: name.into(), workflow_id: None, task_id: None, position: None }
}

fn command(sentence: &str, command: String) -> Option<WhatToDo> {
    Some(WhatToDo { sentence: sentence.to_owned(), command: Some(command) })
}

fn advice(sentence: impl Into<String>) -> Option<WhatToDo> {
    Some(WhatToDo { sentence: sentence.into(), command: None })
}
