//! # Lost connections: what the database cut off did not happen, or is found out about

use semel_store::conformance::samples::{self, BEGIN, execution};
use semel_store::{Stamp, Store, StoreError, Touches, Writes};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, until};

use crate::between::{Between, COMMITTED};
use crate::fixture::Database;

const HOUR_MS: i64 = 3_600_000;

/// Ends the connection of every lane of that database; returns when they are gone.
fn cut_off(database: &Database) {
    let cut = "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity \
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
fn a_commit_whose_answer_is_lost_is_known_to_have_happened() {
    let database = Database::new();
    let between = Between::stand();
    let store = between.way_to(&database).open_as("node");
    let mut lane = store.writer(0).unwrap();
    for round in 1..=2 {
        let writes = samples::put_heads([samples::head(u8::try_from(round).unwrap())]);
        between.cut_at(COMMITTED);
        let error = lane.commit(Writes { stamp: stamp(round), ..writes }).unwrap_err();
        assert!(matches!(error, StoreError::Unknown), "{error:?}");
        assert!(between.has_cut(), "the database had committed");
        assert!(lane.happened(stamp(round)).unwrap());
        assert!(!lane.happened(stamp(round + 1)).unwrap());
    }
    assert_eq!(store.head(execution(2)).unwrap(), Some(samples::head(2)));
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn leases_get_the_time_that_passed_before_a_lost_commit_was_found_out_about() {
    let database = Database::new();
    let between = Between::stand();
    let store = between.way_to(&database).open_as("node");
    let mut lane = store.writer(0).unwrap();
    let row = samples::leased(samples::delivery(1, 1), BEGIN.plus_ms(1_000));
    between.cut_at(COMMITTED);
    let writes = Writes { stamp: stamp(1), ..samples::put_deliveries([row.clone()]) };
    assert!(matches!(lane.commit(writes), Err(StoreError::Unknown)));
    database.set_clock(BEGIN.plus_ms(HOUR_MS));
    assert!(lane.happened(stamp(1)).unwrap());
    let lease = || store.delivery(samples::place_of(&row)).unwrap().unwrap().hand_out.lease_until;
    assert_eq!(lease(), row.hand_out.lease_until.map(|until| until.plus_ms(HOUR_MS)));
    assert_eq!(lane.due(BEGIN.plus_ms(HOUR_MS), 10).unwrap().deliveries, []);
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn what_became_of_a_commit_is_told_when_it_is_over() {
    let database = Database::new();
    let store = database.open_as("node");
    let mut lane = store.writer(0).unwrap();
    lane.commit(Writes { stamp: stamp(1), ..Writes::default() }).unwrap();
    let server = postgres::shared();
    for (round, end, has_happened) in [(2, "ROLLBACK", false), (2, "COMMIT", true)] {
        std::thread::scope(|scope| {
            let mut lost = server.session(&database.url).unwrap();
            lost.run(&format!("BEGIN; UPDATE lanes SET round = {round}")).unwrap();
            let told = scope.spawn(|| lane.happened(stamp(round)).unwrap());
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
                 AND application_name = 'semel lane' AND datname = current_database()";
            let is_so = || {
                assert!(!told.is_finished(), "it is not over");
                (server.psql_at(&database.url, waits).unwrap() == "1").then_some(())
            };
            until("the lane waits", DEADLINE, is_so).unwrap();
            lost.run(end).unwrap();
            assert_eq!(told.join().unwrap(), has_happened, "{end}");
        });
    }
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
