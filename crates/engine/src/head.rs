//! # Heads: one row per execution
//!
//! Held and updated by every commit of its execution: where the journal ends, when to wake it, and
//! the columns it is searched by. Everything but `parked` follows from the journal.

use semel_model::{ExecutionId, Timestamp, WorkflowStatus};

use crate::entry::Link;
use crate::execution::Execution;

#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    pub id: ExecutionId,
    pub link: Link,
    pub wake_at: Option<Timestamp>,
    pub status: WorkflowStatus,
    /// Why this execution is left alone until somebody lifts it; see `design` on panics.
    pub parked: Option<String>,
    pub name: String,
    pub version: i32,
    pub correlation_id: Option<String>,
    pub idempotency_key: Option<String>,
    pub principal: String,
    pub started_at: Timestamp,
    pub updated_at: Timestamp,
    pub ended_at: Timestamp,
    /// The run that its lineage began with, if that is another one.
    pub root: Option<ExecutionId>,
}

impl Head {
    /// None before the first entry.
    pub fn of(execution: &Execution, principal: &str) -> Option<Self> {
        let definition = execution.definition().definition();
        Some(Self {
            id: execution.id(),
            link: execution.link(),
            wake_at: execution.wake_at(),
            status: execution.status()?,
            parked: None,
            name: definition.name.clone(),
            version: definition.version,
            correlation_id: execution.correlation_id().map(str::to_owned),
            idempotency_key: execution.idempotency_key().map(str::to_owned),
            principal: principal.to_owned(),
            started_at: execution.started_at(),
            updated_at: execution.last_at(),
            ended_at: execution.ended_at(),
            root: execution.root_above(),
        })
    }
}
