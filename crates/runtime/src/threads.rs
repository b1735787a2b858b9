//! # Threads: what drives the lanes of a real server
//!
//! One thread per lane, one that loads executions for all of them, and one that keeps the index.
//! They stop when told, or when a lane is down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use semel_model::{ExecutionId, Timestamp};

use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::indexer::Indexer;
use crate::lane::Lane;
use crate::timers::LOOK_EVERY;
use crate::work::{Item, Work};
use crate::world::World;

/// While deadlines are armed the store notes this often that it is alive; a downtime is credited to
/// open leases from the last note on.
const ALIVE_MS: i64 = 2_000;

/// The longest sleep between two looks at the timers.
const SLEEP_MAX: Duration = Duration::from_millis(500);

/// Which of the threads keeps the index.
const INDEXER: usize = 2;

pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    inbox: Arc<Inbox>,
    world: Arc<World>,
    handles: Mutex<Vec<JoinHandle<()>>>,
}

impl Threads {
    pub(crate) fn start(lane: Lane, world: Arc<World>, inbox: Arc<Inbox>, down: fn()) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (to_load, loads) = channel();
        let driver = Driver {
            lane,
            world: Arc::clone(&world),
            inbox: Arc::clone(&inbox),
            to_load,
            stop: Arc::clone(&stop),
        };
        let loaded = Arc::clone(&inbox);
        let indexer = Indexer::new(Arc::clone(&world));
        let indexed = Arc::clone(&world);
        let lane_guard = Guard { inbox: Arc::clone(&inbox), down };
        let load_guard = Guard { inbox: Arc::clone(&inbox), down };
        let handles = vec![
            std::thread::spawn(move || {
                let _guard = lane_guard;
                driver.run(down);
            }),
            std::thread::spawn(move || {
                let _guard = load_guard;
                load(&loads, &world, &loaded);
            }),
            std::thread::spawn(move || indexer.run()),
        ];
        Self { stop, inbox, world: indexed, handles: Mutex::new(handles) }
    }

    /// Stops after the round under way; what waits stays unanswered.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.inbox.nudge();
        // The lane first: what it marks last is still indexed.
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        for (at, handle) in handles.drain(..).enumerate() {
            if at == INDEXER {
                self.world.dirty.stop();
            }
            if handle.join().is_err() {
                tracing::error!("a thread of the runtime panicked");
            }
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A thread of the runtime that panics takes the server down with it: callers must not wait for
/// answers that nobody will give.
struct Guard {
    inbox: Arc<Inbox>,
    down: fn(),
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.inbox.close();
            (self.down)();
        }
    }
}

struct Driver {
    lane: Lane,
    world: Arc<World>,
    inbox: Arc<Inbox>,
    to_load: Sender<(Item, ExecutionId)>,
    stop: Arc<AtomicBool>,
}

impl Driver {
    fn run(mut self, down: fn()) {
        while !self.stop.load(Ordering::Acquire) {
            self.lane.look_at_timers();
            self.beat();
            match self.lane.step() {
                Ok(stepped) => {
                    for load in stepped.prefetch {
                        self.inbox.lend();
                        // The loader lives as long as this sender.
                        let _ = self.to_load.send(load);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the lane is down");
                    down();
                    break;
                }
            }
            if !self.lane.has_work() {
                let until = self.next_look();
                self.inbox.wait(self.nap(until), until);
            }
        }
        self.inbox.close();
        self.world.waiters.clear();
    }

    fn nap(&self, until: Timestamp) -> Duration {
        let next = until.since_ms(self.world.store.now()).max(0);
        let most = if self.world.store.is_shared() { LOOK_EVERY } else { SLEEP_MAX };
        let nap = most.min(Duration::from_millis(u64::try_from(next).unwrap_or(0)));
        self.lane.next_release().map_or(nap, |release| nap.min(release))
    }

    /// When a timer comes due or the next note of being alive, whichever is first.
    fn next_look(&self) -> Timestamp {
        let beat = self.beat_at().unwrap_or(Timestamp::from_ms(i64::MAX));
        self.lane.next_look().map_or(beat, |timer| timer.min(beat))
    }

    /// Also while the store refuses writes: the first note that it takes again ends the trouble.
    fn beat_at(&self) -> Option<Timestamp> {
        let notable = self.world.trouble().is_some() || !self.world.hits.is_empty();
        let wanted = self.lane.is_armed() || notable;
        wanted.then(|| self.lane.last_try().plus_ms(ALIVE_MS))
    }

    fn beat(&self) {
        let now = self.world.store.now();
        if self.beat_at().is_some_and(|at| at <= now) && !self.lane.has_work() {
            self.inbox.push(Item::unasked(Work::Beat));
        }
    }
}

/// Brings executions into memory and sends their items back to the lane.
fn load(loads: &Receiver<(Item, ExecutionId)>, world: &World, inbox: &Inbox) {
    while let Ok((item, id)) = loads.recv() {
        let failure = match world.prefetch(id) {
            Ok(Some(_)) => {
                inbox.take_back(Some(item));
                continue;
            }
            Ok(None) => Failure::NoExecution(id.to_string()),
            Err(failure) => {
                tracing::error!(%failure, execution = %id, "an execution cannot be loaded");
                failure
            }
        };
        (item.reply)(Err(failure));
        inbox.take_back(None);
    }
}
