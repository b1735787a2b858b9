//! # Views: executions and tasks as clients see them
//!
//! What the journal says of them; who holds an open task is overlaid where rows are at hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{
    EffectOwner, ExecutionMetadata, Task, TaskStatus, Timestamp, Workflow, WorkflowStatus,
};

use crate::delivery::Delivery;
use crate::execution::Execution;
use crate::expression::shown;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::task::Task as State;
use crate::tasks::wait_seconds;

pub fn workflow(execution: &Execution, with_tasks: bool) -> Workflow {
    let definition = execution.definition().definition();
    let tasks = if with_tasks { tasks(execution) } else { Vec::new() };
    let failed = |task: &&Arc<State>| {
        execution.is_closed()
            && matches!(task.status, TaskStatus::Failed | TaskStatus::FailedWithTerminalError)
    };
    let mut failed_references: Vec<String> = Vec::new();
    let mut failed_names: Vec<String> = Vec::new();
    for task in execution.tasks().filter(failed) {
        push_once(&mut failed_references, &task.reference);
        push_once(&mut failed_names, &task.step.task().name);
    }
    let parent = execution.parent();
    Workflow {
        owner_app: Some(String::new()),
        create_time: execution.started_at(),
        update_time: execution.last_at(),
        created_by: execution.created_by().map(str::to_owned),
        updated_by: None,
        status: execution.status().unwrap_or(WorkflowStatus::Running),
        end_time: execution.ended_at(),
        workflow_id: execution.id(),
        parent_workflow_id: parent.map(|parent| parent.execution),
        parent_workflow_task_id: parent.map(|parent| parent.task),
        tasks,
        input: shown(execution.input()),
        output: shown(execution.output()),
        correlation_id: execution.correlation_id().map(str::to_owned),
        re_run_from_workflow_id: None,
        reason_for_incompletion: execution.reason().map(str::to_owned),
        event: execution.event().map(str::to_owned),
        task_to_domain: execution.task_to_domain().clone(),
        failed_reference_task_names: failed_references,
        failed_task_names: failed_names,
        workflow_definition: Arc::clone(definition),
        external_input_payload_storage_path: None,
        external_output_payload_storage_path: None,
        priority: execution.priority(),
        variables: shown(execution.variables()),
        last_retried_time: execution.last_resumed_at(),
        history: Vec::new(),
        idempotency_key: execution.idempotency_key().map(str::to_owned),
        rate_limit_key: execution.concurrency_key().map(str::to_owned),
        rate_limited: execution.is_queued(),
        blocked_by: execution.blocked_by(),
        not_counted: execution.not_counted(),
        aggregate_token_usage: None,
        start_time: execution.started_at(),
        workflow_name: definition.name.clone(),
        workflow_version: definition.version,
        traceparent: execution.traceparent(),
        kept_answers: execution.kept_answers(execution.last_at()),
    }
}

fn push_once(list: &mut Vec<String>, name: &str) {
    if !list.iter().any(|known| known == name) {
        list.push(name.to_owned());
    }
}

/// In the order of scheduling, but for those skipped ahead of it.
fn tasks(execution: &Execution) -> Vec<Task> {
    let mut tasks: Vec<Task> = execution.tasks().map(|state| task(execution, state)).collect();
    tasks.sort_by_key(|task| task.seq);
    tasks
}

pub fn task(execution: &Execution, state: &State) -> Task {
    let delivery = Delivery::of(execution, state);
    let name = &execution.definition().definition().name;
    let blank = blank(&state.step, name, &delivery);
    Task {
        status: state.status,
        seq: if state.is_ahead { 0 } else { state.seq },
        start_time: state.started_at,
        update_time: state.updated_at,
        end_time: state.ended_at,
        poll_count: state.polls,
        worker_id: state.worker.clone(),
        retried: state.replaced,
        executed: execution.is_consumed(state),
        callback_after_seconds: callback_after_seconds(state),
        output_data: shown(&execution.output_of(state)),
        iteration: state.iteration(),
        loop_over_task: state.iteration() > 0,
        queue_wait_time: queue_wait(state.started_at, state.ready_at),
        sub_workflow_id: state.child.map(|child| child.run),
        subworkflow_changed: state.child.is_some_and(|child| child.epoch > 0),
        effect_status: state.once.as_ref().map(|once| once.status.as_str().to_owned()),
        effect_owner: state
            .once
            .as_ref()
            .and_then(|once| once.owner)
            .map(|owner| EffectOwner { workflow_id: owner.execution, task_id: owner.task }),
        effect_payload_mismatch: state.once.as_ref().is_some_and(|once| once.mismatch),
        ..blank
    }
}

/// What was said last; of a WAIT that has begun, and of which nothing was said, how long it waits.
pub(crate) fn callback_after_seconds(state: &State) -> i64 {
    let is_wait = state.kind() == Kind::Wait && state.started_at.is_set();
    match is_wait && state.callback_after_seconds == 0 {
        true => wait_seconds(&state.input, state.started_at),
        false => state.callback_after_seconds,
    }
}

pub fn queue_wait(started_at: Timestamp, ready_at: Timestamp) -> i64 {
    if started_at.is_set() { started_at.since_ms(ready_at).max(0) } else { 0 }
}

/// The task before anybody has touched it.
pub fn blank(step: &Step, workflow: &str, row: &Delivery) -> Task {
    let policy = step.policy();
    let delay_ms = row.ready_at.since_ms(row.scheduled_at).max(0);
    let delay_seconds = i32::try_from(delay_ms / 1000).unwrap_or(i32::MAX);
    Task {
        task_type: row.queue.task_type.clone(),
        status: TaskStatus::Scheduled,
        input_data: shown(&row.input),
        reference_task_name: row.reference.clone(),
        retry_count: row.attempt,
        seq: row.seq,
        correlation_id: row.correlation_id.clone(),
        poll_count: 0,
        task_def_name: step.task_def_name().to_owned(),
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
        workflow_type: workflow.to_owned(),
        task_id: row.task,
        reason_for_incompletion: row.reason.clone(),
        callback_after_seconds: delay_seconds.into(),
        worker_id: None,
        output_data: shown(&row.output),
        workflow_task: Arc::clone(step.task()),
        domain: row.queue.domain.clone(),
        rate_limit_per_frequency: policy.rate_limit_per_frequency,
        rate_limit_frequency_in_seconds: policy.rate_limit_frequency_in_seconds,
        external_input_payload_storage_path: None,
        external_output_payload_storage_path: None,
        workflow_priority: row.priority,
        execution_name_space: policy.execution_name_space.clone(),
        isolation_group_id: policy.isolation_group_id.clone(),
        iteration: row.iteration(),
        sub_workflow_id: None,
        subworkflow_changed: false,
        first_start_time: Timestamp::NOT_YET,
        parent_task_id: None,
        execution_metadata: ExecutionMetadata,
        runtime_metadata: BTreeMap::new(),
        task_definition: step.task().task_definition.clone(),
        queue_wait_time: 0,
        loop_over_task: row.iteration() > 0,
        fence_token: None,
        lease_until: None,
        stale_reports: Vec::new(),
        attempt: Some(row.attempt + 1),
        effect_key: Some(row.effect_key()),
        effect_status: None,
        effect_owner: None,
        effect_payload_mismatch: false,
        traceparent: row.traceparent,
    }
}
