//! # Definitions: what registration says of what only a run would be told of
//!
//! Each road of registration and the lint say it. What runs is in `warnings`.

use std::time::Duration;

use semel_tests::process::until;
use serde_json::{Value, json};

use crate::house::house;
use crate::raw::Request;
use crate::warnings::{step, warns, workflow};

fn looped(inner: &Value) -> Value {
    let body = json!({"loopCondition": "false", "loopOver": [inner]});
    json!([step("u_loop", "DO_WHILE", body)])
}

#[test]
fn what_a_loop_hides_is_registered_with_a_warning_and_fails_in_words() {
    let house = &house();
    for (name, inner, words, ending) in [
        (
            "u_event",
            step("e", "EVENT", json!({})),
            "sink field is required",
            "Invalid / Unsupported sink specified",
        ),
        (
            "u_wait",
            step("w", "WAIT", json!({"inputParameters": {"duration": "xyz"}})),
            "Unable to parse duration: xyz",
            "Not a duration: xyz",
        ),
        (
            "u_switch",
            step("s", "SWITCH", json!({"expression": "x", "decisionCases": {"a": []}})),
            "evaluatorType field is required",
            "No evaluator registered for type",
        ),
        (
            "u_jq",
            step("q", "JSON_JQ_TRANSFORM", json!({})),
            "queryExpression field is required",
            "Missing 'queryExpression'",
        ),
        (
            "u_python",
            step(
                "p",
                "INLINE",
                json!({"inputParameters": {"expression": "1",
            "evaluatorType": "python"}}),
            ),
            "no evaluator python",
            "Unknown evaluator 'python'",
        ),
    ] {
        let definition = workflow(name, looped(&inner));
        warns(house, &definition, "W-RUN-1", words);
        let id = house.start(name);
        let reason = until("the run to end", Duration::from_secs(20), || {
            let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
            let reason = run["reasonForIncompletion"].as_str().map(str::to_owned);
            reason.filter(|_| run["status"] == "FAILED")
        });
        let reason = reason.expect("it fails");
        assert!(reason.contains(ending), "{name}: {reason}");
    }
}

#[test]
fn what_only_a_run_is_told_of_is_said_at_the_outermost_steps_too() {
    let house = &house();
    for (at, (kind, fields, words)) in [
        ("INLINE", json!({}), "is required: the program"),
        (
            "SWITCH",
            json!({"evaluatorType": "foo", "expression": "x", "decisionCases": {"a": []}}),
            "no evaluator foo",
        ),
        ("START_WORKFLOW", json!({}), "is required: it says what to start"),
        ("ACQUIRE_LOCK", json!({}), "name must be the name of a lock"),
        ("HTTP", json!({"inputParameters": {"http_request": "x"}}), "must be an object"),
        ("HTTP", json!({"inputParameters": {"uri": "http://a"}}), "method is required"),
        ("http", json!({}), "is HTTP meant?"),
        ("MCP_REMOTE", json!({}), "not in this release"),
    ]
    .into_iter()
    .enumerate()
    {
        let steps = json!([step("u", kind, fields)]);
        warns(house, &workflow(&format!("u_plain_{at}"), steps), "W-RUN-1", words);
    }
}

#[test]
fn what_changes_nothing_and_what_is_null_is_said() {
    let house = &house();
    let child = json!([step("u_child", "SIMPLE", json!({}))]);
    for (at, (kind, fields, code, words)) in [
        ("NOOP", json!({"startDelay": 5}), "W-RUN-2", "runs when it is reached"),
        ("SIMPLE", json!({"forkTasks": [child]}), "W-RUN-2", "the steps inside never run"),
        (
            "HTTP",
            json!({"inputParameters": {"http_request": {"uri": "http://a", "method": "GET",
            "oauthConsumerKey": "k"}}}),
            "W-RUN-2",
            "without effect in this release",
        ),
        (
            "HTTP",
            json!({"inputParameters": {"http_request": {"uri": "http://a", "method": "GET",
            "bodyy": "k"}}}),
            "W-RUN-3",
            "is body meant?",
        ),
        (
            "START_WORKFLOW",
            json!({"inputParameters": {"startWorkflow": {"name": "a",
            "idempotencykey": "k"}}}),
            "W-RUN-3",
            "is idempotencyKey meant?",
        ),
        (
            "ACQUIRE_LOCK",
            json!({"inputParameters": {"name": "a", "leaseSecondss": 1}}),
            "W-RUN-3",
            "is leaseSeconds meant?",
        ),
        (
            "SIMPLE",
            json!({"inputParameters": {"x": "${workflow.inptu.x}"}}),
            "W-RUN-4",
            "is input meant?",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let steps = json!([step("u", kind, fields)]);
        warns(house, &workflow(&format!("u_idle_{at}"), steps), code, words);
    }
    let mut definition = workflow("u_idle", json!([step("u", "SIMPLE", json!({}))]));
    definition["outputParameters"] = json!({"r": "${nope.output.x}"});
    warns(house, &definition, "W-RUN-4", "there is no step nope");
    definition["timeoutSeconds"] = json!(-5);
    warns(house, &definition, "W-RUN-2", "-5 is no timeout");
    definition["rateLimitConfig"] = json!({"concurrentExecLimit": -1});
    let refused = house.refuses(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("must be >= 0"), "{}", refused.text());
}

#[test]
fn a_task_definition_is_told_what_of_it_changes_nothing() {
    let house = &house();
    let task = json!({"name": "u_task", "isolationGroupId": "g", "concurrentExecLimit": -1});
    let made = house.send(&Request::post("/api/metadata/taskdefs", &json!([task])));
    let updated = house.send(&Request::new("PUT", "/api/metadata/taskdefs").json(&task));
    for answer in [made, updated] {
        assert_eq!(answer.status, 200);
        let said = answer.header("x-semel-warning").unwrap_or_default();
        assert!(
            said.contains("isolationGroupId: is kept") && said.contains("-1 is no limit"),
            "{said}"
        );
    }
}
