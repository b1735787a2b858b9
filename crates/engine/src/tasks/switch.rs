//! # SWITCH: one of several cases
//!
//! By the value of an input, or by what a program says. A case that is there but empty means that
//! nothing is done; one that is not there means the default case.

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::{Value, json};

use crate::change::Change;
use crate::decide::Stop;
use crate::script::{Language, Verdict};
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_switch(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let step = task.step.task();
        let expression = step.expression.as_deref().unwrap_or_default();
        match step.evaluator_type.as_deref().unwrap_or_default() {
            "value-param" => {
                let case = case_text(task.input.value().get(expression));
                self.choose_case(id, &case)
            }
            "javascript" | "graaljs" => {
                self.run_script(id, Language::JavaScript, expression, task.input.clone())
            }
            other => self.fail_run(id, format!("No evaluator registered for type: {other}")),
        }
    }

    pub(crate) fn switch_verdict(&mut self, task: &Task, verdict: &Verdict) -> Result<(), Stop> {
        match verdict {
            Verdict::Value(value) => {
                let case = case_text(Some(&value.value()));
                self.choose_case(task.id, &case)
            }
            Verdict::Failed(reason) => {
                self.end_failed(task.id, TaskStatus::Failed, reason);
                Ok(())
            }
            Verdict::Exhausted(reason) => {
                self.end_failed(task.id, TaskStatus::FailedWithTerminalError, reason);
                Ok(())
            }
        }
    }

    fn choose_case(&mut self, id: TaskId, case: &str) -> Result<(), Stop> {
        let output = json!({"evaluationResult": [case], "selectedCase": case});
        self.take_case(id, case, &output)
    }

    /// Ends a choice; the case it leads to begins with it.
    pub(crate) fn take_case(&mut self, id: TaskId, case: &str, output: &Value) -> Result<(), Stop> {
        let followed = !self.execution().expect_task(id).steps_of_case(case).is_empty();
        self.emit(Change::Chose { task: id, case: case.to_owned(), followed });
        self.close_system(id, TaskStatus::Completed, Payload::from_value(output), None);
        let task = self.execution().expect_task(id).clone();
        let may_go_on = task.status.is_successful() && !self.execution().is_paused();
        if let Some(head) = self.chosen(&task).filter(|_| may_go_on) {
            self.schedule_once(head)?;
        }
        self.after_close(id);
        Ok(())
    }

    pub(crate) fn end_failed(&mut self, id: TaskId, status: TaskStatus, reason: &str) {
        self.end_system(id, status, Payload::empty(), Some(reason.to_owned()));
    }

    /// The definition cannot be followed: no flag of the task makes up for that.
    pub(crate) fn fail_run(&mut self, id: TaskId, reason: String) -> Result<(), Stop> {
        let status = TaskStatus::FailedWithTerminalError;
        self.close_system(id, status, Payload::empty(), Some(reason.clone()));
        let task = self.execution().expect_task(id).clone();
        self.fail_execution(&task, reason)
    }
}

/// What a value is called as a case.
pub(crate) fn case_text(value: Option<&Value>) -> String {
    match value {
        None => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
