//! # Grants under a request key: what is so now, not what was so then

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::{Answer, Request};

fn built() -> House {
    House::own(&["--test-clock"])
}

fn advance(house: &House, seconds: i64) {
    let body = json!({"advanceMs": seconds * 1000});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn effect(verb: &str, key: &str, owner: &str, more: &Value) -> Request {
    let mut body = json!({"scope": "grants", "key": key, "owner": owner, "leaseSeconds": 60});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    Request::post(format!("/api/effects/{verb}"), &body)
}

fn lock(verb: &str, name: &str, owner: &str, more: &Value) -> Request {
    let mut body = json!({"owner": owner, "leaseSeconds": 60});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    Request::post(format!("/api/locks/{name}/{verb}"), &body)
}

fn told(answer: &Answer) -> (u16, String) {
    let body = answer.json();
    let word = body["code"].as_str().or(body["state"].as_str()).unwrap_or("GRANTED");
    (answer.status, word.to_owned())
}

fn is(answer: &Answer, status: u16, word: &str) -> Value {
    assert_eq!(told(answer), (status, word.to_owned()), "{}", answer.text());
    answer.json()
}

#[test]
fn a_start_of_an_effect_that_is_sent_again_is_told_what_became_of_it() {
    let house = built();
    let none = json!({});
    let ask = |key: &str| {
        let request = effect("try-start", key, "ann", &none);
        house.send(&request.header("Idempotency-Key", format!("ask-{key}")))
    };
    // While the grant holds it is the same one, and a longer lease is told.
    let first = is(&ask("1"), 200, "STARTED");
    let again = ask("1");
    assert_eq!(is(&again, 200, "STARTED"), first);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let renewal = json!({"fence": first["fence"], "leaseSeconds": 600});
    assert_eq!(house.send(&effect("renew", "1", "ann", &renewal)).status, 200);
    let renewed = is(&ask("1"), 200, "STARTED");
    assert_eq!(renewed["fence"], first["fence"]);
    assert!(renewed["leaseUntil"].as_i64() > first["leaseUntil"].as_i64(), "{renewed}");
    // It is done.
    let result = json!({"fence": first["fence"], "result": {"charge": "ch_1"}});
    assert_eq!(house.send(&effect("complete", "1", "ann", &result)).status, 200);
    assert_eq!(is(&ask("1"), 200, "COMPLETED")["result"], json!({"charge": "ch_1"}));
    // The lease has lapsed; then somebody else takes over; then that one is done.
    is(&ask("2"), 200, "STARTED");
    advance(&house, 61);
    is(&ask("2"), 423, "EFFECT_OUTCOME_UNKNOWN");
    let over = effect("try-start", "2", "bob", &json!({"onUnknown": "takeover"}));
    let over = is(&house.send(&over), 200, "STARTED");
    is(&ask("2"), 409, "IDEMPOTENCY_IN_PROGRESS");
    let result = json!({"fence": over["fence"], "result": {"charge": "ch_2"}});
    assert_eq!(house.send(&effect("complete", "2", "bob", &result)).status, 200);
    assert_eq!(is(&ask("2"), 200, "COMPLETED")["result"], json!({"charge": "ch_2"}));
    // It was given back: the old request is not granted anew.
    let third = is(&ask("3"), 200, "STARTED");
    let back = json!({"fence": third["fence"]});
    assert_eq!(house.send(&effect("release", "3", "ann", &back)).status, 200);
    is(&ask("3"), 409, "STALE_FENCE");
}

#[test]
fn an_effect_that_nobody_was_granted_is_asked_for_anew() {
    let house = built();
    let none = json!({});
    let owner = is(&house.send(&effect("try-start", "4", "bob", &none)), 200, "STARTED");
    advance(&house, 61);
    let ask = || {
        let request = effect("try-start", "4", "ann", &none);
        house.send(&request.header("Idempotency-Key", "ask-4"))
    };
    is(&ask(), 423, "EFFECT_OUTCOME_UNKNOWN");
    let path = "/api/effects/grants/4/resolve";
    let settled = house.send(&Request::post(path, &json!({"applied": false})));
    assert_eq!(settled.status, 200, "{}", settled.text());
    let granted = is(&ask(), 200, "STARTED");
    assert_ne!(granted["fence"], owner["fence"]);
    assert_eq!(is(&ask(), 200, "STARTED"), granted);
}

#[test]
fn a_lock_that_is_asked_for_again_is_told_to_whom_it_belongs_now() {
    let house = built();
    let none = json!({});
    let ask = || {
        house.send(&lock("acquire", "g-door", "ann", &none).header("Idempotency-Key", "ask-door"))
    };
    let first = is(&ask(), 200, "GRANTED");
    assert_eq!(is(&ask(), 200, "GRANTED"), first);
    advance(&house, 61);
    is(&ask(), 409, "STALE_FENCE");
    let bob = is(&house.send(&lock("acquire", "g-door", "bob", &none)), 200, "GRANTED");
    is(&ask(), 409, "LOCK_TAKEN");
    let fence = json!({"fence": bob["fence"]});
    assert_eq!(house.send(&lock("release", "g-door", "bob", &fence)).status, 200);
    is(&ask(), 409, "STALE_FENCE");
}

#[test]
fn a_lease_that_is_renewed_again_is_renewed_or_refused() {
    let house = built();
    let none = json!({});
    let mine = is(&house.send(&lock("acquire", "g-gate", "ann", &none)), 200, "GRANTED");
    let fence = json!({"fence": mine["fence"]});
    let renew = || {
        house.send(&lock("renew", "g-gate", "ann", &fence).header("Idempotency-Key", "renew-gate"))
    };
    let first = is(&renew(), 200, "GRANTED");
    advance(&house, 10);
    let second = is(&renew(), 200, "GRANTED");
    assert!(second["leaseUntil"].as_i64() > first["leaseUntil"].as_i64(), "{second}");
    assert_eq!(house.send(&lock("release", "g-gate", "ann", &fence)).status, 200);
    is(&renew(), 409, "STALE_FENCE");
}

#[test]
fn a_request_that_is_sent_again_is_told_how_its_run_stands_now() {
    let house = House::own(&[]);
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT"});
    let body = json!([{"name": "ex_again", "version": 1, "schemaVersion": 2, "tasks": [wait]}]);
    assert_eq!(house.send(&Request::new("PUT", "/api/metadata/workflow").json(&body)).status, 200);
    let keyed = |request: Request, key: &str| house.send(&request.header("Idempotency-Key", key));
    let path = "/api/workflow/execute/ex_again/1?waitForSeconds=1";
    let execute = || keyed(Request::post(path, &json!({"name": "ex_again"})), "ex-again");
    let first = execute();
    let run = first.json()["workflowId"].as_str().expect("its id").to_owned();
    assert_eq!(first.json()["targetWorkflowStatus"], "RUNNING", "{}", first.text());
    let again = execute();
    assert_eq!(again.json()["workflowId"], json!(run), "one run, however often it is asked for");
    assert_eq!(again.json()["targetWorkflowStatus"], "RUNNING");
    let path = format!("/api/tasks/{run}/COMPLETED/signal/sync");
    let signal = || keyed(Request::post(&path, &json!({"n": 1})), "ex-signal");
    assert_eq!(signal().json()["targetWorkflowStatus"], "COMPLETED");
    for _ in 0..2 {
        let last = execute();
        assert_eq!(last.json()["workflowId"], json!(run));
        assert_eq!(last.json()["targetWorkflowStatus"], "COMPLETED", "{}", last.text());
        assert_eq!(last.header("idempotent-replayed"), Some("true"));
    }
    assert_eq!(signal().header("idempotent-replayed"), Some("true"));
}
