//! # Plans: a lane never reads a whole table

use semel_engine::{Delivery, HandOut, Head, RecordKey};
use semel_model::Digest;
use semel_store::conformance::samples::{self, BEGIN, execution, place, queue};
use semel_store::{DocumentKey, Kind, Stamp, Store, Touches, Writes};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, until};

use crate::fixture::Database;

/// What grows with the work there is.
const TABLES: [&str; 8] = [
    "executions",
    "journal",
    "deliveries",
    "messages",
    "records",
    "placeholders",
    "task_logs",
    "pinned",
];

fn writes(round: u64) -> Writes {
    let number = u8::try_from(round).unwrap();
    let due = HandOut { armed: true, poll_until: Some(BEGIN), ..HandOut::default() };
    let due = Delivery { hand_out: due, ..samples::delivery(number, 1) };
    let rows = [due, samples::leased(samples::delivery(number, 2), BEGIN)];
    Writes {
        stamp: Stamp { lane: 0, round, at: BEGIN, fence: round },
        entries: vec![(execution(number), 1, b"entry".to_vec())],
        heads: samples::put_heads([Head { wake_at: Some(BEGIN), ..samples::head(number) }]).heads,
        messages: samples::put_messages([samples::message(number, 1, 0)]).messages,
        records: [(RecordKey::start("w", &format!("{round}")), Some(samples::record(1)))].into(),
        pinned: [(Digest::of(b"pinned"), b"pinned".to_vec())].into(),
        ..samples::put_deliveries(rows)
    }
}

fn touches(round: u64) -> Touches {
    let number = u8::try_from(round).unwrap();
    Touches {
        heads: [execution(number)].into(),
        limits: ["work".to_owned()].into(),
        records: [RecordKey::start("w", &format!("{round}"))].into(),
        deliveries: [place(number, 1), place(number, 9)].into(),
        all_deliveries: [execution(number)].into(),
        wanted: [(queue("work"), 3)].into(),
        tokens: [Digest::of(b"token")].into(),
        polls: [Digest::of(b"token")].into(),
        messages: [samples::message_key(number, 1, 0)].into(),
        waiters: [(RecordKey::lock("door"), 9)].into(),
        documents: [DocumentKey { kind: Kind::Schema, name: "s".to_owned(), version: 1 }].into(),
        waits: round.is_multiple_of(2),
    }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn no_statement_of_a_lane_reads_a_whole_table() {
    let database = Database::new();
    let store = database.open_as("node");
    let psql = |sql: &str| postgres::shared().psql_at(&database.url, sql).unwrap();
    // What a connection has done is counted when it ends.
    let await_end = |application: &str| {
        let count = format!(
            "SELECT count(*) FROM pg_stat_activity \
             WHERE application_name = '{application}' AND datname = current_database()"
        );
        until("the connections end", DEADLINE, || (psql(&count) == "0").then_some(())).unwrap();
    };
    await_end("semel");
    psql("SELECT pg_stat_reset()");
    let mut lane = store.writer(0).unwrap();
    for round in 1..=20 {
        lane.hold(&touches(round)).unwrap();
        lane.commit(writes(round)).unwrap();
        lane.hold(&touches(round)).unwrap();
        let removed = if round % 5 == 0 { [execution(1)].into() } else { Default::default() };
        let dropped = samples::drop_messages([samples::message_key(3, 1, 0)]).messages;
        let next = Stamp { lane: 0, round: round + 100, at: BEGIN, fence: round };
        lane.commit(Writes { stamp: next, removed, messages: dropped, ..Writes::default() })
            .unwrap();
        lane.due(BEGIN.plus_ms(i64::try_from(round).unwrap() * 10_000), 100).unwrap();
    }
    drop(lane);
    await_end("semel lane");
    for table in TABLES {
        let scans = format!("SELECT seq_scan FROM pg_stat_user_tables WHERE relname = '{table}'");
        assert_eq!(psql(&scans), "0", "{table} is read from one end to the other");
    }
}
