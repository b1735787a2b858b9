//! # Summaries: rows of a search, made from what is committed

use semel_model::{Task, TaskSummary, Timestamp, Workflow, WorkflowSummary};

/// What Conductor tells agents from; here there are only workflows.
const CLASSIFIER: &str = "workflow";

/// ISO 8601 in UTC, to the millisecond.
fn iso(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_millisecond(at.ms()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

pub(crate) fn workflow(run: Workflow) -> WorkflowSummary {
    let ended = run.end_time.is_set();
    WorkflowSummary {
        start_time: iso(run.start_time),
        update_time: iso(run.update_time.max(run.start_time)),
        end_time: ended.then(|| iso(run.end_time)),
        execution_time: if ended { run.end_time.since_ms(run.start_time) } else { 0 },
        input_size: run.input.len(),
        output_size: run.output.len(),
        input: run.input.text().to_owned(),
        output: run.output.text().to_owned(),
        classifier: CLASSIFIER.to_owned(),
        workflow_type: run.workflow_name,
        version: run.workflow_version,
        workflow_id: run.workflow_id,
        correlation_id: run.correlation_id,
        status: run.status,
        reason_for_incompletion: run.reason_for_incompletion,
        event: run.event,
        failed_reference_task_names: run.failed_reference_task_names.join(","),
        priority: run.priority,
        created_by: run.created_by,
        failed_task_names: run.failed_task_names,
        task_to_domain: run.task_to_domain,
        idempotency_key: run.idempotency_key,
        parent_workflow_id: run.parent_workflow_id.map_or_else(String::new, |id| id.to_string()),
    }
}

pub(crate) fn task(task: Task) -> TaskSummary {
    let ended = task.end_time.is_set() && task.start_time.is_set();
    TaskSummary {
        scheduled_time: iso(task.scheduled_time),
        start_time: iso(task.start_time),
        update_time: iso(task.update_time),
        end_time: iso(task.end_time),
        execution_time: if ended { task.end_time.since_ms(task.start_time) } else { 0 },
        input: task.input_data.text().to_owned(),
        output: task.output_data.text().to_owned(),
        workflow_id: task.workflow_instance_id,
        workflow_type: task.workflow_type,
        correlation_id: task.correlation_id,
        status: task.status,
        reason_for_incompletion: task.reason_for_incompletion,
        queue_wait_time: task.queue_wait_time,
        task_def_name: task.task_def_name,
        task_type: task.task_type,
        task_id: task.task_id,
        task_reference_name: task.reference_task_name,
        workflow_priority: task.workflow_priority,
        domain: task.domain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_to_the_millisecond() {
        assert_eq!(iso(Timestamp::from_ms(1_769_854_830_400)), "2026-01-31T10:20:30.400Z");
        assert_eq!(iso(Timestamp::NOT_YET), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(Timestamp::from_ms(i64::MAX)), "1970-01-01T00:00:00.000Z");
    }
}
