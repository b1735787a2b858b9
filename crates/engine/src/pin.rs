//! # Pinning: a run keeps the definition it began with
//!
//! At start every step gets its task definition embedded (inline, registered, or the ad-hoc default)
//! and the whole is stored once under its digest. Later edits or deletes never reach a running
//! execution.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use semel_model::{
    Digest, InlineDefinition, Payload, SchemaDef, TaskDef, TaskTimeoutPolicy, WorkflowDef,
    WorkflowTask,
};
use serde_json::Value;

use crate::kinds::Kind;
use crate::schema::{Enforced, embed};

/// What is registered at the moment of pinning.
pub trait Registry {
    fn task(&mut self, name: &str) -> Option<Arc<TaskDef>>;

    /// The latest version of a workflow.
    fn latest(&mut self, workflow: &str) -> Option<i32>;

    /// A schema by name and version; version 0 is the latest.
    fn schema(&mut self, name: &str, version: i32) -> Option<SchemaDef>;
}

/// Embeds task definitions and schemas, fixes the versions of sub-workflows, and names the result by its
/// content. A sub-workflow that is not registered is an error: its name.
pub fn pin(mut definition: WorkflowDef, registry: &mut impl Registry) -> Result<Pinned, String> {
    let mut missing = None;
    definition.for_each_step_mut(|step| {
        if step.task_definition.is_none() {
            let found = registry.task(&step.name);
            let found = found.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(&step.name, &step.kind)));
            step.task_definition = Some(found);
        }
        if let Some(name) = unpinned_child(step) {
            let found = registry.latest(&name);
            if let Some(parameters) = &mut step.sub_workflow_param {
                parameters.version = found;
            }
            missing = missing.take().or(found.is_none().then_some(name));
        }
    });
    embed(&mut definition, registry);
    missing.map_or_else(|| Ok(Pinned::new(definition)), Err)
}

/// The literal name of a sub-workflow without a version. What an expression will name is looked up
/// when the child starts, and so is version 0.
fn unpinned_child(step: &WorkflowTask) -> Option<String> {
    let parameters = step.sub_workflow_param.as_ref().filter(|_| step.kind == "SUB_WORKFLOW")?;
    let is_given = matches!(
        &parameters.workflow_definition,
        Some(InlineDefinition::Definition(_) | InlineDefinition::Expression(_))
    );
    let name = parameters.name.clone().filter(|name| !name.contains("${"))?;
    (parameters.version.is_none() && !is_given).then_some(name)
}

/// A definition that will not change any more.
#[derive(Debug)]
pub struct Pinned {
    digest: Digest,
    text: Vec<u8>,
    definition: Arc<WorkflowDef>,
    steps: Vec<Step>,
    by_reference: BTreeMap<String, usize>,
    enforced: Enforced,
    lacking: OnceLock<Option<String>>,
}

impl Pinned {
    pub fn new(definition: WorkflowDef) -> Self {
        let text = serde_json::to_vec(&definition).expect("a definition is plain data");
        Self::stored_as(text, definition)
    }

    /// Named by the bytes it is stored as: a later release, which would write other bytes, still
    /// calls it by the name its runs know.
    fn stored_as(text: Vec<u8>, definition: WorkflowDef) -> Self {
        let digest = Digest::of(&text);
        let step = |task: &WorkflowTask| {
            let (task, enforced) = (Arc::new(task.clone()), Enforced::default());
            Step(Arc::new(Placed { task, definition: digest, enforced }))
        };
        let steps: Vec<Step> = definition.steps().iter().map(step).collect();
        let by_reference =
            steps.iter().enumerate().map(|(at, step)| (step.reference().to_owned(), at)).collect();
        let definition = Arc::new(definition);
        let (enforced, lacking) = (Enforced::default(), OnceLock::new());
        Self { digest, text, definition, steps, by_reference, enforced, lacking }
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

    pub(crate) fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    /// What keeps every run of it from starting: a schema that is not there.
    pub(crate) fn lacking(&self) -> Option<&str> {
        self.lacking.get_or_init(|| self.find_lacking()).as_deref()
    }

    /// The step of that name; whoever asks knows that there is one.
    pub fn step(&self, reference: &str) -> &Step {
        self.find(reference).expect("a task stands at a step of its definition")
    }

    pub fn find(&self, reference: &str) -> Option<&Step> {
        Some(&self.steps[*self.by_reference.get(reference)?])
    }

    /// The steps in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
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
#[derive(Clone)]
pub struct Step(Arc<Placed>);

struct Placed {
    task: Arc<WorkflowTask>,
    definition: Digest,
    enforced: Enforced,
}

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.reference() == other.reference() && self.definition() == other.definition()
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.reference(), self.definition())
    }
}

impl Step {
    pub fn task(&self) -> &Arc<WorkflowTask> {
        &self.0.task
    }

    /// The pinned definition it is a step of.
    pub fn definition(&self) -> Digest {
        self.0.definition
    }

    pub fn reference(&self) -> &str {
        &self.task().task_reference_name
    }

    /// The queue workers poll: the name of a SIMPLE task, else the type itself.
    pub fn task_type(&self) -> &str {
        if self.task().kind == "SIMPLE" { &self.task().name } else { &self.task().kind }
    }

    pub(crate) fn enforced(&self) -> &Enforced {
        &self.0.enforced
    }

    pub(crate) fn kind(&self) -> Kind {
        Kind::of(&self.task().kind)
    }

    pub fn policy(&self) -> &TaskDef {
        self.task()
            .task_definition
            .as_deref()
            .expect("pinning embeds a task definition in every step")
    }

    pub(crate) fn attempts_max(&self) -> u32 {
        let limit = self.task().retry_count.unwrap_or_else(|| self.policy().retry_count);
        u32::try_from(limit).unwrap_or(0)
    }

    pub(crate) fn timeout_policy(&self) -> TaskTimeoutPolicy {
        self.policy().timeout_policy
    }

    /// None for what others complete: an EVENT that is not over at once waits for somebody. A
    /// worker may always die, whatever its step says.
    pub fn response_timeout_seconds(&self) -> i64 {
        let by_others = self.task().async_complete && self.kind().is_system();
        if by_others || matches!(self.kind(), Kind::SubWorkflow | Kind::Event) {
            0
        } else {
            self.policy().response_timeout_seconds
        }
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
