//! # Retention: what has been over for long enough goes, and its key goes later

use std::time::Duration;

use semel_tests::process::until;
use serde_json::json;

use crate::house::House;
use crate::raw::Request;

const DAY_MS: i64 = 24 * 3_600 * 1_000;

fn advance(house: &House, days: i64) {
    let body = json!({"advanceMs": days * DAY_MS});
    assert_eq!(house.send(&Request::post("/test/clock", &body)).status, 200);
}

fn start(house: &House) -> String {
    let body = json!({"name": "r_kept", "idempotencyKey": "k",
        "idempotencyStrategy": "RETURN_EXISTING"});
    let answer = house.send(&Request::post("/api/workflow", &body));
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
    assert_eq!(start(&house), run, "its key is still taken");
    advance(&house, 31);
    let again = || Some(start(&house)).filter(|id| *id != run);
    let second = until("the key is free", patience, again).unwrap();
    assert_eq!(status(&house, &second), 200);
    house.is_healthy();
}
