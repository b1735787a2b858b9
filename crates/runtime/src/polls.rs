//! # Polls: which workers were here lately
//!
//! Kept in memory, told by every poll, empty or not, and by other processes through the store. Domain
//! routing asks here, and people do.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use semel_engine::{Answer, Queue};
use semel_model::{PollData, Timestamp};
use semel_store::Polled;

/// A domain counts as active this long after a poll.
const ACTIVE_MS: i64 = 10_000;

/// Others are told of the polls of a queue this often.
const TOLD_EVERY_MS: i64 = 1_000;

/// Queues remembered before those without a recent poll are forgotten.
const QUEUES_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Polls(Mutex<BTreeMap<Queue, Poll>>);

/// The last poll of a queue.
struct Poll {
    at: Timestamp,
    worker: Option<String>,
    /// When others were last told.
    told_at: Timestamp,
}

impl Polls {
    /// True: it is time that others are told.
    pub(crate) fn note(&self, queue: &Queue, worker: Option<&str>, now: Timestamp) -> bool {
        let mut polls = self.polls();
        let told_at = polls.get(queue).map_or(Timestamp::NOT_YET, |last| last.told_at);
        let is_news = now.since_ms(told_at) >= TOLD_EVERY_MS;
        let told_at = if is_news { now } else { told_at };
        let last = Poll { at: now, worker: worker.map(str::to_owned), told_at };
        polls.insert(queue.clone(), last);
        is_news
    }

    /// What other processes have seen.
    pub(crate) fn learn(&self, polled: Vec<Polled>) {
        let mut polls = self.polls();
        for Polled { queue, worker, at } in polled {
            let told_at = polls.get(&queue).map_or(Timestamp::NOT_YET, |last| last.told_at);
            if polls.get(&queue).is_none_or(|last| last.at < at) {
                polls.insert(queue, Poll { at, worker, told_at });
            }
        }
    }

    fn polls(&self) -> MutexGuard<'_, BTreeMap<Queue, Poll>> {
        let mut polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if polls.len() >= QUEUES_MAX {
            let latest = polls.values().map(|last| last.at).max().unwrap_or_default();
            polls.retain(|_, last| latest.since_ms(last.at) < ACTIVE_MS);
        }
        polls
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
