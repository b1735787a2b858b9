//! # Alarms: what waits for somebody is logged and counted, and the files in `ops/` name real numbers

use std::collections::BTreeSet;

use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::Request;

/// What our numbers begin with; Prometheus' own, such as `up`, begin otherwise.
const OURS: [&str; 5] = ["semel_", "workflow_", "task_", "http_server_", "process_"];

fn built() -> House {
    House::own(&["--test-clock"])
}

fn advance(house: &House, seconds: i64) {
    let body = json!({"advanceMs": seconds * 1000});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn post(house: &House, path: &str, body: &Value) -> String {
    let answer = house.send(&Request::post(path, body));
    assert!(answer.status < 300, "{} {body}", answer.text());
    answer.text()
}

/// The value of a gauge of that kind.
fn gauge(house: &House, name: &str, kind: &str) -> f64 {
    let text = house.send(&Request::get("/metrics")).text();
    let line = text.lines().find(|line| line.starts_with(&format!("{name}{{kind=\"{kind}\"")));
    let value = line.and_then(|line| line.rsplit(' ').next()?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} of {kind} in\n{text}"))
}

fn counted(house: &House, kind: &str, count: f64) {
    let is_so = || (gauge(house, "semel_waits_open", kind) == count).then_some(());
    until("it is counted", DEADLINE, is_so).expect("what waits is counted");
}

fn logged(house: &House, words: &[&str]) {
    let is_there = |line: &str| line.contains("WARN") && words.iter().all(|it| line.contains(it));
    let look = || house.log().lines().any(is_there).then_some(());
    until("it is logged", DEADLINE, look).unwrap_or_else(|_| panic!("{words:?}\n{}", house.log()));
}

fn define(house: &House, name: &str, steps: Value, more: Value) {
    let mut whole = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": steps});
    for (key, value) in more.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    post(house, "/api/metadata/workflow?overwrite=true", &whole);
}

#[test]
fn an_effect_in_doubt_is_logged_and_counted_until_it_is_resolved() {
    let house = built();
    counted(&house, "effect_in_doubt", 0.0);
    let policy = json!({"name": "a_charge", "retryCount": 0, "responseTimeoutSeconds": 30});
    let step = json!({"name": "a_charge", "taskReferenceName": "c", "type": "SIMPLE",
        "taskDefinition": policy, "inputParameters": {"order": "${workflow.input.order}"},
        "effect": {"key": "${order}", "onUnknown": "HOLD"}});
    define(&house, "a_charge", json!([step]), json!({}));
    let start = json!({"name": "a_charge", "input": {"order": "7"}});
    let id = post(&house, "/api/workflow", &start);
    house.claim("a_charge");
    advance(&house, 31);
    logged(&house, &["nobody knows whether an effect has happened", "a_charge/7", &id]);
    advance(&house, 600);
    counted(&house, "effect_in_doubt", 1.0);
    let age = gauge(&house, "semel_waits_oldest_seconds", "effect_in_doubt");
    assert!((590.0..640.0).contains(&age), "{age}");
    post(&house, "/api/effects/a_charge/7/resolve", &json!({"applied": true, "output": {}}));
    advance(&house, 6);
    counted(&house, "effect_in_doubt", 0.0);
    assert_eq!(gauge(&house, "semel_waits_oldest_seconds", "effect_in_doubt"), 0.0);
}

#[test]
fn a_claim_of_an_owner_that_fell_silent_is_logged_and_counted_though_nobody_asks() {
    let house = built();
    let claim = json!({"scope": "a_mail", "key": "9", "owner": "ann", "leaseSeconds": 60});
    post(&house, "/api/effects/try-start", &claim);
    counted(&house, "effect_in_doubt", 0.0);
    advance(&house, 62);
    logged(&house, &["nobody knows whether an effect has happened", "a_mail/9"]);
    advance(&house, 600);
    counted(&house, "effect_in_doubt", 1.0);
    let duplicate = json!({"scope": "a_mail", "key": "9", "owner": "bob", "leaseSeconds": 60});
    for _ in 0..40 {
        let answer = house.send(&Request::post("/api/effects/try-start", &duplicate));
        assert_eq!(answer.status, 423, "{}", answer.text());
    }
    advance(&house, 600);
    let is_older = || {
        let age = gauge(&house, "semel_waits_oldest_seconds", "effect_in_doubt");
        (1200.0..1300.0).contains(&age).then_some(())
    };
    until("its age grows", DEADLINE, is_older).expect("duplicates do not make it younger");
    let record = house.send(&Request::get("/api/effects/a_mail/9")).json();
    assert_eq!((&record["state"], record["hits"].as_u64()), (&json!("UNKNOWN"), Some(40)));
    post(&house, "/api/effects/a_mail/9/resolve", &json!({"applied": false}));
    advance(&house, 6);
    counted(&house, "effect_in_doubt", 0.0);
}

#[test]
fn a_queued_run_and_a_stuck_lock_are_logged_and_counted() {
    let house = built();
    let work = json!({"name": "a_work", "taskReferenceName": "w", "type": "SIMPLE"});
    let gate = json!({"concurrency": {"key": "${workflow.input.account}", "policy": "QUEUE"}});
    define(&house, "a_gate", json!([work]), gate);
    let start = json!({"name": "a_gate", "input": {"account": "a"}});
    let first = post(&house, "/api/workflow", &start);
    let second = post(&house, "/api/workflow", &start);
    let third = post(&house, "/api/workflow", &start);
    logged(&house, &["waits for its turn at its concurrency limit", "a_gate/a", &second, &first]);
    assert!(!house.log().contains(&third), "one line per gate and minute");
    let take = json!({"name": "t", "taskReferenceName": "t", "type": "ACQUIRE_LOCK",
        "inputParameters": {"name": "till"}});
    define(&house, "a_lock", json!([take, work]), json!({}));
    post(&house, "/api/workflow", &json!({"name": "a_lock"}));
    let second = post(&house, "/api/workflow", &json!({"name": "a_lock"}));
    assert!(!house.log().contains("a lock is waited for"), "waiting is nothing unusual");
    advance(&house, 31);
    logged(&house, &["a lock is waited for longer than usual", "till", &second]);
    advance(&house, 6);
    counted(&house, "lock", 1.0);
    counted(&house, "queued", 2.0);
    counted(&house, "parked", 0.0);
    for kind in ["lock", "queued"] {
        let age = gauge(&house, "semel_waits_oldest_seconds", kind);
        assert!((30.0..60.0).contains(&age), "{kind}: {age}");
    }
}

/// A day in short: all that the files in `ops/` name has been counted once.
fn live(house: &House) {
    house.define("a_day");
    for status in ["COMPLETED", "FAILED_WITH_TERMINAL_ERROR"] {
        house.start("a_day");
        let task = house.claim("a_day");
        post(house, "/api/tasks", &report(&task, status, json!({})));
        post(house, "/api/tasks", &report(&task, "FAILED", json!({"stale": true})));
    }
    let key = json!({"scope": "s", "key": "k", "owner": "ann", "leaseSeconds": 60});
    let start = Request::post("/api/effects/try-start", &key).header("Idempotency-Key", "k1");
    assert_eq!(house.send(&start).status, 200);
    let policy = json!({"name": "a_slow", "retryCount": 0, "responseTimeoutSeconds": 1});
    let slow = json!({"name": "a_slow", "taskReferenceName": "s", "type": "SIMPLE",
        "taskDefinition": policy, "effect": {"onUnknown": "RETRY"}});
    define(house, "a_slow", json!([slow]), json!({}));
    house.start("a_slow");
    house.claim("a_slow");
    let late = json!({"name": "a_late", "retryCount": 0, "pollTimeoutSeconds": 1,
        "timeoutSeconds": 9, "responseTimeoutSeconds": 1});
    let late = json!({"name": "a_late", "taskReferenceName": "l", "type": "SIMPLE",
        "taskDefinition": late});
    define(house, "a_late", json!([late]), json!({}));
    house.start("a_late");
    advance(house, 60);
    for _ in 0..2 {
        house.start("a_day"); // One waits and one is held while the numbers are read.
    }
    house.claim("a_day");
}

fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let is_ours = |word: &&str| OURS.iter().any(|ours| word.starts_with(ours));
    words.filter(is_ours).map(str::to_owned).collect()
}

#[test]
fn alert_rules_and_the_dashboard_name_numbers_that_exist() {
    let house = built();
    live(&house);
    let alerts = include_str!("../../ops/alerts.yaml");
    let dashboard = include_str!("../../ops/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(dashboard).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let targets = panels.iter().flat_map(|it| it["targets"].as_array().into_iter().flatten());
    let asked: Vec<&str> = targets.filter_map(|it| it["expr"].as_str()).collect();
    assert!(asked.len() > 20, "{asked:?}");
    let queries = alerts.lines().filter(|line| !line.trim_start().starts_with('#'));
    let queries = queries.filter(|line| line.contains("expr") || line.contains("by (taskType)"));
    let queries: Vec<&str> = queries.collect();
    let wanted: BTreeSet<String> =
        named(&asked.join("\n")).into_iter().chain(named(&queries.join("\n"))).collect();
    assert!(wanted.len() > 20, "{wanted:?}");
    let is_there = |name: &String, text: &str| {
        text.lines().any(|line| {
            let rest = line.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
        })
    };
    let mut missing = wanted.clone();
    let look = || {
        let text = house.send(&Request::get("/metrics")).text();
        missing.retain(|name| !is_there(name, &text));
        missing.is_empty().then_some(())
    };
    // Process numbers are read from /proc, and the memory store has no size.
    let seen = until("all are there", std::time::Duration::from_secs(10), look);
    missing.retain(|name| !name.starts_with("process_") && name != "semel_store_bytes");
    assert!(seen.is_ok() || missing.is_empty(), "not in /metrics: {missing:?}");
}
