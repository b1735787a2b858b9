//! # At run time: what registers wherever it stands, and fails when a run gets there
//!
//! Conductor registers all of this, so it is a warning. Only what is written out is judged: an
//! expression may turn out to be anything, and what the registry holds may change until then.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::step_type::{Broken, Then};
use super::{LABEL_CHARS_MAX, Place, Registered, shortened, started_definition};
use crate::{
    StartWorkflowRequest, TaskDef, WorkflowTask, http_request, is_templated, lock_lease_seconds,
    lock_name,
};

/// Fields of a request that Conductor has too. What is wrong with one of ours is refused.
const CONDUCTORS_HTTP_FIELDS: [&str; 9] = [
    "uri",
    "method",
    "headers",
    "body",
    "accept",
    "contentType",
    "connectionTimeOut",
    "readTimeOut",
    "asyncComplete",
];
const EVALUATORS: [&str; 3] = ["value-param", "javascript", "graaljs"];

/// Whether a broken rule of a request is one that Conductor leaves to the run.
pub(super) fn is_left_to_the_run(field: &str) -> bool {
    let first = field.split('.').next().unwrap_or_default();
    CONDUCTORS_HTTP_FIELDS.contains(&first)
}

/// What of a step can only fail.
pub(super) fn failing(place: &Place<'_>, registered: Registered<'_>) -> Vec<Broken> {
    let step = place.step;
    let policy = step.task_definition.clone().or_else(|| registered(&step.name));
    let policy = policy.filter(|_| is_templated(&step.kind));
    let mut found = Failing { path: &place.path, step, policy, registered, list: vec![] };
    found.step();
    found.list
}

struct Failing<'a> {
    path: &'a str,
    step: &'a WorkflowTask,
    /// Whose template is part of the input.
    policy: Option<Arc<TaskDef>>,
    registered: Registered<'a>,
    list: Vec<Broken>,
}

/// What a step says of one of its inputs.
enum Given<'a> {
    Nothing,
    /// It is known when the step is reached.
    Computed,
    Written(&'a Value),
}

impl Given<'_> {
    /// Written out, and no text that says something.
    fn is_blank(&self) -> bool {
        match self {
            Self::Computed => false,
            Self::Nothing => true,
            Self::Written(value) => value.as_str().is_none_or(|text| text.trim().is_empty()),
        }
    }
}

impl Failing<'_> {
    fn add(&mut self, field: &str, message: impl Into<String>, then: Then) {
        let path = format!("{}.{field}", self.path);
        self.list.push(Broken { path, message: message.into(), value: None, then });
    }

    fn given(&self, name: &str) -> Given<'_> {
        let own = self.step.input_parameters().get(name).filter(|value| !value.is_null());
        let template = || self.policy.as_ref()?.input_template().get(name);
        match own.or_else(template).filter(|value| !value.is_null()) {
            None => Given::Nothing,
            Some(value) if http_request::is_computed(value) => Given::Computed,
            Some(value) => Given::Written(value),
        }
    }

    fn step(&mut self) {
        match self.step.kind.as_str() {
            "INLINE" => self.inline(),
            "LAMBDA" => {
                self.program("scriptExpression", self.step.script_expression.as_deref());
            }
            "SWITCH" => self.switch(),
            "START_WORKFLOW" => self.start(),
            "ACQUIRE_LOCK" | "RELEASE_LOCK" => self.lock(),
            "HTTP" => self.http(),
            "JSON_JQ_TRANSFORM" => {
                let is_there = !matches!(self.given("queryExpression"), Given::Nothing);
                if is_there && self.given("queryExpression").is_blank() {
                    let field = "inputParameters.queryExpression";
                    self.add(field, "must be a jq program", Then::TASK_FAILS);
                }
            }
            "DYNAMIC" => {
                let named = self.step.dynamic_task_name_param.clone();
                self.named("dynamicTaskNameParam", named);
            }
            "FORK_JOIN_DYNAMIC" => self.dynamic_fork(),
            _ => {}
        }
    }

    fn inline(&mut self) {
        self.program("expression", self.step.expression.as_deref());
        let written = match self.given("evaluatorType") {
            Given::Computed => return,
            Given::Written(Value::String(text)) => Some(text.clone()),
            Given::Written(_) | Given::Nothing => self.step.evaluator_type.clone(),
        };
        if let Some(name) = written.filter(|name| !name.is_empty()) {
            self.evaluator(&name, Then::TASK_FAILS);
        }
    }

    /// The program is an input, or stands beside the inputs.
    fn program(&mut self, field: &str, beside: Option<&str>) {
        let is_beside = beside.is_some_and(|text| !text.trim().is_empty());
        if !is_beside && self.given(field).is_blank() {
            let message = "is required: the program of the step";
            self.add(&format!("inputParameters.{field}"), message, Then::TASK_FAILS);
        }
    }

    fn switch(&mut self) {
        if let Some(name) = self.step.evaluator_type.clone() {
            self.evaluator(&name, Then::RUN_FAILS);
        }
    }

    fn evaluator(&mut self, name: &str, then: Then) {
        if !EVALUATORS.contains(&name) {
            let (shown, known) = (shortened(name, LABEL_CHARS_MAX), EVALUATORS.join(", "));
            let message = format!("there is no evaluator {shown} here: write one of {known}");
            self.add("evaluatorType", message, then);
        }
    }

    fn start(&mut self) {
        let at = "inputParameters.startWorkflow";
        let own = self.step.input_parameters().get("startWorkflow");
        let request = match own {
            None | Some(Value::Null) => {
                return self.add(at, "is required: it says what to start", Then::TASK_FAILS);
            }
            Some(Value::String(text)) if text.contains("${") => return,
            Some(Value::Object(request)) => request.clone(),
            Some(_) => return self.add(at, "must be an object", Then::TASK_FAILS),
        };
        self.started(at);
        let is_open = |field: &str| request.get(field).is_some_and(http_request::is_computed);
        let is_given = request.get("workflowDef").is_some_and(|given| !given.is_null());
        // What is computed is replaced by what fits everywhere: its absence.
        let known = request
            .iter()
            .filter(|(name, value)| *name != "workflowDef" && !http_request::is_computed(value));
        let mut known: Map<String, Value> = known.map(|(k, v)| (k.clone(), v.clone())).collect();
        if is_given || is_open("name") {
            known.insert("name".to_owned(), Value::from("any"));
        }
        match serde_json::from_str::<StartWorkflowRequest>(&Value::Object(known).to_string()) {
            Ok(read) => {
                for violation in read.violations() {
                    let field = format!("{at}.{}", violation.path);
                    self.add(&field, violation.message, Then::TASK_FAILS);
                }
            }
            Err(error) => self.add(at, format!("is no start request: {error}"), Then::TASK_FAILS),
        }
    }

    /// The definition that is written out in a start.
    fn started(&mut self, at: &str) {
        let at = format!("{at}.workflowDef");
        match started_definition(self.step) {
            None => {}
            Some(Err(why)) => self.add(&at, why, Then::TASK_FAILS),
            Some(Ok(definition)) => {
                for broken in definition.violations_given(self.registered) {
                    let field = format!("{at}.{}", broken.path);
                    self.add(&field, broken.message, Then::TASK_FAILS);
                }
            }
        }
    }

    fn lock(&mut self) {
        let mut known = Map::from_iter([("name".to_owned(), Value::from("any"))]);
        for name in ["name", "leaseSeconds"] {
            match self.given(name) {
                Given::Computed => {}
                Given::Nothing => {
                    known.insert(name.to_owned(), Value::Null);
                }
                Given::Written(value) => {
                    known.insert(name.to_owned(), value.clone());
                }
            }
        }
        let known = Value::Object(known);
        if let Err(why) = lock_name(&known) {
            self.add("inputParameters.name", why, Then::TASK_FAILS);
        }
        let is_acquired = self.step.kind == "ACQUIRE_LOCK";
        if let Some(why) = lock_lease_seconds(&known).err().filter(|_| is_acquired) {
            self.add("inputParameters.leaseSeconds", why, Then::TASK_FAILS);
        }
    }

    fn http(&mut self) {
        if let Given::Written(request) = self.given("http_request")
            && !request.is_object()
        {
            self.add("inputParameters.http_request", "must be an object", Then::TASK_FAILS);
        }
        let policy = self.policy.as_deref();
        let Some((at, request)) = written_request(self.step, policy) else { return };
        let found = http_request::objections(&request);
        let found = found.into_iter().filter(|(field, _)| is_left_to_the_run(field));
        for (field, why) in found.collect::<Vec<_>>() {
            self.add(&format!("{at}.{field}"), why, Then::TASK_FAILS);
        }
    }

    fn dynamic_fork(&mut self) {
        if !matches!(self.given("forkTaskInputs"), Given::Nothing) {
            return;
        }
        let step = self.step;
        match (&step.dynamic_fork_tasks_param, &step.dynamic_fork_tasks_input_param_name) {
            (Some(tasks), Some(inputs)) => {
                let (tasks, inputs) = (tasks.clone(), inputs.clone());
                self.named("dynamicForkTasksParam", Some(tasks));
                self.named("dynamicForkTasksInputParamName", Some(inputs));
            }
            (None, _) | (_, None) => {
                let named = step.dynamic_fork_join_tasks_param.clone();
                self.named("dynamicForkJoinTasksParam", named);
            }
        }
    }

    /// A field that says which of the inputs is meant.
    fn named(&mut self, field: &str, parameter: Option<String>) {
        let Some(parameter) = parameter else { return };
        if matches!(self.given(&parameter), Given::Nothing) {
            let shown = shortened(&parameter, LABEL_CHARS_MAX);
            let message = format!("the step has no input {shown}: add it to inputParameters");
            self.add(field, message, Then::RUN_FAILS);
        }
    }
}

/// The request that an HTTP step writes out, and where it stands. Beside one another in the inputs,
/// some fields may come from the template of its task definition.
pub(super) fn written_request<'a>(
    step: &'a WorkflowTask,
    policy: Option<&TaskDef>,
) -> Option<(&'static str, Cow<'a, Map<String, Value>>)> {
    if step.kind != "HTTP" {
        return None;
    }
    let parameters = step.input_parameters();
    let template = policy.map(TaskDef::input_template).filter(|template| !template.is_empty());
    let has = |name: &str| parameters.get(name).is_some_and(|value| !value.is_null());
    match parameters.get("http_request") {
        Some(Value::Object(request)) => {
            Some(("inputParameters.http_request", Cow::Borrowed(request)))
        }
        Some(Value::Null) | None if has("uri") || has("method") => {
            let Some(template) = template else {
                return Some(("inputParameters", Cow::Borrowed(parameters)));
            };
            if template.contains_key("http_request") {
                return None;
            }
            let mut request = template.clone();
            request.extend(parameters.clone());
            Some(("inputParameters", Cow::Owned(request)))
        }
        Some(_) | None => None,
    }
}
