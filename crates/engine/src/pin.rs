//! # Pinning: a run keeps the definition it began with
//!
//! At start every step gets its task definition embedded (inline, registered, or the ad-hoc default)
//! and the whole is stored once under its digest. Later edits or deletes never reach a running
//! execution.

mod called;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use semel_model::{
    Digest, InlineDefinition, Payload, SchemaDef, TaskDef, TaskTimeoutPolicy, WorkflowDef,
    WorkflowTask,
};
use serde_json::Value;

use crate::kinds::{self, Kind};
use crate::loose;
use crate::probe;
use crate::schema::{Enforced, embed};
use crate::shared_definitions::shared;
use crate::tasks::http::LEASE_SECONDS;

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
        probe::prepare(step, registry);
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
pub(crate) fn unpinned_child(step: &WorkflowTask) -> Option<String> {
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
    /// The whole tree, in the order of the text.
    steps: Vec<Step>,
    /// Those of them that are inside no other.
    top: Vec<usize>,
    by_reference: BTreeMap<String, usize>,
    enforced: Enforced,
    lacking: OnceLock<Option<String>>,
    secrets: OnceLock<BTreeSet<String>>,
    /// Something of its runs is told to listeners.
    is_heard: bool,
}

impl Pinned {
    pub fn new(definition: WorkflowDef) -> Self {
        let text = serde_json::to_vec(&definition).expect("a definition is plain data");
        Self::stored_as(text, shared(definition), false)
    }

    /// Named by the bytes it is stored as: a later release, which would write other bytes, still
    /// calls it by the name its runs know.
    pub(crate) fn stored_as(text: Vec<u8>, definition: WorkflowDef, is_loose: bool) -> Self {
        let mut tree = Tree { definition: Digest::of(&text), steps: Vec::new() };
        match is_loose {
            true => definition.steps().iter().for_each(|step| {
                tree.add(std::slice::from_ref(step), None);
            }),
            false => tree.add(definition.steps(), None),
        }
        let Tree { definition: digest, steps } = tree;
        let by_reference =
            steps.iter().enumerate().map(|(at, step)| (step.reference().to_owned(), at)).collect();
        let is_at_top = |(at, step): (usize, &Step)| step.0.around.is_none().then_some(at);
        let top = steps.iter().enumerate().filter_map(is_at_top).collect();
        let is_heard =
            definition.workflow_status_listener_enabled || steps.iter().any(Step::tells_states);
        let definition = Arc::new(definition);
        let (enforced, lacking, secrets) = Default::default();
        Self {
            digest,
            text,
            definition,
            steps,
            top,
            by_reference,
            enforced,
            lacking,
            secrets,
            is_heard,
        }
    }

    /// Reads back what [`Pinned::text`] wrote.
    pub fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        if loose::is_loose(text) {
            return loose::parse(text);
        }
        Ok(Self::stored_as(text.to_vec(), shared(serde_json::from_slice(text)?), false))
    }

    pub fn text(&self) -> &[u8] {
        &self.text
    }

    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// Steps that came with the data of a run: no run begins by it, and only that one knows it.
    pub fn is_loose(&self) -> bool {
        loose::is_loose(&self.text)
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

    /// The secrets that its runs may use.
    pub(crate) fn secrets_allowed(&self) -> &BTreeSet<String> {
        self.secrets.get_or_init(|| self.definition.secrets_allowed())
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.is_heard
    }

    /// The step a task of that name stands at; whoever asks knows that there is one.
    pub fn step(&self, reference: &str) -> &Step {
        self.find(reference).expect("a task stands at a step of its definition")
    }

    /// By the name of a step, or of a task at it: `step__2` is the second turn of a loop.
    pub fn find(&self, reference: &str) -> Option<&Step> {
        let mut name = reference;
        loop {
            if let Some(at) = self.by_reference.get(name) {
                return Some(&self.steps[*at]);
            }
            name = outer_name(name)?.0;
        }
    }

    /// Every step of the tree, in the order of the text.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The steps that are inside no other.
    pub(crate) fn top(&self) -> impl Iterator<Item = &Step> {
        self.top.iter().map(|at| &self.steps[*at])
    }

    pub(crate) fn top_count(&self) -> usize {
        self.top.len()
    }

    pub(crate) fn top_at(&self, at: usize) -> Option<&Step> {
        self.top.get(at).map(|at| &self.steps[*at])
    }

    /// What a run's variables are when it begins.
    pub(crate) fn variables(&self) -> Payload {
        Payload::from_value(&Value::Object(self.definition.variables().clone()))
    }

    pub(crate) fn first(&self) -> Option<&Step> {
        self.steps.first()
    }

    /// The next step of the same list.
    pub(crate) fn after(&self, step: &Step) -> Option<&Step> {
        self.steps.get(step.0.next?)
    }

    /// The step before this one in the same list.
    pub(crate) fn before(&self, step: &Step) -> Option<&Step> {
        self.steps.iter().find(|other| self.after(other) == Some(step))
    }

    /// The step that this one is inside of.
    pub(crate) fn around(&self, step: &Step) -> Option<&Step> {
        self.steps.get(step.0.around?)
    }

    /// This step's surroundings, from the inside out.
    pub(crate) fn surroundings(&self, step: &Step) -> impl Iterator<Item = &Step> {
        std::iter::successors(self.around(step), |outer| self.around(outer))
    }

    /// The innermost loop around a step.
    pub(crate) fn loop_around(&self, step: &Step) -> Option<&Step> {
        self.surroundings(step).find(|outer| outer.kind() == Kind::DoWhile)
    }

    /// How many loops are around a step.
    pub(crate) fn loops_around(&self, step: &Step) -> usize {
        self.surroundings(step).filter(|outer| outer.kind() == Kind::DoWhile).count()
    }
}

/// `step__2` is the second turn of `step`.
pub(crate) fn outer_name(reference: &str) -> Option<(&str, u32)> {
    let (name, turn) = reference.rsplit_once("__")?;
    let is_number = !turn.is_empty() && turn.bytes().all(|byte| byte.is_ascii_digit());
    let turn = turn.parse().ok().filter(|_| is_number)?;
    Some((name, turn))
}

/// A definition's steps on their way into one list.
struct Tree {
    definition: Digest,
    steps: Vec<Step>,
}

impl Tree {
    fn add(&mut self, list: &[WorkflowTask], around: Option<usize>) {
        let mut before = None;
        for task in list {
            let at = self.steps.len();
            let placed = Placed {
                task: Arc::new(task.clone()),
                definition: self.definition,
                next: None,
                around,
                enforced: Enforced::default(),
            };
            self.steps.push(Step(Arc::new(placed)));
            if let Some(before) = before.replace(at) {
                let step: &mut Step = &mut self.steps[before];
                Arc::get_mut(&mut step.0).expect("nobody else has it yet").next = Some(at);
            }
            task.children().for_each(|list| self.add(list, Some(at)));
            if let Some(probe) = probe::prepared(task) {
                self.add(std::slice::from_ref(probe), Some(at));
            }
        }
    }
}

/// A place in a definition, with its task definition embedded.
#[derive(Clone)]
pub struct Step(Arc<Placed>);

struct Placed {
    task: Arc<WorkflowTask>,
    definition: Digest,
    /// The next one of its list, and the one it is inside of, among the steps of its definition.
    next: Option<usize>,
    around: Option<usize>,
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
        let task = self.task();
        if task.kind == WorkflowTask::SIMPLE { &task.name } else { kinds::task_type(&task.kind) }
    }

    /// The definition a task at this step names; control flow goes by its type alone.
    pub fn task_def_name(&self) -> &str {
        let kind = self.kind();
        let is_join = matches!(kind, Kind::Join | Kind::ExclusiveJoin);
        match is_join || kind.is_fork() || kind.is_choice() {
            true => self.task_type(),
            false => &self.task().name,
        }
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

    /// Names events for the states its tasks come into.
    fn tells_states(&self) -> bool {
        self.task().on_state_change.as_ref().is_some_and(|events| !events.is_empty())
    }

    pub(crate) fn attempts_max(&self) -> u32 {
        let limit = self.task().retry_count.unwrap_or_else(|| self.policy().retry_count);
        u32::try_from(limit).unwrap_or(0)
    }

    pub(crate) fn timeout_policy(&self) -> TaskTimeoutPolicy {
        self.policy().timeout_policy
    }

    /// None for what others complete: an EVENT that is not over at once waits for somebody, and so
    /// does what pulls messages. A worker may always die, whatever its step says.
    pub fn response_timeout_seconds(&self) -> i64 {
        let by_others = self.task().async_complete && self.kind().is_system();
        let waits_for_others =
            matches!(self.kind(), Kind::SubWorkflow | Kind::Event | Kind::PullMessages);
        match self.policy().response_timeout_seconds {
            _ if by_others || waits_for_others => 0,
            seconds if self.kind() != Kind::Http => seconds,
            0 => LEASE_SECONDS,
            seconds => seconds.min(LEASE_SECONDS),
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
