//! # TERMINATE: the run ends here, as its input says

use semel_model::{Payload, TaskId, TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::decide::Stop;
use crate::ending::Ending;
use crate::expression::shown;
use crate::kinds::Kind;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn terminate_by_task(&mut self, id: TaskId) -> Result<(), Stop> {
        self.follow_failures()?;
        if !self.execution().is_live() {
            return Ok(());
        }
        let input = self.execution().expect_task(id).input.value();
        let status = match input.get("terminationStatus").and_then(Value::as_str) {
            Some("COMPLETED") => WorkflowStatus::Completed,
            Some("FAILED") => WorkflowStatus::Failed,
            Some("TERMINATED") => WorkflowStatus::Terminated,
            _ => {
                let reason = "given termination status is not valid".to_owned();
                self.end_system(id, TaskStatus::Failed, Payload::empty(), Some(reason));
                return Ok(());
            }
        };
        let output = match input.get("workflowOutput") {
            None | Some(Value::Null) => Payload::empty(),
            Some(object @ Value::Object(_)) => Payload::from_value(object),
            Some(other) => Payload::from_value(&json!({"output": other})),
        };
        self.close_system(id, TaskStatus::Completed, output, None);
        let failures = self.permissive_failures();
        if status == WorkflowStatus::Completed && !failures.is_empty() {
            let reason = Some(failures.join(". "));
            return self.close_execution(Ending::of(WorkflowStatus::Failed, reason));
        }
        let said = shown(&self.execution().expect_task(id).input).value();
        let given = said.get("terminationReason").and_then(Value::as_str).map(str::to_owned);
        let reason =
            given.unwrap_or_else(|| format!("Workflow is {status} by TERMINATE task: {id}"));
        let failed = (status != WorkflowStatus::Completed).then_some(id);
        self.close_execution(Ending { failed, ..Ending::of(status, Some(reason)) })
    }

    /// The output of the TERMINATE task that ended the run, if one did.
    pub(crate) fn terminate_output(&self) -> Option<Payload> {
        let last = self.execution().last_task()?;
        let kind = last.step.kind();
        let ended = kind == Kind::Terminate && last.status == TaskStatus::Completed;
        ended.then(|| last.output.clone())
    }
}
