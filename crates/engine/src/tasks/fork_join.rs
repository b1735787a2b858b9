//! # FORK_JOIN: branches side by side
//!
//! The fork is over at once; its branches and the JOIN behind it begin with it. A large one begins
//! over several commits.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::Change;
use crate::decide::Stop;
use crate::event::Slot;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::schedule::Site;
use crate::settle::{join_behind, successor};
use crate::task::{Flow, Task, in_turns};
use crate::turn::Turn;

const WITHOUT_JOIN: &str =
    "Fork task definition is not followed by a join task.  Check the blueprint";
const DYNAMIC_WITHOUT_JOIN: &str =
    "Dynamic join definition is not followed by a join task.  Check the workflow definition.";

impl Turn<'_> {
    pub(crate) fn begin_fork(&mut self, id: TaskId) {
        self.end_system(id, TaskStatus::Completed, Payload::empty(), None);
    }

    /// The first task of each branch, and the JOIN.
    pub(crate) fn begin_branches(&mut self, task: &Task) -> Result<(), Stop> {
        let Flow::Fork { begun, branches } = task.flow else { return Ok(()) };
        for (at, head) in (begun..).zip(self.heads(task, begun as usize)) {
            if self.has_done_enough() {
                self.emit(Change::Forked { task: task.id, begun: at, branches });
                self.closed.push_front(task.id);
                return Ok(());
            }
            if let Some(head) = head {
                let head = self.past_skipped(head);
                self.schedule_once(head)?;
            }
            if !self.execution().is_live() {
                return Ok(()); // A branch has ended the run.
            }
        }
        // Usually the JOIN; where that was skipped nobody waits for the branches.
        match self.next_after(task) {
            Some(next) => self.schedule_once(next),
            None => Ok(()),
        }
    }

    /// Why the run cannot be forked there, in Conductor's words, two blanks included. Such a fork never
    /// becomes a task, so that nothing of its branches begins.
    pub(crate) fn unforkable(&self, site: &Site, input: Slot) -> Option<String> {
        let kind = site.step.kind();
        if !kind.is_fork() {
            return None;
        }
        let is_dynamic = kind == Kind::DynamicFork;
        if !self.is_joined(site) {
            let words = if is_dynamic { DYNAMIC_WITHOUT_JOIN } else { WITHOUT_JOIN };
            return Some(words.to_owned());
        }
        let branches = is_dynamic.then(|| self.branches_from(site, self.payload(input)));
        branches.and_then(Result::err)
    }

    /// A static fork may end a branch of another, whose JOIN then is its own too. The JOIN of an outer
    /// fork does not know what a dynamic one forks into.
    fn is_joined(&self, site: &Site) -> bool {
        let home = self.execution().home(site.fork);
        let Some(place) = home.find(site.step.reference()) else { return false };
        if site.step.kind() == Kind::DynamicFork {
            return successor(home, place).is_some_and(|it| it.kind() == Kind::Join);
        }
        join_behind(home, place).is_some()
    }

    pub(crate) fn has_all_branches(&self, task: &Task) -> bool {
        let begun = |site: &Site| self.execution().latest(&site.reference).is_some();
        let has_heads = self.heads(task, 0).iter().flatten().all(begun);
        has_heads && self.next_after(task).is_none_or(|join| begun(&join))
    }

    /// Where each branch begins, from that one on; none where there is nothing to do.
    pub(crate) fn heads(&self, task: &Task, from: usize) -> Vec<Option<Site>> {
        let execution = self.execution();
        if task.kind() == Kind::DynamicFork {
            let home = execution.home(Some(task.id));
            let site = |step: &Step| Site {
                reference: in_turns(step.reference(), &task.turns),
                step: step.clone(),
                fork: Some(task.id),
                definition: None,
            };
            return home.top().skip(from).map(|step| Some(site(step))).collect();
        }
        let home = execution.home(task.fork);
        let place = home.find(&task.reference).unwrap_or(&task.step);
        let branches = place.task().branches().iter().skip(from);
        let head = |steps: &Vec<semel_model::WorkflowTask>| {
            let step = home.find(&steps.first()?.task_reference_name)?;
            Some(self.site(task, step))
        };
        branches.map(head).collect()
    }

    /// A branch or a turn may begin with steps that somebody has skipped.
    pub(crate) fn past_skipped(&self, head: Site) -> Site {
        let found = self.execution().latest(&head.reference);
        match found.filter(|found| found.status == TaskStatus::Skipped) {
            Some(skipped) => self.next_after(&Arc::clone(skipped)).unwrap_or(head),
            None => head,
        }
    }
}
