//! # The conformance checklist of the contract, to the header
//!
//! Numbers are those of the checklist. Item 14 is in `keys.rs`; item 15 is about schedules, which
//! are not in this release.

use serde_json::{Value, json};

use crate::house::{definition, house, report};
use crate::raw::{Answer, Request};

pub(crate) fn is_empty_200(answer: &Answer) {
    assert_eq!((answer.status, answer.text().as_str()), (200, ""), "{answer:?}");
    assert_eq!(answer.header("content-length"), Some("0"), "{answer:?}");
    assert_eq!(answer.header("content-type"), None, "{answer:?}");
    assert_eq!(answer.header("transfer-encoding"), None, "{answer:?}");
}

pub(crate) fn is_204(answer: &Answer) {
    assert_eq!((answer.status, answer.text().as_str()), (204, ""), "{answer:?}");
    assert_eq!(answer.header("content-type"), None, "{answer:?}");
    assert_eq!(answer.header("transfer-encoding"), None, "{answer:?}");
}

/// Raw text of one id: no quotes, no JSON.
pub(crate) fn is_id(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("content-type"), Some("text/plain;charset=UTF-8"));
    assert_eq!(answer.header("content-length"), Some("36"));
    let id = answer.text();
    assert!(id.chars().all(|c| c.is_ascii_hexdigit() || c == '-'), "{id}");
    id
}

#[test]
fn item_1_health_answers_on_both_paths() {
    for path in ["/health", "/api/health"] {
        let answer = house().send(&Request::get(path));
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["healthy"], true);
    }
}

#[test]
fn item_2_a_token_is_not_found_while_authentication_is_off() {
    let body = json!({"keyId": "k", "keySecret": "s"});
    let answer = house().refuses(&Request::post("/api/token", &body));
    assert_eq!((answer.status, &answer.json()["status"]), (404, &json!(404)));
}

#[test]
fn item_3_a_task_definition_may_be_registered_twice() {
    let request = Request::post("/api/metadata/taskdefs", &json!([{"name": "t3"}]));
    let house = house();
    is_empty_200(&house.send(&request));
    is_empty_200(&house.send(&request));
}

#[test]
fn item_4_a_workflow_definition_is_registered_once_unless_overwritten() {
    let house = house();
    let to = |path: &str| house.send(&Request::post(path, &definition("wf4")));
    is_empty_200(&to("/api/metadata/workflow"));
    assert_eq!(to("/api/metadata/workflow").status, 409);
    is_empty_200(&to("/api/metadata/workflow?overwrite=True"));
}

#[test]
fn item_5_a_list_of_definitions_is_answered_with_their_names() {
    let list = json!([definition("wf5")]);
    let answer = house().send(&Request::new("PUT", "/api/metadata/workflow").json(&list));
    assert_eq!(answer.status, 200);
    let expected = json!({"bulkErrorResults": {}, "bulkSuccessfulResults": ["wf5"]});
    assert_eq!(answer.json(), expected);
}

#[test]
fn item_6_a_start_answers_with_a_raw_id() {
    let house = house();
    house.define("wf6");
    is_id(&house.send(&Request::post("/api/workflow/wf6", &json!({}))));
}

#[test]
fn item_7_a_batch_poll_is_a_list_also_when_there_is_nothing() {
    let house = house();
    house.define("t7");
    house.start("t7");
    let poll = Request::get("/api/tasks/poll/batch/t7?count=5&timeout=100&workerid=w");
    let answer = house.send(&poll);
    assert_eq!((answer.status, answer.json().as_array().map(Vec::len)), (200, Some(1)));
    let answer = house.send(&poll);
    assert_eq!((answer.status, answer.json()), (200, json!([])));
}

#[test]
fn item_8_a_single_poll_without_a_task_is_204() {
    is_204(&house().send(&Request::get("/api/tasks/poll/none")));
}

#[test]
fn item_9_an_update_may_be_sent_again() {
    let house = house();
    house.define("t9");
    let id = house.start("t9");
    let report = report(&house.claim("t9"), "COMPLETED", json!({"a": null}));
    let update = Request::post("/api/tasks/update-v2", &report);
    is_204(&house.send(&update));
    let look = || house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let before = look();
    let again = house.send(&update);
    is_204(&again);
    assert_eq!(again.header("x-task-update"), Some("REPEATED"));
    assert_eq!(look(), before);
    assert_eq!(before["tasks"][0]["outputData"], json!({"a": null}));
}

#[test]
fn item_9_an_update_hands_out_the_next_task_again_when_its_answer_was_lost() {
    let house = house();
    house.define("t9b");
    for _ in 0..2 {
        house.start("t9b");
    }
    let update = report(&house.claim("t9b"), "COMPLETED", json!({}));
    let update = Request::post("/api/tasks/update-v2", &update);
    let next = house.send(&update);
    assert_eq!(next.status, 200);
    let again = house.send(&update);
    assert_eq!(again.status, 200);
    assert_eq!(next.json()["taskId"], again.json()["taskId"]);
    assert_eq!(next.json()["fenceToken"], again.json()["fenceToken"]);
}

/// Maps of users may hold nulls; the rest of an answer may not.
fn null_paths(path: &str, value: &Value, found: &mut Vec<String>) {
    const MAPS: [&str; 8] = [
        "input",
        "output",
        "inputData",
        "outputData",
        "variables",
        "inputParameters",
        "inputTemplate",
        "outputParameters",
    ];
    match value {
        Value::Null => found.push(path.to_owned()),
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(key, _)| !MAPS.contains(&key.as_str())) {
                null_paths(&format!("{path}.{key}"), value, found);
            }
        }
        Value::Array(list) => {
            list.iter().for_each(|value| null_paths(&format!("{path}[]"), value, found));
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn item_10_a_completed_workflow_is_shown_whole() {
    let house = house();
    house.define("wf10");
    let id = house.start("wf10");
    let done = report(&house.claim("wf10"), "COMPLETED", json!({}));
    assert_eq!(is_id(&house.send(&Request::post("/api/tasks", &done))), done["taskId"]);
    let answer = house.send(&Request::get(format!("/api/workflow/{id}")));
    let workflow = answer.json();
    assert_eq!((answer.status, &workflow["status"]), (200, &json!("COMPLETED")));
    assert!(workflow["endTime"].as_i64().unwrap() > 0);
    assert_eq!(workflow["tasks"][0]["workflowTask"]["taskReferenceName"], "only");
    let mut nulls = vec![];
    null_paths("", &workflow, &mut nulls);
    nulls.retain(|path| path != ".tasks[].taskDefinition");
    assert_eq!(nulls, [""; 0]);
}

#[test]
fn item_11_an_unknown_workflow_is_named() {
    let answer = house().refuses(&Request::get("/api/workflow/nope"));
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json()["message"], "No such workflow found by id: nope");
}

#[test]
fn item_12_an_empty_report_breaks_two_rules() {
    for path in ["/api/tasks", "/api/tasks/update-v2"] {
        let answer = house().refuses(&Request::post(path, &json!({})));
        let body = answer.json();
        assert_eq!(answer.status, 400);
        assert_eq!(body["message"], "Validation failed, check below errors for detail.");
        assert_eq!(body["validationErrors"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn item_13_a_poll_that_wants_to_wait_too_long_is_refused() {
    let answer = house().refuses(&Request::get("/api/tasks/poll/batch/t?timeout=6000"));
    assert_eq!(answer.status, 400);
}

#[test]
fn item_16_a_search_is_understood_as_python_writes_it() {
    let house = house();
    house.define("wf16");
    let id = house.start("wf16");
    let search = |query: &str| {
        let rest = format!("queryId=&start=0&size=100&freeText=%2A&query={query}");
        let answer = house.send(&Request::get(format!("/api/workflow/search?{rest}")));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let found = search("");
    let shown = found["results"].as_array().map_or(0, Vec::len);
    assert!((1..=100).contains(&shown), "{shown} rows");
    assert!(found["totalHits"].as_u64() >= u64::try_from(shown).ok(), "{}", found["totalHits"]);
    let found = search("workflowType%3Dwf16");
    assert_eq!((&found["totalHits"], &found["results"][0]["workflowId"]), (&json!(1), &json!(id)));
}

#[test]
fn item_17_a_pause_takes_any_body_or_none() {
    let house = house();
    house.define("wf17");
    let id = house.start("wf17");
    let pause = || Request::new("PUT", format!("/api/workflow/{id}/pause"));
    let empty = pause().header("Content-Type", "application/json").body("");
    for request in [pause().json(&json!({})), empty, pause()] {
        is_empty_200(&house.send(&request));
    }
    let status = Request::get(format!("/api/workflow/{id}/status"));
    assert_eq!(house.send(&status).json()["status"], "PAUSED");
}

#[test]
fn item_18_a_workflow_is_terminated_as_python_does_it() {
    let house = house();
    house.define("wf18");
    let id = house.start("wf18");
    let target = format!("/api/workflow/{id}?reason=x&triggerFailureWorkflow=True");
    is_empty_200(&house.send(&Request::new("DELETE", target).json(&json!({}))));
    let workflow = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    assert_eq!(workflow["status"], "TERMINATED");
    assert_eq!(workflow["reasonForIncompletion"], "x");
}

#[test]
fn item_19_a_run_is_executed_as_python_asks_for_it() {
    let house = house();
    house.define("wf19");
    let query = "requestId=None&waitUntilTaskRef=None&waitForSeconds=1";
    let target = format!("/api/workflow/execute/wf19/0?{query}");
    let answer = house.send(&Request::post(target, &json!({"name": "wf19", "input": {}})));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let run = answer.json();
    let id = run["workflowId"].as_str().expect("an id");
    assert_eq!(id.len(), 36);
    assert_eq!(run["status"], "RUNNING");
    assert_ne!(run["requestId"], "None");
    let status = Request::get(format!("/api/workflow/{id}/status"));
    assert_eq!(house.send(&status).json()["workflowId"], id);
}

#[test]
fn item_20_a_log_line_is_taken_as_each_client_writes_it() {
    let house = house();
    house.define("t20");
    house.start("t20");
    let task = house.claim("t20");
    let log = format!("/api/tasks/{}/log", task["taskId"].as_str().expect("an id"));
    is_204(&house.send(&Request::get(&log)));
    for body in [r#""quoted""#, "raw text", r#"esc \"x\""#] {
        is_empty_200(&house.send(&Request::new("POST", &log).body(body)));
    }
    let lines = house.send(&Request::get(&log)).json();
    let texts: Vec<_> = lines.as_array().into_iter().flatten().map(|line| &line["log"]).collect();
    assert_eq!(texts, ["quoted", "raw text", r#"esc \"x\""#]);
}
