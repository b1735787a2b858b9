//! # Step types: what the type of a step asks of it
//!
//! One list of rules, read twice. Outside of loops a broken one is refused, as in Conductor. Inside of
//! a loop Conductor does not look, so the definition is registered, and a warning says what comes of
//! it when a run gets there.

use std::sync::Arc;

use serde_json::Value;

use super::at_run_time::{is_left_to_the_run, written_request};
use super::{Place, Registered};
use crate::{InlineDefinition, TaskDef, WorkflowTask, http_request};

/// A rule that a step breaks.
pub(super) struct Broken {
    pub(super) path: String,
    pub(super) message: String,
    pub(super) value: Option<String>,
    pub(super) then: Then,
}

/// What comes of it when a run gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    /// The task or the run fails, in these words.
    Fails(&'static str),
    /// The run goes on, and the step does not do what its text says.
    GoesOn(&'static str),
}

impl Then {
    pub(super) const TASK_FAILS: Self = Self::Fails("the task fails");
    pub(super) const RUN_FAILS: Self = Self::Fails("the run fails there");
    const DEFAULT_CASE: Self = Self::GoesOn("every run takes the default case");
}

/// The rules of its type that a step breaks.
pub(super) fn broken(place: &Place<'_>, registered: Registered<'_>) -> Vec<Broken> {
    let mut rules = Rules { place, registered, list: vec![] };
    rules.step();
    rules.list
}

struct Rules<'a> {
    place: &'a Place<'a>,
    registered: Registered<'a>,
    list: Vec<Broken>,
}

impl Rules<'_> {
    fn add(&mut self, field: &str, message: String, then: Then) {
        self.add_value(field, message, None, then);
    }

    fn add_value(&mut self, field: &str, message: String, value: Option<String>, then: Then) {
        let path = format!("{}.{field}", self.place.path);
        self.list.push(Broken { path, message, value, then });
    }

    fn required(&mut self, field: &str, is_given: bool, then: Then) {
        if !is_given {
            let WorkflowTask { kind, name, .. } = self.place.step;
            let message =
                format!("{field} field is required for taskType: {kind} taskName: {name}");
            self.add(field, message, then);
        }
    }

    fn step(&mut self) {
        let step = self.place.step;
        match step.kind.as_str() {
            "EVENT" => self.required("sink", step.sink.is_some(), Then::TASK_FAILS),
            "DECISION" => {
                let is_given = step.case_value_param.is_some() || step.case_expression.is_some();
                let field = "caseValueParam or caseExpression";
                self.required(field, is_given, Then::DEFAULT_CASE);
                self.cases();
            }
            "SWITCH" => {
                self.required("evaluatorType", step.evaluator_type.is_some(), Then::RUN_FAILS);
                self.required("expression", step.expression.is_some(), Then::DEFAULT_CASE);
                self.cases();
            }
            "DYNAMIC" => {
                let is_given = step.dynamic_task_name_param.is_some();
                self.required("dynamicTaskNameParam", is_given, Then::RUN_FAILS);
            }
            "FORK_JOIN" if step.branches().is_empty() => {
                let message = format!(
                    "forkTasks should have atleast one task for taskType: FORK_JOIN taskName: {}",
                    step.name
                );
                self.add("forkTasks", message, Then::GoesOn("nothing is forked"));
            }
            "FORK_JOIN_DYNAMIC" => self.dynamic_fork(),
            "DO_WHILE" => {
                let has_items = step.items.is_some() || has_input(step, "_items");
                let has_end = step.loop_condition.is_some() || has_items;
                let once = Then::GoesOn("it ends after one iteration");
                self.required("loopCondition", has_end, once);
                let nothing = Then::GoesOn("its iterations do nothing");
                self.required("loopOver", !step.body().is_empty(), nothing);
            }
            "SUB_WORKFLOW" => self.sub_workflow(),
            "HTTP" => {
                self.input(&["http_request", "uri", "method"]);
                self.http();
            }
            "KAFKA_PUBLISH" => self.input(&["kafka_request"]),
            "JSON_JQ_TRANSFORM" => self.input(&["queryExpression"]),
            "TERMINATE" => self.terminate(),
            "WAIT" => self.wait(),
            _ => {}
        }
    }

    fn cases(&mut self) {
        let WorkflowTask { kind, name, .. } = self.place.step;
        if self.place.step.cases().next().is_none() {
            let message = format!(
                "decisionCases should have atleast one task for taskType: {kind} taskName: {name}"
            );
            self.add("decisionCases", message, Then::DEFAULT_CASE);
        }
    }

    fn dynamic_fork(&mut self) {
        let step = self.place.step;
        let tasks = step.dynamic_fork_tasks_param.is_some();
        let inputs = step.dynamic_fork_tasks_input_param_name.is_some();
        if step.dynamic_fork_join_tasks_param.is_some() {
            if tasks || inputs {
                let message = format!(
                    "dynamicForkJoinTasksParam or combination of dynamicForkTasksInputParamName and \
                     dynamicForkTasksParam can be used for taskType: FORK_JOIN_DYNAMIC taskName: {}",
                    step.name
                );
                let then = Then::GoesOn("only one of them is looked at");
                self.add("dynamicForkJoinTasksParam", message, then);
            }
        } else if !has_input(step, "forkTaskInputs") {
            self.required("dynamicForkTasksParam", tasks, Then::RUN_FAILS);
            self.required("dynamicForkTasksInputParamName", inputs, Then::RUN_FAILS);
        }
    }

    /// What is written out of a request has to be one, as far as Conductor does not know better.
    fn http(&mut self) {
        let policy = self.policy();
        let Some((at, request)) = written_request(self.place.step, policy.as_deref()) else {
            return;
        };
        for (field, why) in http_request::objections(&request) {
            if !is_left_to_the_run(&field) {
                let is_hedged = field == "hedgingConfig";
                let then =
                    if is_hedged { Then::GoesOn("nothing is hedged") } else { Then::TASK_FAILS };
                self.add(&format!("{at}.{field}"), why, then);
            }
        }
    }

    fn sub_workflow(&mut self) {
        let by_name =
            Then::Fails("the task fails unless a workflow is registered by the name of the step");
        let Some(params) = &self.place.step.sub_workflow_param else {
            return self.required("subWorkflowParam", false, by_name);
        };
        match &params.workflow_definition {
            Some(InlineDefinition::Definition(_)) => {}
            Some(InlineDefinition::Expression(text)) => {
                if !(text.starts_with("${") && text.ends_with('}')) {
                    let name = &self.place.step.name;
                    let message = format!(
                        "workflowDefinition must be a definition or an expression, taskName: {name}"
                    );
                    let field = "subWorkflowParam.workflowDefinition";
                    self.add_value(field, message, Some(text.clone()), Then::TASK_FAILS);
                }
            }
            None => {
                let is_named = params.name.as_ref().is_some_and(|name| !name.is_empty());
                self.required("subWorkflowParam.name", is_named, by_name);
            }
        }
    }

    /// The task definition that the step runs under.
    fn policy(&self) -> Option<Arc<TaskDef>> {
        let step = self.place.step;
        step.task_definition.clone().or_else(|| (self.registered)(&step.name))
    }

    /// One of these inputs must come from the step or from the template of its task definition.
    fn input(&mut self, names: &[&str]) {
        let step = self.place.step;
        let is_given = names.iter().any(|name| step.input_parameters().contains_key(*name)) || {
            self.policy().is_some_and(|definition| {
                names.iter().any(|name| definition.input_template().contains_key(*name))
            })
        };
        if let Some(name) = names.first() {
            self.required(&format!("inputParameters.{name}"), is_given, Then::TASK_FAILS);
        }
    }

    fn terminate(&mut self) {
        let WorkflowTask { name, optional, .. } = self.place.step;
        if *optional {
            let message = format!("terminate task cannot be optional, taskName: {name}");
            self.add("optional", message, Then::GoesOn("it ends the run all the same"));
        }
        let status = self.place.step.input_parameters().get("terminationStatus");
        let is_known = status.and_then(Value::as_str).is_some_and(|status| {
            matches!(status, "COMPLETED" | "FAILED" | "TERMINATED") || status.contains("${")
        });
        if !is_known {
            let message = format!(
                "terminate task must have an terminationStatus parameter and must be set to \
                 COMPLETED or FAILED, taskName: {name}"
            );
            self.add("inputParameters.terminationStatus", message, Then::TASK_FAILS);
        }
    }

    fn wait(&mut self) {
        let literal = |key: &str| {
            let text = match self.place.step.input_parameters().get(key)? {
                Value::Null => return None,
                Value::String(text) => text.clone(),
                other
                @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                    other.to_string()
                }
            };
            (!text.trim().is_empty()).then_some(text)
        };
        let (duration, until) = (literal("duration"), literal("until"));
        let mut wrong = |field: &str, message: String, value: Option<String>| {
            self.add_value(field, message, value, Then::TASK_FAILS);
        };
        if duration.is_some() && until.is_some() {
            let message =
                "Both 'duration' and 'until' specified. Please provide only one input".to_owned();
            wrong("inputParameters", message, None);
        }
        if let Some(text) = duration.filter(|text| !text.contains("${") && !is_duration(text)) {
            let message = format!("Unable to parse duration: {text}");
            wrong("inputParameters.duration", message, Some(text));
        }
        if let Some(text) = until.filter(|text| !text.contains("${") && !is_moment(text)) {
            let message = format!("Unable to parse date: {text}");
            wrong("inputParameters.until", message, Some(text));
        }
    }
}

fn has_input(step: &WorkflowTask, name: &str) -> bool {
    step.input_parameters().get(name).is_some_and(|value| !value.is_null())
}

/// `2 days 3h 5 min 1s`: each unit at most once, in this order.
fn is_duration(text: &str) -> bool {
    const UNITS: [&[&str]; 4] = [
        &["d", "day", "days"],
        &["h", "hr", "hrs", "hour", "hours"],
        &["m", "min", "mins", "minute", "minutes"],
        &["s", "sec", "secs", "second", "seconds"],
    ];
    let text = text.to_ascii_lowercase();
    let mut rest = text.trim();
    let mut next_unit = 0;
    while !rest.is_empty() {
        let after_number = rest.trim_start_matches(|char: char| char.is_ascii_digit());
        if after_number.len() == rest.len() {
            return false;
        }
        let unit_start = after_number.trim_start();
        rest = unit_start.trim_start_matches(|char: char| char.is_ascii_lowercase());
        let unit = &unit_start[..unit_start.len() - rest.len()];
        let Some(at) = UNITS.iter().position(|names| names.contains(&unit)) else { return false };
        if at < next_unit {
            return false;
        }
        next_unit = at + 1;
        rest = rest.trim_start();
    }
    next_unit > 0
}

/// `2026-01-31`, optionally with `10:20`, optionally with a zone.
fn is_moment(text: &str) -> bool {
    let number = |text: &str, digits: usize, least: u32, most: u32| {
        text.len() == digits
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse().is_ok_and(|number: u32| (least..=most).contains(&number))
    };
    let mut words = text.split_whitespace();
    let date: Vec<_> = words.next().unwrap_or_default().split('-').collect();
    let is_date = matches!(date[..], [year, month, day]
        if number(year, 4, 0, 9999) && number(month, 2, 1, 12) && number(day, 2, 1, 31));
    let is_time = words.next().is_none_or(|time| {
        time.split_once(':')
            .is_some_and(|(hour, minute)| number(hour, 2, 0, 23) && number(minute, 2, 0, 59))
    });
    is_date && is_time && words.count() <= 3
}
