//! # HTTP: the worker that sends requests
//!
//! A poller of the queue `HTTP` like any other, with so many [places](shares): one request each. While a
//! task waits for its place, and then for an answer, its lease is renewed. When the server stops it takes
//! nothing more, gives back what has not been sent, lets requests finish for a while, and gives back or
//! settles what is left.

mod call;
mod places;
mod shares;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use semel_engine::Queue;
use semel_http::{Client, Settings};
use semel_model::Digest;
use semel_runtime::{HandedOut, Poll, Runtime};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::hand::Hand;
use call::Call;
use places::Places;

/// What it is called in reports and tasks.
const WORKER: &str = "semel-http";

/// How long a poll for work waits.
const POLL_WAIT: Duration = Duration::from_secs(5);

/// The same while something is passed over: such a poll is often ended early.
const SHORT_WAIT: Duration = Duration::from_millis(500);

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
    /// Of one workflow, or to one host; 0: no more than are left free.
    pub share_max: usize,
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
        let places = Places::new(Arc::clone(&runtime), settings.requests_max, settings.share_max);
        let places = Arc::new(places);
        let house = Arc::new(House { runtime: Arc::clone(&runtime), client, places });
        let working = tokio::spawn(work(house, watched));
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
    places: Arc<Places>,
}

async fn work(house: Arc<House>, phase: watch::Receiver<Phase>) {
    let mut calls = JoinSet::new();
    let mut closing = phase.clone();
    while *phase.borrow() == Phase::Working {
        let (count, passed_over) = tokio::select! {
            room = house.places.room() => room,
            () = reached(&mut closing, Phase::Closing) => break,
        };
        for task in take(&house, count.min(BATCH_MAX), passed_over).await {
            let seat = house.places.take(&task);
            let hand = Hand::new(Arc::clone(&house.runtime), task, WORKER);
            let call = Call { house: Arc::clone(&house), hand, phase: phase.clone() };
            calls.spawn(call.run(seat));
        }
        while calls.try_join_next().is_some() {}
        if house.runtime.is_down() {
            break;
        }
    }
    while calls.join_next().await.is_some() {}
}

/// Also when nobody is left to say so.
async fn reached(phase: &mut watch::Receiver<Phase>, wanted: Phase) {
    let _ = phase.wait_for(|phase| *phase >= wanted).await;
}

/// Tasks of the queue, none of those definitions. The poll ends when one of them need not be passed over
/// any more.
async fn take(house: &House, count: usize, passed_over: BTreeSet<Digest>) -> Vec<HandedOut> {
    let queue = Queue { task_type: "HTTP".to_owned(), domain: None };
    let passed_over = Arc::new(passed_over);
    let ends = house.places.reconsidered(&passed_over);
    let poll = Poll { queue, worker: WORKER, count, passed_over: Arc::clone(&passed_over) };
    let wait = if passed_over.is_empty() { POLL_WAIT } else { SHORT_WAIT };
    match house.runtime.claim_in_house(poll, wait, ends).await {
        Ok(tasks) => tasks,
        Err(_) => {
            tokio::time::sleep(REFUSED_FOR).await;
            Vec::new()
        }
    }
}
