//! # The mailbox: what was posted to a run and waits for a task to pull it
//!
//! First in, first out. It is bounded, nothing in it lasts longer than a day, and what nobody pulled
//! goes when the run ends. Ids that senders give to their messages are known again, so that a
//! message posted twice is there once.

use std::sync::{Arc, LazyLock};

use imbl::{OrdMap, Vector};
use jiff::Timestamp as Moment;
use semel_model::{Digest, ExecutionId, Payload, Timestamp};
use serde::{Deserialize, Serialize};

use crate::execution::Execution;

/// Messages that wait at once, and the bytes of all of them; so many fit into one output.
pub(crate) const MESSAGES_MAX: usize = 1_000;
pub(crate) const MAILBOX_BYTES_MAX: usize = 8 * 1024 * 1024;

/// One message.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// A message older than this is as good as gone.
const LASTS_MS: i64 = 24 * 60 * 60 * 1000;

/// Ids of senders that are known again: the latest of them.
const IDS_MAX: usize = 10_000;

#[derive(Clone, Debug, Default)]
pub(crate) struct Mailbox {
    /// Oldest first, also after some were given back.
    waiting: Vector<Posted>,
    /// What senders' ids stand for, pulled or not, and in which order they came.
    known: OrdMap<Arc<str>, Digest>,
    order: Vector<Arc<str>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Posted {
    pub(crate) id: Arc<str>,
    pub(crate) payload: Payload,
    pub(crate) received_at: Timestamp,
}

/// A message as the output of a task tells it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    id: Arc<str>,
    workflow_id: String,
    payload: Payload,
    /// `2026-01-31T10:30:00Z`.
    received_at: String,
}

#[derive(Default, Serialize, Deserialize)]
struct Pulled {
    messages: Vec<Told>,
    count: usize,
}

impl Mailbox {
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// In bytes, about; `item_bytes` is what one item takes without its text.
    pub(crate) fn weight(&self, item_bytes: u64) -> u64 {
        let items = (self.waiting.len() + self.known.len()) as u64;
        let texts: usize = self.waiting.iter().map(|posted| posted.payload.len()).sum();
        items * item_bytes + texts as u64
    }

    /// What a sender has posted under this id before.
    pub(crate) fn known(&self, id: &str) -> Option<Digest> {
        self.known.get(id).copied()
    }

    /// How many at the front are too old.
    pub(crate) fn stale(&self, now: Timestamp) -> usize {
        let is_stale = |posted: &&Posted| now.since_ms(posted.received_at) >= LASTS_MS;
        self.waiting.iter().take_while(is_stale).count()
    }

    /// Whether another one of so many bytes fits, behind those that are not too old.
    pub(crate) fn has_room(&self, bytes: usize, now: Timestamp) -> bool {
        let fresh = self.waiting.iter().skip(self.stale(now));
        let (count, sum) =
            fresh.fold((0, bytes), |(count, sum), it| (count + 1, sum + it.payload.len()));
        count < MESSAGES_MAX && sum <= MAILBOX_BYTES_MAX
    }

    /// The first of those that are not too old: at most so many, and no more than an output holds.
    pub(crate) fn first(&self, count: usize, now: Timestamp) -> Vec<Posted> {
        let mut bytes = 0;
        let fits = |posted: &&Posted| {
            let is_first = bytes == 0;
            bytes += posted.payload.len();
            is_first || bytes <= MAILBOX_BYTES_MAX
        };
        self.waiting.iter().skip(self.stale(now)).take(count).take_while(fits).cloned().collect()
    }

    pub(crate) fn post(&mut self, posted: Posted, is_named: bool) {
        if is_named {
            let digest = Digest::of(posted.payload.text().as_bytes());
            self.known.insert(Arc::clone(&posted.id), digest);
            self.order.push_back(Arc::clone(&posted.id));
            if self.order.len() > IDS_MAX
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
        self.waiting.push_back(posted);
    }

    /// The first so many are taken out.
    pub(crate) fn take(&mut self, count: usize) {
        self.waiting = self.waiting.skip(count.min(self.waiting.len()));
    }

    /// What a task pulled waits again, in front of all others.
    pub(crate) fn give_back(&mut self, output: &Payload) {
        let pulled: Pulled = serde_json::from_str(output.text()).unwrap_or_default();
        for told in pulled.messages.into_iter().rev() {
            // Whoever ended the task by hand may have written anything.
            let Ok(moment) = told.received_at.parse::<Moment>() else { continue };
            let received_at = Timestamp::from_ms(moment.as_millisecond());
            self.waiting.push_front(Posted { id: told.id, payload: told.payload, received_at });
        }
    }

    /// The run is over. What nobody pulled may be posted again when it lives again.
    pub(crate) fn close(&mut self) {
        for posted in std::mem::take(&mut self.waiting) {
            self.known.remove(&posted.id);
        }
        let known = &self.known;
        self.order.retain(|id| known.contains_key(id));
    }
}

impl Execution {
    pub(crate) fn mailbox(&self) -> &Mailbox {
        static EMPTY: LazyLock<Mailbox> = LazyLock::new(Mailbox::default);
        self.mailbox.as_deref().unwrap_or(&EMPTY)
    }

    /// Somebody has posted something, now or earlier.
    pub(crate) fn has_mail(&self) -> bool {
        self.mailbox.is_some()
    }

    /// How many messages wait to be pulled.
    pub fn messages_waiting(&self) -> usize {
        self.mailbox().len()
    }
}

fn moment(at: Timestamp) -> String {
    Moment::from_millisecond(at.ms()).unwrap_or_default().to_string()
}

/// What a task tells that pulled these.
pub(crate) fn told(run: ExecutionId, pulled: Vec<Posted>) -> Payload {
    let count = pulled.len();
    let tell = |posted: Posted| Told {
        id: posted.id,
        workflow_id: run.to_string(),
        payload: posted.payload,
        received_at: moment(posted.received_at),
    };
    let pulled = Pulled { messages: pulled.into_iter().map(tell).collect(), count };
    let text = serde_json::to_string(&pulled).expect("messages are plain data");
    Payload::from_text(text).expect("what was just written is JSON")
}
