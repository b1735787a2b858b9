//! # Synchronous execution and signals (docs/compatibility.md#synchronous-execution-and-signals)

use std::time::Duration;

use semel_tests::process::until;
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
    let same = answer("ask");
    assert_eq!((same.status, same.header("x-signal")), (200, Some("REPEATED")), "{}", same.text());
    assert_eq!(answer("nobody").status, 404);
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
fn a_signal_to_a_run_that_is_over_shows_how_it_ended() {
    let house = house();
    let tasks = json!([{"name": "give_way", "taskReferenceName": "give_way", "type": "YIELD"}]);
    let definition = json!({"name": "x_over", "tasks": tasks});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &definition)).status, 200);
    let id = house.start("x_over");
    let first = signal(&house, &id, "signal/sync", &json!({"go": 1}));
    assert_eq!((first.status, first.header("x-signal")), (200, Some("APPLIED")));
    let again = signal(&house, &id, "signal/sync", &json!({"go": 2}));
    assert_eq!((again.status, again.header("x-signal")), (200, Some("NONE")));
    let told = again.json();
    assert_eq!((&told["workflowId"], &told["status"]), (&json!(id), &json!("COMPLETED")));
    assert_eq!((&told["output"], &told["signalTimeout"]), (&json!({"go": 1}), &json!(false)));
    let target = "signal/sync?returnStrategy=BLOCKING_TASK";
    let task = signal(&house, &id, target, &json!({}));
    assert_eq!((task.status, task.text().as_str()), (200, ""), "no task blocks a run that is over");
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

/// A loop of two turns around a WAIT.
fn define_loop(house: &House, name: &str) {
    let definition = json!({"name": name, "tasks": [
        {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE", "evaluatorType": "javascript",
         "loopCondition": "$.loop['iteration'] < 2",
         "loopOver": [{"name": "s", "taskReferenceName": "s_ref", "type": "WAIT"}]}]});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
}

#[test]
fn an_answer_by_reference_inside_a_loop_is_told_as_it_was_committed() {
    let house = house();
    define_loop(&house, "x_loop");
    let id = house.start("x_loop");
    let open = |reference: &str| {
        let run = || house.send(&Request::get(format!("/api/workflow/{id}"))).json();
        let found = || {
            let run = run();
            let tasks = run["tasks"].as_array().cloned().unwrap_or_default();
            tasks.into_iter().find(|task| task["referenceTaskName"] == reference)
        };
        until("the turn begins", Duration::from_secs(30), found).expect("the task")
    };
    let first = open("s_ref__1");
    let path = format!("/api/tasks/{id}/s_ref/COMPLETED");
    let sync = house.send(&Request::post(format!("{path}/sync"), &json!({"n": 1})));
    assert_eq!(sync.status, 200, "{}", sync.text());
    let run = sync.json();
    let done = run["tasks"].as_array().into_iter().flatten();
    let done: Vec<_> = done.filter(|task| task["taskId"] == first["taskId"]).collect();
    assert_eq!(done.first().map(|task| &task["status"]), Some(&json!("COMPLETED")), "{run}");
    let second = open("s_ref__2");
    let plain = house.send(&Request::post(&path, &json!({"n": 2})));
    assert_eq!((plain.status, json!(plain.text())), (200, second["taskId"].clone()));
    let again = house.send(&Request::post(format!("{path}/sync"), &json!({"n": 2})));
    assert_eq!((again.status, again.header("x-signal")), (200, Some("REPEATED")));
    let other = house.send(&Request::post(format!("{path}/sync"), &json!({"n": 3})));
    assert_eq!(other.status, 409, "the loop is over, and its last turn ended otherwise");
}

#[test]
fn a_task_that_was_waited_for_is_told_of_when_it_is_over() {
    let house = house();
    let definition = json!({"name": "x_waited", "tasks": [
        {"name": "n", "taskReferenceName": "n", "type": "NOOP"},
        {"name": "s", "taskReferenceName": "s", "type": "SET_VARIABLE", "inputParameters": {"v": 1}},
        {"name": "ask", "taskReferenceName": "ask", "type": "WAIT"}]});
    let outer = json!({"name": "x_waited_outer", "tasks": [
        {"name": "inner", "taskReferenceName": "inner", "type": "SUB_WORKFLOW",
         "subWorkflowParam": {"name": "x_waited"}}]});
    for definition in [definition, outer] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
    let told = |name: &str, strategy: &str| {
        let query = format!("{name}/0?waitUntilTaskRef=never,s&returnStrategy={strategy}");
        execute(&house, &query, &json!({})).json()
    };
    for name in ["x_waited", "x_waited_outer"] {
        for strategy in ["BLOCKING_TASK", "BLOCKING_TASK_INPUT"] {
            let task = told(name, strategy);
            assert_eq!(task["referenceTaskName"], "s", "{task}");
            assert_eq!((&task["status"], &task["input"]), (&json!("COMPLETED"), &json!({"v": 1})));
        }
        let run = told(name, "BLOCKING_WORKFLOW");
        let is_inside = run["workflowId"] != run["targetWorkflowId"];
        assert_eq!(is_inside, name == "x_waited_outer", "{run}");
    }
    let target = told("x_waited_outer", "TARGET_WORKFLOW");
    let id = target["workflowId"].as_str().expect("an id").to_owned();
    let done = signal(&house, &id, "signal/sync", &json!({})).json();
    assert_eq!(done["status"], "COMPLETED", "{done}");
    let state = format!("/api/workflow/{id}/state?waitUntilTaskRef=s");
    let over = house.send(&Request::post(state, &json!({})));
    assert_eq!((over.status, &over.json()["signalTimeout"]), (200, &json!(false)));
}

#[test]
fn a_task_of_a_child_that_is_over_with_its_parent_is_told_of() {
    let house = house();
    let inner = json!({"name": "x_over", "tasks": [
        {"name": "n", "taskReferenceName": "n", "type": "NOOP"}]});
    let outer = json!({"name": "x_over_outer", "tasks": [
        {"name": "inner", "taskReferenceName": "inner", "type": "SUB_WORKFLOW",
         "subWorkflowParam": {"name": "x_over"}}]});
    for definition in [inner, outer] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
    let query = "x_over_outer/0?waitForSeconds=30&waitUntilTaskRef=n&returnStrategy=BLOCKING_TASK";
    let task = execute(&house, query, &json!({})).json();
    assert_eq!((&task["referenceTaskName"], &task["status"]), (&json!("n"), &json!("COMPLETED")));
}

#[test]
fn state_names_its_task_by_id_or_reference_and_changes_all_or_nothing() {
    let house = house();
    define(&house, "x_target");
    let id = house.start("x_target");
    let target = format!("/api/workflow/{id}/state?waitForSeconds=1");
    let update = |body: &Value| house.send(&Request::post(&target, body));
    let run = || house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let ask = run()["tasks"][0]["taskId"].clone();
    let nobody = "0190c3f0-0000-7000-8000-000000000000";
    for (wrong, status) in [
        (json!({"taskReferenceName": "nobody", "taskResult": {"status": "COMPLETED"}}), 404),
        (json!({"taskReferenceName": "work", "taskResult": {"status": "COMPLETED"}}), 404),
        (json!({"taskResult": {"taskId": nobody, "status": "COMPLETED"}}), 404),
        (json!({"taskResult": {"taskId": "x", "status": "COMPLETED"}}), 404),
        (json!({"taskReferenceName": "work", "taskResult": {"taskId": ask}}), 400),
        (json!({"taskResult": {"taskId": ask, "workflowInstanceId": nobody}}), 400),
        (json!({"taskResult": {"status": "COMPLETED"}}), 400),
        (json!({"taskResult": {"taskId": ask, "extendLease": true}}), 400),
        (json!({"taskResult": {"taskId": ask, "fenceToken": 7}}), 400),
        (json!({"taskResult": {"taskId": ask, "logs": [{"log": "done"}]}}), 400),
    ] {
        let mut wrong = wrong;
        wrong["variables"] = json!({"v": 1});
        let answer = update(&wrong);
        assert_eq!(answer.status, status, "{wrong}: {}", answer.text());
    }
    let before = run();
    assert_eq!(
        (&before["variables"], &before["tasks"][0]["status"]),
        (&json!({}), &json!("IN_PROGRESS"))
    );
    let body = json!({"variables": {"v": 2}, "taskReferenceName": "ask",
        "taskResult": {"taskId": ask, "outputData": {"answer": 5}}});
    for _ in 0..2 {
        let done = update(&body);
        assert_eq!(done.status, 200, "{}", done.text());
        let done = done.json();
        assert_eq!(
            (&done["variables"], &done["tasks"][0]["status"]),
            (&json!({"v": 2}), &json!("COMPLETED"))
        );
        assert_eq!(done["tasks"].as_array().map(Vec::len), Some(2), "{done}");
    }
    let other = json!({"taskResult": {"taskId": ask, "status": "FAILED"}});
    assert_eq!(update(&other).status, 409);
    house.claim("x_target");
    let held = json!({"variables": {"v": 3}, "taskReferenceName": "work", "taskResult": {}});
    assert_eq!(update(&held).status, 409);
    assert_eq!(run()["variables"], json!({"v": 2}), "all or nothing");
    let mut holders = held;
    holders["taskResult"]["workerId"] = json!("w");
    assert_eq!(update(&holders).json()["status"], "COMPLETED");
    assert_eq!(run()["variables"], json!({"v": 3}));
}
