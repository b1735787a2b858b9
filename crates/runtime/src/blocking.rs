//! # Blocking: runs as those see them who wait for them
//!
//! A run is worth telling about when it is over, when a task somebody named is over, or when it
//! waits for somebody's word, here or in a child. Looked at whenever one of them changes.

use std::time::Duration;

use semel_engine::{Execution, Task};
use semel_model::{ExecutionId, TaskId};

use crate::failure::Failure;
use crate::reading::Snapshot;
use crate::runtime::Runtime;
use crate::timers::LOOK_EVERY;
use crate::watchers::Watch;
use crate::world::World;

/// How deep children are looked into.
const DEPTH_MAX: usize = 100;

/// A run, and the task it waits in.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub run: Snapshot,
    pub task: TaskId,
}

/// A run as it was when it was worth telling, or when patience ended.
#[derive(Debug)]
pub struct Seen {
    pub run: Snapshot,
    pub blocked: Option<Blocked>,
    pub timed_out: bool,
}

/// What one look found.
struct Look {
    run: Snapshot,
    blocked: Option<Blocked>,
    is_over: bool,
    /// Every run that was looked at.
    runs: Vec<ExecutionId>,
}

impl Runtime {
    /// Waits until the run is over, blocked, or past one of the tasks named.
    pub async fn wait_for(
        &self,
        id: ExecutionId,
        references: Vec<String>,
        patience: Duration,
    ) -> Result<Seen, Failure> {
        let until = tokio::time::Instant::now() + patience;
        let mut watch = self.world().watchers.watch();
        watch.extend([id]);
        loop {
            let wanted = references.clone();
            let look = self.blocking(move |world| world.look(id, &wanted)).await?;
            let look = look.ok_or_else(|| Failure::NoExecution(id.to_string()))?;
            let is_worth_telling = look.is_over || look.blocked.is_some();
            let is_late = tokio::time::Instant::now() >= until;
            if !is_worth_telling && watch.extend(look.runs) && !is_late {
                continue; // A child that was not listened to may have changed since the look.
            }
            let goes_on = !is_worth_telling
                && self.changes(&watch, until).await
                && !self.world().watchers.is_closing();
            if !goes_on {
                let Look { run, blocked, .. } = look;
                return Ok(Seen { run, blocked, timed_out: !is_worth_telling });
            }
        }
    }
}

impl Runtime {
    /// False: patience ended. A change made by another process is not heard of, so it is looked for.
    async fn changes(&self, watch: &Watch<'_>, until: tokio::time::Instant) -> bool {
        let look = match self.world().store.is_shared() {
            true => until.min(tokio::time::Instant::now() + LOOK_EVERY),
            false => until,
        };
        let heard = tokio::time::timeout_at(look, watch.changed()).await.is_ok();
        heard || tokio::time::Instant::now() < until
    }
}

impl World {
    fn look(&self, id: ExecutionId, references: &[String]) -> Result<Option<Look>, Failure> {
        let Some(run) = self.read(id)? else { return Ok(None) };
        let mut look = Look { run: run.clone(), blocked: None, is_over: false, runs: Vec::new() };
        self.look_into(&run, references, &mut look, 0)?;
        look.is_over |= run.execution.is_closed();
        Ok(Some(look))
    }

    /// Tasks in the order of scheduling; into a child where its task stands.
    fn look_into(
        &self,
        run: &Snapshot,
        references: &[String],
        look: &mut Look,
        depth: usize,
    ) -> Result<(), Failure> {
        look.runs.push(run.execution.id());
        look.is_over |= references.iter().any(|reference| is_past(&run.execution, reference));
        for task in run.execution.open_tasks() {
            if look.blocked.is_none() && task.is_blocking() {
                look.blocked = Some(Blocked { run: run.clone(), task: task.id });
            }
            if let Some(below) = self.below(task)?.filter(|_| depth < DEPTH_MAX) {
                self.look_into(&below, references, look, depth + 1)?;
            }
        }
        Ok(())
    }

    fn below(&self, task: &Task) -> Result<Option<Snapshot>, Failure> {
        let Some(child) = task.child else { return Ok(None) };
        Ok(self.read(child.run)?.filter(|below| !below.execution.is_closed()))
    }

    /// The run, this or one below it, whose WAIT a signal answers. None: nothing waits.
    pub fn signal_target(&self, id: ExecutionId) -> Result<Option<ExecutionId>, Failure> {
        let run = self.read(id)?.ok_or_else(|| Failure::NoExecution(id.to_string()))?;
        self.target_below(&run, 0)
    }

    fn target_below(&self, run: &Snapshot, depth: usize) -> Result<Option<ExecutionId>, Failure> {
        if run.execution.first_wait().is_some() {
            return Ok(Some(run.execution.id()));
        }
        for task in run.execution.open_tasks() {
            let Some(below) = self.below(task)?.filter(|_| depth < DEPTH_MAX) else { continue };
            if let Some(found) = self.target_below(&below, depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The last attempt at that step is over; one that will be tried again is not the last.
fn is_past(execution: &Execution, reference: &str) -> bool {
    execution.latest(reference).is_some_and(|task| task.status.is_terminal())
}
