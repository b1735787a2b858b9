//! # Keys of steps: keys and names that are written among the parameters of a step
//!
//! Resolved like any other text, `order-${workflow.input.orderId}` without an order would be
//! `order-null`: one key for everybody who has none. So a key with a missing part is no key. It is
//! null in the task's input, and a step that needs it fails before it does anything.

mod address;
mod branches;
mod request;

use semel_model::SubWorkflowParams;
use serde_json::{Map, Value, json};

use crate::expression::{expressions_of, is_computed};
use crate::kinds::Kind;
use crate::pin::Step;
use crate::task::Task;
use crate::turn::Turn;

/// Where a start says which tasks go to which domain.
const DOMAINS: &str = "taskToDomain";

/// A key in a parameter of a step.
pub(crate) struct WrittenKey<'t> {
    /// The names and positions that lead to the key inside the parameter.
    pub(crate) path: Vec<String>,
    pub(crate) template: &'t str,
    /// The step fails without it.
    is_needed: bool,
}

/// Where a parameter may have a key.
struct KeyPlace {
    path: Vec<String>,
    is_needed: bool,
}

/// The computed keys and names in one parameter of a step.
pub(crate) fn written_keys<'t>(
    step: &Step,
    parameter: &str,
    template: &'t Value,
) -> Vec<WrittenKey<'t>> {
    let task = step.task();
    let is_name = task.dynamic_task_name_param.as_deref() == Some(parameter);
    let places = if step.kind() == Kind::DynamicFork {
        branches::places(task, parameter, template)
    } else if step.kind() == Kind::Dynamic && is_name {
        vec![needed(&[])]
    } else {
        let beside = |name: &str| parameters(step).find(|(it, _)| *it == name).map(|(_, it)| it);
        places(step.kind(), parameter, template, &beside)
    };
    let written = |KeyPlace { path, is_needed }: KeyPlace| {
        let text = path.iter().try_fold(template, |value, name| inside(value, name))?.as_str()?;
        is_computed(text).then_some(WrittenKey { path, template: text, is_needed })
    };
    places.into_iter().filter_map(written).collect()
}

/// Where a step of that kind may have keys in a parameter. `beside` finds its other parameters.
fn places<'v>(
    kind: Kind,
    parameter: &str,
    template: &Value,
    beside: &dyn Fn(&str) -> Option<&'v Value>,
) -> Vec<KeyPlace> {
    match (kind, parameter) {
        (Kind::StartWorkflow, "startWorkflow") => {
            let correlation = KeyPlace { is_needed: false, ..needed(&["correlationId"]) };
            let mut found = vec![needed(&["idempotencyKey"]), correlation];
            found.extend(domains(template));
            found
        }
        (Kind::AcquireLock | Kind::ReleaseLock, "name") => vec![needed(&[])],
        (Kind::Http, _) => request::places(parameter, template, beside),
        _ => Vec::new(),
    }
}

fn needed(path: &[&str]) -> KeyPlace {
    let path = path.iter().map(|name| (*name).to_owned()).collect();
    KeyPlace { path, is_needed: true }
}

/// Which tasks of a run that is started go to which domain.
fn domains(start: &Value) -> impl Iterator<Item = KeyPlace> {
    let tasks = start.get(DOMAINS).and_then(Value::as_object);
    tasks.into_iter().flat_map(Map::keys).map(|task| needed(&[DOMAINS, task]))
}

/// A member of an object by its name, an item of a list by its position.
fn inside<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(object) => object.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

impl Turn<'_> {
    /// Why a task cannot be done: a key that its step computes has a part that is missing.
    pub(crate) fn key_fault(&mut self, task: &Task) -> Option<String> {
        self.own_key_fault(task).or_else(|| self.effect_key_fault(task))
    }

    /// The key of an effect is made of the task's input. A parameter that itself lacks a part, such as
    /// `order-null`, is the same for everybody who lacks it.
    fn effect_key_fault(&mut self, task: &Task) -> Option<String> {
        let step = task.step.clone();
        let policy = step.effect()?;
        let key = policy.key()?;
        let input = task.input.value();
        expressions_of(key).into_iter().find_map(|path| {
            let names: Vec<&str> = path.trim().split('.').collect();
            let (first, inner) = names.split_first()?;
            let (_, value) = parameters(&step).find(|(name, _)| name == first)?;
            let template = inner.iter().try_fold(value, |value, name| value.get(name))?.as_str()?;
            let missing = self.key_text(template, Some(task.id)).err()?;
            let plain = self.resolve_value(&json!(template), Some(task.id));
            let is_text = plain.as_str().is_some_and(|text| !text.trim().is_empty());
            // Else it comes to nothing as a whole, or a person has given another one.
            let given = names.iter().try_fold(&input, |value, name| value.get(name));
            (is_text && given == Some(&plain)).then(|| {
                format!("effect.key is {key}, made of {template}, and {missing}: there is no key")
            })
        })
    }

    fn own_key_fault(&mut self, task: &Task) -> Option<String> {
        let step = task.step.clone();
        if step.kind() == Kind::SubWorkflow {
            return self.child_key_fault(task, step.task().sub_workflow_param.as_ref()?);
        }
        let has_keys = [
            Kind::StartWorkflow,
            Kind::AcquireLock,
            Kind::ReleaseLock,
            Kind::Http,
            Kind::DynamicFork,
        ];
        if !has_keys.contains(&step.kind()) {
            return None;
        }
        parameters(&step).find_map(|(name, value)| {
            let needed = written_keys(&step, name, value);
            let keys = needed.into_iter().filter(|key| key.is_needed).find_map(|key| {
                let inner = key.path.iter().map(String::as_str);
                let path: Vec<&str> = std::iter::once(name).chain(inner).collect();
                self.missing_key(task, &path.join("."), &path, key.template)
            });
            keys.or_else(|| address::fault(self, task, name, value))
        })
    }

    fn child_key_fault(&mut self, task: &Task, child: &SubWorkflowParams) -> Option<String> {
        let key = child.idempotency_key.as_deref().filter(|text| is_computed(text));
        let key = key.and_then(|template| {
            let place = "subWorkflowParam.idempotencyKey";
            self.missing_key(task, place, &["idempotencyKey"], template)
        });
        key.or_else(|| {
            let domains = child.task_to_domain.iter().flatten();
            let mut computed = domains.filter(|(_, template)| is_computed(template));
            computed.find_map(|(name, template)| {
                let place = format!("subWorkflowParam.{DOMAINS}.{name}");
                self.missing_key(task, &place, &["subWorkflowTaskToDomain", name], template)
            })
        })
    }

    /// `path` is where the task's input has the key. A person may have given one.
    fn missing_key(
        &mut self,
        task: &Task,
        place: &str,
        path: &[&str],
        template: &str,
    ) -> Option<String> {
        let input = task.input.value();
        let given = path.iter().try_fold(&input, |value, name| inside(value, name));
        let is_given = given.is_some_and(|given| match given {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => true,
        });
        if is_given {
            return None;
        }
        let missing = self.key_text(template, Some(task.id)).err()?;
        let what = if place.contains(DOMAINS) { "domain" } else { "key" };
        Some(format!("{place} is {template}, and {missing}: there is no {what}"))
    }
}

/// The parameters of a step as it has them, and those its task definition has for it.
fn parameters(step: &Step) -> impl Iterator<Item = (&str, &Value)> {
    let own = step.task().input_parameters.as_ref();
    let template = step.policy().input_template.as_ref();
    let is_given =
        move |name: &String| own.is_some_and(|own| own.get(name).is_some_and(|it| !it.is_null()));
    let rest = template.into_iter().flatten().filter(move |(name, _)| !is_given(name));
    let all = own.into_iter().flatten().chain(rest);
    all.map(|(name, value)| (name.as_str(), value))
}
