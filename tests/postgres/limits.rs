//! # Limits: a count of tasks that somebody else holds at the moment

use reqwest::Method;
use semel_tests::postgres;
use semel_tests::process::{Caller, DEADLINE, Server, until};
use serde_json::{Value, json};

use crate::cluster::KEY;

const HOLD: &str = "BEGIN; SELECT 1 FROM limits WHERE task_type = 'work' FOR UPDATE";

fn define(caller: &Caller) {
    let task = json!([{"name": "work", "concurrentExecLimit": 2, "timeoutSeconds": 0}]);
    let step = json!({"name": "work", "taskReferenceName": "work", "type": "SIMPLE"});
    let workflow = json!({"name": "one", "version": 1, "schemaVersion": 2, "tasks": [step]});
    for (path, body) in [("/api/metadata/taskdefs", task), ("/api/metadata/workflow", workflow)] {
        assert_eq!(caller.post(path, &body).unwrap().status, 200);
    }
}

fn claimed(caller: &Caller) -> Value {
    until("there is a task", DEADLINE, || {
        let task = caller.get("/api/tasks/poll/work?workerid=ann").ok()?;
        (task.status == 200).then(|| task.json())
    })
    .unwrap()
}

#[test]
#[ignore = "needs PostgreSQL; run by ./check full"]
fn a_report_that_asks_for_more_counts_once_though_the_limit_is_held_elsewhere() {
    let url = postgres::shared().database().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut server =
        Server::start(directory.path(), &["--store", &url, "--secrets-key", KEY]).unwrap();
    let caller = server.caller().unwrap();
    define(&caller);
    for _ in 0..2 {
        assert_eq!(caller.post("/api/workflow", &json!({"name": "one"})).unwrap().status, 200);
    }
    let task = claimed(&caller);
    let mut elsewhere = postgres::shared().session(&url).unwrap();
    assert_eq!(elsewhere.run(HOLD).unwrap(), "1");
    let report = json!({"workflowInstanceId": task["workflowInstanceId"], "taskId": task["taskId"],
        "status": "COMPLETED", "workerId": "ann", "fenceToken": task["fenceToken"]});
    let answer = caller.ask(Method::POST, "/api/tasks/update-v2", Some(&report)).unwrap();
    assert_eq!((answer.status, answer.header("x-task-update")), (204, None), "{answer:?}");
    elsewhere.run("COMMIT").unwrap();
    let next = claimed(&caller);
    assert_ne!(next["workflowInstanceId"], task["workflowInstanceId"]);
    let again = caller.ask(Method::POST, "/api/tasks/update-v2", Some(&report)).unwrap();
    assert_eq!((again.status, again.header("x-task-update")), (204, Some("REPEATED")), "{again:?}");
    server.stop().unwrap();
}
