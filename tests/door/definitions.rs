//! # Definitions that break a rule: each is refused by name, and none is kept

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::Request;

/// A step with its fields; `r` is its reference unless they say otherwise.
fn step(kind: &str, fields: Value) -> Value {
    let mut step = json!({"name": "n", "taskReferenceName": "r", "type": kind});
    for (name, value) in fields.as_object().into_iter().flatten() {
        step[name] = value.clone();
    }
    step
}

fn workflow(steps: Value) -> Value {
    json!({"name": "broken", "version": 1, "schemaVersion": 2, "tasks": steps})
}

fn simple(fields: Value) -> Value {
    workflow(json!([step("SIMPLE", fields)]))
}

fn with(mut definition: Value, field: &str, value: Value) -> Value {
    definition[field] = value;
    definition
}

/// The path that must be complained about, and the definition.
fn broken_workflows() -> Vec<(&'static str, Value)> {
    let fine = || simple(json!({}));
    let alone = |kind: &str| workflow(json!([step(kind, json!({}))]));
    let inputs = |value: Value| simple(json!({"inputParameters": {"a": value}}));
    let mut broken = vec![
        ("name", with(fine(), "name", json!(""))),
        ("name", with(fine(), "name", json!(null))),
        ("name", with(fine(), "name", json!("nul\0"))),
        ("tasks", workflow(json!([]))),
        ("tasks", workflow(json!(null))),
        ("schemaVersion", with(fine(), "schemaVersion", json!(1))),
        ("schemaVersion", with(fine(), "schemaVersion", json!(null))),
        ("failureWorkflow", with(fine(), "failureWorkflow", json!("nul\0"))),
        (
            "tasks[0].subWorkflowParam.workflowDefinition.tasks",
            workflow(json!([step(
                "SUB_WORKFLOW",
                json!({"subWorkflowParam": {"workflowDefinition": with(fine(), "tasks", json!([]))}})
            )])),
        ),
        ("tasks[0].name", simple(json!({"name": ""}))),
        ("tasks[0].name", simple(json!({"name": "nul\0"}))),
        ("tasks[0].taskReferenceName", simple(json!({"taskReferenceName": null}))),
        ("tasks[0].taskReferenceName", simple(json!({"taskReferenceName": "nul\0"}))),
        ("tasks[0].taskReferenceName", simple(json!({"taskReferenceName": "workflow"}))),
        ("tasks[0].taskReferenceName", simple(json!({"taskReferenceName": "turn__1"}))),
        ("tasks[0].startDelay", simple(json!({"startDelay": -1}))),
        ("tasks[0].taskDefinition.name", simple(json!({"taskDefinition": {"name": "nul\0"}}))),
        ("tasks[0].inputParameters.a", inputs(json!("${nobody.output.x}"))),
        ("tasks[0].inputParameters.a", inputs(json!({"deep": ["${nobody.output.x}"]}))),
        ("tasks[0].inputParameters.a", inputs(json!("${workflow.input[}"))),
        ("tasks[0].inputParameters.a", inputs(json!("${}"))),
        ("tasks[0].type", simple(json!({"type": "nul\0"}))),
    ];
    let twice = json!([step("SIMPLE", json!({})), step("SIMPLE", json!({}))]);
    broken.push(("tasks[1].taskReferenceName", workflow(twice)));
    for (kind, path) in [
        ("EVENT", "tasks[0].sink"),
        ("DECISION", "tasks[0].decisionCases"),
        ("SWITCH", "tasks[0].expression"),
        ("DYNAMIC", "tasks[0].dynamicTaskNameParam"),
        ("FORK_JOIN", "tasks[0].forkTasks"),
        ("FORK_JOIN_DYNAMIC", "tasks[0].dynamicForkTasksParam"),
        ("DO_WHILE", "tasks[0].loopOver"),
        ("SUB_WORKFLOW", "tasks[0].subWorkflowParam"),
        ("HTTP", "tasks[0].inputParameters.http_request"),
        ("KAFKA_PUBLISH", "tasks[0].inputParameters.kafka_request"),
        ("JSON_JQ_TRANSFORM", "tasks[0].inputParameters.queryExpression"),
        ("TERMINATE", "tasks[0].inputParameters.terminationStatus"),
    ] {
        broken.push((path, alone(kind)));
    }
    let both = json!({"inputParameters": {"duration": "1s", "until": "2030-01-01"}});
    broken.push(("tasks[0].inputParameters", workflow(json!([step("WAIT", both)]))));
    broken
}

fn broken_tasks() -> Vec<(&'static str, Value)> {
    let mut broken = vec![
        ("name", json!({})),
        ("name", json!({"name": ""})),
        ("name", json!({"name": "nul\0"})),
        ("responseTimeoutSeconds", json!({"name": "broken", "responseTimeoutSeconds": 0})),
        ("responseTimeoutSeconds", json!({"name": "broken", "timeoutSeconds": 60})),
        (
            "timeoutSeconds",
            json!({"name": "broken", "timeoutSeconds": 60,
            "responseTimeoutSeconds": 60, "totalTimeoutSeconds": 30}),
        ),
        ("backoffScaleFactor", json!({"name": "broken", "backoffScaleFactor": 0})),
    ];
    for field in [
        "retryCount",
        "retryDelaySeconds",
        "responseTimeoutSeconds",
        "pollTimeoutSeconds",
        "maxRetryDelaySeconds",
        "backoffJitterMs",
        "totalTimeoutSeconds",
    ] {
        broken.push((field, json!({"name": "broken", field: -1})));
    }
    broken
}

fn complains_about(house: &House, request: &Request, path: &str) {
    let answer = house.refuses(request);
    let body = answer.json();
    assert_eq!(answer.status, 400, "{request:?}");
    assert_eq!(body["message"], "Validation failed, check below errors for detail.", "{body}");
    let errors = body["validationErrors"].as_array().cloned().unwrap_or_default();
    let found = errors.iter().any(|error| error["path"] == path && error["message"].is_string());
    assert!(found, "{path} is not among {body}");
}

#[test]
fn a_workflow_definition_that_breaks_a_rule_is_refused_by_name() {
    let house = House::own(&[]);
    for (path, definition) in broken_workflows() {
        for target in ["/api/metadata/workflow", "/api/metadata/workflow/validate"] {
            complains_about(&house, &Request::post(target, &definition), path);
        }
        let fine = with(simple(json!({})), "name", json!("fine"));
        let list = Request::new("PUT", "/api/metadata/workflow").json(&json!([fine, definition]));
        complains_about(&house, &list, path);
        let start = json!({"name": "broken", "workflowDef": definition});
        let start = Request::post("/api/workflow", &start);
        complains_about(&house, &start, &format!("workflowDef.{path}"));
    }
    assert_eq!(house.definitions(), (json!([]), json!([])), "all of a list or none of it");
}

#[test]
fn a_task_definition_that_breaks_a_rule_is_refused_by_name() {
    let house = House::own(&[]);
    for (path, definition) in broken_tasks() {
        let list = json!([{"name": "fine"}, definition]);
        complains_about(&house, &Request::post("/api/metadata/taskdefs", &list), path);
        let one = Request::new("PUT", "/api/metadata/taskdefs").json(&definition);
        complains_about(&house, &one, path);
    }
    assert_eq!(house.definitions(), (json!([]), json!([])), "all of a list or none of it");
}

#[test]
fn a_definition_nested_beyond_reason_is_refused() {
    let house = House::own(&[]);
    let mut steps = json!([step("SIMPLE", json!({}))]);
    for depth in 0..60 {
        let fields = json!({"taskReferenceName": format!("r{depth}"), "loopOver": steps,
            "loopCondition": "true"});
        steps = json!([step("DO_WHILE", fields)]);
    }
    let answer = house.refuses(&Request::post("/api/metadata/workflow", &workflow(steps)));
    assert_eq!(answer.status, 400);
    let wide: Vec<Value> = (0..5_000)
        .map(|n| step("SIMPLE", json!({"taskReferenceName": format!("bad{n}__1")})))
        .collect();
    let answer = house.refuses(&Request::post("/api/metadata/workflow", &workflow(json!(wide))));
    assert!(answer.body.len() < 1_000_000, "a complaint of {} bytes", answer.body.len());
    house.is_healthy();
}
