//! # Nodes: several processes on one database
//!
//! What one holds another skips, what is not there one alone can make, what is told is told once.

use std::collections::BTreeSet;

use semel_engine::{Delivery, HandOut, RecordKey};
use semel_model::Digest;
use semel_store::conformance::samples::{self, BEGIN, execution, place, queue};
use semel_store::{DocumentKey, Due, Kind, Row, Stamp, Store, Touches, Writer, Writes};
use semel_store_postgres::PostgresStore;

use crate::fixture::Database;

fn two() -> (Database, [PostgresStore; 2]) {
    let database = Database::new();
    let nodes = ["one", "two"].map(|name| database.open_as(name));
    (database, nodes)
}

fn lanes(nodes: &[PostgresStore; 2]) -> [Box<dyn Writer>; 2] {
    nodes.each_ref().map(|node| node.writer(0).unwrap())
}

fn stamped(round: u64, writes: Writes) -> Writes {
    Writes { stamp: Stamp { lane: 0, round, at: BEGIN, fence: 1 }, ..writes }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_one_node_holds_another_skips_and_what_is_not_there_is_told_apart() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let message = samples::message(1, 1, 0);
    let rows = samples::put_deliveries([samples::delivery(1, 1), samples::delivery(1, 2)]);
    one.commit(stamped(
        1,
        Writes {
            heads: samples::put_heads([samples::head(1)]).heads,
            messages: samples::put_messages([message.clone()]).messages,
            records: [(RecordKey::start("w", "k"), Some(samples::record(1)))].into(),
            ..rows
        },
    ))
    .unwrap();
    let touches = Touches {
        heads: [execution(1), execution(2)].into(),
        records: [RecordKey::start("w", "k")].into(),
        deliveries: [place(1, 1), place(1, 9)].into(),
        messages: [message.key, samples::message_key(1, 1, 9)].into(),
        ..Touches::default()
    };
    let held = one.hold(&touches).unwrap();
    assert!(held.skipped.is_empty(), "{:?}", held.skipped);
    let all = Touches { all_deliveries: [execution(1)].into(), ..touches.clone() };
    let held = two.hold(&all).unwrap();
    let skipped = [
        Row::Head(execution(1)),
        Row::Record(RecordKey::start("w", "k")),
        Row::Delivery(place(1, 1)),
        Row::Message(message.key),
    ];
    assert_eq!(held.skipped, BTreeSet::from(skipped));
    assert_eq!(held.heads, [(execution(2), None)].into());
    assert_eq!(held.deliveries[&place(1, 9)], None);
    assert_eq!(held.deliveries[&place(1, 2)], Some(samples::delivery(1, 2)));
    assert_eq!(held.messages, [(samples::message_key(1, 1, 9), None)].into());
    two.release();
    one.release();
    assert!(two.hold(&all).unwrap().skipped.is_empty(), "it was let go");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_is_not_there_one_node_alone_can_make() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let key = RecordKey::start("w", "k");
    let document = DocumentKey { kind: Kind::TaskDefinition, name: "task".to_owned(), version: 0 };
    let touches = Touches {
        records: [key.clone()].into(),
        limits: ["work".to_owned()].into(),
        documents: [document.clone()].into(),
        ..Touches::default()
    };
    let held = one.hold(&touches).unwrap();
    assert_eq!(held.records, [(key.clone(), None)].into());
    let skipped = two.hold(&touches).unwrap().skipped;
    let names =
        [Row::Record(key.clone()), Row::Limit("work".to_owned()), Row::Document(document.clone())];
    assert_eq!(skipped, BTreeSet::from(names));
    two.release();
    let records = [(key.clone(), Some(samples::record(1)))].into();
    let documents = [(document.clone(), Some(b"body".to_vec()))].into();
    one.commit(stamped(1, Writes { records, documents, ..Writes::default() })).unwrap();
    let held = two.hold(&touches).unwrap();
    assert_eq!(held.records[&key], Some(samples::record(1)), "made by the other");
    assert_eq!(held.documents[&document], Some(b"body".to_vec()));
    assert!(held.limits.contains_key("work") && held.skipped.is_empty());
    assert_eq!(nodes[1].documents_generation().unwrap(), 1);
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn no_task_is_handed_out_by_two_nodes() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let rows = (0..20).map(|number| samples::delivery(1, number));
    one.commit(stamped(1, samples::put_deliveries(rows))).unwrap();
    let touches = |count| Touches { wanted: [(queue("work"), count)].into(), ..Touches::default() };
    let first = one.hold(&touches(7)).unwrap().ready.remove(&queue("work")).unwrap();
    let second = two.hold(&touches(20)).unwrap().ready.remove(&queue("work")).unwrap();
    assert_eq!(first, (0..7).map(|number| place(1, number)).collect::<Vec<_>>());
    assert_eq!(second, (7..20).map(|number| place(1, number)).collect::<Vec<_>>());
    let taken = first.iter().map(|at| samples::leased(row(at.task.as_bytes()[0]), BEGIN));
    one.commit(stamped(2, samples::put_deliveries(taken))).unwrap();
    two.release();
    let left = two.hold(&touches(20)).unwrap().ready.remove(&queue("work")).unwrap();
    assert_eq!(left, second);
}

fn row(number: u8) -> Delivery {
    samples::delivery(1, number)
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn of_a_token_that_another_node_works_on_nothing_is_told() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let token = Digest::of(b"token");
    let taken = |number| {
        let row = samples::leased(row(number), BEGIN);
        Delivery { hand_out: HandOut { token: Some(token), ..row.hand_out }, ..row }
    };
    one.commit(stamped(1, samples::put_deliveries([taken(1), taken(2)]))).unwrap();
    one.hold(&Touches { deliveries: [place(1, 1)].into(), ..Touches::default() }).unwrap();
    let touches = Touches { tokens: [token].into(), ..Touches::default() };
    let held = two.hold(&touches).unwrap();
    assert_eq!(held.by_token, [].into());
    assert_eq!(held.skipped, [Row::Delivery(place(1, 1))].into());
    two.release();
    one.release();
    let held = two.hold(&touches).unwrap();
    assert_eq!(held.by_token, [(token, vec![place(1, 1), place(1, 2)])].into());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_is_due_is_told_to_one_node() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let waiting = HandOut { armed: true, poll_until: Some(BEGIN), ..HandOut::default() };
    let waiting = Delivery { hand_out: waiting, ..samples::delivery(1, 1) };
    let messages = samples::put_messages([samples::message(1, 1, 0)]).messages;
    one.commit(stamped(1, Writes { messages, ..samples::put_deliveries([waiting]) })).unwrap();
    let told = two.due(BEGIN, 9).unwrap();
    assert_eq!(told.deliveries, [place(1, 1)]);
    assert_eq!(told.messages, [], "its writer carries it");
    assert_eq!(without_ripe(one.due(BEGIN, 9).unwrap()), Due::default());
    let later = BEGIN.plus_ms(60_000);
    let told = one.due(later, 9).unwrap();
    assert_eq!((told.deliveries.len(), told.messages.len()), (1, 1), "nobody had dealt with it");
    assert_eq!(without_ripe(two.due(later, 9).unwrap()), Due::default());
}

fn without_ripe(due: Due) -> Due {
    Due { ripe: Default::default(), ..due }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_lane_has_one_writer_and_the_first_one_writes_nothing_more() {
    let database = Database::new();
    let store = database.open_as("node");
    let mut first = store.writer(0).unwrap();
    first.commit(stamped(1, Writes::default())).unwrap();
    let mut second = database.open_as("node").writer(0).unwrap();
    assert!(first.hold(&Touches::default()).is_err());
    assert!(first.commit(stamped(2, Writes::default())).is_err());
    second.commit(stamped(2, Writes::default())).unwrap();
    assert_eq!(store.last_round(0).unwrap(), 2);
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn time_is_the_same_on_every_node() {
    let (_database, nodes) = two();
    nodes[0].clock().advance_ms(61_000);
    assert_eq!(nodes[0].now(), BEGIN.plus_ms(61_000));
    let held = nodes[1].writer(0).unwrap().hold(&Touches::default()).unwrap();
    assert_eq!(held.now, nodes[0].now());
    assert_eq!(nodes[1].now(), nodes[0].now(), "seen with the round");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_limit_counts_what_every_node_has_handed_out() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    let touches = Touches { limits: ["work".to_owned()].into(), ..Touches::default() };
    one.hold(&touches).unwrap();
    let token = Some(Digest::of(b"token"));
    let taken = samples::leased(samples::delivery(1, 1), BEGIN);
    let taken = Delivery { hand_out: HandOut { token, ..taken.hand_out }, ..taken };
    let limits = [("work".to_owned(), samples::window())].into();
    one.commit(stamped(1, Writes { limits, ..samples::put_deliveries([taken]) })).unwrap();
    let held = two.hold(&touches).unwrap();
    assert_eq!(held.limits["work"].in_flight, 1);
    assert_eq!(held.limits["work"].window, samples::window());
}
