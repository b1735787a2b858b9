//! # FORK_JOIN_DYNAMIC: branches that come with the data
//!
//! Each branch is one task. What they are is pinned when the fork begins, and from then on they are
//! tasks like any other; their inputs are data and are not looked at for expressions. How the data
//! say it has four styles, in `fork_join_dynamic/styles.rs`.

mod styles;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use semel_model::{NAME_CHARS_MAX, Payload, TaskDef, TaskId, TaskStatus, WorkflowTask, text_fault};

use crate::change::Change;
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::loose;
use crate::pin::{outer_name, unpinned_child};
use crate::schedule::Site;
use crate::schema::{embed_in_task, lacking_in, named_by};
use crate::settle::STEPS_MAX;
use crate::task::{Task, in_turns};
use crate::tasks::given_definition::{Known, without_runtime_values};
use crate::turn::{PAYLOAD_BYTES_MAX, Turn};

/// So many branches are read, or defined, in the time in which one begins.
const READ_PER_STEP: usize = 4;
const DEFINED_PER_STEP: usize = 2;

impl Turn<'_> {
    /// A commit that reads the data of so many branches does not define them as well.
    pub(crate) fn forks_later(&mut self, id: TaskId) -> bool {
        let count =
            self.forking.as_ref().filter(|(task, _)| *task == id).map_or(0, |it| it.1.len());
        let is_wide = count > STEPS_MAX;
        if is_wide {
            self.steps += count / READ_PER_STEP;
            self.forking = None;
        }
        is_wide
    }

    pub(crate) fn begin_dynamic_fork(&mut self, id: TaskId) -> Result<(), Stop> {
        let read = self.forking.take().filter(|(task, _)| *task == id);
        let branches = match read {
            Some((_, branches)) => Ok(branches),
            None => {
                let task = self.execution().expect_task(id).clone();
                self.branches_from(&Site::again(&task, task.step.clone()), &task.input)
            }
        };
        let mut branches = match branches {
            Ok(branches) => branches,
            Err(why) => return self.fail_run(id, why),
        };
        if let Some(max) = self.fork_branches_exceeded(branches.len()) {
            let count = branches.len();
            let why = format!(
                "the dynamic fork has {count} branches; fork_branches_max of the server allows {max} \
                 (docs/errors/DEFINITION_SIZE.md)"
            );
            return self.fail_run(id, why);
        }
        self.steps += branches.len() / DEFINED_PER_STEP;
        if let Some(why) = self.embed_definitions(&mut branches)? {
            return self.fail_run(id, why);
        }
        let text = loose::write(branches, self.execution().definition().definition());
        if text.len() > PAYLOAD_BYTES_MAX {
            let bytes = text.len();
            let why =
                format!("branches of {bytes} bytes are over the limit of {PAYLOAD_BYTES_MAX}");
            return self.fail_run(id, why);
        }
        let branches = Some(self.define(text));
        self.emit(Change::Forked { task: id, begun: 0, branches });
        self.end_system(id, TaskStatus::Completed, Payload::empty(), None);
        Ok(())
    }

    /// What the data say is forked there. The error is that of the run.
    pub(crate) fn branches_from(
        &self,
        site: &Site,
        input: &Payload,
    ) -> Result<Vec<WorkflowTask>, String> {
        let has_others = self.has_other_forks(site);
        let mut branches = styles::branches(&site.step, input, has_others)?;
        for branch in &mut branches {
            loose::for_each_mut(branch, &mut |step| {
                lend_name(step);
                without_runtime_values(step);
            });
        }
        self.checked(site, branches)
    }

    /// Another dynamic fork has run before: names then tell the forks apart.
    fn has_other_forks(&self, site: &Site) -> bool {
        let own = site.step.reference();
        let mut steps = self.execution().definition().steps().iter();
        steps.any(|step| {
            let is_other = step.kind() == Kind::DynamicFork && step.reference() != own;
            is_other && self.execution().newest(step.reference()).is_some()
        })
    }

    /// Every name can be given to a task, and is given once.
    fn checked(
        &self,
        fork: &Site,
        branches: Vec<WorkflowTask>,
    ) -> Result<Vec<WorkflowTask>, String> {
        let turns = Task::turns_in(&fork.reference, &fork.step);
        let mut names = BTreeSet::new();
        for step in branches.iter().flat_map(all_steps) {
            let reference = &step.task_reference_name;
            if reference.is_empty() {
                return Err("a dynamic task has no taskReferenceName".to_owned());
            }
            if step.name.is_empty() {
                return Err(format!(
                    "Invalid task. Task null does not have a definition, taskReferenceName: \
                     {reference}"
                ));
            }
            if let Some(why) = name_fault(step) {
                return Err(why);
            }
            if reference == "workflow" || outer_name(reference).is_some() {
                return Err(format!("taskReferenceName {reference} is reserved for the engine"));
            }
            let name = in_turns(reference, &turns);
            let is_known = self.execution().latest(&name).is_some()
                || self.execution().definition().find(reference).is_some();
            if is_known || !names.insert(reference.as_str()) {
                return Err(format!(
                    "No dynamic tasks could be created for the Workflow: {}, Dynamic Fork Task: \
                     {}: attempted to create a duplicate task reference name: {reference}",
                    self.execution().definition().definition().name,
                    fork.reference
                ));
            }
        }
        let joined = |step: &&WorkflowTask| {
            matches!(Kind::of(&step.kind), Kind::Fork | Kind::DynamicFork | Kind::Join)
        };
        match branches.iter().find(joined) {
            Some(step) => Err(format!(
                "{} cannot be a branch of a dynamic fork: it needs a neighbour. Put it into a \
                 sub-workflow, taskReferenceName: {}",
                step.kind, step.task_reference_name
            )),
            None => Ok(branches),
        }
    }

    /// As pinning does for the steps of a definition. What is said: a schema is not there that a
    /// branch brings a task definition to enforce.
    fn embed_definitions(&mut self, branches: &mut [WorkflowTask]) -> Result<Option<String>, Stop> {
        let steps = branches.iter().flat_map(all_steps);
        let own = steps.filter_map(|step| step.task_definition.as_deref());
        let schemas = self.schemas(&named_by(own))?;
        let mut known = Known { schemas, ..Known::default() };
        let mut lacking = None;
        let steps = branches.iter().flat_map(all_steps);
        let unknown = steps.filter(|step| step.task_definition.is_none());
        let names: BTreeSet<String> = unknown.map(|step| step.name.clone()).collect();
        let found = self.task_definitions(names.iter().map(String::as_str).collect())?;
        let versions = self.latest_versions(branches)?;
        for branch in branches {
            loose::for_each_mut(branch, &mut |step| {
                let latest = unpinned_child(step).and_then(|name| versions.get(&name).copied());
                if let (Some(latest), Some(child)) = (latest, &mut step.sub_workflow_param) {
                    child.version = Some(latest);
                }
                if let Some(own) = &mut step.task_definition {
                    embed_in_task(own, &mut known);
                    lacking = lacking.take().or_else(|| lacking_in(own));
                    return;
                }
                let found = found.get(&step.name).cloned();
                let found =
                    found.unwrap_or_else(|| Arc::new(TaskDef::ad_hoc(&step.name, &step.kind)));
                step.task_definition = Some(found);
            });
        }
        Ok(lacking)
    }

    /// Of the workflows that branches start without saying which version. One that is not there fails
    /// its branch.
    fn latest_versions(
        &mut self,
        branches: &[WorkflowTask],
    ) -> Result<BTreeMap<String, i32>, Stop> {
        let names = branches.iter().flat_map(all_steps).filter_map(unpinned_child);
        let mut versions = BTreeMap::new();
        for name in names.collect::<BTreeSet<String>>() {
            let found = self.registered(&name, None)?;
            versions.extend(found.map(|found| (name, found.version)));
        }
        Ok(versions)
    }
}

/// Names that come with the data have the limits of those in definitions.
fn name_fault(step: &WorkflowTask) -> Option<String> {
    let WorkflowTask { task_reference_name, name, kind, .. } = step;
    let parts = [("taskReferenceName", task_reference_name), ("name", name), ("type", kind)];
    parts.into_iter().find_map(|(part, text)| {
        let fault = text_fault(text, NAME_CHARS_MAX)?;
        Some(format!("the {part} of a dynamic task {fault}"))
    })
}

/// A system task needs no name; its type stands for it.
fn lend_name(step: &mut WorkflowTask) {
    if step.name.is_empty() && step.kind != WorkflowTask::SIMPLE {
        step.name.clone_from(&step.kind);
    }
}

/// A step and all that is inside it.
fn all_steps(step: &WorkflowTask) -> Vec<&WorkflowTask> {
    let inner = step.children().flatten().flat_map(all_steps);
    std::iter::once(step).chain(inner).collect()
}
