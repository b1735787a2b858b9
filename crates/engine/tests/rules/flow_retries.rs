//! # Retries by hand inside forks, loops and choices (docs/reference/rules/operations.md#retry)

use semel_model::TaskResultStatus::{Failed, FailedWithTerminalError};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, fork, join, noop, once, repeat, switch, terminate, with};

/// Two branches of two steps each, a JOIN and a step behind it.
fn branches() -> Vec<Value> {
    let fork = fork("f", &[&[once("a"), once("a2")], &[once("b"), once("b2")]]);
    vec![fork, join("j", &["a2", "b2"]), once("c")]
}

fn forked() -> Bench {
    Bench::start(flow(&branches()), json!({}))
}

fn finish(run: &mut Bench, names: &[&str]) {
    names.iter().for_each(|name| run.complete(name, json!({"of": name})));
    run.replay();
}

#[test]
fn retry_tries_what_failed_and_what_was_cancelled_again_and_the_join_waits_on() {
    let mut run = forked();
    run.complete("a", json!({}));
    run.fail("b", Failed, "no");
    run.reads(&[
        "FAILED",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 FAILED",
        "j 0 CANCELED",
        "a2 0 CANCELED",
    ]);
    let join = run.latest("j").id;
    run.retry().unwrap();
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 FAILED",
        "j 0 IN_PROGRESS",
        "a2 0 CANCELED",
        "b 1 SCHEDULED",
        "a2 1 SCHEDULED",
    ]);
    assert_eq!(run.latest("j").id, join, "in place");
    finish(&mut run, &["a2", "b", "b2", "c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.output_at("j"), json!({"a2": {"of": "a2"}, "b2": {"of": "b2"}}));
}

#[test]
fn retry_after_a_permissive_failure_puts_the_failed_join_back() {
    let a = with(once("a"), json!({"permissive": true}));
    let steps = [fork("f", &[&[a], &[once("b")]]), join("j", &["a", "b"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", Failed, "no");
    run.complete("b", json!({"y": 1}));
    assert_eq!(run.latest("j").status, TaskStatus::Failed);
    run.retry().unwrap();
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 FAILED",
        "b 0 COMPLETED",
        "j 1 IN_PROGRESS",
        "a 1 SCHEDULED",
    ]);
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}, "b": {"y": 1}}));
    finish(&mut run, &["c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn what_a_successful_branch_leads_to_is_not_lost_when_another_ended_the_run() {
    let fork = fork("f", &[&[once("a"), once("a2")], &[once("b")]]);
    let mut run = Bench::start(flow(&[fork, join("j", &["a2", "b"])]), json!({}));
    run.pause();
    run.complete("a", json!({}));
    run.terminate("enough").unwrap();
    run.retry().unwrap();
    assert_eq!(run.latest("a2").status, TaskStatus::Scheduled);
    finish(&mut run, &["a2", "b"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn retry_of_a_loop_goes_on_in_the_turn_it_was_in() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("x"), once("y")])]), json!({}));
    finish(&mut run, &["x__1", "y__1"]);
    run.say("l", json!(true));
    run.complete("x__2", json!({}));
    run.fail("y__2", FailedWithTerminalError, "no");
    assert_eq!(run.latest("l").status, TaskStatus::Canceled);
    run.retry().unwrap();
    run.reads(&[
        "RUNNING",
        "l 0 IN_PROGRESS",
        "x__1 0 COMPLETED",
        "y__1 0 COMPLETED",
        "x__2 0 COMPLETED",
        "y__2 0 FAILED_WITH_TERMINAL_ERROR",
        "y__2 1 SCHEDULED",
    ]);
    run.complete("y__2", json!({}));
    run.say("l", json!(true));
    assert_eq!(run.latest("x__3").attempt, 0, "each turn has its own attempts");
    finish(&mut run, &["x__3", "y__3"]);
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn retry_after_a_condition_that_threw_asks_it_again() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("x")])]), json!({}));
    run.complete("x__1", json!({}));
    run.throw("l", "no");
    run.retry().unwrap();
    run.reads(&["RUNNING", "l 1 IN_PROGRESS", "x__1 0 COMPLETED"]);
    run.say("l", json!(false));
    run.reads(&["COMPLETED", "l 1 COMPLETED", "x__1 0 COMPLETED"]);
}

#[test]
fn retry_after_a_permissive_failure_in_a_body_tries_the_task_and_the_loop_again() {
    let x = with(once("x"), json!({"permissive": true}));
    let mut run = Bench::start(flow(&[repeat("l", &[x, once("y")])]), json!({}));
    run.fail("x__1", Failed, "no");
    run.complete("y__1", json!({}));
    run.retry().unwrap();
    run.complete("x__1", json!({}));
    run.say("l", json!(false));
    run.reads(&[
        "COMPLETED",
        "l 1 COMPLETED",
        "x__1 0 FAILED",
        "y__1 0 COMPLETED",
        "x__1 1 COMPLETED",
    ]);
}

#[test]
fn retry_of_a_fork_that_could_not_be_made_makes_it_anew() {
    let fan = dynamic_fork(
        "fan",
        json!({"forkTaskName": "x", "forkTaskInputs": "${workflow.variables.v}"}),
    );
    let mut run = Bench::start(flow(&[noop("n"), fan.clone(), join("j", &[])]), json!({}));
    run.reads(&["FAILED", "n 0 COMPLETED"]);
    run.retry().unwrap();
    run.reads(&["FAILED", "n 0 COMPLETED"]);
    run.replay();
    let mut first = Bench::start(flow(&[fan, join("j", &[])]), json!({}));
    first.reads(&["FAILED"]);
    assert!(first.retry().is_err(), "it has not begun any task; restart it");
}

#[test]
fn retry_of_a_fork_whose_input_was_too_large_begins_it_anew() {
    let big = json!({"inputParameters": {"x": "${workflow.input.x}", "y": "${workflow.input.x}"}});
    let steps = [with(fork("f", &[&[once("a")]]), big), join("j", &["a"])];
    let large = "x".repeat(6 * 1024 * 1024);
    let mut run = Bench::start(flow(&steps), json!({"x": large}));
    assert_eq!(run.latest("f").status, TaskStatus::FailedWithTerminalError);
    run.retry().unwrap();
    assert_eq!(run.status(), WorkflowStatus::Failed, "it is too large again, and says so");
    assert_eq!(run.latest("f").attempt, 1);
}

#[test]
fn a_terminate_in_a_branch_comes_again_when_all_else_that_was_retried_is_over() {
    let stop = terminate("t", "FAILED");
    let steps = [fork("f", &[&[once("a"), stop], &[once("b")]]), join("j", &["t", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    assert_eq!(run.latest("b").status, TaskStatus::Canceled);
    run.retry().unwrap();
    assert_eq!(run.status(), WorkflowStatus::Running);
    assert!(run.execution.latest("t").is_none());
    run.complete("b", json!({}));
    run.reads(&[
        "FAILED",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 CANCELED",
        "j 0 CANCELED",
        "b 1 COMPLETED",
        "t 0 COMPLETED",
    ]);
}

#[test]
fn a_terminate_at_the_head_of_a_branch_or_a_case_does_not_come_before_the_rest_either() {
    let stop = terminate("t", "FAILED");
    let choice = switch("s", json!({"x": [stop]}), &[]);
    for head in [terminate("t", "FAILED"), choice] {
        let late = [once("b")];
        let steps = [fork("f", &[&late, std::slice::from_ref(&head)]), join("j", &["b"])];
        let mut run = Bench::start(flow(&steps), json!({"case": "x"}));
        assert_eq!(run.latest("b").status, TaskStatus::Canceled);
        run.retry().unwrap();
        assert_eq!(run.status(), WorkflowStatus::Running, "{head}");
        run.complete("b", json!({}));
        assert_eq!((run.status(), run.output()), (WorkflowStatus::Failed, json!({"k": 1})));
        run.replay();
    }
}
