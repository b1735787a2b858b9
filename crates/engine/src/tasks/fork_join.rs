//! # FORK_JOIN: branches side by side
//!
//! The fork is over at once; its branches and the JOIN behind it begin with it. A large one begins
//! over several commits.

use std::sync::Arc;

use semel_model::{Payload, TaskId, TaskStatus};

use crate::change::Change;
use crate::decide::Stop;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::schedule::Site;
use crate::settle::{STEPS_MAX, join_behind};
use crate::task::{Flow, Task, in_turns};
use crate::turn::Turn;

impl Turn<'_> {
    pub(crate) fn begin_fork(&mut self, id: TaskId) {
        self.end_system(id, TaskStatus::Completed, Payload::empty(), None);
    }

    /// The first task of each branch, and the JOIN.
    pub(crate) fn begin_branches(&mut self, task: &Task) -> Result<(), Stop> {
        let Flow::Fork { begun, branches } = task.flow else { return Ok(()) };
        for (at, head) in (begun..).zip(self.heads(task, begun as usize)) {
            if self.steps >= STEPS_MAX {
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
        if !self.is_joined(task) {
            let task = Arc::clone(self.execution().expect_task(task.id));
            let why = "Fork task definition is not followed by a join task.  Check the blueprint";
            return self.fail_execution(&task, why.to_owned());
        }
        // Usually the JOIN; where that was skipped nobody waits for the branches.
        match self.next_after(task) {
            Some(next) => self.schedule_once(next),
            None => Ok(()),
        }
    }

    fn is_joined(&self, fork: &Task) -> bool {
        let home = self.execution().home(fork.fork);
        home.find(&fork.reference).is_some_and(|place| join_behind(home, place).is_some())
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
