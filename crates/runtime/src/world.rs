//! # The world: what all lanes of a node share
//!
//! Committed executions in memory, definitions, parked polls. All of it can be dropped at any
//! moment: it is only a way not to load again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use semel_engine::{Delivery, Entry, Event, Execution, Head, Limits, Link, Queue, SizeLimits};
use semel_model::{ExecutionId, KeyHosts, PollData, Timestamp};
use semel_store::{Loaded, Store, StoreError};

use crate::applications::Applications;
use crate::asking::{Asking, NoScripts, Scripts};
use crate::bells::Bells;
use crate::cache::Cache;
use crate::definitions::Definitions;
use crate::dirty::Dirty;
use crate::failure::Failure;
use crate::gauges::{OpenLook, Shown};
use crate::handlers::Handlers;
use crate::held_up::HeldUp;
use crate::hits::Hits;
use crate::in_flight::InFlight;
use crate::lineages::Lineages;
use crate::memory::Budget;
use crate::meters::Meters;
use crate::outage::Outage;
use crate::polls::Polls;
use crate::schemas::Schemas;
use crate::secrets::{KeyRing, Secrets};
use crate::shares::{Claimant, Party};
use crate::variables::Variables;
use crate::waiters::Waiters;
use crate::watchers::Watchers;
use crate::work::Work;

pub struct World {
    pub(crate) store: Arc<dyn Store>,
    pub applications: Applications,
    pub definitions: Definitions,
    pub secrets: Secrets,
    pub variables: Variables,
    pub handlers: Handlers,
    pub schemas: Schemas,
    pub(crate) waiters: Waiters,
    pub(crate) held_up: HeldUp,
    pub(crate) polls: Polls,
    pub(crate) watchers: Watchers,
    pub(crate) bells: Bells,
    /// Who asked again, while no record says so yet.
    pub(crate) hits: Hits,
    pub(crate) asking: Asking,
    pub(crate) scripts: Arc<dyn Scripts>,
    /// What the index has yet to hear of.
    pub(crate) dirty: Dirty,
    budget: Budget,
    /// What answers hold until they are sent.
    pub answers: Arc<InFlight>,
    pub(crate) executions: Cache<Execution>,
    /// How long runs are kept after their end; none: for ever.
    pub(crate) retention_ms: Option<i64>,
    pub(crate) key_hosts: KeyHosts,
    pub(crate) loop_turns_max: Option<u32>,
    pub(crate) sizes: SizeLimits,
    pub(crate) lineages: Lineages,
    /// Why the last round could not be written; nothing when it could.
    trouble: Mutex<Option<String>>,
    pub(crate) outage: Outage,
    /// When something was last written, in milliseconds of the store's time; 0: not yet.
    committed_at: AtomicI64,
    pub(crate) meters: Meters,
    pub(crate) shown: Shown,
    pub(crate) open_look: OpenLook,
}

impl World {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            applications: Applications::new(Arc::clone(&store)),
            definitions: Definitions::new(Arc::clone(&store), Budget::default()),
            secrets: Secrets::new(Arc::clone(&store), KeyRing::throw_away()),
            variables: Variables::new(Arc::clone(&store), BTreeMap::new()),
            handlers: Handlers::new(Arc::clone(&store)),
            schemas: Schemas::new(Arc::clone(&store)),
            store,
            waiters: Waiters::default(),
            held_up: HeldUp::default(),
            polls: Polls::default(),
            watchers: Watchers::default(),
            bells: Bells::default(),
            hits: Hits::default(),
            asking: Asking::default(),
            scripts: Arc::new(NoScripts),
            dirty: Dirty::default(),
            budget: Budget::default(),
            answers: InFlight::new(Budget::default().answers()),
            executions: Cache::new(Budget::default()),
            retention_ms: None,
            key_hosts: KeyHosts::default(),
            loop_turns_max: None,
            sizes: SizeLimits::default(),
            lineages: Lineages::default(),
            trouble: Mutex::default(),
            outage: Outage::default(),
            committed_at: AtomicI64::new(0),
            meters: Meters::default(),
            shown: Shown::default(),
            open_look: OpenLook::default(),
        }
    }

    /// Runs that have been over for so long are removed.
    #[must_use]
    pub fn keeping(self, retention_ms: Option<i64>) -> Self {
        Self { retention_ms: retention_ms.filter(|ms| *ms > 0), ..self }
    }

    /// Beyond that no run of a lineage begins.
    #[must_use]
    pub fn limiting_descendants(self, max: Option<u64>) -> Self {
        Self { lineages: Lineages::limited_to(max), ..self }
    }

    /// How long runs are kept after their end; none: for ever.
    pub fn retention_ms(&self) -> Option<i64> {
        self.retention_ms
    }

    /// With keys that have to open everything that is stored.
    pub fn with_keys(mut self, ring: KeyRing) -> Result<Self, Failure> {
        self.secrets = Secrets::opening(Arc::clone(&self.store), ring)?;
        Ok(self)
    }

    /// With somebody who runs scripts.
    #[must_use]
    pub fn with_scripts(self, scripts: Arc<dyn Scripts>) -> Self {
        Self { scripts, ..self }
    }

    /// With so much memory for what is large.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let (executions, answers) = (Cache::new(budget), InFlight::new(budget.answers()));
        let definitions = Definitions::new(Arc::clone(&self.store), budget);
        Self { budget, executions, answers, definitions, ..self }
    }

    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// With environment values of the process; stored ones win.
    pub fn with_variables(mut self, of_process: BTreeMap<String, String>) -> Self {
        self.variables = Variables::new(Arc::clone(&self.store), of_process);
        self
    }

    /// With hosts that are known to honour idempotency keys.
    #[must_use]
    pub fn with_key_hosts(self, key_hosts: KeyHosts) -> Self {
        Self { key_hosts, ..self }
    }

    /// With an end of loops that go on by themselves; 0: they have none.
    #[must_use]
    pub fn with_loop_turns_max(self, turns: u32) -> Self {
        Self { loop_turns_max: Some(turns).filter(|turns| *turns > 0), ..self }
    }

    /// With limits of what data may bring into a run.
    #[must_use]
    pub fn with_sizes(self, sizes: SizeLimits) -> Self {
        Self { sizes, ..self }
    }

    pub fn key_hosts(&self) -> &KeyHosts {
        &self.key_hosts
    }

    /// How many tasks wait in each queue, ready or not.
    pub fn waiting(&self) -> Result<BTreeMap<Queue, usize>, Failure> {
        Ok(self.store.waiting()?)
    }

    /// Who polled last, for each queue this process knows of.
    pub fn poll_data(&self) -> Vec<PollData> {
        self.learn_of_polls();
        self.polls.data()
    }

    /// Of these domains, those in which somebody polled lately, wherever that was.
    pub(crate) fn active_domains(
        &self,
        task_type: &str,
        domains: &[String],
        now: Timestamp,
    ) -> semel_engine::Answer {
        self.learn_of_polls();
        self.polls.active(task_type, domains, now)
    }

    fn learn_of_polls(&self) {
        if !self.store.is_shared() {
            return;
        }
        match self.store.polls() {
            Ok(polls) => self.polls.learn(polls),
            Err(error) => self.outage.failed(&error, "what others have polled is not known"),
        }
    }

    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_trouble(&self, why: Option<String>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// A look into the store succeeded. After a write that failed only a write can tell that it is over.
    pub(crate) fn note_look(&self) {
        if self.trouble().is_none() {
            self.outage.over();
        }
    }

    pub(crate) fn note_commit(&self, at: Timestamp) {
        self.set_trouble(None);
        self.outage.over();
        self.committed_at.store(at.ms(), Ordering::Relaxed);
    }

    /// How long ago this process last wrote something, if it has.
    pub(crate) fn commit_age_ms(&self) -> Option<i64> {
        let at = Timestamp::from_ms(self.committed_at.load(Ordering::Relaxed));
        at.is_set().then(|| self.store.now().since_ms(at).max(0))
    }

    /// What limits hand-outs of this task's type.
    pub(crate) fn limits_of(&self, row: &Delivery) -> Result<Limits, Failure> {
        let pinned = self.definitions.pinned(row.definition)?;
        self.definitions.limits(&row.queue.task_type, pinned.step(&row.reference).policy())
    }

    /// Whose run it is, as far as that is in memory; what is left of one that is over ends it.
    pub(crate) fn claimant(&self, id: ExecutionId) -> Claimant {
        let Some(run) = self.cached(id) else { return Claimant::default() };
        Claimant { party: party_of(&run), ends: run.is_closed() }
    }

    /// It is about a run below one that has ended, as far as they are in memory: the run hears of that
    /// soon.
    pub(crate) fn is_doomed(&self, work: &Work) -> bool {
        let parent = |id: &ExecutionId| Some(self.cached(*id)?.parent()?.execution);
        let run = work.execution();
        let mut above = std::iter::successors(run.as_ref().and_then(parent), parent);
        above.any(|id| self.cached(id).is_some_and(|run| run.is_closed()))
    }

    pub(crate) fn cached(&self, id: ExecutionId) -> Option<Arc<Execution>> {
        self.executions.get(id)
    }

    /// After its commit: what the round decided is what is cached.
    pub(crate) fn remember(&self, execution: Arc<Execution>) {
        self.executions.insert(execution);
    }

    pub(crate) fn forget(&self, id: ExecutionId) {
        self.executions.remove(id);
    }

    /// Brings an execution into memory, off the lane. None: there is none of that id.
    pub fn prefetch(&self, id: ExecutionId) -> Result<Option<Arc<Execution>>, Failure> {
        let Some((execution, _)) = self.fold_from(self.beginning(id), id, false)? else {
            return Ok(None);
        };
        self.remember(Arc::clone(&execution));
        Ok(Some(execution))
    }

    /// The execution the loaded head names, from a cached one and the entries after it, or from the
    /// whole journal when nothing was cached.
    pub(crate) fn fold(
        &self,
        cached: Option<Arc<Execution>>,
        loaded: &Loaded,
    ) -> Result<Arc<Execution>, Failure> {
        let mut execution = match cached {
            Some(cached) if cached.link() == loaded.head.link => return Ok(cached),
            Some(cached) => (*cached).clone(),
            None => self.unborn(loaded)?,
        };
        self.fold_after(&mut execution, &loaded.entries)?;
        if execution.link() != loaded.head.link {
            self.forget(execution.id());
            return Err(
                corrupt(&loaded.head, "its journal does not end where its head says").into()
            );
        }
        Ok(Arc::new(execution))
    }

    fn unborn(&self, loaded: &Loaded) -> Result<Execution, Failure> {
        let head = &loaded.head;
        let first = loaded.entries.first().ok_or_else(|| corrupt(head, "its journal is empty"))?;
        let (first, _) = Entry::decode(first, Link::default())?;
        let Event::Started(start) = &first.cause else {
            return Err(corrupt(head, "its journal does not begin with a start").into());
        };
        Ok(Execution::unborn(head.id, self.definitions.pinned(start.definition)?))
    }

    pub(crate) fn fold_after(
        &self,
        execution: &mut Execution,
        entries: &[Vec<u8>],
    ) -> Result<(), Failure> {
        for bytes in entries {
            let (entry, link) = Entry::decode(bytes, execution.link())?;
            let brought = entry.cause.brings().map(|digest| self.definitions.pinned(digest));
            execution.fold(&entry, link, brought.transpose()?.as_ref());
        }
        Ok(())
    }
}

pub(crate) fn party_of(run: &Execution) -> Party {
    Party::of_definition(&run.definition().definition().name)
}

fn corrupt(head: &Head, what: &str) -> StoreError {
    StoreError::Corrupt(format!("execution {}: {what}", head.id))
}
