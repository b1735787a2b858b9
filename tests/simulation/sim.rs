//! # The simulation: one thread, one seed, every step a choice

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use semel_engine::{Event, Pinned, Queue, Rejection, pin};
use semel_model::{Digest, ExecutionId, TaskResultStatus, Timestamp, WorkflowDef};
use semel_runtime::{
    Answer, Failure, HandedOut, Inbox, Item, Lane, Prepared, Sabotage, Work, World,
};
use semel_store::{Clock, CommitFault, MemoryStore, Plant, Store};
use serde_json::json;

use crate::chance::Chance;
use crate::history::History;
use crate::network::{Answers, Call, Request};
use crate::workers::{Job, Purpose, State, Worker};

const NODES: usize = 2;
const LANES_PER_NODE: u16 = 2;
const RUNS: usize = 6;
const WORKERS_PER_TYPE: usize = 2;
const STEPS_WITH_FAULTS: u64 = 2_500;
const STEPS_MAX: u64 = 60_000;

/// A request unanswered for this many steps is sent again.
const PATIENCE: u64 = 60;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Bug {
    Store(Plant),
    Lane(Sabotage),
}

pub(crate) struct Sim {
    chance: Chance,
    clock: Arc<Clock>,
    store: MemoryStore,
    sabotage: Sabotage,
    nodes: Vec<Node>,
    definition: Arc<Pinned>,
    answers: Answers,
    calls: BTreeMap<Call, Pending>,
    next_call: Call,
    starters: Vec<Starter>,
    workers: Vec<Worker>,
    history: History,
    faults: usize,
    step: u64,
    trace: String,
}

struct Node {
    world: Arc<World>,
    lanes: Vec<SimLane>,
}

struct SimLane {
    lane: Lane,
    inbox: Arc<Inbox>,
    prepared: Option<Prepared>,
}

/// A request whose sender waits.
struct Pending {
    request: Request,
    sent_at: u64,
}

struct Starter {
    key: String,
    call: Option<Call>,
    started: Option<ExecutionId>,
}

impl Sim {
    pub(crate) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_800_000_000_000)));
        let store = MemoryStore::with_disk(Arc::clone(&clock));
        let mut sabotage = Sabotage::None;
        match bug {
            Some(Bug::Store(plant)) => store.plant(plant),
            Some(Bug::Lane(planted)) => sabotage = planted,
            None => {}
        }
        // Keys are shared by neighbours, so that several clients race for one run.
        let starter = |n: usize| Starter { key: format!("k{}", n / 2), call: None, started: None };
        let mut sim = Self {
            chance: Chance::new(seed),
            clock,
            store,
            sabotage,
            nodes: Vec::new(),
            definition: definition(),
            answers: Answers::default(),
            calls: BTreeMap::new(),
            next_call: 0,
            starters: (0..RUNS * 2).map(starter).collect(),
            workers: workers(),
            history: History::default(),
            faults: 0,
            step: 0,
            trace: String::new(),
        };
        sim.boot();
        sim
    }

    /// Runs to the end and tells how many faults there were, or which promise was broken.
    pub(crate) fn run(&mut self) -> Result<usize, String> {
        while self.step < STEPS_MAX {
            self.step += 1;
            let faulty = self.step < STEPS_WITH_FAULTS;
            if faulty {
                self.perhaps_fault()?;
            } else if self.step.is_multiple_of(500) {
                self.resume_all(); // Again and again: a delayed pause may still arrive.
            }
            match self.chance.below(5) {
                0 => self.act()?,
                1 => self.hear(faulty)?,
                2 if self.chance.once_in(3) => self.clock.advance_ms(200),
                _ => self.drive()?,
            }
            self.send_again();
            if !faulty && self.step.is_multiple_of(50) && self.is_over() {
                break;
            }
        }
        let world = &self.nodes[0].world;
        self.history.check(&self.store, world).map(|()| self.faults)
    }

    pub(crate) fn trace(&self) -> String {
        self.trace.clone()
    }

    fn note(&mut self, what: impl std::fmt::Display) {
        let _ = writeln!(self.trace, "{} {what}", self.step); // Writing to a String cannot fail.
    }

    /// New processes over what the disk holds.
    fn boot(&mut self) {
        self.nodes.clear();
        for node in 0..NODES {
            let store: Arc<dyn Store> = Arc::new(self.store.clone());
            let world = Arc::new(World::new(store));
            let lanes = (0..LANES_PER_NODE).map(|at| {
                let number = u16::try_from(node).expect("few nodes") * LANES_PER_NODE + at;
                let inbox = Arc::new(Inbox::default());
                let world = Arc::clone(&world);
                let lane = Lane::new(number, world, Arc::clone(&inbox), self.sabotage);
                SimLane { lane: lane.expect("the memory store opens"), inbox, prepared: None }
            });
            let lanes = lanes.collect();
            self.nodes.push(Node { world, lanes });
        }
    }

    fn perhaps_fault(&mut self) -> Result<(), String> {
        if !self.chance.once_in(25) {
            return Ok(());
        }
        self.faults += 1;
        match self.chance.below(8) {
            0 => {
                self.note("crash");
                self.nodes.clear(); // Processes end before the disk is looked at again.
                self.store.crash();
                self.boot();
            }
            1 => {
                let lost = self.chance.once_in(2);
                let fault = if lost { CommitFault::LostBefore } else { CommitFault::LostAfter };
                self.note(format_args!("{fault:?}"));
                self.store.fail_next_commit(fault);
            }
            2 => {
                let jump = 500 + 250 * i64::try_from(self.chance.below(80)).unwrap_or(0);
                self.note(format_args!("clock +{jump} ms"));
                self.clock.advance_ms(jump);
            }
            3 => self.double(),
            4 => self.drop_answer(),
            5 => self.kill_worker(),
            6 => self.operate(),
            _ => self.restart_node(),
        }
        Ok(())
    }

    /// One node's process ends; the store and the other node live on.
    fn restart_node(&mut self) {
        let at = self.chance.below(self.nodes.len());
        self.note(format_args!("node {at} restarts"));
        let fresh = {
            let store: Arc<dyn Store> = Arc::new(self.store.clone());
            Arc::new(World::new(store))
        };
        let node = &mut self.nodes[at];
        node.world = Arc::clone(&fresh);
        for (lane, slot) in node.lanes.iter_mut().enumerate() {
            let number = u16::try_from(at).expect("few nodes") * LANES_PER_NODE
                + u16::try_from(lane).expect("few lanes");
            slot.prepared = None;
            slot.inbox = Arc::new(Inbox::default());
            let opened =
                Lane::new(number, Arc::clone(&fresh), Arc::clone(&slot.inbox), self.sabotage);
            slot.lane = opened.expect("the memory store opens");
        }
    }

    fn double(&mut self) {
        let calls: Vec<Call> = self.calls.keys().copied().collect();
        if let Some(call) = calls.get(self.chance.below(calls.len())) {
            self.note(format_args!("call {call} is delivered twice"));
            let request = self.calls[call].request.clone();
            self.deliver(*call, &request);
        }
    }

    fn drop_answer(&mut self) {
        let chance = &mut self.chance;
        if let Some((call, _)) = self.answers.take(|len| chance.below(len)) {
            self.note(format_args!("answer to call {call} is lost"));
        }
    }

    /// A worker forgets everything; another of the same kind takes its place.
    fn kill_worker(&mut self) {
        let at = self.chance.below(self.workers.len());
        self.note(format_args!("worker {at} dies"));
        let worker = &mut self.workers[at];
        worker.state = State::Idle;
        worker.name.push('\'');
    }

    fn operate(&mut self) {
        let ids: Vec<ExecutionId> = self.starters.iter().filter_map(|one| one.started).collect();
        let Some(id) = ids.get(self.chance.below(ids.len())).copied() else { return };
        let event = match self.chance.below(9) {
            0 => Event::Terminated { reason: Some("sim".to_owned()) },
            1..=3 => Event::Paused,
            _ => Event::Resumed,
        };
        self.note(format_args!("{event:?} of {id}"));
        self.send(Request::Event { execution: id, event, payload: None, next: None });
    }

    fn resume_all(&mut self) {
        for id in self.store.executions() {
            let event = Event::Resumed;
            self.send(Request::Event { execution: id, event, payload: None, next: None });
        }
    }

    fn send(&mut self, request: Request) -> Call {
        self.next_call += 1;
        let call = self.next_call;
        self.deliver(call, &request);
        self.calls.insert(call, Pending { request, sent_at: self.step });
        call
    }

    /// Any node, any lane may get any request.
    fn deliver(&mut self, call: Call, request: &Request) {
        let node = self.chance.below(NODES);
        let lane = self.chance.below(LANES_PER_NODE.into());
        let item = request.item(self.clock.now(), self.answers.reply(call));
        self.nodes[node].lanes[lane].inbox.push(item);
    }

    fn send_again(&mut self) {
        let now = self.step;
        let late = |pending: &Pending| now - pending.sent_at > PATIENCE;
        let late: Vec<Call> =
            self.calls.iter().filter(|(_, pending)| late(pending)).map(|(call, _)| *call).collect();
        for call in late {
            let request = self.calls[&call].request.clone();
            self.deliver(call, &request);
            if let Some(pending) = self.calls.get_mut(&call) {
                pending.sent_at = now;
            }
        }
    }

    /// One lane does one thing: look at timers, begin a round, or finish one.
    fn drive(&mut self) -> Result<(), String> {
        let node = self.chance.below(NODES);
        let at = self.chance.below(LANES_PER_NODE.into());
        let world = Arc::clone(&self.nodes[node].world);
        let slot = &mut self.nodes[node].lanes[at];
        let Some(prepared) = slot.prepared.take() else {
            slot.lane.look_at_timers();
            slot.prepared = slot.lane.begin();
            return Ok(());
        };
        let stepped = slot.lane.finish(prepared).map_err(|down| down.to_string())?;
        for item in stepped.prefetch {
            load(&world, &slot.inbox, item);
        }
        Ok(())
    }

    /// A client takes its next step.
    fn act(&mut self) -> Result<(), String> {
        if self.chance.once_in(3) {
            let at = self.chance.below(self.starters.len());
            if self.starters[at].call.is_none() && self.starters[at].started.is_none() {
                let id = ExecutionId::from_bytes(self.chance.bytes());
                let (definition, key) =
                    (Arc::clone(&self.definition), self.starters[at].key.clone());
                let call = self.send(Request::Start { id, definition, key });
                self.starters[at].call = Some(call);
            }
            return Ok(());
        }
        let at = self.chance.below(self.workers.len());
        let step = self.step;
        match &self.workers[at].state {
            State::Idle => {
                let request = self.workers[at].poll(&mut self.chance);
                let call = self.send(request);
                self.workers[at].state = State::Calling(call, Purpose::Poll);
            }
            State::Working(job, until) if *until <= step => {
                let job = job.clone();
                self.conclude(at, job);
            }
            State::Working(job, until) if self.chance.once_in(6) => {
                let (job, until) = (job.clone(), *until);
                let request = self.workers[at].renewal(&job);
                let call = self.send(request);
                self.workers[at].state = State::Calling(call, Purpose::Renew(job, until));
            }
            State::Working(..) | State::Calling(..) => {}
        }
        Ok(())
    }

    fn conclude(&mut self, at: usize, job: Job) {
        let status = match self.chance.below(10) {
            0 => TaskResultStatus::Failed,
            1 => TaskResultStatus::InProgress,
            _ => TaskResultStatus::Completed,
        };
        let latest = self.history.latest_fence(job.task);
        let (request, said) = self.workers[at].report(&job, status, latest, &mut self.chance);
        let call = self.send(request);
        self.workers[at].state = State::Calling(call, Purpose::Report(said));
    }

    /// One answer reaches its client, or is lost on the way.
    fn hear(&mut self, faulty: bool) -> Result<(), String> {
        let chance = &mut self.chance;
        let Some((call, answer)) = self.answers.take(|len| chance.below(len)) else {
            return Ok(());
        };
        if faulty && self.chance.once_in(15) {
            self.faults += 1;
            self.note(format_args!("answer to call {call} is lost"));
            return Ok(());
        }
        if matches!(answer, Err(Failure::Unavailable | Failure::Busy)) {
            return Ok(()); // The sender's patience runs out and it asks again.
        }
        let told = self.calls.remove(&call);
        self.note(format_args!("call {call} hears {}", said(&answer)));
        if let Some(starter) = self.starters.iter_mut().find(|one| one.call == Some(call)) {
            starter.call = None;
            if let Ok(Answer::Started { id, .. }) = answer {
                starter.started = Some(id);
                self.history.started.entry(starter.key.clone()).or_default().insert(id);
            }
            return Ok(());
        }
        let terminated = told.and_then(|pending| match pending.request {
            Request::Event { execution, event: Event::Terminated { .. }, .. } => Some(execution),
            _ => None,
        });
        if let (Some(id), Ok(_)) = (terminated, &answer) {
            self.history.terminated.insert(id);
        }
        self.tell_worker(call, answer)
    }

    fn tell_worker(&mut self, call: Call, answer: Result<Answer, Failure>) -> Result<(), String> {
        let mine = |worker: &Worker| matches!(&worker.state, State::Calling(c, _) if *c == call);
        let Some(at) = self.workers.iter().position(mine) else { return Ok(()) };
        let state = std::mem::replace(&mut self.workers[at].state, State::Idle);
        let State::Calling(_, purpose) = state else { return Ok(()) };
        match (purpose, answer) {
            (Purpose::Poll, Ok(Answer::Claimed(outs))) => {
                if let Some(out) = outs.first() {
                    self.begin_job(at, out)?;
                }
            }
            (Purpose::Report(said), Ok(Answer::Done { next, .. })) => {
                self.history.accepted(&said)?;
                if let Some(out) = next {
                    self.begin_job(at, &out)?;
                } else if said.status == TaskResultStatus::InProgress && self.chance.once_in(2) {
                    // It gave the task back, and goes on with it all the same.
                    let until = self.step + self.chance.below(400) as u64;
                    self.workers[at].state = State::Working(said.job, until);
                }
            }
            (Purpose::Report(..), Err(Failure::Rejected(Rejection::Stale(_)))) => {}
            (Purpose::Renew(job, until), _) => {
                self.workers[at].state = State::Working(job, until);
            }
            (Purpose::Poll | Purpose::Report(..), other) => {
                let name = &self.workers[at].name;
                return Err(format!("worker {name} was told {}", said(&other)));
            }
        }
        Ok(())
    }

    /// Most jobs are quick; some outlast their lease by far.
    fn begin_job(&mut self, at: usize, out: &HandedOut) -> Result<(), String> {
        let row = &out.delivery;
        let token = row.hand_out.token.unwrap_or_else(Digest::default);
        self.history.handed_out(row.task, row.hand_out.fence, token)?;
        let length = if self.chance.once_in(8) { 700 } else { 10 };
        let until = self.step + self.chance.below(length) as u64;
        self.workers[at].state = State::Working(Job::of(out), until);
        Ok(())
    }

    fn is_over(&self) -> bool {
        let all_started = self.starters.iter().all(|starter| starter.started.is_some());
        let closed = |id: &ExecutionId| {
            let head = self.store.head(*id).expect("the memory store answers");
            head.is_some_and(|head| head.status.is_terminal())
        };
        all_started && self.store.executions().iter().all(closed)
    }
}

fn said(answer: &Result<Answer, Failure>) -> String {
    match answer {
        Ok(Answer::Started { id, created }) => format!("started {id} {created}"),
        Ok(Answer::Done { standing, task, next }) => {
            format!(
                "done {standing:?} {task:?} next {:?}",
                next.as_ref().map(|out| out.delivery.task)
            )
        }
        Ok(Answer::Claimed(outs)) => {
            format!("claimed {:?}", outs.iter().map(|out| out.delivery.task).collect::<Vec<_>>())
        }
        Ok(Answer::Renewed { .. }) => "renewed".to_owned(),
        Ok(Answer::NotHeld) => "not held".to_owned(),
        Ok(Answer::Noted) => "noted".to_owned(),
        Err(failure) => failure.to_string(),
    }
}

/// What the loader thread of a real node does.
fn load(world: &World, inbox: &Inbox, item: Item) {
    let id = match &item.work {
        Work::Event(work) => work.execution,
        _ => return inbox.push(item),
    };
    match world.prefetch(id) {
        Ok(Some(_)) => inbox.push(item),
        Ok(None) => (item.reply)(Err(Failure::NoExecution(id.to_string()))),
        Err(failure) => (item.reply)(Err(failure)),
    }
}

fn workers() -> Vec<Worker> {
    let types = ["a", "b", "c"];
    let worker = |n: usize| Worker {
        name: format!("w{n}"),
        queue: Queue { task_type: types[n % types.len()].to_owned(), domain: None },
        state: State::Idle,
    };
    (0..types.len() * WORKERS_PER_TYPE).map(worker).collect()
}

fn definition() -> Arc<Pinned> {
    let policy = |name: &str| {
        json!({"name": name, "retryCount": 500, "retryDelaySeconds": 1, "responseTimeoutSeconds": 4,
            "timeoutPolicy": "RETRY", "timeoutSeconds": 60})
    };
    let step = |name: &str| json!({"name": name, "taskReferenceName": name, "taskDefinition": policy(name)});
    let definition: WorkflowDef =
        serde_json::from_value(json!({"name": "sim", "tasks": [step("a"), step("b"), step("c")]}))
            .expect("a valid definition");
    Arc::new(pin(definition, |_| None))
}
