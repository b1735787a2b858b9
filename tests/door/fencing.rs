//! # Fencing: whose report counts, and what becomes of the others

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

fn say(house: &House, query: &str, body: &Value) -> Answer {
    house.send(&Request::post(format!("/api/tasks{query}"), body))
}

/// A task that was taken by `w`, whose lease is over, and that `v` has now.
fn superseded(house: &House, name: &str) -> (Value, Value) {
    let task = json!([{"name": name, "retryDelaySeconds": 0, "responseTimeoutSeconds": 10,
        "timeoutSeconds": 100}]);
    assert_eq!(house.send(&Request::post("/api/metadata/taskdefs", &task)).status, 200);
    let body = json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
        {"name": name, "taskReferenceName": "only", "type": "SIMPLE"}]});
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &body)).status, 200);
    house.start(name);
    let first = house.claim(name);
    let clock = Request::post("/test/clock", &json!({"advanceMs": 11_000}));
    assert_eq!(house.send(&clock).status, 200);
    let poll = format!("/api/tasks/poll/batch/{name}?workerid=v&timeout=5000");
    let second = house.send(&Request::get(poll)).json()[0].clone();
    assert!(second["taskId"].is_string(), "{second}");
    (first, second)
}

#[test]
fn strictly_a_late_report_is_refused_with_the_attempt_that_counts() {
    let house = House::own(&["--test-clock"]);
    let (first, second) = superseded(&house, "f_strict");
    let late = report(&first, "COMPLETED", json!({"by": "w"}));
    let answer = say(&house, "?strict=true", &late);
    let body = answer.json();
    assert_eq!((answer.status, &body["code"]), (409, &json!("STALE_FENCE")), "{body}");
    let winner = &body["metadata"]["winner"];
    assert_eq!((&winner["taskId"], &winner["attempt"]), (&second["taskId"], &json!(2)));
    assert_eq!(winner["attempt"], second["attempt"], "counted as on the task");
    assert_eq!(body["metadata"]["attempt"], first["attempt"]);
    assert_eq!((&winner["status"], &winner["workerId"]), (&json!("IN_PROGRESS"), &json!("v")));
    assert_eq!(winner["fenceToken"], second["fenceToken"]);
    assert_eq!(body["metadata"]["safeNewKey"], false);
    let mut extend = late.clone();
    extend["extendLease"] = json!(true);
    assert_eq!(say(&house, "?strict=true", &extend).status, 409);
    assert_eq!(say(&house, "", &extend).header("x-task-update"), Some("STALE"));
}

#[test]
fn late_reports_are_told_of_and_change_nothing() {
    let house = House::own(&["--test-clock"]);
    let (first, second) = superseded(&house, "f_told");
    for attempt in 0..40 {
        let late = report(&first, "COMPLETED", json!({"attempt": attempt}));
        for _ in 0..2 {
            let answer = say(&house, "", &late);
            assert_eq!((answer.status, answer.header("x-task-update")), (200, Some("STALE")));
        }
    }
    let path = format!("/api/tasks/{}", first["taskId"].as_str().unwrap_or_default());
    let seen = house.send(&Request::get(path)).json();
    let told = seen["staleReports"].as_array().cloned().unwrap_or_default();
    assert_eq!(told.len(), 32, "the last ones, each once: {seen}");
    let last = told.last().cloned().unwrap_or_default();
    assert_eq!(last["by"], "w");
    assert!(last["at"].is_number() && last["reason"].is_string(), "{last}");
    let run = first["workflowInstanceId"].as_str().unwrap_or_default();
    let run = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
    assert_eq!(run["tasks"][0]["staleReports"], seen["staleReports"]);
    assert!(run["tasks"][1].get("staleReports").is_none(), "{run}");
    assert_eq!(run["tasks"][0]["status"], "TIMED_OUT");
    let done = report(&second, "COMPLETED", json!({}));
    let done = json!({"workerId": "v", "status": "COMPLETED", "taskId": done["taskId"],
        "workflowInstanceId": done["workflowInstanceId"], "fenceToken": done["fenceToken"]});
    assert_eq!(say(&house, "", &done).header("x-task-update"), None);
}

#[test]
fn more_time_is_given_to_the_holder_alone_and_told() {
    let house = house();
    house.define("f_extend");
    house.start("f_extend");
    let task = house.claim("f_extend");
    let mut extend = report(&task, "IN_PROGRESS", json!({}));
    extend["extendLease"] = json!(true);
    let answer = say(&house, "", &extend);
    assert_eq!((answer.status, answer.header("x-task-update")), (200, None));
    let until = answer.header("x-lease-until").and_then(|text| text.parse::<i64>().ok());
    assert!(until >= task["leaseUntil"].as_i64(), "{until:?} {task}");
    let other = |member: &str, other: &str| {
        let mut extend = extend.clone();
        extend["fenceToken"] = Value::Null;
        extend[member] = json!(other);
        extend
    };
    let named = other("workerId", "somebody else");
    assert_eq!(say(&house, "", &named).header("x-task-update"), None, "handed out once");
    let given_back = report(&task, "IN_PROGRESS", json!({}));
    assert_eq!(say(&house, "", &given_back).status, 200);
    house.claim("f_extend");
    for extend in [other("fenceToken", "1"), named] {
        let answer = say(&house, "", &extend);
        assert_eq!((answer.status, answer.header("x-task-update")), (200, Some("STALE")));
        assert_eq!(say(&house, "?strict=true", &extend).status, 409);
    }
    let path = format!("/api/tasks/{}", task["taskId"].as_str().unwrap_or_default());
    let seen = house.send(&Request::get(path)).json();
    let by: Vec<_> = seen["staleReports"].as_array().into_iter().flatten().collect();
    assert!(by.iter().any(|told| told["by"] == "somebody else"), "it is told of: {seen}");
    let unknown = json!({"workflowInstanceId": task["workflowInstanceId"], "extendLease": true,
        "taskId": "0190c3f0-0000-7000-8000-000000000000"});
    assert_eq!(say(&house, "", &unknown).status, 404);
}

#[test]
fn a_report_under_another_name_counts_and_a_stale_one_is_logged_counted_and_shown() {
    let house = House::own(&["--test-clock"]);
    house.define("f_names");
    house.start("f_names");
    let task = house.claim("f_names");
    let mut said = report(&task, "IN_PROGRESS", json!({}));
    said["fenceToken"] = Value::Null;
    said["workerId"] = json!("your_custom_id");
    assert_eq!(say(&house, "", &said).header("x-task-update"), None);
    house.claim("f_names");
    said["workerId"] = json!("third");
    said["status"] = json!("COMPLETED");
    for n in 0..3 {
        said["outputData"] = json!({"n": n});
        assert_eq!(say(&house, "", &said).header("x-task-update"), Some("STALE"));
    }
    let numbers = house.send(&Request::get("/metrics")).text();
    let counted = "semel_stale_reports_total{taskType=\"f_names\",domain=\"NO_DOMAIN\"} 3";
    assert!(numbers.contains(counted), "{numbers}");
    let log = house.log();
    let lines = log.lines().filter(|line| line.contains("WARN") && line.contains("is stale"));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines.len(), 1, "once a minute: {log}");
    assert!(lines[0].contains("f_names") && lines[0].contains("third"), "{lines:?}");
    let id = task["workflowInstanceId"].as_str().unwrap_or_default();
    for path in [format!("/api/workflow/{id}"), format!("/api/workflow/{id}/tasks")] {
        let run = house.send(&Request::get(&path)).json();
        let tasks = if path.ends_with("tasks") { &run["results"] } else { &run["tasks"] };
        let told = tasks[0]["staleReports"].as_array().map(Vec::len);
        assert_eq!(told, Some(3), "{path}: {run}");
    }
    said["workerId"] = json!("your_custom_id");
    assert_eq!(say(&house, "", &said).header("x-task-update"), None, "it has signed before");
}

#[test]
fn a_stale_report_is_judged_again_under_the_same_request_key() {
    let house = house();
    house.define("f_again");
    house.start("f_again");
    let task = house.claim("f_again");
    let mut back = report(&task, "IN_PROGRESS", json!({}));
    back["fenceToken"] = Value::Null;
    say(&house, "", &back);
    house.claim("f_again");
    let mut done = report(&task, "COMPLETED", json!({}));
    done["fenceToken"] = Value::Null;
    done["workerId"] = json!("third");
    let request = Request::post("/api/tasks", &done).header("Idempotency-Key", "f-again");
    assert_eq!(house.send(&request).header("x-task-update"), Some("STALE"));
    back["outputData"] = json!({"n": 1});
    say(&house, "", &back);
    let poll = "/api/tasks/poll/batch/f_again?workerid=third&timeout=5000";
    let taken = house.send(&Request::get(poll)).json();
    assert_eq!(taken[0]["taskId"], task["taskId"], "{taken}");
    let answer = house.send(&request);
    assert_eq!(answer.header("x-task-update"), None, "the same request counts now");
}

#[test]
fn by_name_the_holder_and_whoever_answers_for_a_nameless_one_are_taken() {
    let house = house();
    house.define("f_by_name");
    let run = house.start("f_by_name");
    house.claim("f_by_name");
    let path =
        |run: &str, worker: &str| format!("/api/tasks/{run}/only/COMPLETED?workerid={worker}");
    assert_eq!(house.send(&Request::post(path(&run, "eve"), &json!({}))).status, 409);
    assert_eq!(house.send(&Request::post(path(&run, "w"), &json!({}))).status, 200);
    let nameless = house.start("f_by_name");
    let taken = house.send(&Request::get("/api/tasks/poll/batch/f_by_name?timeout=5000")).json();
    assert_eq!(taken[0]["workflowInstanceId"], json!(nameless), "{taken}");
    let answer = Request::post(format!("/api/tasks/{nameless}/only/COMPLETED"), &json!({}));
    assert_eq!(house.send(&answer).status, 200);
}

#[test]
fn by_name_a_held_task_is_answered_by_force_alone_and_its_holder_is_late() {
    let house = house();
    house.define("f_force");
    let run = house.start("f_force");
    let task = house.claim("f_force");
    let path = format!("/api/tasks/{run}/only/COMPLETED");
    let refused = house.refuses(&Request::post(&path, &json!({"by": "a person"})));
    assert_eq!(refused.status, 409);
    assert!(refused.text().contains("force=true"), "{}", refused.text());
    let forced = Request::post(format!("{path}?force=true"), &json!({"by": "a person"}));
    assert_eq!(house.send(&forced).status, 200);
    let late = say(&house, "", &report(&task, "FAILED", json!({})));
    assert_eq!(late.header("x-task-update"), Some("STALE"));
    let log = house.send(&Request::get(format!("/api/workflow/{run}/log"))).text();
    assert!(log.contains("\"force\":true"), "it is written down that it was forced: {log}");
    let run = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
    assert_eq!((&run["status"], &run["output"]["by"]), (&json!("COMPLETED"), &json!("a person")));
}
