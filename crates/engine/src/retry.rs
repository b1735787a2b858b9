//! # Retries: whether a failed task is tried again, and when

use std::sync::Arc;

use semel_model::{Digest, Payload, RetryLogic, TaskDef, TaskId, TaskStatus, WorkflowStatus};
use serde_json::Value;

use crate::change::HandOutFacts;
use crate::decide::Stop;
use crate::pin::Step;
use crate::schedule::{By, Site};
use crate::task::Task;
use crate::turn::{Closing, Turn};

/// By which a report says how long to wait before the next attempt.
const RETRY_AFTER: &str = "_retryAfterSeconds";

/// Where a definition has no longest delay.
const RETRY_AFTER_SECONDS_MAX: i64 = 86_400;

impl Turn<'_> {
    pub(crate) fn retry_or_fail(&mut self, task: &Task) -> Result<(), Stop> {
        let may_retry = matches!(task.status, TaskStatus::Failed | TaskStatus::TimedOut);
        if let Some(site) = self.next_attempt(task).filter(|_| may_retry) {
            if let Some(reason) = self.total_exhausted(task, &site.step) {
                self.give_up_effect(task);
                return self.fail_execution(task, reason);
            }
            let policy = site.step.policy();
            let asked_ms = asked_ms(policy, &task.output);
            let delay_ms = delay_ms(policy, task.attempt, task.id).max(asked_ms);
            let ready_at = self.now().plus_ms(delay_ms);
            return self.schedule_again(site, task, ready_at, By::Itself);
        }
        if let Some(probed) = self.probed(task) {
            self.absorb(task);
            return self.follow_probe(task, &probed);
        }
        self.give_up_effect(task);
        let flags = task.step.task();
        if flags.optional {
            self.absorb(task);
            let task = Arc::clone(self.execution().expect_task(task.id));
            return self.go_on_after(&task);
        }
        if flags.permissive {
            return self.go_on_after(task);
        }
        let status = ending_of(task.status);
        let reason = format!(
            "Task {} failed with status: {status} and reason: '{}'",
            task.id,
            task.reason.as_deref().unwrap_or_default()
        );
        self.fail_execution(task, reason)
    }

    /// Where a task that fails is tried again; none: no attempt is left.
    fn next_attempt(&self, task: &Task) -> Option<Site> {
        // An upgrade may have changed the step, or left it out.
        let next = self.execution().home(task.fork).find(&task.reference)?;
        let site = Site::again(task, next.clone());
        let is_left = task.attempt < site.step.attempts_max();
        (is_left && !site.step.kind().is_never_retried()).then_some(site)
    }

    /// A task that fails now is tried again.
    pub(crate) fn has_attempts_left(&self, task: &Task) -> bool {
        let next = self.next_attempt(task);
        next.is_some_and(|site| self.total_exhausted(task, &site.step).is_none())
    }

    /// An optional task that failed for good ends COMPLETED_WITH_ERRORS.
    fn absorb(&mut self, task: &Task) {
        let hand_out = HandOutFacts {
            worker: task.worker.clone(),
            started_at: task.started_at,
            polls: task.polls,
            fence: task.fence,
            holder: None,
            child_heard: false,
        };
        let status = TaskStatus::CompletedWithErrors;
        let closing = Closing::new(status, task.reason.clone(), hand_out);
        let fingerprint = task.accepted;
        self.emit_closed(task.id, Closing { fingerprint, farewell: None, ..closing });
    }

    fn total_exhausted(&self, task: &Task, step: &Step) -> Option<String> {
        let limit = step.total_timeout_seconds();
        let elapsed_ms = self.now().since_ms(task.first_scheduled_at);
        (limit > 0 && elapsed_ms >= limit.saturating_mul(1000)).then(|| {
            format!(
                "Task {}/{} exceeded total timeout of {limit} seconds (elapsed {} seconds across \
                 all attempts). No further retries will be attempted.",
                task.id,
                step.task().name,
                elapsed_ms / 1000
            )
        })
    }
}

pub(crate) fn ending_of(status: TaskStatus) -> WorkflowStatus {
    match status {
        TaskStatus::Canceled => WorkflowStatus::Terminated,
        TaskStatus::TimedOut => WorkflowStatus::TimedOut,
        TaskStatus::Failed
        | TaskStatus::FailedWithTerminalError
        | TaskStatus::Completed
        | TaskStatus::CompletedWithErrors
        | TaskStatus::Skipped
        | TaskStatus::Scheduled
        | TaskStatus::InProgress => WorkflowStatus::Failed,
    }
}

/// What the worker asks to wait at least: `_retryAfterSeconds` in what it reported. The longest delay
/// of the definition is also the longest that can be asked for.
fn asked_ms(policy: &TaskDef, output: &Payload) -> i64 {
    if !output.text().contains(RETRY_AFTER) {
        return 0;
    }
    let said = output.value().get(RETRY_AFTER).and_then(Value::as_f64).unwrap_or(0.0);
    let seconds = if said.is_finite() { said.ceil() as i64 } else { 0 }; // Saturates.
    let max = match policy.max_retry_delay_seconds {
        0 => RETRY_AFTER_SECONDS_MAX,
        max => max.into(),
    };
    seconds.clamp(0, max).saturating_mul(1000)
}

/// Milliseconds before the attempt after `attempt`. Jitter is a hash of the failed task's id, so
/// that deciding again gives the same delay.
pub(crate) fn delay_ms(policy: &TaskDef, attempt: u32, failed: TaskId) -> i64 {
    let base = i64::from(policy.retry_delay_seconds.max(0));
    let seconds = match policy.retry_logic {
        RetryLogic::Fixed => base,
        RetryLogic::LinearBackoff => base
            .saturating_mul(policy.backoff_scale_factor.into())
            .saturating_mul(i64::from(attempt) + 1),
        RetryLogic::ExponentialBackoff => {
            base.saturating_mul(1_i64.checked_shl(attempt.min(62)).unwrap_or(i64::MAX))
        }
    };
    let cap = i64::from(policy.max_retry_delay_seconds);
    let seconds = if cap > 0 { seconds.min(cap) } else { seconds.min(i32::MAX.into()) };
    let jitter_max = u64::try_from(policy.backoff_jitter_ms).unwrap_or(0);
    let jitter = Digest::of_parts([b"jitter".as_slice(), failed.as_bytes()]).number();
    let jitter_ms = i64::try_from(jitter % (jitter_max + 1)).unwrap_or(0);
    seconds.saturating_mul(1000).saturating_add(jitter_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delays(policy: &TaskDef, attempts: u32) -> Vec<i64> {
        let failed = TaskId::from_bytes([7; 16]);
        (0..attempts).map(|attempt| delay_ms(policy, attempt, failed)).collect()
    }

    fn policy(logic: RetryLogic, seconds: i32) -> TaskDef {
        TaskDef { retry_logic: logic, retry_delay_seconds: seconds, ..TaskDef::default() }
    }

    #[test]
    fn the_table_of_delays_is_kept() {
        let capped =
            TaskDef { max_retry_delay_seconds: 3, ..policy(RetryLogic::ExponentialBackoff, 1) };
        assert_eq!(delays(&capped, 4), [1000, 2000, 3000, 3000]);
        let linear = TaskDef {
            max_retry_delay_seconds: 3,
            backoff_scale_factor: 2,
            ..policy(RetryLogic::LinearBackoff, 1)
        };
        assert_eq!(delays(&linear, 4), [2000, 3000, 3000, 3000]);
        assert_eq!(delays(&policy(RetryLogic::Fixed, 60), 3), [60_000, 60_000, 60_000]);
    }

    #[test]
    fn jitter_is_added_after_the_cap_and_repeats_for_the_same_task() {
        let jittered = TaskDef {
            backoff_jitter_ms: 500,
            max_retry_delay_seconds: 2,
            ..policy(RetryLogic::ExponentialBackoff, 2)
        };
        let first = delays(&jittered, 3);
        assert_eq!(first, delays(&jittered, 3));
        assert!(first.iter().all(|ms| (2000..=2500).contains(ms)));
        let spread: std::collections::BTreeSet<_> =
            (0..50).map(|n| delay_ms(&jittered, 0, TaskId::from_bytes([n; 16]))).collect();
        assert!(spread.len() > 30, "tasks do not all wait for the same moment");
    }

    #[test]
    fn a_worker_may_ask_for_more_patience_within_bounds() {
        let asked = |policy: &TaskDef, output: &str| {
            asked_ms(policy, &Payload::from_text(output.to_owned()).unwrap())
        };
        let free = TaskDef::default();
        assert_eq!(asked(&free, r#"{"_retryAfterSeconds": 30}"#), 30_000);
        assert_eq!(asked(&free, r#"{"_retryAfterSeconds": 1.2}"#), 2_000);
        assert_eq!(asked(&free, r#"{"_retryAfterSeconds": 1e300}"#), 86_400_000);
        for nothing in [
            "{}",
            r#"{"_retryAfterSeconds": -5}"#,
            r#"{"_retryAfterSeconds": "x"}"#,
            r#"{"a": {"_retryAfterSeconds": 9}}"#,
        ] {
            assert_eq!(asked(&free, nothing), 0, "{nothing}");
        }
        let capped = TaskDef { max_retry_delay_seconds: 10, ..TaskDef::default() };
        assert_eq!(asked(&capped, r#"{"_retryAfterSeconds": 30}"#), 10_000);
    }

    #[test]
    fn a_huge_backoff_saturates() {
        let huge = policy(RetryLogic::ExponentialBackoff, i32::MAX);
        assert_eq!(delay_ms(&huge, 500, TaskId::from_bytes([1; 16])), i64::from(i32::MAX) * 1000);
    }
}
