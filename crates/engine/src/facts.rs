//! # Facts: the snapshot a decision is made on
//!
//! Taken before deciding and never changed while deciding. What was used is copied into the entry,
//! so that the decision can be made again from the journal alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{
    Digest, ExecutionId, KeyHosts, SchemaDef, TaskDef, TaskId, Timestamp, WorkflowStatus,
};
use serde::{Deserialize, Serialize};

use crate::delivery::HandOut;
use crate::descendants::Descendants;
use crate::pin::Pinned;
use crate::record::Record;
use crate::step_start::Ruling;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub now: Timestamp,
    /// The held delivery rows: who has which task, under which fence, until when.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub deliveries: BTreeMap<TaskId, HandOut>,
    /// Registered workflows by name and version; version 0 is the latest.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub definitions: BTreeMap<String, BTreeMap<i32, Option<Registered>>>,
    /// Registered task definitions, for steps that come with data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tasks: BTreeMap<String, Option<Arc<TaskDef>>>,
    /// Registered schemas by name and version, for definitions that come with data.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schemas: BTreeMap<String, BTreeMap<i32, Option<SchemaDef>>>,
    /// The held records of start keys, by scope and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub records: BTreeMap<String, BTreeMap<String, Option<Claim>>>,
    /// Other held records, by scope and key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guards: BTreeMap<String, BTreeMap<String, Option<Record>>>,
    /// The fence of whatever this decision claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fence: Option<u64>,
    /// The epoch the parent's task will have when this run lives again; none without a parent that
    /// would notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u32>,
    #[serde(default, skip_serializing_if = "Environment::is_empty")]
    pub environment: Environment,
    /// Hosts that the server knows to honour keys.
    #[serde(default, skip_serializing_if = "KeyHosts::is_empty")]
    pub key_hosts: KeyHosts,
    /// How many turns of loops may follow each other by themselves; noted where there were too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_turns_max: Option<u32>,
    /// How large data may make a run; noted where it was too large.
    #[serde(default, skip_serializing_if = "SizeLimits::is_none")]
    pub sizes: SizeLimits,
    /// Why runs may not begin with their input; of those that were asked about.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refusals: BTreeMap<ExecutionId, Option<String>>,
    /// What definitions say of starts by steps, by the run that is to begin.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rulings: BTreeMap<ExecutionId, Ruling>,
    /// How many runs of this lineage are open: noted where it was too many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub descendants: Option<Descendants>,
    #[serde(skip)]
    pub at_hand: AtHand,
}

/// What data may bring into a run; none: any number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeLimits {
    /// Tasks of a definition that a step brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition_tasks_max: Option<usize>,
    /// Branches of one dynamic fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_branches_max: Option<usize>,
}

impl SizeLimits {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Facts {
    /// What is registered by that name and version; version 0 is the latest.
    pub fn know(&mut self, name: String, version: i32, found: Option<&Arc<Pinned>>) {
        if let Some(pinned) = found {
            self.at_hand.definitions.insert(pinned.digest(), Arc::clone(pinned));
        }
        let found = found.map(|pinned| Registered {
            definition: pinned.digest(),
            version: pinned.definition().version,
        });
        self.definitions.entry(name).or_default().insert(version, found);
    }
}

/// What is there while an event is decided for the first time; what it said is a fact.
#[derive(Clone, Debug, Default)]
pub struct AtHand {
    /// Registered workflows.
    definitions: BTreeMap<Digest, Arc<Pinned>>,
    /// Somebody can be asked how many descendants are open.
    pub counts_descendants: bool,
}

impl AtHand {
    pub(crate) fn get(&self, definition: Digest) -> Option<&Arc<Pinned>> {
        self.definitions.get(&definition)
    }
}

impl PartialEq for AtHand {
    fn eq(&self, _: &Self) -> bool {
        true // Snapshots that say the same are the same.
    }
}

/// A registered workflow, pinned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub definition: Digest,
    pub version: i32,
}

/// What the record of a start key says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub run: ExecutionId,
    pub live: bool,
    /// How the run ended, if it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<WorkflowStatus>,
    /// The run is no longer kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// Of what the run was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Digest>,
}

impl Claim {
    /// Of a run that begins in this very moment.
    pub fn live(run: ExecutionId) -> Self {
        Self { run, live: true, ended: None, gone: false, fingerprint: None }
    }
}

/// Environment values by name. Shared, because every event takes a snapshot and few look inside.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment(Arc<BTreeMap<String, String>>);

impl Environment {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Copies one value of another snapshot.
    pub(crate) fn take(&mut self, from: &Self, name: &str) -> Option<String> {
        let value = from.get(name)?;
        if self.get(name).is_none() {
            Arc::make_mut(&mut self.0).insert(name.to_owned(), value.to_owned());
        }
        Some(value.to_owned())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(values: T) -> Self {
        Self(Arc::new(values.into_iter().collect()))
    }
}
