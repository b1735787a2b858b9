//! # Stale reports: not applied, and not forgotten
//!
//! Contract 4. That somebody reported who does not hold the task any more is written down before it
//! is answered: the last ones of each task, in a record beside the journal, which they do not
//! lengthen. A repeat of the last one adds nothing.

use semel_engine::{Decided, Event, Record, RecordKey, RecordState, Rejection};
use semel_model::{ExecutionId, StaleReport, TaskId};

use crate::failure::Failure;
use crate::round::{Outcome, Round};
use crate::runtime::Runtime;
use crate::work::EventWork;

/// How long they are kept after the last one.
const KEPT_MS: i64 = 30 * 24 * 3_600 * 1_000;

/// Tasks of one run that are told of.
const TASKS_MAX: usize = 1000;

/// What is noted of a name or a reason.
const CHARS_MAX: usize = 200;

fn scope(execution: ExecutionId) -> String {
    format!("stale:{execution}")
}

impl Round {
    /// Writes down a report that is refused as stale; other refusals pass as they are.
    pub(crate) fn note_stale(&mut self, work: &EventWork, refused: Outcome) -> Outcome {
        let (
            Event::Reported(report),
            Outcome::Answer(Err(Failure::Rejected(Rejection::Stale(why)))),
        ) = (&work.event, &refused)
        else {
            return refused;
        };
        let key = RecordKey { scope: scope(work.execution), key: report.task.to_string() };
        let now = self.held.now;
        let before = match self.held_record(&key) {
            Ok(held) => held.cloned(),
            Err(outcome) => return outcome,
        };
        let mut record = before.unwrap_or_else(|| Record::new(RecordState::Completed, now));
        if record.detail.fingerprint == Some(report.fingerprint) {
            return refused;
        }
        let cut = |text: &str| text.chars().take(CHARS_MAX).collect::<String>();
        let by = report.progress.worker.as_deref().unwrap_or(&work.actor);
        record.hit(Decided { at: now, by: cut(by), outcome: cut(why), mismatch: false });
        record.detail.fingerprint = Some(report.fingerprint);
        record.expires_at = Some(now.plus_ms(KEPT_MS));
        self.writes.records.insert(key, Some(record));
        refused
    }
}

impl Runtime {
    /// The last reports on each task of a run that were stale, oldest first.
    pub async fn stale_reports(
        &self,
        execution: ExecutionId,
    ) -> Result<Vec<(TaskId, Vec<StaleReport>)>, Failure> {
        let found = self
            .blocking(move |world| Ok(world.store.records(&scope(execution), None, TASKS_MAX)?));
        let told = |(key, record): (RecordKey, Record)| {
            let ring = record.detail.ring.into_iter();
            let reports = ring.map(|it| StaleReport { at: it.at, by: it.by, reason: it.outcome });
            Some((key.key.parse().ok()?, reports.collect()))
        };
        Ok(found.await?.into_iter().filter_map(told).collect())
    }
}
