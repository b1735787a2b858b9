//! # This release: what of a definition it cannot run
//!
//! Said when the definition is registered, or comes with the data of a run; or when a run gets there.

use semel_model::{Payload, TaskId, TaskStatus, Violation, WorkflowDef, WorkflowTask};

use crate::turn::Turn;

/// Refused with the definition.
const NOT_YET: [&str; 1] = ["KAFKA_PUBLISH"];

/// Registered like any other, because a run may never get there; a task of such a type fails for good.
const ABSENT: [&str; 20] = [
    "LLM_TEXT_COMPLETE",
    "LLM_CHAT_COMPLETE",
    "LLM_GENERATE_EMBEDDINGS",
    "LLM_STORE_EMBEDDINGS",
    "LLM_GET_EMBEDDINGS",
    "LLM_SEARCH_EMBEDDINGS",
    "LLM_INDEX_TEXT",
    "LLM_SEARCH_INDEX",
    "GENERATE_IMAGE",
    "GENERATE_AUDIO",
    "GENERATE_VIDEO",
    "GENERATE_PDF",
    "LIST_MCP_TOOLS",
    "CALL_MCP_TOOL",
    "AGENT",
    "GET_AGENT_CARD",
    "CANCEL_AGENT",
    "JDBC",
    "HTTP_POLL",
    "WAIT_FOR_WEBHOOK",
];

/// Can be registered, and cannot be done.
pub fn is_absent(kind: &str) -> bool {
    ABSENT.contains(&kind)
}

pub fn is_supported(kind: &str) -> bool {
    !NOT_YET.contains(&kind)
}

impl Turn<'_> {
    pub(crate) fn fail_absent(&mut self, task: TaskId) {
        let kind = self.execution().expect_task(task).step.task().kind.clone();
        let reason = format!(
            "task type {kind} is not in this release: give the step a type of your own and let a \
             worker do it"
        );
        let status = TaskStatus::FailedWithTerminalError;
        self.end_system(task, status, Payload::empty(), Some(reason));
    }
}

/// Every step this release cannot run, those of definitions given in place too.
pub fn unsupported(definition: &WorkflowDef, prefix: &str) -> Vec<Violation> {
    let places = definition.places(prefix);
    places
        .iter()
        .flat_map(|(path, step)| [of_type(path, step), of_sink(path, step)])
        .flatten()
        .collect()
}

fn of_type(path: &str, step: &WorkflowTask) -> Option<Violation> {
    let message = format!("task type {} is not in this release", step.kind);
    let violation = || Violation::new(format!("{path}.type"), message).with_value(&step.kind);
    (!is_supported(&step.kind)).then(violation)
}

fn of_sink(path: &str, step: &WorkflowTask) -> Option<Violation> {
    let sink = step.sink.as_deref().filter(|_| step.kind == "EVENT")?;
    let is_known = sink.contains("${") || sink == "conductor" || sink.starts_with("conductor:");
    let message = "only conductor sinks are in this release: conductor, conductor:NAME";
    let violation = || Violation::new(format!("{path}.sink"), message).with_value(sink);
    (!is_known).then(violation)
}
