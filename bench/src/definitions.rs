//! # Definitions: the workflows the load consists of
//!
//! W1 is three SIMPLE tasks in a row, each reading what the one before wrote. Its double carries
//! other task types that no worker polls, so its executions stay RUNNING with one task scheduled.
//! **May not:** run anything; the rest of the bench registers and starts what is written here.

use anyhow::Result;
use serde_json::{Value, json};

use crate::http::{Call, Client};

/// The task types of W1 in the order of its steps.
pub(crate) const TASK_TYPES: [&str; 3] = ["w1_a", "w1_b", "w1_c"];
const OPEN_TASK_TYPES: [&str; 3] = ["w1_open_a", "w1_open_b", "w1_open_c"];

/// Which of the two workflows to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Worked off to COMPLETED.
    W1,
    /// Left RUNNING with its first task scheduled.
    Open,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::W1 => "w1",
            Self::Open => "w1_open",
        }
    }

    fn task_types(self) -> &'static [&'static str; 3] {
        match self {
            Self::W1 => &TASK_TYPES,
            Self::Open => &OPEN_TASK_TYPES,
        }
    }
}

pub(crate) async fn register(client: &mut Client) -> Result<()> {
    let task_definitions: Vec<Value> =
        TASK_TYPES.iter().chain(&OPEN_TASK_TYPES).map(|name| task_definition(name)).collect();
    let body = serde_json::to_vec(&task_definitions)?;
    client.send(&Call::post("/api/metadata/taskdefs", body)?).await?;
    for kind in [Kind::W1, Kind::Open] {
        let body = serde_json::to_vec(&workflow_definition(kind))?;
        client.send(&Call::post("/api/metadata/workflow?overwrite=true", body)?).await?;
    }
    Ok(())
}

fn task_definition(name: &str) -> Value {
    json!({
        "name": name,
        "ownerEmail": "bench@example.com",
        "retryCount": 3,
        "retryLogic": "FIXED",
        "retryDelaySeconds": 1,
        "timeoutSeconds": 0,
        "responseTimeoutSeconds": 3600,
    })
}

fn workflow_definition(kind: Kind) -> Value {
    let [first, second, third] = *kind.task_types();
    json!({
        "name": kind.name(),
        "version": 1,
        "schemaVersion": 2,
        "ownerEmail": "bench@example.com",
        "timeoutSeconds": 0,
        "timeoutPolicy": "ALERT_ONLY",
        "tasks": [
            step(first, "a", "${workflow.input.order}"),
            step(second, "b", "${a.output.value}"),
            step(third, "c", "${b.output.value}"),
        ],
        "outputParameters": { "value": "${c.output.value}" },
    })
}

fn step(task_type: &str, reference: &str, value: &str) -> Value {
    json!({
        "name": task_type,
        "taskReferenceName": reference,
        "type": "SIMPLE",
        "inputParameters": { "value": value },
    })
}
