//! # Warnings of a definition: what is registered, and fails or means nothing when a run gets there
//!
//! Conductor registers all of this, so a team that brings its definitions can register them too. What
//! is only known at run time (an expression, what the registry holds then) is not judged here.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    LABEL_CHARS_MAX, MESSAGE_CHARS_MAX, PATH_CHARS_MAX, Place, VIOLATIONS_MAX, places, shortened,
};
use crate::{
    EventHandler, STATE_KEYS, Warning, WarningKind, WorkflowDef, WorkflowTask, http_request,
    is_absent_type, may_have_effect,
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

/// Whether a broken rule of a request is one that Conductor leaves to the run.
pub(super) fn is_left_to_the_run(field: &str) -> bool {
    let first = field.split('.').next().unwrap_or_default();
    CONDUCTORS_HTTP_FIELDS.contains(&first)
}

impl WorkflowDef {
    /// Every place that is registered and will not do what it says, definitions given in place
    /// included.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = Found::default();
        let mut open = vec![(String::new(), self)];
        while let Some((prefix, definition)) = open.pop() {
            found.head(&prefix, definition);
            let places = places(&prefix, definition);
            let references: HashSet<_> =
                places.iter().map(|place| place.step.task_reference_name.as_str()).collect();
            for place in &places {
                found.step(place);
                found.cache(place);
                found.http(place);
                found.states(place);
                found.neighbours(place, &references);
            }
            open.extend(places.iter().rev().filter_map(Place::given_definition));
        }
        found.list
    }
}

impl EventHandler {
    /// What keeps the handler from ever acting.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = Found::default();
        if !self.event.trim().is_empty() && !is_event(&self.event) {
            found.no_effect(
                "event",
                "no such event comes in this release: the only source is conductor. Write \
                 conductor:WORKFLOW:NAME, where NAME is the reference of an EVENT task whose sink is \
                 conductor, or what stands behind conductor: in its sink; or the type of an \
                 onStateChange event",
            );
        }
        if self.actions.is_empty() {
            found.no_effect("actions", "there are no actions: the handler does nothing");
        }
        found.list
    }
}

#[derive(Default)]
struct Found {
    list: Vec<Warning>,
}

impl Found {
    fn add(&mut self, kind: WarningKind, path: impl AsRef<str>, message: impl AsRef<str>) {
        if self.list.len() < VIOLATIONS_MAX {
            let path = shortened(path.as_ref(), PATH_CHARS_MAX);
            let message = shortened(message.as_ref(), MESSAGE_CHARS_MAX);
            self.list.push(Warning { kind, path, message });
        }
    }

    fn fails(&mut self, path: impl AsRef<str>, message: impl AsRef<str>) {
        self.add(WarningKind::FailsAtRunTime, path, message);
    }

    fn no_effect(&mut self, path: impl AsRef<str>, message: impl AsRef<str>) {
        self.add(WarningKind::NoEffect, path, message);
    }

    fn head(&mut self, prefix: &str, definition: &WorkflowDef) {
        let idle = "is kept, and without effect in this release";
        if definition.cache_config.is_some() {
            self.no_effect(format!("{prefix}cacheConfig"), idle);
        }
        if definition.masked_fields.as_ref().is_some_and(|fields| !fields.is_empty()) {
            self.no_effect(format!("{prefix}maskedFields"), idle);
        }
        let sink = definition.workflow_status_listener_sink.as_deref().unwrap_or_default();
        if !(sink.is_empty() || sink == "conductor" || sink.starts_with("conductor:")) {
            let message = format!("{idle}: only conductor sinks are; the usual event is published");
            self.no_effect(format!("{prefix}workflowStatusListenerSink"), message);
        }
    }

    fn step(&mut self, Place { path, step, .. }: &Place<'_>) {
        if is_absent_type(&step.kind) {
            let message = format!(
                "task type {} is not in this release, and a task of it fails: give the step a type \
                 of your own and let a worker do it",
                step.kind
            );
            self.fails(format!("{path}.type"), message);
        }
        let sink = step.sink.as_deref().filter(|_| step.kind == "EVENT").unwrap_or("conductor");
        if !is_sink(sink) {
            let shown = shortened(sink, LABEL_CHARS_MAX);
            let message = format!(
                "sink {shown} leads nowhere in this release, and the task fails: only conductor and \
                 conductor:NAME do"
            );
            self.fails(format!("{path}.sink"), message);
        }
    }

    /// A cache is kept for steps that have a result of their own.
    fn cache(&mut self, Place { path, step, .. }: &Place<'_>) {
        if step.cache_config.is_some() && !may_have_effect(&step.kind) {
            let message = format!("a {} has no result to keep: it is not used there", step.kind);
            self.no_effect(format!("{path}.cacheConfig"), message);
        }
    }

    fn http(&mut self, Place { path, step, .. }: &Place<'_>) {
        let Some((at, request)) = written_request(step) else { return };
        let objections = http_request::objections(request);
        let is_refused = objections.iter().any(|(field, _)| field == "hedgingConfig");
        for (field, why) in objections {
            if is_left_to_the_run(&field) {
                self.fails(format!("{path}.{at}.{field}"), format!("{why}; the task fails"));
            }
        }
        if request.get("hedgingConfig").is_some() && !is_refused {
            let message = "is kept, and without effect in this release";
            self.no_effect(format!("{path}.{at}.hedgingConfig"), message);
        }
    }

    fn states(&mut self, Place { path, step, .. }: &Place<'_>) {
        for (keys, events) in step.on_state_change.iter().flat_map(|all| all.iter()) {
            let path = format!("{path}.onStateChange[{}]", shortened(keys, LABEL_CHARS_MAX));
            for key in keys.split(',').map(str::trim).filter(|key| !STATE_KEYS.contains(key)) {
                let (key, known) = (shortened(key, LABEL_CHARS_MAX), STATE_KEYS.join(", "));
                let message = format!("no task comes into a state {key}: write one of {known}");
                self.no_effect(&path, message);
            }
            for (at, _) in events.iter().enumerate().filter(|(_, event)| !is_event(&event.kind)) {
                let message = "no handler can hear this event: name it without a colon, or \
                               conductor:WORKFLOW:NAME";
                self.no_effect(format!("{path}[{at}].type"), message);
            }
        }
    }

    fn neighbours(
        &mut self,
        Place { path, step, before, after, is_end_of_branch, .. }: &Place<'_>,
        references: &HashSet<&str>,
    ) {
        let WorkflowTask { kind, name, .. } = step;
        match kind.as_str() {
            // The outer JOIN does not know what this one will fork into.
            "FORK_JOIN_DYNAMIC" if *is_end_of_branch => {
                let message = format!(
                    "{kind} task at the end of a branch must be followed by a JOIN task of its own, \
                     else the run fails there, taskName: {name}"
                );
                self.fails(path, message);
            }
            "FORK_JOIN" | "FORK_JOIN_DYNAMIC" if after.is_none_or(|after| after.kind != "JOIN") => {
                let message = format!(
                    "{kind} task must be followed by a JOIN task, else the run fails there, \
                     taskName: {name}"
                );
                self.fails(path, message);
            }
            // What a dynamic fork joins on is known when it has forked.
            "JOIN" if before.is_none_or(|before| before.kind != "FORK_JOIN_DYNAMIC") => {
                let unknown = step.join_on().iter().enumerate();
                for (at, reference) in unknown.filter(|(_, it)| !references.contains(it.as_str())) {
                    let reference = shortened(reference, LABEL_CHARS_MAX);
                    let message = format!(
                        "joinOn: {reference} for given task: {name} is not defined in workflow \
                         definition: unless the data of a run bring it, the JOIN fails"
                    );
                    self.fails(format!("{path}.joinOn[{at}]"), message);
                }
            }
            _ => {}
        }
    }
}

/// The request that an HTTP step writes out, and where it stands.
pub(super) fn written_request(
    step: &WorkflowTask,
) -> Option<(&'static str, &serde_json::Map<String, Value>)> {
    if step.kind != "HTTP" {
        return None;
    }
    let parameters = step.input_parameters();
    let is_flat = parameters.contains_key("uri") && parameters.contains_key("method");
    match parameters.get("http_request") {
        Some(Value::Object(request)) => Some(("inputParameters.http_request", request)),
        None if is_flat => Some(("inputParameters", parameters)),
        Some(_) | None => None,
    }
}

/// Where an EVENT task can publish to, as far as the text tells.
fn is_sink(sink: &str) -> bool {
    let name = sink.strip_prefix("conductor:");
    sink.contains("${") || sink == "conductor" || name.is_some_and(|name| !name.is_empty())
}

/// `conductor:WORKFLOW:NAME`, which is what EVENT tasks publish to; or a name without a source, which
/// is what steps tell their states under.
fn is_event(event: &str) -> bool {
    if !event.contains(':') {
        return !event.trim().is_empty() && event != "conductor";
    }
    let place = event.strip_prefix("conductor:").and_then(|place| place.split_once(':'));
    place.is_some_and(|(workflow, name)| !workflow.is_empty() && !name.is_empty())
}

#[cfg(test)]
mod tests;
