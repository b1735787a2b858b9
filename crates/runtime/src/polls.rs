//! # Polls: which workers were here lately
//!
//! Kept in memory, told by every poll, empty or not. Domain routing asks here, and people do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use semel_engine::{Answer, Queue};
use semel_model::{PollData, Timestamp};

/// A domain counts as active this long after a poll.
const ACTIVE_MS: i64 = 10_000;

/// Queues remembered before those without a recent poll are forgotten.
const QUEUES_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Polls(Mutex<BTreeMap<Queue, Poll>>);

/// The last poll of a queue.
struct Poll {
    at: Timestamp,
    worker: Option<String>,
}

impl Polls {
    pub(crate) fn note(&self, queue: &Queue, worker: Option<&str>, now: Timestamp) {
        let mut polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if polls.len() >= QUEUES_MAX {
            polls.retain(|_, last| now.since_ms(last.at) < ACTIVE_MS);
        }
        let last = Poll { at: now, worker: worker.map(str::to_owned) };
        polls.insert(queue.clone(), last);
    }

    pub(crate) fn data(&self) -> Vec<PollData> {
        let polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let data = |(queue, last): (&Queue, &Poll)| PollData {
            queue_name: queue.task_type.clone(),
            domain: queue.domain.clone(),
            worker_id: last.worker.clone(),
            last_poll_time: last.at,
        };
        polls.iter().map(data).collect()
    }

    /// Of these domains, those in which somebody polled lately.
    pub(crate) fn active(&self, task_type: &str, domains: &[String], now: Timestamp) -> Answer {
        let polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let active = |domain: &&String| {
            let queue = Queue { task_type: task_type.to_owned(), domain: Some((*domain).clone()) };
            polls.get(&queue).is_some_and(|last| now.since_ms(last.at) < ACTIVE_MS)
        };
        let active: BTreeSet<_> = domains.iter().filter(active).cloned().collect();
        Answer::ActiveDomains(active)
    }
}
