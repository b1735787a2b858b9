//! # Shelves: all that a store holds can be taken out, and put into another

use std::sync::Arc;

use semel_engine::{MessageRow, Record, RecordKey, RecordState, Wait};
use semel_model::Digest;

use super::samples::{self, BEGIN, UNICODE};
use super::{Desk, Fixture};
use crate::transfer::{Mark, Outcome, compare, transfer};
use crate::{
    After, Clock, DocumentKey, Item, Kind, LogLine, MemoryStore, Page, Shelf, Stamp, Store,
    Touches, Writes,
};

const ALL: Page = Page { rows_max: 10_000, bytes_max: usize::MAX };

fn record_key(scope: &str, key: &str) -> RecordKey {
    RecordKey { scope: scope.to_owned(), key: key.to_owned() }
}

/// Rounds that put something on every shelf.
fn rounds() -> Vec<Writes> {
    let given = (samples::execution(1), Digest::of(b"given"));
    let mut first = samples::journal(1, 5);
    first.given.insert(given);
    first.pinned.extend([(given.1, b"given".to_vec()), (Digest::of(b"b"), b"b".to_vec())]);
    first.entries.extend(samples::journal(2, 2).entries);
    first.heads.extend(samples::journal(2, 2).heads);
    for (scope, key) in [("a", "b"), ("a", ""), ("B", "é"), (UNICODE, UNICODE), ("", "z")] {
        let record = Record { run: None, ..samples::record(1) };
        first.records.insert(record_key(scope, key), Some(record));
    }
    first.records.insert(record_key("z", "z"), Some(samples::record(2)));
    for (kind, name, version) in [
        (Kind::WorkflowDefinition, "b", 2),
        (Kind::WorkflowDefinition, "b", -1),
        (Kind::Application, UNICODE, 0),
        (Kind::Secret, "", 0),
        (Kind::Environment, "a", 0),
    ] {
        let key = DocumentKey { kind, name: name.to_owned(), version };
        first.documents.insert(key, Some(name.as_bytes().to_vec()));
    }
    first.limits.extend([("b".to_owned(), samples::window()), ("a".to_owned(), <_>::default())]);
    let mut second = samples::put_deliveries([
        samples::full_delivery(1, 1),
        samples::delivery(1, 2),
        samples::leased(samples::delivery(2, 1), BEGIN),
    ]);
    let waits = Some(Wait { on: record_key("a", "b"), since: 7 });
    second.messages = samples::put_messages([
        samples::message(1, 2, 1),
        samples::publication(1, 2, 0),
        MessageRow { waits, ..samples::message(2, 1, 0) },
    ])
    .messages;
    let line = |task, line: &str| LogLine {
        place: samples::place(1, task),
        created_at: BEGIN,
        line: line.to_owned(),
    };
    second.logs.extend([line(2, "x"), line(1, "second"), line(1, UNICODE)]);
    let third = Writes { logs: vec![line(1, "third"), line(2, "")], ..Writes::default() };
    vec![first, second, third]
}

fn fill(store: &dyn Store) {
    let mut writer = store.writer(0).expect("lane 0 exists");
    for (round, writes) in (1..).zip(rounds()) {
        let stamp = Stamp { lane: 0, round, at: store.now(), fence: 100 + round };
        writer.commit(Writes { stamp, ..writes }).expect("a good round is committed");
    }
}

fn memory() -> MemoryStore {
    MemoryStore::new(Arc::new(Clock::manual(BEGIN)))
}

/// A shelf, so many rows at a time.
fn walked(store: &dyn Store, shelf: Shelf, page: Page) -> Vec<Item> {
    let mut items = Vec::new();
    let mut after = After::nothing(shelf);
    loop {
        let rows = store.walk(&after, page).expect("readable");
        let Some(last) = rows.last() else { return items };
        after = last.after();
        assert!(rows.len() <= page.rows_max);
        items.extend(rows);
    }
}

pub(super) fn everything_on_shelves(store: &dyn Store) -> Vec<Item> {
    Shelf::ALL.into_iter().flat_map(|shelf| walked(store, shelf, ALL)).collect()
}

fn are_same(items: &[Item], others: &[Item]) -> bool {
    items.len() == others.len() && items.iter().zip(others).all(|(item, other)| item.is_same(other))
}

pub fn a_shelf_is_walked_in_the_order_of_its_keys(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    assert_eq!(everything_on_shelves(desk.store()), vec![]);
    fill(desk.store());
    let other = memory();
    fill(&other);
    for shelf in Shelf::ALL {
        let expected = walked(&other, shelf, ALL);
        assert!(expected.len() > usize::from(shelf != Shelf::Given), "{shelf:?} is a good sample");
        for rows_max in [1, 2, 1_000] {
            let items = walked(desk.store(), shelf, Page { rows_max, ..ALL });
            assert!(are_same(&items, &expected), "{items:?}\n{expected:?}");
        }
    }
}

pub fn a_page_ends_where_it_is_full(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let entries = (1..=4).map(|seq| (samples::execution(1), seq, vec![0; 10])).collect();
    desk.commit(Writes { entries, ..Writes::default() });
    for (bytes_max, rows) in [(1, 1), (10, 1), (11, 2), (20, 2), (25, 3), (1_000, 4)] {
        let page = Page { bytes_max, ..ALL };
        let found = desk.store().walk(&After::Journal(None), page).expect("readable");
        assert_eq!(found.len(), rows, "{bytes_max} bytes");
    }
}

pub fn everything_is_copied_from_a_store_and_into_it(fixture: &mut dyn Fixture) {
    let desk = Desk::new(fixture);
    let (first, last) = (memory(), memory());
    fill(&first);
    let done = transfer("first", &first, desk.store(), &mut |_| {}).expect("copied");
    let Outcome::Copied(compared) = done else { panic!("it was empty: {done:?}") };
    assert_eq!(compared.differences, [""; 0]);
    assert!(Mark::of(desk.store()).expect("readable").is_some_and(|mark| mark.is_done()));
    let done = transfer("here", desk.store(), &last, &mut |_| {}).expect("copied");
    assert!(matches!(done, Outcome::Copied(compared) if compared.differences.is_empty()));
    let compared = compare(&first, &last, &mut |_| {}).expect("readable");
    assert_eq!(compared.differences, [""; 0], "from one to another to a third");
    assert!(compared.counts.values().all(|(here, there)| here == there && *here > 0));
    assert_eq!(last.last_at().expect("readable"), first.last_at().expect("readable"));
    assert!(last.fence_floor().expect("readable") >= first.fence_floor().expect("readable"));
}

pub fn a_copy_leaves_what_is_due_and_who_may_report_as_it_was(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    let source = memory();
    fill(&source);
    transfer("source", &source, desk.store(), &mut |_| {}).expect("copied");
    desk.crash();
    let row = samples::leased(samples::delivery(2, 1), BEGIN);
    let place = samples::place_of(&row);
    let held = desk.look(&Touches { deliveries: [place].into(), ..Touches::default() });
    assert_eq!(held.deliveries[&place].as_ref().map(|row| row.hand_out.fence), Some(1));
    desk.advance_ms(70_000);
    let due = desk.due(100);
    assert!(due.deliveries.contains(&place), "its lease is over: {due:?}");
    assert_eq!(due.messages.len(), 2, "those that wait on no record");
    assert_eq!(desk.ready(&samples::queue("work"), 9), [samples::place(1, 2)]);
    let record = Some(Record { run: None, ..samples::record(1) });
    assert_eq!(desk.store().record(&record_key("a", "b")).expect("readable"), record);
    assert_eq!(record.map(|record| record.state), Some(RecordState::Completed));
}

pub fn the_last_time_a_store_was_alive_is_known(fixture: &mut dyn Fixture) {
    let mut desk = Desk::new(fixture);
    desk.advance_ms(5_000);
    let stamp = desk.commit(samples::put_heads([samples::head(1)]));
    assert_eq!(desk.store().last_at().expect("readable"), Some(stamp.at));
}
