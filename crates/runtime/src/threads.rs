//! # Threads: what drives the lanes of a real server
//!
//! One thread per lane, one that loads executions for all of them, one that keeps the index, and one
//! that drops executions nobody asks for.
//! They stop when told, or when a lane is down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use semel_model::{ExecutionId, Timestamp};

use crate::cache::TICK_EVERY;
use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::inboxes::Inboxes;
use crate::indexer::Indexer;
use crate::lane::Lane;
use crate::timers::LOOK_EVERY;
use crate::work::Item;
use crate::world::World;

/// What was due when it was looked at and is so still was not told: another node holds it, or a lane is
/// behind with what it was told.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// While deadlines are armed the store notes this often that it is alive; a downtime is credited to
/// open leases from the last note on.
const ALIVE_MS: i64 = 2_000;

/// The longest sleep between two looks at the timers.
const SLEEP_MAX: Duration = Duration::from_millis(500);

pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    inboxes: Inboxes,
    world: Arc<World>,
    /// Those that change things.
    changing: Mutex<Vec<JoinHandle<()>>>,
    /// The one that indexes what they did, and the one that tidies the cache.
    following: Mutex<Vec<JoinHandle<()>>>,
}

/// What cannot be decided before that execution is in memory.
struct Load {
    item: Item,
    execution: ExecutionId,
    /// Where it comes back to.
    inbox: Arc<Inbox>,
}

impl Threads {
    pub(crate) fn start(lanes: Vec<Lane>, world: Arc<World>, inboxes: Inboxes, down: fn()) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (to_load, loads) = channel();
        let mut handles = Vec::new();
        for lane in lanes {
            let driver = Driver {
                inbox: Arc::clone(&lane.inbox),
                lane,
                world: Arc::clone(&world),
                inboxes: inboxes.clone(),
                to_load: to_load.clone(),
                stop: Arc::clone(&stop),
            };
            let guard = Guard { inboxes: inboxes.clone(), down };
            handles.push(std::thread::spawn(move || {
                let _guard = guard;
                driver.run(down);
            }));
        }
        let (loader, guard) = (Arc::clone(&world), Guard { inboxes: inboxes.clone(), down });
        handles.push(std::thread::spawn(move || {
            let _guard = guard;
            load(&loads, &loader);
        }));
        let indexer = Indexer::new(Arc::clone(&world));
        let indexing = std::thread::spawn(move || indexer.run());
        let (tidied, told) = (Arc::clone(&world), Arc::clone(&stop));
        let tidying = std::thread::spawn(move || tidy(&tidied, &told));
        let following = Mutex::new(vec![indexing, tidying]);
        Self { stop, inboxes, world, changing: Mutex::new(handles), following }
    }

    /// Stops after the rounds under way; what waits stays unanswered.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.inboxes.nudge();
        self.changing.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(join);
        // The lanes first: what they mark last is still indexed.
        self.world.dirty.stop();
        let mut following = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        following.iter().for_each(|handle| handle.thread().unpark());
        following.drain(..).for_each(join);
    }
}

fn join(handle: JoinHandle<()>) {
    if handle.join().is_err() {
        tracing::error!("a thread of the runtime panicked");
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
    inboxes: Inboxes,
    down: fn(),
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.inboxes.iter().for_each(|inbox| inbox.close());
            (self.down)();
        }
    }
}

struct Driver {
    lane: Lane,
    world: Arc<World>,
    inbox: Arc<Inbox>,
    inboxes: Inboxes,
    to_load: Sender<Load>,
    stop: Arc<AtomicBool>,
}

impl Driver {
    fn run(mut self, down: fn()) {
        while !self.stop.load(Ordering::Acquire) {
            self.lane.look_at_timers();
            self.beat();
            match self.lane.step() {
                Ok(stepped) => {
                    for (item, execution) in stepped.prefetch {
                        let inbox = Arc::clone(&self.inbox);
                        inbox.lend();
                        // The loader lives as long as this sender.
                        let _ = self.to_load.send(Load { item, execution, inbox });
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the lane is down");
                    down();
                    self.stop.store(true, Ordering::Release);
                    self.inboxes.nudge();
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
        let looks_often = self.world.store.is_shared() && self.lane.keeps_time;
        let most = if looks_often { LOOK_EVERY } else { SLEEP_MAX };
        let next = until.since_ms(self.world.store.now());
        let nap = match until <= self.lane.looked_at {
            true => LOOK_AGAIN,
            false => most.min(Duration::from_millis(u64::try_from(next).unwrap_or(0))),
        };
        self.lane.next_release().map_or(nap, |release| nap.min(release))
    }

    /// When a timer comes due or the next note of being alive, whichever is first.
    fn next_look(&self) -> Timestamp {
        let beat = self.beat_at().unwrap_or(Timestamp::from_ms(i64::MAX));
        self.lane.next_look().map_or(beat, |timer| timer.min(beat))
    }

    /// Also while the store refuses writes: the first note that it takes again ends the trouble.
    fn beat_at(&self) -> Option<Timestamp> {
        if !self.lane.keeps_time {
            return None;
        }
        let notable = self.world.trouble().is_some() || !self.world.hits.is_empty();
        let wanted = self.lane.is_armed() || notable;
        wanted.then(|| self.lane.last_try().plus_ms(ALIVE_MS))
    }

    /// Also while there is work, which need not commit anything.
    fn beat(&mut self) {
        let now = self.world.store.now();
        if self.beat_at().is_some_and(|at| at <= now) {
            self.lane.beat(now);
        }
    }
}

/// Until it is told to stop.
fn tidy(world: &World, stop: &AtomicBool) {
    let mut ticked = Instant::now();
    while !stop.load(Ordering::Acquire) {
        std::thread::park_timeout(TICK_EVERY);
        if ticked.elapsed() >= TICK_EVERY {
            ticked = Instant::now();
            world.executions.tick();
        }
    }
}

/// Brings executions into memory and sends their items back to their lanes.
fn load(loads: &Receiver<Load>, world: &World) {
    while let Ok(Load { item, execution, inbox }) = loads.recv() {
        let failure = match world.prefetch(execution) {
            Ok(Some(_)) => {
                inbox.take_back(Some(item));
                continue;
            }
            Ok(None) => Failure::NoExecution(execution.to_string()),
            Err(failure) => {
                tracing::error!(%failure, %execution, "an execution cannot be loaded");
                failure
            }
        };
        (item.reply)(Err(failure));
        inbox.take_back(None);
    }
}
