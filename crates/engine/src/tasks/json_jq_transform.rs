//! # JSON_JQ_TRANSFORM: a jq program over the task's input
//!
//! The output holds the first result and the list of all.

use semel_model::{Payload, TaskId, TaskStatus};
use serde_json::Value;

use crate::expression::shown;
use crate::question::Said;
use crate::script::Language;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_jq(&mut self, id: TaskId) {
        let task = self.execution().expect_task(id).clone();
        let input = shown(&task.input).value();
        let query = input.get("queryExpression").and_then(Value::as_str);
        match query.filter(|text| !text.trim().is_empty()) {
            Some(query) => self.run_script(id, Language::Jq, query, task.input.clone()),
            None => {
                let why = "Missing 'queryExpression' in input parameters";
                self.fail_script(id, TaskStatus::FailedWithTerminalError, why);
            }
        }
    }

    pub(crate) fn jq_said(&mut self, id: TaskId, said: &Said) {
        match said {
            Said::Value(slot) => {
                let all = self.payload(*slot).clone();
                let first = all.value().get(0).cloned().unwrap_or(Value::Null);
                let text = format!("{{\"result\":{first},\"resultList\":{}}}", all.text());
                let output = Payload::from_text(text).expect("JSON inside an object is JSON");
                self.end_system(id, TaskStatus::Completed, output, None);
            }
            Said::Failed(reason) => self.fail_script(id, TaskStatus::Failed, reason),
            Said::Exhausted(reason) => {
                self.fail_script(id, TaskStatus::FailedWithTerminalError, reason);
            }
        }
    }
}
