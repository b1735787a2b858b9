//! # Dirty: what has changed since the index last looked
//!
//! The lane marks, after its commit and before its answers; the indexer takes everything at once.
//! Marks of one run are one mark, so load makes them no more. A mark holds the execution as it was
//! committed: what is indexed of a run is always what one moment of it looked like.
//!
//! **May not:** hold up a lane. What does not fit is forgotten, and found again by comparing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel_engine::{Change, Execution, HandOut};
use semel_model::{ExecutionId, TaskId, Timestamp};
use semel_store::{Place, Stretch, Writes};
use tokio::sync::watch;

/// Runs, tasks and KiB of payload that may be marked; beyond that all marks are dropped.
const MARKS_MAX: usize = 100_000;

/// Fewer marks than that may wait: written together they share pages, locks and a commit.
const FEW_MARKS: usize = 100;

/// What one event changed that is searched by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    entries: u64,
    tasks: BTreeSet<TaskId>,
    /// Tasks are gone: all that are left are written again.
    has_fewer_tasks: bool,
    has_new_words: bool,
}

/// What a delivery row says of an open task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlay {
    pub(crate) is_leased: bool,
    pub(crate) started_at: Timestamp,
    pub(crate) updated_at: Timestamp,
}

/// Everything that changed of one run.
#[derive(Debug, Default)]
pub(crate) struct Mark {
    /// None: only hand-outs changed, or nothing is left of it.
    pub(crate) execution: Option<Arc<Execution>>,
    pub(crate) is_removed: bool,
    /// The entries that made these changes. Other nodes, or lanes that have not marked yet, may have
    /// written those between.
    pub(crate) brings: Vec<Stretch>,
    pub(crate) tasks: BTreeSet<TaskId>,
    pub(crate) has_fewer_tasks: bool,
    pub(crate) has_new_words: bool,
    pub(crate) overlays: BTreeMap<TaskId, Overlay>,
}

#[derive(Default)]
pub(crate) struct Dirty {
    marks: Mutex<Marks>,
    filled: Condvar,
    progress: watch::Sender<Progress>,
}

#[derive(Default)]
struct Marks {
    /// Somebody takes what is marked.
    is_watched: bool,
    runs: BTreeMap<ExecutionId, Mark>,
    weight: usize,
    has_overflowed: bool,
    /// Counts what was marked.
    marked: u64,
    wanted: Wanted,
    is_stopped: bool,
    must_reset: bool,
}

/// What somebody waits for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) rows: bool,
    pub(crate) words: bool,
}

/// How far the index is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Marks up to here are found by everything but their words.
    pub(crate) rows: u64,
    /// Marks up to here are found by their words too.
    pub(crate) words: u64,
    /// The index was compared with all there is.
    pub(crate) is_complete: bool,
}

/// What the indexer has to do.
pub(crate) struct Taken {
    pub(crate) runs: BTreeMap<ExecutionId, Mark>,
    pub(crate) up_to: u64,
    pub(crate) has_overflowed: bool,
    pub(crate) must_reset: bool,
    pub(crate) wanted: Wanted,
    pub(crate) is_stopped: bool,
}

impl Touched {
    pub(crate) fn note_entry(&mut self) {
        self.entries += 1;
    }

    pub(crate) fn note(&mut self, change: &Change) {
        match change {
            Change::TaskScheduled { task, .. }
            | Change::TaskBegan { task }
            | Change::TaskReset { task, .. }
            | Change::TaskReopened { task, .. }
            | Change::TaskSkipped { task, .. }
            | Change::TaskPassedOver { task }
            | Change::TaskReady { task }
            | Change::ChildAttached { task, .. }
            | Change::TaskWaits { task, .. }
            | Change::Asked { task, .. }
            | Change::AskedAgain { task, .. }
            | Change::Heard { task }
            | Change::Chose { task, .. }
            | Change::Forked { task, .. }
            | Change::LoopTurned { task, .. }
            | Change::TaskResumed { task, .. }
            | Change::TaskPlaced { task, .. }
            | Change::TaskProgressed { task, .. }
            | Change::TaskClosed { task, .. }
            | Change::EffectNoted { task, .. }
            | Change::TaskAlerted { task, .. } => {
                self.tasks.insert(*task);
            }
            Change::TasksRemoved { .. } => self.has_fewer_tasks = true,
            Change::Started { .. }
            | Change::Revived { .. }
            | Change::DefinitionChanged { .. }
            | Change::InputSet { .. }
            | Change::CorrelationSet { .. }
            | Change::ExecutionClosed { .. } => self.has_new_words = true,
            Change::RunCreated { .. }
            | Change::Sent { .. }
            | Change::Published { .. }
            | Change::Watched { .. }
            | Change::EpochNoted { .. }
            | Change::VariablesSet { .. }
            | Change::VariablesReset
            | Change::Defined { .. }
            | Change::Remaining { .. }
            | Change::Continued
            | Change::Leaving { .. }
            | Change::Arrived
            | Change::ExecutionAlerted
            | Change::Paused
            | Change::Resumed
            | Change::MessagePosted { .. }
            | Change::Guarded { .. }
            | Change::Awaits { .. }
            | Change::LetGo { .. }
            | Change::EffectsRedone { .. }
            | Change::LeftLine { .. }
            | Change::Queued { .. }
            | Change::Admitted { .. }
            | Change::MessagesTaken { .. }
            | Change::MessagesReturned { .. }
            | Change::Answer(_) => {}
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.entries += other.entries;
        self.tasks.extend(other.tasks);
        self.has_fewer_tasks |= other.has_fewer_tasks;
        self.has_new_words |= other.has_new_words;
    }
}

/// The delivery rows a round writes, as far as they are searched by; read before they are moved.
pub(crate) fn overlays(writes: &Writes) -> Vec<(Place, Overlay)> {
    let rows = writes.deliveries.iter().filter_map(|(place, row)| Some((place, row.as_ref()?)));
    rows.map(|(place, row)| (*place, Overlay::of(&row.hand_out))).collect()
}

impl Overlay {
    pub(crate) fn of(held: &HandOut) -> Self {
        let (started_at, updated_at) = (held.started_at, held.updated_at);
        Self { is_leased: held.leased, started_at, updated_at }
    }
}

impl Dirty {
    /// From now on somebody takes what is marked.
    pub(crate) fn watch(&self) {
        self.marks().is_watched = true;
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.marks().is_watched
    }

    /// After a commit: `executions` are as it left them, `touched` says what it changed of them.
    pub(crate) fn mark(
        &self,
        executions: &BTreeMap<ExecutionId, Arc<Execution>>,
        touched: BTreeMap<ExecutionId, Touched>,
        overlays: Vec<(Place, Overlay)>,
        removed: &BTreeSet<ExecutionId>,
    ) {
        let mut marks = self.marks();
        if !marks.is_watched {
            return;
        }
        let were_few = marks.weight < FEW_MARKS;
        for (id, touched) in touched {
            if let Some(execution) = executions.get(&id) {
                marks.touch(id, execution, touched);
            }
        }
        for (place, overlay) in overlays {
            marks.overlay(place, overlay);
        }
        for id in removed {
            *marks.run(*id) = Mark { is_removed: true, ..Mark::default() };
        }
        marks.marked += 1;
        if marks.weight > MARKS_MAX {
            marks.runs.clear();
            marks.weight = 0;
            marks.has_overflowed = true;
        } else if were_few && marks.weight >= FEW_MARKS {
            self.filled.notify_all();
        }
    }

    /// Waits a while, or until somebody wants the index to be up to date, and takes all marks. While
    /// they are few it waits the second time as well.
    pub(crate) fn take(&self, at_most: Duration, for_few: Duration) -> Taken {
        let is_calm = |marks: &Marks| !marks.wanted.rows && !marks.is_stopped;
        let waited = self.filled.wait_timeout_while(self.marks(), at_most, |it| is_calm(it));
        let marks = waited.unwrap_or_else(PoisonError::into_inner).0;
        let are_few = |marks: &mut Marks| is_calm(marks) && marks.weight < FEW_MARKS;
        let waited = self.filled.wait_timeout_while(marks, for_few, are_few);
        let mut marks = waited.unwrap_or_else(PoisonError::into_inner).0;
        marks.weight = 0;
        Taken {
            runs: std::mem::take(&mut marks.runs),
            up_to: marks.marked,
            has_overflowed: std::mem::take(&mut marks.has_overflowed),
            must_reset: std::mem::take(&mut marks.must_reset),
            wanted: std::mem::take(&mut marks.wanted),
            is_stopped: marks.is_stopped,
        }
    }

    /// Whether everything is in the index, and how many commits it has yet to hear of.
    pub(crate) fn lag(&self) -> (bool, u64) {
        let progress = *self.progress.borrow();
        (progress.is_complete, self.marks().marked.saturating_sub(progress.rows))
    }

    pub(crate) fn tell(&self, progress: Progress) {
        self.progress.send_replace(progress);
    }

    /// Waits until all that was marked before this call is in the index, and the index is complete.
    /// Whoever tires of waiting drops the future.
    pub(crate) async fn caught_up(&self, with_words: bool) {
        let target = {
            let mut marks = self.marks();
            marks.wanted.rows = true;
            marks.wanted.words |= with_words;
            marks.marked
        };
        self.filled.notify_all();
        let is_there = |progress: &Progress| {
            progress.is_complete
                && progress.rows >= target
                && (!with_words || progress.words >= target)
        };
        // The sender lives as long as `self`.
        let _ = self.progress.subscribe().wait_for(is_there).await;
    }

    /// The index turned out to be unreadable. Done at the next look, so that an index which cannot
    /// be mended is not made anew all the time.
    pub(crate) fn ask_for_reset(&self) {
        self.marks().must_reset = true;
    }

    pub(crate) fn stop(&self) {
        self.marks().is_stopped = true;
        self.filled.notify_all();
    }

    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Marks {
    fn run(&mut self, id: ExecutionId) -> &mut Mark {
        self.weight += 1;
        self.runs.entry(id).or_default()
    }

    fn touch(&mut self, id: ExecutionId, execution: &Arc<Execution>, touched: Touched) {
        let held_kib = (execution.input().len() + execution.output().len()) / 1024;
        self.weight += touched.tasks.len() + held_kib;
        let mark = self.run(id);
        if std::mem::take(&mut mark.is_removed) {
            // Another run under the same id: nothing of the one before is left.
            mark.has_fewer_tasks = true;
            mark.has_new_words = true;
        }
        // Lanes mark after their commits, and not always in the order of these.
        if mark.execution.as_ref().is_none_or(|it| it.link().seq <= execution.link().seq) {
            mark.execution = Some(Arc::clone(execution));
        }
        mark.bring(execution.link().seq, touched.entries);
        // What was known of their deliveries was known before this.
        touched.tasks.iter().for_each(|task| {
            mark.overlays.remove(task);
        });
        mark.tasks.extend(touched.tasks);
        mark.has_fewer_tasks |= touched.has_fewer_tasks;
        mark.has_new_words |= touched.has_new_words;
    }

    fn overlay(&mut self, place: Place, overlay: Overlay) {
        self.run(place.execution).overlays.insert(place.task, overlay);
    }
}

impl Mark {
    /// The last so many entries up to that seq.
    fn bring(&mut self, to: u64, entries: u64) {
        let after = to.saturating_sub(entries);
        match self.brings.last_mut() {
            Some(last) if last.to == after => last.to = to,
            _ if entries > 0 => self.brings.push(Stretch { after, to }),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u32) -> Place {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        Place { execution: ExecutionId::from_bytes(bytes), task: TaskId::from_bytes(bytes) }
    }

    fn leased(count: u32) -> Vec<(Place, Overlay)> {
        let at = Timestamp::from_ms(7);
        let overlay = Overlay { is_leased: true, started_at: at, updated_at: at };
        (0..count).map(|number| (place(number), overlay)).collect()
    }

    fn mark(dirty: &Dirty, overlays: Vec<(Place, Overlay)>, removed: &[Place]) {
        let removed = removed.iter().map(|place| place.execution).collect();
        dirty.mark(&BTreeMap::new(), BTreeMap::new(), overlays, &removed);
    }

    fn take(dirty: &Dirty) -> Taken {
        dirty.take(Duration::ZERO, Duration::ZERO)
    }

    #[test]
    fn few_marks_wait_for_more_and_many_are_taken_at_once() {
        let few = u32::try_from(FEW_MARKS).unwrap() - 1;
        for ends_by_many in [true, false] {
            let dirty = Arc::new(Dirty::default());
            dirty.watch();
            let taker = Arc::clone(&dirty);
            let hour = Duration::from_secs(3_600);
            let taker = std::thread::spawn(move || taker.take(Duration::ZERO, hour).runs.len());
            mark(&dirty, leased(few), &[]);
            match ends_by_many {
                true => mark(&dirty, Vec::new(), &[place(few)]),
                false => dirty.stop(),
            }
            let expected = few + u32::from(ends_by_many);
            assert_eq!(taker.join().unwrap(), usize::try_from(expected).unwrap());
        }
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let dirty = Dirty::default();
        mark(&dirty, leased(3), &[]);
        dirty.watch();
        assert!(take(&dirty).runs.is_empty());
    }

    #[test]
    fn marks_of_one_run_are_one_mark_and_are_taken_once() {
        let dirty = Dirty::default();
        dirty.watch();
        mark(&dirty, leased(2), &[]);
        mark(&dirty, leased(2), &[place(1)]);
        let taken = take(&dirty);
        assert_eq!((taken.runs.len(), taken.up_to), (2, 2));
        assert!(taken.runs[&place(1).execution].is_removed);
        assert!(taken.runs[&place(1).execution].overlays.is_empty());
        assert_eq!(taken.runs[&place(0).execution].overlays.len(), 1);
        assert!(take(&dirty).runs.is_empty());
    }

    #[test]
    fn a_mark_knows_which_entries_it_brings() {
        let mut mark = Mark::default();
        for (to, entries) in [(5, 2), (6, 1), (6, 0), (9, 1), (8, 1)] {
            mark.bring(to, entries);
        }
        let stretches = [(3, 6), (8, 9), (7, 8)];
        assert_eq!(mark.brings, stretches.map(|(after, to)| Stretch { after, to }));
    }

    #[test]
    fn more_than_fits_is_forgotten_and_said_to_be() {
        let dirty = Dirty::default();
        dirty.watch();
        let too_many = u32::try_from(MARKS_MAX).unwrap() + 1;
        mark(&dirty, leased(too_many), &[]);
        mark(&dirty, leased(1), &[]);
        let taken = take(&dirty);
        assert!(taken.has_overflowed);
        assert_eq!(taken.runs.len(), 1, "what came later is kept");
        assert!(!take(&dirty).has_overflowed, "said once");
    }
}
