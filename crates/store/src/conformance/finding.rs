//! # The index, differentially: the same rows and searches on several stores find the same
//!
//! One seed decides everything. A failure names it, and `SEMEL_SEED=n` runs that one alone.

use semel_model::{TaskStatus, Timestamp, WorkflowStatus};

use super::Desk;
use super::differential::Named;
use super::samples::{self, BEGIN};
use super::search::{run, task_row, words};
use super::traffic::Dice;
use crate::search::{Field, Hits, Search, TaskField, Type, WorkflowField};
use crate::{Batch, HandedOver, Index, Place, RunRow, TaskRow};

const SEARCHES: u32 = 12;
const RUNS: u64 = 12;
const TASKS: u64 = 24;
/// Fewer would prove nothing.
const FOUND_PER_ROUND_MIN: usize = 8;

/// With what is a wildcard or an escape somewhere.
const NAMES: [&str; 9] = ["", "a", "ab", "aBc", "a_c", "1%\\", "B[?]*c", "Ünï\u{10FFFF}", "wf-1"];
const STATES: [&str; 3] = ["RUNNING", "COMPLETED", "workflow"];
const PATTERNS: [&str; 8] = ["*", "a*", "*b*", "a_*", "*%*", "*\\", "B[?]*", "Ünï\u{10FFFF}*"];
const WORDS: [&str; 5] = ["alpha beta", "beta \"q\" gamma", "äöü % _ ", "{\"k\": [1, 2]}", ""];

/// The same rows and searches on each of them; panics where the first and another one differ.
pub fn find_the_same(stores: Vec<Named<'_>>, seed: u64, rounds: u32) {
    let (names, fixtures): (Vec<_>, Vec<_>) = stores.into_iter().unzip();
    let desks: Vec<Desk<'_>> = fixtures.into_iter().map(Desk::new).collect();
    let mut dice = Dice(seed);
    let mut found = 0;
    for round in 0..rounds {
        let batch = batch(&mut dice, u64::from(round) + 1);
        let searches: Vec<_> = (0..SEARCHES)
            .map(|_| (search::<WorkflowField>(&mut dice), search::<TaskField>(&mut dice)))
            .collect();
        let seen = desks.iter().map(|desk| {
            let index = desk.store().index();
            index.put(&batch).expect("it is written");
            let mut seen = everything(index);
            for ((runs, workflows), (tasks, places)) in &searches {
                let hits = index.workflows(workflows).expect(runs);
                seen.push((format!("runs {runs}: {hits:?}"), hits.page.len()));
                let hits: Hits<Place> = index.tasks(places).expect(tasks);
                seen.push((format!("tasks {tasks}: {hits:?}"), hits.page.len()));
            }
            seen
        });
        let seen: Vec<_> = seen.collect();
        for (name, other) in names.iter().zip(&seen).skip(1) {
            for ((expected, _), (answer, _)) in seen[0].iter().zip(other) {
                let first = names[0];
                assert!(
                    expected == answer,
                    "SEMEL_SEED={seed}, round {round}:\n{first}: {expected}\n{name}: {answer}"
                );
            }
        }
        found += seen[0].iter().map(|(_, count)| count).sum::<usize>();
    }
    let enough = FOUND_PER_ROUND_MIN * rounds as usize;
    assert!(found > enough, "the searches of seed {seed} find too little: {found}");
}

/// Everything but searches that an index can be asked, a line each; they find nothing.
fn everything(index: &dyn Index) -> Vec<(String, usize)> {
    let mut lines = vec![
        format!("indexed {:?}", index.indexed(None, 99).expect("readable")),
        format!("wordless {:?}", index.wordless(9).expect("readable")),
    ];
    for number in (0..RUNS).filter_map(|number| u8::try_from(number).ok()) {
        let id = samples::execution(number);
        lines.push(format!("{id} {:?}", index.snapshot(id).expect("readable")));
        lines.push(format!("after {id} {:?}", index.indexed(Some(id), 2).expect("readable")));
    }
    for number in (0..TASKS).filter_map(|number| u8::try_from(number).ok()) {
        let task = samples::task(number);
        lines.push(format!("{task} {:?}", index.place_of(task).expect("readable")));
    }
    lines.into_iter().map(|line| (line, 0)).collect()
}

/// One of them.
fn of<T: Clone>(dice: &mut Dice, choices: &[T]) -> T {
    choices[usize::try_from(dice.roll(choices.len() as u64)).expect("few choices")].clone()
}

fn time(dice: &mut Dice) -> Timestamp {
    if dice.is_lucky(4) { Timestamp::NOT_YET } else { BEGIN.plus_ms(dice.roll(6).cast_signed()) }
}

fn run_of(dice: &mut Dice, seq: u64) -> RunRow {
    let (started_at, ended_at) = (time(dice), time(dice));
    RunRow {
        seq,
        name: of(dice, &NAMES).to_owned(),
        version: i32::from(dice.byte(3)),
        status: of(dice, WorkflowStatus::ALL),
        correlation_id: of(dice, &NAMES).to_owned(),
        idempotency_key: of(dice, &NAMES).to_owned(),
        parent: (dice.roll(2) == 0).then(|| samples::execution(dice.byte(RUNS))),
        priority: i32::from(dice.byte(3)) - 1,
        started_at,
        ended_at,
        updated_at: time(dice).max(started_at).max(ended_at),
        has_new_words: dice.roll(2) == 0,
        ..run(dice.byte(RUNS))
    }
}

/// A task keeps its execution, type and names for ever.
fn task_of(dice: &mut Dice, seq: u64) -> TaskRow {
    let number = dice.byte(TASKS);
    let mut own = Dice(u64::from(number));
    let times = [time(dice), time(dice), time(dice)];
    TaskRow {
        seq,
        workflow_name: of(&mut own, &NAMES).to_owned(),
        task_type: of(&mut own, &NAMES).to_owned(),
        definition_name: of(&mut own, &NAMES).to_owned(),
        reference: of(&mut own, &NAMES).to_owned(),
        status: of(dice, TaskStatus::ALL),
        scheduled_at: times[0],
        started_at: times[1],
        ended_at: times[2],
        updated_at: times.into_iter().fold(Timestamp::NOT_YET, Timestamp::max),
        words: of(dice, &WORDS).to_owned(),
        ..task_row(own.byte(RUNS), number)
    }
}

/// Rows of one run come in the order of its journal.
fn batch(dice: &mut Dice, seq: u64) -> Batch {
    let few = |dice: &mut Dice| dice.roll(4);
    let tasks: Vec<_> = (0..few(dice)).map(|_| task_of(dice, seq)).collect();
    let handed_over = (0..few(dice)).map(|_| {
        let started_at = time(dice);
        (
            task_of(dice, seq).place,
            HandedOver { started_at, updated_at: started_at.max(time(dice)) },
        )
    });
    let handed_over = handed_over.collect();
    let read_at = seq.saturating_sub(dice.roll(3));
    Batch {
        handed_over,
        removed: (0..dice.roll(2) * few(dice))
            .map(|_| samples::execution(dice.byte(RUNS)))
            .collect(),
        emptied: (0..dice.roll(2) * few(dice))
            .map(|_| (samples::execution(dice.byte(RUNS)), seq))
            .collect(),
        runs: (0..few(dice)).map(|_| run_of(dice, seq)).collect(),
        tasks,
        words: (0..few(dice)).map(|_| words(dice.byte(RUNS), read_at, of(dice, &WORDS))).collect(),
        snapshots: (0..dice.roll(2))
            .map(|_| (samples::execution(dice.byte(RUNS)), vec![dice.byte(9)]))
            .collect(),
    }
}

fn value<F: Field>(dice: &mut Dice, field: F) -> String {
    match field.kind() {
        Type::Text if !field.choices().is_empty() => {
            let mut choices = field.choices();
            choices.extend(["*", "T*T", "FAILED*"]);
            of(dice, &choices).to_owned()
        }
        Type::Text => {
            let choices: &[&str] = match dice.roll(6) {
                0..3 => &NAMES,
                3 => &STATES,
                _ => &PATTERNS,
            };
            of(dice, choices).to_owned()
        }
        Type::Id => {
            let id = samples::execution(dice.byte(RUNS)).to_string();
            of(dice, &[id.clone(), format!("{}*", &id[..3]), String::new(), "*".to_owned(), id])
        }
        Type::Number => (dice.roll(4).cast_signed() - 1).to_string(),
        Type::Time => time(dice).ms().to_string(),
    }
}

fn clause<F: Field>(dice: &mut Dice) -> String {
    let (name, field) = of(dice, F::NAMES);
    let kind = field.kind();
    let quoted = |dice: &mut Dice| format!("'{}'", value(dice, field));
    match (dice.roll(4), kind) {
        (0, Type::Number | Type::Time) => {
            format!("{name} {} {}", of(dice, &[">", ">="]), value(dice, field))
        }
        (1, Type::Number | Type::Time) => {
            format!("{name} {} {}", of(dice, &["<", "<="]), value(dice, field))
        }
        (3, _) => format!("{name} != {}", quoted(dice)),
        (0, _) => {
            let count = if dice.roll(8) == 0 { 20 } else { dice.roll(3) + 1 };
            let values: Vec<_> = (0..count).map(|_| quoted(dice)).collect();
            format!("{name} IN ({})", values.join(", "))
        }
        _ => format!("{name} = {}", quoted(dice)),
    }
}

/// A clause, or a group of them.
fn criterion<F: Field>(dice: &mut Dice, depth: u64) -> String {
    match dice.roll(6 + 2 * depth) {
        0 => format!("NOT ({})", criterion::<F>(dice, depth + 1)),
        1 => {
            let word = of(dice, &["OR", "AND"]);
            let [one, other] = [(); 2].map(|()| criterion::<F>(dice, depth + 1));
            format!("({one} {word} {other})")
        }
        _ => clause::<F>(dice),
    }
}

fn search<F: Field>(dice: &mut Dice) -> (String, Search<F>) {
    let clauses: Vec<_> = (0..dice.roll(4)).map(|_| criterion::<F>(dice, 0)).collect();
    let free_text = match dice.roll(3) {
        0 => of(dice, &["beta", "ALPHA", "\"q\" g", "äöü", "[1, 2]}", "nobody", "% _"]),
        _ => "*",
    };
    let order: Vec<_> = (0..dice.roll(3))
        .map(|_| format!("{}:{}", of(dice, F::NAMES).0, of(dice, &["ASC", "DESC"])))
        .collect();
    let (query, order) = (clauses.join(" AND "), order.join("|"));
    let found = Search::parse(&query, free_text, &order).expect("it is well formed");
    let found = found.page(usize::from(dice.byte(5)), usize::from(dice.byte(9)));
    (format!("{query} {free_text} {order}"), found)
}
