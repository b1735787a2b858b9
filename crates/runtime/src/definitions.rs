//! # Definitions: what is registered, and what runs are pinned to
//!
//! Pinned definitions never change and are cached by digest. What is registered is cached as long as
//! the store's document generation stands still.

use std::sync::{Arc, PoisonError, RwLock};

use semel_engine::{Limits, Pinned, Registry, embed_in_task, pin};
use semel_model::{Digest, SchemaDef, TaskDef, WorkflowDef};
use semel_store::{DocumentKey, Kind, Store, StoreError};

use crate::definition_cache::DefinitionCache;
use crate::failure::Failure;
use crate::memory::Budget;
use crate::schemas::Schemas;

pub struct Definitions {
    store: Arc<dyn Store>,
    budget: Budget,
    pinned: DefinitionCache<Digest, Arc<Pinned>>,
    registered: RwLock<Arc<Registered>>,
}

/// One generation's look-ups.
struct Registered {
    generation: u64,
    workflows: DefinitionCache<(String, Option<i32>), Option<Arc<Pinned>>>,
    tasks: DefinitionCache<String, Option<Arc<TaskDef>>>,
}

impl Registered {
    /// Half of what definitions may take is for those that runs are pinned to.
    fn of(generation: u64, budget: Budget) -> Self {
        let workflows = DefinitionCache::new(budget.definitions() / 4);
        Self { generation, workflows, tasks: DefinitionCache::new(budget.definitions() / 4) }
    }
}

impl Definitions {
    pub(crate) fn new(store: Arc<dyn Store>, budget: Budget) -> Self {
        let registered = RwLock::new(Arc::new(Registered::of(u64::MAX, budget)));
        Self { store, budget, pinned: DefinitionCache::new(budget.definitions() / 2), registered }
    }

    /// What is kept in memory, about.
    pub(crate) fn bytes(&self) -> u64 {
        let registered = self.lately();
        self.pinned.bytes() + registered.workflows.bytes() + registered.tasks.bytes()
    }

    pub(crate) fn pinned(&self, digest: Digest) -> Result<Arc<Pinned>, Failure> {
        if let Some(found) = self.pinned.get(&digest) {
            return Ok(found);
        }
        let missing = || StoreError::Corrupt(format!("pinned definition {digest} is missing"));
        let text = self.store.pinned(digest)?.ok_or_else(missing)?;
        let parsed = Pinned::parse(&text);
        let parsed = parsed.map_err(|error| StoreError::Corrupt(format!("{digest}: {error}")))?;
        Ok(self.remember(parsed))
    }

    /// One that is known already has its schemas compiled.
    fn remember(&self, pinned: Pinned) -> Arc<Pinned> {
        if let Some(known) = self.pinned.get(&pinned.digest()) {
            return known;
        }
        let pinned = Arc::new(pinned);
        self.know(&pinned);
        pinned
    }

    /// A definition that is about to be stored: tasks of its run may be handed out with it.
    pub(crate) fn know(&self, pinned: &Arc<Pinned>) {
        if self.pinned.get(&pinned.digest()).is_none() {
            let bytes = pinned.text().len();
            self.pinned.insert(pinned.digest(), Arc::clone(pinned), bytes);
        }
    }

    /// What a start by name runs: that version, else the highest.
    pub fn for_start(
        &self,
        name: &str,
        version: Option<i32>,
    ) -> Result<Option<Arc<Pinned>>, Failure> {
        let current = self.current()?;
        let key = (name.to_owned(), version);
        if let Some(found) = current.workflows.get(&key) {
            return Ok(found);
        }
        let found = self.workflow(name, version)?.map(|found| self.pin(found)).transpose()?;
        let bytes = found.as_ref().map_or(0, |found| found.text().len());
        current.workflows.insert(key, found.clone(), bytes);
        Ok(found)
    }

    /// The same as far as this process has heard, and as of which generation: the round that starts
    /// it finds out whether that is still so. What is not known is looked for.
    pub fn for_start_lately(
        &self,
        name: &str,
        version: Option<i32>,
    ) -> Result<(Option<Arc<Pinned>>, u64), Failure> {
        let lately = self.lately();
        if let Some(Some(found)) = lately.workflows.get(&(name.to_owned(), version)) {
            return Ok((Some(found), lately.generation));
        }
        let generation = self.current()?.generation;
        Ok((self.for_start(name, version)?, generation))
    }

    /// Hears of what was registered elsewhere.
    pub(crate) fn refresh(&self) -> Result<(), Failure> {
        self.current().map(drop)
    }

    /// Whether definitions of that generation are still those that are registered.
    pub(crate) fn is_current(&self, generation: u64) -> Result<bool, Failure> {
        Ok(self.store.documents_generation()? == generation)
    }

    /// Embeds task definitions as they are registered now.
    pub fn pin(&self, definition: WorkflowDef) -> Result<Arc<Pinned>, Failure> {
        let mut looking = Looking { definitions: self, failure: None };
        let pinned = pin(definition, &mut looking);
        match looking.failure {
            Some(failure) => Err(failure),
            None => Ok(self.remember(pinned.map_err(Failure::NoDefinition)?)),
        }
    }

    pub fn workflow(
        &self,
        name: &str,
        version: Option<i32>,
    ) -> Result<Option<WorkflowDef>, Failure> {
        let found = match version {
            Some(version) => self.store.document(&Self::workflow_key(name, version))?,
            None => {
                let all = self.store.documents(Kind::WorkflowDefinition, Some(name))?;
                all.into_iter().last().map(|(_, body)| body)
            }
        };
        found.map(|body| parse(&body, name)).transpose()
    }

    /// All versions of all names, or of one, ordered by name and version.
    pub fn workflows(&self, name: Option<&str>) -> Result<Vec<WorkflowDef>, Failure> {
        let all = self.store.documents(Kind::WorkflowDefinition, name)?;
        all.iter().map(|(key, body)| parse(body, &key.name)).collect()
    }

    pub fn task(&self, name: &str) -> Result<Option<Arc<TaskDef>>, Failure> {
        let current = self.current()?;
        if let Some(found) = current.tasks.get(name) {
            return Ok(found);
        }
        let body = self.store.document(&Self::task_key(name))?;
        let bytes = body.as_ref().map_or(0, |body| body.len());
        let found = body.map(|body| parse(&body, name)).transpose()?.map(Arc::new);
        current.tasks.insert(name.to_owned(), found.clone(), bytes);
        Ok(found)
    }

    /// The same as far as this process has heard.
    pub(crate) fn task_lately(&self, name: &str) -> Result<Option<Arc<TaskDef>>, Failure> {
        match self.lately().tasks.get(name) {
            Some(found) => Ok(found),
            None => self.task(name),
        }
    }

    /// As a step that comes with data has it in itself.
    pub(crate) fn embedded_task(&self, name: &str) -> Result<Option<Arc<TaskDef>>, Failure> {
        let Some(mut found) = self.task(name)? else { return Ok(None) };
        let mut looking = Looking { definitions: self, failure: None };
        embed_in_task(&mut found, &mut looking);
        looking.failure.map_or(Ok(Some(found)), Err)
    }

    /// A schema that definitions may name; version 0 is the latest.
    pub(crate) fn schema(&self, name: &str, version: i32) -> Result<Option<SchemaDef>, Failure> {
        let schemas = Schemas::new(Arc::clone(&self.store));
        schemas.get(name, Some(version).filter(|version| *version != 0))
    }

    pub fn tasks(&self) -> Result<Vec<TaskDef>, Failure> {
        let all = self.store.documents(Kind::TaskDefinition, None)?;
        all.iter().map(|(key, body)| parse(body, &key.name)).collect()
    }

    /// The registered definition's limits, else those the run was pinned with.
    pub(crate) fn limits(&self, task_type: &str, pinned: &TaskDef) -> Result<Limits, Failure> {
        Ok(self.task(task_type)?.map_or_else(|| Limits::of(pinned), |found| Limits::of(&found)))
    }

    pub fn workflow_key(name: &str, version: i32) -> DocumentKey {
        DocumentKey { kind: Kind::WorkflowDefinition, name: name.to_owned(), version }
    }

    pub fn task_key(name: &str) -> DocumentKey {
        DocumentKey { kind: Kind::TaskDefinition, name: name.to_owned(), version: 0 }
    }

    fn lately(&self) -> Arc<Registered> {
        Arc::clone(&self.registered.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The look-ups of the store's current generation.
    fn current(&self) -> Result<Arc<Registered>, Failure> {
        let generation = self.store.documents_generation()?;
        let current = self.lately();
        if current.generation == generation {
            return Ok(current);
        }
        let fresh = Arc::new(Registered::of(generation, self.budget));
        *self.registered.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&fresh);
        Ok(fresh)
    }
}

/// Looks up what is registered, and remembers the first failure to do so.
struct Looking<'a> {
    definitions: &'a Definitions,
    failure: Option<Failure>,
}

impl Looking<'_> {
    fn note<T>(&mut self, found: Result<Option<T>, Failure>) -> Option<T> {
        found.unwrap_or_else(|failure| {
            self.failure.get_or_insert(failure);
            None
        })
    }
}

impl Registry for Looking<'_> {
    fn task(&mut self, name: &str) -> Option<Arc<TaskDef>> {
        let found = self.definitions.task(name);
        self.note(found)
    }

    fn latest(&mut self, workflow: &str) -> Option<i32> {
        let found = self.definitions.workflow(workflow, None);
        self.note(found).map(|definition| definition.version)
    }

    fn schema(&mut self, name: &str, version: i32) -> Option<SchemaDef> {
        let found = self.definitions.schema(name, version);
        self.note(found)
    }
}

fn parse<T: for<'a> serde::Deserialize<'a>>(body: &[u8], name: &str) -> Result<T, Failure> {
    serde_json::from_slice(body)
        .map_err(|error| StoreError::Corrupt(format!("definition {name}: {error}")).into())
}
