//! # Status listeners: what becomes of a run and of its tasks, told to event handlers
//!
//! A definition asks for it by `workflowStatusListenerEnabled`. Turns of the run go to
//! `conductor:WORKFLOW:_status`, or to where its `workflowStatusListenerSink` says; those of its
//! tasks to `conductor:WORKFLOW:_tasks`, unless their task definition has
//! `taskStatusListenerEnabled: false`. Each is a row of the commit that made it so.

use semel_model::{Payload, TaskId, Timestamp, WorkflowStatus};
use serde::Serialize;

use crate::change::Change;
use crate::event::Event;
use crate::expression::{disarmed, shown};
use crate::task::Task;
use crate::turn::Turn;

/// A larger output is left out of what is told.
const OUTPUT_BYTES_MAX: usize = 256 * 1024;

/// A turn of a run.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunNews<'a> {
    event: &'a str,
    workflow_id: String,
    workflow_type: &'a str,
    version: i32,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_workflow_id: Option<String>,
    priority: i32,
    start_time: Timestamp,
    update_time: Timestamp,
    end_time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_for_incompletion: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed_task_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Payload>,
}

/// A turn of a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskNews<'a> {
    event: &'a str,
    workflow_id: String,
    workflow_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    task_id: String,
    reference_task_name: &'a str,
    task_type: &'a str,
    task_def_name: &'a str,
    status: &'a str,
    retry_count: u32,
    iteration: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    worker_id: Option<&'a str>,
    scheduled_time: Timestamp,
    start_time: Timestamp,
    end_time: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason_for_incompletion: Option<&'a str>,
}

impl Event {
    /// What a run that lives again because of it is said to be.
    pub(crate) fn revives_as(&self) -> &'static str {
        if let Self::Redone(event) = self {
            return event.revives_as();
        }
        if matches!(self, Self::Restarted { .. }) {
            return "RESTARTED";
        }
        if matches!(self, Self::Reran(_)) { "RERAN" } else { "RETRIED" }
    }
}

impl Turn<'_> {
    fn has_listener(&self) -> bool {
        self.execution().definition().definition().workflow_status_listener_enabled
    }

    /// What a change means for the run as a whole.
    pub(crate) fn tell_run(&mut self, change: &Change) {
        if !self.has_listener() {
            return;
        }
        if let Some(event) = self.run_event(change) {
            self.publish_run(event);
        }
        let ends = matches!(change, Change::ExecutionClosed { .. } | Change::TaskClosed { .. });
        if ends && self.execution().is_closed() && self.execution().open_count() == 0 {
            self.publish_run("FINALIZED"); // Nothing of it is left to be cancelled.
        }
    }

    fn run_event(&self, change: &Change) -> Option<&'static str> {
        if let Change::ExecutionClosed { status, .. } = change {
            let is_done = *status == WorkflowStatus::Completed;
            return Some(if is_done { "COMPLETED" } else { "TERMINATED" });
        }
        if matches!(change, Change::Revived { .. }) {
            return Some(self.revives_as);
        }
        if matches!(change, Change::Started { .. }) {
            return Some("STARTED");
        }
        if matches!(change, Change::Paused) {
            return Some("PAUSED");
        }
        matches!(change, Change::Resumed).then_some("RESUMED")
    }

    fn publish_run(&mut self, event: &'static str) {
        let execution = self.execution();
        let definition = execution.definition().definition();
        let is_small = execution.output().len() <= OUTPUT_BYTES_MAX;
        let news = RunNews {
            event,
            workflow_id: execution.id().to_string(),
            workflow_type: &definition.name,
            version: definition.version,
            status: execution.status().map_or("RUNNING", WorkflowStatus::as_str),
            correlation_id: execution.correlation_id(),
            parent_workflow_id: execution.parent().map(|parent| parent.execution.to_string()),
            priority: execution.priority(),
            start_time: execution.started_at(),
            update_time: self.now(),
            end_time: execution.ended_at(),
            reason_for_incompletion: execution.reason(),
            failed_task_id: execution.failed_task().map(|task| task.to_string()),
            output: (execution.is_closed() && is_small).then(|| shown(execution.output())),
        };
        let body = written(&news);
        let message = TaskId::of_news(execution.id().as_bytes(), event, self.seq(), 0);
        let sink = self.status_sink();
        self.publish(message, sink, body);
    }

    /// Other sinks than ours are kept and not understood.
    fn status_sink(&self) -> String {
        let definition = self.execution().definition().definition();
        let sink = definition.workflow_status_listener_sink.as_deref().unwrap_or_default().trim();
        let asked = self.queue(sink, "_status");
        asked.unwrap_or_else(|| format!("conductor:{}:_status", definition.name))
    }

    /// A task has come into a state, by the name listeners know it by.
    pub(crate) fn tell_task(&mut self, task: &Task, event: &str) {
        if !self.has_listener() || !task.step.policy().task_status_listener_enabled {
            return;
        }
        let execution = self.execution();
        let name = &execution.definition().definition().name;
        let news = TaskNews {
            event,
            workflow_id: execution.id().to_string(),
            workflow_type: name,
            correlation_id: execution.correlation_id(),
            task_id: task.id.to_string(),
            reference_task_name: &task.reference,
            task_type: task.step.task_type(),
            task_def_name: task.step.task_def_name(),
            status: event,
            retry_count: task.attempt,
            iteration: task.iteration(),
            worker_id: task.worker.as_deref(),
            scheduled_time: task.scheduled_at,
            start_time: task.started_at,
            end_time: task.ended_at,
            reason_for_incompletion: task.reason.as_deref(),
        };
        let body = written(&news);
        let message = TaskId::of_news(task.id.as_bytes(), event, self.seq(), 0);
        let sink = format!("conductor:{name}:_tasks");
        self.publish(message, sink, body);
    }
}

/// What it says is data to whoever hears it.
fn written(news: &impl Serialize) -> Payload {
    let text = serde_json::to_string(news).expect("news are plain data");
    disarmed(&Payload::from_text(text).expect("what was just written is JSON"))
}
