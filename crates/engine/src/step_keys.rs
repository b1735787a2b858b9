//! # Keys of steps: keys and names that are written among the parameters of a step
//!
//! Resolved like any other text, `order-${workflow.input.orderId}` without an order would be
//! `order-null`: one key for everybody who has none. So a key with a missing part is no key. It is
//! null in the task's input, and a step that needs it fails before it does anything.

use semel_model::{HttpKey, SubWorkflowParams};
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
    /// The names that lead to the key inside the parameter.
    pub(crate) path: Vec<&'t str>,
    pub(crate) template: &'t str,
    /// The step fails without it.
    is_needed: bool,
}

/// The computed keys and names in one parameter of a step.
pub(crate) fn written_keys<'t>(
    step: &Step,
    parameter: &str,
    template: &'t Value,
) -> Vec<WrittenKey<'t>> {
    let mut found = Vec::new();
    let mut look = |path: Vec<&'t str>, is_needed: bool| {
        let inner = path.iter().try_fold(template, |value, name| value.get(name));
        let text = inner.and_then(Value::as_str).filter(|text| is_computed(text));
        found.extend(text.map(|template| WrittenKey { path, template, is_needed }));
    };
    match (step.kind(), parameter) {
        (Kind::StartWorkflow, "startWorkflow") => {
            look(vec!["idempotencyKey"], true);
            look(vec!["correlationId"], false);
            let domains = template.get(DOMAINS).and_then(Value::as_object);
            let tasks = domains.into_iter().flat_map(Map::keys);
            tasks.for_each(|task| look(vec![DOMAINS, task], true));
        }
        (Kind::Dynamic, name) if step.task().dynamic_task_name_param.as_deref() == Some(name) => {
            look(vec![], true);
        }
        (Kind::AcquireLock | Kind::ReleaseLock, "name") => look(vec![], true),
        (Kind::Http, "http_request") => {
            look(vec!["idempotency", "value"], true);
            look(vec!["body", "idempotency_key"], true);
            let headers = template.get("headers");
            key_headers(headers).for_each(|name| look(vec!["headers", name], true));
        }
        (Kind::Http, "idempotency") => look(vec!["value"], true),
        (Kind::Http, "body") => look(vec!["idempotency_key"], true),
        (Kind::Http, "headers") => {
            key_headers(Some(template)).for_each(|name| look(vec![name], true));
        }
        _ => {}
    }
    found
}

fn key_headers(headers: Option<&Value>) -> impl Iterator<Item = &str> {
    let names = headers.and_then(Value::as_object).into_iter().flat_map(Map::keys);
    names.map(String::as_str).filter(|name| HttpKey::is_known(name))
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
        let has_keys = [Kind::StartWorkflow, Kind::AcquireLock, Kind::ReleaseLock, Kind::Http];
        if !has_keys.contains(&step.kind()) {
            return None;
        }
        parameters(&step).find_map(|(name, value)| {
            let needed = written_keys(&step, name, value);
            needed.into_iter().filter(|key| key.is_needed).find_map(|key| {
                let path: Vec<&str> = std::iter::once(name).chain(key.path).collect();
                self.missing_key(task, &path.join("."), &path, key.template)
            })
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
        let given = path.iter().try_fold(&input, |value, name| value.get(name));
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
