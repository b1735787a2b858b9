//! # Item 14: a start with a key it has used before, and keys nobody should send

use serde_json::{Value, json};

use crate::checklist::is_id;
use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

fn start(house: &House, name: &str, key: &str, strategy: &str) -> Answer {
    let body = json!({"name": name, "idempotencyKey": key, "idempotencyStrategy": strategy});
    house.send(&Request::post("/api/workflow", &body))
}

fn complete(house: &House, name: &str) {
    let report = report(&house.claim(name), "COMPLETED", json!({}));
    assert_eq!(house.send(&Request::post("/api/tasks", &report)).status, 200);
}

fn is_conflict(answer: &Answer, id: &str) {
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (409, &json!("IDEMPOTENCY_CONFLICT")), "{body}");
    assert_eq!(body["metadata"]["existingWorkflowId"], id);
    assert!(body["message"].to_string().contains(id), "{body}");
}

#[test]
fn fail_refuses_a_second_start_even_after_the_first_has_ended() {
    let house = house();
    house.define("k_fail");
    let id = is_id(&start(&house, "k_fail", "k", "FAIL"));
    is_conflict(&start(&house, "k_fail", "k", "FAIL"), &id);
    complete(&house, "k_fail");
    is_conflict(&start(&house, "k_fail", "k", "FAIL"), &id);
}

#[test]
fn return_existing_answers_with_the_first_id() {
    let house = house();
    house.define("k_return");
    let first = start(&house, "k_return", "k", "RETURN_EXISTING");
    assert_eq!(first.header("x-idempotency-outcome"), Some("CREATED"));
    let id = is_id(&first);
    let again = start(&house, "k_return", "k", "RETURN_EXISTING");
    assert_eq!(again.header("x-idempotency-outcome"), Some("RETURNED_EXISTING"));
    assert_eq!(is_id(&again), id);
    complete(&house, "k_return");
    assert_eq!(is_id(&start(&house, "k_return", "k", "RETURN_EXISTING")), id);
}

#[test]
fn fail_on_running_starts_anew_after_completion() {
    let house = house();
    house.define("k_running");
    let id = is_id(&start(&house, "k_running", "k", "FAIL_ON_RUNNING"));
    is_conflict(&start(&house, "k_running", "k", "FAIL_ON_RUNNING"), &id);
    complete(&house, "k_running");
    assert_ne!(is_id(&start(&house, "k_running", "k", "FAIL_ON_RUNNING")), id);
}

#[test]
fn a_key_may_come_in_headers_and_belongs_to_one_name() {
    let house = house();
    house.define("k_header");
    house.define("k_other");
    let to = |name: &str| {
        let request = Request::post(format!("/api/workflow/{name}"), &json!({}))
            .header("x-IDEMPOTENCY-key", "k")
            .header("X-on-conflict", "RETURN_EXISTING");
        is_id(&house.send(&request))
    };
    let id = to("k_header");
    assert_eq!(to("k_header"), id);
    assert_ne!(to("k_other"), id);
    assert_eq!(is_id(&start(&house, "k_header", "k", "RETURN_EXISTING")), id);
}

#[test]
fn a_strategy_without_a_key_or_with_a_blank_one_means_nothing() {
    let house = house();
    house.define("k_none");
    for key in [Value::Null, json!(""), json!("  ")] {
        let body = json!({"name": "k_none", "idempotencyKey": key, "idempotencyStrategy": "FAIL"});
        let ids = [(); 2].map(|()| is_id(&house.send(&Request::post("/api/workflow", &body))));
        assert_ne!(ids[0], ids[1]);
    }
}

#[test]
fn keys_and_strategies_that_cannot_be_used_are_refused() {
    let house = house();
    house.define("k_bad");
    let longest = "k".repeat(512);
    is_id(&start(&house, "k_bad", &longest, "FAIL"));
    for (key, strategy) in [
        (format!("{longest}k"), "FAIL"),
        ("nul\0".to_owned(), "FAIL"),
        ("k".to_owned(), "fail"),
        ("k".to_owned(), "SURPRISE_ME"),
    ] {
        let body = json!({"name": "k_bad", "idempotencyKey": key, "idempotencyStrategy": strategy});
        assert_eq!(house.refuses(&Request::post("/api/workflow", &body)).status, 400);
    }
    let body = json!({"name": "k_bad", "idempotencyKey": "k"});
    for (name, value) in [
        ("X-Idempotency-key", b"other".to_vec()),
        ("X-Idempotency-key", b"\xff\xfe".to_vec()),
        ("X-on-conflict", b"SURPRISE_ME".to_vec()),
    ] {
        let request = Request::post("/api/workflow", &body).header(name, value);
        assert_eq!(house.refuses(&request).status, 400, "{request:?}");
    }
}
