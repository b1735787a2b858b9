//! # EVENT: a message for event handlers
//!
//! The message is a row of the commit that ends the task, carried afterwards: published once per
//! attempt, whatever crashes.

use semel_model::{Payload, TaskId, TaskStatus};
use serde::Serialize;
use serde_json::{Value, json};

use crate::change::Change;
use crate::expression::{disarmed, is_computed, merged};
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_event(&mut self, id: TaskId) {
        let task = self.execution().expect_task(id).clone();
        let written = task.step.task().sink.clone().unwrap_or_default();
        let sink = match is_computed(&written) {
            true => self.key_text(&written, Some(id)),
            false => Ok(written.clone()),
        };
        let sink = match sink {
            Ok(sink) => sink.trim().to_owned(),
            Err(missing) => {
                let reason = format!("sink is {written}, and {missing}: there is no sink");
                let status = TaskStatus::FailedWithTerminalError;
                return self.end_system(id, status, Payload::empty(), Some(reason));
            }
        };
        let Some(queue) = self.queue(&sink, &task.reference) else {
            let reason = format!("Invalid / Unsupported sink specified: {sink}");
            return self.end_system(id, TaskStatus::Failed, Payload::empty(), Some(reason));
        };
        let execution = self.execution();
        let definition = execution.definition().definition();
        let about = About {
            workflow_instance_id: execution.id().to_string(),
            workflow_type: &definition.name,
            workflow_version: definition.version,
            correlation_id: execution.correlation_id(),
            task_to_domain: json!(execution.task_to_domain()),
            event_produced: &queue,
        };
        let text = serde_json::to_string(&about).expect("plain data");
        let about = disarmed(&Payload::from_text(text).expect("what was just written is JSON"));
        let output = merged(&task.input, &about);
        let body = self.store(output.clone());
        self.emit(Change::Published { task: id, sink: queue, body });
        let asked = task.input.value().get("asyncComplete").and_then(Value::as_bool);
        if asked.unwrap_or(task.step.task().async_complete) {
            let ready_at = self.now();
            self.emit(Change::TaskProgressed {
                task: id,
                output: body,
                ready_at,
                reason: None,
                callback_after_seconds: 0,
                fingerprint: None,
                hand_out: crate::change::HandOutFacts {
                    started_at: task.started_at,
                    ..Default::default()
                },
            });
            return;
        }
        self.end_system(id, TaskStatus::Completed, output, None);
    }

    /// The queue a sink means: ours are named after the workflow.
    pub(crate) fn queue(&self, sink: &str, reference: &str) -> Option<String> {
        let name = &self.execution().definition().definition().name;
        match sink.split_once(':') {
            None if sink == "conductor" => Some(format!("conductor:{name}:{reference}")),
            Some(("conductor", rest)) if !rest.is_empty() => {
                Some(format!("conductor:{name}:{rest}"))
            }
            Some(_) | None => None,
        }
    }
}

/// What every message says of the run it comes from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct About<'a> {
    workflow_instance_id: String,
    workflow_type: &'a str,
    workflow_version: i32,
    correlation_id: Option<&'a str>,
    task_to_domain: Value,
    #[serde(rename = "event_produced")]
    event_produced: &'a str,
}
