//! # Parts of keys: one that is null, missing or empty makes no key
//!
//! Rules: docs/reference/idempotency.md#parts-of-computed-keys.

use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, with};

fn http(request: Value) -> Value {
    let request = with(json!({"uri": "http://bank", "method": "POST"}), request);
    json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
        "inputParameters": {"http_request": request}})
}

fn begun(step: Value, input: Value) -> Bench {
    Bench::start(flow(&[step]), input)
}

#[test]
fn a_request_is_not_sent_under_a_key_that_strangers_share() {
    for request in [
        json!({"idempotency": {"value": "order-${workflow.input.id}"}}),
        json!({"headers": {"Idempotency-Key": "order-${workflow.input.id}"}}),
        json!({"headers": {"paypal-request-id": "${workflow.input.id}"}}),
        json!({"body": {"idempotency_key": "order-${workflow.input.id}", "amount": 1}}),
        json!({"idempotency": {"bodyField": "ref"}, "body": {"ref": "order-${workflow.input.id}"}}),
        json!({"idempotency": {"header": "X-Op"}, "headers": {"x-op": "order-${workflow.input.id}"}}),
    ] {
        for input in [json!({}), json!({"id": null}), json!({"id": " "}), json!({"id": {}})] {
            let bench = begun(http(request.clone()), input.clone());
            let task = bench.execution.latest("call").expect("it was reached").clone();
            assert_eq!(task.status, TaskStatus::FailedWithTerminalError, "{request} {input}");
            let why = task.reason.clone().unwrap_or_default();
            assert!(why.contains("${workflow.input.id} is null, missing or empty"), "{why}");
            assert!(!task.input.text().contains("order-"), "{}", task.input.text());
            assert_eq!(bench.execution.status(), Some(WorkflowStatus::Failed));
        }
        let bench = begun(http(request.clone()), json!({"id": 7}));
        let task = bench.execution.latest("call").expect("it was reached").clone();
        assert_eq!(task.status, TaskStatus::Scheduled, "{request}");
        assert!(task.input.text().contains('7'), "{}", task.input.text());
    }
}

#[test]
fn a_request_beside_the_inputs_names_its_places_too() {
    let id = "order-${workflow.input.id}";
    for more in [
        json!({"idempotency": {"bodyField": "ref"}, "body": {"ref": id}}),
        json!({"idempotency": {"header": "X-Op"}, "headers": {"X-Op": id}}),
    ] {
        let step = json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
            "inputParameters": with(json!({"uri": "http://bank", "method": "POST"}), more)});
        let bench = begun(step.clone(), json!({}));
        let task = bench.execution.latest("call").expect("it was reached").clone();
        assert_eq!(task.status, TaskStatus::FailedWithTerminalError, "{step}");
        let bench = begun(step, json!({"id": 7}));
        let task = bench.execution.latest("call").expect("it was reached").clone();
        assert_eq!(task.status, TaskStatus::Scheduled);
    }
}

#[test]
fn other_headers_and_fields_may_be_empty() {
    let request = json!({"headers": {"x-note": "n-${workflow.input.id}"}, "body": {"id": "n-${workflow.input.id}"}});
    let bench = begun(http(request), json!({}));
    let task = bench.execution.latest("call").expect("it was reached").clone();
    assert_eq!(task.status, TaskStatus::Scheduled);
    assert!(task.input.text().contains("n-null"), "{}", task.input.text());
}

#[test]
fn a_correlation_that_lacks_a_part_is_none() {
    let step = json!({"name": "go", "taskReferenceName": "go", "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": {"name": "other", "correlationId": "c-${workflow.input.id}"}}});
    let bench = begun(step, json!({}));
    let task = bench.execution.latest("go").expect("it was reached").clone();
    assert_eq!(task.input.value()["startWorkflow"]["correlationId"], json!(null));
}

#[test]
fn an_effect_has_no_key_that_its_parameters_lack_a_part_of() {
    let step = json!({"name": "pay", "taskReferenceName": "pay", "type": "SIMPLE",
        "inputParameters": {"order": "order-${workflow.input.id}", "in": {"a": "x-${workflow.input.id}"}},
        "effect": {"key": "${order}-${in.a}"}});
    let bench = begun(step.clone(), json!({}));
    let task = bench.execution.latest("pay").expect("it was reached").clone();
    assert_eq!(task.status, TaskStatus::FailedWithTerminalError);
    let why = task.reason.clone().unwrap_or_default();
    assert!(why.contains("made of order-${workflow.input.id}"), "{why}");
    let bench = begun(step, json!({"id": 7}));
    assert_eq!(
        bench.execution.latest("pay").expect("it was reached").status,
        TaskStatus::Scheduled
    );
}

#[test]
fn a_name_that_lacks_a_part_fails_the_step() {
    let step = |kind: &str, fields: Value| {
        with(json!({"name": "go", "taskReferenceName": "go", "type": kind}), fields)
    };
    let domains = json!({"pack": "eu-${workflow.input.id}"});
    let request = json!({"startWorkflow": {"name": "other", "taskToDomain": domains}});
    for (step, place) in [
        (step("EVENT", json!({"sink": "conductor:q-${workflow.input.id}"})), "sink"),
        (
            step(
                "SUB_WORKFLOW",
                json!({"subWorkflowParam": {"workflowDefinition": flow(&[]), "taskToDomain": domains}}),
            ),
            "subWorkflowParam.taskToDomain.pack",
        ),
        (
            step("START_WORKFLOW", json!({"inputParameters": request})),
            "startWorkflow.taskToDomain.pack",
        ),
    ] {
        for input in [json!({}), json!({"id": null}), json!({"id": " "})] {
            let bench = begun(step.clone(), input.clone());
            let task = bench.execution.latest("go").expect("it was reached").clone();
            assert_eq!(task.status, TaskStatus::FailedWithTerminalError, "{step} {input}");
            let why = task.reason.clone().unwrap_or_default();
            assert!(why.starts_with(&format!("{place} is ")), "{why}");
            assert!(why.contains("${workflow.input.id} is null, missing or empty"), "{why}");
            assert!(!task.input.text().contains("null-"), "{}", task.input.text());
        }
    }
    let tell = step("EVENT", json!({"sink": "conductor:q-${workflow.input.id}"}));
    let bench = begun(tell, json!({"id": 7}));
    assert_eq!(bench.execution.status(), Some(WorkflowStatus::Completed));
}

#[test]
fn a_dynamic_task_whose_name_lacks_a_part_says_which() {
    let step = json!({"name": "go", "taskReferenceName": "go", "type": "DYNAMIC",
        "dynamicTaskNameParam": "what", "inputParameters": {"what": "resize-${workflow.input.id}"}});
    let bench = begun(step.clone(), json!({}));
    let task = bench.execution.latest("go").expect("it was reached").clone();
    assert_eq!(task.status, TaskStatus::FailedWithTerminalError);
    let why = task.reason.clone().unwrap_or_default();
    let missing = "what is resize-${workflow.input.id}, and ${workflow.input.id} is null, missing";
    assert!(why.contains(missing), "{why}");
    let bench = begun(step, json!({"id": 7}));
    assert_eq!(bench.execution.latest("go").expect("it was reached").step.task_type(), "resize-7");
}

#[test]
fn branches_that_a_fork_has_written_out_have_keys_like_any_other() {
    let start = json!({"name": "other", "idempotencyKey": "p-${workflow.input.id}"});
    let tasks = json!([
        {"name": "a", "taskReferenceName": "a", "type": "SUB_WORKFLOW", "subWorkflowParam": {"name": "other"}},
        {"name": "b", "taskReferenceName": "b", "type": "START_WORKFLOW"},
        {"name": "c", "taskReferenceName": "c", "type": "ACQUIRE_LOCK"}]);
    let listed = |tasks: Value, inputs: Value| {
        json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC",
            "dynamicForkTasksParam": "t", "dynamicForkTasksInputParamName": "i",
            "inputParameters": {"t": tasks, "i": inputs}})
    };
    let each = |kind: &str, element: Value| {
        json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC",
            "inputParameters": {"forkTaskType": kind, "forkTaskInputs": [element]}})
    };
    let oldest = json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC",
        "dynamicForkJoinTasksParam": "all", "inputParameters": {"all": {"dynamicTasks": [
            {"taskName": "b", "referenceName": "b", "type": "START_WORKFLOW", "input": {"startWorkflow": start}}]}}});
    let child = json!([{"name": "a", "taskReferenceName": "a", "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": "other", "idempotencyKey": "o-${workflow.input.id}"}}]);
    let looped = json!([{"name": "l", "taskReferenceName": "l", "type": "DO_WHILE", "loopCondition": "false",
        "loopOver": [{"name": "c", "taskReferenceName": "c", "type": "ACQUIRE_LOCK",
            "inputParameters": {"name": "lock-${workflow.input.id}"}}]}]);
    let acting = json!([{"name": "d", "taskReferenceName": "d", "type": "SIMPLE", "effect": {"key": "e-${workflow.input.id}"}}]);
    for (fork, place) in [
        (listed(child, json!({})), "t.0.subWorkflowParam.idempotencyKey"),
        (listed(acting, json!({})), "t.0.effect.key"),
        (listed(looped, json!({})), "t.0.loopOver.0.inputParameters.name"),
        (
            listed(tasks.clone(), json!({"b": {"startWorkflow": start}})),
            "i.b.startWorkflow.idempotencyKey",
        ),
        (listed(tasks, json!({"c": {"name": "lock-${workflow.input.id}"}})), "i.c.name"),
        (
            listed(json!("${workflow.input.steps}"), json!({"b": {"startWorkflow": start}})),
            "i.b.startWorkflow.idempotencyKey",
        ),
        (
            each("START_WORKFLOW", json!({"startWorkflow": start})),
            "forkTaskInputs.0.startWorkflow.idempotencyKey",
        ),
        (oldest, "all.dynamicTasks.0.input.startWorkflow.idempotencyKey"),
    ] {
        let join = json!({"name": "j", "taskReferenceName": "j", "type": "JOIN"});
        let steps = json!([{"name": "b", "taskReferenceName": "b", "type": "START_WORKFLOW"}]);
        let input = json!({"id": " ", "steps": steps});
        let bench = Bench::start(flow(&[fork.clone(), join.clone()]), input);
        assert_eq!(bench.execution.status(), Some(WorkflowStatus::Failed), "{fork}");
        let task = bench.execution.latest("f").expect("it was reached").clone();
        assert_eq!(task.status, TaskStatus::FailedWithTerminalError, "{fork}");
        let why = task.reason.clone().unwrap_or_default();
        assert!(why.starts_with(&format!("{place} is ")), "{why}");
        assert!(why.contains("${workflow.input.id} is null, missing or empty"), "{why}");
        let bench = Bench::start(flow(&[fork, join]), json!({"id": 7, "steps": steps}));
        let task = bench.execution.latest("f").expect("it was reached").clone();
        assert_eq!(task.status, TaskStatus::Completed, "{:?}", task.reason);
    }
}

#[test]
fn a_request_has_no_address_that_lacks_a_part() {
    let steps = |uri: &str| {
        let flat = json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
            "inputParameters": {"uri": uri, "method": "DELETE"}});
        [("http_request.uri", http(json!({"uri": uri, "method": "DELETE"}))), ("uri", flat)]
    };
    for uri in [
        "http://shop/orders/${workflow.input.id}",
        "http://${workflow.input.id}.shop/orders",
        "http://shop/orders/${workflow.input.id}/lines?all=true",
    ] {
        for (place, step) in steps(uri) {
            let bench = begun(step, json!({"id": null}));
            let task = bench.execution.latest("call").expect("it was reached").clone();
            assert_eq!(task.status, TaskStatus::FailedWithTerminalError, "{uri}");
            let why = task.reason.clone().unwrap_or_default();
            let missing = format!(
                "{place} is {uri}, and ${{workflow.input.id}} is null or missing: there is no address"
            );
            assert_eq!(why, missing);
        }
    }
    for (uri, input) in [
        ("http://shop/orders?of=${workflow.input.id}", json!({})),
        ("http://shop/orders#${workflow.input.id}", json!({})),
        ("${workflow.input.id}", json!({})), // Whoever would send it says that there is none.
        ("http://shop${workflow.input.id}/orders", json!({"id": ""})),
        (
            "http://shop/orders/${workflow.input.l[?(@.x == 1)].id}",
            json!({"l": [{"x": 1, "id": 2}]}),
        ),
    ] {
        for (_, step) in steps(uri) {
            let bench = begun(step, input.clone());
            let task = bench.execution.latest("call").expect("it was reached").clone();
            assert_eq!(task.status, TaskStatus::Scheduled, "{uri}: {:?}", task.reason);
        }
    }
}
