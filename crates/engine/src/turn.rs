//! # A turn: one event being decided
//!
//! Collects changes, applying each as it is emitted so that cascades see it, and notes which facts
//! were used. Helpers of the other modules extend it; none of them alters the execution but by
//! [`Turn::emit`].

mod known;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use semel_model::{Digest, Payload, TaskId, TaskStatus, Timestamp, WorkflowStatus, WorkflowTask};

use crate::apply::Page;
use crate::change::{Change, HandOutFacts};
use crate::decide::{Brought, Decision, Rows, Stop};
use crate::delivery::HandOut;
use crate::effect::Upcoming;
use crate::event::Slot;
use crate::execution::Execution;
use crate::expression::Reading;
use crate::facts::{Claim, Facts};
use crate::message::Message;
use crate::outcome::Outcome;
use crate::pin::Pinned;
use crate::record::{Record, RecordKey};
use crate::task::Task;

/// Inputs and outputs of tasks and runs. A task with a larger one fails for good, a run as well; a
/// report that brings one is accepted all the same.
pub const PAYLOAD_BYTES_MAX: usize = 10 * 1024 * 1024;

pub(crate) struct Turn<'a> {
    execution: &'a mut Execution,
    facts: &'a Facts,
    brought: &'a Brought<'a>,
    now: Timestamp,
    used: Facts,
    changes: Vec<Change>,
    payloads: Vec<Payload>,
    /// Where each payload lies: what is said twice is stored once.
    slots: BTreeMap<Payload, Slot>,
    /// Tasks that have ended and whose consequences are still to be drawn.
    pub(crate) closed: VecDeque<TaskId>,
    /// Joins and loops to look at, by number, once that is done.
    pub(crate) joins: BTreeSet<u32>,
    pub(crate) loops: BTreeSet<u32>,
    /// Tasks begun and ended so far, and turns of loops.
    pub(crate) steps: usize,
    /// Something may be left to do although nothing has ended.
    pub(crate) stirred: bool,
    /// Tasks offered by this very turn: nobody can have taken them yet.
    offered: BTreeSet<TaskId>,
    /// Start keys taken by this very turn.
    claimed: BTreeMap<RecordKey, Claim>,
    /// Other records, as this turn has made them.
    pub(crate) guarded: BTreeMap<RecordKey, Option<Record>>,
    /// The run begins in another run's commit.
    pub(crate) newborn: bool,
    /// How many START_WORKFLOW and SUB_WORKFLOW tasks this turn has begun.
    pub(crate) starts: usize,
    pub(crate) children: usize,
    /// The status the run is about to end with, while its output is computed.
    pub(crate) ending: Option<WorkflowStatus>,
    /// What listeners call it when the run lives again.
    pub(crate) revives_as: &'static str,
    /// The task whose input is being made.
    pub(crate) upcoming: Option<Upcoming>,
    /// Records that tasks of this turn must be judged on, and that are not at hand.
    pub(crate) missing: Vec<RecordKey>,
    /// Effects are done once more.
    pub(crate) redoes: bool,
    /// What the data of the dynamic fork that is being made say of its branches.
    pub(crate) forking: Option<(TaskId, Vec<WorkflowTask>)>,
    /// What became of effects whose tasks have ended for good.
    pub(crate) outcomes: Vec<(TaskId, Outcome)>,
    /// Tasks that have failed and may be tried again.
    pub(crate) failed: Vec<TaskId>,
    /// What is known of effects beyond what their tasks end with.
    pub(crate) known: BTreeMap<TaskId, Outcome>,
    /// What the expressions of this turn have looked into, and may still.
    pub(crate) reading: Reading,
}

/// How a task ends.
pub(crate) struct Closing {
    pub(crate) status: TaskStatus,
    /// Absent: the output stays what it was.
    pub(crate) output: Option<Slot>,
    pub(crate) reason: Option<String>,
    pub(crate) fingerprint: Option<Digest>,
    pub(crate) hand_out: HandOutFacts,
    /// What a child that is still waited for is told.
    pub(crate) farewell: Option<String>,
}

impl Closing {
    pub(crate) fn new(status: TaskStatus, reason: Option<String>, hand_out: HandOutFacts) -> Self {
        let farewell =
            Some(format!("The task that began this workflow ended with status {status}"));
        Self { status, output: None, reason, fingerprint: None, hand_out, farewell }
    }
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        execution: &'a mut Execution,
        brought: &'a Brought<'a>,
        facts: &'a Facts,
        now: Timestamp,
    ) -> Self {
        let mut slots = BTreeMap::new();
        for (at, payload) in brought.payloads.iter().enumerate() {
            slots.entry(payload.clone()).or_insert_with(|| slot(at));
        }
        Self {
            execution,
            facts,
            brought,
            now,
            used: Facts { now, ..Facts::default() },
            changes: Vec::new(),
            payloads: brought.payloads.to_vec(),
            slots,
            closed: VecDeque::new(),
            joins: BTreeSet::new(),
            loops: BTreeSet::new(),
            steps: 0,
            stirred: false,
            offered: BTreeSet::new(),
            claimed: BTreeMap::new(),
            guarded: BTreeMap::new(),
            newborn: false,
            starts: 0,
            children: 0,
            ending: None,
            revives_as: "",
            missing: Vec::new(),
            redoes: false,
            forking: None,
            outcomes: Vec::new(),
            failed: Vec::new(),
            known: BTreeMap::new(),
            upcoming: None,
            reading: Reading::default(),
        }
    }

    pub(crate) fn execution(&self) -> &Execution {
        self.execution
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// The number of the entry this turn will write.
    pub(crate) fn seq(&self) -> u64 {
        self.execution.link().seq + 1
    }

    pub(crate) fn emit(&mut self, change: Change) {
        if matches!(change, Change::TaskReset { .. } | Change::TasksRemoved { .. }) {
            self.give_back_messages(&change);
        }
        let is_heard = self.is_heard();
        if is_heard {
            self.announce_begin(&change);
        }
        let definition = self.brought.definition;
        let page = Page { at: self.now, payloads: &self.payloads, definition };
        self.execution.apply(&change, &page);
        if let Change::TaskScheduled { task, .. }
        | Change::TaskReset { task, .. }
        | Change::TaskPlaced { task, .. } = &change
        {
            self.offered.insert(*task);
            self.steps += 1;
        }
        if let Change::EffectNoted { task, .. } = &change {
            self.offered.insert(*task); // Its row, if it has one, is as old as this turn.
        }
        let is_step = matches!(change, Change::TaskClosed { .. } | Change::LoopTurned { .. });
        self.steps += usize::from(is_step);
        if !is_heard {
            return self.changes.push(change);
        }
        self.changes.push(change.clone());
        self.announce(&change);
    }

    /// Every end of a task takes this door: a child it waited for is let go.
    pub(crate) fn emit_closed(&mut self, task: TaskId, closing: Closing) {
        let outcome = self.outcome_of(task, &closing);
        let closing = self.fitting(task, closing);
        self.outcomes.extend(outcome.map(|outcome| (task, outcome)));
        if matches!(closing.status, TaskStatus::Failed | TaskStatus::TimedOut) {
            self.failed.push(task);
        }
        let Closing { status, output, reason, fingerprint, hand_out, farewell } = closing;
        let before = self.execution.task(task).cloned();
        if let Some(before) = before.as_ref().filter(|_| status != TaskStatus::Completed) {
            self.leave_line(before);
        }
        let child = before.and_then(|task| task.child);
        self.emit(Change::TaskClosed { task, status, output, reason, fingerprint, hand_out });
        if let (Some(child), Some(reason)) = (child.filter(|it| !it.is_observed), farewell) {
            let message = Message::ParentLeft { epoch: child.epoch, reason };
            self.emit(Change::Sent { to: child.run, message });
        }
    }

    pub(crate) fn store(&mut self, payload: Payload) -> Slot {
        let payloads = &mut self.payloads;
        *self.slots.entry(payload).or_insert_with_key(|payload| {
            payloads.push(payload.clone());
            slot(payloads.len() - 1)
        })
    }

    pub(crate) fn payload(&self, slot: Slot) -> &Payload {
        &self.payloads[slot.0 as usize]
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<Arc<Task>> {
        self.execution.task(id).cloned()
    }

    /// Something follows from the end of this task; `settle.rs` draws it.
    pub(crate) fn after_close(&mut self, task: TaskId) {
        self.closed.push_back(task);
    }

    /// The held delivery of an open task. A task that is not offered, or only now, has none to hold.
    pub(crate) fn hand_out(&mut self, task: &Task) -> Result<HandOut, Stop> {
        if !task.is_placed() || self.offered.contains(&task.id) {
            let (started_at, polls) = (task.started_at, task.polls);
            return Ok(HandOut {
                started_at,
                polls,
                worker: task.worker.clone(),
                fence: task.fence.filter(|_| task.is_in_doubt()).unwrap_or_default(),
                ..HandOut::default()
            });
        }
        let Some(found) = self.facts.deliveries.get(&task.id) else {
            return Err(Stop::Miss(Rows::Deliveries(vec![task.id])));
        };
        self.used.deliveries.insert(task.id, found.clone());
        Ok(found.clone())
    }

    /// All that has to be held of these tasks, named at once.
    pub(crate) fn expect_deliveries(&self, tasks: &[Arc<Task>]) -> Result<(), Stop> {
        let is_missing = |task: &&Arc<Task>| {
            let is_held = self.facts.deliveries.contains_key(&task.id);
            task.is_placed() && !is_held && !self.offered.contains(&task.id)
        };
        let missing: Vec<TaskId> = tasks.iter().filter(is_missing).map(|task| task.id).collect();
        if missing.is_empty() { Ok(()) } else { Err(Stop::Miss(Rows::Deliveries(missing))) }
    }

    /// What the event brings, if it changes the definition.
    pub(crate) fn brought(&self) -> Option<Arc<Pinned>> {
        self.brought.definition.cloned()
    }

    pub(crate) fn finish(mut self) -> Decision {
        if !self.changes.is_empty() {
            self.drop_lapsed();
        }
        Decision { at: self.now, changes: self.changes, payloads: self.payloads, used: self.used }
    }
}

fn slot(at: usize) -> Slot {
    Slot(u32::try_from(at).expect("an entry has fewer than 2^32 payloads"))
}
