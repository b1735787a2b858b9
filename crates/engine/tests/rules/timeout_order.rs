//! # Several timeouts at once, and the workflow's own
//!
//! Rules: docs/reference/rules/timeouts.md#order-and-policies.

use semel_engine::Change;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

/// Everything is due after ten seconds; the policy decides what each does.
fn all_at_ten(policy: &str) -> Value {
    step(
        "a",
        json!({"totalTimeoutSeconds": 10, "timeoutSeconds": 10, "responseTimeoutSeconds": 10,
            "pollTimeoutSeconds": 10, "timeoutPolicy": policy, "retryCount": 3}),
    )
}

/// A claimed task with all of it due, told by its row's expiry or by the execution's wake.
fn due(definition: Value, by_row: bool) -> Bench {
    let mut run = Bench::start(definition, json!({}));
    let said = run.claim("a", "ann");
    run.advance(10);
    if by_row {
        run.expire(said.task);
    } else {
        run.wake();
    }
    run
}

#[test]
fn the_total_timeout_is_judged_before_all_others_whoever_comes_first() {
    for by_row in [true, false] {
        let run = due(flow(&[all_at_ten("TIME_OUT_WF")]), by_row);
        run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
        assert!(run.reason().contains("exceeded total timeout"), "{}", run.reason());
    }
}

#[test]
fn the_workflow_timeout_is_judged_before_those_of_tasks() {
    let limit = json!({"timeoutSeconds": 10, "timeoutPolicy": "TIME_OUT_WF"});
    for by_row in [true, false] {
        let run = due(with(flow(&[all_at_ten("TIME_OUT_WF")]), limit.clone()), by_row);
        run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
        assert!(run.reason().starts_with("Workflow timed out after 10"), "{}", run.reason());
    }
}

#[test]
fn the_workflow_timeout_is_judged_first_even_when_a_task_was_due_earlier() {
    let limit = json!({"timeoutSeconds": 8, "timeoutPolicy": "TIME_OUT_WF"});
    let early = step("a", json!({"totalTimeoutSeconds": 5, "timeoutPolicy": "TIME_OUT_WF"}));
    let run = due(with(flow(&[early]), limit), false);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
}

#[test]
fn the_run_timeout_is_judged_before_the_response_timeout() {
    let policy = json!({"timeoutSeconds": 10, "responseTimeoutSeconds": 10,
        "timeoutPolicy": "TIME_OUT_WF", "retryCount": 3});
    let run = due(flow(&[step("a", policy)]), true);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    assert!(run.reason().starts_with("Task timed out after 10"), "{}", run.reason());
}

#[test]
fn the_run_timeout_is_judged_before_the_poll_timeout() {
    let policy = json!({"timeoutSeconds": 10, "pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY",
        "retryCount": 0});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    let said = run.claim("a", "ann");
    let given_back =
        crate::shapes::Said { status: semel_model::TaskResultStatus::InProgress, ..said };
    run.report(&given_back).unwrap();
    run.tick(10);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    assert!(run.reason().contains("'Task timed out after 10"), "{}", run.reason());
}

#[test]
fn one_look_judges_all_that_is_due_so_a_second_look_finds_nothing() {
    let policy = json!({"timeoutSeconds": 10, "responseTimeoutSeconds": 10,
        "timeoutPolicy": "ALERT_ONLY", "retryCount": 3});
    let mut run = due(flow(&[step("a", policy)]), true);
    run.reads(&["RUNNING", "a 0 TIMED_OUT", "a 1 SCHEDULED"]);
    let first = run.attempt("a", 0).id;
    assert_eq!(run.expire(first), []);
}

fn limited(policy: &str) -> Value {
    let limit = json!({"timeoutSeconds": 60, "timeoutPolicy": policy});
    with(flow(&[step("a", json!({"responseTimeoutSeconds": 0}))]), limit)
}

#[test]
fn a_workflow_timeout_ends_the_run_and_cancels_what_is_open() {
    let mut run = Bench::start(limited("TIME_OUT_WF"), json!({}));
    run.claim("a", "ann");
    run.tick(59);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(2);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
    let reason = "Workflow timed out after 61 seconds. Timeout configured as 60 seconds. Timeout \
                  policy configured to TIME_OUT_WF";
    assert_eq!(run.reason(), reason);
    assert_eq!(run.execution.failed_task(), None);
    assert_eq!(run.execution.wake_at(), None);
}

#[test]
fn an_alert_of_the_workflow_timeout_is_given_once() {
    let mut run = Bench::start(limited("ALERT_ONLY"), json!({}));
    run.advance(60);
    assert_eq!(run.wake(), [Change::ExecutionAlerted]);
    assert_eq!(run.execution.wake_at(), None);
    assert_eq!(run.wake(), []);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn the_workflow_timeout_counts_from_the_resume() {
    let mut run = Bench::start(limited("TIME_OUT_WF"), json!({}));
    run.tick(50);
    run.pause();
    run.tick(5);
    run.resume();
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(115));
    run.tick(59);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
    assert!(run.reason().starts_with("Workflow timed out after 60 seconds."));
}

#[test]
fn the_workflow_timeout_fires_while_paused_too() {
    let mut run = Bench::start(limited("TIME_OUT_WF"), json!({}));
    run.pause();
    run.tick(60);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
}

#[test]
fn a_wake_before_its_time_changes_nothing() {
    let mut run = Bench::start(limited("TIME_OUT_WF"), json!({}));
    run.advance(59);
    assert_eq!(run.wake(), []);
    assert_eq!(run.execution.wake_at().map(|at| run.seconds(at)), Some(60));
    run.replay();
}
