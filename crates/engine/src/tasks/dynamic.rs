//! # DYNAMIC: a task whose name comes with the data
//!
//! It becomes an ordinary task of that name, with the task definition registered under it; or, named
//! after a type the engine runs itself, a task of that type.

use std::collections::BTreeSet;
use std::sync::Arc;

use semel_model::{Digest, NAME_CHARS_MAX, Payload, TaskDef, TaskId, WorkflowTask, text_fault};
use serde_json::Value;

use crate::change::Change;
use crate::decide::Stop;
use crate::expression::shown;
use crate::kinds::Kind;
use crate::loose;
use crate::schedule::Site;
use crate::turn::Turn;

impl Turn<'_> {
    /// What the step is this time. One that names nothing stays what it was, and fails.
    pub(crate) fn dynamic(&mut self, site: Site, task: TaskId) -> Result<Site, Stop> {
        let input = shown(&self.task_input(&site.step, task, None)).value();
        let parameter = site.step.task().dynamic_task_name_param.clone().unwrap_or_default();
        let is_name = |name: &&str| !name.is_empty() && text_fault(name, NAME_CHARS_MAX).is_none();
        let Some(name) = input.get(&parameter).and_then(Value::as_str).filter(is_name) else {
            return Ok(site);
        };
        if !is_leaf(Kind::of(name)) {
            return Ok(site);
        }
        let kind = if Kind::of(name).is_reserved() { name } else { WorkflowTask::SIMPLE };
        let definition = self.task_definitions(BTreeSet::from([name]))?.remove(name);
        let definition = definition.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(name, kind)));
        let step = WorkflowTask {
            name: name.to_owned(),
            kind: kind.to_owned(),
            task_definition: Some(definition),
            ..(**site.step.task()).clone()
        };
        let text = loose::write(vec![step], self.execution().definition().definition());
        let definition = self.define(text);
        let step = self.execution().defined[&definition].step(&site.reference).clone();
        Ok(Site { step, definition: Some(definition), ..site })
    }

    /// Why a DYNAMIC step could not become anything.
    pub(crate) fn fail_dynamic(&mut self, id: TaskId) -> Result<(), Stop> {
        let task = self.execution().expect_task(id).clone();
        let parameter = task.step.task().dynamic_task_name_param.clone().unwrap_or_default();
        let said = shown(&task.input).value();
        let named = said.get(&parameter).and_then(Value::as_str);
        if let Some(fault) = named.and_then(|name| text_fault(name, NAME_CHARS_MAX)) {
            let why = format!("{parameter} gives the name of no task: it {fault}");
            return self.fail_run(id, why);
        }
        let input = task.input.text();
        let mut why = format!(
            "Cannot map a dynamic task based on the parameter and input. Parameter= {parameter}, \
             input= {input}"
        );
        let parameters = task.step.task().input_parameters.as_ref();
        let template = parameters.and_then(|all| all.get(&parameter)).and_then(Value::as_str);
        let missing = template.and_then(|it| Some((it, self.key_text(it, Some(id)).err()?)));
        if let Some((template, missing)) = missing {
            why.push_str(&format!(": {parameter} is {template}, and {missing}"));
        }
        self.fail_run(id, why)
    }

    /// Steps that came with data, from now on known by their digest.
    pub(crate) fn define(&mut self, text: String) -> Digest {
        let digest = Digest::of(text.as_bytes());
        if !self.execution().defined.contains_key(&digest) {
            let text = Payload::from_text(text).expect("what was just written is JSON");
            let definition = self.store(text);
            self.emit(Change::Defined { definition });
        }
        digest
    }
}

/// A type without steps inside it or behind it.
fn is_leaf(kind: Kind) -> bool {
    match kind {
        Kind::Worker
        | Kind::Noop
        | Kind::SetVariable
        | Kind::Terminate
        | Kind::Wait
        | Kind::Human
        | Kind::SubWorkflow
        | Kind::StartWorkflow
        | Kind::Event
        | Kind::Inline
        | Kind::Lambda
        | Kind::Jq
        | Kind::Yield
        | Kind::Absent
        | Kind::PullMessages
        | Kind::Http
        | Kind::AcquireLock
        | Kind::ReleaseLock => true,
        Kind::Switch
        | Kind::Decision
        | Kind::Fork
        | Kind::DynamicFork
        | Kind::Join
        | Kind::ExclusiveJoin
        | Kind::Dynamic
        | Kind::DoWhile => false,
    }
}
