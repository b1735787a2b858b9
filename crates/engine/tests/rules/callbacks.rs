//! # Callbacks: a worker gives a task back for a while
//!
//! Rules:
//! * docs/reference/rules/operations.md#reports
//! * docs/reference/rules/timeouts.md#details
//! * docs/reference/rules/traces.md

use semel_model::TaskResultStatus::InProgress;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

fn one_step(policy: Value) -> Bench {
    let quick = json!({"responseTimeoutSeconds": 0, "retryCount": 0, "timeoutPolicy": "RETRY"});
    Bench::start(flow(&[step("a", with(quick, policy))]), json!({}))
}

/// Claims and gives back with this output, to be seen again after so many seconds.
fn give_back(run: &mut Bench, seconds: i64, output: Value) -> Said {
    let said = run.claim("a", "ann").callback(seconds).output(output);
    let said = Said { status: InProgress, ..said };
    run.report(&said).expect("the holder gives it back");
    said
}

#[test]
fn the_trace_e10_holds() {
    let mut run = one_step(json!({}));
    run.advance(2);
    let first = give_back(&mut run, 5, json!({"p": 50}));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    let row = run.row("a");
    assert_eq!((run.seconds(row.ready_at), row.hand_out.leased), (7, false));
    assert_eq!(row.output.value(), json!({"p": 50}), "the next holder sees it");
    let task = run.attempt("a", 0);
    assert_eq!((task.callback_after_seconds, task.polls), (5, 1));
    assert_eq!(run.seconds(task.started_at), 2);
    run.advance(5);
    let second = run.claim("a", "bob");
    assert_eq!(second.task, first.task);
    let row = run.row("a");
    assert_eq!(row.hand_out.polls, 2);
    assert_eq!(run.seconds(row.hand_out.started_at), 2, "of the first poll");
    run.report(&second.output(json!({"done": true}))).unwrap();
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    let task = run.attempt("a", 0);
    assert_eq!((task.polls, task.worker.as_deref()), (2, Some("bob")));
    assert_eq!(task.output.value(), json!({"done": true}), "an output replaces, it is not merged");
}

#[test]
fn without_a_delay_the_task_can_be_taken_at_once() {
    let mut run = one_step(json!({}));
    give_back(&mut run, 0, json!({}));
    assert_eq!(run.row("a").ready_at, run.now);
    give_back(&mut run, -5, json!({}));
    assert_eq!(run.row("a").ready_at, run.now, "a negative delay is none");
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn giving_back_ends_the_response_timeout_until_the_next_hand_out() {
    let mut run = one_step(json!({"responseTimeoutSeconds": 10}));
    give_back(&mut run, 100, json!({}));
    run.tick(100);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.claim("a", "ann");
    run.tick(10);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
}

#[test]
fn the_run_timeout_spans_the_whole_attempt() {
    let mut run = one_step(json!({"timeoutSeconds": 30}));
    run.advance(5);
    give_back(&mut run, 20, json!({}));
    run.tick(20);
    give_back(&mut run, 60, json!({}));
    run.tick(9);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    assert!(run.reason().contains("Task timed out after 30 seconds."), "{}", run.reason());
}

#[test]
fn the_poll_timeout_counts_again_from_when_the_task_is_visible_again() {
    let mut run = one_step(json!({"pollTimeoutSeconds": 10}));
    run.tick(9);
    give_back(&mut run, 60, json!({}));
    run.tick(69);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
    assert!(run.reason().contains("Task poll timed out after 10 seconds."), "{}", run.reason());
}

#[test]
fn an_identical_repeat_changes_nothing_and_a_different_one_does() {
    let mut run = one_step(json!({}));
    let said = give_back(&mut run, 5, json!({"p": 1}));
    run.advance(3);
    assert_eq!(run.report(&said), Ok(vec![]));
    assert_eq!(run.seconds(run.row("a").ready_at), 5);
    let news = said.output(json!({"p": 2}));
    assert_eq!(run.report(&news).map(|changes| changes.len()), Ok(1));
    assert_eq!(run.attempt("a", 0).output.value(), json!({"p": 2}));
    assert_eq!(run.seconds(run.row("a").ready_at), 8);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_repeat_from_an_earlier_hand_out_is_stale() {
    let mut run = one_step(json!({}));
    let said = give_back(&mut run, 0, json!({"p": 1}));
    run.claim("a", "ann");
    assert!(run.report(&said).is_err());
    assert!(run.row("a").hand_out.leased, "the lease stands");
    run.replay();
}

#[test]
fn a_reason_given_with_progress_is_shown() {
    let mut run = one_step(json!({}));
    let said = run.claim("a", "ann").reason("waiting for the bank").callback(5);
    run.report(&Said { status: InProgress, ..said }).unwrap();
    assert_eq!(run.attempt("a", 0).reason.as_deref(), Some("waiting for the bank"));
    assert_eq!(run.row("a").reason.as_deref(), Some("waiting for the bank"));
    run.replay();
}

#[test]
fn a_huge_delay_saturates() {
    let mut run = one_step(json!({"pollTimeoutSeconds": 10}));
    give_back(&mut run, i64::MAX, json!({}));
    run.tick(1_000_000);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}
