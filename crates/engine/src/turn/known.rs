//! # Known: the facts a turn is decided on
//!
//! Whatever is looked at is noted, so that the entry can be decided again. What is not at hand is a
//! miss, and all is decided again with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_model::{Digest, ExecutionId, Payload, SchemaDef, TaskDef};

use super::Turn;
use crate::change::Change;
use crate::decide::{Rejection, Rows, Stop};
use crate::descendants::Descendants;
use crate::facts::{Claim, Registered};
use crate::message::EPOCH_ALONE;
use crate::pin::Pinned;
use crate::record::{Record, RecordKey};
use crate::step_start::Ruling;

impl Turn<'_> {
    /// A registered workflow; without a version the latest.
    pub(crate) fn registered(
        &mut self,
        name: &str,
        version: Option<i32>,
    ) -> Result<Option<Registered>, Stop> {
        let version = version.unwrap_or(0);
        let known = self.facts.definitions.get(name).and_then(|versions| versions.get(&version));
        let Some(found) = known else {
            return Err(Stop::Miss(Rows::Definition(name.to_owned(), version)));
        };
        self.used.definitions.entry(name.to_owned()).or_default().insert(version, *found);
        Ok(*found)
    }

    /// What is registered under these names of tasks.
    pub(crate) fn task_definitions(
        &mut self,
        names: BTreeSet<&str>,
    ) -> Result<BTreeMap<String, Arc<TaskDef>>, Stop> {
        let facts = self.facts;
        let missing = names.iter().filter(|name| !facts.tasks.contains_key(**name));
        let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
        if !missing.is_empty() {
            return Err(Stop::Miss(Rows::Tasks(missing)));
        }
        let found = names.into_iter().map(|name| (name.to_owned(), facts.tasks[name].clone()));
        let found: BTreeMap<_, _> = found.collect();
        self.used.tasks.extend(found.clone());
        Ok(found.into_iter().filter_map(|(name, found)| Some((name, found?))).collect())
    }

    /// What is registered under these names and versions of schemas.
    pub(crate) fn schemas(
        &mut self,
        wanted: &BTreeSet<(String, i32)>,
    ) -> Result<BTreeMap<(String, i32), SchemaDef>, Stop> {
        let facts = self.facts;
        let found = |(name, version): &(String, i32)| facts.schemas.get(name)?.get(version);
        let missing: Vec<_> = wanted.iter().filter(|key| found(key).is_none()).cloned().collect();
        if !missing.is_empty() {
            return Err(Stop::Miss(Rows::Schemas(missing)));
        }
        let mut known = BTreeMap::new();
        for key @ (name, version) in wanted {
            let schema = found(key).cloned().flatten();
            let used = self.used.schemas.entry(name.clone()).or_default();
            used.insert(*version, schema.clone());
            known.extend(schema.map(|schema| (key.clone(), schema)));
        }
        Ok(known)
    }

    /// Why that run of a workflow may not begin with that input.
    pub(crate) fn refusal(
        &mut self,
        run: ExecutionId,
        definition: Digest,
        input: &Payload,
    ) -> Option<String> {
        let choosy = self.at_hand(definition).filter(|pinned| pinned.is_choosy());
        self.refusal_by(choosy.as_deref(), run, input)
    }

    /// The same of a definition that is at hand. What was said when this was first decided still
    /// counts.
    pub(crate) fn refusal_by(
        &mut self,
        definition: Option<&Pinned>,
        run: ExecutionId,
        input: &Payload,
    ) -> Option<String> {
        let said = match self.facts.refusals.get(&run) {
            Some(said) => said.clone(),
            None => definition?.refusal(input).as_ref().map(Rejection::to_string),
        };
        self.used.refusals.insert(run, said.clone());
        said
    }

    /// How many descendants of the root of this run are open. None: when this was first decided there
    /// was room, or nobody counts.
    pub(crate) fn descendants(&self) -> Result<Option<Descendants>, Stop> {
        match self.facts.descendants {
            None if self.facts.at_hand.counts_descendants => {
                Err(Stop::Miss(Rows::Descendants(self.execution.root())))
            }
            counted => Ok(counted),
        }
    }

    pub(crate) fn note_descendants(&mut self, counted: Descendants) {
        self.used.descendants = Some(counted);
    }

    /// How many runs this turn has begun.
    pub(crate) fn runs_begun(&self) -> u64 {
        let begins = |change: &&Change| matches!(change, Change::RunCreated { .. });
        self.changes.iter().filter(begins).count() as u64
    }

    /// Who has that start key.
    pub(crate) fn claim(&mut self, key: &RecordKey) -> Result<Option<Claim>, Stop> {
        if let Some(claim) = self.claimed.get(key) {
            return Ok(Some(*claim));
        }
        let known = self.facts.records.get(&key.scope).and_then(|keys| keys.get(&key.key));
        let Some(found) = known else { return Err(Stop::Miss(Rows::Record(key.clone()))) };
        let used = self.used.records.entry(key.scope.clone()).or_default();
        used.insert(key.key.clone(), *found);
        Ok(*found)
    }

    /// The record under that key, as this turn has it.
    pub(crate) fn guard(&mut self, key: &RecordKey) -> Result<Option<Record>, Stop> {
        if let Some(made) = self.guarded.get(key) {
            return Ok(made.clone());
        }
        let known = self.facts.guards.get(&key.scope).and_then(|keys| keys.get(&key.key));
        let Some(found) = known else { return Err(Stop::Miss(Rows::Guard(key.clone()))) };
        let used = self.used.guards.entry(key.scope.clone()).or_default();
        used.insert(key.key.clone(), found.clone());
        Ok(found.clone())
    }

    /// Greater than that of any earlier owner of whatever this turn claims.
    pub(crate) fn fence(&mut self) -> u64 {
        self.used.fence = self.facts.fence;
        self.facts.fence.unwrap_or_default()
    }

    pub(crate) fn take_key(&mut self, key: RecordKey, claim: Claim) {
        self.claimed.insert(key, claim);
    }

    /// The epoch under which the parent's task will know this run. Without one that would notice,
    /// the run lives on alone: nothing its parent ever said counts any more.
    pub(crate) fn epoch(&mut self) -> Option<u32> {
        self.used.epoch = self.facts.epoch;
        let has_parent = self.execution.parent().is_some();
        self.facts.epoch.or(has_parent.then_some(EPOCH_ALONE))
    }

    /// A registered workflow by its digest, while deciding for the first time.
    pub(crate) fn at_hand(&self, definition: Digest) -> Option<Arc<Pinned>> {
        self.facts.at_hand.get(definition).cloned()
    }

    /// What was said of that start when this was first decided.
    pub(crate) fn ruled(&mut self, run: ExecutionId) -> Option<Ruling> {
        let said = self.used.rulings.get(&run).or_else(|| self.facts.rulings.get(&run)).cloned();
        said.map(|said| self.note_ruling(run, said))
    }

    pub(crate) fn note_ruling(&mut self, run: ExecutionId, said: Ruling) -> Ruling {
        if said != Ruling::default() {
            self.used.rulings.insert(run, said.clone());
        }
        said
    }

    /// The server knows that whoever is at that address honours keys; that it was asked is noted.
    pub(crate) fn is_key_host(&mut self, uri: &str) -> bool {
        self.used.key_hosts.take(&self.facts.key_hosts, uri)
    }

    pub(crate) fn idle_turns_max(&self) -> Option<u32> {
        self.facts.loop_turns_max
    }

    /// A loop ended because of it.
    pub(crate) fn note_idle_turns_max(&mut self) {
        self.used.loop_turns_max = self.facts.loop_turns_max;
    }

    /// The limit of tasks, if a definition that a step brings has more.
    pub(crate) fn definition_tasks_exceeded(&mut self, tasks: usize) -> Option<usize> {
        let max = self.facts.sizes.definition_tasks_max.filter(|max| tasks > *max)?;
        self.used.sizes.definition_tasks_max = Some(max);
        Some(max)
    }

    /// The limit of branches, if a dynamic fork has more.
    pub(crate) fn fork_branches_exceeded(&mut self, branches: usize) -> Option<usize> {
        let max = self.facts.sizes.fork_branches_max.filter(|max| branches > *max)?;
        self.used.sizes.fork_branches_max = Some(max);
        Some(max)
    }

    /// An environment value by its name; that it was read is noted.
    pub(crate) fn environment_value(&mut self, name: &str) -> Option<String> {
        self.used.environment.take(&self.facts.environment, name)
    }
}
