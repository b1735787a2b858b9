//! # Meters: what dashboards read
//!
//! Conductor's names where the thing exists here, ours with the prefix `semel_`. Labels are names of
//! workflows, tasks and domains, never ids, and only so many of each: a client that makes up names
//! must not make up time series without end.
//! **May use:** what a round did, once it is committed. **May not:** influence it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use metrics::{counter, histogram};
use semel_engine::{Event, Queue, Rejection};

use crate::alarms::Alarms;
use crate::failure::Failure;
use crate::inbox::Class;
use crate::prepared::Replies;
use crate::stale::StaleWarnings;
use crate::tally::Tally;
use crate::work::{Answer, Standing, Work};

/// Different values of one label; the rest are `other`.
const LABELS_MAX: usize = 1000;

const OTHER: &str = "other";

/// What Conductor writes for a queue without a domain.
const NO_DOMAIN: &str = "NO_DOMAIN";

#[derive(Default)]
pub(crate) struct Meters {
    workflows: Names,
    versions: Names,
    pub(crate) task_types: Names,
    domains: Names,
    stale_warnings: StaleWarnings,
    alarms: Alarms,
}

/// The values a label has had.
#[derive(Default)]
pub(crate) struct Names(Mutex<BTreeSet<String>>);

impl Names {
    pub(crate) fn admit(&self, name: &str) -> String {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(name) {
            if known.len() >= LABELS_MAX {
                return OTHER.to_owned();
            }
            known.insert(name.to_owned());
        }
        name.to_owned()
    }
}

/// How a round went.
pub(crate) struct Course {
    pub(crate) outcome: &'static str,
    pub(crate) items: usize,
    pub(crate) took: Duration,
    /// What writing it took, if it was written.
    pub(crate) commit: Option<Duration>,
}

impl Meters {
    pub(crate) fn round(&self, course: &Course) {
        counter!("semel_rounds_total", "outcome" => course.outcome).increment(1);
        histogram!("semel_round_items").record(course.items as f64);
        histogram!("semel_round_seconds").record(course.took);
        if let Some(commit) = course.commit {
            histogram!("semel_commit_seconds").record(commit);
        }
    }

    /// Rows that a round wanted while others held them, and whether it waited for some.
    pub(crate) fn contended(&self, rows_skipped: usize, waited: bool) {
        if rows_skipped > 0 {
            counter!("semel_rows_skipped_total").increment(rows_skipped as u64);
        }
        if waited {
            counter!("semel_rounds_waited_total").increment(1);
        }
    }

    /// What is committed now.
    pub(crate) fn told(&self, tally: Tally, replies: &Replies) {
        self.runs(&tally);
        self.tasks(&tally);
        for late in &tally.stale {
            match &late.queue {
                Some(queue) => counter!("semel_stale_reports_total", &self.queue(queue)),
                None => counter!("semel_stale_reports_total"),
            }
            .increment(1);
            self.stale_warnings.warn(late);
        }
        for (name, count) in [
            ("semel_misses_total", tally.misses),
            ("semel_executions_parked_total", tally.parked),
            ("semel_descendants_refused_total", tally.crowded),
        ] {
            if count > 0 {
                counter!(name).increment(count);
            }
        }
        for (outcome, count) in &tally.effects {
            counter!("semel_effects_total", "outcome" => *outcome).increment(*count);
        }
        self.alarms.raise(&tally.alarms);
        self.answers(replies);
    }

    /// Of a large round many replies are alike: each kind is told once.
    pub(crate) fn answers(&self, replies: &Replies) {
        let mut kinds: BTreeMap<(&'static str, &'static str), u64> = BTreeMap::new();
        for (item, answer) in replies {
            let kind = match &item.work {
                Work::Start(work) => {
                    let name = &work.definition.definition().name;
                    Some(("semel_starts_total", self.start(name, answer)))
                }
                Work::Event(work) if is_report(&work.event) => {
                    Some(("semel_reports_total", report(answer)))
                }
                Work::Call(call) => call.asks.meter().map(|name| (name, call_outcome(answer))),
                _ => None,
            };
            if let Some(kind) = kind {
                *kinds.entry(kind).or_default() += 1;
            }
        }
        for ((name, outcome), count) in kinds {
            counter!(name, "outcome" => outcome).increment(count);
        }
    }

    /// A start that was answered without a round.
    pub(crate) fn started(&self, name: &str, answer: &Result<Answer, Failure>) {
        counter!("semel_starts_total", "outcome" => self.start(name, answer)).increment(1);
    }

    fn runs(&self, tally: &Tally) {
        for ((name, version), count) in &tally.begun {
            let (name, version) = self.version(name, *version);
            let labels = [("workflowName", name), ("version", version)];
            counter!("workflow_start_success_total", &labels).increment(*count);
        }
        for (name, count) in &tally.uncounted {
            let name = self.workflows.admit(name);
            counter!("semel_runs_not_counted_total", "workflowName" => name).increment(*count);
        }
        for ((name, status), took) in &tally.ended {
            let name = self.workflows.admit(name);
            if *status == "COMPLETED" {
                let all = histogram!("workflow_execution_seconds", "workflowName" => name);
                took.iter().for_each(|seconds| all.record(*seconds));
            } else {
                let labels = [("workflowName", name), ("status", (*status).to_owned())];
                counter!("workflow_failure_total", &labels).increment(took.len() as u64);
            }
        }
    }

    fn tasks(&self, tally: &Tally) {
        for (queue, waits) in &tally.handed {
            let labels = self.queue(queue);
            counter!("task_poll_count_total", &labels).increment(waits.len() as u64);
            let [task_type, _] = labels;
            let all = histogram!("task_queue_wait_seconds", &[task_type]);
            waits.iter().for_each(|seconds| all.record(*seconds));
        }
        for ((task_type, status), took) in &tally.closed {
            let labels = [
                ("taskType", self.task_types.admit(task_type)),
                ("status", (*status).to_owned()),
                ("includeRetries", "false".to_owned()),
            ];
            let all = histogram!("task_execution_seconds", &labels);
            took.iter().for_each(|seconds| all.record(*seconds));
        }
        for (name, counts) in [
            ("task_timeout_total", &tally.timed_out),
            ("task_response_timeout_total", &tally.lapsed),
        ] {
            for (task_type, count) in counts {
                counter!(name, "taskType" => self.task_types.admit(task_type)).increment(*count);
            }
        }
        if !tally.lapsed.is_empty() {
            counter!("semel_lease_expiries_total").increment(tally.lapsed.values().sum());
        }
    }

    fn start(&self, name: &str, answer: &Result<Answer, Failure>) -> &'static str {
        match answer {
            Ok(Answer::Started { created: true, .. }) => "created",
            Ok(Answer::Skipped { .. }) => "skipped",
            Ok(Answer::Coalesced { .. }) => "coalesced",
            Err(Failure::Rejected(Rejection::Limited(_))) => "limited",
            Ok(_) => "returned_existing",
            Err(Failure::Conflict { .. } | Failure::Refused(_)) => "rejected",
            Err(_) => {
                self.start_failed(name);
                "failed"
            }
        }
    }

    pub(crate) fn start_failed(&self, name: &str) {
        let name = self.workflows.admit(name);
        counter!("workflow_start_error_total", "workflowName" => name).increment(1);
    }

    pub(crate) fn polled(&self, queue: &Queue) {
        let task_type = self.task_types.admit(&queue.task_type);
        counter!("task_poll_total", "taskType" => task_type).increment(1);
    }

    pub(crate) fn refused(&self, class: Class) {
        let class = match class {
            Class::Start => "start",
            Class::Operation => "operation",
            Class::Poll => "poll",
            Class::Report => "report",
        };
        counter!("semel_busy_total", "class" => class).increment(1);
    }

    pub(crate) fn version(&self, name: &str, version: i32) -> (String, String) {
        match self.versions.admit(&format!("{version}/{name}")).as_str() {
            OTHER => (OTHER.to_owned(), OTHER.to_owned()),
            _ => (self.workflows.admit(name), version.to_string()),
        }
    }

    fn queue(&self, queue: &Queue) -> [(&'static str, String); 2] {
        let domain = queue.domain.as_deref().map(|domain| self.domains.admit(domain));
        let domain = domain.unwrap_or_else(|| NO_DOMAIN.to_owned());
        [("taskType", self.task_types.admit(&queue.task_type)), ("domain", domain)]
    }
}

fn call_outcome(answer: &Result<Answer, Failure>) -> &'static str {
    match answer {
        Ok(Answer::Ruled(ruled)) => ruled.name(),
        _ => "UNAVAILABLE",
    }
}

fn is_report(event: &Event) -> bool {
    matches!(event, Event::Reported(_) | Event::Named { .. })
}

fn report(answer: &Result<Answer, Failure>) -> &'static str {
    match answer {
        Ok(Answer::Done { standing: Standing::Repeated, .. }) => "repeated",
        Ok(_) => "applied",
        Err(Failure::Rejected(Rejection::Stale(_))) => "stale",
        Err(_) => "rejected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_share_one_label() {
        let names = Names::default();
        for n in 0..LABELS_MAX {
            assert_eq!(names.admit(&n.to_string()), n.to_string());
        }
        assert_eq!(names.admit("one more"), OTHER);
        assert_eq!(names.admit("7"), "7", "who was there stays");
    }
}
