//! # Retry by hand: what ended unsuccessfully is tried again
//!
//! Rules:
//! * docs/reference/rules/operations.md
//! * docs/reference/rules/operations.md#retry

use semel_engine::{Event, Rejection, Stop};
use semel_model::TaskResultStatus::{Canceled, Failed, FailedWithTerminalError};
use semel_model::{TaskId, Timestamp, WorkflowStatus};
use serde_json::json;

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

fn retry(run: &mut Bench) {
    run.happen(Event::Retried, &[]).expect("a failed run can be retried");
}

#[track_caller]
fn refused(run: &mut Bench) -> Rejection {
    match run.happen(Event::Retried, &[]) {
        Err(Stop::Rejected(rejection)) => rejection,
        other => panic!("it is refused, not {other:?}"),
    }
}

/// Two steps that fail for good at once.
fn two() -> Bench {
    let policy = json!({"retryCount": 0});
    Bench::start(flow(&[step("a", policy.clone()), step("b", policy)]), json!({}))
}

#[test]
fn the_failed_step_gets_a_new_attempt_and_what_was_done_stays_done() {
    let mut run = two();
    run.complete("a", json!({"v": 1}));
    run.fail("b", Failed, "no");
    let done = run.attempt("a", 0);
    run.advance(7);
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 FAILED", "b 1 SCHEDULED"]);
    assert_eq!(run.attempt("a", 0), done);
    let (old, new) = (run.attempt("b", 0), run.attempt("b", 1));
    assert!(old.replaced && !new.replaced);
    assert_eq!(new.replaces, Some(old.id));
    assert_eq!(new.id, TaskId::derive(run.execution.id(), 0, "b", 0, 1));
    assert_eq!((new.reason.as_deref(), new.polls, new.worker.as_deref()), (None, 0, None));
    assert_eq!((new.seq, new.callback_after_seconds), (3, 0));
    assert_eq!(run.reason(), "none");
    assert_eq!(run.seconds(run.execution.last_resumed_at()), 7);
    assert_eq!(run.execution.ended_at(), Timestamp::NOT_YET);
    assert_eq!(run.execution.failed_task(), Some(old.id), "the task that first ended it");
    run.complete("b", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "b 0 FAILED", "b 1 COMPLETED"]);
}

#[test]
fn every_unsuccessful_end_can_be_retried() {
    for status in [Failed, FailedWithTerminalError, Canceled] {
        let mut run = two();
        run.fail("a", status, "no");
        retry(&mut run);
        assert_eq!(run.story().last().map(String::as_str), Some("a 1 SCHEDULED"), "{status}");
        run.replay();
    }
    let mut run = two();
    run.terminate("enough").unwrap();
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 CANCELED", "a 1 SCHEDULED"]);
}

#[test]
fn a_retry_by_hand_has_no_delay_and_resolves_its_input_again() {
    let policy = json!({"retryCount": 0, "retryDelaySeconds": 100});
    let asks = with(
        step("a", policy),
        json!({"startDelay": 50, "inputParameters": {"me": "${CPEWF_TASK_ID}",
            "colour": "${workflow.variables.colour}"}}),
    );
    let mut run = Bench::start(flow(&[asks]), json!({}));
    run.tick(50);
    let blue = crate::shapes::payload(&json!({"colour": "blue"}));
    let variables = semel_engine::Slot(0);
    run.happen(Event::VariablesUpdated { variables }, &[blue]).unwrap();
    run.fail("a", Failed, "no");
    retry(&mut run);
    let again = run.attempt("a", 1);
    assert_eq!(again.ready_at, run.now);
    let input = json!({"me": again.id.to_string(), "colour": "blue"});
    assert_eq!(again.input.value(), input);
    run.replay();
}

#[test]
fn a_retry_by_hand_consumes_the_budget() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.fail("a", FailedWithTerminalError, "no");
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 FAILED_WITH_TERMINAL_ERROR", "a 1 SCHEDULED"]);
    run.fail("a", Failed, "again");
    run.reads(&["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR", "a 1 FAILED"]);
    retry(&mut run);
    run.fail("a", Failed, "and again");
    assert_eq!(run.status(), WorkflowStatus::Failed, "there is no attempt left");
    assert_eq!(run.attempt("a", 2).status.as_str(), "FAILED");
    run.replay();
}

#[test]
fn a_retry_by_hand_starts_the_total_timeout_anew() {
    let policy = json!({"totalTimeoutSeconds": 20, "timeoutPolicy": "TIME_OUT_WF", "retryCount": 0,
        "responseTimeoutSeconds": 0});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.tick(20);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    run.advance(100);
    retry(&mut run);
    assert_eq!(run.seconds(run.attempt("a", 1).first_scheduled_at), 120);
    run.tick(19);
    run.reads(&["RUNNING", "a 0 TIMED_OUT", "a 1 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT", "a 1 TIMED_OUT"]);
}

#[test]
fn a_retry_by_hand_starts_the_workflow_timeout_anew() {
    let limits = json!({"timeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF"});
    let mut run = Bench::start(with(flow(&[step("a", json!({}))]), limits), json!({}));
    run.tick(30);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
    retry(&mut run);
    run.tick(29);
    run.reads(&["RUNNING", "a 0 CANCELED", "a 1 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 CANCELED", "a 1 CANCELED"]);
}

#[test]
fn a_run_that_is_not_over_is_not_found_to_be_retried() {
    let mut run = two();
    let text = "Workflow is still running.  status=RUNNING".to_owned();
    assert_eq!(refused(&mut run), Rejection::NotFound(text));
    run.pause();
    let text = "Workflow is still running.  status=PAUSED".to_owned();
    assert_eq!(refused(&mut run), Rejection::NotFound(text));
}

#[test]
fn a_run_without_a_failed_task_cannot_be_retried() {
    let mut run = two();
    run.complete("a", json!({}));
    run.complete("b", json!({}));
    assert!(matches!(refused(&mut run), Rejection::WrongState(_)));
    let mut empty = Bench::start(flow(&[]), json!({}));
    assert!(matches!(refused(&mut empty), Rejection::WrongState(_)));
    let mut paused = two();
    paused.pause();
    paused.complete("a", json!({}));
    paused.terminate("enough").unwrap();
    assert!(matches!(refused(&mut paused), Rejection::WrongState(_)));
}

#[test]
fn a_run_that_timed_out_with_nothing_to_retry_goes_on_where_it_was() {
    let limits = json!({"timeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF"});
    let steps = [step("a", json!({})), step("b", json!({}))];
    let mut run = Bench::start(with(flow(&steps), limits), json!({}));
    run.pause();
    run.complete("a", json!({}));
    run.tick(30);
    run.reads(&["TIMED_OUT", "a 0 COMPLETED"]);
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
}

#[test]
fn a_permissive_failure_is_retried_with_the_others_and_the_run_goes_on_once() {
    let policy = json!({"retryCount": 0});
    let permissive = with(step("a", policy.clone()), json!({"permissive": true}));
    let steps = [permissive, step("b", policy), step("c", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", Failed, "no");
    run.fail("b", Failed, "no");
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 FAILED", "b 0 FAILED", "a 1 SCHEDULED", "b 1 SCHEDULED"]);
    run.complete("b", json!({}));
    run.complete("a", json!({}));
    let all = ["a 0 FAILED", "b 0 FAILED", "a 1 COMPLETED", "b 1 COMPLETED", "c 0 SCHEDULED"];
    assert_eq!(run.story()[1..], all);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn an_optional_failure_that_was_absorbed_is_not_retried() {
    let policy = json!({"retryCount": 0});
    let optional = with(step("a", policy.clone()), json!({"optional": true}));
    let mut run = Bench::start(flow(&[optional, step("b", policy)]), json!({}));
    run.fail("a", Failed, "no");
    run.fail("b", Failed, "no");
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 COMPLETED_WITH_ERRORS", "b 0 FAILED", "b 1 SCHEDULED"]);
}

#[test]
fn what_an_earlier_holder_says_after_the_retry_is_stale() {
    let mut run = two();
    let said = run.claim("a", "ann");
    run.terminate("enough").unwrap();
    retry(&mut run);
    let late = run.report(&said.output(json!({"late": true})));
    assert!(matches!(late, Err(Stop::Rejected(Rejection::Stale(_)))), "{late:?}");
    run.reads(&["RUNNING", "a 0 CANCELED", "a 1 SCHEDULED"]);
}

#[test]
fn a_run_ended_by_a_terminate_task_comes_to_that_task_again() {
    let policy = json!({"retryCount": 0});
    let permissive = with(step("a", policy), json!({"permissive": true}));
    let end = json!({"name": "end", "taskReferenceName": "end", "type": "TERMINATE",
        "inputParameters": {"terminationStatus": "COMPLETED", "workflowOutput": {"by": "end"}}});
    let steps = [permissive, step("b", json!({})), end, step("never", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", Failed, "no");
    run.complete("b", json!({}));
    run.reads(&["FAILED", "a 0 FAILED", "b 0 COMPLETED", "end 0 COMPLETED"]);
    retry(&mut run);
    run.reads(&["RUNNING", "a 0 FAILED", "b 0 COMPLETED", "a 1 SCHEDULED"]);
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 FAILED", "b 0 COMPLETED", "a 1 COMPLETED", "end 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"by": "end"}));
}

#[test]
fn a_wait_that_is_retried_waits_its_whole_time_again() {
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT",
        "inputParameters": {"duration": "10s"}});
    let mut run = Bench::start(flow(&[wait]), json!({}));
    run.tick(5);
    let id = run.attempt("w", 0).id;
    run.report(&Said::new(id, Failed)).unwrap();
    run.reads(&["FAILED", "w 0 FAILED"]);
    run.advance(100);
    retry(&mut run);
    run.tick(9);
    run.reads(&["RUNNING", "w 0 FAILED", "w 1 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["COMPLETED", "w 0 FAILED", "w 1 COMPLETED"]);
}
