//! # The door: secrets
//!
//! What is written, what is shown, and who gets a value. That nothing else ever holds one is the
//! matter of the suite `secrets`.

use serde_json::{Value, json};

use crate::checklist::{is_204, is_empty_200};
use crate::house::{House, house, report};
use crate::raw::Request;

fn put(key: &str, value: &str) -> Request {
    Request::new("PUT", format!("/api/secrets/{key}")).body(value)
}

fn get(path: &str) -> Request {
    Request::get(format!("/api/secrets{path}"))
}

#[test]
fn a_secret_is_written_read_listed_by_name_and_removed() {
    let house = house();
    is_empty_200(&house.send(&put("s_key", "hunter22")));
    let read = house.send(&get("/s_key"));
    assert_eq!((read.status, read.text().as_str()), (200, "hunter22"));
    assert_eq!(read.header("content-type"), Some("text/plain;charset=UTF-8"));
    assert_eq!(house.send(&get("/s_key/exists")).json(), json!(true));
    for request in [get(""), Request::new("POST", "/api/secrets").body("ignored")] {
        let names = house.send(&request).json();
        assert!(names.as_array().unwrap().contains(&json!("s_key")), "{names}");
    }
    is_empty_200(&house.send(&Request::new("DELETE", "/api/secrets/s_key")));
    assert_eq!(house.refuses(&Request::new("DELETE", "/api/secrets/s_key")).status, 404);
    assert_eq!(house.send(&get("/s_key/exists")).json(), json!(false));
    assert_eq!(house.refuses(&get("/s_key")).status, 404);
}

#[test]
fn bodies_are_taken_as_each_client_writes_them() {
    let house = house();
    for (sent, kept) in [
        ("plain", "plain"),
        (r#""say \"hi\"\nbye""#, "say \"hi\"\nbye"),
        (r#"say \"hi\"\nbye"#, r#"say \"hi\"\nbye"#),
        (r#"{"user": "ann"}"#, r#"{"user": "ann"}"#),
        ("ünïcödé\n", "ünïcödé\n"),
        ("12", "12"),
    ] {
        is_empty_200(&house.send(&put("s_body", sent)));
        assert_eq!(house.send(&get("/s_body")).text(), kept);
    }
}

#[test]
fn a_bad_key_or_value_is_refused() {
    let house = house();
    for key in ["a.b", "a%20b", "%C3%A4", "a%2Fb", "%00"] {
        assert_eq!(house.refuses(&put(key, "v")).status, 400, "{key}");
        assert_eq!(house.refuses(&get(&format!("/{key}"))).status, 400, "{key}");
        assert_eq!(house.refuses(&get(&format!("/{key}/exists"))).status, 400, "{key}");
    }
    let long = "x".repeat(65_536);
    for value in ["", "\"\"", long.as_str()] {
        assert_eq!(house.refuses(&put("s_bad", value)).status, 400);
    }
    let not_text = Request::new("PUT", "/api/secrets/s_bad").body(b"\xff".to_vec());
    assert_eq!(house.refuses(&not_text).status, 400);
    assert_eq!(house.send(&get("/s_bad/exists")).json(), json!(false));
    is_empty_200(&house.send(&put("s_bad", &long[1..])));
}

#[test]
fn listings_show_everything_but_the_value() {
    let house = house();
    house.send(&put("s_listed", "hunter22"));
    let tags = Request::new("PUT", "/api/secrets/s_listed/tags");
    is_empty_200(&house.send(&tags.json(&json!([{"key": "team", "value": "a"}]))));
    house.send(&put("s_listed", "hunter23"));
    let tag = json!({"key": "team", "value": "a"});
    assert_eq!(house.send(&get("/s_listed/tags")).json(), json!([tag]));
    let find = |path: &str| {
        let list = house.send(&Request::get(path)).json();
        let found = list.as_array().unwrap().iter().find(|it| it["name"] == "s_listed");
        found.cloned().unwrap_or_else(|| panic!("{list}"))
    };
    assert_eq!(find("/api/secrets-v2"), json!({"name": "s_listed", "tags": [tag]}));
    let found = find("/api/secrets/v2");
    assert!(found["created_at"].as_i64() <= found["updated_at"].as_i64(), "{found}");
    assert_eq!(found["partial"], "***");
    let untag = Request::new("DELETE", "/api/secrets/s_listed/tags").json(&json!([tag]));
    is_empty_200(&house.send(&untag));
    assert_eq!(house.send(&get("/s_listed/tags")).json(), json!([]));
    for path in ["/clearLocalCache", "/clearRedisCache"] {
        assert_eq!(house.send(&get(path)).json(), json!({}));
    }
    assert_eq!(house.refuses(&get("/s_nobody/tags")).status, 404);
}

fn define(house: &House, name: &str, input: &Value) {
    let names = ["", "_env", "_none"].map(|end| format!("{name}_meta{end}"));
    let task = json!([{"name": name, "retryDelaySeconds": 0, "runtimeMetadata": names}]);
    house.send(&Request::post("/api/metadata/taskdefs", &task));
    let workflow = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
        {"name": name, "taskReferenceName": "only", "type": "SIMPLE", "inputParameters": input}]});
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow?overwrite=true", &workflow)));
}

#[test]
fn every_hand_out_has_the_values_and_nothing_else_has() {
    let house = house();
    for (key, value) in
        [("s_out", "hunter22"), ("s_db", r#"{"port": 5432}"#), ("s_hand_out_meta", "meta-1")]
    {
        house.send(&put(key, value));
    }
    house.send(&Request::new("PUT", "/api/environment/s_hand_out_meta_env").body("meta-2"));
    let hidden = Request::new("PUT", "/api/environment/s_hand_out_meta");
    house.send(&hidden.body("the secret comes first"));
    let input = json!({"whole": "${workflow.secrets.s_out}", "text": "<${workflow.secrets.s_out}>",
        "port": "${workflow.secrets.s_db.port}", "none": "${workflow.secrets.s_none}",
        "gone": "<${workflow.secrets.s_none}>", "escaped": "$${workflow.secrets.s_out}"});
    define(&house, "s_hand_out", &input);
    let ids = [0; 3].map(|_| house.start("s_hand_out"));
    let given = json!({"whole": "hunter22", "text": "<hunter22>", "port": 5432, "none": null,
        "gone": "<>", "escaped": "${workflow.secrets.s_out}"});
    let is_given = |task: &Value| {
        assert_eq!(task["inputData"], given);
        let metadata = json!({"s_hand_out_meta": "meta-1", "s_hand_out_meta_env": "meta-2"});
        assert_eq!(task["runtimeMetadata"], metadata);
    };
    let first = house.send(&Request::get("/api/tasks/poll/s_hand_out?workerid=w")).json();
    is_given(&first);
    let batch = "/api/tasks/poll/batch/s_hand_out?workerid=w&count=1";
    let second = house.send(&Request::get(batch)).json()[0].clone();
    is_given(&second);
    let done = Request::post("/api/tasks/update-v2", &report(&first, "COMPLETED", json!({})));
    let third = house.send(&done).json();
    is_given(&third);
    is_given(&house.send(&done).json()); // Its repeat re-receives it.
    is_204(
        &house
            .send(&Request::post("/api/tasks/update-v2", &report(&third, "COMPLETED", json!({})))),
    );
    for id in ids {
        let seen = house.send(&Request::get(format!("/api/workflow/{id}")));
        let mut shown = input.clone();
        shown["escaped"] = given["escaped"].clone(); // It is text, and shown as such.
        assert_eq!(seen.json()["tasks"][0]["inputData"], shown);
        assert!(!seen.text().contains("hunter22") && !seen.text().contains("meta-1"));
    }
}

#[test]
fn a_report_is_cleared_of_what_its_task_was_handed() {
    let house = house();
    house.send(&put("s_echo_meta", "meta-value"));
    house.send(&put("s_echo", "older-value"));
    define(&house, "s_echo", &json!({"key": "${workflow.secrets.s_echo}"}));
    let seen = |id: &str| house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let id = house.start("s_echo");
    let task = house.claim("s_echo");
    house.send(&put("s_echo", "newer-value")); // The worker has the older one.
    let said = json!({"a": "older-value", "b": ["is newer-value."], "c": "meta-value", "d": 1});
    let mut failed = report(&task, "FAILED", said);
    failed["reasonForIncompletion"] = json!("could not log in with older-value");
    let sent = Request::post("/api/tasks", &failed);
    assert_eq!(house.send(&sent).header("x-task-update"), None);
    assert_eq!(house.send(&sent).header("x-task-update"), Some("REPEATED"));
    let first = &seen(&id)["tasks"][0];
    assert_eq!(first["outputData"], json!({"a": "***", "b": ["is ***."], "c": "***", "d": 1}));
    assert_eq!(first["reasonForIncompletion"], "could not log in with ***");
    let named = format!("/api/tasks/{id}/only/COMPLETED");
    assert_eq!(house.send(&Request::post(named, &json!({"n": "newer-value"}))).status, 200);
    assert_eq!(seen(&id)["tasks"][1]["outputData"], json!({"n": "***"}));
    let verified = house.send(&Request::new("POST", format!("/api/workflow/{id}/verify")));
    assert_eq!(verified.status, 200, "{}", verified.text());
}
