//! # The network: requests on their way, doubled, delayed, lost
//!
//! A request that is not answered in time is sent again by its sender, as every SDK does.

use std::sync::{Arc, Mutex};

use semel_engine::{Event, Pinned, Queue, Start, StartKey, Token};
use semel_model::{ExecutionId, IdempotencyStrategy, Payload, Timestamp};
use semel_runtime::{
    Answer, Claim, EventWork, Failure, Item, Next, Renewal, Reply, StartWork, Waiting, Work,
};

/// Something a client wants, in a form that can be sent twice.
#[derive(Clone)]
pub(crate) enum Request {
    Start {
        definition: Arc<Pinned>,
        key: String,
    },
    Event {
        execution: ExecutionId,
        event: Box<Event>,
        payload: Option<Payload>,
        next: Option<Next>,
    },
    Claim {
        queue: Queue,
        worker: String,
        token: Token,
        named: bool,
        wait_ms: i64,
    },
    Renew(Renewal),
}

impl Request {
    /// `id` is the server's draw for a start: each delivery has its own.
    pub(crate) fn item(&self, id: ExecutionId, now: Timestamp, reply: Reply) -> Item {
        let work = match self {
            Self::Start { definition, key } => Work::Start(Box::new(StartWork {
                id,
                definition: Arc::clone(definition),
                found_in: None,
                start: Start {
                    definition: definition.digest(),
                    idempotency_key: Some(key.clone()),
                    ..Start::default()
                },
                input: Payload::empty(),
                key: Some(StartKey::new(key, IdempotencyStrategy::ReturnExisting)),
                principal: "anonymous".to_owned(),
                event_id: String::new(),
            })),
            Self::Event { execution, event, payload, next } => Work::Event(Box::new(EventWork {
                execution: *execution,
                event: (**event).clone(),
                payloads: payload.iter().cloned().collect(),
                definition: None,
                actor: "sim".to_owned(),
                event_id: String::new(),
                next: next.clone(),
                logs: Vec::new(),
            })),
            Self::Claim { queue, worker, token, named, wait_ms } => Work::Claim(Claim {
                queue: queue.clone(),
                worker: Some(worker.clone()),
                count: 1,
                passed_over: Arc::default(),
                token: *token,
                named: *named,
                wait_until: now.plus_ms(*wait_ms),
                waiting: Arc::new(Waiting::default()),
            }),
            Self::Renew(renewal) => Work::Renew(renewal.clone()),
        };
        Item::new(work, reply)
    }
}

/// Who sent a request, to find its answer again.
pub(crate) type Call = u64;

/// Answers that have left a lane and not yet reached their client.
#[derive(Clone, Default)]
pub(crate) struct Answers(Arc<Mutex<Vec<Heard>>>);

/// An answer and whose it is.
pub(crate) type Heard = (Call, Result<Answer, Failure>);

impl Answers {
    pub(crate) fn reply(&self, call: Call) -> Reply {
        let answers = self.clone();
        Box::new(move |answer| answers.0.lock().expect("one thread").push((call, answer)))
    }

    /// Takes one, in any order.
    pub(crate) fn take(&self, pick: impl FnOnce(usize) -> usize) -> Option<Heard> {
        let mut answers = self.0.lock().expect("one thread");
        if answers.is_empty() {
            return None;
        }
        let at = pick(answers.len());
        Some(answers.swap_remove(at))
    }
}
