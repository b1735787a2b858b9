//! # Effects: every answer of the ledger, and what it refuses

use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::{Answer, Request};

fn built() -> House {
    House::own(&["--test-clock"])
}

fn advance(house: &House, seconds: i64) {
    let body = json!({"advanceMs": seconds * 1000});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn call(house: &House, verb: &str, key: &str, body: Value) -> Answer {
    let mut whole = json!({"scope": "charge", "key": key, "owner": "ann", "leaseSeconds": 60});
    for (name, value) in body.as_object().expect("an object") {
        whole[name] = value.clone();
    }
    house.send(&Request::post(format!("/api/effects/{verb}"), &whole))
}

fn fence(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["state"], "STARTED", "{body}");
    body["fence"].clone()
}

fn refused(answer: &Answer, status: u16, code: &str) -> Value {
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (status, &json!(code)), "{body}");
    body["metadata"].clone()
}

fn read(house: &House, key: &str) -> Value {
    let answer = house.send(&Request::get(format!("/api/effects/charge/{key}")));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn one_is_told_to_go_ahead_and_the_others_hear_the_result() {
    let house = built();
    let first = fence(&call(&house, "try-start", "1", json!({})));
    let busy = call(&house, "try-start", "1", json!({"owner": "bob"}));
    let seen = refused(&busy, 409, "IDEMPOTENCY_IN_PROGRESS");
    assert_eq!((&seen["state"], &seen["owner"]), (&json!("IN_PROGRESS"), &json!("ann")));
    assert_eq!((&seen["safeNewKey"], busy.header("retry-after")), (&json!(false), Some("60")));
    let result = json!({"charge": "ch_1"});
    let done = call(&house, "complete", "1", json!({"fence": first, "result": result}));
    assert_eq!(done.status, 200, "{}", done.text());
    let again = call(&house, "try-start", "1", json!({"owner": "bob"}));
    let body = again.json();
    assert_eq!((&body["state"], &body["result"]), (&json!("COMPLETED"), &result), "{body}");
    assert!(body["completedAt"].is_i64() && body["expiresAt"].is_i64(), "{body}");
    let seen = read(&house, "1");
    assert_eq!((&seen["hits"], &seen["state"]), (&json!(2), &json!("COMPLETED")), "{seen}");
    let outcomes: Vec<_> = seen["ring"].as_array().unwrap().iter().collect();
    let outcomes: Vec<_> = outcomes.iter().map(|it| (&it["by"], &it["outcome"])).collect();
    let expected = [("bob", "IN_PROGRESS"), ("bob", "REPLAYED"), ("ann", "STARTED")];
    for (by, outcome) in expected {
        assert!(outcomes.contains(&(&json!(by), &json!(outcome))), "{seen}");
    }
}

#[test]
fn hits_are_kept_without_a_write_of_their_own() {
    let house = built();
    let first = fence(&call(&house, "try-start", "h", json!({})));
    call(&house, "complete", "h", json!({"fence": first}));
    for _ in 0..40 {
        assert_eq!(call(&house, "try-start", "h", json!({"owner": "bob"})).status, 200);
    }
    assert_eq!(read(&house, "h")["hits"], 40);
    fence(&call(&house, "try-start", "another", json!({}))); // They ride with this one.
    let seen = read(&house, "h");
    assert_eq!((&seen["hits"], seen["ring"].as_array().unwrap().len()), (&json!(40), 32));
}

#[test]
fn completing_twice_is_completing_once() {
    let house = built();
    let first = fence(&call(&house, "try-start", "2", json!({})));
    let complete = |result: Value, fence: &Value| {
        call(&house, "complete", "2", json!({"fence": fence, "result": result}))
    };
    assert_eq!(complete(json!({"a": 1, "b": 2}), &first).status, 200);
    assert_eq!(complete(json!({"b": 2.0, "a": 1}), &first).status, 200);
    let other = refused(&complete(json!({"a": 2}), &first), 409, "DECISION_CONFLICT");
    assert_eq!(other["winner"]["owner"], "ann");
    let stale = refused(&complete(json!({"a": 1, "b": 2}), &json!(1)), 409, "STALE_FENCE");
    assert_eq!((&stale["winner"]["fence"], &stale["safeNewKey"]), (&first, &json!(false)));
    let never = call(&house, "complete", "never", json!({"fence": "1"}));
    refused(&never, 409, "STALE_FENCE");
}

#[test]
fn an_owner_that_comes_back_gets_a_larger_fence() {
    let house = built();
    let number = |fence: &Value| fence.as_str().unwrap().parse::<u64>().unwrap();
    let first = fence(&call(&house, "try-start", "3", json!({})));
    let again = call(&house, "try-start", "3", json!({}));
    assert_eq!(again.json()["reentrant"], true);
    let second = fence(&again);
    assert!(number(&second) > number(&first));
    let ghost = call(&house, "renew", "3", json!({"fence": first}));
    refused(&ghost, 409, "STALE_FENCE");
    let renewed = call(&house, "renew", "3", json!({"fence": second, "leaseSeconds": 600}));
    assert_eq!(renewed.status, 200, "{}", renewed.text());
    advance(&house, 61);
    refused(
        &call(&house, "try-start", "3", json!({"owner": "bob"})),
        409,
        "IDEMPOTENCY_IN_PROGRESS",
    );
}

#[test]
fn of_a_silent_owner_nobody_knows_until_somebody_takes_over() {
    let house = built();
    let first = fence(&call(&house, "try-start", "4", json!({})));
    advance(&house, 61);
    assert_eq!(read(&house, "4")["state"], "UNKNOWN");
    let unknown = call(&house, "try-start", "4", json!({"owner": "bob"}));
    let seen = refused(&unknown, 423, "EFFECT_OUTCOME_UNKNOWN");
    assert_eq!((&seen["state"], &seen["lastOwner"]), (&json!("UNKNOWN"), &json!("ann")));
    let list = house.send(&Request::get("/api/effects?state=UNKNOWN&scope=charge")).json();
    assert_eq!(list["results"].as_array().unwrap().len(), 1, "{list}");
    let over = call(&house, "try-start", "4", json!({"owner": "bob", "onUnknown": "takeover"}));
    assert_eq!(over.json()["takeover"], true);
    fence(&over);
    refused(&call(&house, "complete", "4", json!({"fence": first})), 409, "STALE_FENCE");
}

#[test]
fn another_fingerprint_is_another_request() {
    let house = built();
    let with = |print: Value| call(&house, "try-start", "5", json!({"fingerprint": print}));
    fence(&with(json!({"amount": 10, "currency": "EUR"})));
    assert_eq!(with(json!({"currency": "EUR", "amount": 10.0})).json()["reentrant"], true);
    let other = refused(&with(json!({"amount": 11})), 422, "IDEMPOTENCY_PAYLOAD_MISMATCH");
    assert_eq!(other["safeNewKey"], true);
}

#[test]
fn what_was_released_or_failed_may_be_tried_again_and_what_failed_for_good_may_not() {
    let house = built();
    let first = fence(&call(&house, "try-start", "6", json!({})));
    let applied = call(&house, "release", "6", json!({"fence": first, "applied": true}));
    assert_eq!(applied.status, 400, "{}", applied.text());
    for _ in 0..2 {
        assert_eq!(call(&house, "release", "6", json!({"fence": first})).status, 200);
    }
    let second = fence(&call(&house, "try-start", "6", json!({"owner": "bob"})));
    refused(&call(&house, "release", "6", json!({"fence": first})), 409, "STALE_FENCE");
    let failed = json!({"owner": "bob", "fence": second, "error": "busy", "final": false});
    assert_eq!(call(&house, "fail", "6", failed).status, 200);
    let third = fence(&call(&house, "try-start", "6", json!({})));
    let failed = json!({"fence": third, "error": {"why": "declined"}, "final": true});
    assert_eq!(call(&house, "fail", "6", failed).status, 200);
    let told = call(&house, "try-start", "6", json!({"owner": "bob"})).json();
    assert_eq!((&told["state"], &told["error"]["why"]), (&json!("FAILED"), &json!("declined")));
}

#[test]
fn a_reset_is_remembered_and_the_next_one_goes_ahead() {
    let house = built();
    let reset = || house.send(&Request::new("DELETE", "/api/effects/charge/7"));
    assert_eq!(reset().status, 404);
    let first = fence(&call(&house, "try-start", "7", json!({})));
    call(&house, "complete", "7", json!({"fence": first, "result": 1}));
    assert_eq!(reset().status, 200);
    let seen = read(&house, "7");
    assert_eq!(seen["state"], "RELEASED");
    assert_eq!(seen["ring"].as_array().unwrap().last().unwrap()["outcome"], "RESET", "{seen}");
    assert!(house.log().contains("an effect was reset"), "{}", house.log());
    fence(&call(&house, "try-start", "7", json!({"owner": "bob"})));
}

#[test]
fn what_is_over_for_long_enough_is_forgotten() {
    let house = built();
    let first = fence(&call(&house, "try-start", "8", json!({"retentionSeconds": 100})));
    call(&house, "complete", "8", json!({"fence": first}));
    advance(&house, 101);
    assert_eq!(house.send(&Request::get("/api/effects/charge/8")).status, 404);
    fence(&call(&house, "try-start", "8", json!({"owner": "bob"})));
}

#[test]
fn effects_are_listed_a_page_at_a_time() {
    let house = built();
    for key in 0..7 {
        fence(&call(&house, "try-start", &format!("k{key}"), json!({})));
    }
    fence(&call(&house, "try-start", "k0", json!({"scope": "charge-back"})));
    let mut keys = Vec::new();
    let mut query = "?scope=charge&size=3".to_owned();
    loop {
        let page = house.send(&Request::get(format!("/api/effects{query}"))).json();
        let results = page["results"].as_array().unwrap();
        assert!(results.len() <= 3);
        keys.extend(results.iter().map(|it| it["key"].as_str().unwrap().to_owned()));
        let Some(after) = page["after"].as_str() else { break };
        let encoded = after.replace('[', "%5B").replace(']', "%5D").replace('"', "%22");
        query = format!("?scope=charge&size=3&after={encoded}");
    }
    assert_eq!(keys, (0..7).map(|key| format!("k{key}")).collect::<Vec<_>>());
    for wrong in ["state=odd", "size=0", "size=1001", "since=x", "after=x"] {
        let answer = house.refuses(&Request::get(format!("/api/effects?{wrong}")));
        let name = wrong.split('=').next().unwrap();
        assert!(answer.status == 400 && answer.text().contains(name), "{}", answer.text());
    }
}

#[test]
fn what_cannot_be_is_refused_and_named() {
    let house = built();
    let large = "x".repeat(256 * 1024);
    for (verb, name, value) in [
        ("try-start", "scope", json!(" ")),
        ("try-start", "scope", json!("x".repeat(257))),
        ("try-start", "key", json!("")),
        ("try-start", "key", json!("x".repeat(513))),
        ("try-start", "key", json!("a\u{0}b")),
        ("try-start", "owner", json!("")),
        ("try-start", "leaseSeconds", json!(0)),
        ("try-start", "leaseSeconds", json!(604_801)),
        ("try-start", "retentionSeconds", json!(0)),
        ("try-start", "onUnknown", json!("retry")),
        ("complete", "fence", json!("odd")),
        ("complete", "result", json!(large)),
        ("fail", "error", json!(large)),
        ("renew", "leaseSeconds", json!(-1)),
    ] {
        let mut body = json!({"fence": "1"});
        body[name] = value;
        let answer = call(&house, verb, "9", body);
        assert_eq!(answer.status, 400, "{verb} {name}: {}", answer.text());
        let message = answer.json()["message"].to_string();
        assert!(message.contains(name) && !message.contains("xxxx"), "{name}: {message}");
    }
    assert_eq!(house.send(&Request::get("/api/effects/charge/9")).status, 404);
}

#[test]
fn a_task_behind_an_owner_that_fell_silent_is_woken_by_time() {
    let house = built();
    let step = json!({"name": "charge", "taskReferenceName": "only", "type": "SIMPLE",
        "inputParameters": {"order": "${workflow.input.order}"},
        "effect": {"key": "${order}", "onUnknown": "HOLD"}});
    let definition = json!({"name": "e_silent", "tasks": [step]});
    let defined = house.send(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(defined.status, 200, "{}", defined.text());
    let late = fence(&call(&house, "try-start", "s", json!({"leaseSeconds": 60})));
    let start = Request::post("/api/workflow/e_silent", &json!({"order": "s"}));
    let run = house.send(&start).text();
    let status = || {
        let seen = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
        seen["tasks"][0]["effectStatus"].clone()
    };
    assert_eq!(status(), "WAITING");
    advance(&house, 61);
    semel_tests::process::until("it is in doubt", semel_tests::process::DEADLINE, || {
        (status() == "UNKNOWN").then_some(())
    })
    .expect("time wakes it");
    // Nobody has taken over: the word of the first owner still counts.
    let done = call(&house, "complete", "s", json!({"fence": late, "result": {"n": 1}}));
    assert_eq!(done.status, 200, "{}", done.text());
    semel_tests::process::until("it is told", semel_tests::process::DEADLINE, || {
        (status() == "REPLAYED").then_some(())
    })
    .expect("it hears of it");
    let log = house.send(&Request::get(format!("/api/workflow/{run}/log"))).json();
    let said: Vec<String> = log
        .as_array()
        .expect("entries")
        .iter()
        .flat_map(|line| line["decisions"].as_array().cloned().unwrap_or_default())
        .filter_map(|it| it.as_str().map(str::to_owned))
        .collect();
    for word in ["waits for effect charge/s", "nobody knows", "is given what effect charge/s"] {
        assert!(said.iter().any(|it| it.contains(word)), "{word}: {said:?}");
    }
}

#[test]
fn a_retry_under_a_forgotten_key_is_handed_out_to_nobody() {
    let house = built();
    let step = json!({"name": "e_forgotten", "taskReferenceName": "only", "type": "SIMPLE",
        "taskDefinition": {"name": "e_forgotten", "retryCount": 3, "retryDelaySeconds": 0},
        "effect": {"downstreamRetentionSeconds": 600}});
    let definition = json!({"name": "e_forgotten", "tasks": [step]});
    let defined = house.send(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(defined.status, 200, "{}", defined.text());
    let run = house.send(&Request::post("/api/workflow/e_forgotten", &json!({}))).text();
    let claimed = house.claim("e_forgotten");
    let failed = report(&claimed, "FAILED", json!({}));
    assert_eq!(house.send(&Request::post("/api/tasks", &failed)).status, 200);
    advance(&house, 601);
    let poll = house.send(&Request::get("/api/tasks/poll/e_forgotten?workerid=w"));
    assert_eq!(poll.status, 204, "{}", poll.text());
    let look = || {
        let seen = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
        Some(seen["tasks"][1].clone()).filter(|task| task["effectStatus"] == "UNKNOWN")
    };
    let task = semel_tests::process::until("it is in doubt", semel_tests::process::DEADLINE, look);
    let task = task.expect("it is held");
    let reason = task["reasonForIncompletion"].to_string();
    assert!(reason.contains("downstreamRetentionSeconds=600"), "{reason}");
    let path = format!("/api/effects/e_forgotten/{}/resolve", task["effectKey"].as_str().unwrap());
    let said = house.send(&Request::post(path, &json!({"applied": false})));
    assert_eq!(said.status, 200, "{}", said.text());
    assert_eq!(house.claim("e_forgotten")["taskId"], task["taskId"], "a person wants it");
}
