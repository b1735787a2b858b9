//! # Rows of the index, from what is committed

use std::sync::Arc;

use semel_engine::{Execution, Task};
use semel_model::{ExecutionId, Timestamp, WorkflowStatus};
use semel_store::{
    Batch, HandedOver, Place, RunRow, Stretch, TASK_WORDS_BYTES_MAX, TaskRow, WORDS_BYTES_MAX,
    within,
};

use crate::dirty::{Mark, Overlay};
use crate::failure::Failure;
use crate::reading::Snapshot;
use crate::world::World;

impl World {
    /// What changed of one run. Its own row comes last: until it is there, the run is known to be
    /// behind.
    pub(super) fn index_mark(
        &self,
        batch: &mut Batch,
        id: ExecutionId,
        mark: &Mark,
    ) -> Result<(), Failure> {
        if mark.is_removed {
            batch.removed.push(id);
            return Ok(());
        }
        let Some(execution) = &mark.execution else {
            let held = mark.overlays.iter().filter(|(_, overlay)| overlay.is_leased);
            batch.handed_over.extend(held.map(|(task, overlay)| {
                (Place { execution: id, task: *task }, overlay.handed_over())
            }));
            return Ok(());
        };
        let changed = |task: &&Arc<Task>| {
            mark.has_fewer_tasks
                || mark.tasks.contains(&task.id)
                || mark.overlays.contains_key(&task.id)
        };
        let tasks: Vec<_> = match mark.has_fewer_tasks {
            true => {
                batch.emptied.push((id, execution.link().seq));
                execution.tasks().filter(changed).collect()
            }
            false => {
                let ids = mark.tasks.iter().chain(mark.overlays.keys());
                let ids: std::collections::BTreeSet<_> = ids.collect();
                ids.into_iter().filter_map(|task| execution.task(*task)).collect()
            }
        };
        for task in tasks {
            let known = mark.overlays.get(&task.id).copied();
            let overlay = match known {
                None if task.is_placed() => self.overlay(execution, task)?,
                known => known,
            };
            batch.tasks.push(task_row(execution, task, overlay));
        }
        batch.runs.extend(run_row(execution, mark.brings.clone(), mark.has_new_words));
        Ok(())
    }

    fn overlay(&self, execution: &Execution, task: &Task) -> Result<Option<Overlay>, Failure> {
        let place = Place { execution: execution.id(), task: task.id };
        let row = self.store.delivery(place)?;
        Ok(row.map(|row| Overlay::of(&row.hand_out)))
    }

    /// All of a run, in place of whatever is there.
    pub(super) fn index_whole(batch: &mut Batch, snapshot: &Snapshot) {
        let execution = &snapshot.execution;
        batch.emptied.push((execution.id(), execution.link().seq));
        let overlays: std::collections::BTreeMap<_, _> =
            snapshot.deliveries.iter().map(|row| (row.task, Overlay::of(&row.hand_out))).collect();
        for task in execution.tasks() {
            batch.tasks.push(task_row(execution, task, overlays.get(&task.id).copied()));
        }
        let brings = vec![Stretch { after: 0, to: execution.link().seq }];
        batch.runs.extend(run_row(execution, brings, true));
    }
}

fn run_row(execution: &Execution, brings: Vec<Stretch>, has_new_words: bool) -> Option<RunRow> {
    let definition = execution.definition().definition();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let (started_at, ended_at) = (execution.started_at(), execution.ended_at());
    let status: WorkflowStatus = execution.status()?;
    Some(RunRow {
        id: execution.id(),
        seq: execution.link().seq,
        brings,
        name: definition.name.clone(),
        version: definition.version,
        status,
        correlation_id: text(execution.correlation_id()),
        idempotency_key: text(execution.idempotency_key()),
        parent: execution.parent().map(|parent| parent.execution),
        priority: execution.priority(),
        started_at,
        updated_at: execution.last_at().max(started_at).max(ended_at),
        ended_at,
        has_new_words,
    })
}

/// An open task is what its delivery says of it, as where it is shown.
fn task_row(execution: &Execution, task: &Task, overlay: Option<Overlay>) -> TaskRow {
    let times = [task.scheduled_at, task.started_at, task.updated_at, task.ended_at];
    let mut row = TaskRow {
        place: Place { execution: execution.id(), task: task.id },
        seq: execution.link().seq,
        workflow_name: execution.definition().definition().name.clone(),
        task_type: task.step.task_type().to_owned(),
        definition_name: task.step.task().name.clone(),
        reference: task.reference.to_string(),
        status: task.status,
        scheduled_at: task.scheduled_at,
        started_at: task.started_at,
        updated_at: times.into_iter().max().unwrap_or(Timestamp::NOT_YET),
        ended_at: task.ended_at,
        words: task_words(execution, task),
    };
    if let Some(overlay) = overlay.filter(|_| !task.status.is_terminal()) {
        match overlay.is_leased {
            true => row.hand_over(overlay.handed_over()),
            false => row.started_at = overlay.started_at,
        }
        row.updated_at = row.updated_at.max(overlay.updated_at);
    }
    row
}

pub(super) fn words(execution: &Execution) -> String {
    let definition = execution.definition().definition();
    let id = execution.id().to_string();
    let words = [
        &*id,
        &definition.name,
        execution.correlation_id().unwrap_or_default(),
        execution.idempotency_key().unwrap_or_default(),
        within(execution.input().text(), WORDS_BYTES_MAX),
        within(execution.output().text(), WORDS_BYTES_MAX),
        within(execution.reason().unwrap_or_default(), WORDS_BYTES_MAX),
    ];
    words.join("\n").to_lowercase()
}

fn task_words(execution: &Execution, task: &Task) -> String {
    let (id, run) = (task.id.to_string(), execution.id().to_string());
    let words = [
        &*id,
        &run,
        task.step.task_type(),
        &task.step.task().name,
        &task.reference,
        within(task.input.text(), TASK_WORDS_BYTES_MAX),
        within(task.output.text(), TASK_WORDS_BYTES_MAX),
        within(task.reason.as_deref().unwrap_or_default(), TASK_WORDS_BYTES_MAX),
    ];
    words.join("\n").to_lowercase()
}

impl Overlay {
    pub(super) fn handed_over(self) -> HandedOver {
        HandedOver { started_at: self.started_at, updated_at: self.updated_at }
    }
}
