//! # Environment values: what workflows may know of where they run
//!
//! Stored ones, over those the process was started with. A decision is made on one snapshot, which
//! is taken anew only when a document was written.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use semel_engine::Environment;
use semel_model::Tag;
use semel_store::{DocumentKey, Kind, Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

pub struct Variables {
    store: Arc<dyn Store>,
    of_process: BTreeMap<String, String>,
    /// A snapshot and the documents' generation it was taken at.
    current: RwLock<Option<(u64, Environment)>>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Variable {
    pub value: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<Tag>,
}

impl Variables {
    pub(crate) fn new(store: Arc<dyn Store>, of_process: BTreeMap<String, String>) -> Self {
        Self { store, of_process, current: RwLock::new(None) }
    }

    pub fn key(name: &str) -> DocumentKey {
        DocumentKey { kind: Kind::Environment, name: name.to_owned(), version: 0 }
    }

    /// All values as they are now.
    pub fn snapshot(&self) -> Result<Environment, Failure> {
        let generation = self.store.documents_generation()?;
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, environment)) = current
            && at == generation
        {
            return Ok(environment);
        }
        let all = self.all()?.into_iter().map(|(name, variable)| (name, variable.value));
        let environment: Environment = all.collect();
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some((generation, environment.clone()));
        Ok(environment)
    }

    pub fn all(&self) -> Result<BTreeMap<String, Variable>, Failure> {
        let of_process = self.of_process.iter();
        let mut all: BTreeMap<String, Variable> =
            of_process.map(|(name, value)| (name.clone(), Variable::of(value))).collect();
        for (key, body) in self.store.documents(Kind::Environment, None)? {
            let variable = Variable::parse(&key.name, &body)?;
            all.insert(key.name, variable);
        }
        Ok(all)
    }

    pub fn get(&self, name: &str) -> Result<Option<Variable>, Failure> {
        match self.store.document(&Self::key(name))? {
            Some(body) => Variable::parse(name, &body).map(Some),
            None => Ok(self.of_process.get(name).map(|value| Variable::of(value))),
        }
    }
}

impl Variable {
    fn of(value: &str) -> Self {
        Self { value: value.to_owned(), tags: Vec::new() }
    }

    pub(crate) fn parse(name: &str, body: &[u8]) -> Result<Self, Failure> {
        serde_json::from_slice(body)
            .map_err(|error| StoreError::Corrupt(format!("environment {name}: {error}")).into())
    }

    pub(crate) fn body(&self) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(self).map_err(|error| Failure::Fault(error.to_string()))
    }
}
