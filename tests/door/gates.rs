//! # Gates: what a start beyond the limit is answered, and that no more are under way than may be

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::{Answer, Request};

fn define(house: &House, name: &str, concurrency: &Value) {
    let workflow = json!({"name": name, "version": 1, "concurrency": concurrency, "tasks": [
        {"name": name, "taskReferenceName": "only", "type": "SIMPLE"}]});
    let answer = house.send(&Request::post("/api/metadata/workflow?overwrite=true", &workflow));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn start(house: &House, name: &str, input: &Value) -> Answer {
    house.send(&Request::post(format!("/api/workflow/{name}"), input))
}

fn read(house: &House, id: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{id}"))).json()
}

#[test]
fn a_run_that_waits_says_for_whom() {
    let house = House::own(&[]);
    define(&house, "g_queue", &json!({"key": "${workflow.input.account}", "maxQueue": 1}));
    let one = start(&house, "g_queue", &json!({"account": "a"})).text();
    let two = start(&house, "g_queue", &json!({"account": "a"})).text();
    let seen = read(&house, &two);
    assert_eq!((&seen["status"], &seen["blockedBy"]), (&json!("RUNNING"), &json!(one)), "{seen}");
    assert_eq!((&seen["rateLimited"], &seen["rateLimitKey"]), (&json!(true), &json!("a")));
    assert_eq!(seen["tasks"], json!([]));
    let full = start(&house, "g_queue", &json!({"account": "a"}));
    let body = full.json();
    assert_eq!((full.status, &body["code"]), (409, &json!("CONCURRENCY_LIMIT")), "{body}");
    assert_eq!(body["metadata"]["existingWorkflowId"], one);
    assert_eq!(body["metadata"]["safeNewKey"], true, "nothing was started: {body}");
    assert!(body["message"].to_string().contains("maxQueue"), "{body}");
    assert_eq!(house.send(&Request::new("DELETE", format!("/api/workflow/{one}"))).status, 200);
    let poll = format!("/api/tasks/poll/g_queue?workerid=w&timeout={}", 2_000);
    let task = house.send(&Request::get(poll)).json();
    assert_eq!(task["workflowInstanceId"], two);
    let seen = read(&house, &two);
    assert!(seen["blockedBy"].is_null() && seen["rateLimited"] == false, "{seen}");
}

#[test]
fn each_policy_answers_in_its_way() {
    let house = House::own(&[]);
    for (policy, status, outcome) in [
        ("SKIP", 200, Some("SKIPPED")),
        ("FAIL", 409, None),
        ("CANCEL_RUNNING", 200, None),
        ("TERMINATE_RUNNING", 200, None),
        ("COALESCE", 200, None),
    ] {
        let name = format!("g_{policy}");
        define(&house, &name, &json!({"policy": policy}));
        let one = start(&house, &name, &json!({"n": 1})).text();
        let answer = start(&house, &name, &json!({"n": 2}));
        assert_eq!((answer.status, answer.header("x-idempotency-outcome")), (status, outcome));
        let ended = if policy.ends_with("RUNNING") { "TERMINATED" } else { "RUNNING" };
        assert_eq!(read(&house, &one)["status"], ended, "{policy}");
        if policy == "SKIP" {
            assert_eq!(answer.text(), one);
        }
        if policy == "COALESCE" {
            let third = start(&house, &name, &json!({"n": 3}));
            assert_eq!(third.header("x-idempotency-outcome"), Some("COALESCED"));
            assert_eq!(third.text(), answer.text());
            assert_eq!(read(&house, &answer.text())["input"]["n"], 3);
        }
    }
}

#[test]
fn a_storm_of_starts_is_taken_in_by_one_that_waits() {
    let house = House::own(&[]);
    define(&house, "g_storm", &json!({"policy": "COALESCE"}));
    let ids: BTreeSet<String> = std::thread::scope(|scope| {
        let client = |from: u32| {
            let starts = from..from + 25;
            let house = &house;
            let run = move |n| start(house, "g_storm", &json!({"n": n})).text();
            scope.spawn(move || starts.map(run).collect::<BTreeSet<_>>())
        };
        let clients: Vec<_> = (0..40).map(|at| client(at * 25)).collect();
        clients.into_iter().flat_map(|client| client.join().expect("it is answered")).collect()
    });
    let live = ids.iter().map(|id| read(&house, id)).filter(|run| run["status"] == "RUNNING");
    assert_eq!((ids.len(), live.count()), (2, 2), "one under way, one that waits: {ids:?}");
}

#[test]
fn a_duplicate_never_takes_a_place() {
    let house = House::own(&[]);
    define(&house, "g_key", &json!({"limit": 2, "policy": "FAIL"}));
    let keyed = |key: &str| {
        let body = json!({"name": "g_key", "idempotencyKey": key,
            "idempotencyStrategy": "RETURN_EXISTING"});
        house.send(&Request::post("/api/workflow", &body))
    };
    let one = keyed("a").text();
    for _ in 0..5 {
        assert_eq!(keyed("a").text(), one);
    }
    assert_eq!(keyed("b").status, 200);
    assert_eq!(keyed("c").status, 409);
    assert_eq!(keyed("a").text(), one, "who is there already is found although it is full");
}

/// Whatever is started, finished and ended in whatever order: never more than the limit, and in the
/// end everybody has had a turn.
#[test]
fn no_more_are_under_way_than_may_be_and_nobody_is_forgotten() {
    let house = House::own(&[]);
    for seed in 1..=6_u64 {
        let limit = usize::try_from(seed % 3 + 1).unwrap();
        let name = format!("g_model_{seed}");
        define(&house, &name, &json!({"limit": limit}));
        play(&house, &name, limit, seed);
    }
}

fn play(house: &House, name: &str, limit: usize, seed: u64) {
    let mut state = seed;
    let mut chance = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits fit") % below
    };
    let mut live: Vec<String> = Vec::new();
    let mut begun: Vec<String> = Vec::new();
    let poll = format!("/api/tasks/poll/batch/{name}?workerid=w&count=100&timeout=0");
    for turn in 0..60 {
        match chance(4) {
            0 | 1 if turn < 45 => live.push(start(house, name, &json!({"turn": turn})).text()),
            2 if !live.is_empty() => {
                let id = live.remove(chance(live.len()));
                let path = format!("/api/workflow/{id}");
                assert_eq!(house.send(&Request::new("DELETE", path)).status, 200);
            }
            _ => {
                for task in
                    house.send(&Request::get(&poll)).json().as_array().expect("a poll gives a list")
                {
                    let id = task["workflowInstanceId"]
                        .as_str()
                        .expect("a task names its run")
                        .to_owned();
                    let done = report(task, "COMPLETED", json!({}));
                    assert_eq!(house.send(&Request::post("/api/tasks", &done)).status, 200);
                    live.retain(|run| *run != id);
                    begun.push(id);
                }
            }
        }
        let runs = live.iter().map(|id| read(house, id));
        let under_way = runs.filter(|run| run["rateLimited"] == false).count();
        assert!(under_way <= limit, "seed {seed}: {under_way} under way, limit {limit}");
    }
    let mut left: BTreeSet<String> = live.iter().cloned().collect();
    let patient = poll.replace("timeout=0", "timeout=2000");
    for _ in 0..live.len() {
        if left.is_empty() {
            break;
        }
        for task in
            house.send(&Request::get(&patient)).json().as_array().expect("a poll gives a list")
        {
            let done = report(task, "COMPLETED", json!({}));
            assert_eq!(house.send(&Request::post("/api/tasks", &done)).status, 200);
            let id = task["workflowInstanceId"].as_str().expect("a task names its run");
            left.remove(id);
            begun.push(id.to_owned());
        }
    }
    assert_eq!(left, BTreeSet::new(), "seed {seed}: these never had their turn");
    let mut in_turn = begun.clone();
    in_turn.sort_by_key(|id| read(house, id)["input"]["turn"].as_i64());
    assert!(limit > 1 || begun == in_turn, "seed {seed}: first come, first served");
}

#[test]
fn a_run_that_is_not_counted_says_so() {
    let house = House::own(&[]);
    define(&house, "g_uncounted", &json!({"key": "account-${workflow.input.account}"}));
    let counted = start(&house, "g_uncounted", &json!({"account": 7}));
    assert_eq!(counted.header("x-semel-warning"), None);
    let seen = read(&house, &counted.text());
    assert!(seen.get("notCounted").is_none() && seen["rateLimitKey"] == "account-7", "{seen}");
    for input in [json!({}), json!({"account": null}), json!({"account": " "})] {
        let answer = start(&house, "g_uncounted", &input);
        let warning = answer.header("x-semel-warning").expect("a warning");
        let why = "${workflow.input.account} is null, missing or empty: the run is not counted";
        assert!(warning.contains(why), "{warning}");
        let seen = read(&house, &answer.text());
        assert!(seen["notCounted"].as_str().is_some_and(|told| told.contains(why)), "{seen}");
        assert!(seen.get("rateLimitKey").is_none() && seen["rateLimited"] == false, "{seen}");
        let path = format!("/api/workflow/{}/explain", answer.text());
        let told = house.send(&Request::get(path)).json();
        let notes = told["notes"].as_array().expect("a list of notes").clone();
        let note = notes.iter().find(|note| note["kind"] == "NOT_COUNTED").expect("a note");
        assert!(note["sentence"].as_str().is_some_and(|told| told.contains(why)), "{note}");
        assert_eq!(note["docs"], "docs/trouble.md#not-counted");
    }
    let numbers = house.send(&Request::get("/metrics")).text();
    let line = "semel_runs_not_counted_total{workflowName=\"g_uncounted\"} 3";
    assert!(numbers.contains(line), "{numbers}");
}

#[test]
fn a_start_that_cannot_take_the_place_of_its_run_is_refused() {
    for policy in ["SKIP", "COALESCE"] {
        let house = House::own(&[]);
        let concurrency = json!({"key": "${workflow.input.account}", "policy": policy});
        define(&house, "g_replace", &concurrency);
        let keyed = |key: &str, account: i64, strategy: &str| {
            let body = json!({"name": "g_replace", "input": {"account": account},
                "idempotencyKey": key, "idempotencyStrategy": strategy});
            house.send(&Request::post("/api/workflow", &body))
        };
        let old = keyed("a", 1, "FAIL").text();
        keyed("b", 2, "FAIL");
        let waits = (policy == "COALESCE").then(|| keyed("c", 2, "FAIL").text());
        let refused = keyed("a", 2, "TERMINATE_EXISTING");
        assert_eq!(refused.status, 409, "{policy}: {}", refused.text());
        assert_eq!(refused.json()["code"], "CONCURRENCY_LIMIT", "{policy}");
        assert_eq!(read(&house, &old)["status"], "RUNNING", "{policy}: nothing was replaced");
        let path = "/api/idempotency/workflow/g_replace/a";
        let record = house.send(&Request::get(path)).json();
        assert_eq!((&record["workflowId"], &record["totalRuns"]), (&json!(old), &json!(1)));
        if let Some(waits) = waits {
            let seen = read(&house, &waits);
            assert_eq!(seen["input"], json!({"account": 2}), "it was not given another input");
        }
    }
}

#[test]
fn a_place_that_was_not_free_is_asked_for_again_under_the_same_request_key() {
    let house = House::own(&[]);
    define(&house, "g_again", &json!({"policy": "FAIL"}));
    let first = start(&house, "g_again", &json!({})).text();
    let ask = || {
        let body = Request::post("/api/workflow/g_again", &json!({}));
        house.send(&body.header("Idempotency-Key", "g-again"))
    };
    let refused = ask();
    assert_eq!((refused.status, refused.header("idempotency-expires")), (409, None));
    house.send(&Request::new("DELETE", format!("/api/workflow/{first}")));
    let begun = ask();
    assert_eq!((begun.status, begun.header("idempotent-replayed")), (200, Some("false")));
    let again = ask();
    assert_eq!((again.text(), again.header("idempotent-replayed")), (begun.text(), Some("true")));
}
