//! # The door: data in disguise, in templates, probes, children and names

use std::time::Duration;

use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::data_in_disguise::{
    BAIT, SECRET, awaited, begin, built, define, finish, is_clean, pass_first, run, simple,
};
use crate::house::{House, report};
use crate::raw::Request;

const DATA: &str = "${workflow.input.bait}";

fn step(kind: &str, more: Value) -> Value {
    let mut step = json!({"name": "mid", "taskReferenceName": "mid", "type": kind});
    for (key, value) in more.as_object().into_iter().flatten() {
        step[key] = value.clone();
    }
    step
}

/// Why a run of that name does not go on.
fn failure(house: &House, name: &str, input: &Value) -> String {
    let id = begin(house, name, input);
    let ended = until("the run to fail", DEADLINE, || {
        let seen = run(house, &id);
        (seen["status"] == "FAILED").then_some(seen)
    });
    ended.expect("it fails")["reasonForIncompletion"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_template_of_a_task_definition_that_is_fed_by_data_is_text() {
    let house = built(&[]);
    let templated = json!([{"name": "g_templated", "inputTemplate":
        {"v": DATA, "in": format!("<{DATA}>"), "deep": [{"x": DATA}], "own": "${workflow.secrets.g_bank}"}}]);
    assert_eq!(house.send(&Request::post("/api/metadata/taskdefs", &templated)).status, 200);
    let spy = simple(
        "g_spy",
        &json!({"v": "${g_templated.input.v}", "x": "${g_templated.input.deep[0].x}"}),
    );
    define(&house, "g_template", &[simple("g_templated", &json!({})), spy], &json!({}));
    let id = begin(&house, "g_template", &json!({"bait": BAIT}));
    let task = awaited(&house, "g_templated");
    let given = json!({"own": SECRET, "v": BAIT, "in": format!("<{BAIT}>"), "deep": [{"x": BAIT}]});
    assert_eq!(task["inputData"], given);
    finish(&house, &task, "COMPLETED", json!({}));
    let spy = awaited(&house, "g_spy");
    assert_eq!(spy["inputData"], json!({"v": BAIT, "x": BAIT}));
    is_clean("a run with a template", &run(&house, &id));
}

#[test]
fn a_probe_that_is_fed_by_data_passes_it_on_as_text() {
    let house = built(&[]);
    let ask = json!({"name": "g_ask", "taskReferenceName": "ask", "type": "SIMPLE", "inputParameters":
        {"v": "${g_charge.input.bait}", "headers": {"X": format!("<{DATA}>")}, "own": "${workflow.secrets.g_bank}"}});
    let mut charge = simple("g_charge", &json!({"bait": DATA}));
    charge["taskDefinition"] = json!({"name": "g_charge", "retryCount": 1, "retryDelaySeconds": 0,
        "timeoutSeconds": 2, "responseTimeoutSeconds": 1});
    charge["effect"] = json!({"key": "${bait}", "scope": "g_probed", "onUnknown": "PROBE", "probe": ask,
        "retentionSeconds": 900});
    define(&house, "g_probes", &[charge], &json!({}));
    let id = begin(&house, "g_probes", &json!({"bait": BAIT}));
    house.claim("g_charge");
    let probe = until("the probe", Duration::from_secs(30), || {
        let polled = house.send(&Request::get("/api/tasks/poll/g_ask?workerid=w"));
        (polled.status == 200).then(|| polled.json())
    });
    let probe = probe.unwrap();
    let given = &probe["inputData"];
    assert_eq!((&given["v"], &given["headers"]["X"]), (&json!(BAIT), &json!(format!("<{BAIT}>"))));
    assert_eq!((&given["own"], &given["_effect"]["key"]), (&json!(SECRET), &json!(BAIT)));
    finish(&house, &probe, "COMPLETED", json!({"applied": true, "output": {"v": BAIT}}));
    let seen = run(&house, &id);
    assert_eq!((&seen["status"], &seen["output"]["v"]), (&json!("COMPLETED"), &json!(BAIT)));
    is_clean("a run with a probe", &seen);
}

#[test]
fn a_definition_in_a_start_has_its_own_secrets_and_its_data_are_text() {
    let house = built(&[]);
    let start = |name: &str, secrets: Value| {
        let spy = simple("g_spy", &json!({"own": "${workflow.secrets.g_bank}", "v": DATA}));
        let own = json!({"name": name, "version": 1, "schemaVersion": 2, "secrets": secrets, "tasks": [spy]});
        let body = json!({"name": name, "workflowDef": own, "input": {"bait": BAIT}});
        let answer = house.send(&Request::post("/api/workflow", &body));
        (answer.status, answer.text())
    };
    let (status, id) = start("g_listed", json!(["g_bank"]));
    assert_eq!(status, 200, "{id}");
    let spy = awaited(&house, "g_spy");
    assert_eq!(spy["inputData"], json!({"own": SECRET, "v": BAIT}));
    finish(&house, &spy, "COMPLETED", json!({}));
    is_clean("a run by its own definition", &run(&house, &id));
    // A list without it counts, too.
    let (status, told) = start("g_unlisted", json!([]));
    let polled = house.send(&Request::get("/api/tasks/poll/g_spy?workerid=w&timeout=200"));
    let handed = if polled.status == 200 { polled.text() } else { String::new() };
    assert!(!handed.contains(SECRET) && !told.contains(SECRET), "{status} {told} {handed}");
}

#[test]
fn keys_and_domains_of_a_child_are_text_and_are_not_looked_at_again() {
    let house = built(&[]);
    let nothing = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP"});
    define(&house, "g_instant", &[nothing], &json!({}));
    let child = step(
        "SUB_WORKFLOW",
        json!({"subWorkflowParam": {"name": "g_instant", "idempotencyKey":
        format!("k-{DATA}"), "idempotencyStrategy": "RETURN_EXISTING", "taskToDomain": {"n": DATA}}}),
    );
    let spy = simple(
        "g_spy",
        &json!({"k": "${mid.input.idempotencyKey}",
        "d": "${mid.input.subWorkflowTaskToDomain.n}"}),
    );
    define(&house, "g_parent", &[simple("g_first", &json!({})), child, spy], &json!({}));
    let id = begin(&house, "g_parent", &json!({"bait": BAIT}));
    pass_first(&house);
    let spy = awaited(&house, "g_spy");
    assert_eq!(spy["inputData"], json!({"k": format!("k-{BAIT}"), "d": BAIT}));
    let seen = run(&house, &id);
    is_clean("a parent", &seen);
    let child = run(&house, seen["tasks"][1]["subWorkflowId"].as_str().unwrap());
    assert_eq!(child["idempotencyKey"], format!("k-{BAIT}"));
    assert_eq!(child["taskToDomain"], json!({"n": BAIT}));
}

#[test]
fn what_data_say_of_the_child_of_a_branch_is_text() {
    let house = built(&[]);
    let nothing = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP"});
    define(&house, "g_instant", &[nothing], &json!({}));
    let fork = step(
        "FORK_JOIN_DYNAMIC",
        json!({"dynamicForkTasksParam": "tasks",
        "dynamicForkTasksInputParamName": "inputs",
        "inputParameters": {"tasks": "${workflow.input.tasks}", "inputs": {}}}),
    );
    let join = json!({"name": "join", "taskReferenceName": "join", "type": "JOIN"});
    define(&house, "g_forks", &[simple("g_first", &json!({})), fork, join], &json!({}));
    let branch = json!({"name": "branch", "taskReferenceName": "branch", "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": "g_instant", "idempotencyKey": BAIT, "taskToDomain": {"n": BAIT}}});
    let id = begin(&house, "g_forks", &json!({"tasks": [branch]}));
    pass_first(&house);
    let seen = run(&house, &id);
    is_clean("a fork", &seen);
    let tasks = seen["tasks"].as_array().into_iter().flatten();
    let branch = tasks.into_iter().find(|task| task["referenceTaskName"] == "branch").unwrap();
    let child = run(&house, branch["subWorkflowId"].as_str().unwrap());
    assert_eq!(child["idempotencyKey"], BAIT);
    assert_eq!(child["taskToDomain"], json!({"n": BAIT}));
}

#[test]
fn the_reason_that_ends_a_run_is_text() {
    let house = built(&[]);
    let end = step(
        "TERMINATE",
        json!({"inputParameters": {"terminationStatus": "FAILED",
        "terminationReason": DATA, "workflowOutput": {"v": DATA}}}),
    );
    define(&house, "g_ends", &[end], &json!({}));
    let id = begin(&house, "g_ends", &json!({"bait": BAIT}));
    let seen = run(&house, &id);
    assert_eq!(
        (&seen["reasonForIncompletion"], &seen["output"]["v"]),
        (&json!(BAIT), &json!(BAIT))
    );
}

#[test]
fn names_that_come_with_the_data_have_the_limits_of_those_in_definitions() {
    let house = built(&[]);
    let long = "n".repeat(256);
    let join = json!({"name": "join", "taskReferenceName": "join", "type": "JOIN"});
    let fork = step(
        "FORK_JOIN_DYNAMIC",
        json!({"dynamicForkTasksParam": "tasks",
        "dynamicForkTasksInputParamName": "inputs",
        "inputParameters": {"tasks": "${workflow.input.tasks}", "inputs": {}}}),
    );
    define(&house, "g_branches", &[fork, join], &json!({}));
    let branch = |name: &str, reference: &str| json!({"tasks": [{"name": name, "taskReferenceName": reference, "type": "SIMPLE"}]});
    for (name, reference, what) in [
        ("a", &*long, "taskReferenceName"),
        (&*long, "a", "name"),
        ("a", "a\nb", "taskReferenceName"),
    ] {
        let why = failure(&house, "g_branches", &branch(name, reference));
        assert!(why.starts_with(&format!("the {what} of a dynamic task must ")), "{why}");
    }
    let dynamic =
        step("DYNAMIC", json!({"dynamicTaskNameParam": "kind", "inputParameters": {"kind": DATA}}));
    define(&house, "g_kinds", &[dynamic], &json!({}));
    let why = failure(&house, "g_kinds", &json!({"bait": long}));
    assert_eq!(why, "kind gives the name of no task: it must have at most 255 characters, not 256");
    let child = step("SUB_WORKFLOW", json!({"subWorkflowParam": {"name": DATA}}));
    define(&house, "g_children", &[child], &json!({}));
    let why = failure(&house, "g_children", &json!({"bait": long}));
    assert!(
        why.contains("subWorkflowParam.name must have at most 255 characters, not 256"),
        "{why}"
    );
    // As long as in a definition.
    let fitting = "n".repeat(255);
    let id = begin(&house, "g_branches", &branch(&fitting, &fitting));
    let task = awaited(&house, &fitting);
    let answer = house.send(&Request::post("/api/tasks", &report(&task, "COMPLETED", json!({}))));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(run(&house, &id)["status"], "COMPLETED");
}
