//! # Pinning: a run keeps the definition it began with
//!
//! At start every step gets its task definition embedded (inline, registered, or the ad-hoc default)
//! and the whole is stored once under its digest. Later edits or deletes never reach a running
//! execution.

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_model::{Digest, Payload, TaskDef, TaskTimeoutPolicy, WorkflowDef, WorkflowTask};
use serde_json::Value;

use crate::kinds::Kind;

/// Embeds task definitions and names the result by its content.
pub fn pin(
    mut definition: WorkflowDef,
    mut registered: impl FnMut(&str) -> Option<Arc<TaskDef>>,
) -> Pinned {
    definition.for_each_step_mut(|step| {
        if step.task_definition.is_none() {
            let found = registered(&step.name);
            let found = found.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(&step.name, &step.kind)));
            step.task_definition = Some(found);
        }
    });
    Pinned::new(definition)
}

/// A definition that will not change any more.
#[derive(Debug)]
pub struct Pinned {
    digest: Digest,
    text: Vec<u8>,
    definition: Arc<WorkflowDef>,
    steps: Vec<Step>,
    by_reference: BTreeMap<String, usize>,
}

impl Pinned {
    pub fn new(definition: WorkflowDef) -> Self {
        let text = serde_json::to_vec(&definition).expect("a definition is plain data");
        Self::stored_as(text, definition)
    }

    /// Named by the bytes it is stored as: a later release, which would write other bytes, still
    /// calls it by the name its runs know.
    fn stored_as(text: Vec<u8>, definition: WorkflowDef) -> Self {
        let steps: Vec<Step> =
            definition.steps().iter().map(|task| Step(Arc::new(task.clone()))).collect();
        let by_reference =
            steps.iter().enumerate().map(|(at, step)| (step.reference().to_owned(), at)).collect();
        let digest = Digest::of(&text);
        Self { digest, text, definition: Arc::new(definition), steps, by_reference }
    }

    /// Reads back what [`Pinned::text`] wrote.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(|definition| Self::stored_as(text.to_vec(), definition))
    }

    pub fn text(&self) -> Vec<u8> {
        self.text.clone()
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    pub fn definition(&self) -> &Arc<WorkflowDef> {
        &self.definition
    }

    /// The step of that name; every task of an execution stands at one.
    pub fn step(&self, reference: &str) -> &Step {
        let at =
            self.by_reference.get(reference).expect("a task stands at a step of its definition");
        &self.steps[*at]
    }

    /// What a run's variables are when it begins.
    pub(crate) fn variables(&self) -> Payload {
        Payload::from_value(&Value::Object(self.definition.variables().clone()))
    }

    pub(crate) fn first(&self) -> Option<&Step> {
        self.steps.first()
    }

    pub(crate) fn after(&self, reference: &str) -> Option<&Step> {
        self.steps.get(self.by_reference.get(reference)? + 1)
    }
}

/// A place in a definition, with its task definition embedded.
#[derive(Clone, Debug)]
pub struct Step(Arc<WorkflowTask>);

impl Step {
    pub fn task(&self) -> &Arc<WorkflowTask> {
        &self.0
    }

    pub fn reference(&self) -> &str {
        &self.0.task_reference_name
    }

    /// The queue workers poll: the name of a SIMPLE task, else the type itself.
    pub fn task_type(&self) -> &str {
        if self.0.kind == "SIMPLE" { &self.0.name } else { &self.0.kind }
    }

    pub(crate) fn kind(&self) -> Kind {
        Kind::of(&self.0.kind)
    }

    pub fn policy(&self) -> &TaskDef {
        self.0.task_definition.as_deref().expect("pinning embeds a task definition in every step")
    }

    pub(crate) fn attempts_max(&self) -> u32 {
        let limit = self.0.retry_count.unwrap_or_else(|| self.policy().retry_count);
        u32::try_from(limit).unwrap_or(0)
    }

    pub(crate) fn timeout_policy(&self) -> TaskTimeoutPolicy {
        self.policy().timeout_policy
    }

    pub fn response_timeout_seconds(&self) -> i64 {
        if self.0.async_complete { 0 } else { self.policy().response_timeout_seconds }
    }

    pub fn run_timeout_seconds(&self) -> i64 {
        self.policy().timeout_seconds
    }

    pub fn poll_timeout_seconds(&self) -> i64 {
        self.policy().poll_timeout_seconds.unwrap_or(0).into()
    }

    pub fn total_timeout_seconds(&self) -> i64 {
        self.policy().total_timeout_seconds
    }
}
