//! # Standstill: a database that takes what it is sent and says nothing, or lets nobody in
//!
//! The first is a machine that is paused, or whose disk hangs: no connection ends. Whoever asks how the
//! node is hears of it, leases get the time in which nobody could renew them, and nothing has to be
//! started again. Nor is a database that is away asked all the time.

use std::time::{Duration, Instant};

use semel_tests::postgres::{self, Postgres};
use semel_tests::process::{Caller, DEADLINE, Server, until};
use serde_json::json;

use crate::cluster::KEY;

const LEASE_SECONDS: u64 = 6;
const LEASE: &str = "SELECT lease_until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint \
     FROM deliveries";

fn define(caller: &Caller, lease_seconds: u64) {
    let task = json!([{"name": "work", "retryCount": 3, "retryDelaySeconds": 0,
        "responseTimeoutSeconds": lease_seconds, "timeoutSeconds": 0}]);
    let step = json!({"name": "work", "taskReferenceName": "work", "type": "SIMPLE"});
    let workflow = json!({"name": "one", "version": 1, "schemaVersion": 2, "tasks": [step]});
    for (path, body) in [("/api/metadata/taskdefs", task), ("/api/metadata/workflow", workflow)] {
        assert_eq!(caller.post(path, &body).unwrap().status, 200);
    }
}

/// What the log says more than once to people who have to act, without the times and figures in it.
fn repeated(log: &str) -> Vec<String> {
    let is_told = |line: &&str| ["WARN", "ERROR"].iter().any(|level| line.contains(level));
    let words = |line: &str| -> String {
        let said = line.split_once("WARN").or_else(|| line.split_once("ERROR"));
        let said = said.map_or(line, |(_, said)| said);
        said.chars().filter(|letter| !letter.is_ascii_digit()).collect()
    };
    let mut counts = std::collections::BTreeMap::new();
    log.lines().filter(is_told).for_each(|line| *counts.entry(words(line)).or_insert(0) += 1);
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(line, _)| line).collect()
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_database_that_stands_still_is_told_of_and_costs_nobody_a_lease() {
    let database = Postgres::start().unwrap();
    let url = database.database().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", &url, "--secrets-key", KEY, "--node", "lonely"];
    let mut server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    define(&caller, LEASE_SECONDS);
    caller.post("/api/workflow", &json!({"name": "one"})).unwrap();
    let task = caller.get("/api/tasks/poll/work?workerid=ann").unwrap().json();
    assert!(task["taskId"].is_string(), "{task}");
    assert_eq!(
        caller.get("/health").unwrap().json()["healthResults"][0]["details"]["node"],
        "lonely"
    );
    assert!(caller.get("/metrics").unwrap().body.contains("node=\"lonely\""));
    assert!(server.log().contains("lonely"), "{}", server.log());

    database.freeze().unwrap();
    let since = Instant::now();
    let is_ill = || caller.get("/health").ok().filter(|answer| answer.status == 503);
    let told = until("it is told of", DEADLINE, is_ill).unwrap();
    assert!(told.body.contains("the store does not answer"), "{}", told.body);
    let long = Duration::from_secs(LEASE_SECONDS + 3);
    until("a lease would be over", DEADLINE, || (since.elapsed() > long).then_some(())).unwrap();
    database.thaw().unwrap();

    let is_well = || caller.get("/health").ok().filter(|answer| answer.status == 200);
    until("it is well again", DEADLINE, is_well).unwrap();
    let is_leased = || (database.psql_at(&url, LEASE).ok()? == "t").then_some(());
    until("the lease has got that time", DEADLINE, is_leased).unwrap();
    let report = json!({"workflowInstanceId": task["workflowInstanceId"], "taskId": task["taskId"],
        "status": "COMPLETED", "workerId": "ann", "fenceToken": task["fenceToken"]});
    let answer = caller.insist(reqwest::Method::POST, "/api/tasks", Some(&report)).unwrap();
    assert_eq!(answer.header("x-task-update"), None, "{answer:?}");
    server.stop().unwrap();
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_database_that_lets_nobody_in_is_asked_now_and_then() {
    let database = postgres::shared();
    let url = database.database().unwrap();
    let name = url.rsplit('/').next().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", &url, "--secrets-key", KEY, "--log", "info,semel_runtime=debug"];
    let mut server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    define(&caller, 1);
    caller.post("/api/workflow", &json!({"name": "one"})).unwrap();
    assert_eq!(caller.get("/api/tasks/poll/work?workerid=ann").unwrap().status, 200);

    let let_in = |whether: bool| {
        let sql = format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS {whether}");
        database.psql("postgres", &sql).unwrap();
    };
    let_in(false);
    let since = Instant::now();
    let cut =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    database.psql("postgres", &cut).unwrap();
    let refused = || server.log().matches("due rows cannot be read").count();
    // By then the lease is over, and would be looked at.
    let is_over = || (since.elapsed() > Duration::from_secs(4) && refused() > 0).then_some(());
    until("it was away for a while", DEADLINE, is_over).unwrap();
    let (refused, seconds) = (refused(), since.elapsed().as_secs() as usize);
    assert!(refused < 20 * (seconds + 1), "it was asked {refused} times in {seconds} s");

    let_in(true);
    let is_well = || caller.get("/health").ok().filter(|answer| answer.status == 200);
    until("it is well again", DEADLINE, is_well).unwrap();
    let lines = |words: &str| server.log().matches(words).count();
    let is_told = || (lines("the store can be used again") > 0).then_some(());
    until("the end is told of", DEADLINE, is_told).unwrap();
    assert_eq!(lines("the store cannot be used"), 1, "an outage is one line: {}", server.log());
    assert_eq!(lines("the store can be used again"), 1, "and so is its end: {}", server.log());
    assert_eq!(repeated(&server.log()), Vec::<String>::new(), "{}", server.log());
    server.stop().unwrap();
}
