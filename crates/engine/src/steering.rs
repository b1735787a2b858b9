//! # Steering: a person changes the course of a run that is under way
//!
//! Skip, upgrade, reset of callbacks, variables. Each asked twice is done once.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{Digest, Payload, TaskStatus, WorkflowStatus};

use crate::change::Change;
use crate::decide::{Rejection, Stop};
use crate::event::Slot;
use crate::expression::{appended, merged};
use crate::kinds::Kind;
use crate::pin::{Pinned, Step};
use crate::settle::successor;
use crate::task::{Task, in_turns};
use crate::tasks::VARIABLES_BYTES_MAX;
use crate::turn::Turn;

impl Turn<'_> {
    /// A step that has not been reached is recorded as done with; a fork with its join.
    pub(crate) fn skip(&mut self, reference: &str, input: Slot, output: Slot) -> Result<(), Stop> {
        self.expect_running("skip a task of")?;
        self.expect_arrived()?;
        let step = self.expect_step(reference)?;
        let name = self.name_to_come(reference, &step)?;
        if let Some(task) = self.execution().latest(&name) {
            let message = format!("task {name} exists and is {}: too late", task.status);
            return Err(Rejection::WrongState(message).into());
        }
        self.expect_object("taskInput", input)?;
        self.expect_object("taskOutput", output)?;
        self.record_skipped(&name, input, output, true);
        if matches!(step.kind(), Kind::Fork | Kind::DynamicFork) {
            let join = successor(self.execution().definition(), &step).cloned();
            if let Some(join) = join.filter(|next| next.kind() == Kind::Join) {
                let nothing = self.store(Payload::empty());
                let name = name.replacen(step.reference(), join.reference(), 1);
                if self.execution().latest(&name).is_none() {
                    self.record_skipped(&name, nothing, nothing, true);
                }
            }
        }
        self.joins.extend(self.execution().joins_on(&name));
        Ok(())
    }

    pub(crate) fn record_skipped(&mut self, name: &str, input: Slot, output: Slot, ahead: bool) {
        let task = self.task_id(name, 0);
        let reference = name.to_owned();
        self.emit(Change::TaskSkipped { task, reference, input, output, ahead, fork: None });
    }

    /// What the next task at a step will be called: in the turns the loops around it are in, or
    /// will be in first.
    fn name_to_come(&self, reference: &str, step: &Step) -> Result<String, Stop> {
        let home = self.execution().definition();
        let mut around: Vec<&Step> = home.surroundings(step).collect();
        around.retain(|outer| outer.kind() == Kind::DoWhile);
        if reference != step.reference() {
            if Task::turns_in(reference, step).len() == around.len() {
                return Ok(reference.to_owned());
            }
            let message = format!("{} is inside {} loops", step.reference(), around.len());
            return Err(Rejection::Invalid(message).into());
        }
        let mut turns = Vec::new();
        for outer in around.into_iter().rev() {
            let found = self.execution().latest(&in_turns(outer.reference(), &turns));
            turns.push(found.map_or(1, |task| task.iteration().max(1)));
        }
        Ok(in_turns(reference, &turns))
    }

    /// Goes on by another definition, from where the run stands.
    pub(crate) fn upgrade(
        &mut self,
        definition: Digest,
        input: Option<Slot>,
        outputs: &BTreeMap<String, Slot>,
    ) -> Result<(), Stop> {
        if !self.execution().is_live() {
            return Err(self.wrong_state("upgraded"));
        }
        self.expect_arrived()?;
        self.expect_begun()?;
        self.expect_place()?;
        for slot in outputs.values() {
            self.expect_object("taskOutput", *slot)?;
        }
        if let Some(input) = input {
            self.expect_object("workflowInput", input)?;
            self.expect_fitting(&merged(self.execution().input(), self.payload(input)))?;
        }
        if definition != self.execution().definition().digest() {
            self.emit(Change::DefinitionChanged { definition });
        }
        if let Some(input) = input {
            let merged = merged(self.execution().input(), self.payload(input));
            if merged != *self.execution().input() {
                let input = self.store(merged);
                self.emit(Change::InputSet { input });
            }
        }
        self.skip_new_predecessors(outputs);
        Ok(())
    }

    /// Wherever the run stands must be a place in the new definition, inside of the same steps.
    fn expect_place(&self) -> Result<(), Stop> {
        let Some(definition) = self.brought() else { return Ok(()) };
        let current = Arc::clone(self.execution().definition());
        let around = |home: &Pinned, step: &Step| -> Vec<String> {
            home.surroundings(step).map(|outer| outer.reference().to_owned()).collect()
        };
        let has_place = |task: &Arc<Task>| {
            let here = current.find(&task.reference).map(|step| around(&current, step));
            let there = definition.find(&task.reference).map(|step| around(&definition, step));
            there.is_some() && (here == there || here.is_none())
        };
        let lost = self.stands_at().into_iter().find(|task| !has_place(task));
        let Some(lost) = lost else { return Ok(()) };
        let message = format!(
            "task {} is {} and version {} of {} has no such step there: let the run get past it \
             first, or jump",
            lost.reference,
            lost.status,
            definition.definition().version,
            definition.definition().name
        );
        Err(Rejection::WrongState(message).into())
    }

    /// What is open, and what ended while paused and was not followed yet; of what is inside a
    /// dynamic fork, the fork.
    fn stands_at(&self) -> Vec<Arc<Task>> {
        let open = self.execution().open_tasks().cloned();
        let all = open.chain(self.execution().unconsumed());
        all.map(|task| self.execution().outside_of_forks(&task)).collect()
    }

    /// Steps before where the run stands that never ran.
    fn skip_new_predecessors(&mut self, outputs: &BTreeMap<String, Slot>) {
        let home = Arc::clone(self.execution().definition());
        let mut missing: BTreeMap<usize, String> = BTreeMap::new();
        for task in self.stands_at() {
            let Some(place) = home.find(&task.reference) else { continue };
            for at in std::iter::once(place).chain(home.surroundings(place)) {
                let mut before = home.before(at);
                while let Some(step) = before {
                    let name = self.name_beside(&task, step);
                    let order = home.steps().iter().position(|it| it == step).unwrap_or(0);
                    if self.execution().latest(&name).is_none() {
                        missing.insert(order, name);
                    }
                    before = home.before(step);
                }
            }
        }
        let nothing = self.store(Payload::empty());
        for name in missing.into_values() {
            let output = outputs.get(&name).copied().unwrap_or(nothing);
            self.record_skipped(&name, nothing, output, false);
        }
    }

    /// Tasks that wait for their delay or callback can be taken now.
    pub(crate) fn reset_callbacks(&mut self) -> Result<(), Stop> {
        if !self.execution().is_live() {
            return Err(self.wrong_state("told to reset callbacks"));
        }
        let now = self.now();
        let waits = |task: &&Arc<Task>| {
            task.status == TaskStatus::Scheduled && !task.system && task.ready_at > now
        };
        let waiting: Vec<_> = self.execution().open_tasks().filter(waits).cloned().collect();
        for task in waiting {
            if !self.hand_out(&task)?.leased {
                self.emit(Change::TaskReady { task: task.id });
            }
        }
        Ok(())
    }

    /// Lists are put behind those that are there; everything else replaces it.
    pub(crate) fn append_variables(&mut self, variables: Slot) -> Result<(), Stop> {
        self.expect_object("what is appended", variables)?;
        let appended = appended(self.execution().variables(), self.payload(variables));
        let variables = self.store(appended);
        self.update_variables(variables)
    }

    pub(crate) fn update_variables(&mut self, variables: Slot) -> Result<(), Stop> {
        if !self.execution().is_live() {
            return Err(self.wrong_state("given variables"));
        }
        self.expect_object("the body", variables)?;
        let merged = merged(self.execution().variables(), self.payload(variables));
        if merged.len() > VARIABLES_BYTES_MAX {
            let bytes = merged.len();
            let message = format!(
                "the variables would take {bytes} bytes, more than the limit of \
                 {VARIABLES_BYTES_MAX}"
            );
            return Err(Rejection::Invalid(message).into());
        }
        if merged != *self.execution().variables() {
            self.emit(Change::VariablesSet { variables });
        }
        Ok(())
    }

    pub(crate) fn expect_running(&self, verb: &str) -> Result<(), Stop> {
        match self.execution().status() {
            Some(WorkflowStatus::Running) => Ok(()),
            status => {
                let status = status.map_or("unknown", WorkflowStatus::as_str);
                let id = self.execution().id();
                let message = format!("cannot {verb} workflow {id}: it is {status}, not RUNNING");
                Err(Rejection::WrongState(message).into())
            }
        }
    }

    pub(crate) fn expect_step(&self, reference: &str) -> Result<Step, Stop> {
        let found = self.execution().definition().find(reference).cloned();
        let name = &self.execution().definition().definition().name;
        let missing =
            || Rejection::NotFound(format!("workflow {name} has no task of reference {reference}"));
        Ok(found.ok_or_else(missing)?)
    }

    pub(crate) fn expect_object(&self, what: &str, slot: Slot) -> Result<(), Stop> {
        if self.payload(slot).is_object() {
            return Ok(());
        }
        Err(Rejection::Invalid(format!("{what} must be a JSON object")).into())
    }
}
