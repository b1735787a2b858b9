//! # DECISION_CONFLICT: a step was answered before, and otherwise
//!
//! The refusal names the answer that counts: what was decided, by whom and when.

use semel_engine::{AnswerChange, Change, Entry, Link, Task};
use semel_model::{ExecutionId, KeptAnswer, Payload, TaskId, Timestamp};
use semel_runtime::Snapshot;
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::error::ApiError;
use crate::workflow::snapshot;

/// A larger output is not repeated in the refusal.
const OUTPUT_BYTES_MAX: usize = 4 * 1024;

/// What was decided: a step, or one task of it.
pub(crate) enum Decided {
    Step(String),
    Task(TaskId),
}

/// The refusal of an answer for that step or task.
pub(crate) async fn decided_otherwise(
    app: &App,
    run: ExecutionId,
    about: Decided,
    message: String,
) -> Result<ApiError, ApiError> {
    let found = snapshot(app, &run.to_string()).await?;
    let log =
        app.runtime.blocking(move |world| world.log(run, 0, u64::MAX)).await?.unwrap_or_default();
    let winner = winner(&found, &log, &about);
    let mut metadata = Map::new();
    metadata.insert("winner".to_owned(), winner.unwrap_or_default());
    metadata.insert("safeNewKey".to_owned(), json!(false));
    Ok(ApiError::Conflict { code: "DECISION_CONFLICT", message, metadata })
}

fn winner(found: &Snapshot, log: &[(Link, Entry)], about: &Decided) -> Option<Value> {
    let reference = match about {
        Decided::Task(id) => return Some(by_task(found.execution.task(*id)?, log)),
        Decided::Step(reference) => reference.as_str(),
    };
    match found.execution.last_named(reference) {
        Some(task) => Some(by_task(task, log)),
        None => {
            let kept = found.execution.kept_answers(found.now);
            let is_meant = |it: &&KeptAnswer| it.task_reference_name.as_deref() == Some(reference);
            Some(by_answer(kept.iter().rev().find(is_meant)?, log))
        }
    }
}

fn by_task(task: &Task, log: &[(Link, Entry)]) -> Value {
    let closes =
        |change: &Change| matches!(change, Change::TaskClosed { task: it, .. } if *it == task.id);
    let closing = log.iter().rev().find(|(_, entry)| entry.changes.iter().any(closes));
    // Whoever was early said it in an entry of its own.
    let said = closing.and_then(|(_, entry)| {
        entry.changes.iter().find_map(|change| match change {
            Change::Answer(AnswerChange::Taken { number, task: it }) if *it == task.id => {
                Some(*number)
            }
            _ => None,
        })
    });
    let said = said.and_then(|number| log.iter().find(|(link, _)| link.seq == number));
    let (actor, at) = told(said.or(closing));
    json!({
        "taskId": task.id,
        "taskReferenceName": &*task.reference,
        "status": task.status,
        "output": small(&task.output),
        "workerId": task.worker,
        "actor": actor,
        "decidedAt": at.unwrap_or(task.ended_at),
    })
}

fn by_answer(kept: &KeptAnswer, log: &[(Link, Entry)]) -> Value {
    let reference = &kept.task_reference_name;
    let keeps = |change: &Change| matches!(change, Change::Answer(AnswerChange::Kept { reference: it, .. }) if it == reference);
    let (actor, at) = told(log.iter().rev().find(|(_, entry)| entry.changes.iter().any(keeps)));
    json!({
        "kept": true,
        "taskReferenceName": reference,
        "status": kept.status,
        "output": small(&kept.output),
        "workerId": kept.worker_id,
        "actor": actor,
        "decidedAt": at.unwrap_or(kept.received_at),
    })
}

fn told(entry: Option<&(Link, Entry)>) -> (Option<&str>, Option<Timestamp>) {
    (entry.map(|(_, entry)| entry.actor.as_str()), entry.map(|(_, entry)| entry.at))
}

fn small(output: &Payload) -> Value {
    if output.len() <= OUTPUT_BYTES_MAX { output.value() } else { Value::Null }
}
