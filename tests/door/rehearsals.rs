//! # `POST /workflow/test`: runs played through, and nothing left of them

use serde_json::{Value, json};

use crate::house::house;
use crate::raw::Request;

fn rehearse(body: &Value) -> Value {
    let answer = house().send(&Request::post("/api/workflow/test", body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn states(run: &Value) -> Vec<String> {
    let tasks = run["tasks"].as_array().expect("tasks");
    let text = |task: &Value| {
        let (name, status) = (&task["referenceTaskName"], &task["status"]);
        format!("{} {}", name.as_str().unwrap_or("?"), status.as_str().unwrap_or("?"))
    };
    tasks.iter().map(text).collect()
}

#[test]
fn a_run_is_played_through_with_the_answers_given() {
    let house = house();
    let inner = json!({"name": "r_inner", "tasks": [
        {"name": "deep", "taskReferenceName": "deep", "type": "SIMPLE"}]});
    let outer = json!({"name": "r_outer", "tasks": [
        {"name": "first", "taskReferenceName": "first", "type": "SIMPLE"},
        {"name": "nap", "taskReferenceName": "nap", "type": "WAIT",
         "inputParameters": {"duration": "30 days"}},
        {"name": "inner", "taskReferenceName": "inner", "type": "SUB_WORKFLOW",
         "subWorkflowParam": {"name": "r_inner"}}],
        "outputParameters": {"deep": "${inner.output.said}", "first": "${first.output.n}"}});
    for definition in [inner, outer] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
    let run = rehearse(&json!({"name": "r_outer", "input": {"a": 1},
        "taskRefToMockOutput": {"first": [
            {"status": "FAILED", "output": {}},
            {"status": "COMPLETED", "output": {"n": 2}, "executionTime": 5000}]},
        "subWorkflowTestRequest": {"inner": {"taskRefToMockOutput":
            {"deep": [{"output": {"said": "hello"}}]}}}}));
    assert_eq!(run["status"], "COMPLETED", "{run}");
    assert_eq!(run["output"], json!({"deep": "hello", "first": 2}));
    let told = ["first FAILED", "first COMPLETED", "nap COMPLETED", "inner COMPLETED"];
    assert_eq!(states(&run), told);
    let id = run["workflowId"].as_str().expect("an id");
    let gone = house.send(&Request::get(format!("/api/workflow/{id}")));
    assert_eq!(gone.status, 404, "nothing of a rehearsal is kept");
    let queue = house.send(&Request::get("/api/tasks/queue/sizes?taskType=first&taskType=deep"));
    assert_eq!(queue.json(), json!({"first": 0, "deep": 0}), "no worker sees it");
}

#[test]
fn a_run_stops_where_no_answer_is_left() {
    let house = house();
    house.define("r_open");
    let run = rehearse(&json!({"name": "r_open"}));
    assert_eq!((&run["status"], states(&run)), (&json!("RUNNING"), vec!["only SCHEDULED".into()]));
    let failed = json!({"name": "r_open", "taskRefToMockOutput":
        {"only": [{"status": "FAILED_WITH_TERMINAL_ERROR"}]}});
    assert_eq!(rehearse(&failed)["status"], "FAILED");
    let unknown = Request::post("/api/workflow/test", &json!({"name": "r_nobody"}));
    assert_eq!(house.refuses(&unknown).status, 404);
    let wrong = json!({"name": "r_open", "taskRefToMockOutput": {"only": [{"status": "DONE"}]}});
    assert_eq!(house.refuses(&Request::post("/api/workflow/test", &wrong)).status, 400);
}

fn simple(reference: &str) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "SIMPLE"})
}

#[test]
fn a_loop_is_rehearsed_turn_by_turn() {
    let house = house();
    let inner = json!({"name": "r_turn_child", "tasks": [simple("deep")]});
    let child = json!({"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
        "startDelay": 30, "subWorkflowParam": {"name": "r_turn_child"}});
    let around = json!({"name": "r_loop", "tasks": [
        {"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE",
         "loopCondition": "$.loop['iteration'] < 2", "loopOver": [simple("a"), child]},
        simple("z")]});
    for definition in [inner, around] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
    let run = rehearse(&json!({"name": "r_loop",
        "taskRefToMockOutput": {"a": [{"output": {"n": 1}}], "a__2": [{"output": {"n": 2}}],
            "z": [{}]},
        "subWorkflowTestRequest": {"child": {"taskRefToMockOutput": {"deep": [{}, {}]}}}}));
    assert_eq!(run["status"], "COMPLETED", "{run}");
    let told = [
        "loop COMPLETED",
        "a__1 COMPLETED",
        "child__1 COMPLETED",
        "a__2 COMPLETED",
        "child__2 COMPLETED",
        "z COMPLETED",
    ];
    assert_eq!(states(&run), told);
    assert_eq!(run["tasks"][3]["outputData"], json!({"n": 2}), "the name of the turn comes first");
}

#[test]
fn a_fork_is_rehearsed_branch_by_branch_and_stops_where_an_answer_is_missing() {
    let house = house();
    let fork = json!({"name": "fork", "taskReferenceName": "fork", "type": "FORK_JOIN",
        "forkTasks": [[simple("a1"), simple("a2")], [simple("b1"), simple("b2")]]});
    let join = json!({"name": "join", "taskReferenceName": "join", "type": "JOIN",
        "joinOn": ["a2", "b2"]});
    let definition = json!({"name": "r_fork", "tasks": [fork, join, simple("z")]});
    let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    assert_eq!(house.send(&put).status, 200);
    let mut mocks = json!({"a1": [{}], "a2": [{}], "b1": [{}], "b2": [{}], "z": [{}]});
    let run = rehearse(&json!({"name": "r_fork", "taskRefToMockOutput": mocks}));
    assert_eq!(run["status"], "COMPLETED", "{run}");
    mocks["a1"] = json!([]);
    let run = rehearse(&json!({"name": "r_fork", "taskRefToMockOutput": mocks}));
    assert_eq!(run["status"], "RUNNING", "{run}");
    let told =
        ["fork COMPLETED", "a1 SCHEDULED", "b1 COMPLETED", "join IN_PROGRESS", "b2 COMPLETED"];
    assert_eq!(states(&run), told, "everything that has an answer was answered");
}
