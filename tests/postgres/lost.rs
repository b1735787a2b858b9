//! # Lost connections: what the database cut off did not happen, or is found out about

use semel_store::conformance::samples::{self, BEGIN, execution};
use semel_store::{Stamp, Store, StoreError, Touches, Writes};
use semel_tests::postgres;

use crate::fixture::Database;

/// Ends the connection of every lane of that database.
fn cut_off(database: &Database) {
    let cut = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
               WHERE application_name = 'semel lane' AND datname = current_database()";
    postgres::shared().psql_at(&database.url, cut).unwrap();
}

fn stamp(round: u64) -> Stamp {
    Stamp { lane: 0, round, at: BEGIN, fence: 0 }
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_round_that_was_cut_off_did_not_happen_and_the_next_one_does() {
    let database = Database::new();
    let store = database.open_as("node");
    let mut lane = store.writer(0).unwrap();
    let touches = Touches { heads: [execution(1)].into(), ..Touches::default() };
    lane.hold(&touches).unwrap();
    cut_off(&database);
    let writes = Writes { stamp: stamp(1), ..samples::put_heads([samples::head(1)]) };
    let error = lane.commit(writes.clone()).unwrap_err();
    assert!(matches!(error, StoreError::Unknown), "{error:?}");
    assert!(!lane.happened(stamp(1)).unwrap());
    assert_eq!(store.head(execution(1)).unwrap(), None);
    lane.hold(&touches).unwrap();
    lane.commit(writes).unwrap();
    assert!(lane.happened(stamp(1)).unwrap());
    assert_eq!(store.head(execution(1)).unwrap(), Some(samples::head(1)));
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_lane_that_was_cut_off_between_rounds_does_not_notice() {
    let database = Database::new();
    let store = database.open_as("node");
    let mut lane = store.writer(0).unwrap();
    for round in 1..=3 {
        let heads = samples::put_heads([samples::head(1)]);
        lane.hold(&Touches { heads: [execution(1)].into(), ..Touches::default() }).unwrap();
        lane.commit(Writes { stamp: stamp(round), ..heads }).unwrap();
        cut_off(&database);
    }
    assert_eq!(store.last_round(0).unwrap(), 3);
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_cannot_be_stored_has_a_culprit_and_leaves_nothing_behind() {
    let database = Database::new();
    let store = database.open_as("node");
    let mut lane = store.writer(0).unwrap();
    let mut bad = samples::head(1);
    bad.name = "a\0b".to_owned();
    let writes = Writes { stamp: stamp(1), ..samples::put_heads([bad, samples::head(2)]) };
    let error = lane.commit(writes).unwrap_err();
    assert!(matches!(error, StoreError::Corrupt(_)), "{error:?}");
    assert_eq!(store.head(execution(2)).unwrap(), None);
    let mut said = samples::head(2);
    said.parked = Some("a\0b".to_owned());
    lane.commit(Writes { stamp: stamp(1), ..samples::put_heads([said.clone()]) }).unwrap();
    assert_eq!(store.head(execution(2)).unwrap(), Some(said), "what programs say is kept");
    let entries = vec![(execution(2), 1, b"entry".to_vec())];
    lane.commit(Writes { stamp: stamp(2), entries: entries.clone(), ..Writes::default() }).unwrap();
    let error = lane.commit(Writes { stamp: stamp(3), entries, ..Writes::default() }).unwrap_err();
    assert!(matches!(&error, StoreError::Corrupt(why) if why.contains("exists")), "{error:?}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_row_that_cannot_be_read_is_named() {
    let database = Database::new();
    let store = database.open_as("node");
    let row = samples::delivery(1, 2);
    let put = samples::put_deliveries([row.clone()]);
    store.writer(0).unwrap().commit(Writes { stamp: stamp(1), ..put }).unwrap();
    let spoil = "UPDATE deliveries SET input = '\\xff'";
    postgres::shared().psql_at(&database.url, spoil).unwrap();
    let error = store.delivery(samples::place_of(&row)).unwrap_err();
    let name = format!("delivery {} of execution {}", row.task, row.execution);
    assert!(matches!(&error, StoreError::Corrupt(why) if why.contains(&name)), "{error}");
}
