//! # Failures: why a request was not done, named by remedy

use std::collections::BTreeMap;

use semel_engine::{EntryError, RecordKey, Rejection};
use semel_model::{ExecutionId, Timestamp};
use semel_store::{DocumentKey, Kind, StoreError};

use crate::starts::Refused;

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("No such workflow found by id: {0}")]
    NoExecution(String),
    #[error("No such workflow defined. name={0}, version=null")]
    NoDefinition(String),
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The key is taken and the strategy says no.
    #[error("a run exists under this idempotency key: {existing}")]
    Conflict { existing: ExecutionId, key: RecordKey },
    /// The start's own key is in the way.
    #[error("{}", .0.told())]
    Refused(Box<Refused>),
    /// The key of this request named another one before.
    #[error("the Idempotency-Key {} was used for another request", .key.key)]
    KeyReused { key: RecordKey, expires_at: Timestamp },
    #[error("{} {} exists already; {} to replace it", .0.kind.as_str(), .0.name, replacing(.0))]
    Exists(DocumentKey),
    #[error("no {} definition by name: {}", .0.kind.as_str(), .0.name)]
    Missing(DocumentKey),
    #[error("{} {} was changed by somebody else meanwhile", .0.kind.as_str(), .0.name)]
    Changed(DocumentKey),
    /// Secrets by name, each with the id of the key it was sealed with.
    #[error("{} stored secrets do not open with the keys given: {}", .0.len(), listed(.0))]
    Sealed(BTreeMap<String, String>),
    #[error("the execution is parked and accepts nothing until it is lifted: {0}")]
    Parked(String),
    /// Definitions have changed since this start was made ready; nothing happened.
    #[error("the definition was changed meanwhile; ask again")]
    Outdated,
    /// Nothing happened; asking again is safe.
    #[error("the server has as much work as it can take; try again")]
    Busy,
    /// Nothing is known to have happened; asking again is safe.
    #[error("the request was not carried out; ask again")]
    Unavailable,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a fault of the server stopped this request; the execution is parked: {0}")]
    Fault(String),
}

impl From<EntryError> for Failure {
    fn from(error: EntryError) -> Self {
        Self::Store(StoreError::Corrupt(error.to_string()))
    }
}

/// How one that exists is replaced.
fn replacing(key: &DocumentKey) -> &'static str {
    match key.kind {
        Kind::EventHandler | Kind::Application | Kind::WorkflowTags | Kind::TaskTags => "PUT it",
        Kind::Schema => "POST it",
        Kind::Copy => "run `semel copy` again",
        Kind::WorkflowDefinition | Kind::TaskDefinition | Kind::Environment | Kind::Secret => {
            "pass overwrite=true"
        }
    }
}

/// A few of them, so that somebody can look.
fn listed(closed: &BTreeMap<String, String>) -> String {
    const SHOWN_MAX: usize = 5;
    let shown = closed.iter().take(SHOWN_MAX).map(|(name, key)| format!("{name} (key {key})"));
    let mut shown: Vec<String> = shown.collect();
    if closed.len() > SHOWN_MAX {
        shown.push("...".to_owned());
    }
    shown.join(", ")
}
