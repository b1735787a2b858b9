//! # The door: event handlers
//!
//! How they are registered, listed and refused. What they do is told in stories.

use serde_json::{Value, json};

use crate::checklist::is_empty_200;
use crate::house::house;
use crate::raw::Request;

fn handler(name: &str, event: &str) -> Value {
    json!({"name": name, "event": event, "active": true, "actions": [
        {"action": "start_workflow", "start_workflow": {"name": "w", "input": {"a": "${b}"}},
         "expandInlineJSON": false}]})
}

fn post(body: &Value) -> Request {
    Request::post("/api/event", body)
}

fn put(body: &Value) -> Request {
    Request::new("PUT", "/api/event").json(body)
}

fn get(path: &str) -> Request {
    Request::get(format!("/api/event{path}"))
}

#[test]
fn a_handler_is_registered_read_replaced_and_deleted() {
    let house = house();
    let event = "conductor:e_shop:sold/now";
    let mut wanted = handler("e one", event);
    is_empty_200(&house.send(&post(&wanted)));
    let again = house.refuses(&post(&wanted));
    assert_eq!((again.status, again.json()["code"].clone()), (409, Value::Null));
    assert_eq!(again.json()["message"], "handler e one exists already; PUT it to replace it");
    assert_eq!(house.send(&get("/handler/e%20one")).json(), wanted);
    assert!(house.send(&get("")).json().as_array().unwrap().contains(&wanted));
    let listed = |query: &str| {
        let path = format!("/conductor%3Ae_shop%3Asold%2Fnow{query}");
        house.send(&get(&path)).json()
    };
    assert_eq!(listed(""), json!([wanted]));
    wanted["active"] = json!(false);
    is_empty_200(&house.send(&put(&wanted)));
    is_empty_200(&house.send(&put(&wanted)));
    assert_eq!((listed(""), listed("?activeOnly=false")), (json!([]), json!([wanted])));
    let delete = Request::new("DELETE", "/api/event/e%20one");
    is_empty_200(&house.send(&delete));
    assert_eq!(house.refuses(&delete).status, 404);
    assert_eq!(house.refuses(&put(&wanted)).status, 404);
    assert_eq!(house.refuses(&get("/handler/e%20one")).status, 404);
    assert_eq!(house.send(&get("/conductor:nobody:hears")).json(), json!([]));
}

#[test]
fn a_list_of_handlers_is_taken_whole_or_not_at_all() {
    let house = house();
    let (one, two) = (handler("e_l1", "conductor:a:b"), handler("e_l2", "conductor:a:b"));
    is_empty_200(&house.send(&post(&json!([one, two]))));
    let three = handler("e_l3", "conductor:a:b");
    assert_eq!(house.refuses(&post(&json!([three, one]))).status, 409);
    assert_eq!(house.refuses(&get("/handler/e_l3")).status, 404);
    let doubled = house.refuses(&post(&json!([three, three]))).json();
    assert_eq!(doubled["validationErrors"][0]["path"], "[1].name");
    assert_eq!(house.refuses(&post(&json!([]))).status, 400);
}

#[test]
fn what_can_never_be_done_is_refused_and_every_rule_is_named() {
    let house = house();
    let told = |body: &Value| {
        let answer = house.refuses(&post(body));
        assert_eq!(answer.status, 400, "{}", answer.text());
        let errors = answer.json()["validationErrors"].clone();
        let errors = errors.as_array().unwrap().iter();
        errors.map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(told(&json!({})), ["name", "event"]);
    let mut odd = handler("e", "conductor:a:b");
    odd["condition"] = json!("$.list.some(x => x > 1)");
    odd["actions"] = json!([{"action": "start_agent"}, {"action": "fail_task"},
        {"action": "complete_task", "complete_task": {"taskId": "x"}}]);
    let paths = [
        "actions[0].action",
        "actions[1].fail_task",
        "actions[2].complete_task.workflowId",
        "condition",
    ];
    assert_eq!(told(&odd), paths);
    let mut odd = handler("e", "conductor:a:b");
    odd["condition"] = json!("$.n > 1");
    odd["evaluatorType"] = json!("python");
    assert_eq!(told(&odd), ["evaluatorType"]);
    assert_eq!(house.refuses(&put(&json!([handler("e", "conductor:a:b")]))).status, 400);
}

#[test]
fn tags_are_added_taken_away_and_outlive_an_update() {
    let house = house();
    let wanted = handler("e_tags", "conductor:a:b");
    is_empty_200(&house.send(&post(&wanted)));
    let tags = |method: &str, body: &Value| {
        house.send(&Request::new(method, "/api/event/e_tags/tags").json(body))
    };
    let tag = json!({"key": "team", "type": "METADATA", "value": "a"});
    assert_eq!(house.send(&get("/e_tags/tags")).json(), json!([]));
    is_empty_200(&tags("PUT", &json!([tag])));
    is_empty_200(&tags("PUT", &json!([{"key": "team", "value": "a"}])));
    is_empty_200(&house.send(&put(&wanted)));
    assert_eq!(house.send(&get("/e_tags/tags")).json(), json!([tag]));
    assert_eq!(house.send(&get("/handler/e_tags")).json()["tags"], json!([tag]));
    is_empty_200(&tags("DELETE", &json!([tag])));
    assert_eq!(house.send(&get("/e_tags/tags")).json(), json!([]));
    assert_eq!(house.refuses(&get("/e_nobody/tags")).status, 404);
}

#[test]
fn a_run_begun_by_an_event_names_it_and_its_journal_names_the_handler() {
    let house = house();
    let event = "conductor:e_source:tell";
    let source = json!({"name": "e_source", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "tell", "taskReferenceName": "tell", "type": "EVENT", "sink": "conductor"}]});
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow", &source)));
    house.define("e_target");
    let mut wanted = handler("e_begin", event);
    wanted["actions"][0]["start_workflow"] =
        json!({"name": "e_target", "input": {"from": "${workflowInstanceId}"}});
    is_empty_200(&house.send(&post(&wanted)));
    let from = house.start("e_source");
    let poll = Request::get("/api/tasks/poll/e_target?workerid=w&timeout=5000");
    let task = house.send(&poll).json();
    let run = task["workflowInstanceId"].as_str().unwrap().to_owned();
    let seen = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
    assert_eq!((&seen["event"], &seen["input"]["from"]), (&json!(event), &json!(from)));
    let message = seen["input"]["conductor.event.messageId"].as_str().unwrap().to_owned();
    let source = house.send(&Request::get(format!("/api/workflow/{from}"))).json();
    assert_eq!(source["tasks"][0]["taskId"], json!(message));
    let log = house.send(&Request::get(format!("/api/workflow/{run}/log"))).json();
    assert_eq!(log[0]["entry"]["actor"], "event:e_begin");
    assert_eq!(log[0]["entry"]["event_id"], format!("{event}/{message}"));
}
