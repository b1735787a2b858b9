//! # Signals: answers for whichever WAIT or YIELD comes first
//!
//! While nothing waits, the run keeps a signal as an early answer without a name. A run below it that
//! is under way comes to its WAIT first, so that one keeps it, as many as it may have WAITs. What a
//! child has not needed when it completes goes back to its parent. Nothing of it is lost: where no run
//! above takes it, the last one that heard of it keeps it, or the child, if that one has no room.

use semel_model::{ExecutionId, Timestamp, WorkflowStatus};

use crate::change::{AnswerChange, Change};
use crate::decide::{Rejection, Stop};
use crate::early::EarlyAnswer;
use crate::event::Progress;
use crate::execution::Execution;
use crate::kinds::Kind;
use crate::message::Message;
use crate::pin::Step;
use crate::turn::Turn;

impl Turn<'_> {
    /// The first open WAIT or YIELD, chosen and answered in one: no two signals answer the same.
    pub(crate) fn signal(&mut self, progress: &Progress, may_wait: bool) -> Result<(), Stop> {
        match self.execution().first_wait().cloned() {
            Some(task) => self.take_named(&task, progress),
            None if may_wait && self.execution().may_still_wait() => {
                self.keep_answer(None, progress)
            }
            None => Err(Rejection::NothingPending.into()),
        }
    }

    /// A signal that a child has not needed; where nothing can wait for it, the run above may. A run
    /// that has none above it, or may be retried, keeps the signal to be seen.
    pub(crate) fn hear_signal(
        &mut self,
        progress: &Progress,
        until: Timestamp,
    ) -> Result<(), Stop> {
        if until <= self.now() {
            return Ok(());
        }
        match self.signal_if_live(progress) {
            Err(Stop::Rejected(Rejection::NothingPending)) => {}
            heard => return heard,
        }
        let execution = self.execution();
        let may_go_on = execution.is_closed() && !execution.is_completed();
        match self.run_above().filter(|_| !may_go_on) {
            Some(to) => {
                let progress = progress.clone();
                self.emit(Change::Sent { to, message: Message::Signal { progress, until } });
            }
            None => {
                self.expect_room(progress)?;
                self.keep_to_be_seen(progress, until);
            }
        }
        Ok(())
    }

    /// A signal that this run gave back, and nobody took. The run kept it before, so that no limit
    /// refuses it now.
    pub(crate) fn take_back(&mut self, progress: &Progress, until: Timestamp) -> Result<(), Stop> {
        if until <= self.now() {
            return Ok(());
        }
        match self.signal_if_live(progress) {
            Err(Stop::Rejected(_)) => {
                self.keep_to_be_seen(progress, until);
                Ok(())
            }
            heard => heard,
        }
    }

    fn signal_if_live(&mut self, progress: &Progress) -> Result<(), Stop> {
        match self.execution().is_live() {
            true => self.signal(progress, true),
            false => Err(Rejection::NothingPending.into()),
        }
    }

    fn keep_to_be_seen(&mut self, progress: &Progress, until: Timestamp) {
        let (number, progress) = (self.seq(), progress.clone());
        self.emit(Change::Answer(AnswerChange::Unneeded { number, progress, until }));
    }

    /// A run that is completed gives back what it kept for a WAIT that never came.
    pub(crate) fn return_signals(&mut self) {
        let execution = self.execution();
        let Some(to) = self.run_above().filter(|_| execution.is_completed()) else { return };
        let now = self.now();
        let is_left = |it: &&EarlyAnswer| it.reference.is_none() && it.until > now;
        let left: Vec<EarlyAnswer> = execution.early_answers().filter(is_left).cloned().collect();
        if left.is_empty() {
            return;
        }
        let numbers = left.iter().map(|answer| answer.number).collect();
        self.emit(Change::Answer(AnswerChange::Returned { numbers, to }));
        for EarlyAnswer { progress, output, until, .. } in left {
            let output = self.store(output);
            let progress = Progress { output, ..progress };
            self.emit(Change::Sent { to, message: Message::Signal { progress, until } });
        }
    }

    /// The run that waits for this one.
    fn run_above(&self) -> Option<ExecutionId> {
        let execution = self.execution();
        let parent = execution.parent().filter(|_| !execution.is_alone());
        parent.map(|parent| parent.execution)
    }
}

impl Execution {
    /// A task that signals answer may still come in this run.
    pub fn may_still_wait(&self) -> bool {
        self.waits_to_come() > 0
    }

    /// It may come to more WAITs than it keeps signals.
    pub fn may_need_signal(&self, now: Timestamp) -> bool {
        self.waits_to_come() > self.kept_signals(now)
    }

    /// How many signals it keeps.
    pub fn kept_signals(&self, now: Timestamp) -> usize {
        let is_signal = |it: &&EarlyAnswer| it.reference.is_none() && it.until > now;
        self.early_answers().filter(is_signal).count()
    }

    fn is_completed(&self) -> bool {
        self.status() == Some(WorkflowStatus::Completed)
    }

    /// How many tasks that signals answer may still come; what a loop or data may bring is not counted.
    fn waits_to_come(&self) -> usize {
        if !self.is_live() {
            return 0;
        }
        let count = |step: &Step| {
            let is_open_ended = step.kind() == Kind::DynamicFork || self.may_repeat(step);
            if is_open_ended { usize::MAX } else { 1 }
        };
        let may_wait =
            |kind: Kind| kind.is_wait() || matches!(kind, Kind::Dynamic | Kind::DynamicFork);
        let steps = self.all_steps().filter(|step| may_wait(step.kind()) && self.may_come(step));
        steps.map(count).fold(0, usize::saturating_add)
    }
}
