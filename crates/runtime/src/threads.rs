//! # Threads: what drives the lanes of a real server
//!
//! One thread per lane and one that loads executions for all of them. They stop when told, or when
//! a lane is down.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::lane::Lane;
use crate::work::{Item, Work};
use crate::world::World;

/// While deadlines are armed the store notes this often that it is alive; a downtime is credited to
/// open leases from the last note on.
const ALIVE_MS: i64 = 2_000;

/// The longest sleep between two looks at the timers.
const SLEEP_MAX: Duration = Duration::from_millis(500);

pub(crate) struct Threads {
    stop: Arc<AtomicBool>,
    inbox: Arc<Inbox>,
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
        let handles = vec![
            std::thread::spawn(move || driver.run(down)),
            std::thread::spawn(move || load(&loads, &world, &loaded)),
        ];
        Self { stop, inbox, handles: Mutex::new(handles) }
    }

    /// Stops after the round under way; what waits stays unanswered.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.inbox.nudge();
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        for handle in handles.drain(..) {
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

struct Driver {
    lane: Lane,
    world: Arc<World>,
    inbox: Arc<Inbox>,
    to_load: Sender<Item>,
    stop: Arc<AtomicBool>,
}

impl Driver {
    fn run(mut self, down: fn()) {
        while !self.stop.load(Ordering::Acquire) {
            self.lane.look_at_timers();
            self.beat();
            match self.lane.step() {
                Ok(stepped) => {
                    for item in stepped.prefetch {
                        // The loader lives as long as this sender.
                        let _ = self.to_load.send(item);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "the lane is down");
                    down();
                    break;
                }
            }
            if !self.lane.has_work() {
                self.inbox.wait(self.nap());
            }
        }
        self.inbox.close();
        self.world.waiters.clear();
    }

    fn nap(&self) -> Duration {
        let now = self.world.store.now();
        let next = self.lane.next_look().map_or(i64::MAX, |at| at.since_ms(now).max(0));
        SLEEP_MAX.min(Duration::from_millis(u64::try_from(next).unwrap_or(0)))
    }

    fn beat(&self) {
        let silent_ms = self.world.store.now().since_ms(self.lane.last_commit());
        if silent_ms > ALIVE_MS && self.lane.is_armed() && !self.lane.has_work() {
            self.inbox.push(Item::unasked(Work::Beat));
        }
    }
}

/// Brings executions into memory and sends their items back to the lane.
fn load(loads: &Receiver<Item>, world: &World, inbox: &Inbox) {
    while let Ok(item) = loads.recv() {
        let id = match &item.work {
            Work::Event(work) => work.execution,
            Work::Lift(id) => *id,
            Work::Start(_) | Work::Claim(_) | Work::Renew(_) | Work::Documents(_) | Work::Beat => {
                inbox.push(item);
                continue;
            }
        };
        match world.prefetch(id) {
            Ok(Some(_)) => inbox.push(item),
            Ok(None) => (item.reply)(Err(Failure::NoExecution(id.to_string()))),
            Err(failure) => {
                tracing::error!(%failure, execution = %id, "an execution cannot be loaded");
                (item.reply)(Err(failure));
            }
        }
    }
}
