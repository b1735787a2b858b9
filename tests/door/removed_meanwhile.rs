//! # Removed meanwhile: what was committed is what is answered
//!
//! A run may be removed between the commit of a request and its answer. The request was carried out, so
//! its answer is no 404.

use std::time::Duration;

use semel_tests::process::until;
use serde_json::json;

use crate::house::{House, house};
use crate::raw::{Answer, Request};

fn remove(house: &House, id: &str) {
    let path = format!("/api/workflow/{id}/remove?archiveWorkflow=false");
    assert_eq!(house.send(&Request::new("DELETE", path)).status, 200);
}

/// Sends a request that waits, and removes the run while it does.
fn while_waiting(house: &House, request: &Request, run: impl Fn() -> Option<String>) -> Answer {
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| house.send(request));
        let id = until("the run to be there", Duration::from_secs(10), &run).expect("it begins");
        std::thread::sleep(Duration::from_millis(50)); // The look before the wait.
        remove(house, &id);
        waiting.join().expect("it is answered")
    })
}

fn only_run(house: &House, name: &str) -> Option<String> {
    let path = format!("/api/workflow/running/{name}");
    let running = house.send(&Request::get(path)).json();
    running.as_array()?.first()?.as_str().map(str::to_owned)
}

#[test]
fn a_run_that_is_removed_during_the_wait_is_told_of() {
    let house = house();
    for (name, target) in
        [("gone_execute", "/1?waitForSeconds=5"), ("gone_output", "?waitForSeconds=5")]
    {
        house.define(name);
        let request = Request::post(format!("/api/workflow/execute/{name}{target}"), &json!({}));
        let answer = while_waiting(&house, &request, || only_run(&house, name));
        assert_eq!(answer.status, 200, "{name}: {}", answer.text());
        assert!(answer.header("x-workflow-id").is_some(), "{name}");
    }
    house.define("gone_state");
    let id = house.start("gone_state");
    let path = format!("/api/workflow/{id}/state?waitForSeconds=5");
    let request = Request::post(path, &json!({"variables": {"a": 1}}));
    let answer = while_waiting(&house, &request, || Some(id.clone()));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json()["workflowId"], json!(id));
}

#[test]
fn a_request_under_a_key_is_answered_when_its_run_is_gone() {
    let house = house();
    house.define("gone_keyed");
    let large = json!({"text": "x".repeat(300_000)}); // Longer answers than this are not kept.
    let id = house.send(&Request::post("/api/workflow/gone_keyed", &large)).text();
    let cases = [
        ("execute", "/api/workflow/execute/gone_keyed/1?waitForSeconds=1".to_owned(), json!({})),
        ("variables", format!("/api/workflow/{id}/variables"), json!({"a": 1})),
    ];
    for (key, path, body) in cases {
        let request =
            || Request::post(&path, &body).header("Idempotency-Key", format!("gone-{key}"));
        let first = house.send(&request());
        assert_eq!(first.status, 200, "{key}: {}", first.text());
        let run = first.json()["workflowId"].as_str().expect("an id").to_owned();
        remove(&house, &run);
        let again = house.send(&request());
        assert_eq!(again.status, 200, "{key}: {}", again.text());
        assert_eq!(again.json()["workflowId"], json!(run), "{key}");
    }
}

#[test]
fn a_run_that_was_never_there_is_still_404() {
    let house = house();
    let id = "01a1e167-fb71-746e-9a28-1c83b6f48a3a";
    for (path, body) in [
        (format!("/api/workflow/{id}/state"), json!({})),
        (format!("/api/workflow/{id}/variables"), json!({"a": 1})),
        (format!("/api/tasks/{id}/only/COMPLETED/sync"), json!({})),
        (format!("/api/tasks/{id}/COMPLETED/signal/sync"), json!({})),
    ] {
        let answer = house.refuses(&Request::post(&path, &body));
        assert_eq!(answer.status, 404, "{path}");
    }
}
