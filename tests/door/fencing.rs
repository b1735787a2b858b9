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
    assert_eq!((&winner["taskId"], &winner["attempt"]), (&second["taskId"], &json!(1)));
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
    for (member, other) in [("fenceToken", "1"), ("workerId", "somebody else")] {
        let mut extend = extend.clone();
        extend["fenceToken"] = Value::Null;
        extend[member] = json!(other);
        let answer = say(&house, "", &extend);
        assert_eq!((answer.status, answer.header("x-task-update")), (200, Some("STALE")));
        assert_eq!(say(&house, "?strict=true", &extend).status, 409);
    }
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
