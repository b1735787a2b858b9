//! # Blocking: runs as those see them who wait for them
//!
//! A run is worth telling about when it is over, when a task somebody named is over, or when it
//! waits for somebody's word, here or in a child. Looked at whenever one of them changes. A named
//! task that is over is what the run is blocked by: the caller asked for that one.

use std::collections::VecDeque;
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

/// How many runs below one that is over are searched for a named task.
const CHILDREN_MAX: usize = 100;

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
    /// The task that was named, when it is over.
    past: Option<Blocked>,
    is_over: bool,
    /// Every run that was looked at.
    runs: Vec<ExecutionId>,
}

impl Look {
    fn seen(self, timed_out: bool) -> Seen {
        let Self { run, blocked, .. } = self;
        Seen { run, blocked, timed_out }
    }
}

impl Runtime {
    /// Waits until the run is over, blocked, or past one of the tasks named. A run that is removed
    /// meanwhile is told of as it was seen last; none if it was gone already.
    pub async fn wait_for(
        &self,
        id: ExecutionId,
        references: Vec<String>,
        patience: Duration,
    ) -> Result<Option<Seen>, Failure> {
        let mut last = None;
        let until = tokio::time::Instant::now() + patience;
        let mut watch = self.world().watchers.watch();
        watch.extend([id]);
        loop {
            let wanted = references.clone();
            let look = self.blocking(move |world| world.look(id, &wanted)).await?;
            let Some(look) = look else { return Ok(last) };
            let is_worth_telling = look.is_over || look.blocked.is_some();
            let is_late = tokio::time::Instant::now() >= until;
            if !is_worth_telling && watch.extend(look.runs.iter().copied()) && !is_late {
                last = Some(look.seen(true));
                continue; // A child that was not listened to may have changed since the look.
            }
            let goes_on = !is_worth_telling
                && self.changes(&watch, until).await
                && !self.world().watchers.is_closing();
            last = Some(look.seen(!is_worth_telling));
            if !goes_on {
                return Ok(last);
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
        let mut look =
            Look { run: run.clone(), blocked: None, past: None, is_over: false, runs: Vec::new() };
        self.look_into(&run, references, &mut look, 0)?;
        if run.execution.is_closed() {
            look.is_over = true;
            look.past = match look.past.take() {
                None if !references.is_empty() => self.past_below(&run, references)?,
                found => found,
            };
        }
        look.blocked = look.past.take().or(look.blocked);
        Ok(Some(look))
    }

    /// A named task of a child that is over with its parent.
    fn past_below(
        &self,
        run: &Snapshot,
        references: &[String],
    ) -> Result<Option<Blocked>, Failure> {
        let children = |run: &Snapshot| -> Vec<_> {
            run.execution.tasks().filter_map(|task| Some(task.child?.run)).collect()
        };
        let mut waiting = VecDeque::from(children(run));
        for _ in 0..CHILDREN_MAX {
            let Some(id) = waiting.pop_front() else { break };
            let Some(below) = self.read(id)? else { continue };
            if let Some(task) = references.iter().find_map(|name| past(&below.execution, name)) {
                return Ok(Some(Blocked { task, run: below }));
            }
            waiting.extend(children(&below));
        }
        Ok(None)
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
        let named = references.iter().find_map(|name| past(&run.execution, name));
        if let Some(task) = named.filter(|_| look.past.is_none()) {
            look.past = Some(Blocked { run: run.clone(), task });
        }
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

impl World {
    /// The run that keeps a signal while nothing waits: the innermost one that is under way and may
    /// come to more WAITs than it keeps signals, for a run goes on only when those below it have
    /// ended.
    pub fn signal_keeper(&self, id: ExecutionId) -> Result<ExecutionId, Failure> {
        let run = self.read(id)?.ok_or_else(|| Failure::NoExecution(id.to_string()))?;
        Ok(self.keeper_below(&run, 0)?.unwrap_or(id))
    }

    fn keeper_below(&self, run: &Snapshot, depth: usize) -> Result<Option<ExecutionId>, Failure> {
        for task in run.execution.open_tasks() {
            let Some(below) = self.below(task)?.filter(|_| depth < DEPTH_MAX) else { continue };
            if let Some(found) = self.keeper_below(&below, depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(Some(run.execution.id()).filter(|_| run.execution.may_need_signal(run.now)))
    }
}

/// The last attempt at that step if it is over; one that will be tried again is not the last. The
/// name of a step inside a loop stands for each of its turns.
fn past(execution: &Execution, reference: &str) -> Option<TaskId> {
    if let Some(task) = execution.latest(reference) {
        return task.status.is_terminal().then_some(task.id);
    }
    let at_step = execution.tasks().filter(|task| task.step.reference() == reference);
    let over = at_step.filter(|task| task.status.is_terminal() && !task.replaced);
    over.last().map(|task| task.id)
}
