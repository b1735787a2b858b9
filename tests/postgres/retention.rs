//! # Retention: runs that ended long ago, on nodes that all look for them
//!
//! Each is removed once, with everything that is kept of it, and its key still names it.

use reqwest::Method;
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, Server, until};
use serde_json::{Value, json};

use crate::cluster::KEY;

const RUNS: usize = 250;
const EXPIRED: &str = "IDEMPOTENCY_EXPIRED_REF";
const DAY_MS: i64 = 24 * 3_600 * 1_000;

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn runs_that_ended_long_ago_are_removed_by_nodes_that_all_look_and_keys_are_kept() {
    let server = postgres::shared();
    let url = server.database().unwrap();
    let directories = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let options = ["--store", &url, "--secrets-key", KEY, "--test-clock", "--retention-days", "1"];
    let nodes = directories.each_ref().map(|at| Server::start(at.path(), &options).unwrap());
    let callers = nodes.each_ref().map(|node| node.caller().unwrap());
    let post = |turn: usize, path: &str, body: &Value| {
        callers[turn % 2].insist(Method::POST, path, Some(body)).unwrap()
    };
    let step = json!({"name": "set", "taskReferenceName": "set", "type": "SET_VARIABLE",
        "inputParameters": {"a": 1}});
    let workflow = json!({"name": "brief", "version": 1, "schemaVersion": 2, "tasks": [step]});
    assert_eq!(post(0, "/api/metadata/workflow", &workflow).status, 200);
    let start = |turn: usize, number: usize| {
        let body = json!({"name": "brief", "idempotencyKey": format!("key {number}"),
            "idempotencyStrategy": "RETURN_EXISTING"});
        post(turn, "/api/workflow", &body)
    };
    let ids: Vec<String> = (0..RUNS).map(|number| start(number, number).body).collect();
    let count = |of: &str| server.psql_at(&url, &format!("SELECT count(*) FROM {of}")).unwrap();
    let is_over = || (count("executions WHERE ended_at = 0") == "0").then_some(());
    until("the runs end", DEADLINE, is_over).unwrap();
    assert_eq!(count("executions"), RUNS.to_string(), "nothing is removed too early");

    let moved = post(0, "/test/clock", &json!({"advanceMs": DAY_MS + 60_000}));
    assert!(moved.status < 300, "{moved:?}");
    until("the runs are removed", DEADLINE, || (count("executions") == "0").then_some(())).unwrap();
    for (number, id) in ids.iter().enumerate() {
        let answer = start(number + 1, number);
        assert_eq!((answer.status, answer.json()["code"].as_str()), (410, Some(EXPIRED)));
        assert_eq!(answer.json()["metadata"]["existingWorkflowId"], *id, "the key still names it");
    }
    for of in ["executions", "journal", "deliveries", "messages", "placeholders"] {
        assert_eq!(count(of), "0", "{of}");
    }
    assert_eq!(count("records WHERE expires_at IS NOT NULL AND NOT live"), RUNS.to_string());
    let gone = |table: &str| (count(table) == "0").then_some(());
    until("nothing is found any more", DEADLINE, || gone("runs").and(gone("tasks"))).unwrap();
    for mut node in nodes {
        node.stop().unwrap();
        assert!(!node.log().contains("ERROR"), "{}", node.log());
    }
}
