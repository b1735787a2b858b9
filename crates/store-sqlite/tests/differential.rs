//! # Differential: the same rounds on memory and on SQLite, the same answers
//!
//! One seed decides everything. A failure names it, and `SEMEL_SEED=n` runs that one alone.

#![expect(clippy::unwrap_used, reason = "a test says what went wrong by panicking")]

use std::collections::BTreeMap;
use std::sync::Arc;

use semel_engine::{
    Address, Delivery, Detail, HandOut, Head, Link, MessageKey, MessageRow, Queue, Record,
    RecordKey, RecordState, Wait,
};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp, Traceparent, WorkflowStatus};
use semel_store::conformance::{Desk, Fixture, samples};
use semel_store::{
    Clock, DocumentKey, Kind, LogLine, MemoryStore, Place, Stamp, Store, Touches, Writes,
};
use semel_store_sqlite::SqliteStore;

const SEEDS: u64 = 4;
const ROUNDS: u32 = 100;
const EXECUTIONS: u64 = 5;
const TASKS: u64 = 4;

struct Memory(Option<MemoryStore>);

impl Fixture for Memory {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        let store = self.0.get_or_insert_with(|| MemoryStore::with_disk(clock));
        store.crash();
        Arc::new(store.clone())
    }
}

struct Sqlite(tempfile::TempDir);

impl Fixture for Sqlite {
    fn open(&mut self, clock: Arc<Clock>) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.0.path(), clock).unwrap())
    }
}

/// Knuth's MMIX generator: small, seeded, good enough to choose rows.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn is_lucky(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.is_lucky(2) { Some(value(self)) } else { None }
    }

    fn byte(&mut self, sides: u64) -> u8 {
        u8::try_from(self.roll(sides)).unwrap()
    }

    fn execution(&mut self) -> ExecutionId {
        samples::execution(self.byte(EXECUTIONS))
    }

    fn place(&mut self) -> Place {
        let execution = self.execution();
        Place { execution, task: self.task() }
    }

    fn task(&mut self) -> TaskId {
        samples::task(self.byte(TASKS))
    }

    fn text(&mut self) -> String {
        ["", "a", "b", samples::UNICODE][usize::from(self.byte(4))].to_owned()
    }

    fn near(&mut self, now: Timestamp) -> Timestamp {
        now.plus_ms(i64::from(self.byte(41)) * 500 - 5_000)
    }

    fn queue(&mut self) -> Queue {
        let task_type = ["work", "other"][usize::from(self.byte(2))].to_owned();
        Queue { task_type, domain: self.maybe(Self::text) }
    }

    fn document(&mut self) -> DocumentKey {
        let kind = [Kind::WorkflowDefinition, Kind::TaskDefinition][usize::from(self.byte(2))];
        DocumentKey { kind, name: self.text(), version: i32::from(self.byte(3)) }
    }

    fn record_key(&mut self) -> RecordKey {
        RecordKey { scope: self.text(), key: self.text() }
    }

    fn message_key(&mut self) -> MessageKey {
        let from = self.execution();
        MessageKey { from, seq: self.roll(3), at: u32::from(self.byte(2)) }
    }

    fn token(&mut self) -> Digest {
        Digest::of(&[self.byte(4)])
    }
}

fn head(dice: &mut Dice, before: Option<&Head>, id: ExecutionId, now: Timestamp) -> Head {
    let seq = before.map_or(0, |head| head.link.seq) + 1;
    let link = Link { seq, digest: Digest::of(&seq.to_be_bytes()) };
    if let Some(before) = before
        && dice.is_lucky(2)
    {
        return Head { link, updated_at: now, ..before.clone() };
    }
    let statuses = WorkflowStatus::ALL;
    Head {
        id,
        link,
        wake_at: dice.maybe(|dice| dice.near(now)),
        status: statuses[usize::from(dice.byte(statuses.len() as u64))],
        parked: dice.maybe(Dice::text),
        name: dice.text(),
        version: i32::from(dice.byte(9)),
        correlation_id: dice.maybe(Dice::text),
        idempotency_key: dice.maybe(Dice::text),
        principal: dice.text(),
        started_at: dice.near(now),
        updated_at: now,
        ended_at: dice.maybe(|dice| dice.near(now)).unwrap_or_default(),
    }
}

fn hand_out(dice: &mut Dice, now: Timestamp) -> HandOut {
    HandOut {
        fence: dice.roll(1000),
        leased: dice.is_lucky(2),
        worker: dice.maybe(Dice::text),
        lease_until: dice.maybe(|dice| dice.near(now)),
        run_until: dice.maybe(|dice| dice.near(now)),
        poll_until: dice.maybe(|dice| dice.near(now)),
        started_at: dice.near(now),
        updated_at: now,
        polls: u32::from(dice.byte(9)),
        token: dice.maybe(Dice::token),
        armed: !dice.is_lucky(3),
    }
}

fn delivery(
    dice: &mut Dice,
    before: Option<&Delivery>,
    at: Place,
    now: Timestamp,
) -> Option<Delivery> {
    if dice.is_lucky(4) {
        return None;
    }
    let hand_out = hand_out(dice, now);
    if let Some(before) = before
        && dice.is_lucky(2)
    {
        return Some(Delivery { hand_out, ..before.clone() });
    }
    let payload = |dice: &mut Dice| {
        let size = [0, 10, 700, 5_000][usize::from(dice.byte(4))];
        samples::payload(&format!("\"{}\"", "é".repeat(size)))
    };
    Some(Delivery {
        task: at.task,
        execution: at.execution,
        queue: dice.queue(),
        priority: i32::from(dice.byte(3)) - 1,
        ready_at: dice.near(now),
        seq: u32::from(dice.byte(3)),
        reference: dice.text(),
        attempt: u32::from(dice.byte(3)),
        epoch: u32::from(dice.byte(3)),
        scheduled_at: dice.near(now),
        definition: dice.token(),
        correlation_id: dice.maybe(Dice::text),
        traceparent: dice
            .maybe(|dice| Traceparent::new(1, u64::from(dice.byte(3)) + 1, 1))
            .flatten(),
        replaces: dice.maybe(Dice::task),
        reason: dice.maybe(Dice::text),
        input: payload(dice),
        output: payload(dice),
        hand_out,
    })
}

fn message(dice: &mut Dice, key: MessageKey) -> MessageRow {
    let to = match dice.is_lucky(2) {
        true => Address::Execution(dice.execution()),
        false => Address::Sink(dice.text()),
    };
    let since = u64::from(dice.byte(200));
    let waits = dice.maybe(|dice| Wait { on: dice.record_key(), since });
    MessageRow { key, to, body: dice.text().into_bytes(), waits }
}

fn log(dice: &mut Dice, now: Timestamp) -> LogLine {
    LogLine { place: dice.place(), created_at: dice.near(now), line: dice.text() }
}

/// One to four of anything.
fn some<K: Ord, V>(dice: &mut Dice, mut one: impl FnMut(&mut Dice) -> (K, V)) -> BTreeMap<K, V> {
    (0..dice.roll(4)).map(|_| one(dice)).collect()
}

fn touches(dice: &mut Dice) -> Touches {
    Touches {
        heads: some(dice, |dice| (dice.execution(), ())).into_keys().collect(),
        limits: some(dice, |dice| (dice.queue().task_type, ())).into_keys().collect(),
        records: some(dice, |dice| (dice.record_key(), ())).into_keys().collect(),
        deliveries: some(dice, |dice| (dice.place(), ())).into_keys().collect(),
        all_deliveries: some(dice, |dice| (dice.execution(), ())).into_keys().collect(),
        wanted: some(dice, |dice| (dice.queue(), usize::from(dice.byte(9)))),
        tokens: some(dice, |dice| (dice.token(), ())).into_keys().collect(),
        messages: some(dice, |dice| (dice.message_key(), ())).into_keys().collect(),
        waiters: some(dice, |dice| (dice.record_key(), usize::from(dice.byte(9)))),
        documents: some(dice, |dice| (dice.document(), ())).into_keys().collect(),
    }
}

fn writes(dice: &mut Dice, desk: &Desk<'_>) -> Writes {
    let now = desk.now();
    let before = |id| desk.store().head(id).unwrap();
    let heads = some(dice, |dice| {
        let id = dice.execution();
        (id, head(dice, before(id).as_ref(), id, now))
    });
    let entry = |head: &Head| (head.id, head.link.seq, head.link.digest.as_bytes().to_vec());
    Writes {
        entries: heads.values().map(entry).collect(),
        heads,
        limits: some(dice, |dice| (dice.queue().task_type, samples::window())),
        records: some(dice, |dice| {
            let run = dice.byte(EXECUTIONS);
            let expires_at = dice.maybe(|dice| dice.near(now));
            let record = Record {
                state: RecordState::ALL[usize::from(dice.byte(5) % 5)],
                run: dice.maybe(|_| samples::execution(run)),
                live: dice.is_lucky(2),
                expires_at,
                detail: Detail { owner: dice.maybe(Dice::text), ..Detail::default() },
                ..samples::record(run)
            };
            (dice.record_key(), dice.maybe(|_| record))
        }),
        deliveries: some(dice, |dice| {
            let at = dice.place();
            let before = desk.store().delivery(at).unwrap();
            (at, delivery(dice, before.as_ref(), at, now))
        }),
        messages: some(dice, |dice| {
            let key = dice.message_key();
            (key, dice.maybe(|dice| message(dice, key)))
        }),
        logs: (0..dice.roll(3)).map(|_| log(dice, now)).collect(),
        removed: (0..dice.roll(2) * dice.roll(2)).map(|_| dice.execution()).collect(),
        pinned: some(dice, |dice| (dice.token(), b"pinned".to_vec())),
        given: (0..dice.roll(2)).map(|_| (dice.execution(), dice.token())).collect(),
        documents: some(dice, |dice| {
            (dice.document(), dice.maybe(|dice| dice.text().into_bytes()))
        }),
        stamp: Stamp::default(),
    }
}

/// Everything the store can be asked, a line each.
fn everything(desk: &Desk<'_>, after_seq: u64, max: usize) -> String {
    let store = desk.store();
    let mut lines = vec![];
    for number in 0..EXECUTIONS {
        let id = samples::execution(u8::try_from(number).unwrap());
        let Some(loaded) = store.load(id, after_seq).unwrap() else { continue };
        lines.push(format!("{:?}", loaded.head));
        lines.extend(loaded.entries.iter().map(|entry| Digest::of(entry).to_string()));
        for row in &loaded.deliveries {
            lines.push(format!("{row:?}"));
            let place = Place { execution: id, task: row.task };
            lines.push(format!("{:?}", store.logs(place, max).unwrap()));
        }
    }
    for byte in 0..4 {
        lines.push(format!("{:?}", store.pinned(Digest::of(&[byte])).unwrap()));
    }
    for kind in [Kind::WorkflowDefinition, Kind::TaskDefinition] {
        lines.push(format!("{:?}", store.documents(kind, None).unwrap()));
    }
    let now = store.now();
    lines.push(format!("ended {:?}", store.ended_before(now, max).unwrap()));
    for scopes in ["", "a", samples::UNICODE] {
        lines.push(format!("{:?}", store.records(scopes, None, max).unwrap()));
        let after = RecordKey { scope: "a".to_owned(), key: "a".to_owned() };
        lines.push(format!("{:?}", store.records(scopes, Some(&after), max).unwrap()));
    }
    lines.push(format!("expired {:?}", store.expired_records(now, max).unwrap()));
    lines.push(format!("generation {}", store.documents_generation().unwrap()));
    lines.push(format!("fence {} {:?}", store.fence_floor().unwrap(), store.last_round(0)));
    lines.push(format!("{now:?}"));
    lines.join("\n")
}

fn run(seed: u64) {
    let (mut memory, mut sqlite) = (Memory(None), Sqlite(tempfile::tempdir().unwrap()));
    let mut desks = [Desk::new(&mut memory), Desk::new(&mut sqlite)];
    let mut dice = Dice(seed);
    for round in 0..ROUNDS {
        let wanted = touches(&mut dice);
        let writes = writes(&mut dice, &desks[0]);
        let (is_held, fence) = (!dice.is_lucky(3), dice.roll(1 << 40));
        let (advance_ms, due_max) = (i64::from(dice.byte(9)) * 400, usize::from(dice.byte(5)));
        let (is_crashing, after_seq) = (dice.is_lucky(20), dice.roll(40));
        let sweep_max = usize::from(dice.byte(9));
        let seen = desks.each_mut().map(|desk| {
            let held = if is_held { desk.hold(&wanted) } else { desk.look(&wanted) };
            desk.commit_with_fence(writes.clone(), fence);
            desk.advance_ms(advance_ms);
            let now = desk.now();
            let next_due = desk.writer().next_due();
            let due = desk.writer().due(now, due_max).unwrap();
            if is_crashing {
                desk.crash_for_ms(700);
            }
            let after = desk.look(&wanted);
            let rest = everything(desk, after_seq, sweep_max);
            format!("{held:?}\n{next_due:?} {due:?}\n{after:?}\n{rest}")
        });
        assert!(seen[0] == seen[1], "seed {seed}, round {round}: {}", difference(&seen));
    }
}

/// Both texts from just before the first character that differs.
fn difference(seen: &[String; 2]) -> String {
    let [memory, sqlite] = seen.each_ref().map(|text| text.chars());
    let same = memory.zip(sqlite).take_while(|(left, right)| left == right).count();
    let near = |text: &String| text.chars().skip(same.saturating_sub(200)).take(300).collect();
    let [memory, sqlite]: [String; 2] = seen.each_ref().map(near);
    format!("\n memory: {memory}\n sqlite: {sqlite}")
}

#[test]
fn memory_and_sqlite_give_the_same_answers() {
    match std::env::var("SEMEL_SEED") {
        Ok(seed) => run(seed.parse().unwrap()),
        Err(_) => (0..SEEDS).for_each(run),
    }
}
