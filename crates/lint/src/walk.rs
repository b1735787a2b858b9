//! # The walk: every step of a definition, and what it runs under
//!
//! Steps inside steps, steps a dynamic fork spells out, and those of definitions given in place.
//! Nesting is as deep as the sender likes, so the walk keeps its own stack.

use std::borrow::Cow;
use std::sync::Arc;

use semel_model::{
    InlineDefinition, TaskDef, WorkflowDef, WorkflowTask, is_system_type, started_definition,
};
use serde_json::Value;

use crate::Registered;

/// One definition: the outermost, or one given in place.
pub(crate) struct Scene<'a> {
    /// The references of the tasks that give it, each with a slash.
    pub(crate) prefix: String,
    pub(crate) definition: Cow<'a, WorkflowDef>,
    pub(crate) places: Vec<Place<'a>>,
}

/// A step and what it runs under.
pub(crate) struct Place<'a> {
    pub(crate) at: String,
    pub(crate) step: Cow<'a, WorkflowTask>,
    pub(crate) policy: Arc<TaskDef>,
    pub(crate) repeats: Option<Repeats>,
}

/// Why there may be several tasks at one step of one run, or at steps nobody has written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeats {
    Loop,
    DynamicFork,
}

impl Place<'_> {
    pub(crate) fn is_worker(&self) -> bool {
        !is_system_type(&self.step.kind)
    }

    pub(crate) fn retries(&self) -> i32 {
        self.step.retry_count.unwrap_or(self.policy.retry_count).max(0)
    }

    /// An input as it is written, the step's own or that of the template.
    pub(crate) fn input(&self, name: &str) -> Option<&Value> {
        let own = self.step.input_parameters().get(name);
        own.or_else(|| self.policy.input_template().get(name))
    }
}

pub(crate) fn walk<'a>(definition: &'a WorkflowDef, registered: Registered<'_>) -> Vec<Scene<'a>> {
    let mut open = vec![(String::new(), Cow::Borrowed(definition))];
    let mut scenes = vec![];
    while let Some((prefix, definition)) = open.pop() {
        let places = match &definition {
            Cow::Borrowed(definition) => places(&prefix, definition, registered),
            // Of a definition that a dynamic fork spells out nothing outlives this scene.
            Cow::Owned(definition) => owned(places(&prefix, definition, registered)),
        };
        let given = places.iter().rev().filter_map(given_definition);
        let given: Vec<_> = given.map(|(at, inner)| (format!("{at}/"), inner)).collect();
        open.extend(given);
        scenes.push(Scene { prefix, definition, places });
    }
    scenes
}

fn owned(places: Vec<Place<'_>>) -> Vec<Place<'static>> {
    let place = |place: Place<'_>| {
        let Place { at, step, policy, repeats } = place;
        Place { at, step: Cow::Owned(step.into_owned()), policy, repeats }
    };
    places.into_iter().map(place).collect()
}

fn given_definition<'a>(place: &Place<'a>) -> Option<(String, Cow<'a, WorkflowDef>)> {
    if let Some(Ok(started)) = started_definition(&place.step) {
        return Some((place.at.clone(), Cow::Owned(started)));
    }
    match &place.step {
        Cow::Borrowed(step) => {
            inline(step).map(|inner| (place.at.clone(), Cow::Borrowed(&**inner)))
        }
        Cow::Owned(step) => {
            inline(step).map(|inner| (place.at.clone(), Cow::Owned(WorkflowDef::clone(inner))))
        }
    }
}

fn inline(step: &WorkflowTask) -> Option<&Arc<WorkflowDef>> {
    match step.sub_workflow_param.as_ref()?.workflow_definition.as_ref()? {
        InlineDefinition::Definition(inner) => Some(inner),
        InlineDefinition::Expression(_) => None,
    }
}

fn places<'a>(
    prefix: &str,
    definition: &'a WorkflowDef,
    registered: Registered<'_>,
) -> Vec<Place<'a>> {
    let borrowed = |step, repeats| (Cow::Borrowed(step), repeats);
    let mut open: Vec<_> =
        definition.steps().iter().rev().map(|step| borrowed(step, None)).collect();
    let mut places = vec![];
    while let Some((step, repeats)) = open.pop() {
        let first = open.len();
        match &step {
            Cow::Borrowed(step) => {
                let inside = if step.kind == "DO_WHILE" { Some(Repeats::Loop) } else { repeats };
                open.extend(step.children().flatten().map(|child| borrowed(child, inside)));
                let spelled = spelled_out(step).into_iter();
                open.extend(spelled.map(|step| (Cow::Owned(step), Some(Repeats::DynamicFork))));
            }
            Cow::Owned(step) => {
                let inside = step.children().flatten().cloned();
                open.extend(inside.map(|child| (Cow::Owned(child), repeats)));
            }
        }
        open[first..].reverse();
        let policy = policy(&step, registered);
        let at = format!("{prefix}{}", step.task_reference_name);
        places.push(Place { at, step, policy, repeats });
    }
    places
}

/// As a run would pin it.
fn policy(step: &WorkflowTask, registered: Registered<'_>) -> Arc<TaskDef> {
    let found = step.task_definition.clone().or_else(|| registered(&step.name));
    found.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(&step.name, &step.kind)))
}

/// The branches of a dynamic fork, where the definition itself lists them.
fn spelled_out(step: &WorkflowTask) -> Vec<WorkflowTask> {
    let listed =
        step.dynamic_fork_tasks_param.as_ref().filter(|_| step.kind == "FORK_JOIN_DYNAMIC");
    let listed =
        listed.and_then(|name| step.input_parameters().get(name)).and_then(Value::as_array);
    let read = |value: &Value| serde_json::from_value(value.clone()).ok();
    listed.into_iter().flatten().filter_map(read).collect()
}
