//! # Policies without effect: parts of a key, a cache, an effect or a limit that decide nothing
//!
//! Each is read, and something beside it keeps it from ever counting.

use std::sync::Arc;

use super::super::{LABEL_CHARS_MAX, Registered, VALUE_CHARS_MAX, head_of, shortened};
use crate::{
    CacheConfig, ConcurrencyPolicy, EffectPolicy, OnPayloadMismatch, TaskDef, Warning, WorkflowDef,
    WorkflowTask, is_templated, may_have_effect,
};

const UNCOMPARED: &str = "nothing is compared: effect.fingerprint lists no field of the input";

/// Of a workflow definition itself.
pub(super) fn of_definition(prefix: &str, definition: &WorkflowDef) -> Vec<Warning> {
    let mut found = vec![];
    if let Some(limit) = &definition.concurrency
        && matches!(limit.policy, ConcurrencyPolicy::Skip | ConcurrencyPolicy::Fail)
    {
        let policy = limit.policy.as_str();
        let message = format!("nothing waits in line under {policy}: it is for QUEUE and COALESCE");
        let fields = [
            ("maxQueue", limit.max_queue.is_some()),
            ("queueTimeoutSeconds", limit.queue_timeout_seconds.is_some()),
        ];
        for (field, _) in fields.into_iter().filter(|(_, is_said)| *is_said) {
            found.push(Warning::no_effect(format!("{prefix}concurrency.{field}"), &message));
        }
    }
    if let Some(policy) = &definition.idempotency
        && policy.on_payload_mismatch == Some(OnPayloadMismatch::Ignore)
        && !policy.fingerprint().is_empty()
    {
        let message = "is not looked at: onPayloadMismatch is IGNORE";
        found.push(Warning::no_effect(format!("{prefix}idempotency.fingerprint"), message));
    }
    found
}

/// Of a step.
pub(super) fn of_step(path: &str, step: &WorkflowTask, registered: Registered<'_>) -> Vec<Warning> {
    if !may_have_effect(&step.kind) {
        return vec![];
    }
    let mut found = vec![];
    let task = step.task_definition.clone().or_else(|| registered(&step.name));
    let of_task = task.as_ref().and_then(|task| task.effect.as_ref());
    if let Some(cache) = &step.cache_config {
        let has_effect = step.effect.is_some() || of_task.is_some();
        found.extend(cached(&format!("{path}."), cache, has_effect));
    }
    if let Some(effect) = &step.effect {
        found.extend(uncompared(&format!("{path}."), effect));
    }
    let (at, effect) = match (&step.effect, of_task) {
        (Some(own), _) => (Some(format!("{path}.effect.fingerprint")), Some(own)),
        (None, of_task) => (None, of_task),
    };
    let known = Inputs { step, task: task.clone().filter(|_| is_templated(&step.kind)) };
    for (index, field) in effect.map(EffectPolicy::fingerprint).into_iter().flatten().enumerate() {
        let Some(head) = known.missing(field) else { continue };
        let (field, head) = (shortened(field, VALUE_CHARS_MAX), shortened(head, LABEL_CHARS_MAX));
        let message = format!("the step has no input {head}, so nothing is compared by {field}");
        found.push(match &at {
            Some(at) => Warning::no_effect(format!("{at}[{index}]"), message),
            None => {
                let name = shortened(&step.name, LABEL_CHARS_MAX);
                let whose = format!("the effect of task definition {name}: {message}");
                Warning::no_effect(format!("{path}.name"), whose)
            }
        });
    }
    found
}

/// Of a task definition.
pub(super) fn of_task(prefix: &str, task: &TaskDef) -> Vec<Warning> {
    let cache = task.cache_config.as_ref();
    let mut found: Vec<Warning> =
        cache.and_then(|cache| cached(prefix, cache, task.effect.is_some())).into_iter().collect();
    found.extend(task.effect.as_ref().and_then(|effect| uncompared(prefix, effect)));
    found
}

fn cached(prefix: &str, cache: &CacheConfig, has_effect: bool) -> Option<Warning> {
    let has_key = cache.key.as_deref().is_some_and(|key| !key.trim().is_empty());
    let (is_kept, path) = (cache.ttl_in_second > 0, format!("{prefix}cacheConfig"));
    let message = match (has_key, is_kept) {
        (false, false) => return None, // Editors write it so, and it says nothing.
        _ if has_effect => "is not looked at: an effect is there, and wins",
        (true, true) => return None,
        (false, true) => "nothing is kept without a key",
        (true, false) => "nothing is kept: ttlInSecond is 0",
    };
    Some(Warning::no_effect(path, message))
}

fn uncompared(prefix: &str, effect: &EffectPolicy) -> Option<Warning> {
    let is_idle = effect.on_payload_mismatch.is_some() && effect.fingerprint().is_empty();
    is_idle.then(|| Warning::no_effect(format!("{prefix}effect.onPayloadMismatch"), UNCOMPARED))
}

/// The inputs that a step has by its definition.
struct Inputs<'a> {
    step: &'a WorkflowTask,
    /// Whose template is part of them.
    task: Option<Arc<TaskDef>>,
}

impl Inputs<'_> {
    /// The input that a path begins with, if the step does not have it.
    fn missing<'p>(&self, path: &'p str) -> Option<&'p str> {
        let has = |name: &str| {
            let template = self.task.as_ref().map(|task| task.input_template());
            let is_filled = template.is_some_and(|template| template.contains_key(name));
            is_filled || self.step.input_parameters().contains_key(name)
        };
        let whole = path.trim();
        let path =
            whole.strip_prefix('$').filter(|rest| rest.starts_with(['.', '['])).unwrap_or(whole);
        let head = head_of(path.strip_prefix('.').unwrap_or(path));
        // A name may have dots in it; a path that searches everywhere begins nowhere.
        let is_open = head.is_empty() || head == "*" || has(whole) || has(head);
        (!is_open).then_some(head)
    }
}
