//! # A day: everything lanes and readers do, in small

use std::collections::{BTreeMap, BTreeSet};

use semel_engine::{Delivery, HandOut, Head, Queue, RecordKey};
use semel_model::Digest;
use semel_store::conformance::samples::{self, BEGIN, execution, place, queue};
use semel_store::conformance::search;
use semel_store::{
    Batch, DocumentKey, HandedOver, Kind, LogLine, Stamp, Store, Touches, Words, Writer, Writes,
};
use semel_store_postgres::PostgresStore;

/// Longer than what was told stays so.
const LATER_MS: i64 = 10_000;

fn document(number: u64) -> DocumentKey {
    DocumentKey { kind: Kind::Schema, name: number.to_string(), version: 1 }
}

fn domain() -> Queue {
    Queue { domain: Some("domain".to_owned()), ..queue("work") }
}

fn key(number: u8) -> RecordKey {
    RecordKey::start("w", &number.to_string())
}

/// By every kind of name, of rows that are there and of rows that are not.
fn touches(number: u8, waits: bool) -> Touches {
    let token = Digest::of(&[number]);
    Touches {
        heads: [execution(number), execution(99)].into(),
        limits: ["work".to_owned()].into(),
        records: [key(number), RecordKey::lock("door")].into(),
        deliveries: [place(number, 1), place(number, 9)].into(),
        all_deliveries: [execution(number)].into(),
        wanted: [(queue("work"), 3), (domain(), 3)].into(),
        tokens: [token].into(),
        polls: [token].into(),
        messages: [samples::message_key(number, 1, 0), samples::message_key(99, 1, 0)].into(),
        waiters: [(RecordKey::lock("door"), 9), (key(number), 9)].into(),
        documents: [document(number.into())].into(),
        waits,
        ..Touches::default()
    }
}

/// In every queue that is asked.
fn passed_over() -> BTreeMap<Queue, BTreeSet<Digest>> {
    let definitions: BTreeSet<_> = [Digest::of(b"busy")].into();
    [queue("work"), domain()].map(|queue| (queue, definitions.clone())).into()
}

fn head(number: u8) -> Head {
    Head { wake_at: Some(BEGIN), ..samples::head(number) }
}

/// All kinds of rows.
fn first(number: u8) -> Writes {
    let due = HandOut { armed: true, poll_until: Some(BEGIN), ..HandOut::default() };
    let due = Delivery { hand_out: due, ..samples::delivery(number, 1) };
    let later = Delivery { ready_at: BEGIN.plus_ms(1), ..samples::delivery(number, 2) };
    let line = "line".to_owned();
    Writes {
        entries: vec![(execution(number), 1, b"entry".to_vec())],
        heads: samples::put_heads([head(number)]).heads,
        messages: samples::put_messages([samples::message(number, 1, 0)]).messages,
        records: [(key(number), Some(samples::record(1)))].into(),
        limits: [("work".to_owned(), samples::window())].into(),
        pinned: [(Digest::of(&[number]), b"pinned".to_vec())].into(),
        given: [(execution(number), Digest::of(&[number]))].into(),
        documents: [(document(number.into()), Some(b"document".to_vec()))].into(),
        logs: vec![LogLine { place: place(number, 1), created_at: BEGIN, line }],
        ..samples::put_deliveries([due, later])
    }
}

/// A journal is longer, a task is handed out, and the rest is over.
fn second(number: u8, due: &Delivery) -> Writes {
    let mut moved = head(number);
    moved.link.seq += 1;
    let mut deliveries = samples::put_deliveries([samples::leased(due.clone(), BEGIN)]).deliveries;
    deliveries.insert(place(number, 2), None);
    Writes {
        heads: samples::put_heads([moved]).heads,
        deliveries,
        messages: samples::drop_messages([samples::message_key(number, 1, 0)]).messages,
        records: [(key(number), None)].into(),
        documents: [(document(number.into()), None)].into(),
        ..Writes::default()
    }
}

/// Rounds that skip and rounds that wait, what is due, what is offered, what became of a commit.
pub(super) fn of_a_lane(store: &PostgresStore) {
    let mut lane = store.writer(0).unwrap();
    lane.next_due(); // Nobody has looked yet, so readers do.
    let mut round = 0;
    let mut commit = |lane: &mut dyn Writer, writes: Writes| {
        round += 1;
        let stamp = Stamp { lane: 0, round, at: BEGIN, fence: round };
        lane.commit(Writes { stamp, ..writes }).unwrap();
        assert!(lane.happened(stamp).unwrap());
    };
    let yesterday = [execution(1), execution(2)].into();
    commit(&mut *lane, Writes { removed: yesterday, ..Writes::default() });
    for (number, waits) in [(1, false), (2, true)] {
        let touches = touches(number, waits);
        lane.hold(&touches).unwrap();
        commit(&mut *lane, first(number));
        // Its messages are left to their writer for a while.
        store.clock().advance_ms(LATER_MS);
        let due = lane.due(store.now(), 256).unwrap();
        assert!(!due.executions.is_empty() && !due.deliveries.is_empty());
        assert!(!due.messages.is_empty());
        let held = lane.hold(&Touches { passed_over: passed_over(), ..touches }).unwrap();
        let row = held.deliveries[&place(number, 1)].as_ref().unwrap();
        commit(&mut *lane, second(number, row));
        lane.offers(&[queue("work"), domain()].into(), 9).unwrap();
    }
    store.clock().advance_ms(-2 * LATER_MS); // The next one has the same day.
}

/// Everything that is asked of one thing, or of a page of them.
pub(super) fn of_readers(store: &PostgresStore) {
    let (id, digest) = (execution(2), Digest::of(&[2]));
    store.clock().advance_ms(0);
    assert!(store.head(id).unwrap().is_some());
    assert!(store.load(id, 0).unwrap().is_some());
    assert!(store.delivery(place(2, 1)).unwrap().is_some());
    assert_eq!(store.pinned(digest).unwrap().as_deref(), Some(&b"pinned"[..]));
    assert_eq!(store.logs(place(2, 1), 9).unwrap().len(), 1);
    store.record(&key(2)).unwrap();
    store.records("start", None, 9).unwrap();
    store.ended_before(BEGIN, 9).unwrap();
    store.expired_records(BEGIN, 9).unwrap();
    store.lapsed_records(BEGIN, 9).unwrap();
    store.ends_of_journals(None, 9).unwrap();
    store.ends_of_journals(Some(id), 9).unwrap();
    store.document(&document(2)).unwrap();
    store.documents(Kind::Schema, None).unwrap();
    store.documents(Kind::Schema, Some("2")).unwrap();
    store.documents_generation().unwrap();
    store.last_round(0).unwrap();
    store.fence_floor().unwrap();
    store.last_at().unwrap();
    let index = store.index();
    index.put(&batch()).unwrap();
    index.put(&Batch { removed: vec![id], ..Batch::default() }).unwrap();
    index.place_of(samples::task(1)).unwrap();
    index.indexed(None, 9).unwrap();
    index.indexed(Some(id), 9).unwrap();
    index.wordless(9).unwrap();
    index.snapshot(id).unwrap();
}

fn batch() -> Batch {
    let over = HandedOver { started_at: BEGIN, updated_at: BEGIN };
    Batch {
        emptied: vec![(execution(2), 1)],
        runs: vec![search::run(2)],
        tasks: vec![search::task_row(2, 1)],
        handed_over: [(place(2, 1), over)].into(),
        words: vec![Words { of: execution(2), seq: 1, text: "words".to_owned() }],
        snapshots: vec![(execution(2), b"snapshot".to_vec())],
        ..Batch::default()
    }
}
