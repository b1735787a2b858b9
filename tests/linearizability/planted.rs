//! # A planted bug: records that are read and not held
//!
//! Several lanes over one memory store, driven step by step by one seed, so that a seed that finds
//! something finds it again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use semel_engine::{Event, Pinned, RecordKey, Registry, Start, StartKey, pin};
use semel_model::{ExecutionId, Payload, SchemaDef, TaskDef, Timestamp, WorkflowDef};
use semel_runtime::{
    Answer, EventWork, Failure, Inbox, Item, Lane, Prepared, Sabotage, StartWork, Why, Work, World,
};
use semel_store::{Clock, MemoryStore, Plant, Store};
use semel_tests::dice::Dice;
use semel_tests::linearizability::{Asked, Operation, StartKeys, Status, Told, check};
use serde_json::json;

use crate::clients::STRATEGIES;

const LANES: u16 = 4;
const CLIENTS: usize = 16;
const STEPS: u64 = 1_500;
const KEY: &str = "k";

/// What a client hears.
type Heard = Arc<Mutex<Option<Result<Answer, Failure>>>>;

struct Sim {
    dice: Dice,
    world: Arc<World>,
    store: MemoryStore,
    lanes: Vec<(Lane, Arc<Inbox>, Option<Prepared>)>,
    definition: Arc<Pinned>,
    /// What each client waits for: when it asked, what, and where the answer will be.
    waiting: BTreeMap<usize, (u64, Asked, Heard)>,
    seen: Vec<Operation<Asked, Told>>,
    step: u64,
}

impl Sim {
    fn new(seed: u64, bug: Option<Plant>) -> Self {
        let clock = Arc::new(Clock::manual(Timestamp::from_ms(1_800_000_000_000)));
        let store = MemoryStore::new(clock);
        bug.into_iter().for_each(|bug| store.plant(bug));
        let world = Arc::new(World::new(Arc::new(store.clone()) as Arc<dyn Store>));
        let lane = |number| {
            let inbox = Arc::new(Inbox::default());
            let lane = Lane::new(number, Arc::clone(&world), Arc::clone(&inbox), Sabotage::None);
            (lane.expect("the memory store opens"), inbox, None)
        };
        let lanes = (0..LANES).map(lane).collect();
        let (dice, definition) = (Dice::of(seed), definition());
        let (waiting, seen) = (BTreeMap::new(), Vec::new());
        Self { dice, world, store, lanes, definition, waiting, seen, step: 0 }
    }

    fn run(mut self) -> Vec<Operation<Asked, Told>> {
        for _ in 0..STEPS {
            self.step += 1;
            match self.dice.below(4) {
                0 => self.ask(),
                1 => self.hear(),
                _ => self.drive(),
            }
        }
        for (client, (asked_at, asked, _)) in std::mem::take(&mut self.waiting) {
            let lost = Operation { client, asked_at, told: None, asked };
            self.seen.push(lost);
        }
        self.seen
    }

    fn ask(&mut self) {
        let client = self.dice.below(CLIENTS as u64) as usize;
        if self.waiting.contains_key(&client) {
            return;
        }
        if self.dice.once_in(4) {
            return self.look(client);
        }
        let latest = self.store.record(&RecordKey::start("raced", KEY)).ok().flatten();
        let run = latest.and_then(|record| record.run).filter(|_| self.dice.once_in(3));
        let (asked, work) = match run {
            Some(run) => (Asked::Terminate(run.to_string()), terminate(run)),
            None => {
                let at = self.dice.below(STRATEGIES.len() as u64) as usize;
                (Asked::Start(STRATEGIES[at], self.step.to_string()), self.start(STRATEGIES[at]))
            }
        };
        let heard = Heard::default();
        let told = Arc::clone(&heard);
        let reply = Box::new(move |answer| *told.lock().expect("one thread") = Some(answer));
        let lane = self.dice.below(u64::from(LANES)) as usize;
        self.lanes[lane].1.push(Item::new(work, reply));
        self.waiting.insert(client, (2 * self.step, asked, heard));
    }

    /// A committed read, at once.
    fn look(&mut self, client: usize) {
        let record = self.store.record(&RecordKey::start("raced", KEY)).expect("memory is read");
        let told = match record {
            None => Told::Unknown,
            Some(record) => Told::Latest(record.run.map(|run| {
                let status = if record.live { Status::Live } else { Status::Terminated };
                (run.to_string(), status)
            })),
        };
        let asked_at = 2 * self.step;
        let told = Some((asked_at + 1, told));
        self.seen.push(Operation { client, asked_at, told, asked: Asked::Look });
    }

    fn start(&mut self, strategy: &str) -> Work {
        let mut id = [0; 16];
        id.fill_with(|| self.dice.below(256) as u8);
        let strategy = strategy.parse().expect("a strategy of the contract");
        let definition = Arc::clone(&self.definition);
        let start = Start {
            definition: definition.digest(),
            idempotency_key: Some(KEY.to_owned()),
            ..Start::default()
        };
        Work::Start(Box::new(StartWork {
            id: ExecutionId::from_bytes(id),
            definition,
            found_in: None,
            start,
            input: Payload::empty(),
            key: Some(StartKey::new(KEY, strategy)),
            principal: "anonymous".to_owned(),
            event_id: String::new(),
        }))
    }

    /// One client who has been answered looks at it.
    fn hear(&mut self) {
        let is_told = |heard: &Heard| heard.lock().expect("one thread").is_some();
        let told: Vec<usize> =
            self.waiting.iter().filter(|(_, it)| is_told(&it.2)).map(|(at, _)| *at).collect();
        if told.is_empty() {
            return;
        }
        let client = told[self.dice.below(told.len() as u64) as usize];
        let Some((asked_at, asked, heard)) = self.waiting.remove(&client) else { return };
        let answer = heard.lock().expect("one thread").take();
        let told = answer.and_then(said).map(|told| (2 * self.step + 1, told));
        self.seen.push(Operation { client, asked_at, told, asked });
    }

    /// One lane does one thing: decides a round, or writes the one it has decided.
    fn drive(&mut self) {
        let at = self.dice.below(u64::from(LANES)) as usize;
        let (lane, inbox, prepared) = &mut self.lanes[at];
        let Some(round) = prepared.take() else {
            *prepared = lane.begin().expect("it is not replaced");
            return;
        };
        let stepped = lane.finish(round).unwrap_or_else(|down| panic!("{down}"));
        for (item, id) in stepped.prefetch {
            self.world.prefetch(id).expect("memory is read");
            inbox.push(item);
        }
    }
}

fn said(answer: Result<Answer, Failure>) -> Option<Told> {
    match answer {
        Ok(Answer::Started { id, created: true, .. }) => Some(Told::Created(id.to_string())),
        Ok(Answer::Started { id, .. }) => Some(Told::Existing(id.to_string())),
        Ok(_) => Some(Told::Done),
        Err(Failure::Refused(refused)) if refused.why == Why::Conflict => {
            Some(Told::Conflict(refused.found.run.to_string()))
        }
        Err(Failure::Unavailable | Failure::Busy) => None,
        Err(_) => Some(Told::Refused),
    }
}

fn terminate(execution: ExecutionId) -> Work {
    Work::Event(Box::new(EventWork {
        execution,
        event: Event::Terminated { reason: None, compensate: false },
        payloads: vec![],
        definition: None,
        actor: "anonymous".to_owned(),
        event_id: String::new(),
        next: None,
        logs: vec![],
    }))
}

fn definition() -> Arc<Pinned> {
    let definition = json!({"name": "raced", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "raced", "taskReferenceName": "only", "type": "SIMPLE"}]});
    let definition: WorkflowDef =
        serde_json::from_str(&definition.to_string()).expect("a definition");
    Arc::new(pin(definition, &mut Nothing).expect("it can be pinned"))
}

/// Where nothing is registered.
struct Nothing;

impl Registry for Nothing {
    fn task(&mut self, _: &str) -> Option<Arc<TaskDef>> {
        None
    }

    fn latest(&mut self, _: &str) -> Option<i32> {
        None
    }

    fn schema(&mut self, _: &str, _: i32) -> Option<SchemaDef> {
        None
    }
}

#[test]
fn lanes_that_hold_their_records_are_linearizable() {
    for seed in 1..=40 {
        let seen = Sim::new(seed, None).run();
        let answered = seen.iter().filter(|one| one.told.is_some()).count();
        assert!(answered > 50, "seed {seed} saw only {answered} answers");
        if let Err(violation) = check(&StartKeys, &seen) {
            panic!("seed {seed}: {}", violation.story);
        }
    }
}

#[test]
fn records_that_are_not_held_are_found_out() {
    let bug = Some(Plant::RecordsNotHeld);
    let caught = (1..=40).find(|seed| check(&StartKeys, &Sim::new(*seed, bug).run()).is_err());
    let seed = caught.expect("forty seeds did not notice that records are not held");
    println!("caught by seed {seed}");
}
