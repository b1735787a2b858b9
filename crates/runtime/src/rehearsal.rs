//! # Rehearsals: a run played through with given answers
//!
//! On a store of its own, in memory, with the real definitions and a clock that is moved by hand:
//! nothing of it is kept, no worker sees it, and it takes no longer than deciding does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use metrics::{NoopRecorder, with_local_recorder};
use semel_engine::{Event, Progress, Slot, Task};
use semel_model::{ExecutionId, Payload, TaskResultStatus, Timestamp};
use semel_store::{Clock, Kind, MemoryStore, Store, Writes};

use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::lane::Lane;
use crate::reading::Snapshot;
use crate::runtime::Runtime;
use crate::sabotage::Sabotage;
use crate::starts::StartWork;
use crate::work::{Answer, EventWork, Item, Work};
use crate::world::World;

/// Rounds a rehearsal may take.
const ROUNDS_MAX: usize = 100_000;

/// An answer given for a task.
#[derive(Clone, Debug)]
pub struct Mock {
    pub status: TaskResultStatus,
    pub output: Payload,
    /// How long the task waits before it is taken, and how long it then takes.
    pub takes_ms: i64,
}

/// The answers of one run, by reference, in order; and those of its children.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub mocks: BTreeMap<String, VecDeque<Mock>>,
    pub children: BTreeMap<String, Script>,
}

impl Runtime {
    /// The run as it is when no answer is left for anything that is open.
    pub async fn rehearse(&self, start: StartWork, script: Script) -> Result<Snapshot, Failure> {
        let play = move |world: &World| Rehearsal::over(world)?.play(start, script);
        // Nothing of it counts: no worker did anything.
        self.in_turn(move |world| with_local_recorder(&NoopRecorder, || play(world))).await
    }
}

struct Rehearsal {
    clock: Arc<Clock>,
    world: Arc<World>,
    inbox: Arc<Inbox>,
    lane: Lane,
    rounds: usize,
}

/// What happens next.
enum Cue {
    Answer {
        run: ExecutionId,
        reference: String,
        mock: Mock,
    },
    /// Nothing before that time.
    Wait(Timestamp),
}

impl Rehearsal {
    fn over(world: &World) -> Result<Self, Failure> {
        let clock = Arc::new(Clock::manual(world.store.now()));
        let store = MemoryStore::new(Arc::clone(&clock));
        let mut writes = Writes::default();
        let kinds =
            [Kind::WorkflowDefinition, Kind::TaskDefinition, Kind::Schema, Kind::Environment];
        for kind in kinds {
            let all = world.store.documents(kind, None)?;
            writes.documents.extend(all.into_iter().map(|(key, body)| (key, Some(body))));
        }
        store.writer(0)?.commit(writes)?;
        let scripts = Arc::clone(&world.scripts);
        let world = Arc::new(World::new(Arc::new(store)).with_scripts(scripts));
        let inbox = Arc::new(Inbox::default());
        let lane = Lane::new(0, Arc::clone(&world), Arc::clone(&inbox), Sabotage::None)?;
        Ok(Self { clock, world, inbox, lane, rounds: 0 })
    }

    fn play(mut self, start: StartWork, mut script: Script) -> Result<Snapshot, Failure> {
        let id = match self.ask(Work::Start(Box::new(start)))? {
            Answer::Started { id, .. } => id,
            _ => return Err(Failure::Unavailable),
        };
        while let Some(cue) = self.cue(id, &mut script)? {
            match cue {
                Cue::Answer { run, reference, mock } => self.answer(run, reference, mock)?,
                Cue::Wait(until) => {
                    self.clock.advance_ms(until.since_ms(self.clock.now()).max(1));
                    self.settle()?;
                }
            }
        }
        self.world.read(id)?.ok_or_else(|| Failure::NoExecution(id.to_string()))
    }

    /// The first open task with an answer left, in the order of scheduling; else the first WAIT
    /// that time alone will end, unless something is open that nothing will.
    fn cue(&self, id: ExecutionId, script: &mut Script) -> Result<Option<Cue>, Failure> {
        let Some(run) = self.world.read(id)? else { return Ok(None) };
        let mut soonest: Option<Timestamp> = None;
        let open: Vec<Arc<Task>> = run.execution.open_tasks().cloned().collect();
        for task in open {
            let reference = task.reference.to_string();
            let mock = script.mocks.get_mut(&reference).and_then(VecDeque::pop_front);
            if let Some(mock) = mock {
                return Ok(Some(Cue::Answer { run: id, reference, mock }));
            }
            let below = match task.child {
                Some(child) => {
                    let of_child = script.children.entry(reference).or_default();
                    self.cue(child.run, of_child)?
                }
                None => task.wait_until.map(Cue::Wait),
            };
            match below {
                Some(Cue::Wait(until)) => {
                    soonest = Some(soonest.map_or(until, |soonest| soonest.min(until)));
                }
                answer => return Ok(answer),
            }
        }
        Ok(soonest.map(Cue::Wait))
    }

    fn answer(&mut self, run: ExecutionId, reference: String, mock: Mock) -> Result<(), Failure> {
        self.clock.advance_ms(mock.takes_ms);
        let progress = Progress {
            status: mock.status,
            output: Slot(0),
            reason: None,
            worker: None,
            callback_after_seconds: 0,
        };
        let event = Event::Named { reference, force: true, progress };
        let work = EventWork { payloads: vec![mock.output], ..EventWork::own(run, event) };
        match self.ask(Work::Event(Box::new(work))) {
            // Time that passed before the answer may have ended the task.
            Ok(_) | Err(Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn ask(&mut self, work: Work) -> Result<Answer, Failure> {
        let heard = Arc::new(Mutex::new(None));
        let reply = Arc::clone(&heard);
        let reply = Box::new(move |answer| {
            *reply.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        });
        self.inbox.push(Item::new(work, reply));
        self.settle()?;
        let answer = heard.lock().unwrap_or_else(PoisonError::into_inner).take();
        answer.unwrap_or(Err(Failure::Unavailable))
    }

    /// Rounds until nothing is left to do before time passes.
    fn settle(&mut self) -> Result<(), Failure> {
        loop {
            self.rounds += 1;
            if self.rounds > ROUNDS_MAX {
                return Err(Failure::Fault(format!("a rehearsal took over {ROUNDS_MAX} rounds")));
            }
            self.lane.look_at_timers();
            let stepped = self.lane.step().map_err(|down| Failure::Fault(down.to_string()))?;
            for (item, id) in stepped.prefetch {
                self.world.prefetch(id)?;
                self.inbox.push(item);
            }
            if stepped.items == 0 && !self.lane.has_work() {
                return Ok(());
            }
        }
    }
}
