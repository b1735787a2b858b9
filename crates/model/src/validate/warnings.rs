//! # Warnings of a definition: what is registered, and fails or means nothing when a run gets there
//!
//! Conductor registers all of this, so a team that brings its definitions can register them too. What
//! is only known at run time (an expression, what the registry holds then) is not judged here.

use super::references::References;
use super::step_type::{Broken, Then, broken};
use super::{
    LABEL_CHARS_MAX, MESSAGE_CHARS_MAX, PATH_CHARS_MAX, Place, Registered, VIOLATIONS_MAX,
    at_run_time, parameters, places, shortened, started_definition, without_effect,
};
use crate::{
    EventHandler, STATE_KEYS, Tag, TaskDef, Warning, WarningKind, WorkflowDef, WorkflowTask,
    is_absent_type, meant_type,
};

impl WorkflowDef {
    /// Every place that is registered and will not do what it says, as far as the definition alone can
    /// tell; definitions given in place included.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings_knowing(&|_| None)
    }

    /// As `warnings`, where inputs may also come from the template of a registered task.
    pub fn warnings_knowing(&self, registered: Registered<'_>) -> Vec<Warning> {
        let mut found = Found::default();
        found.all(Tag::unreadable(self.tags.as_ref()).into_iter().collect());
        let mut open = vec![(String::new(), self)];
        while let Some((prefix, definition)) = open.pop() {
            let places = places(&prefix, definition);
            let references = References::of(&places);
            found.all(without_effect::of_definition(&prefix, definition));
            found.secrets(&prefix, definition);
            found.all(references.lost_in_head(&prefix, definition));
            for place in &places {
                found.step(place);
                found.of_type(place, registered);
                found.all(without_effect::of_step(place, registered));
                found.all(parameters::unread(place));
                found.states(place);
                found.neighbours(place, &references);
                let is_refused = place.is_top_level && std::ptr::eq(definition, self);
                found.all(references.lost_in_step(place, is_refused));
                found.started(place, registered);
            }
            open.extend(places.iter().rev().filter_map(Place::given_definition));
        }
        found.list
    }
}

impl TaskDef {
    /// What of it is kept, and changes nothing.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut found = Found::default();
        found.all(without_effect::of_task("", self));
        found.all(Tag::unreadable(self.tags.as_ref()).into_iter().collect());
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

    fn all(&mut self, warnings: Vec<Warning>) {
        for Warning { kind, path, message } in warnings {
            self.add(kind, path, message);
        }
    }

    fn secrets(&mut self, prefix: &str, definition: &WorkflowDef) {
        if definition.secrets.is_none() {
            return;
        }
        for name in &definition.secrets_named() - &definition.secrets_allowed() {
            let message =
                format!("{name} is named by an expression and not listed: its step fails");
            self.fails(format!("{prefix}secrets"), message);
        }
    }

    fn step(&mut self, Place { path, step, .. }: &Place<'_>) {
        let kind = shortened(&step.kind, LABEL_CHARS_MAX);
        let meant = meant_type(&step.kind);
        if is_absent_type(&step.kind) {
            let meant = meant.map(|meant| format!("; is {meant} meant?")).unwrap_or_default();
            let message = format!(
                "task type {kind} is not in this release, and a task of it fails: give the step a \
                 type of your own and let a worker do it{meant}"
            );
            self.fails(format!("{path}.type"), message);
        } else if let Some(meant) = meant {
            let message = format!(
                "{kind} is no system type: a task of it waits for a worker that polls {kind}; is \
                 {meant} meant?"
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

    /// The rules of its type: those that only a run would be told of.
    fn of_type(&mut self, place: &Place<'_>, registered: Registered<'_>) {
        if is_absent_type(&place.step.kind) {
            return; // A task of it fails whatever its fields say.
        }
        let in_loop = if place.is_in_loop { broken(place, registered) } else { vec![] };
        let anywhere = at_run_time::failing(place, registered);
        for Broken { path, message, then, .. } in in_loop.into_iter().chain(anywhere) {
            match then {
                Then::Fails(what) => self.fails(path, format!("{message}; {what}")),
                Then::GoesOn(what) => self.no_effect(path, format!("{message}; {what}")),
            }
        }
    }

    /// What is written out in a start is a definition of its own. Its expressions are judged here, among
    /// the inputs of the step that puts them in place.
    fn started(&mut self, Place { path, step, .. }: &Place<'_>, registered: Registered<'_>) {
        let Some(Ok(definition)) = started_definition(step) else { return };
        let path = format!("{path}.inputParameters.startWorkflow.workflowDef.");
        let mut inside = definition.warnings_knowing(registered);
        inside.retain(|warning| warning.kind != WarningKind::ReadsNull);
        self.all(inside.into_iter().map(|warning| warning.below(&path)).collect());
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
        references: &References<'_>,
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
