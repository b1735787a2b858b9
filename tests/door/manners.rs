//! # Manners: paths, verbs, parameters and bodies as real clients send them

use std::time::Duration;

use semel_tests::process::until;
use serde_json::json;

use crate::checklist::{is_204, is_empty_200, is_id};
use crate::house::{definition, house, report};
use crate::raw::Request;

#[test]
fn a_trailing_slash_means_nothing() {
    let house = house();
    house.define("m_slash");
    for path in ["/health/", "/api/health/", "/api/metadata/workflow/", "/api/metadata/taskdefs/"] {
        assert_eq!(house.send(&Request::get(path)).status, 200, "{path}");
    }
    let id = is_id(&house.send(&Request::post("/api/workflow/m_slash/", &json!({}))));
    assert_eq!(house.send(&Request::get(format!("/api/workflow/{id}/status/"))).status, 200);
    is_204(&house.send(&Request::get("/api/tasks/poll/none/?workerid=w")));
}

#[test]
fn an_encoded_slash_is_part_of_a_name() {
    let house = house();
    let name = "m /ä%";
    let mut workflow = definition(name);
    workflow["tasks"][0]["name"] = json!("m_plain");
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow", &workflow)));
    is_empty_200(&house.send(&Request::post("/api/metadata/taskdefs", &json!([{"name": name}]))));
    let encoded = "m%20%2F%C3%A4%25";
    for path in ["workflow", "taskdefs"] {
        let answer = house.send(&Request::get(format!("/api/metadata/{path}/{encoded}")));
        assert_eq!((answer.status, &answer.json()["name"]), (200, &json!(name)));
    }
    let id = is_id(&house.send(&Request::post(format!("/api/workflow/{encoded}"), &json!({}))));
    let found = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    assert_eq!(found["workflowName"], name);
    let remove = Request::new("DELETE", format!("/api/metadata/workflow/{encoded}/1"));
    is_empty_200(&house.send(&remove));
}

#[test]
fn a_literal_segment_beats_a_variable_one() {
    let house = house();
    house.define("batch");
    house.start("batch");
    is_204(&house.send(&Request::get("/api/tasks/poll/none")));
    assert_eq!(house.claim("batch")["taskType"], "batch");
    assert_eq!(house.send(&Request::get("/api/tasks/poll/batch/batch")).json(), json!([]));
    let answer = house.send(&Request::post("/api/metadata/workflow/validate", &definition("v")));
    is_empty_200(&answer);
    assert_eq!(house.refuses(&Request::get("/api/metadata/workflow/validate")).status, 405);
    assert_eq!(house.refuses(&Request::get("/api/tasks/update-v2")).status, 405);
    is_id(&house.send(&Request::post("/api/workflow/start/batch/1", &json!({}))));
}

#[test]
fn python_writes_its_own_true_and_none() {
    let house = house();
    house.define("m_python");
    let start = "/api/workflow/m_python?version=None&correlationId=None&priority=";
    let id = is_id(&house.send(&Request::post(start, &json!({}))));
    let look = |query: &str| house.send(&Request::get(format!("/api/workflow/{id}?{query}")));
    assert_eq!(look("").json().get("correlationId"), None);
    for (text, tasks) in
        [("True", 1), ("False", 0), ("on", 1), ("off", 0), ("yes", 1), ("0", 0), ("None", 1)]
    {
        let found = look(&format!("includeTasks={text}")).json();
        assert_eq!(found["tasks"].as_array().map(Vec::len), Some(tasks), "{text}");
    }
    assert_eq!(look("includeTasks=maybe").status, 400);
    let poll = "/api/tasks/poll/batch/m_python?domain=None&workerid=w&count=1";
    assert_eq!(house.send(&Request::get(poll)).json().as_array().map(Vec::len), Some(1));
}

#[test]
fn a_body_is_read_whatever_it_says_of_itself() {
    let house = house();
    house.define("m_body");
    let start = || Request::new("POST", "/api/workflow/m_body");
    let typed = |kind: &str| start().header("Content-Type", kind).body(r#"{"given": 1}"#);
    for request in [
        start(),
        start().body(""),
        start().body(" \n"),
        start().body("null"),
        start().body("").header("Content-Type", "application/json"),
        start().body("").chunked(),
        start().json(&json!({})),
        start().json(&json!({"given": [1, {"deep": null}]})).chunked(),
        typed("text/plain"),
        typed("application/x-www-form-urlencoded"),
        typed("APPLICATION/JSON; charset=utf-8"),
        typed("nonsense"),
        start().json(&json!({})).header("Accept", "image/png"),
    ] {
        is_id(&house.send(&request));
    }
}

#[test]
fn a_delete_may_have_a_body_and_a_get_too() {
    let house = house();
    house.define("m_delete");
    let id = house.start("m_delete");
    let target = format!("/api/workflow/{id}");
    let get = Request::get(&target).header("Content-Type", "application/json").body("{}");
    assert_eq!(house.send(&get).status, 200);
    let delete = Request::new("DELETE", &target).json(&json!({"tags": [1, 2]})).chunked();
    is_empty_200(&house.send(&delete));
    is_empty_200(&house.send(&delete)); // Terminated already: said twice is said once.
}

#[test]
fn an_update_by_name_answers_with_the_task_or_with_nothing() {
    let house = house();
    house.define("m_named");
    let id = house.start("m_named");
    let to =
        |path: &str| house.send(&Request::post(format!("/api/tasks/{path}"), &json!({"a": 1})));
    let task = is_id(&to(&format!("{id}/only/COMPLETED")));
    let found = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    assert_eq!(found["tasks"][0]["taskId"], task.as_str());
    assert_eq!(found["tasks"][0]["outputData"], json!({"a": 1}));
    assert_eq!(is_id(&to(&format!("{id}/only/COMPLETED"))), task, "the same again");
    assert_eq!(to(&format!("{id}/only/FAILED")).status, 409);
    assert_eq!(to(&format!("{id}/unknown/FAILED")).status, 404);
    assert_eq!(to(&format!("{id}/only/completed")).status, 400);
    assert_eq!(to("00000000-0000-7000-8000-000000000000/only/COMPLETED").status, 404);
}

#[test]
fn a_repeat_by_name_in_a_loop_answers_with_the_task_too() {
    let house = house();
    let wait = json!({"name": "m_wait", "taskReferenceName": "s", "type": "WAIT"});
    let definition = json!({"name": "m_loop", "tasks": [{"name": "m_loop", "type": "DO_WHILE",
        "taskReferenceName": "l", "loopCondition": "false", "loopOver": [wait]}]});
    house.send(&Request::post("/api/metadata/workflow?overwrite=true", &definition));
    let id = house.start("m_loop");
    let say = || {
        let path = format!("/api/tasks/{id}/s/COMPLETED");
        house.send(&Request::post(path, &json!({"a": 1})))
    };
    let task = is_id(&say());
    until("the run to end", Duration::from_secs(20), || {
        let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
        (run["status"] == "COMPLETED").then_some(())
    })
    .expect("it ends");
    let again = say();
    assert_eq!((again.status, again.header("x-signal")), (200, Some("REPEATED")));
    assert_eq!(is_id(&again), task);
}

#[test]
fn a_void_answer_is_204_only_where_the_contract_says_so() {
    let house = house();
    house.define("m_void");
    let id = house.start("m_void");
    let put = |verb: &str| house.send(&Request::new("PUT", format!("/api/workflow/{id}/{verb}")));
    is_empty_200(&put("pause"));
    is_empty_200(&put("resume"));
    assert_eq!(put("resume").status, 409);
    let task = house.claim("m_void");
    let extended = json!({"workflowInstanceId": id, "taskId": task["taskId"], "workerId": "w",
        "status": "IN_PROGRESS", "extendLease": true});
    is_id(&house.send(&Request::post("/api/tasks", &extended)));
    let progress = report(&task, "IN_PROGRESS", json!({}));
    is_204(&house.send(&Request::post("/api/tasks/update-v2", &progress)));
}
