//! # Operations and definitions as clients spell them, and what they are answered

use serde_json::{Value, json};

use crate::checklist::{is_204, is_empty_200, is_id};
use crate::house::{House, definition, house, report};
use crate::raw::Request;

/// A workflow of the worker tasks `NAME`, then `later`, then `last`.
fn define(house: &House, name: &str) {
    let step = |kind: &str, reference: &str| json!({"name": kind, "taskReferenceName": reference, "type": "SIMPLE"});
    let steps = [step(name, "only"), step(name, "later"), step(name, "last")];
    let workflow = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": steps});
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow?overwrite=true", &workflow)));
}

/// Reference and status of every task.
fn tasks(house: &House, id: &str) -> Vec<String> {
    let found = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let tasks = found["tasks"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    tasks.iter().map(|it| text(&it["referenceTaskName"]) + " " + &text(&it["status"])).collect()
}

#[test]
fn a_jump_may_be_named_in_a_parameter() {
    let house = house();
    define(&house, "o_jump");
    let id = house.start("o_jump");
    let jump = format!("/api/workflow/{id}/jump/%7BtaskReferenceName%7D?taskReferenceName=last");
    is_empty_200(&house.send(&Request::post(jump, &json!({"n": 1}))));
    assert_eq!(tasks(&house, &id), ["only CANCELED", "later SKIPPED", "last SCHEDULED"]);
}

#[test]
fn a_skip_may_be_said_in_a_parameter_or_in_the_body() {
    let house = house();
    define(&house, "o_skip");
    let id = house.start("o_skip");
    let skip = |reference: &str| format!("/api/workflow/{id}/skiptask/{reference}");
    let body = json!({"taskOutput": {"a": 1}});
    is_empty_200(&house.send(&Request::new("PUT", skip("later")).json(&body)));
    let query = "skipTaskRequest=%7B%22taskOutput%22%3A%7B%22b%22%3A2%7D%7D";
    let target = format!("{}?{query}", skip("last"));
    is_empty_200(&house.send(&Request::new("PUT", target)));
    let found = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let outputs = [&found["tasks"][0]["outputData"], &found["tasks"][1]["outputData"]];
    assert_eq!(outputs, [&json!({"a": 1}), &json!({"b": 2})]);
}

#[test]
fn a_rerun_answers_with_the_run_and_variables_with_the_whole_of_it() {
    let house = house();
    house.define("o_rerun");
    let id = house.start("o_rerun");
    is_empty_200(&house.send(&Request::new("DELETE", format!("/api/workflow/{id}"))));
    let rerun = Request::post(format!("/api/workflow/{id}/rerun"), &json!({}));
    assert_eq!(is_id(&house.send(&rerun)), id);
    let set = Request::post(format!("/api/workflow/{id}/variables"), &json!({"v": 1}));
    let answer = house.send(&set).json();
    assert_eq!((&answer["workflowId"], &answer["variables"]), (&json!(id), &json!({"v": 1})));
    is_204(&house.send(&Request::new("POST", format!("/api/workflow/{id}/resetcallbacks"))));
}

#[test]
fn a_poll_that_names_itself_is_given_the_same_again() {
    let house = house();
    house.define("o_poll");
    for _ in 0..2 {
        house.start("o_poll");
    }
    let poll = |name: &str| {
        let target = format!("/api/tasks/poll/o_poll?workerid=w&pollId={name}");
        house.send(&Request::get(target)).json()
    };
    let (first, again, other) = (poll("one"), poll("one"), poll("two"));
    assert_eq!((&first["taskId"], &first["fenceToken"]), (&again["taskId"], &again["fenceToken"]));
    assert_ne!(first["taskId"], other["taskId"]);
    assert_eq!(first["pollCount"], 1);
}

#[test]
fn an_extended_lease_brings_no_task_and_an_unknown_one_is_not_found() {
    let house = house();
    house.define("o_lease");
    for _ in 0..2 {
        house.start("o_lease");
    }
    let task = house.claim("o_lease");
    let mut extended = report(&task, "IN_PROGRESS", json!({"ignored": true}));
    extended["extendLease"] = json!(true);
    is_204(&house.send(&Request::post("/api/tasks/update-v2", &extended)));
    let run = format!("/api/workflow/{}", extended["workflowInstanceId"].as_str().unwrap());
    let found = house.send(&Request::get(run)).json();
    assert_eq!(found["tasks"][0]["outputData"], json!({}), "nothing of it is applied");
    extended["taskId"] = json!("00000000-0000-7000-8000-000000000000");
    for path in ["/api/tasks", "/api/tasks/update-v2"] {
        assert_eq!(house.refuses(&Request::post(path, &extended)).status, 404);
    }
}

#[test]
fn an_updated_definition_keeps_the_time_it_was_created() {
    let house = house();
    house.define("o_times");
    let look = |path: &str| house.send(&Request::get(format!("/api/metadata/{path}"))).json();
    let (workflow, task) = (look("workflow/o_times"), look("taskdefs/o_times"));
    assert!(workflow["createTime"].as_i64() > Some(0) && task["createTime"].as_i64() > Some(0));
    let list = Request::new("PUT", "/api/metadata/workflow").json(&json!([definition("o_times")]));
    assert_eq!(house.send(&list).status, 200);
    let update = json!({"name": "o_times", "retryCount": 1});
    is_empty_200(&house.send(&Request::new("PUT", "/api/metadata/taskdefs").json(&update)));
    for (before, after) in [(workflow, look("workflow/o_times")), (task, look("taskdefs/o_times"))]
    {
        assert_eq!(after["createTime"], before["createTime"]);
        assert!(after["updateTime"].as_i64() >= after["createTime"].as_i64(), "{after}");
    }
}

#[test]
fn a_task_definition_that_is_not_there_cannot_be_updated() {
    let update = Request::new("PUT", "/api/metadata/taskdefs").json(&json!({"name": "o_nobody"}));
    assert_eq!(house().refuses(&update).status, 404);
}

#[test]
fn a_run_may_bring_its_own_definition() {
    let house = house();
    let mut inline = definition("o_inline");
    inline["tasks"][0]["taskDefinition"] = json!({"name": "o_inline", "retryCount": 0});
    let start = json!({"name": "o_inline", "workflowDef": inline});
    let id = is_id(&house.send(&Request::post("/api/workflow", &start)));
    let failed = report(&house.claim("o_inline"), "FAILED", json!({}));
    is_id(&house.send(&Request::post("/api/tasks", &failed)));
    assert_eq!(tasks(&house, &id), ["only FAILED"]);
    assert_eq!(house.refuses(&Request::get("/api/metadata/workflow/o_inline")).status, 404);
}

#[test]
fn a_number_that_cannot_be_held_is_refused_wherever_it_comes_in() {
    let house = house();
    define(&house, "o_huge");
    let id = house.start("o_huge");
    let bodies = [
        ("PUT", "skiptask/last", r#"{"taskOutput": {"x": 1e999}}"#),
        ("POST", "jump/last", r#"{"x": 1e999}"#),
        ("POST", "variables", r#"{"x": 1e999}"#),
        ("POST", "upgrade", r#"{"name": "o_huge", "workflowInput": {"x": 1e999}}"#),
    ];
    for (method, path, body) in bodies {
        let request = Request::new(method, format!("/api/workflow/{id}/{path}")).body(body);
        assert_eq!(house.refuses(&request).status, 400, "{path}");
    }
    house.send(&Request::new("DELETE", format!("/api/workflow/{id}")));
    let rerun = Request::new("POST", format!("/api/workflow/{id}/rerun"));
    let rerun = rerun.body(r#"{"workflowInput": {"x": 1e999}}"#);
    assert_eq!(house.refuses(&rerun).status, 400);
}

#[test]
fn a_setting_without_effect_is_named_when_it_is_registered() {
    let house = house();
    let mut workflow = definition("o_idle");
    let send = |workflow: &Value| {
        house.send(&Request::post("/api/metadata/workflow?overwrite=true", workflow))
    };
    assert_eq!(send(&workflow).header("x-semel-warning"), None);
    workflow["rateLimitConfig"] = json!({"rateLimitKey": "k", "concurrentExecLimit": 1});
    assert_eq!(send(&workflow).header("x-semel-warning"), None);
    workflow["maskedFields"] = json!(["secret"]);
    let answer = send(&workflow);
    assert_eq!(answer.status, 200);
    let warning = answer.header("x-semel-warning").unwrap_or_default().to_owned();
    assert!(warning.contains("maskedFields"), "{warning}");
    let mut workflow = definition("o_idle");
    workflow["workflowStatusListenerEnabled"] = json!(true);
    workflow["workflowStatusListenerSink"] = json!("conductor:turns");
    assert_eq!(send(&workflow).header("x-semel-warning"), None);
    workflow["workflowStatusListenerSink"] = json!("archive");
    let warning = send(&workflow).header("x-semel-warning").unwrap_or_default().to_owned();
    assert!(warning.contains("workflowStatusListenerSink"), "{warning}");
}

#[test]
fn messages_are_posted_and_refused_at_the_door() {
    let house = house();
    let pull = json!({"name": "pull", "taskReferenceName": "pull",
        "type": "PULL_WORKFLOW_MESSAGES", "inputParameters": {"batchSize": 2}});
    let rest = json!({"name": "o_mail", "taskReferenceName": "rest", "type": "SIMPLE"});
    let definition = json!({"name": "o_mail", "tasks": [pull, rest]});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &definition)).status, 200);
    let id = house.start("o_mail");
    let post = |run: &str, query: &str, body: &Value| {
        house.send(&Request::post(format!("/api/workflow/{run}/messages{query}"), body))
    };
    let first = post(&id, "?messageId=mine", &json!({"n": 1}));
    assert_eq!((first.status, first.text()), (200, "mine".to_owned()));
    let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let output = &run["tasks"][0]["outputData"];
    assert_eq!((&output["count"], &output["messages"][0]["id"]), (&json!(1), &json!("mine")));
    assert_eq!(output["messages"][0]["payload"], json!({"n": 1}));
    assert_eq!(output["messages"][0]["workflowId"], json!(id));
    assert_eq!(post(&id, "?messageId=mine", &json!({"n": 1})).text(), "mine", "said twice");
    let (one, two) = (post(&id, "", &json!({})), post(&id, "", &json!({})));
    assert_eq!((one.status, two.status), (200, 200));
    assert_ne!(one.text(), two.text());
    assert_eq!(post(&id, "?messageId=mine", &json!({"n": 2})).status, 409);
    assert_eq!(post(&id, "", &json!([1])).status, 400);
    let long = format!("?messageId={}", "x".repeat(600));
    assert_eq!(post(&id, &long, &json!({})).status, 400);
    assert_eq!(post("00000000-0000-7000-8000-000000000000", "", &json!({})).status, 404);
    for _ in 0..998 {
        assert_eq!(post(&id, "", &json!({})).status, 200);
    }
    let full = post(&id, "", &json!({}));
    assert_eq!((full.status, full.header("retry-after")), (429, Some("1")));
    assert_eq!(house.send(&Request::new("DELETE", format!("/api/workflow/{id}"))).status, 200);
    assert_eq!(post(&id, "", &json!({})).status, 409);
}
