//! # Views: executions and tasks as clients see them
//!
//! An open task is overlaid with its delivery row: who has it, since when, how often it was polled.

use std::collections::HashMap;
use std::sync::Arc;

use axum::response::Response;
use semel_engine::{Delivery, Task as State, shown, view};
use semel_model::{StaleReport, Task, TaskId, TaskStatus, Workflow, WorkflowState};
use semel_runtime::{HandedOut, Snapshot};

use crate::app::App;
use crate::room::made;

pub(crate) fn workflow(snapshot: &Snapshot, with_tasks: bool) -> Workflow {
    let mut found = view::workflow(&snapshot.execution, with_tasks);
    found.kept_answers.retain(|answer| answer.expires_at > snapshot.now);
    let rows = rows(snapshot);
    for task in &mut found.tasks {
        let row = rows.get(&task.task_id);
        if let Some(row) = row.filter(|_| !task.status.is_terminal()) {
            overlay(task, row);
        }
    }
    found
}

/// A run after a change was made to it.
pub(crate) async fn changed(app: &App, snapshot: &Snapshot) -> Response {
    made(app, &workflow(snapshot, true), || workflow(snapshot, false)).await
}

fn rows(snapshot: &Snapshot) -> HashMap<TaskId, &Delivery> {
    snapshot.deliveries.iter().map(|row| (row.task, row)).collect()
}

/// Some of a run's tasks, in the order of scheduling but for those skipped ahead of it: how many are
/// wanted, and one page of them.
pub(crate) fn page(
    snapshot: &Snapshot,
    is_wanted: impl Fn(TaskStatus) -> bool,
    start: usize,
    count: usize,
) -> (usize, Vec<Task>) {
    let rows = rows(snapshot);
    let status = |task: &State| match rows.get(&task.id) {
        Some(row) if row.hand_out.leased && !task.status.is_terminal() => TaskStatus::InProgress,
        Some(_) | None => task.status,
    };
    let tasks = || snapshot.execution.tasks().filter(|task| is_wanted(status(task)));
    let ahead = tasks().filter(|task| task.is_ahead);
    let ordered = ahead.chain(tasks().filter(|task| !task.is_ahead));
    let seen = |state: &Arc<State>| {
        let mut task = view::task(&snapshot.execution, state);
        if let Some(row) = rows.get(&state.id).filter(|_| !task.status.is_terminal()) {
            overlay(&mut task, row);
        }
        task
    };
    (tasks().count(), ordered.skip(start).take(count).map(seen).collect())
}

/// One task of a run.
pub(crate) fn task(snapshot: &Snapshot, id: TaskId) -> Option<Task> {
    let found = snapshot.execution.task(id)?;
    let mut task = view::task(&snapshot.execution, found);
    let row = snapshot.deliveries.iter().find(|row| row.task == id);
    if let Some(row) = row.filter(|_| !task.status.is_terminal()) {
        overlay(&mut task, row);
    }
    Some(task)
}

/// Adds who reported on them too late.
pub(crate) fn tell_stale(tasks: &mut [Task], stale: Vec<(TaskId, Vec<StaleReport>)>) {
    let mut stale: HashMap<_, _> = stale.into_iter().collect();
    for task in tasks {
        task.stale_reports = stale.remove(&task.task_id).unwrap_or_default();
    }
}

pub(crate) fn state(snapshot: &Snapshot, output: bool, with_variables: bool) -> WorkflowState {
    let execution = &snapshot.execution;
    WorkflowState {
        workflow_id: execution.id(),
        correlation_id: execution.correlation_id().map(str::to_owned),
        output: output.then(|| shown(execution.output())),
        variables: with_variables.then(|| shown(execution.variables())),
        status: snapshot.head.status,
    }
}

/// What the row of an open task knows better.
fn overlay(task: &mut Task, row: &Delivery) {
    let held = &row.hand_out;
    if held.leased {
        task.status = TaskStatus::InProgress;
        task.callback_after_seconds = 0;
        task.lease_until = held.lease_until;
    }
    task.start_time = held.started_at;
    task.update_time = held.updated_at.max(task.update_time);
    task.poll_count = held.polls;
    task.worker_id.clone_from(&held.worker);
    task.queue_wait_time = view::queue_wait(held.started_at, row.ready_at);
}

/// A task as its worker receives it, with the token its report may carry.
pub(crate) fn handed_out(out: &HandedOut) -> Task {
    let row = &out.delivery;
    let name = &out.definition.definition().name;
    let mut task = view::blank(out.definition.step(&row.reference), name, row);
    overlay(&mut task, row);
    Task { fence_token: Some(row.hand_out.fence.to_string()), ..task }
}
