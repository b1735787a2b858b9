//! # HTTP: the worker that sends requests
//!
//! A poller of the queue `HTTP` like any other, with so many hands: one request each. While it waits
//! for an answer it renews its lease. When the server stops it takes nothing more, lets requests
//! finish for a while, and gives back or settles what is left.

mod call;

use std::sync::Arc;
use std::time::{Duration, Instant};

use semel_engine::Queue;
use semel_http::{Client, Settings};
use semel_runtime::{HandedOut, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::hand::Hand;
use call::Call;

/// What it is called in reports and tasks.
const WORKER: &str = "semel-http";

/// How long a poll for work waits.
const POLL_WAIT: Duration = Duration::from_secs(5);

/// Tasks taken with one poll.
const BATCH_MAX: usize = 32;

/// After a poll that was refused.
const REFUSED_FOR: Duration = Duration::from_millis(200);

/// How often parked polls are answered while it leaves.
const DRAIN_EVERY: Duration = Duration::from_millis(20);

/// A store that takes no reports must not keep a server from stopping.
const LEAVES_WITHIN: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub struct HttpSettings {
    pub client: Settings,
    /// Requests at one time.
    pub requests_max: usize,
}

/// What a worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Working,
    /// Takes nothing more.
    Closing,
    /// Lets go of what it holds.
    Leaving,
}

pub struct HttpWorker {
    runtime: Arc<Runtime>,
    phase: watch::Sender<Phase>,
    working: JoinHandle<()>,
}

impl HttpWorker {
    /// Begins to work, on the runtime of tokio that this is called on.
    pub fn start(runtime: Arc<Runtime>, settings: HttpSettings) -> Self {
        let (phase, watched) = watch::channel(Phase::Working);
        let client = Client::new(settings.client);
        let house = Arc::new(House { runtime: Arc::clone(&runtime), client });
        let working = tokio::spawn(work(house, settings.requests_max, watched));
        Self { runtime, phase, working }
    }

    /// By which it can be told to stop, from anywhere.
    pub fn closer(&self) -> Closer {
        Closer(self.phase.clone())
    }

    /// Returns when nothing is under way, which needs [`Closer::close`].
    pub async fn finished(&mut self) {
        let _ = (&mut self.working).await; // A worker that panicked is finished too.
    }

    /// Lets go of everything; returns when that is known, or cannot be made known.
    pub async fn leave(mut self) {
        let _ = self.phase.send(Phase::Leaving); // It may be gone already.
        let deadline = Instant::now() + LEAVES_WITHIN;
        while !self.working.is_finished() && Instant::now() < deadline {
            self.runtime.drain(); // Its own poll may be parked.
            let _ = tokio::time::timeout(DRAIN_EVERY, self.finished()).await;
        }
        self.working.abort(); // What it still holds ends with its lease.
    }
}

pub struct Closer(watch::Sender<Phase>);

impl Closer {
    /// Takes nothing more; what is under way goes on.
    pub fn close(&self) {
        self.0.send_if_modified(|phase| {
            let is_new = *phase == Phase::Working;
            *phase = (*phase).max(Phase::Closing);
            is_new
        });
    }
}

struct House {
    runtime: Arc<Runtime>,
    client: Client,
}

async fn work(house: Arc<House>, requests_max: usize, phase: watch::Receiver<Phase>) {
    let hands = Arc::new(Semaphore::new(requests_max));
    let mut calls = JoinSet::new();
    while *phase.borrow() == Phase::Working {
        let Some(mut free) = free_hands(&hands, phase.clone()).await else { break };
        for task in take(&house, free.num_permits()).await {
            let hand = Hand::new(Arc::clone(&house.runtime), task, WORKER);
            let call = Call { house: Arc::clone(&house), hand, phase: phase.clone() };
            let busy = free.split(1);
            calls.spawn(async move {
                call.run().await;
                drop(busy);
            });
        }
        while calls.try_join_next().is_some() {}
        if house.runtime.is_down() {
            break;
        }
    }
    while calls.join_next().await.is_some() {}
}

/// At least one; none: it is time to stop.
async fn free_hands(
    hands: &Arc<Semaphore>,
    mut phase: watch::Receiver<Phase>,
) -> Option<OwnedSemaphorePermit> {
    let mut free = tokio::select! {
        free = Arc::clone(hands).acquire_owned() => free.ok()?,
        () = reached(&mut phase, Phase::Closing) => return None,
    };
    let more = hands.available_permits().min(BATCH_MAX - 1);
    if let Ok(more) = Arc::clone(hands).try_acquire_many_owned(u32::try_from(more).unwrap_or(0)) {
        free.merge(more);
    }
    Some(free)
}

/// Also when nobody is left to say so.
async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) {
    let _ = phase.wait_for(|phase| *phase >= wanted).await;
}

async fn take(house: &House, count: usize) -> Vec<HandedOut> {
    let queue = Queue { task_type: "HTTP".to_owned(), domain: None };
    let worker = Some(WORKER.to_owned());
    match house.runtime.claim(queue, worker, count, None, POLL_WAIT).await {
        Ok(tasks) => tasks,
        Err(_) => {
            tokio::time::sleep(REFUSED_FOR).await;
            Vec::new()
        }
    }
}
