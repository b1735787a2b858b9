//! # Pause: reports still count, successors and timeouts wait
//!
//! Rules:
//! * docs/reference/rules/operations.md
//! * docs/reference/rules/timeouts.md#details

use semel_engine::{Event, Rejection, Stop};
use semel_model::TaskResultStatus::{Completed, Failed};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

fn two_steps(policy: Value) -> Value {
    flow(&[step("a", policy), step("b", json!({}))])
}

#[test]
fn a_report_counts_while_paused_and_its_successor_waits_for_the_resume() {
    let mut run = Bench::start(two_steps(json!({})), json!({}));
    let said = run.claim("a", "ann").output(json!({"v": 1}));
    run.pause();
    run.advance(5);
    run.report(&said).unwrap();
    run.reads(&["PAUSED", "a 0 COMPLETED"]);
    assert!(!run.execution.is_consumed(&run.attempt("a", 0)));
    run.advance(5);
    run.resume();
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
    assert!(run.execution.is_consumed(&run.attempt("a", 0)));
    assert_eq!(run.seconds(run.execution.last_resumed_at()), 10);
    assert_eq!(run.seconds(run.attempt("a", 0).ended_at), 5);
}

#[test]
fn a_scheduled_task_is_still_handed_out_while_paused() {
    let mut run = Bench::start(two_steps(json!({})), json!({}));
    run.pause();
    run.complete("a", json!({}));
    run.reads(&["PAUSED", "a 0 COMPLETED"]);
}

#[test]
fn a_failure_while_paused_is_retried_at_the_resume() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 10});
    let mut run = Bench::start(two_steps(policy), json!({}));
    run.pause();
    run.fail("a", Failed, "x");
    run.reads(&["PAUSED", "a 0 FAILED"]);
    run.advance(100);
    run.resume();
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    assert_eq!(run.seconds(run.row("a").ready_at), 110);
}

#[test]
fn a_failure_for_good_while_paused_ends_the_run_at_the_resume() {
    let mut run = Bench::start(two_steps(json!({"retryCount": 0})), json!({}));
    run.pause();
    run.fail("a", Failed, "x");
    run.reads(&["PAUSED", "a 0 FAILED"]);
    run.resume();
    run.reads(&["FAILED", "a 0 FAILED"]);
}

#[test]
fn an_optional_task_that_failed_while_paused_keeps_the_time_it_ended() {
    let optional = with(step("a", json!({"retryCount": 0})), json!({"optional": true}));
    let mut run = Bench::start(flow(&[optional, step("b", json!({}))]), json!({}));
    run.pause();
    run.advance(5);
    run.fail("a", Failed, "x");
    run.advance(60);
    run.resume();
    run.reads(&["RUNNING", "a 0 COMPLETED_WITH_ERRORS", "b 0 SCHEDULED"]);
    assert_eq!(run.seconds(run.attempt("a", 0).ended_at), 5);
}

#[test]
fn the_last_task_completed_while_paused_completes_the_run_at_the_resume() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.pause();
    run.complete("a", json!({"v": 1}));
    run.reads(&["PAUSED", "a 0 COMPLETED"]);
    run.resume();
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"v": 1}));
}

#[test]
fn timeouts_of_tasks_wait_for_the_resume_and_fire_then() {
    for (setting, claimed) in [
        ("responseTimeoutSeconds", true),
        ("timeoutSeconds", true),
        ("pollTimeoutSeconds", false),
        ("totalTimeoutSeconds", false),
    ] {
        let policy = json!({"responseTimeoutSeconds": 0, "timeoutPolicy": "RETRY",
            "retryCount": 0, setting: 10});
        let mut run = Bench::start(two_steps(policy), json!({}));
        let task = run.attempt("a", 0).id;
        if claimed {
            run.claim("a", "ann");
        }
        run.tick(5);
        run.pause();
        run.tick(50);
        assert_eq!((run.expire(task), run.wake()), (vec![], vec![]), "{setting}");
        assert_eq!((run.execution.wake_at(), run.row("a").hand_out.due_at()), (None, None));
        run.reads(&["PAUSED", "a 0 SCHEDULED"]);
        run.resume();
        run.reads(&["RUNNING", "a 0 SCHEDULED"]);
        run.tick(0);
        run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    }
}

#[test]
fn timeouts_not_yet_due_at_the_resume_fire_when_they_are() {
    let policy = json!({"responseTimeoutSeconds": 10, "retryCount": 0});
    let mut run = Bench::start(two_steps(policy), json!({}));
    run.pause();
    run.claim("a", "ann");
    run.tick(5);
    run.resume();
    run.tick(4);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
}

#[test]
fn a_report_in_time_after_the_resume_is_taken() {
    let mut run = Bench::start(two_steps(json!({"responseTimeoutSeconds": 10})), json!({}));
    let said = run.claim("a", "ann");
    run.pause();
    run.tick(100);
    run.report(&said).unwrap();
    run.resume();
    run.tick(0);
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
}

#[test]
fn pausing_twice_is_pausing_once() {
    let mut run = Bench::start(two_steps(json!({})), json!({}));
    run.pause();
    assert_eq!(run.happen(Event::Paused, &[]), Ok(vec![]));
    run.reads(&["PAUSED", "a 0 SCHEDULED"]);
}

#[track_caller]
fn wrong_state(result: Result<Vec<semel_engine::Change>, Stop>, words: &str) {
    let Err(Stop::Rejected(Rejection::WrongState(text))) = result else {
        panic!("refused for its state: {result:?}")
    };
    assert!(text.ends_with(words), "{text}");
}

#[test]
fn only_a_paused_run_can_be_resumed_and_only_an_open_one_paused() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    wrong_state(run.happen(Event::Resumed, &[]), "is RUNNING and cannot be resumed");
    run.complete("a", json!({}));
    wrong_state(run.happen(Event::Resumed, &[]), "is COMPLETED and cannot be resumed");
    wrong_state(run.happen(Event::Paused, &[]), "is COMPLETED and cannot be paused");
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn progress_reported_while_paused_is_kept_and_stays_disarmed() {
    let policy = json!({"pollTimeoutSeconds": 10, "timeoutPolicy": "RETRY", "retryCount": 0});
    let mut run = Bench::start(two_steps(policy), json!({}));
    let said = run.claim("a", "ann");
    run.pause();
    let status = semel_model::TaskResultStatus::InProgress;
    run.report(&Said { status, ..said }.callback(5).output(json!({"p": 1}))).unwrap();
    run.tick(100);
    run.reads(&["PAUSED", "a 0 SCHEDULED"]);
    let said = run.claim("a", "ann");
    assert_eq!(said.status, Completed);
    run.report(&said).unwrap();
    run.resume();
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
}
