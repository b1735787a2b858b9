//! # Bombs: workflows that start themselves twice, beside ordinary ones
//!
//! Rounds are counted, not time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use semel_engine::{Event, Slot, Start};
use semel_model::{ExecutionId, Payload, Timestamp, WorkflowStatus};
use semel_store::{Clock, DocumentKey, Kind, MemoryStore, Store, Writes};
use serde_json::{Value, json};

use crate::inbox::{Class, Inbox};
use crate::lane::Lane;
use crate::sabotage::Sabotage;
use crate::starts::StartWork;
use crate::work::{EventWork, Item, Work};
use crate::world::World;

fn system(name: &str, kind: &str, more: Value) -> Value {
    let mut step = json!({"name": name, "taskReferenceName": name, "type": kind});
    if let (Value::Object(step), Value::Object(more)) = (&mut step, more) {
        step.extend(more);
    }
    step
}

fn sub(name: &str, child: &str) -> Value {
    system(name, "SUB_WORKFLOW", json!({"subWorkflowParam": {"name": child}}))
}

fn start_step(name: &str, run: &str) -> Value {
    let input = json!({"startWorkflow": {"name": run}});
    system(name, "START_WORKFLOW", json!({"inputParameters": input}))
}

/// Workflows by name: two bombs, and an ordinary one with a child inside a child.
fn workflows() -> BTreeMap<&'static str, Vec<Value>> {
    let forked = json!({"forkTasks": [[sub("a", "forks")], [sub("b", "forks")]]});
    let joined = system("j", "JOIN", json!({"joinOn": ["a", "b"]}));
    BTreeMap::from([
        ("forks", vec![system("f", "FORK_JOIN", forked), joined]),
        ("starts", vec![start_step("a", "starts"), start_step("b", "starts")]),
        ("leaf", vec![system("n", "NOOP", json!({}))]),
        ("inner", vec![sub("s", "leaf")]),
        ("ordinary", vec![sub("s", "inner")]),
    ])
}

struct Scene {
    world: Arc<World>,
    inbox: Arc<Inbox>,
    lane: Lane,
    begun: u8,
}

impl Scene {
    fn new() -> Self {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_800_000_000_000)));
        let store = MemoryStore::new(clock);
        let mut writes = Writes::default();
        for (name, tasks) in workflows() {
            let body = json!({"name": name, "version": 1, "tasks": tasks});
            let key =
                DocumentKey { kind: Kind::WorkflowDefinition, name: name.to_owned(), version: 1 };
            writes.documents.insert(key, Some(body.to_string().into_bytes()));
        }
        store.writer(0).unwrap().commit(writes).unwrap();
        let world = Arc::new(World::new(Arc::new(store)));
        let inbox = Arc::new(Inbox::default());
        let lane = Lane::new(0, Arc::clone(&world), Arc::clone(&inbox), Sabotage::None).unwrap();
        Self { world, inbox, lane, begun: 0 }
    }

    fn ask(&self, work: Work) -> Receiver<()> {
        let (tell, told) = channel();
        let reply = Box::new(move |answer: Result<_, _>| {
            answer.map(drop).expect("it may");
            tell.send(()).unwrap_or_default();
        });
        self.inbox.submit(Item::new(work, reply), Class::Start).expect("there is room");
        told
    }

    fn start(&mut self, name: &str) -> (ExecutionId, Receiver<()>) {
        self.begun += 1;
        let id = ExecutionId::from_bytes([self.begun; 16]);
        let definition = self.world.definitions.for_start(name, None).unwrap().expect("defined");
        let start = Start { definition: definition.digest(), input: Slot(0), ..Start::default() };
        let work = StartWork {
            id,
            definition,
            found_in: None,
            start,
            input: Payload::empty(),
            key: None,
            principal: "ann".to_owned(),
            event_id: String::new(),
        };
        (id, self.ask(Work::Start(Box::new(work))))
    }

    fn round(&mut self) {
        self.lane.look_at_timers();
        let stepped = self.lane.step().unwrap();
        for (item, id) in stepped.prefetch {
            self.world.prefetch(id).unwrap();
            self.inbox.push(item);
        }
    }

    /// Rounds until that is so.
    fn rounds_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) -> usize {
        for rounds in 0..2_000 {
            if is_so(self) {
                return rounds;
            }
            self.round();
        }
        panic!("not in 2,000 rounds: {what}")
    }

    fn is_answered(told: Receiver<()>) -> impl Fn(&Self) -> bool {
        move |_| told.try_recv().is_ok()
    }

    fn open(&self, name: &str) -> u64 {
        let live = self.world.store.census().unwrap().live;
        live.get(&(name.to_owned(), 1)).copied().unwrap_or(0)
    }

    fn is_completed(&self, id: ExecutionId) -> bool {
        let head = self.world.store.head(id).unwrap();
        head.is_some_and(|head| head.status == WorkflowStatus::Completed)
    }
}

#[test]
fn an_ordinary_run_takes_no_more_rounds_beside_a_workflow_that_starts_itself_twice() {
    let mut alone = Scene::new();
    let (id, _told) = alone.start("ordinary");
    let rounds_alone = alone.rounds_until("it is over", |scene| scene.is_completed(id));
    for bomb in ["forks", "starts"] {
        let mut scene = Scene::new();
        let (_, told) = scene.start(bomb);
        scene.rounds_until("it has begun", Scene::is_answered(told));
        scene.rounds_until("it is large", |scene| scene.inbox.len() > 2_000);
        let (id, told) = scene.start("ordinary");
        let answered = scene.rounds_until("it is answered", Scene::is_answered(told));
        assert!(answered <= 2, "{bomb}: answered after {answered} rounds");
        let rounds = scene.rounds_until("it is over", |scene| scene.is_completed(id));
        assert!(rounds <= 2 * rounds_alone, "{bomb}: {rounds} rounds, alone {rounds_alone}");
    }
}

#[test]
fn a_tree_that_is_ended_does_not_grow_and_is_over_as_fast_as_rounds_can_write_it() {
    let mut scene = Scene::new();
    let (root, _told) = scene.start("forks");
    scene.rounds_until("it is large", |scene| scene.open("forks") > 4_000);
    let event = Event::Terminated { reason: None, compensate: false };
    let told = scene.ask(Work::Event(Box::new(EventWork::own(root, event))));
    scene.rounds_until("its root is over", Scene::is_answered(told));
    let open = scene.open("forks");
    let (mut most, mut rounds) = (open, 0);
    while scene.open("forks") > 0 {
        scene.round();
        most = most.max(scene.open("forks"));
        rounds += 1;
        assert!(rounds < 2_000, "{} are still open", scene.open("forks"));
    }
    assert_eq!(most, open, "nothing is begun below what has ended");
    let of_all = usize::try_from(open).unwrap() / 256;
    assert!(rounds <= of_all + 40, "{rounds} rounds for {open} runs");
}
