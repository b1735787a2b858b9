//! # A large family: one parent, many children, everything going wrong
//!
//! A parent whose permissive steps have all failed is retried, so that all its children live at
//! once. Then children and parent are completed, failed, cancelled, paused, retried, restarted and
//! rerun at random, while processes crash and commits get lost. In the end nobody may be left over:
//! no child whose parent does not wait for it, no parent that waits for nobody.

use std::sync::Arc;

use semel_engine::{Event, Execution, Progress, Queue, Report, Rerun, Slot, Start};
use semel_model::{Digest, ExecutionId, Payload, TaskResultStatus, WorkflowStatus};
use semel_runtime::{
    Claim, Definitions, DocumentRule, DocumentWrite, EventWork, Item, Sabotage, StartWork, Work,
    verify,
};
use semel_store::{CommitFault, Store};
use serde_json::{Value, json};

use crate::chance::Chance;
use crate::cluster::Cluster;

const STEPS_PER_CHILD: usize = 60;

/// Faults every run must have seen at least.
const FAULTS_MIN: usize = 20;

pub(crate) struct Family {
    chance: Chance,
    cluster: Cluster,
    parent: ExecutionId,
    children: usize,
    /// Who was there when last looked at.
    known: Vec<ExecutionId>,
    faults: usize,
}

impl Family {
    /// Everybody is born: the parent runs and all its children do.
    pub(crate) fn new(seed: u64, children: usize) -> Result<Self, String> {
        let mut chance = Chance::new(seed);
        let parent = ExecutionId::from_bytes(chance.bytes());
        let cluster = Cluster::new(Sabotage::None);
        let mut family = Self { chance, cluster, parent, children, known: Vec::new(), faults: 0 };
        let fails = json!({"name": "t", "taskReferenceName": "t", "type": "TERMINATE",
            "inputParameters": {"terminationStatus": "FAILED"}});
        family.register(&json!({"name": "child", "version": 1, "tasks": [fails]}))?;
        let step = |at: usize| {
            json!({"name": "s", "taskReferenceName": format!("s{at}"), "type": "SUB_WORKFLOW",
                "permissive": true, "subWorkflowParam": {"name": "child", "version": 0}})
        };
        let steps: Vec<Value> = (0..children).map(step).collect();
        family.register(&json!({"name": "parent", "version": 1, "tasks": steps}))?;
        family.start()?;
        family.settle("the first children")?;
        let works = json!({"name": "c", "taskReferenceName": "c", "retryCount": 0});
        family.register(&json!({"name": "child", "version": 2, "tasks": [works]}))?;
        family.tell(parent, Event::Retried);
        family.settle("the children that live")?;
        Ok(family)
    }

    /// How many faults there were, or who was left over.
    pub(crate) fn run(&mut self) -> Result<usize, String> {
        for step in 0..self.children * STEPS_PER_CHILD {
            if step % 500 == 0 {
                self.known = self.cluster.store.executions();
                self.take();
            }
            match self.chance.below(40) {
                // A restarted node reads the parent's whole journal: large families crash less often.
                0 if self.chance.once_in(1 + self.children / 100) => self.fault(),
                1..=8 => self.work(),
                9..=12 => self.operate(),
                13 => self.cluster.clock.advance_ms(250),
                _ => self.cluster.drive(&mut self.chance)?,
            }
        }
        self.settle("the end of all faults")?;
        self.check_bonds()?;
        self.heal()?;
        self.check_bonds()?;
        self.check_closed()?;
        Ok(self.faults)
    }

    fn register(&mut self, definition: &Value) -> Result<(), String> {
        let name = definition["name"].as_str().unwrap_or_default();
        let version = definition["version"].as_i64().and_then(|it| i32::try_from(it).ok());
        let key = Definitions::workflow_key(name, version.unwrap_or(1));
        let body = Some(definition.to_string().into_bytes());
        let write = DocumentWrite { key, body, rule: DocumentRule::Any };
        self.submit(Work::Documents(vec![write]));
        self.settle("a definition")
    }

    fn start(&mut self) -> Result<(), String> {
        let definitions = &self.cluster.nodes[0].world.definitions;
        let definition = definitions.for_start("parent", None).map_err(|it| it.to_string())?;
        let definition = definition.ok_or("the parent is not registered")?;
        let start = Start { definition: definition.digest(), ..Start::default() };
        self.submit(Work::Start(Box::new(StartWork {
            id: self.parent,
            definition,
            found_in: None,
            start,
            input: Payload::empty(),
            key: None,
            principal: "sim".to_owned(),
            event_id: String::new(),
        })));
        Ok(())
    }

    fn submit(&mut self, work: Work) {
        let item = Item::new(work, Box::new(|_| {}));
        self.cluster.submit(&mut self.chance, item);
    }

    fn tell(&mut self, execution: ExecutionId, event: Event) {
        self.tell_with(execution, event, Vec::new());
    }

    fn tell_with(&mut self, execution: ExecutionId, event: Event, payloads: Vec<Payload>) {
        let (actor, event_id) = ("sim".to_owned(), String::new());
        let next = None;
        let definition = None;
        self.submit(Work::Event(Box::new(EventWork {
            execution,
            event,
            payloads,
            definition,
            actor,
            event_id,
            next,
            logs: Vec::new(),
        })));
    }

    fn fault(&mut self) {
        self.faults += 1;
        match self.chance.below(6) {
            0 => self.cluster.crash(),
            1 => self.cluster.store.fail_next_commit(CommitFault::LostBefore),
            2 => self.cluster.store.fail_next_commit(CommitFault::LostAfter),
            3 => self.cluster.clock.advance_ms(7_000),
            _ => {
                let at = self.chance.below(self.cluster.nodes.len());
                self.cluster.restart(at);
            }
        }
    }

    /// Somebody answers for an open task, well or badly; nobody needs to have taken it.
    fn work(&mut self) {
        let status = match self.chance.below(4) {
            0 => TaskResultStatus::Failed,
            1 => TaskResultStatus::FailedWithTerminalError,
            _ => TaskResultStatus::Completed,
        };
        let child = self.any_child();
        self.report(child, status);
    }

    fn report(&mut self, run: ExecutionId, status: TaskResultStatus) {
        let Some(execution) = self.read(run) else { return };
        let Some(task) = execution.open_tasks().next().filter(|task| task.child.is_none()) else {
            return;
        };
        if task.is_reset {
            return; // Only whoever holds it may speak for it.
        }
        let progress = Progress {
            status,
            output: Slot(0),
            reason: Some("sim".to_owned()),
            worker: None,
            callback_after_seconds: 0,
        };
        let fingerprint = Digest::of(&self.chance.bytes());
        let report = Report { task: task.id, fence: None, fingerprint, progress };
        self.tell_with(run, Event::Reported(report), vec![Payload::empty()]);
    }

    /// A worker takes whatever is next and reports it done when it has it.
    fn take(&mut self) {
        let queue = Queue { task_type: "c".to_owned(), domain: None };
        let token = Digest::of(&self.chance.bytes());
        let held = self.held_by_somebody();
        for (run, task, fence) in held {
            let progress = Progress {
                status: TaskResultStatus::Completed,
                output: Slot(0),
                reason: None,
                worker: Some("w".to_owned()),
                callback_after_seconds: 0,
            };
            let fingerprint = Digest::of(&self.chance.bytes());
            let report = Report { task, fence: Some(fence), fingerprint, progress };
            self.tell_with(run, Event::Reported(report), vec![Payload::empty()]);
        }
        let now = self.cluster.clock.now();
        self.submit(Work::Claim(Claim {
            queue,
            worker: Some("w".to_owned()),
            count: usize::MAX,
            passed_over: Arc::default(),
            token,
            named: false,
            wait_until: now,
            waiting: Arc::default(),
        }));
    }

    fn held_by_somebody(&self) -> Vec<(ExecutionId, semel_model::TaskId, u64)> {
        let world = &self.cluster.nodes[0].world;
        let mut held = Vec::new();
        for id in self.cluster.store.executions() {
            let Ok(Some(found)) = world.read(id) else { continue };
            let leased = found.deliveries.iter().filter(|row| row.hand_out.leased);
            held.extend(leased.map(|row| (id, row.task, row.hand_out.fence)));
        }
        held
    }

    fn operate(&mut self) {
        let on_parent = self.chance.once_in(self.children / 4 + 2);
        let run = if on_parent { self.parent } else { self.any_child() };
        let event = match self.chance.below(8) {
            0 | 1 => Event::Terminated { reason: Some("sim".to_owned()), compensate: false },
            2..=4 => Event::Retried,
            5 if on_parent => Event::Resumed, // A restarted parent would begin one by one again.
            5 => Event::Restarted { definition: None },
            6 if on_parent => Event::Paused,
            6 => Event::Reran(Rerun::default()),
            _ if self.chance.once_in(3) => Event::Paused,
            _ => Event::Resumed,
        };
        self.tell(run, event);
    }

    fn any_child(&mut self) -> ExecutionId {
        self.known[self.chance.below(self.known.len())]
    }

    fn read(&self, id: ExecutionId) -> Option<Arc<Execution>> {
        let found = self.cluster.nodes[0].world.read(id).ok()??;
        Some(found.execution)
    }

    /// Drives until nothing waits and no message is unheard.
    fn settle(&mut self, what: &str) -> Result<(), String> {
        for step in 0..self.children * 2_000 + 50_000 {
            if step % 64 == 0 {
                let quiet = self.cluster.is_idle() && self.cluster.store.messages_count() == 0;
                if quiet && step > 0 {
                    return Ok(());
                }
                self.cluster.clock.advance_ms(100); // Leases of messages whose carrier died end.
            }
            self.cluster.drive(&mut self.chance)?;
        }
        let left = self.cluster.store.messages_count();
        Err(format!("{what}: it does not become quiet, {left} messages are left"))
    }

    /// Everybody goes on, and whoever works does it well.
    fn heal(&mut self) -> Result<(), String> {
        for _ in 0..200 {
            let live = self.cluster.store.executions().into_iter().filter_map(|id| self.read(id));
            let live: Vec<_> = live.filter(|run| run.is_live()).collect();
            if live.is_empty() {
                return Ok(());
            }
            for run in live {
                if run.is_paused() {
                    self.tell(run.id(), Event::Resumed);
                } else {
                    self.report(run.id(), TaskResultStatus::Completed);
                }
            }
            self.take();
            self.settle("healing")?;
        }
        Err("some run does not end although everybody works".to_owned())
    }

    /// A live child has a parent that waits for it; a waiting parent has a child that lives.
    fn check_bonds(&self) -> Result<(), String> {
        for id in self.cluster.store.executions() {
            let Some(run) = self.read(id) else { continue };
            if let Some(parent) = run.parent().filter(|_| run.is_live()) {
                let above = self.read(parent.execution).ok_or("the parent is gone")?;
                let waits = above.task(parent.task).is_some_and(|task| {
                    !task.status.is_terminal() && task.child.is_some_and(|it| it.run == id)
                });
                // Revived by hand after its task was done with, it knows that it is alone.
                if !waits && !run.is_alone() {
                    return Err(format!("child {id} is {:?} and nobody waits", run.status()));
                }
            }
            for task in run.open_tasks() {
                let Some(child) = task.child else { continue };
                let below = self.read(child.run).ok_or("the child is gone")?;
                if !below.is_live() {
                    let status = below.status().map_or("?", WorkflowStatus::as_str);
                    return Err(format!("{} waits for a child that is {status}", task.reference));
                }
            }
        }
        Ok(())
    }

    fn check_closed(&self) -> Result<(), String> {
        let world = &self.cluster.nodes[0].world;
        for id in self.cluster.store.executions() {
            let head = self.cluster.store.head(id).map_err(|error| error.to_string())?;
            let head = head.ok_or("a head is gone")?;
            if !head.status.is_terminal() || head.parked.is_some() {
                return Err(format!("{id} ends as {} ({:?})", head.status, head.parked));
            }
            let verdict = verify(world, id).map_err(|error| error.to_string())?;
            if let Some((seq, what)) = verdict.and_then(|verdict| verdict.fault) {
                return Err(format!("{id}: entry {seq}: {what}"));
            }
        }
        Ok(())
    }
}

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_child_is_orphaned_and_no_parent_waits_for_ever() {
    let children = number("SEMEL_CHILDREN", 60);
    let first = number("SEMEL_SEED", 1);
    for seed in first..first + number("SEMEL_FAMILIES", 4) {
        let family = Family::new(seed as u64, children);
        let outcome = family.and_then(|mut family| family.run());
        match outcome {
            Ok(faults) => assert!(faults >= FAULTS_MIN, "seed {seed} saw only {faults} faults"),
            Err(what) => panic!("SEMEL_CHILDREN={children} SEMEL_SEED={seed}: {what}"),
        }
    }
}
