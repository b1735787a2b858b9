//! # The shelf: what is registered, and who has which start key
//!
//! Answers what a decision misses, as the runtime would from its held rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::{
    Claim, Descendants, Environment, Facts, Pinned, Record, RecordKey, Registry, Rows, SizeLimits,
    pin,
};
use semel_model::{Digest, SchemaDef, TaskDef, WorkflowDef};
use serde_json::Value;

#[derive(Clone, Default)]
pub(crate) struct Shelf {
    pinned: BTreeMap<Digest, Arc<Pinned>>,
    registered: BTreeMap<String, BTreeMap<i32, Digest>>,
    pub(crate) records: BTreeMap<RecordKey, Claim>,
    /// Records that are no start keys.
    pub(crate) guards: BTreeMap<RecordKey, Record>,
    /// By name and version.
    pub(crate) schemas: BTreeMap<(String, i32), SchemaDef>,
    /// None: nobody counts.
    pub(crate) descendants: Option<Descendants>,
    /// Turns of loops that may follow each other by themselves.
    pub(crate) turns_max: Option<u32>,
    pub(crate) sizes: SizeLimits,
    pub(crate) environment: Environment,
}

impl Shelf {
    /// Pins a definition and registers it; the children it names must stand here already.
    pub(crate) fn register(&mut self, definition: Value) -> Arc<Pinned> {
        let pinned = self.pin(definition);
        let (name, version) = (pinned.definition().name.clone(), pinned.definition().version);
        self.registered.entry(name).or_default().insert(version, pinned.digest());
        pinned
    }

    /// Pins a definition that nobody else can find.
    pub(crate) fn pin(&mut self, definition: Value) -> Arc<Pinned> {
        let definition: WorkflowDef =
            serde_json::from_value(definition).expect("the test wrote a definition");
        let pinned = pin(definition, &mut &*self).expect("every child is registered");
        let pinned = Arc::new(pinned);
        self.pinned.insert(pinned.digest(), Arc::clone(&pinned));
        pinned
    }

    /// A definition that came with the data of a run.
    pub(crate) fn keep(&mut self, text: &[u8]) {
        let pinned = Pinned::parse(text).expect("what the engine wrote it can read");
        self.pinned.insert(pinned.digest(), Arc::new(pinned));
    }

    pub(crate) fn pinned(&self, digest: Digest) -> &Arc<Pinned> {
        &self.pinned[&digest]
    }

    /// Version 0 is the latest.
    pub(crate) fn find(&self, name: &str, version: i32) -> Option<&Arc<Pinned>> {
        let versions = self.registered.get(name)?;
        let found = match version {
            0 => versions.values().next_back(),
            version => versions.get(&version),
        };
        Some(self.pinned(*found?))
    }

    /// Adds to the facts what a decision missed.
    pub(crate) fn look_up(&self, rows: Rows, facts: &mut Facts) {
        match rows {
            Rows::Deliveries(_) => panic!("all deliveries are held"),
            Rows::Tasks(names) => {
                facts.tasks.extend(names.into_iter().map(|name| (name, None)));
            }
            Rows::Schemas(wanted) => {
                for key in wanted {
                    let found = self.schemas.get(&key).cloned();
                    facts.schemas.entry(key.0).or_default().insert(key.1, found);
                }
            }
            Rows::Descendants(_) => facts.descendants = self.descendants,
            Rows::Definition(name, version) => {
                facts.know(name.clone(), version, self.find(&name, version));
            }
            Rows::Guard(key) => {
                let found = self.guards.get(&key).map(Record::fact);
                facts.guards.entry(key.scope).or_default().insert(key.key, found);
            }
            Rows::Guards(keys) => {
                keys.into_iter().for_each(|key| self.look_up(Rows::Guard(key), facts));
            }
            Rows::Record(key) => {
                let claim = self.records.get(&key).copied();
                facts.records.entry(key.scope).or_default().insert(key.key, claim);
            }
        }
    }
}

impl Registry for &Shelf {
    fn task(&mut self, _: &str) -> Option<Arc<TaskDef>> {
        None
    }

    fn latest(&mut self, workflow: &str) -> Option<i32> {
        self.find(workflow, 0).map(|pinned| pinned.definition().version)
    }

    fn schema(&mut self, name: &str, version: i32) -> Option<SchemaDef> {
        self.schemas.get(&(name.to_owned(), version)).cloned()
    }
}
