//! # Requests with a key: asked again, they are answered again and done once
//!
//! Contract: docs/reference/idempotency.md#request-keys.
//! While such a request is served, everything it submits is a numbered [`Step`] of it.
//! The commit that does a step also keeps, under the request's key, what it was answered; a step that
//! is found there is not done again. Once the whole request has been answered, that answer is kept
//! too, and the same request never comes this far any more.
//!
//! A process that dies in between leaves steps without an answer: served again, the request is told
//! what its steps were told, and goes on where it stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use semel_engine::RecordKey;
use semel_model::{Digest, ExecutionId, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedMutexGuard;

use crate::edits::Edited;
use crate::failure::Failure;
use crate::inbox::Class;
use crate::replays::Kept;
use crate::runtime::Runtime;
use crate::work::{Answer, Item, Work};
use crate::world::World;

/// How long the answer to a request is kept.
pub const REQUEST_KEY_MS: i64 = 24 * 3_600 * 1_000;

/// A request that named itself.
#[derive(Clone, Debug)]
pub struct RequestKey {
    pub(crate) key: RecordKey,
    pub(crate) fingerprint: Digest,
    /// Who asks, and by which request.
    pub(crate) by: String,
    pub(crate) request: String,
}

impl RequestKey {
    /// Keys of different callers have nothing to do with each other.
    pub fn new(principal: &str, key: &str, fingerprint: Digest, request: &str) -> Self {
        let key = RecordKey { scope: format!("req:{principal}"), key: key.to_owned() };
        Self { key, fingerprint, by: principal.to_owned(), request: request.to_owned() }
    }

    /// The first step shares the record of the request itself.
    pub(crate) fn step(&self, number: u32) -> RecordKey {
        match number {
            1 => self.key.clone(),
            _ => RecordKey {
                scope: format!("step:{}", self.by),
                key: format!("{number}#{}", self.key.key),
            },
        }
    }
}

/// An answer as it left the door.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredAnswer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

/// One request with a key, being served.
#[derive(Debug)]
pub struct KeyedRequest {
    pub(crate) named: RequestKey,
    pub(crate) expires_at: Timestamp,
    /// It was begun before: what its steps were answered is looked for.
    resumed: bool,
    next: AtomicU32,
    done: Mutex<BTreeSet<u32>>,
    recalled: AtomicBool,
    overtaken: AtomicBool,
}

tokio::task_local! {
    static REQUEST: Arc<KeyedRequest>;
}

impl KeyedRequest {
    /// `begun_until`: it was begun before, and is known until then.
    pub fn new(named: RequestKey, now: Timestamp, begun_until: Option<Timestamp>) -> Self {
        Self {
            named,
            expires_at: begun_until.unwrap_or_else(|| now.plus_ms(REQUEST_KEY_MS)),
            resumed: begun_until.is_some(),
            next: AtomicU32::new(1),
            done: Mutex::default(),
            recalled: AtomicBool::new(false),
            overtaken: AtomicBool::new(false),
        }
    }

    /// Serves it: whatever is submitted meanwhile is a step of it.
    pub async fn serve<T>(self: &Arc<Self>, serving: impl Future<Output = T>) -> T {
        REQUEST.scope(Arc::clone(self), serving).await
    }

    pub fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Something of it is done, now or earlier.
    pub fn has_steps(&self) -> bool {
        !self.done().is_empty()
    }

    /// Something of it had been done before.
    pub fn is_recalled(&self) -> bool {
        self.recalled.load(Ordering::Relaxed)
    }

    /// It was answered elsewhere meanwhile: whatever serving it here has led to is no answer.
    pub fn is_overtaken(&self) -> bool {
        self.overtaken.load(Ordering::Relaxed)
    }

    pub(crate) fn overtake(&self) {
        self.overtaken.store(true, Ordering::Relaxed);
    }

    /// Somebody answers for it from what is known of its first step.
    pub fn answer_for(&self) {
        self.done().insert(1);
        self.recall();
    }

    pub(crate) fn recall(&self) {
        self.recalled.store(true, Ordering::Relaxed);
    }

    /// Records of its steps besides its own.
    pub(crate) fn further_steps(&self) -> Vec<RecordKey> {
        self.done().iter().filter(|it| **it > 1).map(|it| self.named.step(*it)).collect()
    }

    fn done(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One thing that a request with a key submits.
#[derive(Clone, Debug)]
pub struct Step {
    pub(crate) request: Arc<KeyedRequest>,
    number: u32,
    /// What is known of it besides its answer.
    pub(crate) edited: Option<Edited>,
}

impl Step {
    /// The next one of the request that is being served, if that has a key.
    pub fn next() -> Option<Self> {
        let request = REQUEST.try_with(Arc::clone).ok()?;
        let number = request.next.fetch_add(1, Ordering::Relaxed);
        Some(Self { request, number, edited: None })
    }

    /// Whether the request that is being served has a key.
    pub fn is_numbered() -> bool {
        REQUEST.try_with(|_| ()).is_ok()
    }

    /// Steps are counted on from here: those of one item do not depend on how the others went.
    pub fn turn_to(item: usize, steps_each: u32) {
        let first = u32::try_from(item).unwrap_or(u32::MAX).saturating_mul(steps_each);
        let first = first.saturating_add(1);
        let _ = REQUEST.try_with(|request| request.next.store(first, Ordering::Relaxed));
    }

    /// What [`Step::next`] will be.
    pub fn peek() -> Option<Self> {
        let request = REQUEST.try_with(Arc::clone).ok()?;
        let number = request.next.load(Ordering::Relaxed);
        Some(Self { request, number, edited: None })
    }

    pub(crate) fn editing(&self, edited: Edited) -> Self {
        Self { edited: Some(edited), ..self.clone() }
    }

    pub(crate) fn key(&self) -> RecordKey {
        self.request.named.step(self.number)
    }

    pub(crate) fn note_done(&self) {
        self.request.done().insert(self.number);
    }
}

/// A fresh id; of a request with a key always the same.
pub fn request_id() -> ExecutionId {
    let derived = REQUEST.try_with(|request| {
        let RequestKey { key, fingerprint, .. } = &request.named;
        let parts = [key.scope.as_bytes(), key.key.as_bytes(), fingerprint.as_bytes().as_slice()];
        let mut first = [0; 16];
        first.copy_from_slice(&Digest::of_parts(parts).as_bytes()[..16]);
        ExecutionId::from_bytes(first)
    });
    derived.unwrap_or_else(|_| ExecutionId::draw())
}

/// What is known of a request.
#[derive(Debug)]
pub enum Looked {
    New,
    /// Something of it was done, and nobody knows what was answered.
    Begun {
        /// The run it started, if it started one.
        run: Option<ExecutionId>,
        expires_at: Timestamp,
    },
    Answered {
        answer: StoredAnswer,
        expires_at: Timestamp,
    },
}

/// What became of an answer that was to be kept.
#[derive(Debug)]
pub enum Settled {
    Kept,
    /// The request was answered before, with this.
    Before(StoredAnswer),
    /// Somebody else has begun it meanwhile.
    Begun,
}

/// An answer to keep.
pub struct Settlement {
    pub(crate) request: Arc<KeyedRequest>,
    pub(crate) answer: StoredAnswer,
}

/// Requests with a key that are being served, each by one at a time.
#[derive(Default)]
pub(crate) struct Requests(Mutex<BTreeMap<RecordKey, Arc<tokio::sync::Mutex<()>>>>);

impl Requests {
    fn running(&self) -> MutexGuard<'_, BTreeMap<RecordKey, Arc<tokio::sync::Mutex<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whoever is the last to leave turns off the light.
    fn leave(&self, key: &RecordKey) {
        let mut running = self.running();
        if running.get(key).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            running.remove(key);
        }
    }
}

/// Held while a request is served, until its answer is kept.
pub struct RequestTurn {
    requests: Arc<Requests>,
    key: RecordKey,
    turn: Option<OwnedMutexGuard<()>>,
}

impl Drop for RequestTurn {
    fn drop(&mut self) {
        drop(self.turn.take());
        self.requests.leave(&self.key);
    }
}

impl Runtime {
    /// Waits while the same request is being served. None: it still is.
    pub async fn request_turn(&self, named: &RequestKey, wait: Duration) -> Option<RequestTurn> {
        let key = named.key.clone();
        let turn = Arc::clone(self.requests.running().entry(key.clone()).or_default());
        let mut held = RequestTurn { requests: Arc::clone(&self.requests), key, turn: None };
        held.turn = Some(tokio::time::timeout(wait, turn.lock_owned()).await.ok()?);
        Some(held)
    }

    /// One committed read. Another request under the same key is refused.
    pub async fn look_for_request(&self, named: &RequestKey) -> Result<Looked, Failure> {
        let named = named.clone();
        self.blocking(move |world| {
            let record = world.store.record(&named.key)?;
            let now = world.store.now();
            let Some(kept) = Kept::live(record.as_ref(), now)? else { return Ok(Looked::New) };
            kept.check(world, &named)?;
            let expires_at = kept.expires_at;
            let run = kept.run();
            Ok(match kept.answer {
                Some(answer) => Looked::Answered { answer, expires_at },
                None => Looked::Begun { run, expires_at },
            })
        })
        .await
    }

    /// What that step was answered when it was done before.
    pub async fn recalled(&self, step: Option<&Step>) -> Result<Option<Answer>, Failure> {
        let Some(step) = step.filter(|step| step.request.resumed).cloned() else { return Ok(None) };
        let asked = step.clone();
        let (answer, is_over) = self.blocking(move |world| world.recall(&asked)).await?;
        if is_over {
            step.request.overtake();
            return Err(Failure::Unavailable);
        }
        if answer.is_some() {
            step.note_done();
            step.request.recall();
        }
        Ok(answer)
    }

    /// Keeps the answer to a request of which nothing was done: until that is durable, it may be
    /// told to nobody.
    pub async fn settle_request(
        &self,
        request: &Arc<KeyedRequest>,
        answer: StoredAnswer,
    ) -> Result<Settled, Failure> {
        let settlement = Settlement { request: Arc::clone(request), answer };
        match self.submit_as(None, Work::Settle(Box::new(settlement)), Class::Report).await? {
            Answer::Settled(settled) => Ok(settled),
            _ => Err(Failure::Unavailable),
        }
    }

    /// Keeps the answer to a request whose steps are kept already. Nobody has to wait for it but the
    /// same request.
    pub fn settle_request_soon(
        &self,
        request: &Arc<KeyedRequest>,
        answer: StoredAnswer,
        turn: RequestTurn,
    ) {
        let settlement = Settlement { request: Arc::clone(request), answer };
        let work = Work::Settle(Box::new(settlement));
        self.inboxes.push(Item::new(work, Box::new(move |_| drop(turn))));
    }
}

impl World {
    /// What a step was answered, or whether the whole request was: then its steps are forgotten. In
    /// this order, since both change by one commit.
    fn recall(&self, step: &Step) -> Result<(Option<Answer>, bool), Failure> {
        let named = &step.request.named;
        let known = |key: &RecordKey| {
            let record = self.store.record(key)?;
            let kept = Kept::live(record.as_ref(), self.store.now())?;
            kept.map(|kept| kept.check(self, named).map(|()| kept)).transpose()
        };
        match known(&step.key())?.and_then(Kept::answered) {
            Some(answer) => Ok((Some(answer), false)),
            None => Ok((None, known(&named.key)?.is_some_and(|kept| kept.answer.is_some()))),
        }
    }
}
