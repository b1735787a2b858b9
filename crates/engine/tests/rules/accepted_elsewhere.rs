//! # Definitions that Conductor accepts, and then hangs on or gets wrong
//!
//! Rules: docs/reference/rules/conductor-faults.md#definitions-that-hang-or-go-wrong-in-conductor.
//!
//! Here each of them does what it says, or ends and says why. What is refused when it is registered
//! is among the tests of the rules for that.

use semel_model::TaskStatus::{Completed, FailedWithTerminalError, InProgress};
use semel_model::WorkflowStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, for_each, fork, join, once, repeat, switch, system, with};

/// A choice that ends with a fork; the JOIN stands behind the choice.
fn forking_case(fork: Value, on: &[&str]) -> Value {
    flow(&[switch("s", json!({"go": [fork]}), &[]), join("j", on), once("c")])
}

#[test]
fn a_fork_at_the_end_of_a_case_is_joined_behind_the_choice() {
    let definition = forking_case(fork("f", &[&[once("a")], &[once("b")]]), &["a", "b"]);
    let mut run = Bench::start(definition.clone(), json!({"case": "go"}));
    run.reads(&[
        "RUNNING",
        "s 0 COMPLETED",
        "f 0 COMPLETED",
        "a 0 SCHEDULED",
        "b 0 SCHEDULED",
        "j 0 IN_PROGRESS",
    ]);
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.latest("j").status, InProgress);
    run.complete("b", json!({"x": 2}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}, "b": {"x": 2}}));
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.rerun_from("a");
    run.complete("a", json!({"x": 3}));
    run.complete("b", json!({"x": 2}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 3}, "b": {"x": 2}}));
    run.replay();
    let run = Bench::start(definition, json!({"case": "stay"}));
    run.reads(&["FAILED", "s 0 COMPLETED", "j 0 FAILED_WITH_TERMINAL_ERROR"]);
    let why = run.latest("j").reason.clone().unwrap_or_default();
    assert_eq!(why, "it waits for tasks that will not run: a, b", "nobody waits for ever");
}

#[test]
fn a_dynamic_fork_at_the_end_of_a_case_is_joined_behind_the_choice() {
    let inputs = json!({"forkTaskName": "resize", "forkTaskInputs": [{"w": 1}, {"w": 2}]});
    let definition = forking_case(dynamic_fork("f", inputs), &[]);
    let mut run = Bench::start(definition.clone(), json!({"case": "go"}));
    assert_eq!(run.input_at("j"), json!({"joinOn": ["_resize_0", "_resize_1"]}));
    run.complete("_resize_0", json!({"x": 1}));
    assert_eq!(run.latest("j").status, InProgress);
    run.complete("_resize_1", json!({"x": 2}));
    assert_eq!(run.output_at("j"), json!({"_resize_0": {"x": 1}, "_resize_1": {"x": 2}}));
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
    let run = Bench::start(definition, json!({"case": "stay"}));
    run.reads(&["RUNNING", "s 0 COMPLETED", "j 0 COMPLETED", "c 0 SCHEDULED"]);
}

#[test]
fn a_fork_at_the_end_of_a_branch_is_joined_with_the_outer_one() {
    let inner = fork("inner", &[&[once("a")], &[once("b")]]);
    let outer = fork("outer", &[&[once("x"), inner], &[once("y")]]);
    let steps = [outer, join("j", &["a", "b", "y"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("y", json!({"n": 1}));
    run.complete("x", json!({}));
    run.complete("a", json!({"n": 2}));
    assert_eq!(run.latest("j").status, InProgress);
    run.complete("b", json!({"n": 3}));
    assert_eq!(run.output_at("j"), json!({"a": {"n": 2}, "b": {"n": 3}, "y": {"n": 1}}));
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_join_on_itself_or_on_what_is_behind_it_fails_and_names_it() {
    for on in ["j", "c"] {
        let mut run = Bench::start(flow(&[once("a"), join("j", &["a", on]), once("c")]), json!({}));
        run.complete("a", json!({}));
        run.reads(&["FAILED", "a 0 COMPLETED", "j 0 FAILED_WITH_TERMINAL_ERROR"]);
        let why = run.latest("j").reason.clone().unwrap_or_default();
        assert_eq!(why, format!("it waits for tasks that will not run: {on}"));
    }
}

#[test]
fn a_join_outside_a_loop_on_a_step_inside_it_fails_when_nothing_is_left() {
    let steps = [for_each("l", &[once("x")]), join("j", &["x"])];
    let mut run = Bench::start(flow(&steps), json!({"items": [1]}));
    run.complete("x__1", json!({}));
    run.reads(&["FAILED", "l 0 COMPLETED", "x__1 0 COMPLETED", "j 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn a_join_of_two_forks_at_once_waits_for_the_branches_of_both() {
    let second = [fork("g", &[&[once("b")]]), join("k", &["a", "b"])];
    let steps = [fork("f", &[&[once("a")]]), join("j", &[]), second[0].clone(), second[1].clone()];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("b", json!({}));
    assert_eq!((run.latest("j").status, run.latest("k").status), (Completed, InProgress));
    run.complete("a", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

/// Steps inside a loop are not asked for the fields of their type when they are registered.
#[test]
fn a_step_that_lacks_what_its_type_needs_ends_and_holds_nothing_up() {
    let kinds = [
        "DECISION",
        "DO_WHILE",
        "DYNAMIC",
        "EVENT",
        "EXCLUSIVE_JOIN",
        "FORK_JOIN",
        "FORK_JOIN_DYNAMIC",
        "INLINE",
        "JOIN",
        "JSON_JQ_TRANSFORM",
        "LAMBDA",
        "NOOP",
        "SET_VARIABLE",
        "START_WORKFLOW",
        "SUB_WORKFLOW",
        "SWITCH",
        "TERMINATE",
    ];
    for kind in kinds {
        let body = [system("x", kind, json!({}))];
        let run = Bench::start(flow(&[for_each("l", &body)]), json!({"items": [1]}));
        assert!(run.status().is_terminal(), "{kind}: {:?}", run.story());
        run.replay();
    }
}

#[test]
fn a_loop_that_never_ends_can_be_ended() {
    let body = [system("x", "NOOP", json!({}))];
    let timed = json!({"timeoutSeconds": 60, "timeoutPolicy": "TIME_OUT_WF"});
    let mut run = Bench::start(with(flow(&[repeat("l", &body)]), timed), json!({}));
    for _ in 0..5 {
        run.say("l", json!(true));
    }
    assert_eq!(run.latest("l").iteration(), 6);
    run.tick(60);
    assert_eq!(run.status(), WorkflowStatus::TimedOut);
    assert_eq!(run.execution.open_tasks().count(), 0);
    run.replay();
}

#[test]
fn a_loop_condition_that_is_no_program_fails_the_loop() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("x")])]), json!({}));
    run.complete("x__1", json!({}));
    run.throw("l", "SyntaxError");
    assert_eq!(run.latest("l").status, FailedWithTerminalError);
    assert_eq!(run.status(), WorkflowStatus::Failed);
}
