//! # Nodes: several processes on one database
//!
//! What one holds another skips, what is not there one alone can make, what is told is told once.

use std::collections::BTreeSet;

use semel_engine::{Address, Delivery, HandOut, Head, MessageKey, RecordKey};
use semel_model::{Digest, ExecutionId};
use semel_store::conformance::samples::{self, BEGIN, execution, place, queue};
use semel_store::{
    DocumentKey, Due, Kind, Place, Row, Stamp, Store, StoreError, Touches, Writer, Writes,
};
use semel_store_postgres::PostgresStore;
use semel_tests::postgres;

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

/// All kinds of what can be due: to be woken, to be taken, to be told to a run and to the world.
fn armed(number: u8) -> Writes {
    let waiting = HandOut { armed: true, poll_until: Some(BEGIN), ..HandOut::default() };
    let waiting = Delivery { hand_out: waiting, ..samples::delivery(number, 1) };
    let head = Head { wake_at: Some(BEGIN), ..samples::head(number) };
    let messages = [samples::message(number, 1, 0), samples::publication(number, 1, 1)];
    Writes {
        heads: samples::put_heads([head]).heads,
        messages: samples::put_messages(messages).messages,
        ..samples::put_deliveries([waiting])
    }
}

fn told(due: &Due) -> (Vec<ExecutionId>, Vec<Place>, Vec<MessageKey>) {
    let messages = due.messages.iter().map(|(key, _)| *key).collect();
    (due.executions.clone(), due.deliveries.clone(), messages)
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_is_due_is_told_to_one_node() {
    let (_database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    one.commit(stamped(1, armed(1))).unwrap();
    let first = two.due(BEGIN, 9).unwrap();
    assert_eq!(
        told(&first),
        (vec![execution(1)], vec![place(1, 1)], vec![]),
        "of messages its writer"
    );
    assert_eq!(without_ripe(one.due(BEGIN, 9).unwrap()), Due::default());
    let later = BEGIN.plus_ms(60_000);
    let messages = [0, 1].map(|at| samples::message_key(1, 1, at)).to_vec();
    let again = one.due(later, 9).unwrap();
    let all = (vec![execution(1)], vec![place(1, 1)], messages);
    assert_eq!(told(&again), all, "nobody had dealt with it");
    assert!(matches!(&again.messages[1].1, Address::Sink(_)));
    assert_eq!(without_ripe(two.due(later, 9).unwrap()), Due::default());
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_another_node_is_looking_at_is_passed_over() {
    let (database, nodes) = two();
    let [mut one, mut two] = lanes(&nodes);
    one.commit(stamped(1, armed(1))).unwrap();
    one.commit(stamped(2, armed(2))).unwrap();
    let mut other = postgres::shared().session(&database.url).unwrap();
    let look = |table, column| {
        format!("SELECT 1 FROM {table} WHERE {column} = '{}' FOR UPDATE", execution(1))
    };
    let tables = [("executions", "id"), ("deliveries", "execution"), ("messages", "sender")];
    let looks = tables.map(|(table, column)| look(table, column)).join("; ");
    other.run(&format!("BEGIN; {looks}")).unwrap();
    let later = BEGIN.plus_ms(60_000);
    let of = |number| {
        let messages = [0, 1].map(|at| samples::message_key(number, 1, at)).to_vec();
        (vec![execution(number)], vec![place(number, 1)], messages)
    };
    assert_eq!(told(&two.due(later, 9).unwrap()), of(2));
    other.run("ROLLBACK").unwrap();
    assert_eq!(told(&two.due(later, 9).unwrap()), of(1), "it was only looked at");
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
    let is_replaced = |told: Result<(), StoreError>| matches!(told, Err(StoreError::Replaced));
    let stamp = stamped(2, Writes::default()).stamp;
    assert!(
        is_replaced(first.happened(stamp).map(drop)),
        "the round of that number is not its own"
    );
    assert!(is_replaced(first.due(BEGIN, 9).map(drop)), "what is due is not its business any more");
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

/// As after a failover to a machine that is behind.
#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_node_that_comes_while_the_clock_is_behind_is_not() {
    let (database, nodes) = two();
    let late = BEGIN.plus_ms(3_600_000);
    nodes[0].clock().advance_ms(3_600_000);
    let stamp = Stamp { lane: 0, round: 1, at: late, fence: 1 };
    nodes[0].writer(0).unwrap().commit(Writes { stamp, ..Writes::default() }).unwrap();
    database.set_clock(BEGIN);
    let node = database.open_as("three");
    assert_eq!(node.now(), late);
    let mut lane = node.writer(0).unwrap();
    let task = Delivery { ready_at: late, ..samples::delivery(1, 1) };
    lane.commit(Writes { stamp, ..samples::put_deliveries([task]) }).unwrap();
    assert_eq!(lane.offers(&[queue("work")].into(), 9).unwrap(), [(queue("work"), 1)].into());
    let held = lane.hold(&Touches { wanted: [(queue("work"), 9)].into(), ..Touches::default() });
    let held = held.unwrap();
    assert_eq!(held.now, late, "a lease that begins now does not end at once");
    assert_eq!(held.ready[&queue("work")], [place(1, 1)]);
    assert_eq!(nodes[0].now(), late, "nor does a node go back that was there");
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
