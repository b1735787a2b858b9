//! # Polls: which workers were here lately
//!
//! Kept in memory, told by every poll, empty or not. Domain routing asks here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use semel_engine::{Answer, Question, Queue};
use semel_model::Timestamp;

/// A domain counts as active this long after a poll.
const ACTIVE_MS: i64 = 10_000;

/// Queues remembered before those without a recent poll are forgotten.
const QUEUES_MAX: usize = 10_000;

#[derive(Default)]
pub(crate) struct Polls(Mutex<BTreeMap<Queue, Timestamp>>);

impl Polls {
    pub(crate) fn note(&self, queue: &Queue, now: Timestamp) {
        let mut polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if polls.len() >= QUEUES_MAX {
            polls.retain(|_, at| now.since_ms(*at) < ACTIVE_MS);
        }
        polls.insert(queue.clone(), now);
    }

    pub(crate) fn answer(&self, question: &Question, now: Timestamp) -> Answer {
        let polls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match question {
            Question::ActiveDomains { task_type, domains } => {
                let active = |domain: &&String| {
                    let queue =
                        Queue { task_type: task_type.clone(), domain: Some((*domain).clone()) };
                    polls.get(&queue).is_some_and(|at| now.since_ms(*at) < ACTIVE_MS)
                };
                let active: BTreeSet<_> = domains.iter().filter(active).cloned().collect();
                Answer::ActiveDomains(active)
            }
        }
    }
}
