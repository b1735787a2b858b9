//! # The probe: how long a small workflow takes meanwhile
//!
//! One after the other, so that its worst is what somebody else would feel.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::{Value, json};

use super::Bench;
use crate::http::{Call, Client};
use crate::report::sorted;

pub(super) fn definition() -> Value {
    let steps = json!([
        {"name": "set", "taskReferenceName": "set", "type": "SET_VARIABLE",
            "inputParameters": {"at": "${workflow.workflowId}"}},
        {"name": "end", "taskReferenceName": "end", "type": "NOOP"},
    ]);
    json!({"name": "flow_probe", "version": 1, "tasks": steps})
}

pub(super) struct Probe {
    client: Client,
    start: Call,
}

impl Probe {
    pub(super) fn new(bench: &Bench) -> Result<Self> {
        let client = Client::new(bench.address, Arc::clone(&bench.tally));
        Ok(Self { client, start: Call::post("/api/workflow/flow_probe", "{}")? })
    }

    /// How long each took, shortest first.
    pub(super) async fn run(&mut self, lasting: Duration) -> Result<Vec<Duration>> {
        let begun = Instant::now();
        self.until(|| begun.elapsed() >= lasting).await
    }

    /// The same until something else is over.
    pub(super) async fn until(&mut self, is_over: impl Fn() -> bool) -> Result<Vec<Duration>> {
        let mut took = Vec::new();
        while !is_over() {
            let started = Instant::now();
            self.client.send(&self.start).await?;
            took.push(started.elapsed());
        }
        Ok(sorted(took))
    }
}
