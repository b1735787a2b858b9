//! # Tasks by id, their logs, the tasks of a run

use serde_json::{Value, json};

use crate::house::{house, report};
use crate::raw::Request;

fn seen(path: &str) -> Value {
    let answer = house().send(&Request::get(format!("/api/{path}")));
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

#[test]
fn a_task_is_found_by_its_id_in_every_state() {
    let house = house();
    house.define("t_by_id");
    let id = house.start("t_by_id");
    let run = seen(&format!("workflow/{id}"));
    let task = run["tasks"][0]["taskId"].as_str().expect("an id").to_owned();
    let found = seen(&format!("tasks/{task}"));
    assert_eq!((&found["status"], &found["workflowInstanceId"]), (&json!("SCHEDULED"), &json!(id)));
    let held = house.claim("t_by_id");
    let found = seen(&format!("tasks/{task}"));
    assert_eq!((&found["status"], &found["workerId"]), (&json!("IN_PROGRESS"), &json!("w")));
    assert_eq!(found["pollCount"], 1);
    let done = Request::post("/api/tasks", &report(&held, "COMPLETED", json!({"n": 1})));
    assert_eq!(house.send(&done).status, 200);
    let found = seen(&format!("tasks/{task}"));
    assert_eq!((&found["status"], &found["outputData"]), (&json!("COMPLETED"), &json!({"n": 1})));
    for unknown in ["0190c3f0-0000-8000-8000-000000000000", "nonsense"] {
        let answer = house.refuses(&Request::get(format!("/api/tasks/{unknown}")));
        assert_eq!(answer.status, 404);
        assert_eq!(answer.json()["message"], format!("Task not found for taskId: {unknown}"));
    }
}

#[test]
fn logs_are_kept_as_each_client_sends_them_and_read_oldest_first() {
    let house = house();
    house.define("t_logs");
    house.start("t_logs");
    let task = house.claim("t_logs");
    let id = task["taskId"].as_str().expect("an id");
    let log = format!("/api/tasks/{id}/log");
    assert_eq!(house.send(&Request::get(&log)).status, 204, "none yet");
    for body in ["\"quoted\"", "raw text", "esc \\\"x\\\""] {
        let written = house.send(&Request::new("POST", &log).body(body));
        assert_eq!((written.status, written.header("content-length")), (200, Some("0")));
    }
    let mut said = report(&task, "COMPLETED", json!({}));
    said["logs"] = json!([{"log": "done", "createdTime": 5}, {"log": "really"}]);
    assert_eq!(house.send(&Request::post("/api/tasks", &said)).status, 200);
    let lines = house.send(&Request::get(&log)).json();
    let texts: Vec<_> = lines.as_array().into_iter().flatten().map(|line| &line["log"]).collect();
    assert_eq!(texts, ["quoted", "raw text", "esc \\\"x\\\"", "done", "really"]);
    assert_eq!((&lines[3]["createdTime"], &lines[3]["taskId"]), (&json!(5), &json!(id)));
    assert!(lines[4]["createdTime"].as_i64() > Some(5), "a line without a time is of now");
    let unknown = "/api/tasks/0190c3f0-0000-8000-8000-000000000000/log";
    let taken = house.send(&Request::new("POST", unknown).body("x"));
    let warning = "no run has this task; the line was not kept";
    assert_eq!((taken.status, taken.header("x-semel-warning")), (200, Some(warning)));
    assert_eq!(house.send(&Request::get(unknown)).status, 204);
}

#[test]
fn a_report_says_how_many_of_its_lines_were_dropped() {
    let house = house();
    house.define("t_lines");
    house.start("t_lines");
    let task = house.claim("t_lines");
    let lines = |count: usize| json!(vec![json!({"log": "l"}); count]);
    let mut said = report(&task, "IN_PROGRESS", json!({}));
    for (count, dropped, more_time) in [(10, 0, false), (13, 3, false), (2, 2, true), (0, 0, true)]
    {
        said["logs"] = lines(count);
        said["extendLease"] = json!(more_time);
        for road in ["/api/tasks", "/api/tasks/update-v2"] {
            let answer = house.send(&Request::post(road, &said));
            assert!(answer.status < 300, "{}", answer.text());
            let told = answer.header("x-semel-warning").unwrap_or_default();
            let wanted = if dropped > 0 {
                format!("{dropped} lines of logs were dropped")
            } else {
                String::new()
            };
            assert!(
                told.starts_with(&wanted) && told.is_empty() == (dropped == 0),
                "{count}: {told}"
            );
        }
    }
}

#[test]
fn the_tasks_of_a_run_come_in_pages_and_by_status() {
    let house = house();
    let steps: Vec<_> = (0..20)
        .map(|at| json!({"name": "n", "taskReferenceName": format!("n{at}"), "type": "NOOP"}))
        .chain([json!({"name": "t_paged", "taskReferenceName": "last", "type": "SIMPLE"})])
        .collect();
    let definition = json!({"name": "t_paged", "tasks": steps});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
    let id = house.start("t_paged");
    let page = |query: &str| {
        let found = seen(&format!("workflow/{id}/tasks{query}"));
        let names = found["results"].as_array().into_iter().flatten();
        let names: Vec<_> = names.map(|task| task["referenceTaskName"].clone()).collect();
        (found["totalHits"].as_u64().unwrap_or(0), names)
    };
    assert_eq!(page("").1.len(), 15);
    assert_eq!(page("?start=19&count=5"), (21, vec![json!("n19"), json!("last")]));
    assert_eq!(page("?status=scheduled"), (1, vec![json!("last")]));
    assert_eq!(page("?status=SCHEDULED&status=COMPLETED&count=0"), (21, vec![]));
    let wrong = Request::get(format!("/api/workflow/{id}/tasks?status=DONE"));
    assert_eq!(house.refuses(&wrong).status, 400);
    let negative = Request::get(format!("/api/workflow/{id}/tasks?start=-1"));
    assert_eq!(house.refuses(&negative).status, 400);
}

#[test]
fn what_old_clients_still_ask_for_is_answered() {
    let house = house();
    house.define("t_old");
    house.start("t_old");
    let requeued = house.send(&Request::new("POST", "/api/tasks/queue/requeue/t_old"));
    assert_eq!((requeued.status, requeued.text().as_str()), (200, "1"));
    let acked = house.send(&Request::new("POST", "/api/tasks/some-id/ack?workerid=w"));
    assert_eq!((acked.status, acked.json()), (200, json!(true)));
    assert_eq!(house.send(&Request::get("/api/tasks/queue/t_old/some-id")).status, 200);
}
