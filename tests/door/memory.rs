//! # Memory: what a rush leaves behind when it is over

use std::time::Duration;

use semel_tests::process::{is_full, until};
use serde_json::{Value, json};

use crate::house::House;
use crate::raw::Request;

/// What runs that are over take.
pub(crate) const ENDED: &str = r#"semel_memory_bytes{kind="ended"}"#;

const PAYLOAD_BYTES: usize = 100_000;

/// Polled until it is so; only a server that never gets there takes so long.
const PATIENCE: Duration = Duration::from_secs(180);

/// Resident memory, as the system sees it.
pub(crate) fn resident_bytes(house: &House) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", house.pid()));
    let status = status.expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")).map(str::trim);
    kib.and_then(|kib| kib.parse::<u64>().ok()).expect("it says how much it has") * 1024
}

pub(crate) fn number(house: &House, name: &str) -> f64 {
    let text = house.send(&Request::get("/metrics")).text();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|value| value.trim().parse().ok()).unwrap_or_else(|| panic!("{name}: {text}"))
}

fn run(house: &House, count: usize) {
    let body = json!({"given": "x".repeat(PAYLOAD_BYTES)});
    for _ in 0..count {
        let answer = house.send(&Request::post("/api/workflow/m_over", &body));
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn ended_runs_with_large_payloads_leave_no_memory_behind() {
    let house = House::on_disk(&[]);
    let step = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP",
        "inputParameters": {"given": "${workflow.input.given}"}});
    let definition: Value =
        json!({"name": "m_over", "version": 1, "schemaVersion": 2, "tasks": [step]});
    let put = house.send(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(put.status, 200, "{}", put.text());
    // What is there from the first requests on: code, threads, connections and their pages.
    run(&house, 100);
    let idle = resident_bytes(&house);
    run(&house, if is_full() { 11_000 } else { 1_000 });
    let budget = number(&house, r#"semel_memory_budget_bytes{kind="executions"}"#);
    assert!(number(&house, ENDED) <= budget / 8.0);
    until("ended runs are dropped", PATIENCE, || (number(&house, ENDED) == 0.0).then_some(()))
        .unwrap_or_else(|error| panic!("{error:#}"));
    let given_back = until("memory is given back", PATIENCE, || {
        let now = resident_bytes(&house);
        (now <= 2 * idle).then_some(now)
    });
    let now = resident_bytes(&house);
    given_back.unwrap_or_else(|error| panic!("{error:#}: {idle} bytes before, {now} after"));
    house.is_healthy();
}

#[test]
fn definitions_that_runs_bring_stay_within_their_share_of_memory() {
    let house = House::own(&["--memory-max", "67108864"]);
    let held = || number(&house, r#"semel_memory_bytes{kind="definitions"}"#);
    let budget = number(&house, r#"semel_memory_budget_bytes{kind="definitions"}"#);
    assert_eq!(budget, f64::from(64 << 20) / 8.0);
    for at in 0..60 {
        let step = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP"});
        let definition = json!({"name": "m_own", "version": 1, "schemaVersion": 2, "tasks": [step],
            "description": format!("{at} {}", "x".repeat(100_000))});
        let body = json!({"name": "m_own", "input": {}, "workflowDef": definition});
        let answer = house.send(&Request::post("/api/workflow", &body));
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(held() <= budget, "{} of {budget}", held());
    }
    assert!(held() > 400_000.0, "some are kept: {}", held());
    house.is_healthy();
}
