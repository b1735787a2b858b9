//! # Explanations: every kind of waiting, as the server tells it

use std::collections::BTreeSet;
use std::net::TcpListener;

use semel_model::WaitKind;
use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::Request;

/// Explained by the engine's own tests: they last too short to be seen from here, or need a fault.
/// `Engine` is what is told of a task that none of the others fits; no known way leads there.
const ELSEWHERE: [WaitKind; 6] = [
    WaitKind::Script,
    WaitKind::ChoosesDomain,
    WaitKind::StartWorkflow,
    WaitKind::Parked,
    WaitKind::BetweenSteps,
    WaitKind::Engine,
];

fn built() -> House {
    House::own(&["--test-clock"])
}

fn advance(house: &House, seconds: i64) {
    let body = json!({"advanceMs": seconds * 1000});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn post(house: &House, path: impl Into<String>, body: &Value) -> String {
    let answer = house.send(&Request::post(path.into(), body));
    assert!(answer.status < 300, "{} {body}", answer.text());
    answer.text()
}

/// A workflow of these steps.
fn define(house: &House, name: &str, steps: Value, more: Value) {
    let mut whole = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": steps});
    for (key, value) in more.as_object().expect("an object") {
        whole[key] = value.clone();
    }
    post(house, "/api/metadata/workflow?overwrite=true", &whole);
}

fn begin(house: &House, name: &str, input: Value) -> String {
    post(house, "/api/workflow", &json!({"name": name, "input": input}))
}

fn worker(name: &str, policy: Value) -> Value {
    let mut definition = json!({"name": name, "retryCount": 0, "responseTimeoutSeconds": 60});
    for (key, value) in policy.as_object().expect("an object") {
        definition[key] = value.clone();
    }
    json!({"name": name, "taskReferenceName": name, "type": "SIMPLE", "taskDefinition": definition})
}

fn system(kind: &str, more: Value) -> Value {
    let mut step = json!({"name": "s", "taskReferenceName": "s", "type": kind});
    for (key, value) in more.as_object().expect("an object") {
        step[key] = value.clone();
    }
    step
}

fn explained(house: &House, id: &str) -> Value {
    let answer = house.send(&Request::get(format!("/api/workflow/{id}/explain")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// The first wait of that kind; its sentence has those words.
#[track_caller]
fn waits(house: &House, id: &str, kind: &str, words: &str) -> Value {
    let told = explained(house, id);
    let found = told["waits"].as_array().into_iter().flatten().find(|wait| wait["kind"] == kind);
    let found = found.unwrap_or_else(|| panic!("no {kind} in {told:#}")).clone();
    let sentence = found["sentence"].as_str().expect("a wait has a sentence");
    assert!(sentence.contains(words), "{words:?} is not in: {sentence}");
    let anchor = kind.to_ascii_lowercase().replace('_', "-");
    assert_eq!(found["docs"], format!("docs/trouble.md#{anchor}"));
    found
}

fn tell(house: &House, task: &Value, status: &str, more: Value) {
    let mut body = report(task, status, json!({}));
    for (key, value) in more.as_object().expect("an object") {
        body[key] = value.clone();
    }
    post(house, "/api/tasks", &body);
}

fn poll(house: &House, queue: &str, worker: &str) {
    house.send(&Request::get(format!("/api/tasks/poll/{queue}?workerid={worker}")));
}

#[test]
fn a_task_is_explained_from_no_worker_to_its_retry() {
    let house = built();
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 300});
    define(&house, "x_work", json!([worker("x_work", policy)]), json!({}));
    let id = begin(&house, "x_work", json!({}));
    let wait = waits(&house, &id, "NO_WORKER", "No worker has polled x_work");
    assert_eq!(
        (&wait["taskReferenceName"], &wait["taskType"]),
        (&json!("x_work"), &json!("x_work"))
    );
    assert_eq!(wait["blockedBy"][0], json!({"kind": "QUEUE", "name": "x_work"}));
    assert_eq!(wait["whatToDo"]["sentence"], "Start a worker that polls x_work.");
    let task = house.claim("x_work");
    let wait = waits(&house, &id, "HELD", "x_work is in progress with w, since");
    assert_eq!(wait["blockedBy"][0], json!({"kind": "WORKER", "name": "w"}));
    assert!(wait["until"].as_i64() > wait["since"].as_i64(), "{wait}");
    tell(&house, &task, "IN_PROGRESS", json!({"callbackAfterSeconds": 120}));
    let wait = waits(&house, &id, "CALLBACK_DELAY", "was given back by w");
    assert!(wait["until"].as_i64() > wait["since"].as_i64(), "{wait}");
    advance(&house, 121);
    waits(&house, &id, "WORKER_SILENT", "is that worker still running?");
    poll(&house, "x_other", "w");
    let task = house.claim("x_work");
    tell(&house, &task, "FAILED", json!({"reasonForIncompletion": "card declined"}));
    let wait = waits(&house, &id, "RETRY_DELAY", "as attempt 2. The attempt before: card declined");
    assert!(wait["until"].is_i64());
    advance(&house, 301);
    poll(&house, "x_fresh", "bob");
    define(&house, "x_fresh", json!([worker("x_fresh", json!({}))]), json!({}));
    let fresh = begin(&house, "x_fresh", json!({}));
    waits(&house, &fresh, "IN_QUEUE", "by bob.");
    let task = house.claim("x_work");
    tell(&house, &task, "FAILED", json!({"reasonForIncompletion": "card gone"}));
    waits(&house, &id, "ENDED", "card gone");
    let wait = waits(&house, &id, "FAILED_TASK", "x_work is FAILED after attempt 2: card gone");
    assert!(wait["taskId"].is_string());
    let told = explained(&house, &id);
    assert_eq!((&told["status"], &told["moreTasks"]), (&json!("FAILED"), &json!(0)));
}

#[test]
fn domains_delays_and_limits_are_told_apart() {
    let house = built();
    define(&house, "x_domain", json!([worker("x_domain", json!({}))]), json!({}));
    let start = json!({"name": "x_domain", "taskToDomain": {"x_domain": "eu"}});
    let id = post(&house, "/api/workflow", &start);
    poll(&house, "x_domain", "w");
    let wait = waits(&house, &id, "NO_WORKER_IN_DOMAIN", "polls x_domain in the domain eu");
    assert!(wait["sentence"].as_str().unwrap().contains("in other domains: none"), "{wait}");
    let mut delayed = worker("x_delay", json!({}));
    delayed["startDelay"] = json!(600);
    define(&house, "x_delay", json!([delayed]), json!({}));
    let id = begin(&house, "x_delay", json!({}));
    waits(&house, &id, "START_DELAY", "x_delay has a start delay");
    define(&house, "x_one", json!([worker("x_one", json!({"concurrentExecLimit": 1}))]), json!({}));
    begin(&house, "x_one", json!({}));
    let second = begin(&house, "x_one", json!({}));
    house.claim("x_one");
    let wait = waits(&house, &second, "CONCURRENT_LIMIT", "At most 1 of x_one run at once");
    assert!(wait["sentence"].as_str().unwrap().contains("1 are in progress"), "{wait}");
    let rate = json!({"rateLimitPerFrequency": 1, "rateLimitFrequencyInSeconds": 60});
    define(&house, "x_rate", json!([worker("x_rate", rate)]), json!({}));
    begin(&house, "x_rate", json!({}));
    let second = begin(&house, "x_rate", json!({}));
    house.claim("x_rate");
    let wait = waits(&house, &second, "RATE_LIMIT", "At most 1 of x_rate are handed out per 60 s");
    assert!(wait["until"].is_i64(), "{wait}");
}

#[test]
fn people_times_signals_and_messages_are_told_apart() {
    let house = built();
    for (name, kind, input, expected, words) in [
        ("x_timed", "WAIT", json!({"duration": "10m"}), "WAIT_UNTIL", "s waits until its time"),
        ("x_signal", "WAIT", json!({}), "WAIT_SIGNAL", "s waits for a signal"),
        ("x_yield", "YIELD", json!({}), "YIELD", "s waits for a signal"),
        ("x_human", "HUMAN", json!({}), "HUMAN", "s waits for a person"),
        ("x_pull", "PULL_WORKFLOW_MESSAGES", json!({}), "MESSAGES", "waits for a message"),
        (
            "x_event",
            "EVENT",
            json!({"asyncComplete": true}),
            "EVENT",
            "until somebody completes it",
        ),
    ] {
        let mut step = system(kind, json!({"inputParameters": input}));
        if kind == "EVENT" {
            step["sink"] = json!("conductor");
        }
        define(&house, name, json!([step]), json!({}));
        let id = begin(&house, name, json!({}));
        let wait = waits(&house, &id, expected, words);
        assert_eq!(wait["until"].is_i64(), expected == "WAIT_UNTIL", "{wait}");
        assert!(wait["since"].is_i64() && wait["whatToDo"]["sentence"].is_string(), "{wait}");
        let told = explained(&house, &id);
        assert_eq!(told["waits"].as_array().map(Vec::len), Some(1), "{told:#}");
    }
    define(&house, "x_held", json!([worker("x_held", json!({}))]), json!({}));
    let id = begin(&house, "x_held", json!({}));
    assert_eq!(house.send(&Request::new("PUT", format!("/api/workflow/{id}/pause"))).status, 200);
    let wait = waits(&house, &id, "PAUSED", "The run is paused");
    assert_eq!(wait["whatToDo"]["command"], format!("semel workflow resume {id}"));
    advance(&house, 5);
    tell(&house, &house.claim("x_held"), "IN_PROGRESS", json!({"later": true}));
    let later = waits(&house, &id, "PAUSED", "The run is paused");
    assert_eq!(later["since"], wait["since"], "what comes later does not move the beginning");
    define(&house, "x_gone", json!([system("GENERATE_IMAGE", json!({}))]), json!({}));
    let id = begin(&house, "x_gone", json!({}));
    waits(&house, &id, "UNSUPPORTED", "is not in this release");
}

#[test]
fn a_parent_tells_the_reason_of_its_child_and_a_join_and_a_loop_name_their_tasks() {
    let house = built();
    define(&house, "x_child", json!([worker("x_child", json!({}))]), json!({}));
    let call = json!({"subWorkflowParam": {"name": "x_child", "version": 1}});
    define(&house, "x_parent", json!([system("SUB_WORKFLOW", call)]), json!({}));
    let id = begin(&house, "x_parent", json!({}));
    let child = until("the child begins", DEADLINE, || {
        let told = explained(&house, &id);
        told["waits"][0]["blockedBy"][0]["workflowId"].as_str().map(str::to_owned)
    });
    let child = child.unwrap();
    let words = format!("waits for the run {child}, which is RUNNING. There: x_child waits for");
    let wait = waits(&house, &id, "SUB_WORKFLOW", &words);
    assert_eq!(wait["whatToDo"]["command"], format!("semel explain {child}"));
    let fork = json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN",
        "forkTasks": [[worker("x_left", json!({}))], [worker("x_right", json!({}))]]});
    let join = system("JOIN", json!({"joinOn": ["x_left", "x_right"]}));
    define(&house, "x_fork", json!([fork, join]), json!({}));
    let id = begin(&house, "x_fork", json!({}));
    tell(&house, &house.claim("x_left"), "COMPLETED", json!({}));
    let wait = waits(&house, &id, "JOIN", "s waits for 1 of 2 branches: x_right (SCHEDULED)");
    assert_eq!(wait["blockedBy"].as_array().map(Vec::len), Some(1), "{wait}");
    let looped = system(
        "DO_WHILE",
        json!({"loopCondition": "$.s.iteration < 3",
        "loopOver": [worker("x_turn", json!({}))]}),
    );
    define(&house, "x_loop", json!([looped]), json!({}));
    let id = begin(&house, "x_loop", json!({}));
    waits(&house, &id, "LOOP", "s is in iteration 1 and waits for x_turn__1");
}

#[test]
fn a_lock_and_a_queued_run_name_who_is_in_the_way_and_the_place() {
    let house = built();
    let take = system("ACQUIRE_LOCK", json!({"inputParameters": {"name": "till"}}));
    define(&house, "x_lock", json!([take, worker("x_till", json!({}))]), json!({}));
    let first = begin(&house, "x_lock", json!({}));
    let second = begin(&house, "x_lock", json!({}));
    let third = begin(&house, "x_lock", json!({}));
    let words = format!("waits for the lock till, which the run {first} has");
    let wait = waits(&house, &second, "LOCK", &words);
    assert_eq!(wait["blockedBy"][0]["position"], 1, "{wait}");
    assert_eq!(wait["blockedBy"][1]["workflowId"], first.as_str(), "{wait}");
    let wait = waits(&house, &third, "LOCK", "It is at place 2 of the line");
    assert_eq!(wait["blockedBy"][0], json!({"kind": "LOCK", "name": "till", "position": 2}));
    let body = json!({"owner": "eve", "leaseSeconds": 90});
    post(&house, "/api/locks/safe/acquire", &body);
    let take = system("ACQUIRE_LOCK", json!({"inputParameters": {"name": "safe"}}));
    define(&house, "x_safe", json!([take]), json!({}));
    let wait = waits(&house, &begin(&house, "x_safe", json!({})), "LOCK", "which eve has");
    assert!(wait["until"].is_i64(), "{wait}");
    let gate = json!({"concurrency": {"key": "${workflow.input.account}", "policy": "QUEUE"}});
    define(&house, "x_gate", json!([worker("x_gate", json!({}))]), gate);
    let first = begin(&house, "x_gate", json!({"account": "a"}));
    begin(&house, "x_gate", json!({"account": "a"}));
    let third = begin(&house, "x_gate", json!({"account": "a"}));
    let wait = waits(&house, &third, "QUEUED", "at place 2 of the line");
    assert!(wait["sentence"].as_str().unwrap().contains(&first), "{wait}");
    assert_eq!(wait["blockedBy"][0]["name"], "x_gate/a", "{wait}");
    assert_eq!(wait["blockedBy"][1]["workflowId"], first.as_str(), "{wait}");
    let told = explained(&house, &third);
    assert_eq!(told["waits"].as_array().map(Vec::len), Some(1), "{told:#}");
}

fn charge(name: &str, effect: Value) -> Value {
    let mut step = worker(name, json!({"responseTimeoutSeconds": 30}));
    step["inputParameters"] = json!({"order": "${workflow.input.order}"});
    step["effect"] = effect;
    step
}

#[test]
fn an_effect_in_doubt_waited_for_or_probed_is_told_apart() {
    let house = built();
    let hold = json!({"key": "${order}", "onUnknown": "HOLD"});
    define(&house, "x_charge", json!([charge("x_charge", hold)]), json!({}));
    let first = begin(&house, "x_charge", json!({"order": "7/a"}));
    let second = begin(&house, "x_charge", json!({"order": "7/a"}));
    let words = format!("waits for the effect x_charge/7/a, which the run {first} is doing");
    let wait = waits(&house, &second, "EFFECT_WAITED_FOR", &words);
    assert_eq!(wait["blockedBy"][1]["workflowId"], first.as_str(), "{wait}");
    let task = house.claim("x_charge");
    advance(&house, 31);
    let is_held = || {
        let told = explained(&house, &first);
        (told["waits"][0]["kind"] == "EFFECT_IN_DOUBT").then_some(())
    };
    until("the lease ends", DEADLINE, is_held).unwrap();
    let wait =
        waits(&house, &first, "EFFECT_IN_DOUBT", "nobody knows whether the effect x_charge/7/a");
    let what = wait["whatToDo"]["sentence"].as_str().unwrap().to_owned();
    assert!(what.contains("POST /api/effects/x_charge/7%2Fa/resolve"), "{what}");
    assert_eq!(wait["blockedBy"].as_array().map(Vec::len), Some(1), "its own: {wait}");
    let is_told = || {
        let told = explained(&house, &second);
        (told["waits"][0]["kind"] == "EFFECT_IN_DOUBT").then_some(())
    };
    until("who waits is told", DEADLINE, is_told).unwrap();
    let wait = waits(&house, &second, "EFFECT_IN_DOUBT", "It is the effect of the run");
    assert_eq!(wait["blockedBy"][1]["workflowId"], first.as_str(), "{wait}");
    let late = json!({"workflowInstanceId": first, "taskId": task["taskId"], "workerId": "mallory",
        "status": "COMPLETED", "fenceToken": "1", "outputData": {}});
    let answer = house.send(&Request::post("/api/tasks", &late));
    assert_eq!(answer.header("x-task-update"), Some("STALE"), "{}", answer.text());
    let told = explained(&house, &first);
    let note = &told["notes"][0];
    assert_eq!(note["kind"], "STALE_REPORTS", "{told:#}");
    assert!(note["sentence"].as_str().unwrap().contains("by mallory"), "{note}");
    assert_eq!(note["staleReports"].as_array().map(Vec::len), Some(1), "{note}");
    let resolve = "/api/effects/x_charge/7%2Fa/resolve";
    post(&house, resolve, &json!({"applied": true, "output": {"id": "ch_1"}}));
    waits(&house, &first, "ENDED", "It ended");
    let ask = json!({"name": "x_ask", "taskReferenceName": "ask", "type": "SIMPLE"});
    let probe = json!({"key": "${order}", "onUnknown": "PROBE", "probe": ask});
    define(&house, "x_probed", json!([charge("x_probed", probe)]), json!({}));
    let id = begin(&house, "x_probed", json!({"order": "8"}));
    house.claim("x_probed");
    advance(&house, 31);
    let is_probed = || {
        let told = explained(&house, &id);
        (told["waits"][0]["kind"] == "PROBE").then_some(())
    };
    until("the probe is asked", DEADLINE, is_probed).unwrap();
    let wait = waits(&house, &id, "PROBE", "The probe x_probed__probe asks the far side");
    assert_eq!(wait["blockedBy"][0]["kind"], "TASK", "{wait}");
    waits(&house, &id, "NO_WORKER", "x_probed__probe waits for a worker that polls x_ask");
}

#[test]
fn a_request_under_way_is_told_as_such() {
    let house = House::own(&["--test-clock", "--http-allow", "127.0.0.0/8"]);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let uri = format!("http://{}/", silent.local_addr().unwrap());
    let request = json!({"inputParameters": {"http_request": {"uri": uri, "method": "GET"}}});
    define(&house, "x_http", json!([system("HTTP", request)]), json!({}));
    let id = begin(&house, "x_http", json!({}));
    until("it is sent", DEADLINE, || {
        let told = explained(&house, &id);
        told["waits"][0]["blockedBy"][0]["name"].as_str().filter(|name| *name == "semel-http")?;
        Some(())
    })
    .unwrap();
    waits(&house, &id, "HTTP", "s sends its request: it is in progress with semel-http");
}

#[test]
fn a_request_that_waits_for_its_share_is_told_as_such() {
    let options = ["--test-clock", "--http-allow", "127.0.0.0/8", "--http-share-max", "1"];
    let house = House::own(&options);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let uri = format!("http://{}/", silent.local_addr().unwrap());
    let request = json!({"uri": uri, "method": "GET", "readTimeOut": 60_000});
    let request = json!({"inputParameters": {"http_request": request}});
    define(&house, "x_share", json!([system("HTTP", request)]), json!({}));
    let runs: Vec<String> = (0..3).map(|_| begin(&house, "x_share", json!({}))).collect();
    let is_held_up = |id: &&String| explained(&house, id)["waits"][0]["kind"] == "HTTP_SHARE";
    let two = || (runs.iter().filter(is_held_up).count() == 2).then_some(());
    until("one is sent and two wait", DEADLINE, two).unwrap();
    waits(&house, &runs[2], "HTTP_SHARE", "its workflow has as many HTTP requests open");
}

#[test]
fn what_is_not_there_is_not_explained() {
    let house = built();
    let none = "01a1e165-ee6f-724f-b0f5-ccfba672109c";
    for id in [none, "nonsense"] {
        let answer = house.send(&Request::get(format!("/api/workflow/{id}/explain")));
        assert_eq!(answer.status, 404, "{}", answer.text());
    }
}

/// Whoever adds a kind adds its test here, or says where it is.
#[test]
fn every_kind_of_waiting_is_tested() {
    let tests = include_str!("explain.rs");
    let rules = include_str!("../../crates/engine/tests/rules/explanations.rs");
    let here: BTreeSet<&str> = WaitKind::ALL
        .iter()
        .map(|kind| kind.as_str())
        .filter(|name| tests.contains(&format!("\"{name}\"")))
        .collect();
    for kind in WaitKind::ALL {
        let is_there = rules.contains(&format!("WaitKind::{kind:?}")) && ELSEWHERE.contains(kind);
        assert!(here.contains(kind.as_str()) || is_there, "{kind:?} has no test");
    }
}
