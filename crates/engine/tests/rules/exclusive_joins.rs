//! # EXCLUSIVE_JOIN (docs/reference/rules/task-types.md#exclusive_join)

use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, noop, once, switch, system, with};

/// A SWITCH over the run's input and an EXCLUSIVE_JOIN behind it.
fn exclusive(input: Value, fields: Value) -> Bench {
    let cases = json!({"x": [once("a")], "y": [once("b")], "p": [with(once("q"), json!({"permissive": true}))]});
    let choice = switch("s", cases, &[once("d")]);
    let fields =
        with(json!({"joinOn": ["a", "b", "q"], "defaultExclusiveJoinTask": ["d"]}), fields);
    let join = system("j", "EXCLUSIVE_JOIN", fields);
    Bench::start(flow(&[choice, join, once("c")]), input)
}

#[test]
fn an_exclusive_join_takes_the_output_of_the_branch_that_ran() {
    for (case, head) in [("x", "a"), ("y", "b")] {
        let mut run = exclusive(json!({"case": case}), json!({}));
        run.complete(head, json!({"of": head}));
        assert_eq!(run.latest("j").status, TaskStatus::Completed);
        assert_eq!(run.output_at("j"), json!({"of": head}));
        run.complete("c", json!({}));
        assert_eq!(run.status(), WorkflowStatus::Completed);
        run.replay();
    }
}

#[test]
fn an_exclusive_join_looks_at_its_defaults_when_none_of_its_own_has_begun() {
    let mut run = exclusive(json!({"case": "z"}), json!({}));
    run.complete("d", json!({"of": "d"}));
    assert_eq!(run.output_at("j"), json!({"of": "d"}));
    run.replay();
}

#[test]
fn an_exclusive_join_waits_for_the_first_of_its_names_that_has_begun() {
    let fork = fork("f", &[&[once("a")], &[once("b")], &[once("d")]]);
    let fields = json!({"joinOn": ["b", "a"], "defaultExclusiveJoinTask": ["d"]});
    let exclusive = system("x", "EXCLUSIVE_JOIN", fields);
    let steps = [fork, join("j", &[]), exclusive];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({"of": "a"}));
    assert_eq!(run.latest("x").status, TaskStatus::InProgress, "b comes first in its list");
    let mut other = run.clone();
    run.complete("b", json!({"of": "b"}));
    assert_eq!(run.output_at("x"), json!({"of": "b"}));
    other.complete("d", json!({"of": "d"}));
    assert_eq!(other.output_at("x"), json!({"of": "d"}), "a default that is over wins");
    other.replay();
}

#[test]
fn an_exclusive_join_steps_over_what_was_skipped() {
    let fork = fork("f", &[&[noop("n"), once("h"), once("a")], &[once("b")]]);
    let exclusive = system("x", "EXCLUSIVE_JOIN", json!({"joinOn": ["a", "b"]}));
    let mut run = Bench::start(flow(&[fork, join("j", &["b"]), exclusive]), json!({}));
    run.skip("a").unwrap();
    run.complete("b", json!({"of": "b"}));
    assert_eq!(run.output_at("x"), json!({"of": "b"}));
    run.complete("h", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_permissive_failure_lets_an_exclusive_join_end_and_fails_the_run_at_its_end() {
    let mut run = exclusive(json!({"case": "p"}), json!({}));
    run.fail("q", Failed, "no");
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Failed);
    assert!(run.reason().contains(&run.latest("q").id.to_string()));
    run.replay();
}

#[test]
fn an_exclusive_join_whose_names_never_begin_fails_when_nothing_else_is_left() {
    let run = exclusive(json!({"case": "z"}), json!({"defaultExclusiveJoinTask": []}));
    let mut run = run;
    run.complete("d", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::FailedWithTerminalError);
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.replay();
}
