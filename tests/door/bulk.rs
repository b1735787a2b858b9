//! # Bulk operations: what can be done is done, the rest is told

use serde_json::{Value, json};

use crate::house::house;
use crate::raw::Request;

fn sent(method: &str, path: &str, ids: &[&str]) -> (u16, Value) {
    let request = Request::new(method, format!("/api/workflow/bulk/{path}")).json(&json!(ids));
    let answer = house().send(&request);
    (answer.status, answer.json())
}

fn status(id: &str) -> Value {
    house().send(&Request::get(format!("/api/workflow/{id}"))).json()["status"].clone()
}

#[test]
fn what_can_be_done_is_done_and_the_rest_is_told() {
    let house = house();
    house.define("b_bulk");
    let (one, two) = (house.start("b_bulk"), house.start("b_bulk"));
    let nobody = "00000000-0000-0000-0000-000000000000";
    let (code, answer) = sent("PUT", "pause", &[&one, nobody, &two]);
    assert_eq!((code, &answer["bulkSuccessfulResults"]), (200, &json!([one, two])));
    let why = &answer["bulkErrorResults"][nobody];
    assert!(why.as_str().is_some_and(|why| why.contains("No such workflow")), "{answer}");
    assert_eq!(status(&one), "PAUSED");
    let steps = [
        ("PUT", "resume", "RUNNING"),
        ("POST", "terminate?reason=enough", "TERMINATED"),
        ("POST", "retry", "RUNNING"),
        ("POST", "terminate", "TERMINATED"),
        ("POST", "restart", "RUNNING"),
    ];
    for (method, path, after) in steps {
        let (code, answer) = sent(method, path, &[&one]);
        assert_eq!((code, &answer["bulkSuccessfulResults"]), (200, &json!([one])), "{path}");
        assert_eq!(status(&one), after, "{path}");
    }
    let (_, answer) = sent("DELETE", "remove", &[&one]);
    assert_eq!(answer["bulkSuccessfulResults"], json!([one]), "a live one ends first: {answer}");
    assert_eq!(status(&one), 404);
    let (_, answer) = sent("DELETE", "terminate-remove", &[&one, &two]);
    assert_eq!(answer["bulkSuccessfulResults"], json!([two]));
    assert_eq!(status(&two), 404);
}

#[test]
fn more_ids_than_the_limit_are_refused() {
    let ids = vec!["x"; 1_001];
    let (code, answer) = sent("PUT", "pause", &ids);
    assert_eq!(code, 400);
    let message = answer["message"].to_string();
    assert!(message.contains("limit of 1000"), "{message}");
    assert_eq!(sent("PUT", "pause", &vec!["x"; 1_000]).0, 200);
}
