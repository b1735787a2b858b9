//! # Event handlers: who listens to which event
//!
//! Read as a whole and kept as long as the store's document generation stands still, so whoever is
//! registered, changed or deleted counts from the next message on.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use semel_engine::Handler;
use semel_model::EventHandler;
use semel_store::{DocumentKey, Kind, Store, StoreError};

use crate::failure::Failure;

type Listeners = Arc<BTreeMap<String, Vec<Handler>>>;

pub struct Handlers {
    store: Arc<dyn Store>,
    /// Active handlers by their event, and the documents' generation they were read at.
    current: RwLock<Option<(u64, Listeners)>>,
}

impl Handlers {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, current: RwLock::new(None) }
    }

    pub fn key(name: &str) -> DocumentKey {
        DocumentKey { kind: Kind::EventHandler, name: name.to_owned(), version: 0 }
    }

    /// All of them, by name.
    pub fn all(&self) -> Result<Vec<EventHandler>, Failure> {
        let all = self.store.documents(Kind::EventHandler, None)?;
        all.iter().map(|(key, body)| Self::parse(&key.name, body)).collect()
    }

    pub fn get(&self, name: &str) -> Result<Option<EventHandler>, Failure> {
        let found = self.store.document(&Self::key(name))?;
        found.map(|body| Self::parse(name, &body)).transpose()
    }

    pub(crate) fn parse(name: &str, body: &[u8]) -> Result<EventHandler, Failure> {
        serde_json::from_slice(body)
            .map_err(|error| StoreError::Corrupt(format!("event handler {name}: {error}")).into())
    }

    pub fn body(handler: &EventHandler) -> Result<Vec<u8>, Failure> {
        serde_json::to_vec(handler).map_err(|error| Failure::Fault(error.to_string()))
    }

    /// Active handlers by their event, those of one event by name.
    pub(crate) fn listeners(&self) -> Result<Listeners, Failure> {
        let generation = self.store.documents_generation()?;
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, listeners)) = current
            && at == generation
        {
            return Ok(listeners);
        }
        let mut listeners: BTreeMap<String, Vec<Handler>> = BTreeMap::new();
        for definition in self.all()?.into_iter().filter(|handler| handler.active) {
            let (name, event) = (definition.name.clone(), definition.event.clone());
            match Handler::new(definition) {
                Ok(handler) => listeners.entry(event).or_default().push(handler),
                Err(why) => tracing::error!(
                    handler = name,
                    why = why.message,
                    "an event handler is left out"
                ),
            }
        }
        let listeners = Arc::new(listeners);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some((generation, Arc::clone(&listeners)));
        Ok(listeners)
    }
}
