//! # Views: executions and tasks as clients see them
//!
//! An open task is overlaid with its delivery row: who has it, since when, how often it was polled.

use std::sync::Arc;

use semel_engine::{Delivery, Execution, Pinned, Task as State};
use semel_model::{
    ExecutionMetadata, Task, TaskStatus, Timestamp, Workflow, WorkflowState, WorkflowStatus,
};
use semel_runtime::{HandedOut, Snapshot};

pub(crate) fn workflow(snapshot: &Snapshot, with_tasks: bool) -> Workflow {
    let execution = &snapshot.execution;
    let definition = execution.definition().definition();
    let tasks = if with_tasks { tasks(snapshot) } else { Vec::new() };
    let failed = |task: &&Arc<State>| {
        execution.is_closed()
            && matches!(task.status, TaskStatus::Failed | TaskStatus::FailedWithTerminalError)
    };
    let mut failed_references: Vec<String> = Vec::new();
    let mut failed_names: Vec<String> = Vec::new();
    for task in execution.tasks().filter(failed) {
        push_once(&mut failed_references, &task.reference);
        push_once(&mut failed_names, &execution.definition().step(&task.reference).task().name);
    }
    Workflow {
        owner_app: Some(String::new()),
        create_time: execution.started_at(),
        update_time: snapshot.head.updated_at,
        created_by: execution.created_by().map(str::to_owned),
        updated_by: None,
        status: status(snapshot),
        end_time: execution.ended_at(),
        workflow_id: execution.id(),
        parent_workflow_id: None,
        parent_workflow_task_id: None,
        tasks,
        input: execution.input().clone(),
        output: execution.output().clone(),
        correlation_id: execution.correlation_id().map(str::to_owned),
        re_run_from_workflow_id: None,
        reason_for_incompletion: execution.reason().map(str::to_owned),
        event: None,
        task_to_domain: execution.task_to_domain().clone(),
        failed_reference_task_names: failed_references,
        failed_task_names: failed_names,
        workflow_definition: Arc::clone(definition),
        external_input_payload_storage_path: None,
        external_output_payload_storage_path: None,
        priority: execution.priority(),
        variables: execution.variables().clone(),
        last_retried_time: execution.last_resumed_at(),
        history: Vec::new(),
        idempotency_key: execution.idempotency_key().map(str::to_owned),
        rate_limit_key: None,
        rate_limited: false,
        aggregate_token_usage: None,
        start_time: execution.started_at(),
        workflow_name: definition.name.clone(),
        workflow_version: definition.version,
    }
}

pub(crate) fn state(snapshot: &Snapshot, output: bool, with_variables: bool) -> WorkflowState {
    let execution = &snapshot.execution;
    WorkflowState {
        workflow_id: execution.id(),
        correlation_id: execution.correlation_id().map(str::to_owned),
        output: output.then(|| execution.output().clone()),
        variables: with_variables.then(|| execution.variables().clone()),
        status: status(snapshot),
    }
}

fn status(snapshot: &Snapshot) -> WorkflowStatus {
    snapshot.head.status
}

fn push_once(list: &mut Vec<String>, name: &str) {
    if !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

fn tasks(snapshot: &Snapshot) -> Vec<Task> {
    let execution = &snapshot.execution;
    let view = |state: &Arc<State>| {
        let row = snapshot.deliveries.iter().find(|row| row.task == state.id);
        match row.filter(|_| !state.status.is_terminal()) {
            Some(row) => overlaid(task(execution, state), row),
            None => task(execution, state),
        }
    };
    execution.tasks().map(view).collect()
}

fn task(execution: &Execution, state: &State) -> Task {
    let delivery = Delivery::of(execution, state);
    let blank = blank(execution.definition(), &delivery);
    Task {
        status: state.status,
        start_time: state.started_at,
        update_time: state.updated_at,
        end_time: state.ended_at,
        poll_count: state.polls,
        worker_id: state.worker.clone(),
        retried: state.replaced,
        executed: execution.is_consumed(state),
        callback_after_seconds: state.callback_after_seconds,
        queue_wait_time: queue_wait(state.started_at, state.ready_at),
        ..blank
    }
}

/// What the row of an open task knows better.
fn overlaid(task: Task, row: &Delivery) -> Task {
    let held = &row.hand_out;
    Task {
        status: if held.leased { TaskStatus::InProgress } else { task.status },
        start_time: held.started_at,
        update_time: held.updated_at.max(task.update_time),
        poll_count: held.polls,
        worker_id: held.worker.clone(),
        callback_after_seconds: if held.leased { 0 } else { task.callback_after_seconds },
        queue_wait_time: queue_wait(held.started_at, row.ready_at),
        ..task
    }
}

/// A task as its worker receives it, with the token its report may carry.
pub(crate) fn handed_out(out: &HandedOut) -> Task {
    let held = &out.delivery.hand_out;
    let task = overlaid(blank(&out.definition, &out.delivery), &out.delivery);
    Task {
        fence_token: Some(held.fence.to_string()),
        lease_until: held.lease_until,
        attempt: Some(out.delivery.attempt + 1),
        ..task
    }
}

fn queue_wait(started_at: Timestamp, ready_at: Timestamp) -> i64 {
    if started_at.is_set() { started_at.since_ms(ready_at).max(0) } else { 0 }
}

/// The task before anybody has touched it.
fn blank(definition: &Pinned, row: &Delivery) -> Task {
    let step = definition.step(&row.reference);
    let policy = step.policy();
    let delay_ms = row.ready_at.since_ms(row.scheduled_at).max(0);
    let delay_seconds = i32::try_from(delay_ms / 1000).unwrap_or(i32::MAX);
    Task {
        task_type: row.queue.task_type.clone(),
        status: TaskStatus::Scheduled,
        input_data: row.input.clone(),
        reference_task_name: row.reference.clone(),
        retry_count: row.attempt,
        seq: row.seq,
        correlation_id: row.correlation_id.clone(),
        poll_count: 0,
        task_def_name: step.task().name.clone(),
        scheduled_time: row.scheduled_at,
        start_time: Timestamp::NOT_YET,
        end_time: Timestamp::NOT_YET,
        update_time: row.scheduled_at,
        start_delay_in_seconds: if row.attempt == 0 {
            step.task().start_delay
        } else {
            delay_seconds
        },
        retried_task_id: row.replaces,
        retried: false,
        executed: false,
        callback_from_worker: true,
        response_timeout_seconds: step.response_timeout_seconds(),
        workflow_instance_id: row.execution,
        workflow_type: definition.definition().name.clone(),
        task_id: row.task,
        reason_for_incompletion: row.reason.clone(),
        callback_after_seconds: delay_seconds.into(),
        worker_id: None,
        output_data: row.output.clone(),
        workflow_task: Arc::clone(step.task()),
        domain: row.queue.domain.clone(),
        rate_limit_per_frequency: policy.rate_limit_per_frequency,
        rate_limit_frequency_in_seconds: policy.rate_limit_frequency_in_seconds,
        external_input_payload_storage_path: None,
        external_output_payload_storage_path: None,
        workflow_priority: row.priority,
        execution_name_space: policy.execution_name_space.clone(),
        isolation_group_id: policy.isolation_group_id.clone(),
        iteration: 0,
        sub_workflow_id: None,
        subworkflow_changed: false,
        first_start_time: Timestamp::NOT_YET,
        parent_task_id: None,
        execution_metadata: ExecutionMetadata,
        runtime_metadata: std::collections::BTreeMap::new(),
        task_definition: step.task().task_definition.clone(),
        queue_wait_time: 0,
        loop_over_task: false,
        fence_token: None,
        lease_until: None,
        attempt: None,
    }
}
