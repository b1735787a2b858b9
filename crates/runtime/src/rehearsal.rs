//! # Rehearsals: a run played through with given answers
//!
//! On a store of its own, in memory, with the real definitions and a clock that is moved by hand:
//! nothing of it is kept, no worker sees it, and it takes no longer than deciding does.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use metrics::{NoopRecorder, with_local_recorder};
use semel_engine::{Event, Progress, Slot, Task};
use semel_model::{ExecutionId, Payload, TaskResultStatus, TaskStatus, Timestamp};
use semel_store::{Clock, Kind, MemoryStore, Store, Writes};

use crate::failure::Failure;
use crate::inbox::Inbox;
use crate::lane::Lane;
use crate::outside;
use crate::reading::Snapshot;
use crate::runtime::Runtime;
use crate::sabotage::Sabotage;
use crate::starts::StartWork;
use crate::work::{Answer, EventWork, Item, Work};
use crate::world::World;

/// Rounds a rehearsal may take.
const ROUNDS_MAX: usize = 100_000;

/// How long a script is waited for before it is looked whether it still runs.
const SCRIPT_LOOK: Duration = Duration::from_millis(100);

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

impl Script {
    /// The next answer for a task: by its own name, else by that of its step in any iteration.
    fn take_mock(&mut self, task: &Task) -> Option<Mock> {
        let names = [&*task.reference, task.step.reference()];
        names.iter().find_map(|name| self.mocks.get_mut(*name)?.pop_front())
    }

    fn of_child(&mut self, task: &Task) -> &mut Self {
        let is_named = self.children.contains_key(&*task.reference);
        let name = if is_named { &*task.reference } else { task.step.reference() };
        self.children.entry(name.to_owned()).or_default()
    }
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

    /// The first open task with an answer left, in the order of scheduling; else the first moment
    /// that alone ends or begins something, unless a task is open that neither an answer nor time
    /// will end. A JOIN or a loop is not such a task: the steps it waits for are.
    fn cue(&self, id: ExecutionId, script: &mut Script) -> Result<Option<Cue>, Failure> {
        let Some(run) = self.world.read(id)? else { return Ok(None) };
        let (mut soonest, mut is_stuck) = (None::<Timestamp>, false);
        let open: Vec<Arc<Task>> = run.execution.open_tasks().cloned().collect();
        for task in open {
            if let Some(mock) = script.take_mock(&task) {
                let reference = task.reference.to_string();
                return Ok(Some(Cue::Answer { run: id, reference, mock }));
            }
            let below = match task.child {
                Some(child) => self.cue(child.run, script.of_child(&task))?,
                None => self.moment_of(&task).map(Cue::Wait),
            };
            match below {
                Some(Cue::Wait(until)) => {
                    soonest = Some(soonest.map_or(until, |soonest| soonest.min(until)));
                }
                Some(answer) => return Ok(Some(answer)),
                None => is_stuck |= !task.is_passive(),
            }
        }
        Ok(soonest.filter(|_| !is_stuck).map(Cue::Wait))
    }

    /// When a task ends by itself, or begins after its delay.
    fn moment_of(&self, task: &Task) -> Option<Timestamp> {
        let is_delayed = task.system && task.status == TaskStatus::Scheduled;
        let begins_at = Some(task.ready_at).filter(|at| is_delayed && *at > self.clock.now());
        task.wait_until.or(begins_at)
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
        let event = Event::Named { reference, force: true, progress, distinct: true };
        let work = EventWork { payloads: vec![mock.output], ..EventWork::own(run, event) };
        match self.ask(Work::Event(Box::new(work))) {
            // Time that passed before the answer may have ended the task.
            Ok(_) | Err(Failure::Rejected(_)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    fn ask(&mut self, mut work: Work) -> Result<Answer, Failure> {
        outside::disarm_work(&mut work);
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

    /// Rounds until nothing is left to do before time passes. Scripts are run elsewhere: they are
    /// waited for.
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
            let is_idle = stepped.items == 0 && !self.lane.has_work();
            if is_idle && !self.inbox.wait_for_lent(SCRIPT_LOOK) {
                return Ok(());
            }
        }
    }
}
