//! # Locks: who has one, who waits, and whose word does not count any more

use std::sync::Arc;

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

fn acquire(house: &House, name: &str, owner: &str, wait_seconds: u64) -> Answer {
    let body = json!({"owner": owner, "leaseSeconds": 60, "waitSeconds": wait_seconds});
    house.send(&Request::post(format!("/api/locks/{name}/acquire"), &body))
}

fn fence(answer: &Answer) -> u64 {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["fence"]
        .as_str()
        .expect("a fence is a number as text")
        .parse()
        .expect("a fence is a number as text")
}

fn say(house: &House, verb: &str, name: &str, owner: &str, fence: u64) -> Answer {
    let body = json!({"owner": owner, "fence": fence, "leaseSeconds": 60});
    house.send(&Request::post(format!("/api/locks/{name}/{verb}"), &body))
}

fn read(house: &House, name: &str) -> Value {
    let answer = house.send(&Request::get(format!("/api/locks/{name}")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn is_refused(answer: &Answer, code: &str) -> Value {
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (409, &json!(code)), "{body}");
    body["metadata"].clone()
}

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let house = built();
    assert_eq!(house.send(&Request::get("/api/locks/door")).status, 404);
    let ann = fence(&acquire(&house, "door", "ann", 0));
    let busy = acquire(&house, "door", "bob", 0);
    let seen = is_refused(&busy, "LOCK_TAKEN");
    assert_eq!((&seen["holder"], &seen["position"]), (&json!("ann"), &json!(1)), "{seen}");
    assert!(seen["leaseUntil"].is_i64() && busy.header("retry-after").is_some(), "{seen}");
    let held = read(&house, "door");
    assert_eq!((&held["state"], &held["owner"]), (&json!("CLAIMED"), &json!("ann")));
    is_refused(&say(&house, "release", "door", "bob", ann), "STALE_FENCE");
    for _ in 0..2 {
        let released = say(&house, "release", "door", "ann", ann);
        assert_eq!((released.status, &released.json()["state"]), (200, &json!("FREE")));
    }
    assert!(fence(&acquire(&house, "door", "bob", 0)) > ann);
    is_refused(&say(&house, "release", "door", "ann", ann), "STALE_FENCE");
}

#[test]
fn a_holder_that_sleeps_past_its_lease_is_fenced_off() {
    let house = built();
    let ann = fence(&acquire(&house, "door", "ann", 0));
    advance(&house, 59);
    assert_eq!(say(&house, "renew", "door", "ann", ann).status, 200);
    advance(&house, 59);
    is_refused(&acquire(&house, "door", "bob", 0), "LOCK_TAKEN");
    advance(&house, 2);
    assert_eq!(read(&house, "door")["state"], "FREE");
    let bob = fence(&acquire(&house, "door", "bob", 0));
    assert!(bob > ann);
    for verb in ["release", "renew"] {
        let seen = is_refused(&say(&house, verb, "door", "ann", ann), "STALE_FENCE");
        assert_eq!(seen["winner"]["owner"], "bob", "{seen}");
    }
}

#[test]
fn whoever_waits_gets_it_when_it_is_given_back() {
    let house = Arc::new(built());
    let ann = fence(&acquire(&house, "door", "ann", 0));
    let waiting: Vec<_> = (0..3)
        .map(|n| {
            let house = Arc::clone(&house);
            std::thread::spawn(move || {
                let owner = format!("w{n}");
                let got = fence(&acquire(&house, "door", &owner, 30));
                assert_eq!(say(&house, "release", "door", &owner, got).status, 200);
                got
            })
        })
        .collect();
    assert_eq!(say(&house, "release", "door", "ann", ann).status, 200);
    let fences: Vec<u64> = waiting.into_iter().map(|it| it.join().unwrap()).collect();
    assert!(fences.iter().all(|fence| *fence > ann), "{fences:?}");
}

#[test]
fn a_run_and_a_caller_see_each_other() {
    let house = built();
    let workflow = json!({"name": "l_job", "version": 1, "tasks": [
        {"name": "lock", "taskReferenceName": "lock", "type": "ACQUIRE_LOCK",
         "inputParameters": {"name": "door"}},
        {"name": "hold", "taskReferenceName": "hold", "type": "HUMAN"}]});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &workflow)).status, 200);
    let ann = fence(&acquire(&house, "door", "ann", 0));
    let run = house.start("l_job");
    assert_eq!(read(&house, "door")["waiting"], 1);
    let seen = is_refused(&acquire(&house, "door", "bob", 0), "LOCK_TAKEN");
    assert_eq!(seen["position"], 2, "{seen}");
    assert_eq!(say(&house, "release", "door", "ann", ann).status, 200);
    let seen = is_refused(&acquire(&house, "door", "bob", 0), "LOCK_TAKEN");
    assert_eq!((&seen["workflowId"], seen["leaseUntil"].is_null()), (&json!(run), true));
    let terminated = house.send(&Request::new("DELETE", format!("/api/workflow/{run}")));
    assert_eq!(terminated.status, 200);
    assert!(fence(&acquire(&house, "door", "bob", 0)) > ann);
}

#[test]
fn what_cannot_be_is_refused_and_named() {
    let house = built();
    let long = "x".repeat(513);
    for (verb, target, body, word) in [
        ("acquire", "door", json!({"owner": "", "leaseSeconds": 1}), "owner"),
        ("acquire", "door", json!({"owner": "a", "leaseSeconds": 0}), "leaseSeconds"),
        ("acquire", "door", json!({"owner": "a"}), "leaseSeconds"),
        ("acquire", "door", json!({"owner": "a", "leaseSeconds": 1, "waitSeconds": 31}), {
            "waitSeconds"
        }),
        ("acquire", "%20", json!({"owner": "a", "leaseSeconds": 1}), "name"),
        ("acquire", &long, json!({"owner": "a", "leaseSeconds": 1}), "name"),
        ("release", "door", json!({"owner": "a", "fence": "odd"}), "fence"),
        ("release", "door", json!({"owner": "a"}), "fence"),
        ("renew", "door", json!({"owner": "a", "fence": 1, "leaseSeconds": -1}), "leaseSeconds"),
    ] {
        let request = Request::post(format!("/api/locks/{target}/{verb}"), &body);
        let answer = house.refuses(&request);
        let message = answer.json()["message"].to_string();
        assert!(answer.status == 400 && message.contains(word), "{request:?} {message}");
    }
}
