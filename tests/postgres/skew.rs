//! # Skew: the clock of the database was ahead, and is set right

use semel_engine::Head;
use semel_store::conformance::samples;
use semel_store::{Stamp, Store as _, Writes};
use semel_store_postgres::{OpenError, Options, PostgresStore, clock, set_clock_back};
use semel_tests::postgres;
use semel_tests::process::Server;

use crate::cluster::KEY;

const HOUR_MS: i64 = 3_600_000;
const TEN_YEARS_MS: i64 = 10 * 365 * 24 * HOUR_MS;

/// Data that was written while the clock of the database was so far ahead.
fn ahead(ms: i64) -> String {
    let url = postgres::shared().database().unwrap();
    let store = PostgresStore::open(&url, &Options::named("node")).unwrap();
    let at = store.now().plus_ms(ms);
    let held = samples::leased(samples::delivery(1, 1), at);
    let mut open = samples::delivery(1, 2);
    open.ready_at = at;
    let waits = Head { wake_at: Some(at.plus_ms(60_000)), ..samples::head(1) };
    let stamp = Stamp { lane: 0, round: 1, at, fence: 1 };
    let heads = samples::put_heads([waits]).heads;
    let rows = samples::put_deliveries([held, open]);
    store.writer(0).unwrap().commit(Writes { stamp, heads, ..rows }).unwrap();
    url
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn data_that_is_years_ahead_of_the_database_is_refused_until_it_is_set_back() {
    let url = ahead(TEN_YEARS_MS);
    let refused = PostgresStore::open(&url, &Options::named("node")).err().unwrap();
    assert!(matches!(refused, OpenError::Ahead { .. }), "{refused}");
    for part in ["days ahead of the clock of the database", "semel set-clock-back"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    let (now, last) = clock(&url).unwrap().unwrap();
    assert!(last.since_ms(now) > TEN_YEARS_MS - HOUR_MS);
    let done = set_clock_back(&url).unwrap().expect("it was ahead");
    assert_eq!((done.tasks, done.waiting), (2, 1), "{done:?}");
    assert_eq!(done.named, [samples::execution(1)]);
    assert_eq!(set_clock_back(&url).unwrap(), None);
    let store = PostgresStore::open(&url, &Options::named("node")).unwrap();
    let skew_ms = store.clock().skew_ms().unwrap();
    assert!((0..5_000).contains(&skew_ms), "{skew_ms}");
    let held = samples::place_of(&samples::delivery(1, 1));
    let lease = store.delivery(held).unwrap().unwrap().hand_out.lease_until.unwrap();
    assert!((0..=24 * HOUR_MS).contains(&lease.since_ms(store.now())), "{lease:?}");
    let open = store.delivery(samples::place_of(&samples::delivery(1, 2))).unwrap().unwrap();
    assert!(open.ready_at <= store.now(), "{open:?}");
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn data_that_is_an_hour_ahead_of_the_database_stands_still_and_says_so() {
    let url = ahead(HOUR_MS);
    let store = PostgresStore::open(&url, &Options::named("node")).unwrap();
    // The lane knows what it has committed; whoever opens does, too.
    let skew_ms = store.clock().skew_ms().unwrap();
    assert!((HOUR_MS / 2..=HOUR_MS).contains(&skew_ms), "{skew_ms}");
    drop(store);
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", &url, "--secrets-key", KEY, "--node", "late"];
    let mut server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    let health = caller.get("/health").unwrap().json();
    let ahead_ms = health["healthResults"][0]["details"]["aheadOfClockMs"].as_i64();
    assert!(ahead_ms.is_some_and(|ms| ms > HOUR_MS / 2), "{health}");
    let metrics = caller.get("/metrics").unwrap().body;
    let skew = metrics.lines().find_map(|line| line.strip_prefix("semel_clock_skew_seconds"));
    let skew: Option<f64> = skew.and_then(|skew| skew.rsplit(' ').next()?.parse().ok());
    assert!(skew.is_some_and(|seconds| seconds > 1_800.0), "{skew:?} {metrics}");
    let told = server.log().matches("the clock of the database is behind").count();
    assert_eq!(told, 1, "{}", server.log());
    let refused = set_clock_back(&url).err().unwrap();
    assert!(matches!(refused, OpenError::InUse { .. }), "{refused}");
    server.stop().unwrap();
}
