//! # Synchronous execution and signals: contract sections 2.1, 2.3, 3.11

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

/// A workflow that waits for somebody, then for a worker; and one with it inside.
fn define(house: &House, name: &str) {
    let inner = json!({"name": name, "tasks": [
        {"name": "ask", "taskReferenceName": "ask", "type": "WAIT"},
        {"name": name, "taskReferenceName": "work", "type": "SIMPLE"}],
        "outputParameters": {"answer": "${ask.output.answer}"}});
    let outer = json!({"name": format!("{name}_outer"), "tasks": [
        {"name": "inner", "taskReferenceName": "inner", "type": "SUB_WORKFLOW",
         "subWorkflowParam": {"name": name}}]});
    for definition in [inner, outer] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
}

fn execute(house: &House, target: &str, body: &Value) -> Answer {
    let answer = house.send(&Request::post(format!("/api/workflow/execute/{target}"), body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer
}

fn signal(house: &House, id: &str, rest: &str, body: &Value) -> Answer {
    house.send(&Request::post(format!("/api/tasks/{id}/COMPLETED/{rest}"), body))
}

#[test]
fn a_run_that_is_blocked_is_told_of_at_once() {
    let house = house();
    define(&house, "x_blocked");
    let query = "x_blocked_outer/0?requestId=None&waitUntilTaskRef=None&waitForSeconds=30";
    let told = execute(&house, query, &json!({"input": {"a": 1}}));
    let body = told.json();
    assert_eq!(told.header("x-workflow-id"), body["workflowId"].as_str());
    assert_eq!(body["responseType"], "TARGET_WORKFLOW");
    assert_eq!(body["targetWorkflowId"], body["workflowId"]);
    assert_eq!((&body["status"], &body["signalTimeout"]), (&json!("RUNNING"), &json!(false)));
    assert_eq!(body["input"], json!({"a": 1}));
    assert_ne!(body["requestId"], "None");
    let asked = |strategy: &str| {
        let query = format!("x_blocked_outer/0?requestId=r7&returnStrategy={strategy}");
        execute(&house, &query, &json!({})).json()
    };
    let inner = asked("BLOCKING_WORKFLOW");
    assert_ne!(inner["workflowId"], inner["targetWorkflowId"]);
    assert_eq!(
        (&inner["requestId"], &inner["tasks"][0]["taskType"]),
        (&json!("r7"), &json!("WAIT"))
    );
    let task = asked("BLOCKING_TASK");
    assert_eq!((&task["taskType"], &task["status"]), (&json!("WAIT"), &json!("IN_PROGRESS")));
    assert_eq!((&task["input"], &task["inputData"]), (&json!({}), &json!({})));
    assert!(task.get("tasks").is_none() && task.get("variables").is_none());
    let wrong = Request::post("/api/workflow/execute/x_blocked/0?returnStrategy=ALL", &json!({}));
    assert_eq!(house.refuses(&wrong).status, 400);
    let unknown = Request::post("/api/workflow/execute/x_nobody/0", &json!({}));
    assert_eq!(house.refuses(&unknown).status, 404);
}

#[test]
fn patience_ends_and_the_run_goes_on() {
    let house = house();
    house.define("x_patience");
    let body = execute(&house, "x_patience/1?waitForSeconds=1", &json!({})).json();
    assert_eq!((&body["status"], &body["signalTimeout"]), (&json!("RUNNING"), &json!(true)));
    let task = house.claim("x_patience");
    assert_eq!(task["workflowInstanceId"], body["workflowId"]);
}

#[test]
fn no_wait_is_longer_than_the_server_allows() {
    let house = House::own(&[]); // Where it is ten milliseconds.
    house.define("x_short");
    let told = execute(&house, "x_short/1?waitForSeconds=3600", &json!({})).json();
    assert_eq!((&told["status"], &told["signalTimeout"]), (&json!("RUNNING"), &json!(true)));
}

#[test]
fn a_wait_with_a_deadline_blocks_nobody_and_is_signalled_all_the_same() {
    let house = house();
    let definition = json!({"name": "x_timed", "tasks": [
        {"name": "nap", "taskReferenceName": "nap", "type": "WAIT",
         "inputParameters": {"duration": "1h"}}]});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
    let told = execute(&house, "x_timed/1?waitForSeconds=1", &json!({})).json();
    assert_eq!((&told["status"], &told["signalTimeout"]), (&json!("RUNNING"), &json!(true)));
    let id = told["workflowId"].as_str().expect("an id");
    let told = signal(&house, id, "signal/sync", &json!({"early": true})).json();
    assert_eq!((&told["status"], &told["output"]), (&json!("COMPLETED"), &json!({"early": true})));
}

#[test]
fn a_task_is_past_when_its_last_attempt_is() {
    let house = house();
    house.define("x_again");
    let definition = json!({"name": "x_again", "tasks": [
        {"name": "x_again", "taskReferenceName": "first", "type": "SIMPLE"},
        {"name": "x_again_next", "taskReferenceName": "next", "type": "SIMPLE"}]});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
    let told = || {
        let body = json!({"idempotencyKey": "k", "idempotencyStrategy": "RETURN_EXISTING"});
        let query = "x_again/1?waitForSeconds=1&waitUntilTaskRef=first";
        execute(&house, query, &body).json()
    };
    let ends = |status: &str| {
        let report = report(&house.claim("x_again"), status, json!({}));
        assert_eq!(house.send(&Request::post("/api/tasks", &report)).status, 200);
    };
    assert_eq!(told()["signalTimeout"], true, "nobody has taken it");
    ends("FAILED");
    assert_eq!(told()["signalTimeout"], true, "it will be tried again");
    ends("COMPLETED");
    let past = told();
    assert_eq!((&past["status"], &past["signalTimeout"]), (&json!("RUNNING"), &json!(false)));
}

#[test]
fn a_run_is_told_of_when_a_task_is_past_and_attached_to_by_its_key() {
    let house = house();
    define(&house, "x_past");
    let body = json!({"idempotencyKey": "k", "idempotencyStrategy": "RETURN_EXISTING"});
    let first = execute(&house, "x_past/1?waitForSeconds=30", &body).json();
    let id = first["workflowId"].as_str().expect("an id").to_owned();
    let said = signal(&house, &id, "signal", &json!({"answer": 42}));
    assert_eq!((said.status, said.text().as_str()), (200, ""));
    let query = "x_past/1?waitForSeconds=30&waitUntilTaskRef=none,ask";
    let again = execute(&house, query, &body);
    assert_eq!(again.header("x-idempotency-outcome"), Some("ATTACHED"));
    let again = again.json();
    assert_eq!((&again["workflowId"], &again["signalTimeout"]), (&json!(id), &json!(false)));
}

#[test]
fn by_name_the_output_of_the_run_is_the_answer() {
    let house = house();
    let definition = json!({"name": "x_output", "tasks": [
        {"name": "n", "taskReferenceName": "n", "type": "NOOP"}],
        "outputParameters": {"given": "${workflow.input.given}"}});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
    let posted = execute(&house, "x_output", &json!({"given": 7}));
    assert_eq!(posted.json(), json!({"given": 7}));
    let got = house.send(&Request::get("/api/workflow/execute/x_output?given=seven&version=1"));
    assert_eq!((got.status, got.json()), (200, json!({"given": "seven"})));
    let nothing = execute(&house, "x_output/1?returnStrategy=BLOCKING_TASK", &json!({}));
    assert_eq!((nothing.header("content-length"), nothing.text().as_str()), (Some("0"), ""));
}

#[test]
fn signals_reach_into_children_and_each_answers_one_wait() {
    let house = house();
    define(&house, "x_signals");
    let id = house.start("x_signals_outer");
    let told = signal(&house, &id, "signal/sync?timeoutMillis=200", &json!({"answer": 1}));
    let body = told.json();
    assert_eq!(told.status, 200, "{body}");
    assert_eq!((&body["workflowId"], &body["signalTimeout"]), (&json!(id), &json!(true)));
    assert!(body.get("requestId").is_none());
    let nothing = signal(&house, &id, "signal/sync", &json!({}));
    assert_eq!((nothing.status, &nothing.json()["status"]), (404, &json!(404)));
    let ignored = signal(&house, &id, "signal", &json!({}));
    assert_eq!((ignored.status, ignored.header("content-length")), (200, Some("0")));
    let unknown = signal(&house, "0190c3f0-0000-7000-8000-000000000000", "signal", &json!({}));
    assert_eq!(unknown.status, 404);
    let wrong = Request::post(format!("/api/tasks/{id}/DONE/signal"), &json!({}));
    assert_eq!(house.refuses(&wrong).status, 400);
}

#[test]
fn an_answer_by_reference_can_show_the_run() {
    let house = house();
    define(&house, "x_sync");
    let id = house.start("x_sync");
    let answer = |reference: &str| {
        let target = format!("/api/tasks/{id}/{reference}/COMPLETED/sync");
        house.send(&Request::post(target, &json!({"answer": 3})))
    };
    let run = answer("ask").json();
    assert_eq!((&run["workflowId"], &run["tasks"][0]["status"]), (&json!(id), &json!("COMPLETED")));
    assert_eq!(run["tasks"][1]["referenceTaskName"], "work");
    assert_eq!(answer("ask").status, 404);
}

#[test]
fn a_yield_blocks_the_caller_until_it_is_signalled() {
    let house = house();
    let tasks = json!([{"name": "give_way", "taskReferenceName": "give_way", "type": "YIELD"}]);
    let definition = json!({"name": "x_yields", "tasks": tasks});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &definition)).status, 200);
    let query = "x_yields/0?requestId=r8&returnStrategy=BLOCKING_TASK&waitForSeconds=30";
    let task = execute(&house, query, &json!({})).json();
    assert_eq!((&task["taskType"], &task["status"]), (&json!("YIELD"), &json!("IN_PROGRESS")));
    let id = task["workflowId"].as_str().expect("the run is named");
    let told = signal(&house, id, "signal/sync", &json!({"go": true})).json();
    assert_eq!((&told["status"], &told["output"]), (&json!("COMPLETED"), &json!({"go": true})));
}

#[test]
fn state_changes_variables_and_a_task_and_waits() {
    let house = house();
    define(&house, "x_state");
    let id = house.start("x_state");
    let update = |body: &Value| {
        let target = format!("/api/workflow/{id}/state?requestId=q&waitForSeconds=1");
        house.send(&Request::post(target, body))
    };
    let changed = update(&json!({"variables": {"v": 1}})).json();
    assert_eq!((&changed["variables"], &changed["requestId"]), (&json!({"v": 1}), &json!("q")));
    let both = update(&json!({"variables": {"w": 2}, "taskReferenceName": "ask",
        "taskResult": {"status": "COMPLETED", "outputData": {"answer": 9}}}));
    let both = both.json();
    assert_eq!(both["variables"], json!({"v": 1, "w": 2}));
    assert_eq!(both["tasks"][0]["outputData"], json!({"answer": 9}));
    let half = update(&json!({"taskReferenceName": "work"}));
    assert_eq!(half.status, 400);
    assert!(half.json()["message"].as_str().is_some_and(|text| text.contains("taskResult")));
}
