//! # Traffic: rounds as one seed decides them
//!
//! For tests that give the same to several stores.

use std::collections::{BTreeMap, BTreeSet};

use semel_engine::{
    Address, Delivery, Detail, HandOut, Head, Link, MessageKey, MessageRow, Queue, Record,
    RecordKey, RecordState, Wait,
};
use semel_model::{Digest, ExecutionId, TaskId, Timestamp, Traceparent, WorkflowStatus};

use super::{Desk, samples};
use crate::{DocumentKey, Kind, LogLine, Place, Stamp, Touches, Writes};

pub(super) const EXECUTIONS: u64 = 5;
const TASKS: u64 = 4;

/// Knuth's MMIX generator: small, seeded, good enough to choose rows.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    pub(super) fn is_lucky(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    fn maybe<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.is_lucky(2) { Some(value(self)) } else { None }
    }

    pub(super) fn byte(&mut self, sides: u64) -> u8 {
        u8::try_from(self.roll(sides)).expect("few sides")
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
        root: dice.maybe(Dice::execution),
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

pub(super) fn touches(dice: &mut Dice) -> Touches {
    let tokens: BTreeSet<_> = some(dice, |dice| (dice.token(), ())).into_keys().collect();
    Touches {
        heads: some(dice, |dice| (dice.execution(), ())).into_keys().collect(),
        limits: some(dice, |dice| (dice.queue().task_type, ())).into_keys().collect(),
        records: some(dice, |dice| (dice.record_key(), ())).into_keys().collect(),
        deliveries: some(dice, |dice| (dice.place(), ())).into_keys().collect(),
        all_deliveries: some(dice, |dice| (dice.execution(), ())).into_keys().collect(),
        wanted: some(dice, |dice| (dice.queue(), usize::from(dice.byte(9)))),
        passed_over: BTreeMap::new(),
        ready_bytes: dice.maybe(|dice| usize::from(dice.byte(60))),
        polls: tokens.iter().copied().filter(|_| dice.is_lucky(2)).collect(),
        tokens,
        messages: some(dice, |dice| (dice.message_key(), ())).into_keys().collect(),
        waiters: some(dice, |dice| (dice.record_key(), usize::from(dice.byte(9)))),
        documents: some(dice, |dice| (dice.document(), ())).into_keys().collect(),
        waits: dice.is_lucky(2),
    }
}

pub(super) fn writes(dice: &mut Dice, desk: &Desk<'_>) -> Writes {
    let now = desk.now();
    let before = |id| desk.store().head(id).expect("readable");
    let mut heads = some(dice, |dice| {
        let id = dice.execution();
        (id, head(dice, before(id).as_ref(), id, now))
    });
    let deliveries = some(dice, |dice| {
        let at = dice.place();
        let before = desk.store().delivery(at).expect("readable");
        (at, delivery(dice, before.as_ref(), at, now))
    });
    let entry = |head: &Head| (head.id, head.link.seq, head.link.digest.as_bytes().to_vec());
    let entries = heads.values().map(entry).collect();
    // Tasks come and go with a word about their execution.
    for place in deliveries.keys() {
        if let Some(head) = before(place.execution) {
            heads.entry(place.execution).or_insert(head);
        }
    }
    Writes {
        entries,
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
        deliveries,
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
