//! # A round that is decided but not written
//!
//! What goes out once it is, and what is told of it.

use std::time::{Duration, Instant};

use semel_engine::{Queue, RecordKey};
use semel_model::ExecutionId;
use semel_store::Place;

use crate::dirty::Overlay;
use crate::failure::Failure;
use crate::meters::Course;
use crate::round::Round;
use crate::work::{Answer, Item, Work};

pub(crate) type Replies = Vec<(Item, Result<Answer, Failure>)>;

/// A round that is decided but not written.
pub struct Prepared {
    pub(crate) round: Round,
    pub(crate) replies: Replies,
    pub(crate) parked: Vec<(Item, u64)>,
    pub(crate) prefetch: Vec<(Item, ExecutionId)>,
    /// What it writes of deliveries, for the index.
    pub(crate) overlays: Vec<(Place, Overlay)>,
    /// Records whose hits could ride with it.
    pub(crate) riding: Vec<RecordKey>,
    /// Locks that nobody has any more.
    pub(crate) unlocked: Vec<RecordKey>,
    pub(crate) began: Instant,
    /// Open as long as the round is; for whoever collects spans.
    _span: tracing::Span,
}

impl Prepared {
    pub(crate) fn new(round: Round, began: Instant, items: usize) -> Self {
        let _span = tracing::debug_span!("round", items);
        Self {
            round,
            replies: vec![],
            parked: vec![],
            prefetch: vec![],
            overlays: vec![],
            riding: vec![],
            unlocked: vec![],
            began,
            _span,
        }
    }

    /// Nothing of it could be decided.
    pub(crate) fn is_empty(&self) -> bool {
        self.replies.is_empty() && self.parked.is_empty() && self.prefetch.is_empty()
    }

    pub(crate) fn course(&self, outcome: &'static str, commit: Option<Duration>) -> Course {
        let items = self.replies.len() + self.parked.len() + self.prefetch.len();
        Course { outcome, items, took: self.began.elapsed(), commit }
    }

    /// Polls of this round that found nothing in the queue, with what they saw of it.
    pub(crate) fn take_parked(&mut self, queue: &Queue) -> Vec<(Item, Option<u64>)> {
        let of_queue = |(item, _): &mut (Item, u64)| match &item.work {
            Work::Claim(claim) => claim.queue == *queue,
            _ => false,
        };
        self.parked.extract_if(.., of_queue).map(|(item, seen)| (item, Some(seen))).collect()
    }
}
