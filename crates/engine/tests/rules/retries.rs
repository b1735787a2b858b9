//! # Retries: who is tried again, when, and with what (docs/reference/rules/retries.md)

use semel_model::TaskResultStatus::{self, Canceled, Failed, FailedWithTerminalError};
use semel_model::{TaskId, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

/// Seconds between each failure and the attempt that follows it.
fn delays(policy: Value, attempts: usize) -> Vec<i64> {
    let policy = with(json!({"retryCount": 10, "responseTimeoutSeconds": 0}), policy);
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    let mut delays = Vec::new();
    for _ in 0..attempts {
        run.fail("a", Failed, "no");
        delays.push(run.row("a").ready_at.since_ms(run.now) / 1000);
        run.now = run.row("a").ready_at;
    }
    run.replay();
    delays
}

#[test]
fn each_logic_waits_as_the_table_says() {
    let exponential = json!({"retryLogic": "EXPONENTIAL_BACKOFF", "retryDelaySeconds": 1});
    assert_eq!(delays(exponential.clone(), 5), [1, 2, 4, 8, 16]);
    let capped = with(exponential, json!({"maxRetryDelaySeconds": 3}));
    assert_eq!(delays(capped, 4), [1, 2, 3, 3]);
    let linear = json!({"retryLogic": "LINEAR_BACKOFF", "retryDelaySeconds": 1,
        "backoffScaleFactor": 2});
    assert_eq!(delays(linear.clone(), 4), [2, 4, 6, 8]);
    assert_eq!(delays(with(linear, json!({"maxRetryDelaySeconds": 3})), 4), [2, 3, 3, 3]);
    assert_eq!(delays(json!({}), 3), [60, 60, 60]);
    assert_eq!(delays(json!({"retryDelaySeconds": 0}), 3), [0, 0, 0]);
}

#[test]
fn jitter_comes_on_top_of_the_cap() {
    let policy = json!({"retryLogic": "EXPONENTIAL_BACKOFF", "retryDelaySeconds": 2,
        "backoffJitterMs": 500});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.fail("a", Failed, "no");
    let waits_ms = run.row("a").ready_at.since_ms(run.now);
    assert!((2000..=2500).contains(&waits_ms), "{waits_ms}");
    run.replay();
}

/// How many attempts fail before the run does.
fn attempts(policy: Value, over: Value) -> usize {
    let policy = with(json!({"retryDelaySeconds": 0}), policy);
    let mut run = Bench::start(flow(&[with(step("a", policy), over)]), json!({}));
    while run.execution.is_live() {
        run.fail("a", Failed, "no");
    }
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.replay();
    run.execution.task_count()
}

#[test]
fn the_limit_counts_retries_not_attempts_and_the_step_overrides_it() {
    assert_eq!(attempts(json!({"retryCount": 2}), json!({})), 3);
    assert_eq!(attempts(json!({}), json!({})), 4, "three by default");
    assert_eq!(attempts(json!({"retryCount": 0}), json!({})), 1);
    assert_eq!(attempts(json!({"retryCount": 2}), json!({"retryCount": 0})), 1);
    assert_eq!(attempts(json!({"retryCount": 0}), json!({"retryCount": 1})), 2);
    assert_eq!(attempts(json!({"retryCount": 2}), json!({"retryCount": null})), 3);
}

#[test]
fn the_trace_e1_holds() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let definition = flow(&[step("a", policy.clone()), step("b", policy)]);
    let mut run = Bench::start(definition, json!({}));
    run.fail("a", Failed, "x");
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    let (first, second) = (run.attempt("a", 0), run.attempt("a", 1));
    assert!(first.replaced && !run.execution.is_consumed(&first));
    assert_eq!((second.seq, second.replaces), (2, Some(first.id)));
    assert_eq!(second.reason.as_deref(), Some("x"), "visible while it waits");
    run.complete("a", json!({"v": 1}));
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 COMPLETED", "b 0 SCHEDULED"]);
    assert!(run.execution.is_consumed(&run.attempt("a", 1)));
    assert_eq!(run.attempt("a", 1).reason, None);
    run.fail("b", FailedWithTerminalError, "y");
    let all = ["FAILED", "a 0 FAILED", "a 1 COMPLETED", "b 0 FAILED_WITH_TERMINAL_ERROR"];
    run.reads(&all);
    let failed = run.attempt("b", 0).id;
    assert_eq!(run.reason(), format!("Task {failed} failed with status: FAILED and reason: 'y'"));
    assert_eq!(run.execution.failed_task(), Some(failed));
}

#[test]
fn a_new_attempt_begins_from_nothing_but_its_history() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 10});
    let asks = with(
        step("a", policy),
        json!({"inputParameters": {"id": "${CPEWF_TASK_ID}", "before": "${a.output.left}"}}),
    );
    let mut run = Bench::start(flow(&[asks]), json!({}));
    run.advance(3);
    let said = run.claim("a", "ann").output(json!({"left": 5})).reason("no");
    run.report(&crate::shapes::Said { status: Failed, ..said }).unwrap();
    let (first, second) = (run.attempt("a", 0), run.attempt("a", 1));
    assert_eq!(second.id, TaskId::derive(run.execution.id(), 0, "a", 0, 1));
    assert_eq!((second.polls, second.worker.as_deref(), second.fence), (0, None, None));
    assert_eq!((second.started_at.ms(), second.ended_at.ms()), (0, 0));
    assert_eq!(second.output.value(), json!({}));
    assert_eq!(second.callback_after_seconds, 10);
    assert_eq!(run.seconds(second.scheduled_at), 3);
    assert_eq!(run.seconds(second.first_scheduled_at), 0, "of the first attempt");
    assert_eq!(first.input.value(), json!({"id": first.id.to_string(), "before": null}));
    assert_eq!(second.input.value(), json!({"id": second.id.to_string(), "before": 5}));
    run.replay();
}

/// The run after one such report of a task with retries left.
fn ended_by(status: TaskResultStatus) -> Bench {
    let mut run = Bench::start(flow(&[step("a", json!({"retryCount": 5}))]), json!({}));
    run.fail("a", status, "over");
    run
}

#[test]
fn a_terminal_error_is_never_tried_again_and_fails_the_run() {
    let run = ended_by(FailedWithTerminalError);
    run.reads(&["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn a_cancelled_task_is_never_tried_again_and_terminates_the_run() {
    let run = ended_by(Canceled);
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
    let id = run.attempt("a", 0).id;
    let reason = format!("Task {id} failed with status: TERMINATED and reason: 'over'");
    assert_eq!(run.reason(), reason);
}

#[test]
fn the_total_timeout_forbids_a_retry_even_of_an_optional_task_and_for_alert_only() {
    for policy in ["RETRY", "TIME_OUT_WF", "ALERT_ONLY"] {
        let policy = json!({"totalTimeoutSeconds": 20, "timeoutPolicy": policy,
            "retryCount": 5, "retryDelaySeconds": 0});
        let optional = with(step("a", policy), json!({"optional": true}));
        let mut run = Bench::start(flow(&[optional]), json!({}));
        run.advance(5);
        run.fail("a", Failed, "first");
        let said = run.claim("a", "ann").reason("second");
        run.advance(15);
        run.report(&crate::shapes::Said { status: Failed, ..said }).unwrap();
        run.reads(&["FAILED", "a 0 FAILED", "a 1 FAILED"]);
        let id = run.attempt("a", 1).id;
        let reason = format!(
            "Task {id}/a_def exceeded total timeout of 20 seconds (elapsed 20 seconds across all \
             attempts). No further retries will be attempted."
        );
        assert_eq!(run.reason(), reason);
        assert_eq!(run.execution.failed_task(), Some(id));
    }
}

#[test]
fn expressions_see_the_newest_attempt() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let reader = with(
        step("b", json!({})),
        json!({"inputParameters": {"v": "${a.output.v}", "tries": "${a.retryCount}"}}),
    );
    let mut run = Bench::start(flow(&[step("a", policy), reader]), json!({}));
    run.fail("a", Failed, "x");
    run.complete("a", json!({"v": "second"}));
    assert_eq!(run.attempt("b", 0).input.value(), json!({"v": "second", "tries": 1}));
}

#[test]
fn a_failure_without_words_has_an_empty_reason() {
    let mut run = Bench::start(flow(&[step("a", json!({"retryCount": 0}))]), json!({}));
    let said = run.claim("a", "ann");
    run.report(&crate::shapes::Said { status: Failed, ..said }).unwrap();
    let id = run.attempt("a", 0).id;
    assert_eq!(run.reason(), format!("Task {id} failed with status: FAILED and reason: ''"));
}
