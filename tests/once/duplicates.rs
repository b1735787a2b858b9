//! # Duplicates: a start that changes nothing needs no round
//!
//! The lane is stopped, so whatever is answered is answered from what is committed.

use serde_json::json;

use crate::house::House;
use crate::raw::Request;

fn start(key: &str, strategy: &str) -> Request {
    let body = json!({"name": "order", "version": 1, "input": {"n": 1},
        "idempotencyKey": key, "idempotencyStrategy": strategy});
    Request::post("/api/workflow", &body)
}

#[test]
fn a_start_whose_key_decides_is_answered_while_no_round_is_made() {
    let house = House::built();
    house.define("order");
    let run = house.send(&start("k", "RETURN_EXISTING")).text();
    house.runtime().stop();
    let again = house.send(&start("k", "RETURN_EXISTING"));
    assert_eq!((again.status, again.text()), (200, run.clone()));
    assert_eq!(again.header("x-idempotency-outcome"), Some("RETURNED_EXISTING"));
    for strategy in ["FAIL", "FAIL_ON_RUNNING"] {
        let refused = house.send(&start("k", strategy));
        assert_eq!(refused.status, 409, "{}", refused.text());
        assert!(refused.text().contains(&run), "{}", refused.text());
    }
    let record = house.send(&Request::get("/api/idempotency/workflow/order/k")).json();
    assert_eq!(record["hits"], 3, "{record}");
}

#[test]
fn a_start_that_would_write_waits_for_a_round() {
    let house = House::built();
    house.define("order");
    house.send(&start("k", "RETURN_EXISTING"));
    house.runtime().stop();
    let named = start("k", "RETURN_EXISTING").header("Idempotency-Key", "r");
    for writing in [start("other", "FAIL"), start("k", "TERMINATE_EXISTING"), named] {
        let refused = house.send(&writing);
        assert_eq!(refused.status, 503, "{writing:?}: {}", refused.text());
    }
}
