//! # The index, differentially: the same rows and searches on memory and on SQLite
//!
//! One seed decides everything. A failure names it, and `SEMEL_SEED=n` runs that one alone.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::sync::Arc;

use semel_model::{TaskStatus, Timestamp, WorkflowStatus};
use semel_store::conformance::samples::{self, BEGIN};
use semel_store::conformance::search::{run, task_row};
use semel_store::search::{Field, Search, TaskField, Type, WorkflowField};
use semel_store::{Batch, Clock, HandedOver, Index, MemoryStore, RunRow, Store, TaskRow};
use semel_store_sqlite::SqliteStore;

const SEEDS: u64 = 6;
const ROUNDS: u32 = 60;
const SEARCHES: u32 = 12;
const RUNS: u64 = 12;
const TASKS: u64 = 24;

const NAMES: [&str; 7] = ["", "a", "ab", "abc", "B[?]*c", "Ünï\u{10FFFF}", "wf-1"];
const WORDS: [&str; 5] = ["alpha beta", "beta \"q\" gamma", "äöü % _ ", "{\"k\": [1, 2]}", ""];

/// Knuth's MMIX generator: small, seeded, good enough to choose rows.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn byte(&mut self, sides: u64) -> u8 {
        u8::try_from(self.roll(sides)).unwrap()
    }

    fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.roll(choices.len() as u64)).unwrap()].clone()
    }

    fn time(&mut self) -> Timestamp {
        if self.roll(4) == 0 {
            Timestamp::NOT_YET
        } else {
            BEGIN.plus_ms(self.roll(6).cast_signed())
        }
    }
}

fn run_of(dice: &mut Dice) -> RunRow {
    let (started_at, ended_at) = (dice.time(), dice.time());
    RunRow {
        seq: dice.roll(9),
        name: dice.of(&NAMES).to_owned(),
        version: i32::from(dice.byte(3)),
        status: dice.of(WorkflowStatus::ALL),
        correlation_id: dice.of(&NAMES).to_owned(),
        idempotency_key: dice.of(&NAMES).to_owned(),
        parent: (dice.roll(2) == 0).then(|| samples::execution(dice.byte(RUNS))),
        priority: i32::from(dice.byte(3)) - 1,
        started_at,
        ended_at,
        updated_at: dice.time().max(started_at).max(ended_at),
        has_new_words: dice.roll(2) == 0,
        ..run(dice.byte(RUNS))
    }
}

/// A task keeps its execution, type and names for ever.
fn task_of(dice: &mut Dice) -> TaskRow {
    let number = dice.byte(TASKS);
    let mut own = Dice(u64::from(number));
    let times = [dice.time(), dice.time(), dice.time()];
    TaskRow {
        workflow_name: own.of(&NAMES).to_owned(),
        task_type: own.of(&NAMES).to_owned(),
        definition_name: own.of(&NAMES).to_owned(),
        reference: own.of(&NAMES).to_owned(),
        status: dice.of(TaskStatus::ALL),
        scheduled_at: times[0],
        started_at: times[1],
        ended_at: times[2],
        updated_at: times.into_iter().max().unwrap(),
        words: dice.of(&WORDS).to_owned(),
        ..task_row(own.byte(RUNS), number)
    }
}

fn batch(dice: &mut Dice) -> Batch {
    let few = |dice: &mut Dice| dice.roll(4);
    let tasks: Vec<_> = (0..few(dice)).map(|_| task_of(dice)).collect();
    let handed_over = (0..few(dice)).map(|_| {
        let started_at = dice.time();
        (task_of(dice).place, HandedOver { started_at, updated_at: started_at.max(dice.time()) })
    });
    Batch {
        handed_over: handed_over.collect(),
        removed: (0..dice.roll(2) * few(dice))
            .map(|_| samples::execution(dice.byte(RUNS)))
            .collect(),
        emptied: (0..dice.roll(2) * few(dice))
            .map(|_| samples::execution(dice.byte(RUNS)))
            .collect(),
        runs: (0..few(dice)).map(|_| run_of(dice)).collect(),
        tasks,
        words: (0..few(dice))
            .map(|_| (samples::execution(dice.byte(RUNS)), dice.of(&WORDS).to_owned()))
            .collect(),
        snapshots: (0..dice.roll(2))
            .map(|_| (samples::execution(dice.byte(RUNS)), vec![dice.byte(9)]))
            .collect(),
    }
}

fn value(dice: &mut Dice, kind: Type) -> String {
    match kind {
        Type::Text => {
            let texts =
                ["RUNNING", "COMPLETED", "workflow", "*", "a*", "*b*", "B[?]*", "Ünï\u{10FFFF}*"];
            if dice.roll(2) == 0 { dice.of(&NAMES).to_owned() } else { dice.of(&texts).to_owned() }
        }
        Type::Id => {
            let id = samples::execution(dice.byte(RUNS)).to_string();
            dice.of(&[id.clone(), format!("{}*", &id[..3]), String::new(), "*".to_owned(), id])
        }
        Type::Number => (dice.roll(4).cast_signed() - 1).to_string(),
        Type::Time => dice.time().ms().to_string(),
    }
}

fn clause<F: Field>(dice: &mut Dice) -> String {
    let (name, field) = dice.of(F::NAMES);
    let kind = field.kind();
    let quoted = |dice: &mut Dice| format!("'{}'", value(dice, kind));
    match (dice.roll(3), kind) {
        (0, Type::Number | Type::Time) => format!("{name} > {}", value(dice, kind)),
        (1, Type::Number | Type::Time) => format!("{name} < {}", value(dice, kind)),
        (0, _) => {
            let count = if dice.roll(8) == 0 { 20 } else { dice.roll(3) + 1 };
            let values: Vec<_> = (0..count).map(|_| quoted(dice)).collect();
            format!("{name} IN ({})", values.join(", "))
        }
        _ => format!("{name} = {}", quoted(dice)),
    }
}

fn search<F: Field>(dice: &mut Dice) -> (String, Search<F>) {
    let clauses: Vec<_> = (0..dice.roll(4)).map(|_| clause::<F>(dice)).collect();
    let free_text = match dice.roll(3) {
        0 => dice.of(&["beta", "ALPHA", "\"q\" g", "äöü", "[1, 2]}", "nobody", "% _"]),
        _ => "*",
    };
    let order: Vec<_> = (0..dice.roll(3))
        .map(|_| format!("{}:{}", dice.of(F::NAMES).0, dice.of(&["ASC", "DESC"])))
        .collect();
    let (query, order) = (clauses.join(" AND "), order.join("|"));
    let found = Search::parse(&query, free_text, &order).unwrap();
    let found = found.page(usize::from(dice.byte(5)), usize::from(dice.byte(9)));
    (format!("{query} {free_text} {order}"), found)
}

fn run_seed(seed: u64) {
    let clock = || Arc::new(Clock::manual(BEGIN));
    let directory = tempfile::tempdir().unwrap();
    let memory = MemoryStore::new(clock());
    let sqlite = SqliteStore::open(directory.path(), clock()).unwrap();
    let both: [&dyn Index; 2] = [memory.index(), sqlite.index()];
    let mut dice = Dice(seed);
    let mut found = 0;
    for round in 0..ROUNDS {
        let batch = batch(&mut dice);
        both.iter().for_each(|index| index.put(&batch).unwrap());
        let at = |what: &str| format!("seed {seed}, round {round}: {what}");
        let walks =
            both.map(|index| (index.indexed(None, 99).unwrap(), index.wordless(9).unwrap()));
        assert_eq!(walks[0], walks[1], "{}", at("walk"));
        for _ in 0..SEARCHES {
            let (asked, search) = search::<WorkflowField>(&mut dice);
            let hits = both.map(|index| index.workflows(&search).expect(&asked));
            assert_eq!(hits[0], hits[1], "{}", at(&asked));
            found += hits[0].page.len();
            let (asked, search) = self::search::<TaskField>(&mut dice);
            let hits = both.map(|index| index.tasks(&search).expect(&asked));
            assert_eq!(hits[0], hits[1], "{}", at(&asked));
            found += hits[0].page.len();
        }
    }
    assert!(found > 500, "the searches of seed {seed} find too little to prove anything: {found}");
}

#[test]
fn memory_and_sqlite_find_the_same() {
    match std::env::var("SEMEL_SEED") {
        Ok(seed) => run_seed(seed.parse().unwrap()),
        Err(_) => (0..SEEDS).for_each(run_seed),
    }
}
