//! # What the operator may want of keys: strictness, keys that outlive removals, silence in the log

use serde_json::{Value, json};

use crate::checklist::is_id;
use crate::house::{House, house};
use crate::raw::{Answer, Request};

fn start(house: &House, amount: u32) -> Answer {
    let body = json!({"name": "rules", "idempotencyKey": "order-9243",
        "idempotencyStrategy": "RETURN_EXISTING", "input": {"amount": amount}});
    house.send(&Request::post("/api/workflow", &body))
}

#[test]
fn another_payload_is_refused_where_the_operator_is_strict() {
    let (lax, strict) = (House::own(&[]), House::own(&["--start-keys-strict"]));
    for house in [&lax, &strict] {
        house.define("rules");
        assert_eq!(is_id(&start(house, 1)), is_id(&start(house, 1)));
    }
    let told = start(&lax, 2);
    assert_eq!(told.header("x-idempotency-payload-mismatch"), Some("true"));
    is_id(&told);
    let refused = start(&strict, 2);
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert_eq!(refused.json()["code"], "IDEMPOTENCY_PAYLOAD_MISMATCH");
}

#[test]
fn a_removal_frees_a_key_unless_keys_outlive_it() {
    let freeing = House::own(&[]);
    let keeping = House::own(&["--start-keys-outlive-removal"]);
    for (house, is_freed) in [(&freeing, true), (&keeping, false)] {
        house.define("rules");
        let id = is_id(&start(house, 1));
        let path = format!("/api/workflow/{id}/remove?archiveWorkflow=false");
        assert_eq!(house.send(&Request::new("DELETE", path)).status, 200);
        let again = start(house, 1);
        match is_freed {
            true => assert_ne!(is_id(&again), id),
            false => {
                assert_eq!(again.status, 410, "{}", again.text());
                assert_eq!(again.json()["metadata"]["existingWorkflowId"], id);
            }
        }
    }
}

#[test]
fn a_log_tells_keys_by_their_digest_where_that_is_wanted() {
    let plain = House::own(&[]);
    let hashed = House::own(&["--log-keys-hashed"]);
    for (house, is_told) in [(&plain, true), (&hashed, false)] {
        let begun = json!({"scope": "mail", "key": "ann@example.com", "owner": "w",
            "leaseSeconds": 60});
        let begun = house.send(&Request::post("/api/effects/try-start", &begun));
        assert_eq!(begun.status, 200, "{}", begun.text());
        let reset = Request::new("DELETE", "/api/effects/mail/ann@example.com");
        assert_eq!(house.send(&reset).status, 200);
        let log = house.log();
        assert!(log.contains("an effect was reset"), "{log}");
        assert_eq!(log.contains("ann@example.com"), is_told, "{log}");
        assert_eq!(log.contains("sha256:"), !is_told, "{log}");
    }
}

fn described(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), Some("application/problem+json"));
    serde_json::from_slice(&answer.body).expect("problem details are JSON")
}

#[test]
fn whoever_asks_for_problem_details_gets_the_same_error_as_such() {
    let house = house();
    let missing = || Request::get("/api/workflow/00000000-0000-0000-0000-000000000000");
    let usual = house.send(&missing());
    let problem = house.send(&missing().header("Accept", "application/problem+json, */*;q=0.1"));
    assert_eq!((usual.status, problem.status), (404, 404));
    assert_eq!(usual.header("content-type"), Some("application/json"));
    let (usual, problem) = (usual.json(), described(&problem));
    for (name, value) in usual.as_object().expect("an error is an object") {
        assert_eq!(&problem[name], value, "{name}");
    }
    assert_eq!(problem["detail"], usual["message"]);
    assert_eq!((&problem["type"], &problem["title"]), (&json!("about:blank"), &json!("Not Found")));

    let wrong = Request::post("/api/workflow/x", &json!({})).header("Idempotency-Key", "");
    let wrong = house.send(&wrong.header("Accept", "application/problem+json"));
    assert_eq!(described(&wrong)["type"], "urn:semel:error:IDEMPOTENCY_KEY_INVALID");
    let fine = Request::get("/health").header("Accept", "application/problem+json");
    assert_eq!(house.send(&fine).status, 200);
}
