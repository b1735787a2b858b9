//! # Refusals: what every one of them says to a caller in doubt

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::{Answer, Request};

/// Whether another key is safe, until when this one is taken, and a page that exists.
fn advice(answer: &Answer, status: u16, code: &str, is_safe: bool) -> Value {
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (status, &json!(code)), "{body}");
    let told = body["metadata"].clone();
    assert_eq!(told["safeNewKey"], json!(is_safe), "{body}");
    assert!(told.get("expiresAt").is_some(), "{body}");
    let page = told["docs"].as_str().expect("a page");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    assert!(std::path::Path::new(root).join(page).is_file(), "{page}");
    told
}

fn define(house: &House, definition: &Value) {
    let answer = house.send(&Request::post("/api/metadata/workflow?overwrite=true", definition));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn every_refusal_about_a_key_says_what_may_be_done() {
    let house = House::own(&["--test-clock"]);
    let steps = json!([{"name": "r_advice", "taskReferenceName": "only", "type": "SIMPLE"}]);
    define(
        &house,
        &json!({"name": "r_advice", "tasks": steps, "idempotency": {
        "keyExpression": "order-${workflow.input.id}", "onPayloadMismatch": "FAIL"}}),
    );
    let start = |input: &Value| Request::post("/api/workflow/r_advice", input);
    let first = house.send(&start(&json!({"id": 1})));
    assert_eq!(first.status, 200, "{}", first.text());
    let refused = |request: &Request| house.refuses(request);
    for id in [json!(null), json!(""), json!(" "), json!([]), json!({})] {
        let missing = refused(&start(&json!({"id": id})));
        advice(&missing, 400, "IDEMPOTENCY_KEY_REQUIRED", true);
        assert!(missing.text().contains("${workflow.input.id} is null, missing or empty"));
    }
    advice(&refused(&start(&json!({}))), 400, "IDEMPOTENCY_KEY_REQUIRED", true);
    let conflict = advice(&refused(&start(&json!({"id": 1}))), 409, "IDEMPOTENCY_CONFLICT", false);
    assert!(conflict["expiresAt"].is_null(), "{conflict}");
    let other = refused(&start(&json!({"id": 1, "more": 2})));
    advice(&other, 422, "IDEMPOTENCY_PAYLOAD_MISMATCH", true);
    let keyed = |input: &Value| start(input).header("Idempotency-Key", "advice");
    assert_eq!(house.send(&keyed(&json!({"id": 2}))).status, 200);
    let reused = refused(&keyed(&json!({"id": 3})));
    let reused = advice(&reused, 422, "IDEMPOTENCY_PAYLOAD_MISMATCH", true);
    assert!(reused["expiresAt"].is_i64(), "{reused}");
    let long = start(&json!({})).header("X-Idempotency-key", "k".repeat(513));
    advice(&refused(&long), 400, "IDEMPOTENCY_KEY_INVALID", true);
    let ask = |owner: &str, more: Value| {
        let mut body = json!({"scope": "advice", "key": "1", "owner": owner, "leaseSeconds": 60});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        Request::post("/api/effects/try-start", &body)
    };
    let granted = house.send(&ask("ann", json!({"fingerprint": 1}))).json();
    advice(&house.send(&ask("bob", json!({}))), 409, "IDEMPOTENCY_IN_PROGRESS", false);
    let mismatch = house.send(&ask("bob", json!({"fingerprint": 2})));
    advice(&mismatch, 422, "IDEMPOTENCY_PAYLOAD_MISMATCH", true);
    assert_eq!(
        house.send(&Request::post("/test/clock", &json!({"advanceMs": 61_000}))).status,
        200
    );
    advice(&house.send(&ask("bob", json!({}))), 423, "EFFECT_OUTCOME_UNKNOWN", false);
    let say = |verb: &str, fence: &Value, more: Value| {
        let mut body = json!({"scope": "advice", "key": "1", "owner": "ann", "fence": fence});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.send(&Request::post(format!("/api/effects/{verb}"), &body))
    };
    advice(&say("release", &json!("1"), json!({})), 409, "STALE_FENCE", false);
    let fence = &granted["fence"];
    assert_eq!(say("complete", fence, json!({"result": {"n": 1}})).status, 200);
    let otherwise = say("complete", fence, json!({"result": {"n": 2}}));
    let otherwise = advice(&otherwise, 409, "DECISION_CONFLICT", false);
    assert!(otherwise["expiresAt"].is_i64(), "{otherwise}");
}

#[test]
fn the_runs_of_a_key_come_by_pages() {
    let house = House::own(&[]);
    define(
        &house,
        &json!({"name": "r_pages", "tasks": [
        {"name": "done", "taskReferenceName": "done", "type": "NOOP"}]}),
    );
    let start = || {
        let request = Request::post("/api/workflow/r_pages", &json!({}));
        let request = request.header("X-Idempotency-key", "k");
        let answer = house.send(&request.header("X-on-conflict", "FAIL_ON_RUNNING"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.text()
    };
    let mut all: Vec<String> = (0..40).map(|_| start()).collect();
    all.reverse();
    let page = |query: &str| {
        let path = format!("/api/idempotency/workflow/r_pages/k{query}");
        house.send(&Request::get(path)).json()
    };
    let whole = page("");
    assert_eq!((&whole["totalRuns"], &whole["runs"]), (&json!(40), &json!(all)));
    let mut seen = Vec::new();
    for start in (0..40).step_by(7) {
        let part = page(&format!("?start={start}&size=7"));
        assert_eq!(part["totalRuns"], 40);
        seen.extend(part["runs"].as_array().unwrap().clone());
    }
    assert_eq!(json!(seen), json!(all));
    assert_eq!(page("?start=40")["runs"], json!([]));
    assert_eq!(
        house.refuses(&Request::get("/api/idempotency/workflow/r_pages/k?size=2000")).status,
        400
    );
}

/// The row of the page of troubles that a refusal without a code leads to.
fn row_of(answer: &Answer, status: u16, row: &str) {
    let body = answer.json();
    assert_eq!(answer.status, status, "{body}");
    assert_eq!(body["metadata"]["docs"], json!(format!("docs/trouble.md#{row}")), "{body}");
    let page = include_str!("../../docs/trouble.md");
    assert!(page.contains(&format!("<a id=\"{row}\"></a>")), "{row}");
}

#[test]
fn a_refusal_without_a_code_leads_to_a_row() {
    let house = House::own(&["--body-bytes-max", "100000"]);
    house.define("r_rows");
    let id = house.start("r_rows");
    let by_name = |reference: &str, status: &str| {
        Request::post(format!("/api/tasks/{id}/{reference}/{status}"), &json!({}))
    };
    row_of(&house.refuses(&by_name("nowhere", "COMPLETED")), 404, "nothing-there");
    house.claim("r_rows");
    row_of(&house.refuses(&by_name("only", "COMPLETED")), 409, "held");
    let resume = Request::new("PUT", format!("/api/workflow/{id}/resume"));
    row_of(&house.refuses(&resume), 409, "wrong-state");
    let large = json!({"text": "x".repeat(200_000)});
    row_of(&house.send(&Request::post("/api/workflow/r_rows", &large)), 413, "body-too-large");
    let pull = json!({"name": "r_pull", "version": 1, "tasks": [
        {"name": "only", "taskReferenceName": "only", "type": "PULL_WORKFLOW_MESSAGES"},
        {"name": "wait", "taskReferenceName": "wait", "type": "WAIT"}]});
    define(&house, &pull);
    let run = house.start("r_pull");
    let messages = format!("/api/workflow/{run}/messages");
    let post = || house.send(&Request::post(&messages, &json!({"n": 1})));
    let full = (0..1_010).map(|_| post()).find(|answer| answer.status != 200);
    row_of(&full.expect("a run keeps only so many"), 429, "full");
}
