//! # DECISION: the older SWITCH
//!
//! An empty case counts as none: the default case is taken.

use semel_model::TaskId;
use serde_json::json;

use super::switch::case_text;
use crate::decide::Stop;
use crate::script::{Language, Verdict};
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_decision(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let step = task.step.task();
        if let Some(script) = step.case_expression.as_deref().filter(|text| !text.is_empty()) {
            return self.run_script(id, Language::JavaScript, script, task.input.clone());
        }
        let name = step.case_value_param.as_deref().unwrap_or_default();
        let case = case_text(task.input.value().get(name));
        self.decide_case(id, &case)
    }

    pub(crate) fn decision_verdict(&mut self, task: &Task, verdict: &Verdict) -> Result<(), Stop> {
        match verdict {
            Verdict::Value(value) => {
                let case = case_text(Some(&value.value()));
                self.decide_case(task.id, &case)
            }
            Verdict::Failed(reason) | Verdict::Exhausted(reason) => {
                self.fail_run(task.id, reason.clone())
            }
        }
    }

    fn decide_case(&mut self, id: TaskId, case: &str) -> Result<(), Stop> {
        self.take_case(id, case, &json!({"caseOutput": [case]}))
    }
}
