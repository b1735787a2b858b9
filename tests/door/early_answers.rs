//! # Answers that come before their tasks, and decisions that come too late

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

/// A worker's step, then a person's, then a WAIT.
fn start(house: &House, name: &str) -> String {
    let step =
        |name: &str, kind: &str| json!({"name": name, "taskReferenceName": name, "type": kind});
    let work = format!("{name}_work");
    let tasks = json!([{"name": work, "taskReferenceName": "work", "type": "SIMPLE"},
        step("approve", "HUMAN"), step("hold", "WAIT")]);
    let put = Request::post(
        "/api/metadata/workflow?overwrite=true",
        &json!({"name": name, "tasks": tasks}),
    );
    assert_eq!(house.send(&put).status, 200);
    house.start(name)
}

fn say(house: &House, id: &str, rest: &str, body: &Value, key: &str) -> Answer {
    let request = Request::post(format!("/api/tasks/{id}/{rest}"), body);
    let request = if key.is_empty() { request } else { request.header("Idempotency-Key", key) };
    house.send(&request)
}

fn signal_of(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("x-signal"))
}

fn run(house: &House, id: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{id}"))).json()
}

fn work(house: &House, name: &str) {
    let task = house.claim(&format!("{name}_work"));
    let done = Request::post("/api/tasks", &report(&task, "COMPLETED", json!({})));
    assert_eq!(house.send(&done).status, 200);
}

#[test]
fn an_early_answer_is_kept_shown_and_given_to_its_task() {
    let house = house();
    let id = start(&house, "e_kept");
    let body = json!({"by": "boss"});
    let kept = say(&house, &id, "approve/COMPLETED?workerid=ann", &body, "e-kept");
    assert_eq!((signal_of(&kept), kept.text().as_str()), ((200, Some("KEPT")), ""));
    let again = say(&house, &id, "approve/COMPLETED?workerid=ann", &body, "e-kept");
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(signal_of(&again), (200, Some("KEPT")));
    let shown = say(&house, &id, "hold/COMPLETED/sync", &json!({"n": 1}), "");
    assert_eq!(signal_of(&shown), (200, Some("KEPT")));
    let kept = &shown.json()["keptAnswers"];
    let of = |at: usize, name: &str| kept[at][name].clone();
    assert_eq!(
        (of(0, "taskReferenceName"), of(0, "status")),
        (json!("approve"), json!("COMPLETED"))
    );
    assert_eq!((of(0, "output"), of(0, "workerId")), (body.clone(), json!("ann")));
    assert_eq!(of(1, "taskReferenceName"), "hold");
    assert!(of(0, "expiresAt").as_i64() > of(0, "receivedAt").as_i64(), "{kept}");
    let explained = house.send(&Request::get(format!("/api/workflow/{id}/explain"))).json();
    let note = |at: usize, name: &str| explained["notes"][at][name].clone();
    assert_eq!((note(0, "kind"), note(1, "kind")), (json!("KEPT_ANSWERS"), json!("KEPT_ANSWERS")));
    assert_eq!(note(0, "taskReferenceName"), "approve", "{explained}");
    work(&house, "e_kept");
    let over = run(&house, &id);
    assert_eq!((&over["status"], over.get("keptAnswers")), (&json!("COMPLETED"), None), "{over}");
    assert_eq!(
        (&over["tasks"][1]["outputData"], &over["tasks"][2]["outputData"]),
        (&body, &json!({"n": 1}))
    );
    let verified = house.send(&Request::new("POST", format!("/api/workflow/{id}/verify")));
    assert_eq!(verified.status, 200, "{}", verified.text());
}

#[test]
fn another_decision_is_refused_and_told_which_one_counts() {
    let house = house();
    let id = start(&house, "e_decided");
    let body = json!({"approved": true});
    assert_eq!(
        signal_of(&say(&house, &id, "approve/COMPLETED?workerid=ann", &body, "")),
        (200, Some("KEPT"))
    );
    let otherwise = json!({"approved": false});
    let early = say(&house, &id, "approve/COMPLETED?workerid=bob", &otherwise, "");
    let winner = &early.json()["metadata"]["winner"];
    assert_eq!((early.status, &early.json()["code"]), (409, &json!("DECISION_CONFLICT")));
    assert_eq!(
        (&winner["kept"], &winner["output"], &winner["workerId"]),
        (&json!(true), &body, &json!("ann"))
    );
    work(&house, "e_decided");
    let late = say(&house, &id, "approve/COMPLETED?workerid=bob", &otherwise, "e-decided");
    let refused = late.json();
    let winner = &refused["metadata"]["winner"];
    assert_eq!((late.status, &refused["code"]), (409, &json!("DECISION_CONFLICT")), "{refused}");
    assert_eq!((&winner["status"], &winner["output"]), (&json!("COMPLETED"), &body));
    assert_eq!(winner["workerId"], "ann");
    assert!(winner["actor"].as_str().is_some_and(|actor| actor.contains("ann")), "{winner}");
    assert!(winner["decidedAt"].is_i64(), "{winner}");
    let task = run(&house, &id)["tasks"][1]["taskId"].clone();
    let result = json!({"status": "COMPLETED", "outputData": otherwise});
    let mut by_id = json!({"taskResult": result});
    by_id["taskResult"]["taskId"] = task.clone();
    for state in [json!({"taskReferenceName": "approve", "taskResult": result}), by_id] {
        let path = format!("/api/workflow/{id}/state?waitForSeconds=1");
        let refused = house.send(&Request::post(path, &state));
        let body = refused.json();
        assert_eq!((refused.status, &body["code"]), (409, &json!("DECISION_CONFLICT")), "{body}");
        assert_eq!(body["metadata"]["winner"]["workerId"], "ann", "{body}");
    }
    let same = say(&house, &id, "approve/COMPLETED?workerid=bob", &body, "");
    assert_eq!((signal_of(&same), json!(same.text())), ((200, Some("REPEATED")), task));
}

#[test]
fn an_answer_that_did_nothing_is_not_kept_under_its_key() {
    let house = house();
    let id = start(&house, "e_nothing");
    let end = Request::new("DELETE", format!("/api/workflow/{id}"));
    assert_eq!(house.send(&end).status, 200);
    let by_name = || say(&house, &id, "approve/COMPLETED", &json!({}), "e-name");
    let signal = || say(&house, &id, "COMPLETED/signal", &json!({}), "e-signal");
    let waiting =
        || say(&house, &id, "COMPLETED/signal/sync?timeoutMillis=1", &json!({}), "e-sync");
    for answer in [by_name(), signal(), waiting()] {
        assert_eq!(signal_of(&answer), (200, Some("NONE")));
        assert!(answer.header("x-semel-warning").is_some());
    }
    assert_eq!(say(&house, &id, "nobody/COMPLETED", &json!({}), "").status, 404);
    let again = Request::new("POST", format!("/api/workflow/{id}/restart"));
    assert_eq!(house.send(&again).status, 204);
    assert_eq!(say(&house, &id, "nobody/COMPLETED", &json!({}), "").status, 404);
    for answer in [by_name(), signal(), waiting()] {
        assert_eq!(signal_of(&answer), (200, Some("KEPT")), "{}", answer.text());
        assert_eq!(answer.header("idempotent-replayed"), Some("false"));
    }
}

#[test]
fn a_signal_for_a_child_that_has_not_begun_is_not_called_kept() {
    let house = house();
    start(&house, "e_below");
    let tasks = json!([{"name": "e_above_work", "taskReferenceName": "work", "type": "SIMPLE"},
        {"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "e_below"}}]);
    let put = Request::post("/api/metadata/workflow", &json!({"name": "e_above", "tasks": tasks}));
    assert_eq!(house.send(&put).status, 200);
    let id = house.start("e_above");
    let signal = || say(&house, &id, "COMPLETED/signal", &json!({"n": 1}), "e-below");
    assert_eq!(signal_of(&signal()), (200, Some("NONE")));
    work(&house, "e_above");
    assert_eq!(signal_of(&signal()), (200, Some("KEPT")), "the child is under way, and keeps it");
    assert_eq!(run(&house, &id).get("keptAnswers"), None);
    assert_eq!(signal_of(&signal()), (200, Some("KEPT")), "the same request, the same answer");
    let child = run(&house, &id)["tasks"][1]["subWorkflowId"].clone();
    let child = run(&house, child.as_str().unwrap_or_default());
    let kept = child["keptAnswers"].as_array().cloned().unwrap_or_default();
    assert_eq!((kept.len(), &kept[0]["output"]), (1, &json!({"n": 1})), "{child}");
}

#[test]
fn a_run_keeps_only_so_much() {
    let house = house();
    let id = start(&house, "e_full");
    let large = json!({"text": "x".repeat(600_000)});
    assert_eq!(signal_of(&say(&house, &id, "COMPLETED/signal", &large, "")), (200, Some("KEPT")));
    let full = say(&house, &id, "COMPLETED/signal", &large, "e-full");
    assert_eq!((full.status, full.header("retry-after")), (429, Some("1")), "{}", full.text());
    assert!(full.text().contains("it takes 100, of 1048576 bytes together"), "{}", full.text());
}
