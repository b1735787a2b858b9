//! # Reports: a worker, or a person, answers for a task

use std::sync::Arc;

use semel_model::{Digest, TaskId, TaskResultStatus, TaskStatus};

use crate::change::{Change, HandOutFacts};
use crate::decide::{Rejection, Stop};
use crate::delivery::HandOut;
use crate::event::{Progress, Report, Slot};
use crate::expression::merged;
use crate::fence::{self, Standing};
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
            self.judge_in_doubt(&task, report)?;
            let (progress, fingerprint) = (&report.progress, Some(report.fingerprint));
            return self.take(&task, &held, progress, progress.output, fingerprint);
        }
        if task.is_in_doubt() {
            return Ok(());
        }
        match fence::judge(&task, &held, report)? {
            Standing::Repeated => Ok(()),
            Standing::Current => {
                let fingerprint = Some(report.fingerprint);
                self.take(&task, &held, &report.progress, report.progress.output, fingerprint)
            }
        }
    }

    /// By reference: the newest open attempt at that task, or at that step in whichever turn. The
    /// output is merged over what it has.
    pub(crate) fn name(
        &mut self,
        reference: &str,
        force: bool,
        progress: &Progress,
    ) -> Result<(), Stop> {
        let task = self.execution().named(reference).cloned().ok_or(Rejection::NothingPending)?;
        let held = self.hand_out(&task)?;
        fence::judge_named(&task, &held, force)?;
        let output = self.merged(&task, progress.output);
        self.take(&task, &held, progress, output, None)
    }

    /// The first open WAIT or YIELD, chosen and answered in one: no two signals answer the same.
    pub(crate) fn signal(&mut self, progress: &Progress) -> Result<(), Stop> {
        let found = self.execution().first_wait().cloned();
        let task = found.ok_or(Rejection::NothingPending)?;
        let held = self.hand_out(&task)?;
        let output = self.merged(&task, progress.output);
        self.take(&task, &held, progress, output, None)
    }

    /// For a task, by an event: what it says is the output.
    pub(crate) fn answer_for(&mut self, task: &Arc<Task>, progress: &Progress) -> Result<(), Stop> {
        if task.status.is_terminal() || !self.execution().is_live() {
            return Ok(());
        }
        let held = self.hand_out(task)?;
        fence::judge_named(task, &held, false)?;
        self.take(task, &held, progress, progress.output, None)
    }

    fn take(
        &mut self,
        task: &Arc<Task>,
        held: &HandOut,
        progress: &Progress,
        output: Slot,
        fingerprint: Option<Digest>,
    ) -> Result<(), Stop> {
        let mut hand_out = held.facts();
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
        if has_failed && said(self.payload(output)) == Some(Outcome::Unknown) {
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

fn cut(reason: &str) -> String {
    reason.chars().take(REASON_CHARS_MAX).collect()
}
