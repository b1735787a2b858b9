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
        for at in begun..self.branch_count(task) {
            if self.has_done_enough() {
                self.emit(Change::Forked { task: task.id, begun: at, branches });
                self.closed.push_front(task.id);
                return Ok(());
            }
            if let Some(head) = self.head(task, at) {
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
    pub(crate) fn unforkable(&mut self, site: &Site, task: TaskId, input: Slot) -> Option<String> {
        let kind = site.step.kind();
        if !kind.is_fork() {
            return None;
        }
        let is_dynamic = kind == Kind::DynamicFork;
        if !self.is_joined(site) {
            let words = if is_dynamic { DYNAMIC_WITHOUT_JOIN } else { WITHOUT_JOIN };
            return Some(words.to_owned());
        }
        if !is_dynamic {
            return None;
        }
        match self.branches_from(site, self.payload(input)) {
            Ok(branches) => {
                self.forking = Some((task, branches));
                None
            }
            Err(why) => Some(why),
        }
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
        let has_heads = self.heads(task).all(|head| begun(&head));
        has_heads && self.next_after(task).is_none_or(|join| begun(&join))
    }

    /// Where the branches begin, of those that have something to do.
    pub(crate) fn heads(&self, task: &Task) -> impl Iterator<Item = Site> {
        (0..self.branch_count(task)).filter_map(|at| self.head(task, at))
    }

    fn branch_count(&self, task: &Task) -> u32 {
        let count = match task.kind() == Kind::DynamicFork {
            true => self.execution().home(Some(task.id)).top_count(),
            false => self.fork_place(task).task().branches().len(),
        };
        u32::try_from(count).expect("a definition has fewer than 2^32 branches")
    }

    /// Where one branch begins, at the same cost whichever it is; none where there is nothing to do.
    fn head(&self, task: &Task, at: u32) -> Option<Site> {
        let execution = self.execution();
        if task.kind() == Kind::DynamicFork {
            let step = execution.home(Some(task.id)).top_at(at as usize)?.clone();
            let reference = in_turns(step.reference(), &task.turns);
            return Some(Site { step, reference, fork: Some(task.id), definition: None });
        }
        let first = self.fork_place(task).task().branches().get(at as usize)?.first()?;
        let step = execution.home(task.fork).find(&first.task_reference_name)?;
        Some(self.site(task, step))
    }

    /// A fork as the run's definition has it now.
    fn fork_place<'a>(&'a self, task: &'a Task) -> &'a Step {
        self.execution().home(task.fork).find(&task.reference).unwrap_or(&task.step)
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
