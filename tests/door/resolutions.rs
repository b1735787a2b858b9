//! # Resolutions: whether an effect has happened, said at the door

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::Request;

/// A run whose effect is in doubt: it was ended while a worker had the task.
fn in_doubt(house: &House, name: &str, order: &str) -> (String, Value) {
    let step = json!({"name": name, "taskReferenceName": "only", "type": "SIMPLE",
        "inputParameters": {"order": "${workflow.input.order}"},
        "effect": {"key": "${order}", "onUnknown": "HOLD"}});
    let definition = json!({"name": name, "tasks": [step]});
    let defined = house.send(&Request::post("/api/metadata/workflow?overwrite=true", &definition));
    assert_eq!((defined.status, defined.header("x-semel-warning")), (200, None));
    let run = start(house, name, order);
    let task = house.claim(name);
    let ended = house.send(&Request::new("DELETE", format!("/api/workflow/{run}")));
    assert_eq!(ended.status, 200);
    (run, task)
}

fn start(house: &House, name: &str, order: &str) -> String {
    let input = json!({"order": order});
    house.send(&Request::post(format!("/api/workflow/{name}"), &input)).text()
}

fn task(house: &House, run: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{run}"))).json()["tasks"][0].clone()
}

#[test]
fn an_effect_in_doubt_is_settled_by_the_first_answer() {
    let house = house();
    let (first, claimed) = in_doubt(&house, "r_doubt", "a/b c");
    let second = start(&house, "r_doubt", "a/b c");
    let held = task(&house, &second);
    assert_eq!(
        (&held["status"], &held["effectStatus"]),
        (&json!("IN_PROGRESS"), &json!("UNKNOWN"))
    );
    assert_eq!(held["effectOwner"], json!({"workflowId": first, "taskId": claimed["taskId"]}));
    let path = "/api/effects/r_doubt/a%2Fb%20c/resolve";
    let resolve = |body: Value| Request::post(path, &body);
    let answer = json!({"applied": true, "output": {"n": 1}, "by": "eve", "note": "seen"});
    for _ in 0..2 {
        let told = house.send(&resolve(answer.clone()));
        assert_eq!(told.status, 200, "{}", told.text());
        assert_eq!(told.json(), json!({"applied": true, "workflowId": first}));
    }
    let refused = house.refuses(&resolve(json!({"applied": false})));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("DECISION_CONFLICT")));
    assert!(refused.text().contains("eve has said that it has happened"), "{}", refused.text());
    let winner = &refused.json()["metadata"]["winner"];
    assert_eq!((&winner["applied"], &winner["by"]), (&json!(true), &json!("eve")), "{winner}");
    assert_eq!((&winner["workflowId"], &winner["note"]), (&json!(first), &json!("seen")));
    assert!(winner["decidedAt"].is_number() && winner["state"] == "COMPLETED", "{winner}");
    let log = house.send(&Request::get(format!("/api/workflow/{first}/log"))).text();
    assert!(log.contains("eve") && log.contains("RESOLVED"), "{log}");
}

#[test]
fn an_answer_that_says_nothing_or_is_about_nothing_is_refused() {
    let house = house();
    let (_, claimed) = in_doubt(&house, "r_refused", "1");
    let path = "/api/effects/r_refused/1/resolve";
    for (body, word) in [
        (json!({}), "applied"),
        (json!({"applied": "perhaps"}), "applied"),
        (json!({"applied": true, "output": [1]}), "output"),
    ] {
        let refused = house.refuses(&Request::post(path, &body));
        assert_eq!(refused.status, 400, "{body}");
        assert!(
            refused.text().contains(word) || body["applied"] == "perhaps",
            "{}",
            refused.text()
        );
    }
    let nowhere = Request::post("/api/effects/r_refused/2/resolve", &json!({"applied": true}));
    assert_eq!(house.refuses(&nowhere).status, 404);
    // Whoever had it comes back: nobody is in doubt any more.
    let late =
        house.send(&Request::post("/api/tasks", &report(&claimed, "COMPLETED", json!({"n": 1}))));
    assert_eq!((late.status, late.header("x-task-update")), (200, None));
    let refused = house.refuses(&Request::post(path, &json!({"applied": false})));
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("DECISION_CONFLICT")));
    let replayed = start(&house, "r_refused", "1");
    assert_eq!(task(&house, &replayed)["outputData"], json!({"n": 1}));
}

#[test]
fn what_a_caller_of_the_ledger_left_in_doubt_is_settled_too() {
    let house = House::own(&["--test-clock"]);
    let claim = json!({"scope": "mail", "key": "1", "owner": "w", "leaseSeconds": 60});
    let begun = house.send(&Request::post("/api/effects/try-start", &claim));
    assert_eq!(begun.status, 200, "{}", begun.text());
    let resolve = |body: Value| Request::post("/api/effects/mail/1/resolve", &body);
    let early = house.refuses(&resolve(json!({"applied": true})));
    assert_eq!(early.status, 409, "its owner is at it: {}", early.text());
    let moved = Request::post("/test/clock", &json!({"advanceMs": 61_000}));
    assert_eq!(house.send(&moved).status, 200);
    let wrong = house.refuses(&resolve(json!({"applied": true, "output": 1})));
    assert_eq!(wrong.status, 400, "{}", wrong.text());
    let answer = json!({"applied": true, "output": {"sent": 1}, "by": "eve"});
    for _ in 0..2 {
        let told = house.send(&resolve(answer.clone()));
        assert_eq!((told.status, told.json()), (200, json!({"applied": true})));
    }
    let other = house.refuses(&resolve(json!({"applied": false})));
    assert_eq!((other.status, &other.json()["code"]), (409, &json!("DECISION_CONFLICT")));
    assert_eq!(other.json()["metadata"]["winner"]["by"], "eve", "{}", other.text());
    let again = house.send(&Request::post("/api/effects/try-start", &claim)).json();
    assert_eq!((&again["state"], &again["result"]), (&json!("COMPLETED"), &json!({"sent": 1})));
    let seen = house.send(&Request::get("/api/effects/mail/1")).json();
    let ring = seen["ring"].as_array().expect("decisions are told");
    assert!(ring.iter().any(|it| it["outcome"] == "RESOLVED" && it["by"] == "eve"), "{seen}");
}
