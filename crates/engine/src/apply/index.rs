//! # Apply: what is looked up by name, by turn and by what waits for it
//!
//! Kept beside the tasks, so that nothing ever has to be searched for.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use semel_model::TaskId;

use crate::change::Removed;
use crate::execution::Execution;
use crate::task::{Flow, Join, Task};

impl Execution {
    pub(super) fn add(&mut self, task: Task) {
        self.deadlines.extend(self.deadlines_of(&task));
        let was_over = self.is_over(&task.reference);
        self.note(&task);
        let is_over = task.status.is_terminal();
        let (reference, join) = (Arc::clone(&task.reference), task.as_join().cloned());
        let seq = task.seq;
        self.task_bytes += task.weight();
        self.tasks.insert(seq, Arc::new(task));
        self.tell_joins(&reference, was_over, is_over);
        if let Some(join) = join.filter(|_| !is_over) {
            self.await_all(seq, &join);
        }
    }

    /// In every index but that of the joins.
    fn note(&mut self, task: &Task) {
        self.by_id.insert(task.id, task.seq);
        self.latest.insert(Arc::clone(&task.reference), task.seq);
        self.newest.insert(task.step.reference().into(), task.seq);
        let is_open = !task.status.is_terminal();
        if is_open {
            self.open.insert(task.seq);
        }
        if let Some(within) = task.within {
            let turn = task.turns.last().copied().unwrap_or(0);
            self.turns.entry((within, turn)).or_default().push_back(task.seq);
            if is_open {
                *self.busy.entry(within).or_insert(0) += 1;
            }
        }
    }

    /// A task that was open has ended.
    pub(super) fn shut(&mut self, id: TaskId) {
        let task = Arc::clone(self.expect_task(id));
        if self.open.remove(&task.seq).is_none() {
            return; // An optional one whose failure is absorbed.
        }
        if let Some(count) = task.within.and_then(|within| self.busy.get_mut(&within)) {
            *count = count.saturating_sub(1);
        }
        self.tell_joins(&task.reference, false, true);
        if let Some(join) = task.as_join() {
            self.await_no_more(task.seq, join);
        }
    }

    /// A task that had ended goes on.
    pub(super) fn open_again(&mut self, id: TaskId) {
        let task = Arc::clone(self.expect_task(id));
        self.unconsumed.remove(&task.seq);
        if self.open.insert(task.seq).is_some() {
            return;
        }
        if let Some(within) = task.within {
            *self.busy.entry(within).or_insert(0) += 1;
        }
        self.tell_joins(&task.reference, true, false);
        if let Some(join) = task.as_join() {
            self.await_all(task.seq, join);
        }
    }

    /// The newest attempt at it has ended.
    fn is_over(&self, reference: &str) -> bool {
        self.latest(reference).is_some_and(|task| task.status.is_terminal())
    }

    fn tell_joins(&mut self, reference: &str, was_over: bool, is_over: bool) {
        if was_over == is_over {
            return;
        }
        for seq in self.joins_on(reference) {
            self.alter_join(seq, |join| match is_over {
                true => join.missing = join.missing.saturating_sub(1),
                false => join.missing += 1,
            });
        }
    }

    fn await_all(&mut self, seq: u32, join: &Join) {
        let mut missing = 0;
        for reference in join.on.iter() {
            self.awaited.entry(Arc::clone(reference)).or_default().insert(seq);
            missing += u32::from(!self.is_over(reference));
        }
        self.alter_join(seq, |join| join.missing = missing);
    }

    fn await_no_more(&mut self, seq: u32, join: &Join) {
        for reference in join.on.iter() {
            let Some(waiting) = self.awaited.get_mut(reference) else { continue };
            waiting.remove(&seq);
            if waiting.is_empty() {
                self.awaited.remove(reference);
            }
        }
    }

    fn alter_join(&mut self, seq: u32, change: impl FnOnce(&mut Join)) {
        let Some(task) = self.tasks.get_mut(&seq) else { return };
        if let Flow::Join(join) = &mut Arc::make_mut(task).flow {
            change(join);
        }
    }

    /// What a loop did long ago leaves a gap; otherwise those that stay close ranks, so that a run
    /// that is done again counts like one that is done once.
    pub(super) fn remove_tasks(&mut self, which: &Removed, generation: u32) {
        self.generation = generation;
        match which {
            Removed::Turns { of, through } => self.remove_turns(*of, *through),
            Removed::All => {
                self.early = None; // What was said to an earlier life is not said to this one.
                self.rebuild(|_| false);
            }
            Removed::After(task) => {
                let after = self.expect_task(*task).seq;
                self.rebuild(|task| task.seq <= after || task.is_ahead);
            }
            Removed::Steps(names) => {
                let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
                self.rebuild(|task| !names.contains(&*task.reference));
            }
        }
    }

    fn remove_turns(&mut self, of: TaskId, through: u32) {
        let first = (of, 0);
        let gone: Vec<(TaskId, u32)> =
            self.turns.range(first..=(of, through)).map(|(turn, _)| *turn).collect();
        for turn in gone {
            for seq in self.turns.remove(&turn).into_iter().flatten() {
                let Some(task) = self.tasks.remove(&seq) else { continue };
                self.task_bytes = self.task_bytes.saturating_sub(task.weight());
                self.by_id.remove(&task.id);
                if self.latest.get(&task.reference) == Some(&seq) {
                    self.latest.remove(&task.reference);
                }
                self.unconsumed.remove(&seq);
                if let Some(own) = task.as_loop() {
                    self.remove_turns(task.id, own.turn);
                    self.busy.remove(&task.id);
                }
            }
        }
    }

    fn rebuild(&mut self, stays: impl Fn(&Task) -> bool) {
        let unconsumed: Vec<TaskId> = self.unconsumed().iter().map(|task| task.id).collect();
        let stay = self.tasks.values().filter(|task| stays(task)).cloned();
        let mut tasks: Vec<Arc<Task>> = stay.collect();
        for (seq, task) in (1..).zip(&mut tasks) {
            if task.seq != seq {
                Arc::make_mut(task).seq = seq;
            }
        }
        self.reindex(tasks, &unconsumed);
    }

    /// These are all tasks there are.
    pub(crate) fn reindex(&mut self, tasks: Vec<Arc<Task>>, unconsumed: &[TaskId]) {
        self.tasks = OrdMap::new();
        self.task_bytes = tasks.iter().map(|task| task.weight()).sum();
        self.by_id = OrdMap::new();
        self.latest = OrdMap::new();
        self.newest = OrdMap::new();
        self.open = OrdSet::new();
        self.unconsumed = OrdSet::new();
        self.awaited = OrdMap::new();
        self.turns = OrdMap::new();
        self.busy = OrdMap::new();
        let unconsumed: BTreeSet<&TaskId> = unconsumed.iter().collect();
        for task in tasks {
            self.note(&task);
            if unconsumed.contains(&task.id) {
                self.unconsumed.insert(task.seq);
            }
            self.tasks.insert(task.seq, task);
        }
        let joins: Vec<Arc<Task>> = self.open_tasks().cloned().collect();
        for task in joins {
            if let Some(join) = task.as_join() {
                self.await_all(task.seq, join);
            }
        }
    }
}
