//! # The simulation: one thread, one seed, every step a choice

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use semel_engine::{Event, Pinned, Queue, pin};
use semel_model::{ExecutionId, TaskResultStatus, WorkflowDef};
use semel_runtime::Sabotage;
use semel_store::{Plant, Store};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::cluster::{Cluster, Nothing};
use crate::history::History;
use crate::network::{Answers, Call, Request};
use crate::workers::{Job, Purpose, State, Worker};

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
    pub(crate) chance: Chance,
    pub(crate) cluster: Cluster,
    definition: Arc<Pinned>,
    pub(crate) answers: Answers,
    pub(crate) calls: BTreeMap<Call, Pending>,
    next_call: Call,
    pub(crate) starters: Vec<Starter>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) history: History,
    pub(crate) faults: usize,
    pub(crate) step: u64,
    trace: String,
}

/// A request whose sender waits.
pub(crate) struct Pending {
    pub(crate) request: Request,
    sent_at: u64,
}

pub(crate) struct Starter {
    pub(crate) key: String,
    pub(crate) call: Option<Call>,
    pub(crate) started: Option<ExecutionId>,
}

impl Sim {
    pub(crate) fn new(seed: u64, bug: Option<Bug>) -> Self {
        let cluster = match bug {
            Some(Bug::Store(plant)) => {
                let cluster = Cluster::new(Sabotage::None);
                cluster.store.plant(plant);
                cluster
            }
            Some(Bug::Lane(planted)) => Cluster::new(planted),
            None => Cluster::new(Sabotage::None),
        };
        // Keys are shared by neighbours, so that several clients race for one run.
        let starter = |n: usize| Starter { key: format!("k{}", n / 2), call: None, started: None };
        Self {
            chance: Chance::new(seed),
            cluster,
            definition: definition(seed),
            answers: Answers::default(),
            calls: BTreeMap::new(),
            next_call: 0,
            starters: (0..RUNS * 2).map(starter).collect(),
            workers: workers(),
            history: History::default(),
            faults: 0,
            step: 0,
            trace: String::new(),
        }
    }

    /// Runs to the end and tells how many faults there were, or which promise was broken.
    pub(crate) fn run(&mut self) -> Result<usize, String> {
        while self.step < STEPS_MAX {
            self.step += 1;
            let faulty = self.step < STEPS_WITH_FAULTS;
            if faulty {
                self.perhaps_fault();
            } else if self.step.is_multiple_of(500) {
                self.resume_all(); // Again and again: a delayed pause may still arrive.
            }
            match self.chance.below(5) {
                0 => self.act()?,
                1 => self.hear(faulty)?,
                2 if self.chance.once_in(3) => self.cluster.clock.advance_ms(200),
                _ => self.cluster.drive(&mut self.chance)?,
            }
            self.send_again();
            if !faulty && self.step.is_multiple_of(50) && self.is_over() {
                break;
            }
        }
        let world = &self.cluster.nodes[0].world;
        self.history.check(&self.cluster.store, world).map(|()| self.faults)
    }

    pub(crate) fn trace(&self) -> String {
        self.trace.clone()
    }

    pub(crate) fn note(&mut self, what: impl std::fmt::Display) {
        let _ = writeln!(self.trace, "{} {what}", self.step); // Writing to a String cannot fail.
    }

    fn resume_all(&mut self) {
        for id in self.cluster.store.executions() {
            let event = Box::new(Event::Resumed);
            self.send(Request::Event { execution: id, event, payload: None, next: None });
        }
    }

    pub(crate) fn send(&mut self, request: Request) -> Call {
        self.next_call += 1;
        let call = self.next_call;
        self.deliver(call, &request);
        self.calls.insert(call, Pending { request, sent_at: self.step });
        call
    }

    /// Any node, any lane may get any request.
    pub(crate) fn deliver(&mut self, call: Call, request: &Request) {
        let id = ExecutionId::from_bytes(self.chance.bytes());
        let item = request.item(id, self.cluster.clock.now(), self.answers.reply(call));
        self.cluster.submit(&mut self.chance, item);
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

    /// A client takes its next step.
    fn act(&mut self) -> Result<(), String> {
        if self.chance.once_in(3) {
            let at = self.chance.below(self.starters.len());
            if self.starters[at].call.is_none() && self.starters[at].started.is_none() {
                let (definition, key) =
                    (Arc::clone(&self.definition), self.starters[at].key.clone());
                let call = self.send(Request::Start { definition, key });
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

    fn is_over(&self) -> bool {
        let all_started = self.starters.iter().all(|starter| starter.started.is_some());
        let closed = |id: &ExecutionId| {
            let head = self.cluster.store.head(*id).expect("the memory store answers");
            head.is_some_and(|head| head.status.is_terminal())
        };
        all_started && self.cluster.store.executions().iter().all(closed)
    }
}

/// What the loader thread of a real node does.
fn workers() -> Vec<Worker> {
    let types = ["a", "b", "c"];
    let worker = |n: usize| Worker {
        name: format!("w{n}"),
        queue: Queue { task_type: types[n % types.len()].to_owned(), domain: None },
        state: State::Idle,
    };
    (0..types.len() * WORKERS_PER_TYPE).map(worker).collect()
}

/// Every fourth seed plays a run with branches, turns, a choice and branches that come with data; of
/// every other fourth the runs share one effect.
fn definition(seed: u64) -> Arc<Pinned> {
    let policy = |name: &str| {
        json!({"name": name, "retryCount": 500, "retryDelaySeconds": 1, "responseTimeoutSeconds": 4,
            "timeoutPolicy": "RETRY", "timeoutSeconds": 60})
    };
    let step = |name: &str, reference: &str| json!({"name": name, "taskReferenceName": reference, "taskDefinition": policy(name)});
    let flow = |kind: &str, reference: &str, fields: Value| {
        let mut step = json!({"name": reference, "taskReferenceName": reference, "type": kind});
        if let (Value::Object(step), Value::Object(fields)) = (&mut step, fields) {
            step.extend(fields);
        }
        step
    };
    let line = json!([step("a", "a"), step("b", "b"), step("c", "c")]);
    let turns = json!({"loopCondition": "$.loop.iteration < 2", "loopOver": [step("b", "b")]});
    let given = json!({"steps": [step("c", "c1"), step("a", "a1")], "inputs": {}});
    let by_data = json!({"inputParameters": given, "dynamicForkTasksParam": "steps",
        "dynamicForkTasksInputParamName": "inputs"});
    let choice = json!({"evaluatorType": "javascript", "expression": "Math.random() < 2 ? 'x' : 'y'",
        "decisionCases": {"x": [step("b", "b2")]}});
    let branches = json!({"forkTasks": [[step("a", "a")], [flow("DO_WHILE", "loop", turns)]]});
    let tree = json!([
        flow("FORK_JOIN", "fork", branches),
        flow("JOIN", "join", json!({"joinOn": ["a", "loop"]})),
        flow("FORK_JOIN_DYNAMIC", "fan", by_data),
        flow("JOIN", "gather", json!({})),
        flow("SWITCH", "choice", choice),
    ]);
    let mut shared = step("b", "b");
    // Nobody is there to say what became of it.
    let retry = json!({"mode": "ONCE", "scope": "sim", "key": "shared", "onUnknown": "RETRY"});
    shared["effect"] = retry;
    let steps = match seed % 4 {
        0 => tree,
        1 => json!([step("a", "a"), shared, step("c", "c")]),
        _ => line,
    };
    let definition: WorkflowDef =
        serde_json::from_value(json!({"name": "sim", "tasks": steps})).expect("a valid definition");
    Arc::new(pin(definition, &mut Nothing).expect("no child is named"))
}
