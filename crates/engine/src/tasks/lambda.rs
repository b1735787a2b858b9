//! # LAMBDA: the older INLINE
//!
//! The program is the body of a function, so `return` gives the result.

use semel_model::{TaskId, TaskStatus};
use serde_json::Value;

use crate::decide::Stop;
use crate::expression::shown;
use crate::script::{Language, Verdict};
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_lambda(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let input = shown(&task.input).value();
        let given = input.get("scriptExpression").and_then(Value::as_str).map(str::to_owned);
        let script = given.or_else(|| task.step.task().script_expression.clone());
        match script.filter(|text| !text.trim().is_empty()) {
            Some(script) => self.run_script(id, Language::Function, &script, task.input.clone()),
            None => {
                let why = "Empty 'scriptExpression' in Lambda task's input parameters. A \
                           non-empty String value must be provided.";
                self.fail_script(id, TaskStatus::FailedWithTerminalError, why);
                Ok(())
            }
        }
    }

    pub(crate) fn lambda_verdict(&mut self, id: TaskId, verdict: &Verdict) {
        match verdict {
            Verdict::Value(value) => {
                self.end_with_result(id, value);
            }
            Verdict::Failed(reason) => self.fail_script(id, TaskStatus::Failed, reason),
            Verdict::Exhausted(reason) => {
                self.fail_script(id, TaskStatus::FailedWithTerminalError, reason);
            }
        }
    }
}
