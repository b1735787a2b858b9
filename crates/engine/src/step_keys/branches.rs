//! # Keys of branches that a dynamic fork has written among its own parameters
//!
//! Branches mostly come with the data, and what looks like an expression there is data. But a
//! definition may write them out as parameters of the fork: their texts are resolved when the fork
//! is reached, and what is a key there is a key like any other. The fork fails without it.

use semel_model::WorkflowTask;
use serde_json::Value;

use super::{KeyPlace, domains, needed, places as places_in};
use crate::kinds::Kind;

/// Keys in one parameter of a dynamic fork: of all its branches.
pub(super) fn places(fork: &WorkflowTask, parameter: &str, template: &Value) -> Vec<KeyPlace> {
    let is = |name: &Option<String>| name.as_deref() == Some(parameter);
    if parameter == "forkTaskInputs" {
        let kind = kind_in(literal(fork, "forkTaskType"));
        return under_each(template, |element| {
            let mut found = inputs(kind, element);
            found.extend(behind("subWorkflowParam", child(element.get("subWorkflowParam"))));
            found
        });
    }
    if is(&fork.dynamic_fork_tasks_param) {
        return under_each(template, step);
    }
    if is(&fork.dynamic_fork_tasks_input_param_name) {
        let tasks = fork.dynamic_fork_tasks_param.as_deref();
        let tasks = tasks.and_then(|name| literal(fork, name)).and_then(Value::as_array);
        return by_reference(tasks.map_or(&[], Vec::as_slice), template);
    }
    if is(&fork.dynamic_fork_join_tasks_param) {
        let listed = template.get("dynamicTasks").unwrap_or(&Value::Null);
        let of_branch = |branch: &Value| {
            let kind = kind_in(branch.get("type"));
            behind("input", branch.get("input").map(|it| inputs(kind, it)).unwrap_or_default())
        };
        return behind("dynamicTasks", under_each(listed, of_branch));
    }
    Vec::new()
}

/// A step that is written out, and the steps inside of it.
fn step(written: &Value) -> Vec<KeyPlace> {
    let kind = kind_in(written.get("type"));
    let mut found = vec![needed(&["effect", "key"]), needed(&["cacheConfig", "key"])];
    if kind == Kind::SubWorkflow {
        found.extend(behind("subWorkflowParam", child(written.get("subWorkflowParam"))));
    }
    if kind == Kind::Event {
        found.push(needed(&["sink"]));
    }
    if let Some(own) = written.get("inputParameters") {
        found.extend(behind("inputParameters", inputs(kind, own)));
    }
    for name in ["loopOver", "defaultCase"] {
        let inner = written.get(name).unwrap_or(&Value::Null);
        found.extend(behind(name, under_each(inner, step)));
    }
    let cases = written.get("decisionCases").and_then(Value::as_object);
    for (name, steps) in cases.into_iter().flatten() {
        found.extend(behind("decisionCases", behind(name, under_each(steps, step))));
    }
    found
}

/// The parameters of a branch.
fn inputs(kind: Kind, written: &Value) -> Vec<KeyPlace> {
    let parameters = written.as_object().into_iter().flatten();
    let beside = |name: &str| written.get(name);
    parameters
        .flat_map(|(name, value)| behind(name, places_in(kind, name, value, &beside)))
        .collect()
}

/// Parameters of branches by their references. Of one whose step came with the data, the names of
/// its parameters say what it is.
fn by_reference(tasks: &[Value], template: &Value) -> Vec<KeyPlace> {
    let branches = template.as_object().into_iter().flatten();
    let of_branch = |(reference, written): (&String, &Value)| {
        let named = |task: &&Value| task["taskReferenceName"].as_str() == Some(reference);
        let found = match tasks.iter().find(named) {
            Some(task) => inputs(kind_in(task.get("type")), written),
            None => {
                let mut found = inputs(Kind::StartWorkflow, written);
                found.extend(inputs(Kind::Http, written));
                found
            }
        };
        behind(reference, found)
    };
    branches.flat_map(of_branch).collect()
}

/// What a SUB_WORKFLOW step says of its child.
fn child(written: Option<&Value>) -> Vec<KeyPlace> {
    let Some(written) = written else { return Vec::new() };
    std::iter::once(needed(&["idempotencyKey"])).chain(domains(written)).collect()
}

fn kind_in(written: Option<&Value>) -> Kind {
    Kind::of(written.and_then(Value::as_str).unwrap_or(WorkflowTask::SIMPLE))
}

/// A parameter of the fork as it is written.
fn literal<'f>(fork: &'f WorkflowTask, parameter: &str) -> Option<&'f Value> {
    fork.input_parameters.as_ref()?.get(parameter)
}

fn under_each(list: &Value, of_item: impl Fn(&Value) -> Vec<KeyPlace>) -> Vec<KeyPlace> {
    let items = list.as_array().into_iter().flatten().enumerate();
    items.flat_map(|(at, item)| behind(&at.to_string(), of_item(item))).collect()
}

fn behind(name: &str, found: Vec<KeyPlace>) -> Vec<KeyPlace> {
    let longer = |KeyPlace { mut path, is_needed }: KeyPlace| {
        path.insert(0, name.to_owned());
        KeyPlace { path, is_needed }
    };
    found.into_iter().map(longer).collect()
}
