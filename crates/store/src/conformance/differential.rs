//! # Differential: the same rounds on several stores, the same answers
//!
//! One seed decides everything. A failure names it, and `SEMEL_SEED=n` runs that one alone.

use semel_engine::RecordKey;
use semel_model::Digest;

use super::shelves::everything_on_shelves;
use super::traffic::{self, Dice, EXECUTIONS};
use super::{Desk, Fixture, samples};
use crate::{Item, Kind, Place, Touches, Writes};

/// Opens nothing but what it is given.
pub type Named<'a> = (&'static str, &'a mut dyn Fixture);

/// The same rounds on each of them; panics where the first and another one differ.
pub fn give_the_same_answers(stores: Vec<Named<'_>>, seed: u64, rounds: u32) {
    let (names, fixtures): (Vec<_>, Vec<_>) = stores.into_iter().unzip();
    let mut desks: Vec<Desk<'_>> = fixtures.into_iter().map(Desk::new).collect();
    let mut dice = Dice(seed);
    for round in 0..rounds {
        let turn = Turn::roll(&mut dice, &desks[0]);
        let seen: Vec<String> = desks.iter_mut().map(|desk| turn.take(desk)).collect();
        for (name, other) in names.iter().zip(&seen).skip(1) {
            let (first, expected) = (names[0], &seen[0]);
            assert!(
                expected == other,
                "SEMEL_SEED={seed}, round {round}:{}",
                difference((first, expected), (name, other))
            );
        }
    }
}

/// The seed that is asked for, or the first few.
pub fn seeds(count: u64) -> Vec<u64> {
    match std::env::var("SEMEL_SEED") {
        Ok(seed) => vec![seed.parse().expect("SEMEL_SEED is a whole number")],
        Err(_) => (0..count).collect(),
    }
}

/// What is done to every store in one round.
struct Turn {
    wanted: Touches,
    writes: Writes,
    is_held: bool,
    fence: u64,
    advance_ms: i64,
    due_max: usize,
    is_crashing: bool,
    after_seq: u64,
    sweep_max: usize,
}

impl Turn {
    fn roll(dice: &mut Dice, desk: &Desk<'_>) -> Self {
        Self {
            wanted: traffic::touches(dice),
            writes: traffic::writes(dice, desk),
            is_held: !dice.is_lucky(3),
            fence: dice.roll(1 << 40),
            advance_ms: i64::from(dice.byte(9)) * 400,
            due_max: usize::from(dice.byte(5)),
            is_crashing: dice.is_lucky(20),
            after_seq: dice.roll(40),
            sweep_max: usize::from(dice.byte(9)),
        }
    }

    /// Everything that can be seen of it.
    fn take(&self, desk: &mut Desk<'_>) -> String {
        let wanted = &self.wanted;
        let held = if self.is_held { desk.hold(wanted) } else { desk.look(wanted) };
        desk.commit_with_fence(self.writes.clone(), self.fence);
        desk.advance_ms(self.advance_ms);
        let now = desk.now();
        let next_due = desk.writer().next_due();
        let due = desk.writer().due(now, self.due_max).expect("due is known");
        if self.is_crashing {
            desk.crash_for_ms(700);
        }
        let after = desk.look(wanted);
        let rest = everything(desk, self.after_seq, self.sweep_max);
        format!("{held:?}\n{next_due:?} {due:?}\n{after:?}\n{rest}")
    }
}

/// Both texts from just before the first character that differs.
fn difference(expected: (&str, &str), other: (&str, &str)) -> String {
    let letters = expected.1.chars().zip(other.1.chars());
    let same = letters.take_while(|(left, right)| left == right).count();
    let near =
        |text: &str| text.chars().skip(same.saturating_sub(200)).take(400).collect::<String>();
    format!("\n{}: {}\n{}: {}", expected.0, near(expected.1), other.0, near(other.1))
}

/// Everything the store can be asked, a line each.
fn everything(desk: &Desk<'_>, after_seq: u64, max: usize) -> String {
    let store = desk.store();
    let mut lines = vec![];
    for number in 0..EXECUTIONS {
        let id = samples::execution(u8::try_from(number).expect("few executions"));
        let Some(loaded) = store.load(id, after_seq).expect("readable") else { continue };
        lines.push(format!("{:?}", loaded.head));
        lines.extend(loaded.entries.iter().map(|entry| Digest::of(entry).to_string()));
        for row in &loaded.deliveries {
            lines.push(format!("{row:?}"));
            let place = Place { execution: id, task: row.task };
            lines.push(format!("{:?}", store.logs(place, max).expect("readable")));
        }
    }
    for byte in 0..4 {
        lines.push(format!("{:?}", store.pinned(Digest::of(&[byte])).expect("readable")));
    }
    for kind in [Kind::WorkflowDefinition, Kind::TaskDefinition] {
        lines.push(format!("{:?}", store.documents(kind, None).expect("readable")));
    }
    let now = store.now();
    lines.push(format!("ended {:?}", store.ended_before(now, max).expect("readable")));
    for scopes in ["", "a", samples::UNICODE] {
        lines.push(format!("{:?}", store.records(scopes, None, max).expect("readable")));
        let after = RecordKey { scope: "a".to_owned(), key: "a".to_owned() };
        lines.push(format!("{:?}", store.records(scopes, Some(&after), max).expect("readable")));
    }
    lines.push(format!("expired {:?}", store.expired_records(now, max).expect("readable")));
    lines.push(format!("lapsed {:?}", store.lapsed_records(now, max).expect("readable")));
    lines.push(format!("generation {}", store.documents_generation().expect("readable")));
    lines.push(format!(
        "fence {} {:?}",
        store.fence_floor().expect("readable"),
        store.last_round(0)
    ));
    for item in everything_on_shelves(store) {
        let line = if let Item::Line(_, line) = &item { Some(line) } else { None };
        lines.push(line.map_or_else(|| format!("{item:?}"), |line| format!("{line:?}")));
    }
    lines.push(format!("{now:?}"));
    lines.join("\n")
}
