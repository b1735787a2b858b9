//! # INLINE: a program over the task's input

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::{Value, json};

use crate::decide::Stop;
use crate::expression::{disarmed, shown};
use crate::script::{Language, Verdict};
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_inline(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let said = shown(&task.input).value();
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        let step = task.step.task();
        let expression = text("expression").or_else(|| step.expression.clone());
        let Some(expression) = expression.filter(|text| !text.trim().is_empty()) else {
            let why = "Empty 'expression' in Inline task's input parameters. A non-empty String \
                       value must be provided.";
            self.fail_script(id, TaskStatus::FailedWithTerminalError, why);
            return Ok(());
        };
        let evaluator = text("evaluatorType").or_else(|| step.evaluator_type.clone());
        match evaluator.as_deref().filter(|text| !text.is_empty()).unwrap_or("javascript") {
            "javascript" | "graaljs" => {
                self.run_script(id, Language::JavaScript, &expression, task.input.clone())?;
            }
            "value-param" => {
                let input = task.input.value();
                let found = input.get(&expression).cloned().unwrap_or(Value::Null);
                self.end_with_result(id, &Payload::from_value(&found));
            }
            other => {
                let why = format!("Unknown evaluator '{other}' in INLINE task.");
                self.fail_script(id, TaskStatus::FailedWithTerminalError, &why);
            }
        }
        Ok(())
    }

    pub(crate) fn inline_verdict(&mut self, id: TaskId, verdict: &Verdict) {
        match verdict {
            Verdict::Value(value) => {
                self.end_with_result(id, value);
            }
            Verdict::Failed(reason) | Verdict::Exhausted(reason) => {
                self.fail_script(id, TaskStatus::FailedWithTerminalError, reason);
            }
        }
    }

    pub(crate) fn end_with_result(&mut self, id: TaskId, result: &Payload) {
        let text = format!("{{\"result\":{}}}", result.text());
        let output = Payload::from_text(text).expect("JSON inside an object is JSON");
        self.end_system(id, TaskStatus::Completed, output, None);
    }

    /// The reason is the output too.
    pub(crate) fn fail_script(&mut self, id: TaskId, status: TaskStatus, reason: &str) {
        let output = disarmed(&Payload::from_value(&json!({"error": reason})));
        self.end_system(id, status, output, Some(reason.to_owned()));
    }
}
