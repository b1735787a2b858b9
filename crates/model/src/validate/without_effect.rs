//! # Without effect: what is kept, given back, and changes nothing
//!
//! Settings of Conductor or Orkes that this release does not have, and settings at a place or with a
//! value where they can mean nothing.

mod policies;

use super::at_run_time::written_request;
use super::{LABEL_CHARS_MAX, Place, Registered, shortened};
use crate::{
    TaskDef, Warning, WorkflowDef, WorkflowTask, heeds_start_delay, http_request, is_absent_type,
    is_served_type, is_templated, may_have_effect,
};

const IDLE: &str = "is kept, and without effect in this release";
/// Types of the server's own that nobody completes, and that fall silent for no time.
const NOT_LEFT_OPEN: [&str; 14] = [
    "DECISION",
    "FORK_JOIN",
    "FORK_JOIN_DYNAMIC",
    "INLINE",
    "JSON_JQ_TRANSFORM",
    "LAMBDA",
    "NOOP",
    "PULL_WORKFLOW_MESSAGES",
    "RELEASE_LOCK",
    "SET_VARIABLE",
    "START_WORKFLOW",
    "SUB_WORKFLOW",
    "SWITCH",
    "TERMINATE",
];

/// Of a workflow definition itself.
pub(super) fn of_definition(prefix: &str, definition: &WorkflowDef) -> Vec<Warning> {
    let mut found = vec![];
    let mut add = |field: &str, message: &str| {
        found.push(Warning::no_effect(format!("{prefix}{field}"), message));
    };
    if definition.cache_config.is_some() {
        add("cacheConfig", IDLE);
    }
    if definition.masked_fields.as_ref().is_some_and(|fields| !fields.is_empty()) {
        add("maskedFields", IDLE);
    }
    let sink = definition.workflow_status_listener_sink.as_deref().unwrap_or_default().trim();
    if !sink.is_empty() && !definition.workflow_status_listener_enabled {
        let message = "nothing is published: workflowStatusListenerEnabled is not true";
        add("workflowStatusListenerSink", message);
    } else if !(sink.is_empty() || sink == "conductor" || sink.starts_with("conductor:")) {
        let message = format!("{IDLE}: only conductor sinks are; the usual event is published");
        add("workflowStatusListenerSink", &message);
    }
    let failure = definition.failure_workflow.as_deref().unwrap_or_default();
    if failure.contains("${") && !failure.starts_with('$') {
        let message = "is taken word for word, and no workflow is called so: only what begins with \
                       ${workflow.input.NAME} is read from the input";
        add("failureWorkflow", message);
    }
    if definition.timeout_seconds < 0 {
        let seconds = definition.timeout_seconds;
        add("timeoutSeconds", &format!("{seconds} is no timeout: a run may take for ever"));
    }
    if definition.concurrency.is_some() && definition.rate_limit_config.is_some() {
        add("rateLimitConfig", "is not looked at: concurrency is there, and wins");
    }
    found.extend(policies::of_definition(prefix, definition));
    found
}

/// Of a step, and of a task definition inside of it.
pub(super) fn of_step(place: &Place<'_>, registered: Registered<'_>) -> Vec<Warning> {
    let Place { path, step, .. } = place;
    let mut found = vec![];
    let mut add = |field: &str, message: String| {
        found.push(Warning::no_effect(format!("{path}.{field}"), message));
    };
    let kind = shortened(&step.kind, LABEL_CHARS_MAX);
    if step.start_delay > 0 && !heeds_start_delay(&step.kind) && !is_absent_type(&step.kind) {
        let message = format!("a {kind} runs when it is reached: put a WAIT before it");
        add("startDelay", message);
    }
    for (field, owner) in homeless_steps(step) {
        let message = format!(
            "a {kind} has no {field}: the steps inside never run; is {owner} meant as its type?"
        );
        add(field, message);
    }
    if step.cache_config.is_some() && !may_have_effect(&step.kind) {
        add("cacheConfig", format!("a {kind} has no result to keep: it is not used there"));
    }
    for (field, owners) in idle_fields(step) {
        let message = format!("a {kind} does not look at it: it is for {owners}");
        add(field, message);
    }
    if step.effect.is_none() && has_idle_effect(step, registered) {
        let name = shortened(&step.name, LABEL_CHARS_MAX);
        let message = format!(
            "task definition {name} has an effect, and a {kind} does nothing that could be done \
             twice: it is not used there"
        );
        add("name", message);
    }
    if let Some((at, message)) = hedging(step, registered) {
        add(&at, message);
    }
    if let Some(task) = &step.task_definition {
        found.extend(of_task(&format!("{path}.taskDefinition."), task));
    }
    found.extend(policies::of_step(path, step, registered));
    found
}

/// Lists of steps at a step whose type runs no steps of that list, and a type that does.
fn homeless_steps(step: &WorkflowTask) -> Vec<(&'static str, &'static str)> {
    let kind = step.kind.as_str();
    let is_choice = matches!(kind, "SWITCH" | "DECISION");
    let has_cases = step.cases().any(|(_, steps)| !steps.is_empty());
    [
        ("decisionCases", "SWITCH", has_cases && !is_choice),
        ("defaultCase", "SWITCH", !step.default_case().is_empty() && !is_choice),
        ("forkTasks", "FORK_JOIN", !step.branches().is_empty() && kind != "FORK_JOIN"),
        ("loopOver", "DO_WHILE", !step.body().is_empty() && kind != "DO_WHILE"),
    ]
    .into_iter()
    .filter(|(_, _, is_homeless)| *is_homeless)
    .map(|(field, owner, _)| (field, owner))
    .collect()
}

/// Fields that say something at a step whose type does not read them, and the types that do. A
/// DYNAMIC step becomes a step of another type, with its fields.
fn idle_fields(step: &WorkflowTask) -> Vec<(&'static str, &'static str)> {
    let kind = step.kind.as_str();
    if kind == "DYNAMIC" || is_absent_type(kind) {
        return vec![];
    }
    let says = |text: &Option<String>| text.as_deref().is_some_and(|it| !it.trim().is_empty());
    let lists = |names: &Option<Vec<String>>| names.as_ref().is_some_and(|it| !it.is_empty());
    let is_program =
        matches!(kind, "SWITCH" | "DECISION" | "INLINE" | "LAMBDA" | "JOIN" | "DO_WHILE");
    let is_join = matches!(kind, "JOIN" | "EXCLUSIVE_JOIN");
    let (is_choice, is_fork) = (kind == "DECISION", kind == "FORK_JOIN_DYNAMIC");
    let is_left_open = is_served_type(kind) && !NOT_LEFT_OPEN.contains(&kind);
    [
        ("evaluatorType", "SWITCH and INLINE", says(&step.evaluator_type) && !is_program),
        ("expression", "SWITCH, INLINE and JOIN", says(&step.expression) && !is_program),
        ("caseExpression", "DECISION", says(&step.case_expression) && !is_choice),
        ("caseValueParam", "DECISION", says(&step.case_value_param) && !is_choice),
        ("scriptExpression", "LAMBDA", says(&step.script_expression) && kind != "LAMBDA"),
        ("loopCondition", "DO_WHILE", says(&step.loop_condition) && kind != "DO_WHILE"),
        ("items", "DO_WHILE", says(&step.items) && kind != "DO_WHILE"),
        ("joinOn", "JOIN", lists(&step.join_on) && !is_join),
        (
            "defaultExclusiveJoinTask",
            "EXCLUSIVE_JOIN",
            lists(&step.default_exclusive_join_task) && kind != "EXCLUSIVE_JOIN",
        ),
        ("sink", "EVENT", says(&step.sink) && kind != "EVENT"),
        ("dynamicTaskNameParam", "DYNAMIC", says(&step.dynamic_task_name_param)),
        (
            "dynamicForkTasksParam",
            "FORK_JOIN_DYNAMIC",
            says(&step.dynamic_fork_tasks_param) && !is_fork,
        ),
        (
            "dynamicForkJoinTasksParam",
            "FORK_JOIN_DYNAMIC",
            says(&step.dynamic_fork_join_tasks_param) && !is_fork,
        ),
        (
            "dynamicForkTasksInputParamName",
            "FORK_JOIN_DYNAMIC",
            says(&step.dynamic_fork_tasks_input_param_name) && !is_fork,
        ),
        (
            "subWorkflowParam",
            "SUB_WORKFLOW",
            step.sub_workflow_param.is_some() && kind != "SUB_WORKFLOW",
        ),
        (
            "asyncComplete",
            "HTTP, EVENT and steps that stay open",
            step.async_complete && !is_left_open,
        ),
    ]
    .into_iter()
    .filter(|(_, _, is_idle)| *is_idle)
    .map(|(field, owners, _)| (field, owners))
    .collect()
}

/// The task definition of a step that has no use for it has an effect.
fn has_idle_effect(step: &WorkflowTask, registered: Registered<'_>) -> bool {
    if may_have_effect(&step.kind) || is_absent_type(&step.kind) || step.name.is_empty() {
        return false;
    }
    let policy = step.task_definition.clone().or_else(|| registered(&step.name));
    policy.is_some_and(|policy| policy.effect.is_some())
}

/// Hedging that is not refused.
fn hedging(step: &WorkflowTask, registered: Registered<'_>) -> Option<(String, String)> {
    let policy = step.task_definition.clone().or_else(|| registered(&step.name));
    let policy = policy.filter(|_| is_templated(&step.kind));
    let (at, request) = written_request(step, policy.as_deref())?;
    let objections = http_request::objections(&request);
    let is_refused = objections.iter().any(|(field, _)| field == "hedgingConfig");
    let is_there = request.get("hedgingConfig").is_some() && !is_refused;
    is_there.then(|| (format!("{at}.hedgingConfig"), IDLE.to_owned()))
}

/// Of a task definition.
pub(super) fn of_task(prefix: &str, task: &TaskDef) -> Vec<Warning> {
    let mut found = vec![];
    let mut add = |field: &str, message: String| {
        found.push(Warning::no_effect(format!("{prefix}{field}"), message));
    };
    for (field, text) in [
        ("isolationGroupId", &task.isolation_group_id),
        ("executionNameSpace", &task.execution_name_space),
    ] {
        if text.as_deref().is_some_and(|text| !text.trim().is_empty()) {
            add(field, format!("{IDLE}: all tasks of a type are in one queue"));
        }
    }
    for (field, value, what) in [
        ("concurrentExecLimit", i64::from(task.concurrent_exec_limit.unwrap_or(0)), "limit"),
        ("rateLimitPerFrequency", i64::from(task.rate_limit_per_frequency), "limit"),
        ("timeoutSeconds", task.timeout_seconds, "timeout"),
    ] {
        if value < 0 {
            add(field, format!("{value} is no {what}: there is none"));
        }
    }
    if task.rate_limit_frequency_in_seconds < 0 {
        let value = task.rate_limit_frequency_in_seconds;
        add("rateLimitFrequencyInSeconds", format!("{value} is no time: a second is taken"));
    }
    found.extend(policies::of_task(prefix, task));
    found
}
