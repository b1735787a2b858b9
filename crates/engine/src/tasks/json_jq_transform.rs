//! # JSON_JQ_TRANSFORM: a jq program over the task's input
//!
//! The output holds the first result and the list of all.

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::Value;

use crate::decide::Stop;
use crate::expression::shown;
use crate::script::{Language, Verdict};
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_jq(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let input = shown(&task.input).value();
        let query = input.get("queryExpression").and_then(Value::as_str);
        match query.filter(|text| !text.trim().is_empty()) {
            Some(query) => self.run_script(id, Language::Jq, query, task.input.clone()),
            None => {
                let why = "Missing 'queryExpression' in input parameters";
                self.fail_script(id, TaskStatus::FailedWithTerminalError, why);
                Ok(())
            }
        }
    }

    pub(crate) fn jq_verdict(&mut self, id: TaskId, verdict: &Verdict) {
        match verdict {
            Verdict::Value(value) => {
                let first = value.value().get(0).cloned().unwrap_or(Value::Null);
                let text = format!("{{\"result\":{first},\"resultList\":{}}}", value.text());
                let output = Payload::from_text(text).expect("JSON inside an object is JSON");
                self.end_system(id, TaskStatus::Completed, output, None);
            }
            Verdict::Failed(reason) => self.fail_script(id, TaskStatus::Failed, reason),
            Verdict::Exhausted(reason) => {
                self.fail_script(id, TaskStatus::FailedWithTerminalError, reason);
            }
        }
    }
}
