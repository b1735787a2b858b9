//! # A turn: one event being decided
//!
//! Collects changes, applying each as it is emitted so that cascades see it, and notes which facts
//! were used. Helpers of the other modules extend it; none of them alters the execution but by
//! [`Turn::emit`].

use std::collections::VecDeque;
use std::sync::Arc;

use semel_model::{Payload, TaskId, Timestamp, WorkflowStatus};

use crate::apply::Page;
use crate::change::Change;
use crate::decide::{Decision, Rows, Stop};
use crate::delivery::HandOut;
use crate::event::Slot;
use crate::execution::{Execution, Task};
use crate::expression::Reading;
use crate::facts::Facts;

pub(crate) struct Turn<'a> {
    execution: &'a mut Execution,
    facts: &'a Facts,
    now: Timestamp,
    used: Facts,
    changes: Vec<Change>,
    payloads: Vec<Payload>,
    /// Tasks that have ended and whose consequences are still to be drawn.
    closed: VecDeque<TaskId>,
    /// The status the run is about to end with, while its output is computed.
    pub(crate) ending: Option<WorkflowStatus>,
    /// What the expressions of this turn have looked into, and may still.
    pub(crate) reading: Reading,
}

impl<'a> Turn<'a> {
    pub(crate) fn new(
        execution: &'a mut Execution,
        payloads: &[Payload],
        facts: &'a Facts,
        now: Timestamp,
    ) -> Self {
        Self {
            execution,
            facts,
            now,
            used: Facts { now, ..Facts::default() },
            changes: Vec::new(),
            payloads: payloads.to_vec(),
            closed: VecDeque::new(),
            ending: None,
            reading: Reading::default(),
        }
    }

    pub(crate) fn execution(&self) -> &Execution {
        self.execution
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    pub(crate) fn emit(&mut self, change: Change) {
        let page = Page { at: self.now, payloads: &self.payloads };
        self.execution.apply(&change, &page);
        self.changes.push(change);
    }

    pub(crate) fn store(&mut self, payload: Payload) -> Slot {
        let at = self.payloads.iter().position(|stored| *stored == payload);
        let at = at.unwrap_or_else(|| {
            self.payloads.push(payload);
            self.payloads.len() - 1
        });
        Slot(u32::try_from(at).expect("an entry has fewer than 2^32 payloads"))
    }

    pub(crate) fn payload(&self, slot: Slot) -> &Payload {
        &self.payloads[slot.0 as usize]
    }

    pub(crate) fn task(&self, id: TaskId) -> Option<Arc<Task>> {
        self.execution.task(id).cloned()
    }

    /// Something follows from the end of this task; [`Turn::settle`] draws it.
    pub(crate) fn after_close(&mut self, task: TaskId) {
        self.closed.push_back(task);
    }

    /// To a fixed point, in a loop: a chain of tasks that end at once may be long.
    pub(crate) fn settle(&mut self) -> Result<(), Stop> {
        while let Some(task) = self.closed.pop_front() {
            self.follow(task)?;
        }
        Ok(())
    }

    /// The held delivery of an open task. A task that is not offered has none to hold.
    pub(crate) fn hand_out(&mut self, task: &Task) -> Result<HandOut, Stop> {
        if !task.is_placed() {
            let (started_at, polls) = (task.started_at, task.polls);
            return Ok(HandOut {
                started_at,
                polls,
                worker: task.worker.clone(),
                ..HandOut::default()
            });
        }
        let Some(found) = self.facts.deliveries.get(&task.id) else {
            return Err(Stop::Miss(Rows::Deliveries));
        };
        self.used.deliveries.insert(task.id, found.clone());
        Ok(found.clone())
    }

    pub(crate) fn finish(self) -> Decision {
        Decision { at: self.now, changes: self.changes, payloads: self.payloads, used: self.used }
    }
}
