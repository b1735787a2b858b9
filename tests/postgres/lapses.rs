//! # Claims that lapse, on nodes that all look for them
//!
//! One node writes that an effect is in doubt; the others find that it is so.

use reqwest::Method;
use semel_tests::postgres;
use semel_tests::process::{DEADLINE, Server, until};
use serde_json::{Value, json};

use crate::cluster::KEY;

const CLAIMS: usize = 40;

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn claims_of_an_owner_that_fell_silent_come_into_doubt_once_on_nodes_that_all_look() {
    let server = postgres::shared();
    let url = server.database().unwrap();
    let directories = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let options = ["--store", &url, "--secrets-key", KEY, "--test-clock"];
    let mut nodes = directories.each_ref().map(|at| Server::start(at.path(), &options).unwrap());
    let callers = nodes.each_ref().map(|node| node.caller().unwrap());
    let post =
        |path: &str, body: &Value| callers[0].insist(Method::POST, path, Some(body)).unwrap();
    for number in 0..CLAIMS {
        let claim = json!({"scope": "mail", "key": number.to_string(), "owner": "ann",
            "leaseSeconds": 60});
        assert_eq!(post("/api/effects/try-start", &claim).status, 200);
    }
    let moved = post("/test/clock", &json!({"advanceMs": 62_000}));
    assert!(moved.status < 300, "{moved:?}");
    let sql = "SELECT count(*) FROM records WHERE state = 'UNKNOWN' AND doubted_at IS NOT NULL";
    let count = || server.psql_at(&url, sql).unwrap();
    let are_found = || (count() == CLAIMS.to_string()).then_some(());
    until("all are in doubt", DEADLINE, are_found).unwrap();
    let asked = post("/test/clock", &json!({"advanceMs": 10_000}));
    assert!(asked.status < 300, "{asked:?}");
    let record = callers[1].insist(Method::GET, "/api/effects/mail/7", None).unwrap().json();
    let doubts = record["ring"].as_array().unwrap().iter();
    let doubts = doubts.filter(|decided| decided["outcome"] == "UNKNOWN").count();
    assert_eq!((doubts, &record["hits"]), (1, &json!(0)), "by one node: {record}");
    let warned = |node: &Server| node.log().contains("nobody knows whether an effect has happened");
    assert!(nodes.iter().any(warned), "somebody is told");
    for node in &mut nodes {
        node.stop().unwrap();
        assert!(!node.log().contains("ERROR"), "{}", node.log());
    }
}
