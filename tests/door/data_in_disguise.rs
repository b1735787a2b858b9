//! # The door: data in disguise
//!
//! Every place where a text is put together from other texts, given data that looks like an expression. Each
//! definition lists the secret, so nothing but the rule that data is text keeps it inside.

use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::Request;

pub(crate) const SECRET: &str = "hunter-in-disguise";
pub(crate) const ENVIRONMENT: &str = "environment-in-disguise";
const OTHER: &str = "output-of-another-step";
/// What a stranger types into a form.
pub(crate) const BAIT: &str =
    "${workflow.secrets.g_bank} ${workflow.env.g_env} ${g_first.output.token}";

pub(crate) fn built(options: &[&str]) -> House {
    let house = House::own(options);
    house.send(&Request::new("PUT", "/api/secrets/g_bank").body(SECRET));
    house.send(&Request::new("PUT", "/api/environment/g_env").body(ENVIRONMENT));
    house
}

pub(crate) fn simple(name: &str, input: &Value) -> Value {
    json!({"name": name, "taskReferenceName": name, "type": "SIMPLE", "inputParameters": input})
}

pub(crate) fn define(house: &House, name: &str, tasks: &[Value], more: &Value) {
    let mut definition = json!({"name": name, "version": 1, "schemaVersion": 2, "secrets": ["g_bank"],
        "tasks": tasks});
    for (key, value) in more.as_object().into_iter().flatten() {
        definition[key] = value.clone();
    }
    let sent = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    let answer = house.send(&sent);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

pub(crate) fn begin(house: &House, name: &str, input: &Value) -> String {
    let body = json!({"name": name, "input": input, "correlationId": BAIT});
    let answer = house.send(&Request::post("/api/workflow", &body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

pub(crate) fn finish(house: &House, task: &Value, status: &str, output: Value) {
    let answer = house.send(&Request::post("/api/tasks", &report(task, status, output)));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// A task that may be made a moment later, by a message or a child.
pub(crate) fn awaited(house: &House, kind: &str) -> Value {
    let path = format!("/api/tasks/poll/{kind}?workerid=w&timeout=5000");
    let polled = house.send(&Request::get(path));
    assert_eq!(polled.status, 200, "{kind}: {}", polled.text());
    polled.json()
}

/// The first step of each run, whose output nobody may reach by data.
pub(crate) fn pass_first(house: &House) {
    let first = house.claim("g_first");
    finish(house, &first, "COMPLETED", json!({"token": OTHER, "bait": BAIT}));
}

pub(crate) fn run(house: &House, id: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{id}"))).json()
}

/// Nothing of what is protected stands in it.
pub(crate) fn is_clean(what: &str, found: &Value) {
    let text = found.to_string();
    for hidden in [SECRET, ENVIRONMENT] {
        assert!(!text.contains(hidden), "{what}: {text}");
    }
}

/// A task that a worker has taken: it was given nothing of another step either.
pub(crate) fn is_given_nothing(what: &str, task: &Value) {
    is_clean(what, task);
    assert!(!task.to_string().contains(OTHER), "{what}: {task}");
}

#[test]
fn steps_of_the_server_pass_data_on_as_text() {
    let house = built(&[]);
    let bait = "${workflow.input.bait}";
    let code = |kind: &str, input: Value| json!({"name": "mid", "taskReferenceName": "mid", "type": kind, "inputParameters": input});
    let cases = [
        (
            "inline",
            code(
                "INLINE",
                json!({"evaluatorType": "javascript", "expression": "$.bait + ''", "bait": bait}),
            ),
            "${mid.output.result}",
        ),
        (
            "jq",
            code("JSON_JQ_TRANSFORM", json!({"queryExpression": ".bait", "bait": bait})),
            "${mid.output.result}",
        ),
        ("variable", code("SET_VARIABLE", json!({"kept": bait})), "${workflow.variables.kept}"),
        (
            "copied",
            code("SET_VARIABLE", json!({"kept": "${g_first.output.bait}"})),
            "${workflow.variables.kept}",
        ),
        ("noop", code("NOOP", json!({"kept": bait})), "${mid.input.kept}"),
        (
            "switch",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "SWITCH", "evaluatorType": "value-param",
            "expression": "which", "inputParameters": {"which": bait}, "decisionCases": {"no": [simple("g_no", &json!({}))]},
            "defaultCase": []}),
            "${mid.input.which}",
        ),
        (
            "loop",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "DO_WHILE", "loopCondition":
            "$.mid['iteration'] < 1", "inputParameters": {"bait": bait}, "loopOver": [
                {"name": "in", "taskReferenceName": "in", "type": "SET_VARIABLE", "inputParameters": {"kept": bait}}]}),
            "${workflow.variables.kept}",
        ),
        ("correlation", code("NOOP", json!({})), "${workflow.correlationId}"),
        (
            "event",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "EVENT", "sink": "conductor"}),
            "${mid.output.correlationId}",
        ),
        ("output", code("NOOP", json!({})), "${g_first.output.bait}"),
    ];
    for (name, step, spied) in cases {
        let name = format!("g_{name}");
        let spy = simple("g_spy", &json!({"v": spied, "in": format!("[{spied}]")}));
        let output = json!({"outputParameters": {"v": spied, "own": bait}});
        define(&house, &name, &[simple("g_first", &json!({})), step, spy], &output);
        let id = begin(&house, &name, &json!({"bait": BAIT}));
        pass_first(&house);
        let spy = awaited(&house, "g_spy");
        assert_eq!(spy["inputData"], json!({"v": BAIT, "in": format!("[{BAIT}]")}), "{name}");
        finish(&house, &spy, "COMPLETED", json!({}));
        let output = run(&house, &id)["output"].clone();
        assert_eq!(output, json!({"v": BAIT, "own": BAIT}), "{name}");
        let verified = house.send(&Request::new("POST", format!("/api/workflow/{id}/verify")));
        assert_eq!(verified.status, 200, "{name}: {}", verified.text());
    }
}

#[test]
fn programs_that_are_made_of_data_or_throw_it_ask_for_nothing() {
    let house = built(&[]);
    let script = |expression: &str| {
        json!({"name": "mid", "taskReferenceName": "mid", "type": "INLINE", "optional": true,
            "inputParameters": {"evaluatorType": "javascript", "expression": expression,
                "bait": "${workflow.input.bait}"}})
    };
    let jq = |program: &str| {
        json!({"name": "mid", "taskReferenceName": "mid", "type": "JSON_JQ_TRANSFORM", "optional": true,
            "inputParameters": {"queryExpression": program, "bait": "${workflow.input.bait}"}})
    };
    let cases = [
        ("g_source", script("'${workflow.input.bait}'"), "${mid.output.result}"),
        ("g_throws", script("throw $.bait"), "${mid.output.error}"),
        ("g_program", jq("\"${workflow.input.bait}\""), "${mid.output.result}"),
        ("g_errs", jq(".bait | error"), "${mid.output.error}"),
    ];
    for (name, step, spied) in cases {
        let spy = simple("g_spy", &json!({"v": spied, "in": format!("<{spied}>")}));
        define(&house, name, &[simple("g_first", &json!({})), step, spy], &json!({}));
        let id = begin(&house, name, &json!({"bait": BAIT}));
        pass_first(&house);
        let spy = awaited(&house, "g_spy");
        is_given_nothing(name, &spy);
        let said = spy["inputData"]["v"].to_string();
        assert!(said.contains(BAIT) && !said.contains("$${"), "{name}: {spy}");
        finish(&house, &spy, "COMPLETED", json!({}));
        is_clean(name, &run(&house, &id));
    }
}

#[test]
fn what_a_listener_hears_of_a_run_is_text() {
    let house = built(&[]);
    let spies = json!({"v": "${workflow.input.v}", "o": "${workflow.input.o}"});
    define(&house, "g_heard", &[simple("g_spy", &spies)], &json!({}));
    let handler = json!({"name": "g_listens", "event": "conductor:g_listened:_status", "active": true,
        "condition": "$.status == 'COMPLETED'", "actions": [{"action": "start_workflow",
            "start_workflow": {"name": "g_heard", "input": {"v": "${correlationId}", "o": "${output.own}"}}}]});
    let heard = house.send(&Request::post("/api/event", &handler));
    assert_eq!(heard.status, 200, "{}", heard.text());
    let more = json!({"workflowStatusListenerEnabled": true,
        "outputParameters": {"own": "${workflow.input.bait}"}});
    define(&house, "g_listened", &[simple("g_first", &json!({}))], &more);
    begin(&house, "g_listened", &json!({"bait": BAIT}));
    pass_first(&house);
    let spy = awaited(&house, "g_spy");
    assert_eq!(spy["inputData"], json!({"v": BAIT, "o": BAIT}));
}

#[test]
fn steps_and_definitions_that_come_as_data_ask_for_nothing() {
    let house = built(&[]);
    let step = |reference: &str| {
        json!({"name": "g_spy", "taskReferenceName": reference, "type": "SIMPLE",
        "inputParameters": {"v": BAIT, "whole": "${workflow.secrets.g_bank}", "env": "${workflow.env.g_env}",
            "other": "${g_first.output.token}", "far": "${workflow.input.l.concat($.g_first.output.token)}"},
        "taskDefinition": {"name": "g_spy", "runtimeMetadata": ["g_bank", "g_env"]}})
    };
    let looped = json!({"name": "loop", "taskReferenceName": "loop", "type": "DO_WHILE",
        "loopCondition": "$.loop['iteration'] < 1", "loopOver": [step("x")]});
    let inline = json!({"name": "g_given", "version": 1, "schemaVersion": 2, "secrets": ["g_bank"],
        "tasks": [{"name": "g_spy", "taskReferenceName": "x", "type": "SIMPLE", "inputParameters": {
            "whole": "${workflow.secrets.g_bank}", "env": "${workflow.env.g_env}"},
            "taskDefinition": {"name": "g_spy", "runtimeMetadata": ["g_bank", "g_env"]}}]});
    let input = json!({"tasks": [step("x")], "inputs": {"x": {"w": BAIT}}, "definition": inline,
        "looped": [looped], "none": {}, "l": [], "kind": "g_spy", "bait": BAIT});
    let cases = [
        (
            "g_fork",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "FORK_JOIN_DYNAMIC",
            "dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs",
            "inputParameters": {"tasks": "${workflow.input.tasks}", "inputs": "${workflow.input.inputs}"}}),
        ),
        (
            "g_fork_inside",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "FORK_JOIN_DYNAMIC",
            "dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs",
            "inputParameters": {"tasks": "${workflow.input.looped}", "inputs": "${workflow.input.none}"}}),
        ),
        (
            "g_forked_name",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "FORK_JOIN_DYNAMIC",
            "inputParameters": {"forkTaskName": "${workflow.input.kind}",
                "forkTaskInputs": [{"v": "${workflow.input.bait}"}]}}),
        ),
        (
            "g_sub",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "g_given", "workflowDefinition": "${workflow.input.definition}"},
            "inputParameters": {}}),
        ),
        (
            "g_start",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "START_WORKFLOW",
            "inputParameters": {"startWorkflow": {"name": "g_given",
                "workflowDef": "${workflow.input.definition}"}}}),
        ),
        (
            "g_dynamic",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "DYNAMIC",
            "dynamicTaskNameParam": "kind", "inputParameters": {"kind": "${workflow.input.kind}",
                "v": "${workflow.input.bait}"}}),
        ),
    ];
    for (name, step) in cases {
        let mut tasks = vec![simple("g_first", &json!({})), step];
        if name.starts_with("g_fork") {
            tasks.push(json!({"name": "join", "taskReferenceName": "join", "type": "JOIN"}));
        }
        define(&house, name, &tasks, &json!({}));
        let id = begin(&house, name, &input);
        pass_first(&house);
        let taken = awaited(&house, "g_spy");
        is_given_nothing(name, &taken);
        is_clean(name, &run(&house, &id));
        finish(&house, &taken, "COMPLETED", json!({"said": taken["inputData"]}));
        is_clean(name, &run(&house, &id));
    }
}

#[test]
fn what_one_run_gives_another_is_text() {
    let house = built(&[]);
    let spies = json!({"v": "${workflow.input.v}", "c": "${workflow.correlationId}", "in": "<${workflow.input.v}>"});
    define(&house, "g_child", &[simple("g_spy", &spies)], &json!({}));
    let bait = "${workflow.input.bait}";
    let cases = [
        (
            "g_by_sub",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": "g_child"}, "inputParameters": {"v": bait}}),
        ),
        (
            "g_by_start",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "START_WORKFLOW", "inputParameters":
            {"startWorkflow": {"name": "g_child", "input": {"v": bait}, "correlationId": bait}}}),
        ),
        (
            "g_by_event",
            json!({"name": "mid", "taskReferenceName": "mid", "type": "EVENT", "sink": "conductor:g_told",
            "inputParameters": {"v": bait}}),
        ),
    ];
    let handler = json!({"name": "g_hears", "event": "conductor:g_by_event:g_told", "active": true, "actions": [
        {"action": "start_workflow", "start_workflow": {"name": "g_child", "correlationId": "${v}",
            "input": {"v": "${v}"}}}]});
    let heard = house.send(&Request::post("/api/event", &handler));
    assert_eq!(heard.status, 200, "{}", heard.text());
    for (name, step) in cases {
        define(&house, name, &[simple("g_first", &json!({})), step], &json!({}));
        begin(&house, name, &json!({"bait": BAIT}));
        pass_first(&house);
        let spy = awaited(&house, "g_spy");
        assert_eq!(spy["inputData"]["v"], BAIT, "{name}");
        assert_eq!(spy["inputData"]["in"], format!("<{BAIT}>"), "{name}");
        is_given_nothing(name, &spy);
        finish(&house, &spy, "COMPLETED", json!({}));
    }
    // What a failure is told of is data, too.
    let told = json!({"reason": "${workflow.input.reason}", "v": "${workflow.input.failedWorkflow.input.bait}"});
    define(&house, "g_after", &[simple("g_spy", &told)], &json!({}));
    let after = json!({"failureWorkflow": "g_after"});
    define(&house, "g_fails", &[simple("g_first", &json!({}))], &after);
    begin(&house, "g_fails", &json!({"bait": BAIT}));
    let first = house.claim("g_first");
    let mut failed = report(&first, "FAILED_WITH_TERMINAL_ERROR", json!({}));
    failed["reasonForIncompletion"] = json!(BAIT);
    assert_eq!(house.send(&Request::post("/api/tasks", &failed)).status, 200);
    let polled = house.send(&Request::get("/api/tasks/poll/g_spy?workerid=w&timeout=5000"));
    assert_eq!(polled.status, 200);
    is_clean("a failure workflow", &polled.json());
    assert!(
        polled.json()["inputData"]["reason"].to_string().contains("${workflow.secrets.g_bank}")
    );
}
