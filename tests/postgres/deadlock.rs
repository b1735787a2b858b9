//! # Deadlock: two that want each other's rows, of which one is a stranger
//!
//! Lanes hold in one order and never do this to each other, but somebody with a psql may.

use semel_store::conformance::samples::{self, BEGIN, execution, place};
use semel_store::{Stamp, Store, StoreError, Touches, Writes};
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, until};

use crate::fixture::Database;

const WAITS: &str = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' \
     AND application_name = 'semel lane' AND datname = current_database()";
const DEADLOCKS: &str = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_lane_that_a_deadlock_has_ended_is_told_that_nothing_happened() {
    let database = Database::new();
    let server = postgres::shared();
    let psql = |sql: &str| server.psql_at(&database.url, sql).unwrap();
    let name = database.url.rsplit('/').next().unwrap();
    // Sooner than the lane gives up by itself.
    psql(&format!("ALTER DATABASE {name} SET deadlock_timeout = '300ms'"));
    let store = database.open_as("node");
    let stamp = |round| Stamp { lane: 0, round, at: BEGIN, fence: 1 };
    let heads = samples::put_heads([samples::head(1)]).heads;
    let rows = samples::put_deliveries([samples::delivery(1, 1)]);
    store.writer(0).unwrap().commit(Writes { stamp: stamp(1), heads, ..rows }).unwrap();
    let touches = Touches {
        heads: [execution(1)].into(),
        deliveries: [place(1, 1)].into(),
        waits: true,
        ..Touches::default()
    };
    // The stranger may be late; what the lane is told is the same.
    until("there is a deadlock", DEADLINE, || {
        let mut lane = store.writer(0).unwrap();
        let mut stranger = server.session(&database.url).unwrap();
        stranger
            .run("SET deadlock_timeout = '1h'; BEGIN; SELECT 1 FROM deliveries FOR UPDATE")
            .unwrap();
        let held = std::thread::scope(|scope| {
            let held = scope.spawn(|| lane.hold(&touches));
            let waits = || (psql(WAITS) == "1" || held.is_finished()).then_some(());
            until("the lane waits", DEADLINE, waits).unwrap();
            stranger.tell("SELECT 1 FROM executions FOR UPDATE").unwrap();
            held.join().unwrap()
        });
        assert!(matches!(held, Err(StoreError::Contended)), "{held:?}");
        stranger.answer().unwrap();
        stranger.run("ROLLBACK").unwrap();
        assert!(lane.hold(&touches).unwrap().skipped.is_empty(), "now it is its turn");
        drop(lane); // What a connection has met is counted when it ends.
        until("the lane is gone", DEADLINE, || {
            let lanes = "SELECT count(*) FROM pg_stat_activity \
                 WHERE application_name = 'semel lane' AND datname = current_database()";
            (psql(lanes) == "0").then_some(())
        })
        .unwrap();
        (psql(DEADLOCKS) != "0").then_some(())
    })
    .unwrap();
}
