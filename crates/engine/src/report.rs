//! # Reports: a worker, or a person, answers for a task

use std::sync::Arc;

use semel_model::{Digest, TaskId, TaskResultStatus, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::{Rejection, Stop};
use crate::delivery::HandOut;
use crate::event::{Progress, Report, Slot};
use crate::expression::merged;
use crate::fence::{self, Standing};
use crate::kinds::Kind;
use crate::outcome::{Outcome, said};
use crate::preview;
use crate::task::Task;
use crate::turn::{Closing, PAYLOAD_BYTES_MAX, Turn};

/// Longer reasons are cut, as Conductor cuts them.
const REASON_CHARS_MAX: usize = 500;

impl Turn<'_> {
    pub(crate) fn report(&mut self, report: &Report) -> Result<(), Stop> {
        let task = self.task(report.task).ok_or(Rejection::UnknownTask(report.task))?;
        let is_news = task.accepted != Some(report.fingerprint);
        if task.status.is_terminal() && is_news && self.settles_late(&task, report)? {
            return Ok(());
        }
        let held = self.hand_out(&task)?;
        if task.is_in_doubt() && is_news {
            self.judge_in_doubt(&task, &held, report)?;
            let (progress, fingerprint) = (&report.progress, Some(report.fingerprint));
            let hand_out = fence::signed(&task, &held, report);
            return self.take(&task, hand_out, progress, progress.output, fingerprint);
        }
        if task.is_in_doubt() {
            return Ok(());
        }
        match fence::judge(&task, &held, report)? {
            Standing::Repeated => Ok(()),
            Standing::Current => {
                let (progress, fingerprint) = (&report.progress, Some(report.fingerprint));
                let hand_out = fence::signed(&task, &held, report);
                self.take(&task, hand_out, progress, progress.output, fingerprint)
            }
        }
    }

    /// By reference: the newest open attempt at that task, or at that step in whichever turn; else
    /// the task that comes next.
    pub(crate) fn name(
        &mut self,
        reference: &str,
        force: bool,
        distinct: bool,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let Some(task) = self.execution().named(reference).cloned() else {
            return self.answer_early(reference, distinct, progress);
        };
        let held = self.hand_out(&task)?;
        let insists = distinct || (force && held.polls > 0);
        if !insists && self.ended_the_attempt_before(&task, self.decision_digest(progress)) {
            return Ok(());
        }
        fence::judge_named(&task, &held, force, progress.worker.as_deref())?;
        self.take_from_person(&task, &held, force, progress, None)
    }

    /// The same was said of the attempt before, and this one was made because of it: whoever says it
    /// twice means one failure. Who tries again by hand has seen that one.
    fn ended_the_attempt_before(&self, task: &Task, said: Digest) -> bool {
        let before = task.replaces.and_then(|id| self.task(id));
        before.is_some_and(|before| {
            let is_retry = task.first_scheduled_at == before.first_scheduled_at;
            is_retry && before.accepted == Some(said)
        })
    }

    /// By reference or by force: a person may speak, who does not know what the holder did. A holder
    /// without a name cannot be told from that person.
    fn take_from_person(
        &mut self,
        task: &Arc<Task>,
        held: &HandOut,
        force: bool,
        progress: &Progress,
        fingerprint: Option<Digest>,
    ) -> Result<(), Stop> {
        if self.is_forced_again(task, progress) {
            return Ok(());
        }
        self.expect_news(task, progress)?;
        let output = self.merged(task, progress.output);
        if self.leaves_doubt(task, held, force, progress) {
            self.doubt_forced(task, held)?;
            return self.end_forced(task, held, progress, output);
        }
        let said = fingerprint.unwrap_or_else(|| self.decision_digest(progress));
        self.take(task, held.facts(), progress, output, Some(said))
    }

    /// Variables first, then a task, in one decision; a repeat changes neither.
    pub(crate) fn update_state(
        &mut self,
        variables: Option<Slot>,
        id: Option<TaskId>,
        reference: Option<&str>,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let task = self.state_target(id, reference)?;
        let given = variables.map(|variables| self.payload(variables).text().to_owned());
        let said = Digest::of_parts([
            b"state".as_slice(),
            self.decision_digest(progress).as_bytes(),
            given.unwrap_or_default().as_bytes(),
        ]);
        if task.status.is_terminal() && task.accepted == Some(said) {
            return Ok(());
        }
        if task.status.is_terminal() {
            let Task { id, reference, status, .. } = &*task;
            let message =
                format!("task {id} ({reference}) is {status} already, and not by this answer");
            return Err(Rejection::Decided(message).into());
        }
        if id.is_none() && self.ended_the_attempt_before(&task, said) {
            return Ok(());
        }
        let held = self.hand_out(&task)?;
        fence::judge_named(&task, &held, false, progress.worker.as_deref())?;
        if self.is_forced_again(&task, progress) {
            return Ok(());
        }
        if let Some(variables) = variables {
            self.update_variables(variables)?;
        }
        self.take_from_person(&task, &held, false, progress, Some(said))
    }

    fn state_target(
        &self,
        id: Option<TaskId>,
        reference: Option<&str>,
    ) -> Result<Arc<Task>, Rejection> {
        let run = self.execution().id();
        let Some(id) = id else {
            let reference = reference.unwrap_or_default();
            let missing = || format!("workflow {run} has no open task {reference}");
            let open = self.execution().named(reference);
            let found = open.or_else(|| self.execution().latest(reference)).cloned();
            return found.ok_or_else(|| Rejection::NotFound(missing()));
        };
        let task = self.task(id).ok_or(Rejection::UnknownTask(id))?;
        let is_there = |name: &str| name == &*task.reference || name == task.step.reference();
        match reference.filter(|name| !is_there(name)) {
            Some(name) => Err(Rejection::Invalid(format!(
                "taskResult.taskId: task {id} is {}, not {name}",
                task.reference
            ))),
            None => Ok(task),
        }
    }

    /// The same was said of the attempt before, and this one is in doubt because of it.
    fn is_forced_again(&self, task: &Task, progress: &Progress) -> bool {
        let before = task.replaces.and_then(|id| self.task(id));
        let Some(before) = before.filter(|_| task.is_in_doubt() && task.polls == 0) else {
            return false;
        };
        let is_same_end = before.status == TaskStatus::Failed && before.accepted.is_none();
        let is_same_word = progress.status == TaskResultStatus::Failed
            && progress.reason.as_deref().map(cut) == before.reason
            && merged(&before.output, self.payload(progress.output)) == before.output;
        is_same_end && is_same_word
    }

    /// Whoever wants a task in doubt to be tried again has to say that nothing happened.
    fn expect_news(&self, task: &Task, progress: &Progress) -> Result<(), Rejection> {
        let fails = progress.status == TaskResultStatus::Failed;
        if !task.is_in_doubt() || !fails || !self.leaves_unknown(progress) {
            return Ok(());
        }
        Err(Rejection::WrongState(format!(
            "nobody knows whether the effect of task {} ({}) has happened: say {{\"_effect\": \
             {{\"applied\": true or false}}}} in its output, or resolve the effect",
            task.id, task.reference
        )))
    }

    /// Somebody may have acted on the task, and the failure does not say whether.
    fn leaves_doubt(&self, task: &Task, held: &HandOut, force: bool, said: &Progress) -> bool {
        let is_nameless = held.leased && held.worker.is_none();
        // Whoever gave it back for a while may have acted, and comes back for it.
        let is_given_back = !held.leased && (said.worker.is_none() || said.worker != held.worker);
        let is_held = (force || is_nameless || is_given_back) && held.polls > 0;
        (is_held || task.is_in_doubt()) && self.leaves_unknown(said)
    }

    /// It ends a task without saying whether its effect has happened.
    fn leaves_unknown(&self, progress: &Progress) -> bool {
        let says = said(self.payload(progress.output));
        let fails = match progress.status {
            TaskResultStatus::Failed
            | TaskResultStatus::FailedWithTerminalError
            | TaskResultStatus::Canceled => true,
            TaskResultStatus::Completed | TaskResultStatus::InProgress => false,
        };
        fails && matches!(says, None | Some(Outcome::Unknown))
    }

    /// The task ends as the person says.
    fn end_forced(
        &mut self,
        task: &Task,
        held: &HandOut,
        progress: &Progress,
        output: Slot,
    ) -> Result<(), Stop> {
        let status = match progress.status {
            TaskResultStatus::Failed | TaskResultStatus::InProgress => TaskStatus::Failed,
            TaskResultStatus::FailedWithTerminalError => TaskStatus::FailedWithTerminalError,
            TaskResultStatus::Canceled => TaskStatus::Canceled,
            TaskResultStatus::Completed => TaskStatus::Completed,
        };
        let bytes = self.payload(output).len();
        let output = match bytes > PAYLOAD_BYTES_MAX {
            true => self.store(preview::of(self.payload(output))),
            false => output,
        };
        let mut hand_out = held.facts();
        hand_out.worker = progress.worker.clone().or(hand_out.worker);
        let reason = progress.reason.as_deref().map(cut);
        self.close(task.id, status, output, reason, None, hand_out)
    }

    /// The output is merged over what the task has. Its end is known by what was decided.
    pub(crate) fn take_named(&mut self, task: &Arc<Task>, progress: &Progress) -> Result<(), Stop> {
        let held = self.hand_out(task)?;
        let said = self.decision_digest(progress);
        let output = self.merged(task, progress.output);
        self.take(task, held.facts(), progress, output, Some(said))
    }

    /// For a task, by an event: what it says is the output.
    pub(crate) fn answer_for(&mut self, task: &Arc<Task>, progress: &Progress) -> Result<(), Stop> {
        if task.status.is_terminal() || !self.execution().is_live() {
            return Ok(());
        }
        let held = self.hand_out(task)?;
        fence::judge_named(task, &held, false, progress.worker.as_deref())?;
        self.expect_news(task, progress)?;
        if self.leaves_doubt(task, &held, false, progress) {
            self.doubt_forced(task, &held)?;
            return self.end_forced(task, &held, progress, progress.output);
        }
        self.take(task, held.facts(), progress, progress.output, None)
    }

    /// For a step, by an event: the open task, or the one that comes next. An event is told once,
    /// so that it repeats no other.
    pub(crate) fn answer_step(&mut self, step: &str, progress: &Progress) -> Result<(), Stop> {
        match self.execution().named(step).cloned() {
            Some(task) => self.answer_for(&task, progress),
            None => self.answer_early(step, true, progress),
        }
    }

    fn take(
        &mut self,
        task: &Arc<Task>,
        mut hand_out: HandOutFacts,
        progress: &Progress,
        output: Slot,
        fingerprint: Option<Digest>,
    ) -> Result<(), Stop> {
        hand_out.worker = progress.worker.clone().or(hand_out.worker);
        if task.is_in_doubt() && progress.status != TaskResultStatus::InProgress {
            self.leave_doubt(task)?;
        }
        let bytes = self.payload(output).len();
        if bytes > PAYLOAD_BYTES_MAX {
            let why = format!("output of {bytes} bytes is over the limit of {PAYLOAD_BYTES_MAX}");
            let status = TaskStatus::FailedWithTerminalError;
            let output = self.store(preview::of(self.payload(output)));
            if progress.status == TaskResultStatus::Completed {
                self.known.insert(task.id, Outcome::Applied);
            }
            return self.close(task.id, status, output, Some(why), fingerprint, hand_out);
        }
        let reason = progress.reason.as_deref().map(cut);
        let has_failed = matches!(
            progress.status,
            TaskResultStatus::Failed | TaskResultStatus::FailedWithTerminalError
        );
        let says = said(self.payload(output));
        let is_bare = progress.status == TaskResultStatus::Failed && says.is_none();
        let is_unknown = has_failed && says == Some(Outcome::Unknown);
        if is_unknown || (is_bare && self.holds_after_last(task)) {
            let says_so = Some((fingerprint.unwrap_or_default(), progress.status));
            if self.ends_in_doubt(task, &hand_out, says_so, reason.as_deref())? {
                return Ok(());
            }
        }
        let status = match progress.status {
            TaskResultStatus::InProgress => {
                self.progress(task.id, progress, output, reason, fingerprint, hand_out);
                return Ok(());
            }
            TaskResultStatus::Completed => TaskStatus::Completed,
            // It has happened: another attempt would do it twice.
            TaskResultStatus::Failed if says == Some(Outcome::Applied) && is_done_once(task) => {
                TaskStatus::FailedWithTerminalError
            }
            TaskResultStatus::Failed => TaskStatus::Failed,
            TaskResultStatus::FailedWithTerminalError => TaskStatus::FailedWithTerminalError,
            TaskResultStatus::Canceled => TaskStatus::Canceled,
        };
        self.close(task.id, status, output, reason, fingerprint, hand_out)
    }

    fn close(
        &mut self,
        task: TaskId,
        status: TaskStatus,
        output: Slot,
        reason: Option<String>,
        fingerprint: Option<Digest>,
        hand_out: HandOutFacts,
    ) -> Result<(), Stop> {
        let output = Some(output);
        let closing = Closing::new(status, reason, hand_out);
        self.emit_closed(task, Closing { output, fingerprint, ..closing });
        self.after_close(task);
        Ok(())
    }

    fn progress(
        &mut self,
        task: TaskId,
        progress: &Progress,
        output: Slot,
        reason: Option<String>,
        fingerprint: Option<Digest>,
        hand_out: HandOutFacts,
    ) {
        let callback_after_seconds = progress.callback_after_seconds.max(0);
        let ready_at = self.now().plus_seconds(callback_after_seconds);
        self.emit(Change::TaskProgressed {
            task,
            output,
            ready_at,
            reason,
            callback_after_seconds,
            fingerprint,
            hand_out,
        });
    }

    fn merged(&mut self, task: &Task, slot: Slot) -> Slot {
        if task.output.is_empty() {
            return slot;
        }
        let output = merged(&task.output, self.payload(slot));
        self.store(output)
    }
}

/// A request is sent again under its key, to hear the answer that got lost.
fn is_done_once(task: &Task) -> bool {
    task.has_claim() && task.kind() != Kind::Http
}

fn cut(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}
