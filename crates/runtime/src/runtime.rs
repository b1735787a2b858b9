//! # The runtime as the door sees it
//!
//! Submits work and waits for its answer. A request whose answer never comes (the process is going
//! down) fails as unavailable: whoever asks again learns the truth.

use std::sync::Arc;
use std::time::Duration;

use semel_engine::{Queue, Ruled, Token};
use semel_model::{Digest, ExecutionId, Timestamp};
use semel_store::{Polled, Store, StoreError};
use tokio::sync::{Semaphore, oneshot};

use crate::failure::Failure;
use crate::health::Health;
use crate::held_up::HeldUp;
use crate::inbox::Class;
use crate::inboxes::Inboxes;
use crate::lane::Lane;
use crate::outside;
use crate::reading::Snapshot;
use crate::requests::{Requests, Step};
use crate::sabotage::Sabotage;
use crate::threads::Threads;
use crate::verify::{Verdict, verify};
use crate::waiters::Waiting;
use crate::work::{Answer, Claim, HandedOut, Item, Poll, Work};
use crate::world::World;

/// Searches and rehearsals at one time: they take long, and others read too.
const LOOKS_AT_ONCE: usize = 2;

/// Who asks how it is wants to know soon.
const HEALTH_WITHIN: Duration = Duration::from_secs(3);

/// How long one may wait for its turn.
const TURN_WITHIN: Duration = Duration::from_secs(5);

/// Waits of this length and longer may end early, by less than the interval at which they end.
const LONG_WAIT_MS: i64 = 1_000;
const WAITS_END_EVERY_MS: i64 = 100;

pub struct Runtime {
    world: Arc<World>,
    looks: Semaphore,
    pub(crate) inboxes: Inboxes,
    pub(crate) requests: Arc<Requests>,
    threads: Threads,
}

#[derive(Clone, Copy)]
pub struct Settings {
    pub sabotage: Sabotage,
    /// How long runs are kept after their end; none: for ever.
    pub retention_ms: Option<i64>,
    /// Open descendants of one root, at most; none: as many as begin.
    pub descendants_max: Option<u64>,
    /// Rounds at one time. More than one needs a store in which rows are held against each other.
    pub lanes: u16,
    /// Called when a commit's outcome cannot be known; a server ends its process here.
    pub down: fn(),
}

impl Default for Settings {
    fn default() -> Self {
        let down = || std::process::exit(70);
        Self { sabotage: Sabotage::None, retention_ms: None, descendants_max: None, lanes: 1, down }
    }
}

impl Runtime {
    pub fn open(store: Arc<dyn Store>, settings: Settings) -> Result<Self, StoreError> {
        Self::over(World::new(store), settings)
    }

    pub fn over(world: World, settings: Settings) -> Result<Self, StoreError> {
        let world = world.keeping(settings.retention_ms);
        let world = Arc::new(world.limiting_descendants(settings.descendants_max));
        let lanes = 0..settings.lanes.max(1);
        let inboxes = Inboxes::of(lanes.clone().map(|_| Arc::default()));
        let lanes = lanes.zip(inboxes.iter()).map(|(number, inbox)| {
            let (world, inbox) = (Arc::clone(&world), Arc::clone(inbox));
            let lane = Lane::new(number, world, inbox, settings.sabotage)?;
            Ok(lane.among(inboxes.clone(), number == 0))
        });
        let lanes = lanes.collect::<Result<Vec<_>, StoreError>>()?;
        let threads = Threads::start(lanes, Arc::clone(&world), inboxes.clone(), settings.down);
        listen(&world, &inboxes);
        let (looks, requests) = (Semaphore::new(LOOKS_AT_ONCE), Arc::default());
        Ok(Self { world, looks, inboxes, requests, threads })
    }

    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    pub fn now(&self) -> Timestamp {
        self.world.store.now()
    }

    pub async fn submit(&self, work: Work, class: Class) -> Result<Answer, Failure> {
        self.submit_as(Step::next(), work, class).await
    }

    /// As that step of a request with a key: if it was done before, it is answered as it was then.
    pub async fn submit_as(
        &self,
        step: Option<Step>,
        mut work: Work,
        class: Class,
    ) -> Result<Answer, Failure> {
        outside::disarm_work(&mut work);
        if let Some(answer) = self.recalled(step.as_ref()).await? {
            return Ok(answer);
        }
        match &work {
            Work::Event(work) => self.ensure(work.execution).await?,
            Work::Remove(removal) => self.ensure(removal.id).await?,
            // What a request with a key was told is kept by a round.
            Work::Start(start) if step.is_none() => {
                if let Some(answer) = self.world.known_start(start)? {
                    return answer;
                }
            }
            _ => {}
        }
        let renews = matches!(&work, Work::Call(call) if call.asks.renews());
        let (send, receive) = oneshot::channel();
        let reply = Box::new(move |answer| {
            let _ = send.send(answer); // The caller may be gone; what was done stays done.
        });
        let item = Item { step: step.clone().map(Box::new), ..Item::new(work, reply) };
        let admitted = self.inboxes.to(&item.work).submit(item, class);
        if matches!(admitted, Err(Failure::Busy)) {
            self.world.meters.refused(class);
        }
        admitted?;
        let answer = receive.await.unwrap_or(Err(Failure::Unavailable))?;
        // Where nothing is kept under the step, its request is answered only once that answer is kept.
        let is_kept = |step: &Step| renews || changed(&answer) || step.request.is_recalled();
        if let Some(step) = step.filter(is_kept) {
            step.note_done();
        }
        Ok(answer)
    }

    /// Brings the execution into memory before its event enters the lane.
    async fn ensure(&self, id: ExecutionId) -> Result<(), Failure> {
        if self.world.cached(id).is_some() {
            return Ok(());
        }
        let found = self.blocking(move |world| world.prefetch(id)).await?;
        found.map(|_| ()).ok_or_else(|| Failure::NoExecution(id.to_string()))
    }

    /// Takes up to `count` tasks, waiting for one if there is none yet. A poll that brings a token
    /// re-receives what it was given under it; any other is new.
    pub async fn claim(
        &self,
        queue: Queue,
        worker: Option<String>,
        count: usize,
        token: Option<Token>,
        wait: Duration,
    ) -> Result<Vec<HandedOut>, Failure> {
        self.note_poll(&queue, worker.as_deref()).await?;
        let waiting = Arc::new(Waiting::default());
        let _listening = Listening(Arc::clone(&waiting));
        let wait_until = end_of_wait(self.now(), i64::try_from(wait.as_millis()).unwrap_or(0));
        let named = token.is_some();
        let token = token.unwrap_or_else(|| Digest::of(ExecutionId::draw().as_bytes()));
        let passed_over = Arc::default();
        let claim = Claim { queue, worker, count, token, named, wait_until, waiting, passed_over };
        claimed(self.submit(Work::Claim(claim), Class::Poll).await?)
    }

    /// The same for a worker of our own, which passes tasks over and may end its poll: it is then given
    /// nothing, or what it had been given by that moment.
    pub async fn claim_in_house(
        &self,
        poll: Poll,
        wait: Duration,
        ends: impl Future<Output = ()>,
    ) -> Result<Vec<HandedOut>, Failure> {
        let Poll { queue, worker, count, passed_over } = poll;
        self.note_poll(&queue, Some(worker)).await?;
        let waiting = Arc::new(Waiting::default());
        let _listening = Listening(Arc::clone(&waiting));
        let wait_until = end_of_wait(self.now(), i64::try_from(wait.as_millis()).unwrap_or(0));
        let (worker, named) = (Some(worker.to_owned()), false);
        let token = Digest::of(ExecutionId::draw().as_bytes());
        let listening = Arc::clone(&waiting);
        let claim = Claim { queue, worker, count, token, named, wait_until, waiting, passed_over };
        let polling = self.submit(Work::Claim(claim), Class::Poll);
        tokio::pin!(polling);
        tokio::select! {
            biased;
            answer = &mut polling => return claimed(answer?),
            () = ends => {}
        }
        match listening.give_up() {
            true => Ok(Vec::new()),
            false => claimed(polling.await?), // It is being served: what it is given is its own.
        }
    }

    /// Domain routing and people ask who polls.
    async fn note_poll(&self, queue: &Queue, worker: Option<&str>) -> Result<(), Failure> {
        let now = self.now();
        if self.world.polls.note(queue, worker, now) && self.world.store.is_shared() {
            let worker = worker.map(str::to_owned);
            let polled = Polled { queue: queue.clone(), worker, at: now };
            self.blocking(move |world| Ok(world.store.note_poll(&polled)?)).await?;
        }
        self.world.meters.polled(queue);
        Ok(())
    }

    /// What a worker of our own lets wait.
    pub fn held_up(&self) -> &HeldUp {
        &self.world.held_up
    }

    pub async fn read(&self, id: ExecutionId) -> Result<Option<Snapshot>, Failure> {
        self.blocking(move |world| world.read(id)).await
    }

    pub async fn verify(&self, id: ExecutionId) -> Result<Option<Verdict>, Failure> {
        self.blocking(move |world| verify(world, id)).await
    }

    /// Reads that may touch the disk stay off the threads that serve connections.
    pub async fn blocking<T: Send + 'static>(
        &self,
        read: impl FnOnce(&World) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let world = Arc::clone(&self.world);
        let request = tracing::Span::current(); // What is logged there names the request too.
        let read = move || request.in_scope(|| read(&world));
        let done = tokio::task::spawn_blocking(read).await;
        done.unwrap_or(Err(Failure::Unavailable))
    }

    /// A start that did not reach the lane. Its name is only told if something is registered by it.
    pub fn start_failed(&self, name: &str) {
        let known = self.world.definitions.for_start(name, None);
        let name = if matches!(known, Ok(Some(_))) { name } else { "unknown" };
        self.world.meters.start_failed(name);
    }

    /// Hears of definitions that were registered elsewhere.
    pub async fn look_for_definitions(&self) -> Result<(), Failure> {
        self.blocking(|world| world.definitions.refresh()).await
    }

    /// How this server is, part by part.
    pub async fn health(&self) -> Vec<Health> {
        let lane = Health::lane(self.is_down());
        let asked = self.blocking(|world| Ok(Health::store(world)));
        let store = match tokio::time::timeout(HEALTH_WITHIN, asked).await {
            Ok(store) => store.unwrap_or_else(|failure| Health::down("store", &failure)),
            Err(_) => Health::down("store", &"the store does not answer"),
        };
        vec![store, lane, Health::index(&self.world), Health::scripts(&self.world)]
    }

    /// Brings the gauges up to date.
    pub async fn observe(&self) -> Result<(), Failure> {
        let waiting = self.inboxes.len();
        self.blocking(move |world| world.observe(waiting)).await
    }

    /// For what may take long: few at a time, so that the rest can be served beside them.
    pub(crate) async fn in_turn<T: Send + 'static>(
        &self,
        look: impl FnOnce(&World) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let turn = tokio::time::timeout(TURN_WITHIN, self.looks.acquire()).await;
        let Ok(Ok(_turn)) = turn else { return Err(Failure::Busy) };
        self.blocking(look).await
    }

    /// Moves the store's clock and lets the timers see it; tests only.
    pub async fn advance_ms(&self, ms: i64) -> Result<(), Failure> {
        self.world.store.clock().advance_ms(ms);
        self.submit(Work::Beat, Class::Report).await?;
        self.inboxes.nudge();
        Ok(())
    }

    /// Nothing waits in the lanes at this moment.
    pub fn is_idle(&self) -> bool {
        self.inboxes.len() == 0
    }

    /// Nothing waits, is under way or has come due: until somebody asks or time passes, nothing
    /// will change.
    pub fn is_quiet(&self) -> bool {
        self.inboxes.are_quiet(self.now())
    }

    /// A lane is gone; whatever is asked of this runtime is refused.
    pub fn is_down(&self) -> bool {
        self.inboxes.is_any_closed()
    }

    /// Answers parked polls with nothing, and who waits for a run with what is; finishes what has been accepted.
    pub fn drain(&self) {
        self.world.waiters.expire(Timestamp::from_ms(i64::MAX));
        self.world.watchers.close();
    }

    /// Stops the lanes after the rounds under way.
    pub fn stop(&self) {
        self.threads.stop();
    }
}

/// Whether a round keeps such an answer under its step: it does not where it only looked.
fn changed(answer: &Answer) -> bool {
    match answer {
        Answer::NotHeld => false,
        Answer::Ruled(verdict) => matches!(**verdict, Ruled::Started { .. } | Ruled::Noted(_)),
        _ => true,
    }
}

/// Polls that wait here are served soon after other processes have made something ready.
fn listen(world: &Arc<World>, inboxes: &Inboxes) {
    let (listening, inboxes) = (Arc::downgrade(world), inboxes.clone());
    world.store.on_hint(Box::new(move |queues| {
        if listening.upgrade().is_some_and(|world| world.waiters.hinted(&queues)) {
            inboxes.nudge_first();
        }
    }));
}

/// Long waits end together, a little early: one wake-up answers many polls, which then ask again at
/// one moment and are parked in one round. A fleet that waits costs little.
fn end_of_wait(now: Timestamp, wait_ms: i64) -> Timestamp {
    let end = now.plus_ms(wait_ms);
    let early_ms = if wait_ms < LONG_WAIT_MS { 0 } else { end.ms().rem_euclid(WAITS_END_EVERY_MS) };
    end.plus_ms(-early_ms)
}

/// A caller that goes away stops listening: no task is handed to nobody.
fn claimed(answer: Answer) -> Result<Vec<HandedOut>, Failure> {
    match answer {
        Answer::Claimed(tasks) => Ok(tasks),
        _ => Err(Failure::Unavailable),
    }
}

struct Listening(Arc<Waiting>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_waits_end_together_and_short_ones_when_they_say() {
        let at = |ms: i64, wait: i64| end_of_wait(Timestamp::from_ms(ms), wait).ms();
        assert_eq!((at(1_234, 100), at(1_234, 999)), (1_334, 2_233));
        assert_eq!((at(1_234, 5_000), at(1_299, 5_000), at(1_300, 5_000)), (6_200, 6_200, 6_300));
    }
}
