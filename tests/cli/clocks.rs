//! # `semel set-clock-back`: data of a clock that was far ahead

use semel_tests::process::{Server, refused};
use serde_json::json;

use crate::house::semel_in;

const TEN_YEARS_MS: i64 = 10 * 365 * 24 * 3_600_000;
const HOUR_MS: i64 = 3_600_000;

/// A server whose clock was so far ahead, and is stopped.
fn ahead(ms: i64) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let mut server = Server::start(directory.path(), &["--test-clock"]).expect("it starts");
    let caller = server.caller().expect("a client can be made");
    let advanced = caller.post("/test/clock", &json!({ "advanceMs": ms })).expect("it answers");
    assert_eq!(advanced.status, 200, "{advanced:?}");
    let definition = json!({"name": "c_one", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "c_one", "taskReferenceName": "a", "type": "SIMPLE"}]});
    assert_eq!(caller.post("/api/metadata/workflow", &definition).expect("it answers").status, 200);
    assert_eq!(
        caller.post("/api/workflow", &json!({"name": "c_one"})).expect("it answers").status,
        200
    );
    server.stop().expect("it stops");
    directory
}

#[test]
fn data_that_is_years_ahead_is_refused_until_it_is_set_back() {
    let directory = ahead(TEN_YEARS_MS + HOUR_MS);
    let place = directory.path();
    let (ended, words) = refused(place, &[]).expect("it ends");
    assert_eq!(ended.code(), Some(1), "{words}");
    for part in ["is 3650 days ahead of the clock", "semel set-clock-back --data"] {
        assert!(words.contains(part), "{part:?} is not in {words}");
    }
    let run = |arguments: &[&str]| semel_in(place, arguments, &[]);
    let doctor = run(&["doctor", "--data", "data", "--listen", "127.0.0.1:1"]);
    assert_eq!((doctor.code, doctor.row("clock")[0]), (Some(1), "fail"), "{doctor:?}");
    let done = run(&["set-clock-back", "--data", "data"]).ok();
    assert!(done.stderr.contains("ahead of the clock, and goes on from now"), "{done:?}");
    assert!(done.stderr.contains("1 tasks that workers hold or wait for"), "{done:?}");
    let again = run(&["set-clock-back", "--data", "data"]).ok();
    assert!(again.stderr.contains("is not ahead of the clock"), "{again:?}");
    assert_eq!(run(&["set-clock-back", "--data", "nowhere"]).code, Some(4));
    assert_eq!(run(&["set-clock-back", "--store", "memory"]).code, Some(2));

    let mut server = Server::start(place, &[]).expect("it is served again");
    let held = run(&["set-clock-back", "--data", "data"]);
    assert_eq!(held.code, Some(5), "a server works on it: {held:?}");
    let caller = server.caller().expect("a client can be made");
    let task = caller.get("/api/tasks/poll/c_one?workerid=ann").expect("it answers");
    assert_eq!(task.status, 200, "the task waits no ten years: {task:?}");
    server.stop().expect("it stops");
}

#[test]
fn data_that_is_an_hour_ahead_is_served_and_told_of() {
    let directory = ahead(HOUR_MS);
    let mut server = Server::start(directory.path(), &[]).expect("it is served");
    let caller = server.caller().expect("a client can be made");
    let health = caller.get("/health").expect("it answers").json();
    let ahead_ms = health["healthResults"][0]["details"]["aheadOfClockMs"].as_i64();
    assert!(ahead_ms.is_some_and(|ms| (HOUR_MS / 2..=HOUR_MS).contains(&ms)), "{health}");
    let metrics = caller.get("/metrics").expect("it answers").body;
    let skew = metrics.lines().find_map(|line| line.strip_prefix("semel_clock_skew_seconds "));
    let skew: Option<f64> = skew.and_then(|skew| skew.trim().parse().ok());
    assert!(skew.is_some_and(|seconds| (1_800.0..=3_600.0).contains(&seconds)), "{skew:?}");
    let told = server.log().matches("behind the time of the data").count();
    assert_eq!(told, 1, "{}", server.log());
    let doctor = ["doctor", "--data", "data", "--listen", "127.0.0.1:1"];
    let doctor = semel_in(directory.path(), &doctor, &[]);
    assert_eq!(doctor.row("clock")[0], "warn", "{doctor:?}");
    server.stop().expect("it stops");
}
