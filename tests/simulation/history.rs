//! # History: what clients were told, and whether it is true
//!
//! Only answers that reached a client count. At the end every one of them must still be so.

use std::collections::{BTreeMap, BTreeSet};

use semel_engine::{EffectStatus, Execution, Token};
use semel_model::{Digest, ExecutionId, TaskId, TaskResultStatus, WorkflowStatus};
use semel_runtime::{World, verify};
use semel_store::MemoryStore;

use crate::workers::Said;

#[derive(Default)]
pub(crate) struct History {
    /// Ids answered to starts, by key.
    pub(crate) started: BTreeMap<String, BTreeSet<ExecutionId>>,
    /// Final reports that were accepted, by task.
    accepted: BTreeMap<(ExecutionId, TaskId), BTreeSet<Digest>>,
    /// Who was told to hold a task under a fence.
    fences: BTreeMap<(TaskId, u64), Token>,
    pub(crate) terminated: BTreeSet<ExecutionId>,
}

impl History {
    pub(crate) fn handed_out(&mut self, task: TaskId, fence: u64, to: Token) -> Result<(), String> {
        match self.fences.insert((task, fence), to) {
            Some(before) if before != to => {
                Err(format!("task {task}: fence {fence} was given to two polls"))
            }
            _ => Ok(()),
        }
    }

    /// The highest fence anybody is known to have been given for a task.
    pub(crate) fn latest_fence(&self, task: TaskId) -> u64 {
        let given = self.fences.range((task, 0)..=(task, u64::MAX));
        given.last().map_or(0, |((_, fence), _)| *fence)
    }

    pub(crate) fn accepted(&mut self, said: &Said) -> Result<(), String> {
        let task = said.job.task;
        if said.superseded {
            return Err(format!("task {task}: the report of a superseded holder was accepted"));
        }
        if said.status != TaskResultStatus::InProgress {
            let place = (said.job.execution, task);
            self.accepted.entry(place).or_default().insert(said.fingerprint);
        }
        Ok(())
    }

    /// All promises, checked against what is stored.
    pub(crate) fn check(&self, store: &MemoryStore, world: &World) -> Result<(), String> {
        let mut by_key: BTreeMap<String, Vec<ExecutionId>> = BTreeMap::new();
        let mut executions: BTreeMap<ExecutionId, std::sync::Arc<Execution>> = BTreeMap::new();
        for id in store.executions() {
            let found = world.read(id).map_err(|error| format!("{id}: {error}"))?;
            let execution = found.ok_or_else(|| format!("{id}: gone while being read"))?.execution;
            if let Some(key) = execution.idempotency_key() {
                by_key.entry(key.to_owned()).or_default().push(id);
            }
            if !execution.is_closed() {
                return Err(format!("{id} never closes: {:?}", execution.status()));
            }
            let verdict = verify(world, id).map_err(|error| format!("{id}: {error}"))?;
            if let Some((seq, what)) = verdict.and_then(|verdict| verdict.fault) {
                return Err(format!("{id} does not verify at {seq}: {what}"));
            }
            executions.insert(id, execution);
        }
        self.check_starts(&by_key)?;
        self.check_reports(&executions)?;
        check_effects(executions.values().map(AsRef::as_ref))?;
        for id in &self.terminated {
            let status = executions.get(id).and_then(|execution| execution.status());
            if status != Some(WorkflowStatus::Terminated)
                && status != Some(WorkflowStatus::Completed)
            {
                return Err(format!("{id} was terminated and is {status:?}"));
            }
        }
        Ok(())
    }

    fn check_starts(&self, by_key: &BTreeMap<String, Vec<ExecutionId>>) -> Result<(), String> {
        for (key, ids) in by_key {
            if ids.len() != 1 {
                return Err(format!("key {key} has {} executions", ids.len()));
            }
        }
        for (key, ids) in &self.started {
            let stored = by_key.get(key);
            if ids.len() != 1 || stored.is_none_or(|stored| !ids.contains(&stored[0])) {
                return Err(format!("key {key}: told {ids:?}, stored {stored:?}"));
            }
        }
        Ok(())
    }

    fn check_reports(
        &self,
        executions: &BTreeMap<ExecutionId, std::sync::Arc<Execution>>,
    ) -> Result<(), String> {
        for ((execution, task), fingerprints) in &self.accepted {
            if fingerprints.len() != 1 {
                return Err(format!("task {task} has {} accepted results", fingerprints.len()));
            }
            let found = executions.get(execution).and_then(|found| found.task(*task));
            let stored = found.and_then(|task| task.accepted);
            if !stored.is_some_and(|stored| fingerprints.contains(&stored)) {
                return Err(format!("task {task}: an accepted report is lost"));
            }
        }
        Ok(())
    }
}

/// Per key one task has done it, and whoever was told of it was told the same.
fn check_effects<'a>(executions: impl Iterator<Item = &'a Execution>) -> Result<(), String> {
    let mut done: BTreeMap<(String, String), (usize, BTreeSet<String>)> = BTreeMap::new();
    for task in executions.flat_map(Execution::tasks) {
        let Some(once) = task.once.as_ref().filter(|_| task.status.is_successful()) else {
            continue;
        };
        let effect = done.entry((once.scope.clone(), once.key.clone())).or_default();
        effect.0 += usize::from(once.status == EffectStatus::Claimed);
        effect.1.insert(task.output.text().to_owned());
    }
    for (key, (count, outputs)) in done {
        if count > 1 || outputs.len() != 1 {
            return Err(format!("effect {key:?} happened {count} times: {outputs:?}"));
        }
    }
    Ok(())
}
