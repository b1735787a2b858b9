//! # Early answers: what was said for a task that is not there yet
//!
//! A person or program answers for a step by its name, or signals whichever WAIT comes first. When
//! no such task is open but one may still come, the answer is kept with the run, in the order of
//! arrival, and given to the task in the commit in which the task appears.
//!
//! | the step | an answer by its name |
//! | --- | --- |
//! | has an open task | goes to that task |
//! | is over, and comes no more | equal to what ended it: nothing changes; else refused |
//! | was ended with its run, by nobody's answer | is not kept: nothing waits for it |
//! | is a WAIT, HUMAN or YIELD that may still come | is kept; one answer for each task to come |
//! | may come with data of a dynamic fork | is kept |
//! | is done by a worker or the engine, or is unknown | is refused: nothing is kept |
//!
//! Progress decides nothing: what is said after it is kept behind it, for the same task.
//!
//! What is kept lasts [`LASTS_MS`], is bounded, outlives a failed run that is retried, and goes when
//! the run begins anew.

use std::sync::Arc;

use semel_model::{Digest, KeptAnswer, Payload, TaskId, TaskResultStatus, TaskStatus, Timestamp};
use serde::{Deserialize, Serialize};

use crate::apply::Page;
use crate::change::{AnswerChange, Change};
use crate::decide::{Rejection, Stop};
use crate::event::{Progress, Slot};
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::pin::Step;
use crate::task::{Flow, Task, in_turns};
use crate::turn::Turn;

/// Answers that a run keeps at once, and the bytes of all of them.
const ANSWERS_MAX: usize = 100;
const ANSWERS_BYTES_MAX: usize = 1024 * 1024;

/// How long an answer is kept.
const LASTS_MS: i64 = 7 * 24 * 60 * 60 * 1000;

/// One answer that waits for its task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EarlyAnswer {
    /// That of the entry which kept it.
    pub(crate) number: u64,
    /// None: for whichever WAIT or YIELD comes first.
    pub(crate) reference: Option<Arc<str>>,
    pub(crate) progress: Progress,
    pub(crate) output: Payload,
    received_at: Timestamp,
    pub(crate) until: Timestamp,
}

/// How an answer by name stands to a task that is not open.
enum Prospect {
    /// A task may still come: in another iteration, or for the first time.
    Comes { again: bool },
    /// This task was the last.
    Over(Arc<Task>),
    /// This task was the last, and the loop may bring another, which a worker or the engine does.
    Between(Arc<Task>),
    /// The run is over, and nobody answered for such a task.
    Nothing,
    /// Why nobody can answer for it.
    Never(String),
}

impl Turn<'_> {
    /// An answer by name while no task of that name is open. A `distinct` answer is known to be no
    /// repeat of another request.
    pub(crate) fn answer_early(
        &mut self,
        reference: &str,
        distinct: bool,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let said = self.decision_digest(progress);
        let again = match self.execution().prospect(reference) {
            Prospect::Over(task) | Prospect::Between(task)
                if self.ended_so(&task, progress, said) =>
            {
                return Ok(());
            }
            Prospect::Over(task) => return Err(already(&task).into()),
            Prospect::Between(task) => {
                let why = self.execution().unkept(&task.step, reference);
                return Err(Rejection::NotFound(why).into());
            }
            Prospect::Nothing => return Err(Rejection::NothingPending.into()),
            Prospect::Never(why) => return Err(Rejection::NotFound(why).into()),
            Prospect::Comes { again } => again,
        };
        let newest = self.execution().newest(reference).cloned();
        let kept = self.execution().early_named(reference, self.now()).last().cloned();
        if let Some(kept) = &kept {
            let is_same = decision_of(&kept.progress, &kept.output) == said;
            match (is_same, again) {
                (true, false) => return Ok(()),
                (false, false) if kept.progress.status == TaskResultStatus::InProgress => {}
                (false, false) => return Err(kept_otherwise(reference, kept).into()),
                (true, true) if !distinct => return Ok(()),
                (_, true) => {} // One for each iteration.
            }
        } else if let Some(newest) = newest
            && !distinct
            && self.ended_so(&newest, progress, said)
        {
            return Ok(()); // A repeat of what ended the iteration before.
        }
        self.keep_answer(Some(reference), progress)
    }

    pub(crate) fn keep_answer(
        &mut self,
        reference: Option<&str>,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let (now, number) = (self.now(), self.seq());
        self.expect_room(progress)?;
        self.emit(Change::Answer(AnswerChange::Kept {
            number,
            reference: reference.map(str::to_owned),
            progress: progress.clone(),
            until: now.plus_ms(LASTS_MS),
        }));
        Ok(())
    }

    /// It fits in with what is kept already.
    pub(crate) fn expect_room(&self, progress: &Progress) -> Result<(), Rejection> {
        let bytes = self.payload(progress.output).len();
        let (run, now) = (self.execution().id(), self.now());
        let live = || self.execution().early_answers().filter(|answer| answer.until > now);
        let (count, sum) = (live().count(), live().map(|it| it.output.len()).sum::<usize>());
        if count < ANSWERS_MAX && sum + bytes <= ANSWERS_BYTES_MAX {
            return Ok(());
        }
        Err(Rejection::Full(format!(
            "workflow {run} keeps {count} answers of {sum} bytes for tasks that are not there yet; \
             it takes {ANSWERS_MAX}, of {ANSWERS_BYTES_MAX} bytes together"
        )))
    }

    /// Whatever else a commit does, it removes answers whose time is over.
    pub(crate) fn drop_lapsed(&mut self) {
        let now = self.now();
        let lapsed = self.execution().early_answers().filter(|answer| answer.until <= now);
        let numbers: Vec<u64> = lapsed.map(|answer| answer.number).collect();
        if !numbers.is_empty() {
            self.emit(Change::Answer(AnswerChange::Dropped { numbers }));
        }
    }

    /// A task has appeared: what was said for it counts as if it came now.
    pub(crate) fn take_early(&mut self, id: TaskId) -> Result<(), Stop> {
        while let Some(task) = self.task(id).filter(|task| !task.status.is_terminal()) {
            let Some(answer) = self.execution().early_for(&task, self.now()).cloned() else {
                return Ok(());
            };
            self.emit(Change::Answer(AnswerChange::Taken { number: answer.number, task: id }));
            let output = self.store(answer.output.clone());
            let progress = Progress { output, ..answer.progress };
            self.take_named(&task, &progress)?;
        }
        Ok(())
    }

    /// What an answer decides, to be compared with another.
    pub(crate) fn decision_digest(&self, progress: &Progress) -> Digest {
        decision_of(progress, self.payload(progress.output))
    }

    /// The task ended by this very decision, or by another that says the same.
    fn ended_so(&self, task: &Task, progress: &Progress, said: Digest) -> bool {
        let is_same = || {
            let status = status_of(progress.status);
            let output = self.payload(progress.output).canonical();
            Some(task.status) == status && task.output.canonical() == output
        };
        task.accepted == Some(said) || is_same()
    }
}

fn already(task: &Task) -> Rejection {
    let (id, reference, status) = (task.id, &task.reference, task.status);
    Rejection::Decided(format!(
        "task {id} ({reference}) is {status} already, and not by this answer"
    ))
}

fn kept_otherwise(reference: &str, kept: &EarlyAnswer) -> Rejection {
    let status = kept.progress.status;
    Rejection::Decided(format!(
        "another answer is kept for {reference}: {status}, received at {}",
        kept.received_at.ms()
    ))
}

fn decision_of(progress: &Progress, output: &Payload) -> Digest {
    Digest::of_parts([
        b"decision".as_slice(),
        progress.status.as_str().as_bytes(),
        output.canonical().as_bytes(),
        progress.reason.as_deref().unwrap_or_default().as_bytes(),
    ])
}

/// How a task ends that is answered so; none: it goes on.
fn status_of(status: TaskResultStatus) -> Option<TaskStatus> {
    match status {
        TaskResultStatus::InProgress => None,
        TaskResultStatus::Completed => Some(TaskStatus::Completed),
        TaskResultStatus::Failed => Some(TaskStatus::Failed),
        TaskResultStatus::FailedWithTerminalError => Some(TaskStatus::FailedWithTerminalError),
        TaskResultStatus::Canceled => Some(TaskStatus::Canceled),
    }
}

impl Execution {
    pub(crate) fn early_answers(&self) -> impl Iterator<Item = &EarlyAnswer> {
        self.early.iter().flat_map(|answers| answers.iter())
    }

    fn early_named(&self, reference: &str, now: Timestamp) -> impl Iterator<Item = &EarlyAnswer> {
        self.early_answers()
            .filter(move |it| it.reference.as_deref() == Some(reference) && it.until > now)
    }

    /// The oldest answer that names this task or its step; else the oldest signal, if it waits for one.
    fn early_for(&self, task: &Task, now: Timestamp) -> Option<&EarlyAnswer> {
        let live = || self.early_answers().filter(|answer| answer.until > now);
        let is_named = |answer: &&EarlyAnswer| {
            let name = answer.reference.as_deref();
            name == Some(&*task.reference) || name == Some(task.step.reference())
        };
        let named = live().find(is_named).filter(|_| task.kind().is_answered());
        let is_signal = |answer: &&EarlyAnswer| answer.reference.is_none();
        named.or_else(|| live().find(is_signal).filter(|_| task.kind().is_wait()))
    }

    /// An answer by that name waits for its task.
    pub fn keeps_answer_for(&self, reference: &str) -> bool {
        self.early_answers().any(|it| it.reference.as_deref() == Some(reference))
    }

    /// Answers that wait for their tasks, oldest first.
    pub fn kept_answers(&self, now: Timestamp) -> Vec<KeptAnswer> {
        let tell = |answer: &EarlyAnswer| KeptAnswer {
            task_reference_name: answer.reference.as_deref().map(str::to_owned),
            status: answer.progress.status,
            output: answer.output.clone(),
            worker_id: answer.progress.worker.clone(),
            received_at: answer.received_at,
            expires_at: answer.until,
        };
        self.early_answers().filter(|answer| answer.until > now).map(tell).collect()
    }

    pub(crate) fn note_answer(&mut self, change: &AnswerChange, page: &Page<'_>) {
        let mut answers = self.early.as_deref().cloned().unwrap_or_default();
        let kept =
            |number: u64, name: Option<&str>, said: &Progress, until: Timestamp| EarlyAnswer {
                number,
                reference: name.map(Arc::from),
                progress: Progress { output: Slot(0), ..said.clone() },
                output: page.payload(said.output),
                received_at: page.at,
                until,
            };
        match change {
            AnswerChange::Kept { number, reference, progress, until } => {
                answers.push_back(kept(*number, reference.as_deref(), progress, *until));
            }
            AnswerChange::Unneeded { number, progress, until } => {
                answers.push_back(kept(*number, None, progress, *until));
            }
            AnswerChange::Taken { number, .. } => answers.retain(|it| it.number != *number),
            AnswerChange::Dropped { numbers } | AnswerChange::Returned { numbers, .. } => {
                answers.retain(|it| !numbers.contains(&it.number));
            }
        }
        self.early = (!answers.is_empty()).then(|| Arc::new(answers));
    }

    fn prospect(&self, reference: &str) -> Prospect {
        if let Some(last) = self.last_named(reference) {
            let is_step = last.step.reference() == reference;
            let again = self.is_live() && is_step && self.is_in_live_loop(last);
            let place = self.home(last.fork).find(&last.reference).unwrap_or(&last.step);
            let is_cut_off = last.status == TaskStatus::Canceled && last.accepted.is_none();
            return match again {
                true if place.kind().is_kept_for() => Prospect::Comes { again },
                true => Prospect::Between(Arc::clone(last)),
                false if is_cut_off && self.is_closed() => Prospect::Nothing,
                false => Prospect::Over(Arc::clone(last)),
            };
        }
        let never = |why: String| Prospect::Never(format!("workflow {} {why}", self.id()));
        if !self.is_live() {
            let own = self.definition.find(reference).is_some();
            let is_known = own || self.step_brought(reference).is_some();
            return match is_known {
                true => Prospect::Nothing,
                false => never(format!("has no step {reference}")),
            };
        }
        match self.step_to_come(reference) {
            None if self.may_bring_steps() => Prospect::Comes { again: false },
            None => never(format!("has no step {reference}, or not in that iteration")),
            Some((step, again)) if step.kind().is_kept_for() => Prospect::Comes { again },
            Some((step, _)) => Prospect::Never(self.unkept(step, reference)),
        }
    }

    fn unkept(&self, step: &Step, reference: &str) -> String {
        format!(
            "workflow {} has no open task {reference}: only answers for WAIT, HUMAN and YIELD are \
             kept until their task is there, and this is a {}",
            self.id(),
            step.task_type()
        )
    }

    /// A step that has no task of this name yet, and whether it may have several.
    fn step_to_come(&self, reference: &str) -> Option<(&Step, bool)> {
        let own = self.definition.find(reference);
        let (step, loops) = match own {
            Some(step) => (step, self.definition.loops_around(step)),
            None => self.step_brought(reference)?,
        };
        let turns = Task::turns_in(reference, step);
        let is_name = !turns.contains(&0) && in_turns(step.reference(), &turns) == reference;
        let is_past = own.is_some() && self.is_past(step, &turns);
        let is_iteration = turns.len() == loops && is_name && !is_past;
        let is_step = reference == step.reference();
        (is_step || is_iteration).then_some((step, is_step && loops > 0))
    }

    /// A step that came with data, and how many loops are around it.
    fn step_brought(&self, reference: &str) -> Option<(&Step, usize)> {
        let mut homes = self.defined.iter();
        let found = homes.find_map(|(digest, home)| Some((digest, home, home.find(reference)?)));
        let (digest, home, step) = found?;
        let is_fork = |task: &&Arc<Task>| matches!(&task.flow, Flow::Fork { branches: Some(it), .. } if it == digest);
        let around = self.tasks().find(is_fork).map_or(0, |fork| fork.turns.len());
        Some((step, around + home.loops_around(step)))
    }

    /// The loop around the step is beyond that iteration.
    fn is_past(&self, step: &Step, turns: &[u32]) -> bool {
        let (Some(around), [outer @ .., turn]) = (self.definition.loop_around(step), turns) else {
            return false;
        };
        let around = self.latest(&in_turns(around.reference(), outer));
        around.is_some_and(|around| {
            around.status.is_terminal() || around.as_loop().is_some_and(|it| it.turn > *turn)
        })
    }

    fn is_in_live_loop(&self, task: &Task) -> bool {
        let around = std::iter::successors(task.within, |id| self.task(*id)?.within);
        let mut around = around.filter_map(|id| self.task(id));
        around.any(|around| !around.status.is_terminal())
    }

    /// Every step that this run has, also those that came with its data.
    pub(crate) fn all_steps(&self) -> impl Iterator<Item = &Step> {
        let carried = self.defined.values().flat_map(|home| home.steps());
        self.definition.steps().iter().chain(carried)
    }

    /// A task at that step may still come.
    pub(crate) fn may_come(&self, step: &Step) -> bool {
        self.newest(step.reference()).is_none_or(|newest| self.is_in_live_loop(newest))
    }

    /// More than one task at that step may still come.
    pub(crate) fn may_repeat(&self, step: &Step) -> bool {
        let newest = self.newest(step.reference());
        let is_to_come = || self.step_to_come(step.reference()).is_some_and(|(_, again)| again);
        newest.map_or_else(is_to_come, |newest| self.is_in_live_loop(newest))
    }

    /// A dynamic fork may still bring steps that nobody knows.
    fn may_bring_steps(&self) -> bool {
        self.all_steps().any(|step| step.kind() == Kind::DynamicFork && self.may_come(step))
    }
}
