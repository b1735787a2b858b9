//! # Enforcement: what does not fit its schema goes no further
//!
//! A start is refused, a task fails for good, a run fails at its end. What an operator writes down by
//! hand (a skipped step) is not checked, and neither is what a failure workflow is given: whatever it
//! is, it had better run.

use semel_model::{Payload, TaskId, TaskStatus, Violation, WorkflowStatus};

use crate::decide::Stop;
use crate::ending::Ending;
use crate::event::Slot;
use crate::expression::secrets_in;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::schema::sentence;
use crate::turn::{Closing, Turn};

impl Turn<'_> {
    /// The definition the run will have must take that input.
    pub(crate) fn expect_fitting(&self, input: &Payload) -> Result<(), Stop> {
        let definition = self.brought();
        let definition = definition.as_ref().unwrap_or_else(|| self.execution().definition());
        match definition.refusal(input) {
            Some(refusal) => Err(refusal.into()),
            None => Ok(()),
        }
    }

    /// Why a task at this step cannot be given that.
    pub(crate) fn unfit_input(&self, step: &Step, input: Slot) -> Option<String> {
        let given = self.payload(input);
        let found = step.input_schema().map(|schema| schema.violations("input", given));
        found.and_then(|found| unfit("input", &found)).or_else(|| self.strange_secret(given))
    }

    /// A secret in the input that the run may not use: its definition does not list it, and the run
    /// was not given it by whoever began it.
    fn strange_secret(&self, input: &Payload) -> Option<String> {
        let wanted = secrets_in(input);
        let execution = self.execution();
        let definition = execution.definition();
        let is_allowed = |name: &str| {
            let given = || secrets_in(execution.input());
            definition.secrets_allowed().contains(name) || given().iter().any(|it| it.name == name)
        };
        let name = wanted.into_iter().map(|secret| secret.name).find(|name| !is_allowed(name))?;
        let definition = definition.definition();
        Some(format!(
            "workflow {} version {} may not use the secret {name}: add it to `secrets` of the \
             definition",
            definition.name, definition.version
        ))
    }

    /// A task does not end well with an output that does not fit. TERMINATE is a word about the run,
    /// and the run's output is looked at by itself.
    pub(crate) fn fitting(&self, id: TaskId, closing: Closing) -> Closing {
        let Some(task) = self.execution().task(id) else { return closing };
        let is_checked =
            closing.status == TaskStatus::Completed && task.step.kind() != Kind::Terminate;
        let Some(schema) = task.step.output_schema().filter(|_| is_checked) else { return closing };
        let output = closing.output.map_or(&task.output, |slot| self.payload(slot));
        match unfit("output", &schema.violations("output", output)) {
            None => closing,
            reason => Closing { status: TaskStatus::FailedWithTerminalError, reason, ..closing },
        }
    }

    /// A run does not end well with an output that does not fit.
    pub(crate) fn fitting_end(&self, ending: Ending, output: &Payload) -> Ending {
        let schema = self.execution().definition().output_schema();
        let is_checked = ending.status == WorkflowStatus::Completed;
        let Some(schema) = schema.filter(|_| is_checked) else { return ending };
        match unfit("output", &schema.violations("output", output)) {
            None => ending,
            reason => Ending { status: WorkflowStatus::Failed, reason, ..ending },
        }
    }
}

fn unfit(what: &str, found: &[Violation]) -> Option<String> {
    (!found.is_empty()).then(|| sentence(&format!("the {what} does not fit its schema: "), found))
}
