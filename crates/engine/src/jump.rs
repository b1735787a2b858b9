//! # Jump: a person lets a run go on at another step
//!
//! Forwards or back. What is running is cancelled, over several commits if there is much of it; only
//! then does the run arrive. Steps in between that never ran are skipped; steps from there on that did
//! run will run again. Asked twice it is done once.

use std::sync::Arc;

use semel_model::{Payload, TaskId};
use serde::{Deserialize, Serialize};

use crate::change::{Change, Removed};
use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::pin::Step;
use crate::schedule::Site;
use crate::settle::STEPS_MAX;
use crate::task::Task;
use crate::turn::Turn;

/// What children of cancelled tasks are told.
const FAREWELL: &str = "Parent workflow has jumped to another task";

/// A jump that has not arrived: nothing new begins until all that was open is cancelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leaving {
    pub(crate) reference: String,
    pub(crate) input: Option<Payload>,
}

impl Turn<'_> {
    pub(crate) fn jump(&mut self, reference: &str, input: Option<Slot>) -> Result<(), Stop> {
        self.expect_running("jump in")?;
        self.expect_begun()?;
        if self.is_leaving_for(reference, input) {
            return Ok(());
        }
        self.expect_arrived()?;
        if self.execution().remaining_since.is_some() {
            return Err(self.wrong_state("left while its tasks are still beginning: ask again"));
        }
        let step = self.expect_step(reference)?;
        if let Some(outer) = self.execution().definition().surroundings(&step).last() {
            let message =
                format!("task {reference} is inside {0}: jump to {0} instead", outer.reference());
            return Err(Rejection::Invalid(message).into());
        }
        if let Some(input) = input {
            self.expect_object("the task input", input)?;
        }
        if self.is_already_at(&step, input) {
            return Ok(());
        }
        if self.execution().open_count() > STEPS_MAX {
            self.emit(Change::Leaving { reference: reference.to_owned(), input });
            return self.leave();
        }
        let open: Vec<Arc<Task>> = self.execution().open_tasks().cloned().collect();
        self.expect_deliveries(&open)?;
        for task in &open {
            self.cancel(task, FAREWELL)?;
        }
        self.arrive(step, input, &open)
    }

    /// Cancels what is open, as much as one commit holds. Whatever ended by itself meanwhile leads
    /// nowhere any more.
    pub(crate) fn leave(&mut self) -> Result<(), Stop> {
        let Some(leaving) = self.execution().run().leaving.clone() else { return Ok(()) };
        let waiting = self.execution().unconsumed().into_iter().map(|task| task.id);
        let ended: Vec<TaskId> = waiting.chain(self.closed.drain(..)).collect();
        self.joins.clear();
        self.loops.clear();
        if self.execution().remaining_since.is_some() {
            self.emit(Change::Continued);
        }
        ended.into_iter().for_each(|task| self.emit(Change::TaskPassedOver { task }));
        let open: Vec<Arc<Task>> = self.execution().open_tasks().take(STEPS_MAX).cloned().collect();
        self.expect_deliveries(&open)?;
        for task in &open {
            self.cancel(task, FAREWELL)?;
            self.emit(Change::TaskPassedOver { task: task.id });
        }
        if self.execution().open_count() > 0 {
            self.emit(Change::Remaining { tasks: Vec::new() });
            return Ok(());
        }
        self.emit(Change::Arrived);
        let step = self.expect_step(&leaving.reference)?;
        let input = leaving.input.map(|input| self.store(input));
        self.arrive(step, input, &[])
    }

    /// Nothing is open any more. `left` was cancelled, and leads nowhere.
    fn arrive(&mut self, step: Step, input: Option<Slot>, left: &[Arc<Task>]) -> Result<(), Stop> {
        let home = Arc::clone(self.execution().definition());
        let steps: Vec<Step> = home.top().cloned().collect();
        let (before, from) = steps.split_at(steps.iter().position(|it| *it == step).unwrap_or(0));
        let is_from = |task: &&Arc<Task>| {
            let place = self.execution().top_place(task);
            place.is_some_and(|place| from.contains(&place))
        };
        let ran = self.execution().tasks().filter(is_from);
        let ran: Vec<String> = ran.map(|task| task.reference.to_string()).collect();
        if !ran.is_empty() {
            let generation = self.execution().generation + 1;
            self.emit(Change::TasksRemoved { which: Removed::Steps(ran), generation });
        }
        let stays = |task: &&Arc<Task>| self.execution().task(task.id).is_some();
        let passed: Vec<_> = left.iter().filter(stays).map(|task| task.id).collect();
        passed.into_iter().for_each(|task| self.emit(Change::TaskPassedOver { task }));
        let nothing = self.store(Payload::empty());
        for step in before {
            if self.execution().latest(step.reference()).is_none() {
                self.record_skipped(step.reference(), nothing, nothing, false);
            }
        }
        let site = Site::first(step);
        match input {
            Some(input) => self.schedule_with(site, input),
            None => self.schedule(site),
        }
    }

    /// The run is at that step already, and nowhere else.
    fn is_already_at(&mut self, step: &Step, input: Option<Slot>) -> bool {
        let open: Vec<Arc<Task>> = self.execution().open_tasks().take(2).cloned().collect();
        let [task] = &*open else { return false };
        let given = input.map(|input| self.given(step, task.fork, task.id, input));
        let is_same = given.is_none_or(|given| *self.payload(given) == task.input);
        &*task.reference == step.reference() && is_same
    }

    fn is_leaving_for(&self, reference: &str, input: Option<Slot>) -> bool {
        let given = input.map(|input| self.payload(input).clone());
        let wanted = Leaving { reference: reference.to_owned(), input: given };
        self.execution().run().leaving.as_ref() == Some(&wanted)
    }

    pub(crate) fn is_leaving(&self) -> bool {
        self.execution().run().leaving.is_some()
    }

    pub(crate) fn expect_arrived(&self) -> Result<(), Stop> {
        match self.is_leaving() {
            true => Err(self.wrong_state("changed while it jumps: ask again")),
            false => Ok(()),
        }
    }
}
