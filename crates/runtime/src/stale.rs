//! # Stale reports: not applied, and not forgotten
//!
//! Contract: docs/reference/idempotency.md#whose-report-counts.
//! A report by a worker that does not hold the task any more is written down before it
//! is answered: the last ones of each task, in a record beside the journal, which they do not
//! lengthen. A repeat of the last one adds nothing. After the commit it is counted, and a WARN line
//! names it, once a minute for each queue and worker: a worker whose reports are all dropped would
//! otherwise be noticed only by its timeouts.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use semel_engine::{Decided, Event, Queue, Record, RecordKey, RecordState, Rejection, Task};
use semel_model::{Digest, ExecutionId, StaleReport, TaskId, Timestamp};
use semel_store::Place;

use crate::events::queue_of;
use crate::failure::Failure;
use crate::round::{Outcome, Round};
use crate::runtime::Runtime;
use crate::work::{EventWork, Renewal};
use crate::world::World;

/// How long they are kept after the last one.
const KEPT_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// Tasks of one run that are told of.
const TASKS_MAX: usize = 1000;

/// What is noted of a name or a reason.
const CHARS_MAX: usize = 200;

/// A queue and a worker are warned of once in this time.
const WARN_EVERY_MS: i64 = 60_000;

/// Queues and workers whose last warning is remembered.
const WARNED_MAX: usize = 1000;

fn scope(execution: ExecutionId) -> String {
    format!("stale:{execution}")
}

/// One report that did not count.
pub(crate) struct LateReport {
    pub(crate) place: Place,
    pub(crate) queue: Option<Queue>,
    pub(crate) worker: String,
    pub(crate) why: String,
    pub(crate) at: Timestamp,
    fingerprint: Digest,
}

impl Round {
    /// Writes down a report that is refused as stale; other refusals pass as they are.
    pub(crate) fn note_stale(
        &mut self,
        world: &World,
        work: &EventWork,
        refused: Outcome,
    ) -> Outcome {
        let (
            Event::Reported(report),
            Outcome::Answer(Err(Failure::Rejected(Rejection::Stale(why)))),
        ) = (&work.event, &refused)
        else {
            return refused;
        };
        let found = self.execution(world, work.execution).ok();
        let found = found.and_then(|(_, run)| run.task(report.task).map(|task| queue_of(task)));
        let late = LateReport {
            place: Place { execution: work.execution, task: report.task },
            queue: found,
            worker: cut(report.progress.worker.as_deref().unwrap_or(&work.actor)),
            why: cut(why),
            at: self.held.now,
            fingerprint: report.fingerprint,
        };
        self.note_late(late).err().unwrap_or(refused)
    }

    /// A worker asks for more time for a task that it does not hold: answers it, and writes it down.
    pub(crate) fn note_stale_renewal(
        &mut self,
        renewal: &Renewal,
        task: &Task,
        refused: Rejection,
    ) -> Outcome {
        if renewal.is_in_house {
            return Outcome::Answer(Err(Failure::Rejected(refused)));
        }
        let worker = renewal.worker.as_deref().unwrap_or("a worker");
        let late = LateReport {
            place: renewal.place,
            queue: Some(queue_of(task)),
            worker: cut(worker),
            why: cut(&format!("more time was asked for: {refused}")),
            at: self.held.now,
            fingerprint: Digest::of_parts([b"renewal".as_slice(), worker.as_bytes()]),
        };
        let refused = Outcome::Answer(Err(Failure::Rejected(refused)));
        self.note_late(late).err().unwrap_or(refused)
    }

    fn note_late(&mut self, late: LateReport) -> Result<(), Outcome> {
        let Place { execution, task } = late.place;
        let key = RecordKey { scope: scope(execution), key: task.to_string() };
        let before = self.held_record(&key)?.cloned();
        let mut record = before.unwrap_or_else(|| Record::new(RecordState::Completed, late.at));
        if record.detail.fingerprint != Some(late.fingerprint) {
            let (by, outcome) = (late.worker.clone(), late.why.clone());
            record.hit(Decided { at: late.at, by, outcome, mismatch: false });
            record.detail.fingerprint = Some(late.fingerprint);
            record.expires_at = Some(late.at.plus_ms(KEPT_MS));
            self.writes.records.insert(key, Some(record));
        }
        self.tally.stale.push(late);
        Ok(())
    }
}

fn cut(text: &str) -> String {
    text.chars().take(CHARS_MAX).collect()
}

/// When which queue and worker was warned of last.
#[derive(Default)]
pub(crate) struct StaleWarnings(Mutex<BTreeMap<(String, String), Timestamp>>);

impl StaleWarnings {
    pub(crate) fn warn(&self, late: &LateReport) {
        let queue = late.queue.as_ref().map(Queue::to_string).unwrap_or_default();
        if !self.is_due(&queue, &late.worker, late.at) {
            return;
        }
        let Place { execution, task } = late.place;
        tracing::warn!(
            queue, worker = late.worker, %execution, %task, why = late.why,
            "a report is stale and was not applied; more of this queue and worker are not logged \
             for a minute"
        );
    }

    fn is_due(&self, queue: &str, worker: &str, now: Timestamp) -> bool {
        let mut warned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |at: &Timestamp| (0..WARN_EVERY_MS).contains(&now.since_ms(*at));
        let key = (queue.to_owned(), worker.to_owned());
        if warned.get(&key).is_some_and(is_fresh) {
            return false;
        }
        if warned.len() >= WARNED_MAX {
            warned.retain(|_, at| is_fresh(at));
        }
        if warned.len() >= WARNED_MAX {
            return false; // That many different names within a minute are made up.
        }
        warned.insert(key, now);
        true
    }
}

impl World {
    /// The last reports on each task of a run that were stale, oldest first.
    pub(crate) fn stale_reports(
        &self,
        execution: ExecutionId,
    ) -> Result<Vec<(TaskId, Vec<StaleReport>)>, Failure> {
        let found = self.store.records(&scope(execution), None, TASKS_MAX)?;
        let told = |(key, record): (RecordKey, Record)| {
            let ring = record.detail.ring.into_iter();
            let reports = ring.map(|it| StaleReport { at: it.at, by: it.by, reason: it.outcome });
            Some((key.key.parse().ok()?, reports.collect()))
        };
        Ok(found.into_iter().filter_map(told).collect())
    }
}

impl Runtime {
    /// The same, for whoever shows a run.
    pub async fn stale_reports(
        &self,
        execution: ExecutionId,
    ) -> Result<Vec<(TaskId, Vec<StaleReport>)>, Failure> {
        self.blocking(move |world| world.stale_reports(execution)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_and_worker_are_warned_of_once_a_minute() {
        let warnings = StaleWarnings::default();
        let at = |seconds: i64| Timestamp::from_ms(1_800_000_000_000 + seconds * 1000);
        assert!(warnings.is_due("pay", "ann", at(0)));
        assert!(!warnings.is_due("pay", "ann", at(59)));
        assert!(warnings.is_due("pay", "bob", at(1)), "another worker");
        assert!(warnings.is_due("eu:pay", "ann", at(1)), "another queue");
        assert!(warnings.is_due("pay", "ann", at(60)), "a minute later");
    }

    #[test]
    fn names_without_end_are_not_remembered_and_not_logged() {
        let warnings = StaleWarnings::default();
        let now = Timestamp::from_ms(1_800_000_000_000);
        let is_due = |n: usize| warnings.is_due("pay", &n.to_string(), now);
        assert_eq!((0..2 * WARNED_MAX).filter(|n| is_due(*n)).count(), WARNED_MAX);
        assert!(warnings.is_due("pay", "ann", now.plus_ms(WARN_EVERY_MS)));
    }
}
