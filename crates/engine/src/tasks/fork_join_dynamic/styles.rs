//! # The four styles in which data name the branches of a fork
//!
//! One task for each of a list of inputs; one sub-workflow for each; a list of steps and a map of
//! their inputs; and the oldest, a list of names with inputs.

use semel_model::{Payload, SubWorkflowParams, WorkflowTask};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::kinds::Kind;
use crate::pin::Step;

/// Of what was given, for people.
const QUOTED_CHARS_MAX: usize = 400;

pub(super) fn branches(
    step: &Step,
    input: &Payload,
    has_others: bool,
) -> Result<Vec<WorkflowTask>, String> {
    let input = input.value();
    let task = step.task();
    if let Some(Value::Array(inputs)) = input.get("forkTaskInputs") {
        let names = Names { fork: step.reference(), has_others };
        return one_for_each(task, &names, &input, inputs);
    }
    if let (Some(tasks), Some(inputs)) =
        (&task.dynamic_fork_tasks_param, &task.dynamic_fork_tasks_input_param_name)
    {
        return listed(tasks, &input, input.get(inputs));
    }
    match &task.dynamic_fork_join_tasks_param {
        Some(parameter) => oldest(parameter, &input),
        None => Err("the input of a dynamic fork names no tasks: give it forkTaskInputs, or \
                     dynamicForkTasksParam and dynamicForkTasksInputParamName"
            .to_owned()),
    }
}

struct Names<'a> {
    fork: &'a str,
    has_others: bool,
}

impl Names<'_> {
    fn branch(&self, name: &str, at: usize) -> String {
        match self.has_others {
            true => format!("_{}_{name}_{at}", self.fork),
            false => format!("_{name}_{at}"),
        }
    }
}

/// Styles 1 and 2: `forkTaskInputs`.
fn one_for_each(
    fork: &WorkflowTask,
    names: &Names<'_>,
    input: &Value,
    inputs: &[Value],
) -> Result<Vec<WorkflowTask>, String> {
    let text = |key: &str| input.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    let workflow = text("forkTaskWorkflow");
    let kind = match workflow {
        Some(_) => "SUB_WORKFLOW",
        None => text("forkTaskType").unwrap_or(WorkflowTask::SIMPLE),
    };
    let is_reserved = workflow.is_none() && Kind::of(kind).is_reserved();
    let name = text("forkTaskName").unwrap_or(if is_reserved { kind } else { names.fork });
    let version = match input.get("forkTaskWorkflowVersion") {
        None | Some(Value::Null) => None,
        Some(given) => Some(
            number(given)
                .ok_or_else(|| format!("forkTaskWorkflowVersion must be a number, not {given}"))?,
        ),
    };
    let branch = |(at, element): (usize, &Value)| {
        let given = element.as_object().cloned();
        let whole = || Map::from_iter([("input".to_owned(), element.clone())]);
        let mut parameters = given.unwrap_or_else(whole);
        parameters.insert("__index".to_owned(), json!(at));
        // An element may say `retryCount`, `optional`, `startDelay` of its own task.
        let said: WorkflowTask = serde_json::from_value(element.clone()).unwrap_or_default();
        let sub_workflow_param = workflow.map(|workflow| SubWorkflowParams {
            name: Some(workflow.to_owned()),
            version,
            task_to_domain: domains(element),
            ..SubWorkflowParams::default()
        });
        WorkflowTask {
            name: name.to_owned(),
            task_reference_name: names.branch(name, at),
            kind: kind.to_owned(),
            input_parameters: Some(parameters),
            optional: said.optional || fork.optional,
            task_definition: None,
            sub_workflow_param: sub_workflow_param.or(said.sub_workflow_param.clone()),
            ..said
        }
    };
    Ok(inputs.iter().enumerate().map(branch).collect())
}

fn domains(element: &Value) -> Option<std::collections::BTreeMap<String, String>> {
    let map = element.get("taskToDomain")?.as_object()?;
    let domain = |(key, value): (&String, &Value)| Some((key.clone(), value.as_str()?.to_owned()));
    Some(map.iter().filter_map(domain).collect())
}

fn number(value: &Value) -> Option<i32> {
    let text = value.as_str().and_then(|text| text.trim().parse().ok());
    text.or_else(|| value.as_i64().and_then(|number| i32::try_from(number).ok()))
}

/// Style 3: a list of steps, and a map of their inputs.
fn listed(
    parameter: &str,
    input: &Value,
    inputs: Option<&Value>,
) -> Result<Vec<WorkflowTask>, String> {
    let given = input.get(parameter).unwrap_or(&Value::Null);
    let invalid = || {
        let given = shortened(given);
        format!(
            "Input '{parameter}' is invalid. Cannot deserialize a list of Workflow Tasks from \
             '{given}'"
        )
    };
    if !given.is_array() {
        return Err(invalid());
    }
    let mut steps: Vec<WorkflowTask> =
        serde_json::from_value(given.clone()).map_err(|_| invalid())?;
    if steps.iter().any(|step| step.task_reference_name.is_empty()) {
        return Err(invalid());
    }
    let none = Map::new();
    let inputs = match inputs {
        Some(Value::Object(inputs)) => inputs,
        None | Some(Value::Null) if steps.is_empty() => &none,
        other => {
            let found = shortened(other.unwrap_or(&Value::Null));
            return Err(format!(
                "Input to the dynamically forked tasks is not a map -> expecting a map of K,V  \
                 but found {found}"
            ));
        }
    };
    for step in &mut steps {
        if let Some(Value::Object(own)) = inputs.get(&step.task_reference_name) {
            let parameters = step.input_parameters.get_or_insert_default();
            parameters.extend(own.clone());
        }
    }
    Ok(steps)
}

/// Style 4.
fn oldest(parameter: &str, input: &Value) -> Result<Vec<WorkflowTask>, String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Tasks {
        #[serde(default)]
        dynamic_tasks: Vec<Named>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        #[serde(default)]
        task_name: Option<String>,
        reference_name: String,
        #[serde(rename = "type", default)]
        kind: Option<String>,
        #[serde(default)]
        input: Option<Map<String, Value>>,
    }
    let given = input.get(parameter).filter(|given| given.is_object());
    let found = given.and_then(|given| serde_json::from_value::<Tasks>(given.clone()).ok());
    let found = found.ok_or_else(|| {
        format!(
            "Dynamic tasks could not be created. The value of {parameter} from task's input {} has \
             no dynamic tasks to be scheduled",
            shortened(input)
        )
    })?;
    let step = |named: Named| WorkflowTask {
        name: named.task_name.unwrap_or_default(),
        task_reference_name: named.reference_name,
        kind: named.kind.unwrap_or_else(|| WorkflowTask::SIMPLE.to_owned()),
        input_parameters: Some(named.input.unwrap_or_default()),
        ..WorkflowTask::default()
    };
    Ok(found.dynamic_tasks.into_iter().map(step).collect())
}

/// A reason quotes what was given only so far.
fn shortened(given: &Value) -> String {
    let text = given.to_string();
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
