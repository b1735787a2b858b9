//! # Behind: what came because a task had ended

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use semel_model::TaskId;

use crate::change::{Change, Removed};
use crate::kinds::Kind;
use crate::pin::{Pinned, Step};
use crate::task::Task;
use crate::turn::Turn;

impl Turn<'_> {
    /// What it is inside of had begun. Of what was skipped ahead that may not be so.
    pub(crate) fn is_reached(&self, target: &Task) -> bool {
        let home = self.execution().home(target.fork);
        let Some(place) = home.find(&target.reference) else { return false };
        home.surroundings(place).all(|outer| {
            let found = self.execution().latest(&self.name_beside(target, outer));
            let turn = |found: &Task| target.turns.get(found.turns.len()).copied();
            let is_begun = |found: &Arc<Task>| {
                let in_turn = found.as_loop().is_none_or(|own| turn(found) <= Some(own.turn));
                found.seq < target.seq && in_turn
            };
            found.is_some_and(is_begun)
        })
    }

    /// Of a sub-workflow the newest attempt stands for all: what came beside it keeps its place.
    pub(crate) fn with_its_child(&self, target: Arc<Task>) -> Arc<Task> {
        let newest = self.execution().latest(&target.reference);
        newest.filter(|_| target.kind() == Kind::SubWorkflow).cloned().unwrap_or(target)
    }

    /// The names of tasks that came because this one had ended: those at steps behind it, and those
    /// in later turns of the loops around it.
    pub(crate) fn downstream(&self, target: &Task) -> Vec<String> {
        let follows = |task: &&Arc<Task>| {
            let seen = self.seen_from(target, task);
            let follows = |seen: Arc<Task>| {
                self.is_in_later_turn(target, &seen) || self.step_behind(target, &seen).is_some()
            };
            task.seq > target.seq && seen.is_some_and(follows)
        };
        let found = self.execution().tasks().filter(follows);
        let found = found.map(|task| task.reference.to_string());
        let fork = target.fork.and_then(|fork| self.task(fork));
        let around = fork.map(|fork| self.downstream(&fork));
        found.chain(around.into_iter().flatten()).collect()
    }

    /// What failed behind a step that is done again comes again when the run gets there: the whole of
    /// it, be it a fork, a choice or a loop.
    pub(crate) fn put_off_failures_behind(&mut self, target: &Task) {
        let place = |task: &Arc<Task>| {
            let seen = self.seen_from(target, task).filter(|_| task.seq > target.seq)?;
            let step = self.step_behind(target, &seen)?;
            (!self.is_in_later_turn(target, &seen)).then(|| step.reference().to_owned())
        };
        let failed: BTreeSet<String> = self.unsuccessful().iter().filter_map(place).collect();
        let is_gone = |task: &&Arc<Task>| place(task).is_some_and(|step| failed.contains(&step));
        let gone = self.execution().tasks().filter(is_gone);
        let steps: Vec<String> = gone.map(|task| task.reference.to_string()).collect();
        if !steps.is_empty() {
            let generation = self.execution().generation + 1;
            self.emit(Change::TasksRemoved { which: Removed::Steps(steps), generation });
        }
        if let Some(fork) = target.fork.and_then(|fork| self.task(fork)) {
            self.put_off_failures_behind(&fork);
        }
    }

    /// What stays and has spoken of tasks that are gone goes on: loops in the first of the turns that
    /// have lost something, and joins, and so forth outwards. What is around the target does already.
    pub(crate) fn reopen_around(&mut self, target: &Task, gone: Vec<Arc<Task>>) {
        let joins = self.execution().latest_attempts().filter(|it| it.as_join().is_some());
        let joins: Vec<Arc<Task>> = joins.filter(|it| it.id != target.id).cloned().collect();
        let mut turns: BTreeMap<TaskId, u32> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let mut lost: VecDeque<Arc<Task>> = gone.into();
        lost.extend(self.task(target.id));
        while let Some(task) = lost.pop_front() {
            let around = task.within.and_then(|id| self.task(id));
            if let Some(around) = around.filter(|around| !self.is_inside(target, around)) {
                let turn = task.turns.get(around.turns.len()).copied().unwrap_or(1);
                let first = turns.entry(around.id).or_insert(turn);
                *first = turn.min(*first);
                lost.extend(seen.insert(around.id).then_some(around));
            }
            let tells = |it: &&Arc<Task>| {
                it.as_join().is_some_and(|join| join.on.contains(&task.reference))
            };
            let told = joins.iter().filter(tells).filter(|join| seen.insert(join.id));
            lost.extend(told.cloned());
        }
        for id in seen {
            if let Some(turn) = turns.get(&id) {
                self.emit(Change::LoopTurned { task: id, turn: *turn, items: None });
            }
            let task = Arc::clone(self.execution().expect_task(id));
            self.wait_again(&task);
        }
    }

    fn is_inside(&self, task: &Task, around: &Task) -> bool {
        let outer = |id: &TaskId| self.task(*id)?.within;
        std::iter::successors(task.within, outer).any(|id| id == around.id)
    }

    /// A task, or the dynamic fork it is inside of, among the branches that `target` is part of.
    fn seen_from(&self, target: &Task, task: &Arc<Task>) -> Option<Arc<Task>> {
        let outer = std::iter::successors(Some(Arc::clone(task)), |task| self.task(task.fork?));
        outer.into_iter().find(|task| task.fork == target.fork)
    }

    /// The step behind `target`, or behind what that is inside of, at or inside of which a task is.
    fn step_behind(&self, target: &Task, task: &Task) -> Option<Step> {
        let home = self.execution().home(target.fork);
        let behind = behind(home, home.find(&target.reference)?);
        let place = home.find(&task.reference)?;
        let mut at = std::iter::once(place).chain(home.surroundings(place));
        at.find(|step| behind.contains(step)).cloned()
    }

    fn is_in_later_turn(&self, target: &Task, task: &Task) -> bool {
        let home = self.execution().home(target.fork);
        let around = |task: &Task| -> Vec<&Step> {
            let place = home.find(&task.reference);
            let outer = place.into_iter().flat_map(|place| home.surroundings(place));
            outer.filter(|outer| outer.kind() == Kind::DoWhile).collect()
        };
        let (mine, others) = (around(target), around(task));
        let shared = mine.iter().filter(|outer| others.contains(outer)).count();
        let outside = target.turns.len().saturating_sub(mine.len());
        let turns = |task: &Task| task.turns.iter().take(outside + shared).copied().collect();
        let (mine, others): (Vec<u32>, Vec<u32>) = (turns(target), turns(task));
        others > mine
    }
}

/// The steps behind one in its list, and behind all that it is inside of.
fn behind<'a>(home: &'a Pinned, step: &'a Step) -> Vec<&'a Step> {
    let lists = std::iter::once(step).chain(home.surroundings(step));
    lists.flat_map(|step| std::iter::successors(home.after(step), |it| home.after(it))).collect()
}
