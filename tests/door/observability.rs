//! # Watching: numbers, ids of requests, traces, health, as an operator sees them

use std::time::Duration;

use semel_tests::process::{Server, until};
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::house::{House, house, report};
use crate::raw::Request;

const PATIENCE: Duration = Duration::from_secs(30);

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// One scrape.
struct Numbers(String);

impl Numbers {
    fn of(house: &House) -> Self {
        let answer = house.send(&Request::get("/metrics"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let kind = answer.header("content-type");
        assert_eq!(kind, Some("text/plain; version=0.0.4; charset=utf-8"));
        Self(answer.text())
    }

    /// The sum over every series of that name with these labels, such as `outcome="created"`.
    fn get(&self, name: &str, labels: &[&str]) -> f64 {
        let of_name = |line: &&str| {
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
        };
        let lines = self.0.lines().filter(of_name);
        let lines = lines.filter(|line| labels.iter().all(|label| line.contains(label)));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }
}

/// What a counter has grown by.
fn grown(before: &Numbers, after: &Numbers, name: &str, label: &str) -> f64 {
    after.get(name, &[label]) - before.get(name, &[label])
}

fn start(house: &House, name: &str, key: &str, strategy: &str) -> u16 {
    let body = json!({"name": name, "idempotencyKey": key, "idempotencyStrategy": strategy});
    house.send(&Request::post("/api/workflow", &body)).status
}

fn tell(house: &House, task: &Value, status: &str, output: Value) {
    let answer = house.send(&Request::post("/api/tasks", &report(task, status, output)));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn what_happened_is_counted_exactly() {
    let house = House::own(&["--test-clock"]);
    house.define("o_run");
    let before = Numbers::of(&house);
    assert_eq!(start(&house, "o_run", "k", "RETURN_EXISTING"), 200);
    assert_eq!(start(&house, "o_run", "k", "RETURN_EXISTING"), 200);
    assert_eq!(start(&house, "o_run", "k", "FAIL"), 409);
    assert_eq!(start(&house, "o_nobody_knows", "k", "FAIL"), 404);
    assert_eq!(house.send(&Request::get("/api/tasks/poll/o_run_not")).status, 204);
    let task = house.claim("o_run");
    tell(&house, &task, "COMPLETED", json!({"n": 1}));
    tell(&house, &task, "COMPLETED", json!({"n": 1}));
    tell(&house, &task, "COMPLETED", json!({"n": 2}));
    house.start("o_run");
    tell(&house, &house.claim("o_run"), "FAILED_WITH_TERMINAL_ERROR", json!({}));
    let after = Numbers::of(&house);
    for (name, label, count) in [
        ("workflow_start_success_total", "workflowName=\"o_run\"", 2.0),
        ("workflow_start_error_total", "workflowName=\"unknown\"", 1.0),
        ("workflow_execution_seconds_count", "workflowName=\"o_run\"", 1.0),
        ("workflow_failure_total", "status=\"FAILED\"", 1.0),
        ("task_poll_total", "taskType=\"o_run\"", 2.0),
        ("task_poll_total", "taskType=\"o_run_not\"", 1.0),
        ("task_poll_count_total", "taskType=\"o_run\",domain=\"NO_DOMAIN\"", 2.0),
        ("task_queue_wait_seconds_count", "taskType=\"o_run\"", 2.0),
        ("task_execution_seconds_count", "status=\"COMPLETED\"", 1.0),
        ("task_execution_seconds_count", "status=\"FAILED_WITH_TERMINAL_ERROR\"", 1.0),
        ("semel_starts_total", "outcome=\"created\"", 2.0),
        ("semel_starts_total", "outcome=\"returned_existing\"", 1.0),
        ("semel_starts_total", "outcome=\"rejected\"", 1.0),
        ("semel_reports_total", "outcome=\"applied\"", 2.0),
        ("semel_reports_total", "outcome=\"repeated\"", 1.0),
        ("semel_reports_total", "outcome=\"stale\"", 1.0),
        ("semel_lease_expiries_total", "", 0.0),
    ] {
        assert_eq!(grown(&before, &after, name, label), count, "{name} {label}\n{}", after.0);
    }
    assert!(grown(&before, &after, "semel_rounds_total", "outcome=\"committed\"") >= 6.0);
    assert!(grown(&before, &after, "semel_commit_seconds_count", "") >= 6.0);
    let requests = ["uri=\"/api/tasks\"", "method=\"POST\"", "status=\"200\""];
    assert_eq!(after.get("http_server_requests_seconds_count", &requests), 4.0);
    let id = task["workflowInstanceId"].as_str().unwrap();
    assert!(!after.0.contains(id), "labels hold no ids");
}

#[test]
fn gauges_say_what_is_so_now() {
    let house = House::own(&["--test-clock"]);
    house.define("o_gauge");
    house.start("o_gauge");
    house.start("o_gauge");
    let task = house.claim("o_gauge");
    let seen = Numbers::of(&house);
    let (task_type, name) = ("taskType=\"o_gauge\"", "workflowName=\"o_gauge\"");
    assert_eq!(seen.get("task_queue_depth", &[task_type]), 1.0);
    assert_eq!(seen.get("task_in_progress", &[task_type]), 1.0);
    assert_eq!(seen.get("workflow_running", &[name, "version=\"1\""]), 2.0);
    assert_eq!(seen.get("semel_build_info", &[]), 1.0);
    assert!(seen.get("process_resident_memory_bytes", &[]) > 1e6 || cfg!(not(target_os = "linux")));
    tell(&house, &task, "COMPLETED", json!({}));
    let silent = house.claim("o_gauge");
    let advance = json!({"advanceMs": 3_601_000});
    assert_eq!(house.send(&Request::post("/test/clock", &advance)).status, 200);
    let expired =
        || Some(Numbers::of(&house)).filter(|n| n.get("semel_lease_expiries_total", &[]) > 0.0);
    let seen = until("the lease runs out", PATIENCE, expired).unwrap();
    assert_eq!(seen.get("semel_lease_expiries_total", &[]), 1.0, "{silent}");
    assert_eq!(seen.get("task_response_timeout_total", &[task_type]), 1.0);
    assert_eq!(seen.get("task_timeout_total", &[task_type]), 0.0);
    assert_eq!(seen.get("task_in_progress", &[task_type]), 0.0, "what is gone is 0");
    assert_eq!(seen.get("workflow_running", &[name]), 1.0);
}

#[test]
fn both_paths_give_numbers_that_all_explain_themselves() {
    let house = house();
    let document = include_str!("../../docs/observability.md");
    for path in ["/metrics", "/actuator/prometheus"] {
        let text = house.send(&Request::get(path)).text();
        let families: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        assert!(families.len() > 10, "{text}");
        for family in families {
            let name = family.split(' ').next().unwrap_or_default();
            assert!(document.contains(&format!("| `{name}` |")), "{name} is not documented");
            assert!(text.contains(&format!("# HELP {name} ")), "{name} has no help");
        }
    }
}

#[test]
fn every_answer_says_which_request_it_is_for() {
    let house = House::own(&["--body-bytes-max", "100", "--log", "debug"]);
    let large = Request::new("POST", "/api/workflow/x").body("x".repeat(200));
    let all = [
        (Request::get("/health"), 200),
        (Request::get("/api/nothing/here"), 404),
        (Request::get("/api/workflow/nobody?token=hunter22"), 404),
        (Request::new("PATCH", "/api/workflow"), 405),
        (large, 413),
        (Request::new("POST", "/api/workflow").body("{"), 400),
    ];
    let mut drawn = std::collections::BTreeSet::new();
    for (request, status) in all {
        let answer = house.send(&request);
        assert_eq!(answer.status, status, "{request:?}");
        let id = answer.header("x-request-id").unwrap_or_default().to_owned();
        assert!(!id.is_empty() && drawn.insert(id.clone()), "{id} to {request:?}");
        let line = format!("id={id} ");
        assert!(house.log().lines().any(|logged| logged.contains(&line)), "{}", house.log());
        let named = house.send(&request.clone().header("X-Request-Id", "mine-7"));
        assert_eq!(named.header("x-request-id"), Some("mine-7"), "{request:?}");
        let broken = house.send(&request.header("X-Request-Id", b"\xff\xfe".to_vec()));
        assert!(broken.header("x-request-id").is_some_and(|id| id.is_ascii() && id.len() > 12));
    }
    let log = house.log();
    assert!(log.contains("method=\"GET\" path=\"/api/workflow/{id}\""), "{log}");
    assert!(!log.contains("hunter22"), "queries are not logged: {log}");
}

#[test]
fn the_journal_names_the_request_that_caused_an_entry() {
    let house = house();
    house.define("o_named");
    let answer = house.send(
        &Request::post("/api/workflow/o_named", &json!({})).header("X-Request-Id", "start-1"),
    );
    let log = house.send(&Request::get(format!("/api/workflow/{}/log", answer.text()))).json();
    assert_eq!(log[0]["entry"]["event_id"], "start-1", "{log}");
    let answer = house.send(&Request::post("/api/workflow/o_named", &json!({})));
    let log = house.send(&Request::get(format!("/api/workflow/{}/log", answer.text()))).json();
    assert_eq!(log[0]["entry"]["event_id"], answer.header("x-request-id").unwrap(), "{log}");
}

fn define(house: &House, workflow: &Value) {
    let put = Request::post("/api/metadata/workflow?overwrite=true", workflow);
    assert_eq!(house.send(&put).status, 200, "{workflow}");
}

fn traced(house: &House, header: Option<&str>) -> String {
    let start = Request::post("/api/workflow/o_parent", &json!({}));
    let start = match header {
        Some(value) => start.header("traceparent", value),
        None => start,
    };
    let answer = house.send(&start);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

/// Tasks of that type, as their worker gets them.
fn taken(house: &House, kind: &str) -> Value {
    let look = || {
        let answer = house.send(&Request::get(format!("/api/tasks/poll/{kind}?workerid=w")));
        (answer.status == 200).then(|| answer.json())
    };
    until(kind, PATIENCE, look).expect("it comes to that")
}

#[test]
fn a_trace_goes_from_the_start_to_every_worker() {
    let house = house();
    for name in ["o_child", "o_side", "o_failure"] {
        house.define(name);
    }
    define(
        &house,
        &json!({"name": "o_parent", "version": 1, "failureWorkflow": "o_failure", "tasks": [
        {"name": "side", "taskReferenceName": "side", "type": "START_WORKFLOW",
         "inputParameters": {"startWorkflow": {"name": "o_side"}}},
        {"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
         "subWorkflowParam": {"name": "o_child"}}]}),
    );
    for (header, kept) in
        [(Some(TRACEPARENT), Some(TRACEPARENT)), (None, None), (Some("00-broken"), None)]
    {
        let parent = traced(&house, header);
        let wanted = kept.map(|kept| json!(kept));
        let child = taken(&house, "o_child");
        assert_eq!(child.get("traceparent"), wanted.as_ref(), "{child}");
        assert_eq!(taken(&house, "o_side").get("traceparent"), wanted.as_ref());
        tell(&house, &child, "FAILED_WITH_TERMINAL_ERROR", json!({}));
        assert_eq!(taken(&house, "o_failure").get("traceparent"), wanted.as_ref());
        for run in [&parent, child["workflowInstanceId"].as_str().unwrap()] {
            let shown = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
            assert_eq!(shown.get("traceparent"), wanted.as_ref(), "{shown}");
            assert_eq!(shown["tasks"][0].get("traceparent"), wanted.as_ref(), "{shown}");
            let verified = Request::new("POST", format!("/api/workflow/{run}/verify"));
            assert_eq!(house.send(&verified).status, 200);
        }
    }
}

#[test]
fn health_tells_what_people_want_to_know() {
    let found = |house: &House| {
        let answer = house.send(&Request::get("/health"));
        assert_eq!((answer.status, &answer.json()["healthy"]), (200, &json!(true)));
        answer.json()["healthResults"].clone()
    };
    let on_disk = house();
    on_disk.define("o_health");
    let parts = found(&on_disk);
    assert_eq!((&parts[0]["name"], &parts[0]["healthy"]), (&json!("store"), &json!(true)));
    let details = &parts[0]["details"];
    assert_eq!(details["kind"], "sqlite");
    assert!(details["schema"].as_u64() >= Some(3) && details["bytes"].as_u64() > Some(4096));
    assert!(details["lastCommitAgeMs"].as_i64() >= Some(0), "{details}");
    assert_eq!((&parts[1]["name"], &parts[1]["healthy"]), (&json!("lane"), &json!(true)));
    assert_eq!((&parts[2]["name"], &parts[2]["healthy"]), (&json!("index"), &json!(true)));
    assert_eq!(parts[3], json!({"name": "scripts", "healthy": true, "details": {"sealed": null}}));
    let script = json!({"name": "o_script", "version": 1, "tasks": [{"name": "s", "taskReferenceName": "s",
        "type": "INLINE", "inputParameters": {"evaluatorType": "javascript", "expression": "new Array(1).length"}},
        {"name": "o_after", "taskReferenceName": "o_after", "type": "SIMPLE"}]});
    assert_eq!(on_disk.send(&Request::post("/api/metadata/workflow", &script)).status, 200);
    on_disk.start("o_script");
    let poll = "/api/tasks/poll/o_after?workerid=w&timeout=5000";
    assert_eq!(on_disk.send(&Request::get(poll)).status, 200);
    let sealed = found(&on_disk)[3]["details"]["sealed"].clone();
    assert_eq!(sealed, cfg!(target_os = "linux"), "the kernel of whoever tests has a filter");
}

#[test]
fn spans_reach_a_collector_and_join_the_callers_trace() {
    let collector = Collector::open();
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", "memory", "--otlp-endpoint", &collector.endpoint()];
    let mut server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    let workflow = json!({"name": "o_spans", "version": 1,
        "tasks": [{"name": "w", "taskReferenceName": "w", "type": "HUMAN"}]});
    assert_eq!(caller.post("/api/metadata/workflow", &workflow).unwrap().status, 200);
    let start =
        Request::post("/api/workflow/o_spans", &json!({})).header("traceparent", TRACEPARENT);
    let id = crate::raw::exchange(server.address(), &start.bytes()).unwrap().text();
    let shown = caller.get(&format!("/api/workflow/{id}")).unwrap().json();
    let kept = shown["traceparent"].as_str().unwrap();
    assert!(kept.contains(TRACE) && kept != TRACEPARENT, "the request's own span: {kept}");
    server.stop().unwrap();
    let span = kept.split('-').nth(2).unwrap().to_owned();
    until("the spans arrive", PATIENCE, || {
        let names = collector.has(b"request") && collector.has(b"round");
        (names && collector.has(&bytes(TRACE)) && collector.has(&bytes(&span))).then_some(())
    })
    .unwrap();
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len())
        .step_by(2)
        .filter_map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
        .collect()
}

#[test]
fn a_collector_that_is_gone_hurts_nobody() {
    let endpoint = Collector::open().endpoint(); // Closed again at once.
    let directory = tempfile::tempdir().unwrap();
    let options = ["--store", "memory", "--otlp-endpoint", &endpoint];
    let mut server = Server::start(directory.path(), &options).unwrap();
    let caller = server.caller().unwrap();
    for _ in 0..100 {
        assert_eq!(caller.get("/api/metadata/workflow").unwrap().status, 200);
    }
    server.stop().unwrap();
}
