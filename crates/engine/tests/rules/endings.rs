//! # Endings: terminate, optional, permissive
//!
//! Rules:
//! * docs/reference/rules/operations.md
//! * docs/reference/rules/operations.md#end-of-a-run
//! * docs/reference/rules/progress.md#completion
//! * docs/reference/rules/progress.md#optional-and-permissive-steps

use semel_engine::{Event, Rejection, Stop};
use semel_model::TaskResultStatus::{Canceled, Failed, FailedWithTerminalError};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

fn two_steps() -> Value {
    flow(&[step("a", json!({"retryCount": 0})), step("b", json!({"retryCount": 0}))])
}

/// Two steps, the first marked with these flags and never tried again.
fn marked(flags: Value) -> Bench {
    let first = with(step("a", json!({"retryCount": 0})), flags);
    Bench::start(flow(&[first, step("b", json!({"retryCount": 0}))]), json!({}))
}

#[test]
fn terminating_a_running_run_cancels_what_is_open() {
    let mut run = Bench::start(two_steps(), json!({}));
    run.complete("a", json!({"v": 1}));
    run.claim("b", "ann");
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "a 0 COMPLETED", "b 0 CANCELED"]);
    assert_eq!((run.reason(), run.output()), ("enough", json!({})));
    let cancelled = run.attempt("b", 0);
    assert_eq!((cancelled.worker.as_deref(), cancelled.polls), (Some("ann"), 1));
    assert!(run.rows.is_empty());
    assert_eq!(run.execution.failed_task(), None);
}

#[test]
fn a_terminated_run_has_the_output_its_parameters_give() {
    let definition = with(two_steps(), json!({"outputParameters": {"v": "${a.output.v}"}}));
    let mut run = Bench::start(definition, json!({}));
    run.complete("a", json!({"v": 1}));
    run.terminate("enough").unwrap();
    assert_eq!(run.output(), json!({"v": 1}));
    run.replay();
}

#[test]
fn a_paused_run_can_be_terminated() {
    let mut run = Bench::start(two_steps(), json!({}));
    run.pause();
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
    assert!(matches!(run.happen(Event::Resumed, &[]), Err(Stop::Rejected(_))));
}

#[test]
fn terminating_twice_changes_nothing_and_the_first_reason_stands() {
    let mut run = Bench::start(two_steps(), json!({}));
    run.terminate("first").unwrap();
    assert_eq!(run.terminate("second"), Ok(vec![]));
    assert_eq!(run.reason(), "first");
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
}

#[test]
fn a_completed_run_cannot_be_terminated() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.complete("a", json!({}));
    let refused = run.terminate("late");
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn a_failed_or_timed_out_run_is_relabelled() {
    let mut run = Bench::start(two_steps(), json!({}));
    run.fail("a", Failed, "x");
    run.reads(&["FAILED", "a 0 FAILED"]);
    let failed = run.execution.failed_task();
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "a 0 FAILED"]);
    assert_eq!((run.reason(), run.execution.failed_task()), ("enough", failed));
    let limit = json!({"timeoutSeconds": 1, "timeoutPolicy": "TIME_OUT_WF"});
    let mut run = Bench::start(with(two_steps(), limit), json!({}));
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
}

#[test]
fn a_termination_without_a_reason_has_none() {
    let mut run = Bench::start(two_steps(), json!({}));
    run.happen(Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    assert_eq!(run.execution.reason(), None);
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
}

#[test]
fn a_report_after_the_end_is_stale() {
    let mut run = Bench::start(two_steps(), json!({}));
    let said = run.claim("a", "ann");
    run.terminate("enough").unwrap();
    let late = run.report(&said);
    assert!(matches!(late, Err(Stop::Rejected(Rejection::Stale(_)))), "{late:?}");
    run.reads(&["TERMINATED", "a 0 CANCELED"]);
}

#[test]
fn an_optional_task_that_fails_for_good_is_absorbed() {
    for status in [Failed, FailedWithTerminalError, Canceled] {
        let mut run = marked(json!({"optional": true}));
        run.fail("a", status, "x");
        run.reads(&["RUNNING", "a 0 COMPLETED_WITH_ERRORS", "b 0 SCHEDULED"]);
        assert_eq!(run.attempt("a", 0).reason.as_deref(), Some("x"));
        run.complete("b", json!({}));
        run.reads(&["COMPLETED", "a 0 COMPLETED_WITH_ERRORS", "b 0 COMPLETED"]);
    }
}

#[test]
fn an_optional_task_is_tried_again_first() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let optional = with(step("a", policy), json!({"optional": true}));
    let mut run = Bench::start(flow(&[optional]), json!({}));
    run.fail("a", Failed, "x");
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    run.fail("a", Failed, "y");
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED_WITH_ERRORS"]);
}

#[test]
fn the_trace_e3_holds_for_a_permissive_task() {
    let mut run = marked(json!({"permissive": true}));
    run.fail("a", Failed, "x");
    run.reads(&["RUNNING", "a 0 FAILED", "b 0 SCHEDULED"]);
    run.complete("b", json!({}));
    run.reads(&["FAILED", "a 0 FAILED", "b 0 COMPLETED"]);
    let id = run.attempt("a", 0).id;
    assert_eq!(run.reason(), format!("Task {id} failed with status: FAILED and reason: 'x'"));
    assert_eq!(run.execution.failed_task(), None);
}

#[test]
fn permissive_failures_are_told_together_with_the_status_of_each_task() {
    let permissive = |reference, policy| with(step(reference, policy), json!({"permissive": true}));
    let steps = [
        permissive("z", json!({"retryCount": 1, "retryDelaySeconds": 0})),
        permissive("a", json!({"retryCount": 5})),
    ];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("z", Failed, "one");
    run.fail("z", Failed, "two");
    run.fail("a", FailedWithTerminalError, "three");
    run.reads(&["FAILED", "z 0 FAILED", "z 1 FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
    let (z, a) = (run.attempt("z", 1).id, run.attempt("a", 0).id);
    let reason = format!(
        "Task {z} failed with status: FAILED and reason: 'two'. Task {a} failed with status: \
         FAILED_WITH_TERMINAL_ERROR and reason: 'three'"
    );
    assert_eq!(run.reason(), reason);
}

#[test]
fn optional_wins_over_permissive() {
    let mut run = marked(json!({"permissive": true, "optional": true}));
    run.fail("a", Failed, "x");
    run.complete("b", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED_WITH_ERRORS", "b 0 COMPLETED"]);
}

#[test]
fn a_permissive_task_that_succeeds_at_last_fails_nothing() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let permissive = with(step("a", policy), json!({"permissive": true}));
    let mut run = Bench::start(flow(&[permissive]), json!({}));
    run.fail("a", Failed, "x");
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED"]);
}
