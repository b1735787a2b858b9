//! # The door: environment values

use serde_json::{Value, json};

use crate::checklist::is_empty_200;
use crate::house::{house, report};
use crate::raw::Request;

fn put(key: &str, value: &str) -> Request {
    Request::new("PUT", format!("/api/environment/{key}")).body(value)
}

fn get(path: &str) -> Request {
    Request::get(format!("/api/environment{path}"))
}

#[test]
fn a_value_is_written_read_listed_and_removed() {
    let house = house();
    is_empty_200(&house.send(&put("e_region", "eu-1")));
    is_empty_200(&house.send(&put("e_region", "eu-2")));
    let read = house.send(&get("/e_region"));
    assert_eq!(read.text(), "eu-2");
    assert_eq!(read.header("content-type"), Some("text/plain;charset=UTF-8"));
    let all = house.send(&get("")).json();
    let wanted = json!({"name": "e_region", "value": "eu-2", "tags": []});
    assert!(all.as_array().unwrap().contains(&wanted), "{all}");
    let removed = house.send(&Request::new("DELETE", "/api/environment/e_region"));
    assert_eq!((removed.status, removed.text().as_str()), (200, "eu-2"));
    let gone = house.refuses(&Request::new("DELETE", "/api/environment/e_region"));
    assert_eq!(gone.status, 404, "as with secrets");
    is_empty_200(&house.send(&get("/e_region")));
}

#[test]
fn a_bad_key_or_a_long_value_is_refused() {
    let house = house();
    for key in ["a.b", "a%20b", "%C3%A4", "a%2Fb"] {
        assert_eq!(house.refuses(&put(key, "v")).status, 400, "{key}");
        assert_eq!(house.refuses(&get(&format!("/{key}"))).status, 400, "{key}");
    }
    let long = "k".repeat(256);
    for path in [format!("/api/environment/{long}"), format!("/api/secrets/{long}")] {
        let refused = house.refuses(&Request::new("PUT", path).body("v"));
        assert!(refused.status == 400 && refused.text().contains("at most 255"), "{refused:?}");
    }
    is_empty_200(&house.send(&put(&long[1..], "v")));
    assert_eq!(house.refuses(&put("e_long", &"x".repeat(65_536))).status, 400);
    is_empty_200(&house.send(&put("e_long", &"x".repeat(65_535))));
}

#[test]
fn tags_are_added_and_taken_away() {
    let house = house();
    house.send(&put("e_tags", "v"));
    let tags = |method: &str, body: &Value| {
        let request = Request::new(method, "/api/environment/e_tags/tags").json(body);
        is_empty_200(&house.send(&request));
        house.send(&get("/e_tags/tags")).json()
    };
    let tag = |value: &str| json!({"key": "team", "type": "METADATA", "value": value});
    assert_eq!(tags("PUT", &json!([tag("a"), tag("b"), tag("a")])), json!([tag("a"), tag("b")]));
    house.send(&put("e_tags", "w"));
    assert_eq!(tags("DELETE", &json!([tag("a"), tag("c")])), json!([tag("b")]));
    assert_eq!(house.refuses(&get("/e_nobody/tags")).status, 404);
}

#[test]
fn a_task_sees_the_value_of_the_moment_it_was_scheduled() {
    let house = house();
    let task = json!([{"name": "e_task", "retryDelaySeconds": 0}]);
    house.send(&Request::post("/api/metadata/taskdefs", &task));
    let input = json!({"region": "${workflow.env.e_seen}", "host": "${workflow.env.e_json.hosts[1]}",
        "none": "${workflow.env.e_none}", "text": "at ${workflow.env.e_seen}"});
    let workflow = json!({"name": "e_task", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "e_task", "taskReferenceName": "only", "type": "SIMPLE", "inputParameters": input}]});
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow?overwrite=true", &workflow)));
    house.send(&put("e_seen", "eu"));
    house.send(&put("e_json", r#"{"hosts": ["a", "b"]}"#));
    let id = house.start("e_task");
    house.send(&put("e_seen", "us"));
    let first = house.claim("e_task");
    let seen = |region: &str| json!({"region": region, "host": "b", "none": null, "text": format!("at {region}")});
    assert_eq!(first["inputData"], seen("eu"));
    house.send(&Request::post("/api/tasks", &report(&first, "FAILED", json!({}))));
    assert_eq!(house.claim("e_task")["inputData"], seen("us"));
    house.send(&put("e_seen", "elsewhere"));
    let verified = house.send(&Request::new("POST", format!("/api/workflow/{id}/verify")));
    assert_eq!(verified.status, 200, "{}", verified.text());
}
