//! # Retention: what has been over for long enough goes, and its key goes later

use std::time::Duration;

use semel_tests::process::until;
use serde_json::json;

use crate::house::House;
use crate::raw::{Answer, Request};

const DAY_MS: i64 = 24 * 3_600 * 1_000;

fn advance(house: &House, days: i64) {
    let body = json!({"advanceMs": days * DAY_MS});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn ask(house: &House, strategy: &str) -> Answer {
    let body = json!({"name": "r_kept", "idempotencyKey": "k", "idempotencyStrategy": strategy});
    house.send(&Request::post("/api/workflow", &body))
}

fn start(house: &House) -> String {
    let answer = ask(house, "RETURN_EXISTING");
    assert_eq!(answer.status, 200);
    answer.text()
}

fn status(house: &House, id: &str) -> u16 {
    house.send(&Request::get(format!("/api/workflow/{id}"))).status
}

#[test]
fn runs_go_after_their_time_and_keys_after_theirs() {
    let house = House::own(&["--test-clock", "--retention-days", "2"]);
    let noop = json!([{"name": "n", "taskReferenceName": "n", "type": "NOOP"}]);
    let wait = json!([{"name": "w", "taskReferenceName": "w", "type": "HUMAN"}]);
    for (name, tasks) in [("r_kept", noop), ("r_open", wait)] {
        let workflow = json!({"name": name, "version": 1, "tasks": tasks});
        assert_eq!(house.send(&Request::post("/api/metadata/workflow", &workflow)).status, 200);
    }
    let run = start(&house);
    let open = house.start("r_open");
    let gone = |id: &str| (status(&house, id) == 404).then_some(());
    let patience = Duration::from_secs(30);
    advance(&house, 1);
    assert_eq!(status(&house, &run), 200, "its time has not come");
    advance(&house, 2);
    until("the run is removed", patience, || gone(&run)).unwrap();
    assert_eq!(status(&house, &open), 200, "what is not over stays");
    for (strategy, status, code) in
        [("RETURN_EXISTING", 410, "IDEMPOTENCY_EXPIRED_REF"), ("FAIL", 409, "IDEMPOTENCY_CONFLICT")]
    {
        let refused = ask(&house, strategy);
        let body = refused.json();
        assert_eq!((refused.status, &body["code"]), (status, &json!(code)), "{body}");
        assert_eq!(body["metadata"]["existingWorkflowId"], run, "its key is still taken");
        assert!(body["metadata"]["expiresAt"].is_i64(), "{body}");
        let until = refused.header("idempotency-expires").expect("it says until when");
        assert!(until.ends_with('Z') && until.contains('T'), "{until}");
    }
    advance(&house, 20);
    assert_eq!(ask(&house, "FAIL").status, 409, "until its time is over");
    advance(&house, 11);
    let again = || Some(ask(&house, "RETURN_EXISTING")).filter(|it| it.status == 200);
    let again = || again().map(|answer| answer.text()).filter(|id| *id != run);
    let second = until("the key is free", patience, again).unwrap();
    assert_eq!(status(&house, &second), 200);
    house.is_healthy();
}

#[test]
fn a_definition_says_how_long_its_keys_are_kept() {
    let house = House::own(&["--test-clock", "--retention-days", "2"]);
    let noop = json!([{"name": "n", "taskReferenceName": "n", "type": "NOOP"}]);
    let workflow = json!({"name": "r_kept", "version": 1, "tasks": noop,
        "idempotency": {"retentionSeconds": 5 * 24 * 3600}});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &workflow)).status, 200);
    let run = start(&house);
    let patience = Duration::from_secs(30);
    advance(&house, 3);
    until("the run is removed", patience, || (status(&house, &run) == 404).then_some(())).unwrap();
    advance(&house, 4);
    assert_eq!(ask(&house, "RETURN_EXISTING").status, 410);
    advance(&house, 2);
    assert_ne!(start(&house), run);
}
