//! # Starts by steps are held to the definition of what they start
//!
//! Rules:
//! * docs/reference/idempotency.md#start-keys
//! * docs/reference/idempotency.md#locks-and-concurrency

use semel_engine::{Event, Rerun, Slot};
use semel_model::{ExecutionId, TaskStatus};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{fork, join, payload, with};

fn go(reference: &str, request: Value) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": with(json!({"name": "other"}), request)}})
}

/// A SUB_WORKFLOW step whose child is given `input`.
fn within(reference: &str, param: Value, input: Value) -> Value {
    let param = with(json!({"name": "other"}), param);
    with(sub(reference, "other"), json!({"subWorkflowParam": param, "inputParameters": input}))
}

/// `other` under these words of its definition, and `flow` of these steps.
fn family(other: Value, steps: &[Value]) -> Family {
    Family::of(&[with(named("other", &[once("x")]), other), named("flow", steps)])
}

fn output(family: &Family, run: ExecutionId, reference: &str) -> Value {
    family.execution(run).latest(reference).expect("it was reached").output.value()
}

fn ended(family: &Family, run: ExecutionId, reference: &str) -> (TaskStatus, String) {
    let task = family.execution(run).latest(reference).expect("it was reached").clone();
    (task.status, task.reason.clone().unwrap_or_default())
}

fn existing(key: &str) -> Value {
    json!({"idempotencyKey": key, "idempotencyStrategy": "RETURN_EXISTING"})
}

#[test]
fn another_payload_is_told_of_or_refused() {
    let given = |n: &str| with(existing("k"), json!({"input": {"n": n}}));
    let request = || given("${workflow.input.n}");
    let listed = json!({"idempotency": {"fingerprint": ["input.n"]}});
    for (other, refuses) in [
        (json!({}), false),
        (listed.clone(), true),
        (json!({"idempotency": {"onPayloadMismatch": "FAIL"}}), true),
        (json!({"idempotency": {"fingerprint": ["input.n"], "onPayloadMismatch": "FLAG"}}), false),
    ] {
        let mut family = family(other.clone(), &[go("g", request())]);
        let first = family.start("flow", json!({"n": 1}));
        let run = output(&family, first, "g")["workflowId"].clone();
        let same = family.start("flow", json!({"n": 1.0}));
        assert_eq!(output(&family, same, "g"), json!({"workflowId": run}));
        let second = family.start("flow", json!({"n": 2}));
        let (status, why) = ended(&family, second, "g");
        if refuses {
            assert_eq!(status, TaskStatus::FailedWithTerminalError, "{other}");
            assert!(why.contains(run.as_str().unwrap()) && why.contains("payload"), "{why}");
        } else {
            let flagged = json!({"workflowId": run, "payloadMismatch": true});
            assert_eq!(output(&family, second, "g"), flagged, "{other}");
        }
        family.members.values().for_each(|member| member.replay());
    }
    let ignoring = json!({"idempotency": {"onPayloadMismatch": "IGNORE"}});
    let mut family = family(ignoring, &[go("g", request())]);
    family.start("flow", json!({"n": 1}));
    let second = family.start("flow", json!({"n": 2}));
    assert!(output(&family, second, "g").get("payloadMismatch").is_none());
}

#[test]
fn a_child_with_another_payload_is_watched_or_refused() {
    let step = || within("s", existing("k"), json!({"n": "${workflow.input.n}"}));
    let mut told = family(json!({}), &[step()]);
    told.start("flow", json!({"n": 1}));
    let second = told.start("flow", json!({"n": 2}));
    assert_eq!(ended(&told, second, "s").0, TaskStatus::InProgress);
    let journal = told.run(second).journal.iter().map(|it| String::from_utf8_lossy(it));
    assert!(journal.into_iter().any(|entry| entry.contains(r#""mismatch":true"#)));
    let mut refused = family(json!({"idempotency": {"fingerprint": ["input.n"]}}), &[step()]);
    let first = refused.start("flow", json!({"n": 1}));
    let child = refused.child(first, "s");
    let second = refused.start("flow", json!({"n": 2}));
    let (status, why) = ended(&refused, second, "s");
    assert_eq!(status, TaskStatus::FailedWithTerminalError);
    assert!(why.contains(&child.to_string()), "{why}");
    refused.run(second).replay();
}

#[test]
fn two_branches_of_one_turn_are_compared_too() {
    let request = |n: i32| with(existing("k"), json!({"input": {"n": n}}));
    let (one, two) = ([go("a", request(1))], [go("b", request(2))]);
    let steps = [fork("f", &[&one, &two]), join("j", &["a", "b"])];
    let mut family = family(json!({"idempotency": {"fingerprint": ["input.n"]}}), &steps);
    let run = family.start("flow", json!({}));
    assert_eq!(ended(&family, run, "a").0, TaskStatus::Completed);
    assert_eq!(ended(&family, run, "b").0, TaskStatus::FailedWithTerminalError);
}

#[test]
fn rerun_with_another_input_a_start_under_its_effect_key_is_compared() {
    let listed = json!({"idempotency": {"fingerprint": ["input.n"]}});
    let request = json!({"input": {"n": "${workflow.input.n}"}});
    let mut family = family(listed, &[go("g", request)]);
    let run = family.start("flow", json!({"n": 1}));
    let rerun = Rerun { input: Some(Slot(0)), ..Rerun::default() };
    let again = |family: &mut Family, n: i32| {
        let event = Event::Reran(rerun.clone());
        family.tell(run, event, &[payload(&json!({"n": n}))]).expect("it is run again");
        ended(family, run, "g").0
    };
    assert_eq!(again(&mut family, 1), TaskStatus::Completed);
    assert_eq!(again(&mut family, 2), TaskStatus::FailedWithTerminalError);
}

#[test]
fn a_step_without_a_key_has_that_of_the_definition() {
    let policy = json!({"keyExpression": "${workflow.input.n}", "strategy": "RETURN_EXISTING"});
    let other = || json!({"idempotency": policy.clone()});
    let mut started = family(other(), &[go("g", json!({"input": {"n": "${workflow.input.n}"}}))]);
    let first = started.start("flow", json!({"n": 1}));
    let second = started.start("flow", json!({"n": 1}));
    let third = started.start("flow", json!({"n": 2}));
    let run = |id| output(&started, id, "g")["workflowId"].clone();
    assert_eq!(run(first), run(second));
    assert_ne!(run(first), run(third));
    let id: ExecutionId = run(first).as_str().unwrap().parse().unwrap();
    assert_eq!(started.execution(id).idempotency_key(), Some("1"));
    let nothing = started.start("flow", json!({}));
    let (status, why) = ended(&started, nothing, "g");
    assert_eq!(status, TaskStatus::Failed);
    assert!(why.contains("keyed by ${workflow.input.n}"), "{why}");
    let step = |param: Value| within("s", param, json!({"n": "${workflow.input.n}"}));
    let mut inside = family(other(), &[step(json!({}))]);
    let first = inside.start("flow", json!({"n": 1}));
    let second = inside.start("flow", json!({"n": 1}));
    assert_eq!(inside.child(first, "s"), inside.child(second, "s"));
}

#[test]
fn the_key_of_the_parent_goes_before_that_of_the_definition() {
    let other = json!({"idempotency": {"keyExpression": "order-${workflow.input.n}"}});
    let param = json!({"idempotencyStrategy": "RETURN_EXISTING"});
    let mut family = family(other, &[within("s", param, json!({"n": 1}))]);
    let start = semel_engine::Start {
        idempotency_key: Some("parent".to_owned()),
        ..semel_engine::Start::default()
    };
    let run = family.start_as("flow", json!({}), start);
    let child = family.child(run, "s");
    assert_eq!(family.execution(child).idempotency_key(), Some("parent"));
}

#[test]
fn a_start_beyond_the_limit_begins_nothing() {
    for (policy, status) in [("SKIP", TaskStatus::Completed), ("FAIL", TaskStatus::Failed)] {
        let gate = json!({"concurrency": {"key": "${workflow.input.n}", "policy": policy}});
        let request = json!({"input": {"n": "${workflow.input.n}"}});
        let mut family = family(gate, &[go("g", request)]);
        let first = family.start("flow", json!({"n": 1}));
        let run = output(&family, first, "g")["workflowId"].clone();
        let members = family.members.len();
        let second = family.start("flow", json!({"n": 1}));
        assert_eq!(family.members.len(), members + 1, "{policy}: nothing else was begun");
        let (found, why) = ended(&family, second, "g");
        assert_eq!(found, status, "{policy}");
        if policy == "SKIP" {
            let skipped = json!({"workflowId": run, "skipped": true});
            assert_eq!(output(&family, second, "g"), skipped);
        } else {
            assert!(why.contains("concurrency limit") && why.contains(run.as_str().unwrap()));
        }
        let elsewhere = family.start("flow", json!({"n": 2}));
        assert_eq!(output(&family, elsewhere, "g").get("skipped"), None);
        assert_eq!(ended(&family, elsewhere, "g").0, TaskStatus::Completed);
        family.members.values().for_each(|member| member.replay());
    }
}

#[test]
fn of_two_starts_in_one_turn_one_has_the_place() {
    let gate = json!({"concurrency": {"policy": "SKIP"}});
    let (one, two) = ([go("a", json!({}))], [go("b", json!({}))]);
    let mut family = family(gate, &[fork("f", &[&one, &two]), join("j", &["a", "b"])]);
    let run = family.start("flow", json!({}));
    assert_eq!(family.members.len(), 2);
    let first = output(&family, run, "a")["workflowId"].clone();
    assert_eq!(output(&family, run, "b"), json!({"workflowId": first, "skipped": true}));
}
