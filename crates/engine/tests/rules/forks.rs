//! # FORK_JOIN
//!
//! Rules:
//! * docs/reference/rules/task-types.md#fork_join
//! * docs/reference/rules/progress.md#successor-of-a-step
//! * docs/reference/rules/progress.md#completion

use semel_engine::{Rejection, Stop};
use semel_model::TaskResultStatus::{Failed, FailedWithTerminalError};
use semel_model::TaskStatus::{Canceled, Completed};
use semel_model::WorkflowStatus;
use serde_json::json;

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, noop, once, step, switch, system, terminate, with};

/// Two branches, the first of two steps, a JOIN and a step behind it.
fn two() -> Bench {
    let fork = fork("f", &[&[once("a"), once("a2")], &[once("b")]]);
    Bench::start(flow(&[fork, join("j", &["a2", "b"]), once("c")]), json!({}))
}

#[test]
fn the_fork_the_heads_of_its_branches_and_the_join_begin_together_in_this_order() {
    let run = two();
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "b 0 SCHEDULED", "j 0 IN_PROGRESS"]);
    let seqs: Vec<u32> = run.execution.tasks().map(|task| task.seq).collect();
    assert_eq!(seqs, [1, 2, 3, 4]);
    assert_eq!(run.latest("f").step.task_type(), "FORK");
    assert_eq!(run.output_at("f"), json!({}));
    assert_eq!(run.rows.len(), 2, "workers are offered the heads and nothing else");
}

#[test]
fn the_input_of_a_fork_is_resolved() {
    let given = json!({"inputParameters": {"x": "${workflow.input.x}"}});
    let fork = with(fork("f", &[&[once("a")]]), given);
    let run = Bench::start(flow(&[fork, join("j", &["a"])]), json!({"x": 1}));
    assert_eq!(run.input_at("f"), json!({"x": 1}));
}

#[test]
fn each_branch_goes_on_by_itself() {
    let mut run = two();
    run.complete("a", json!({}));
    assert_eq!(run.rows.len(), 2);
    run.complete("a2", json!({"v": 1}));
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 SCHEDULED",
        "j 0 IN_PROGRESS",
        "a2 0 COMPLETED",
    ]);
    run.complete("b", json!({"v": 2}));
    assert_eq!(run.output_at("j"), json!({"a2": {"v": 1}, "b": {"v": 2}}));
    run.complete("c", json!({"o": 1}));
    assert_eq!((run.status(), run.output()), (WorkflowStatus::Completed, json!({"o": 1})));
    run.replay();
}

#[test]
fn a_fork_that_no_join_follows_fails_the_run() {
    for steps in [vec![], vec![once("c")]] {
        let steps = [vec![fork("f", &[&[once("a")]])], steps].concat();
        let run = Bench::start(flow(&steps), json!({}));
        run.reads(&["FAILED"]);
        let why = "Fork task definition is not followed by a join task.  Check the blueprint";
        assert_eq!(run.reason(), why);
        assert_eq!(run.execution.failed_task(), None, "as in Conductor it never became a task");
        run.replay();
    }
}

#[test]
fn an_empty_branch_is_nothing_to_do() {
    let steps = [fork("f", &[&[], &[once("b")]]), join("j", &["b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("b", json!({}));
    run.reads(&["COMPLETED", "f 0 COMPLETED", "b 0 COMPLETED", "j 0 COMPLETED"]);
    let run = Bench::start(flow(&[fork("f", &[]), join("j", &[])]), json!({}));
    run.reads(&["COMPLETED", "f 0 COMPLETED", "j 0 COMPLETED"]);
}

#[test]
fn a_branch_that_nobody_joins_holds_back_the_end_but_not_what_is_behind_the_join() {
    let steps = [fork("f", &[&[once("a")], &[once("b")]]), join("j", &["a"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    run.complete("c", json!({}));
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 SCHEDULED",
        "j 0 COMPLETED",
        "c 0 COMPLETED",
    ]);
    run.complete("b", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn a_failure_in_one_branch_ends_the_run_and_cancels_the_others_and_the_join() {
    let mut run = two();
    run.fail("b", Failed, "no");
    run.reads(&["FAILED", "f 0 COMPLETED", "a 0 CANCELED", "b 0 FAILED", "j 0 CANCELED"]);
    assert_eq!(run.execution.failed_task(), Some(run.latest("b").id));
    assert!(run.rows.is_empty());
}

#[test]
fn a_fork_inside_a_branch_is_joined_before_the_branch_goes_on() {
    let inner = [fork("g", &[&[once("x")], &[once("y")]]), join("k", &["x", "y"]), once("z")];
    let steps = [fork("f", &[&inner, &[once("b")]]), join("j", &["z", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    for name in ["y", "b", "x"] {
        run.complete(name, json!({}));
    }
    assert_eq!(run.latest("k").status, Completed);
    run.complete("z", json!({"v": 1}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.output_at("j"), json!({"z": {"v": 1}}));
    run.replay();
}

#[test]
fn branches_that_end_at_once_are_joined_in_the_same_decision() {
    let steps = [fork("f", &[&[noop("a"), noop("a2")], &[noop("b")]]), join("j", &["a2", "b"])];
    let run = Bench::start(flow(&steps), json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.count(Completed), 5);
    assert_eq!(run.journal.len(), 1);
    run.replay();
}

#[test]
fn an_optional_failure_in_a_branch_is_absorbed_and_the_branch_goes_on() {
    let a = with(once("a"), json!({"optional": true}));
    let steps = [fork("f", &[&[a, once("a2")], &[once("b")]]), join("j", &["a2", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", FailedWithTerminalError, "no");
    run.complete("a2", json!({}));
    run.complete("b", json!({}));
    run.reads(&[
        "COMPLETED",
        "f 0 COMPLETED",
        "a 0 COMPLETED_WITH_ERRORS",
        "b 0 COMPLETED",
        "j 0 COMPLETED",
        "a2 0 COMPLETED",
    ]);
}

#[test]
fn a_permissive_failure_in_a_branch_lets_it_go_on_and_fails_the_run_at_its_end() {
    let a = with(once("a"), json!({"permissive": true}));
    let steps = [fork("f", &[&[a, once("a2")], &[once("b")]]), join("j", &["a2", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", Failed, "no");
    run.complete("a2", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Running);
    run.complete("b", json!({}));
    run.reads(&[
        "FAILED",
        "f 0 COMPLETED",
        "a 0 FAILED",
        "b 0 COMPLETED",
        "j 0 COMPLETED",
        "a2 0 COMPLETED",
    ]);
    let why = format!("Task {} failed with status: FAILED and reason: 'no'", run.latest("a").id);
    assert_eq!(run.reason(), why);
    assert_eq!(run.execution.failed_task(), None);
}

#[test]
fn a_branch_that_is_retried_goes_on_when_its_new_attempt_has_ended() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 5});
    let steps = [fork("f", &[&[step("a", policy), once("a2")]]), join("j", &["a2"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("a", Failed, "no");
    run.tick(5);
    run.complete("a", json!({}));
    run.complete("a2", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

/// E7 in docs/reference/rules/traces.md.
#[test]
fn a_terminate_in_one_branch_ends_the_run_and_cancels_the_others() {
    let stop = terminate("t", "COMPLETED");
    let steps = [fork("f", &[&[once("a"), stop], &[once("b")]]), join("j", &["t", "b"])];
    let definition = with(flow(&steps), json!({"outputParameters": {"x": 1}}));
    let mut run = Bench::start(definition, json!({}));
    let late = run.claim("b", "bob");
    run.complete("a", json!({}));
    run.reads(&[
        "COMPLETED",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 CANCELED",
        "j 0 CANCELED",
        "t 0 COMPLETED",
    ]);
    assert_eq!(run.output(), json!({"k": 1}), "although there are outputParameters");
    let refused = run.report(&late);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Stale(_)))), "{refused:?}");
}

#[test]
fn a_terminate_at_the_head_of_a_branch_leaves_later_branches_unbegun() {
    let steps =
        [fork("f", &[&[once("a")], &[terminate("t", "FAILED")], &[once("b")]]), join("j", &[])];
    let run = Bench::start(flow(&steps), json!({}));
    run.reads(&["FAILED", "f 0 COMPLETED", "a 0 CANCELED", "t 0 COMPLETED"]);
    assert_eq!(run.execution.failed_task(), Some(run.latest("t").id));
}

#[test]
fn a_failure_in_one_branch_is_not_forgotten_because_another_terminates_in_the_same_moment() {
    let wrong = terminate("a", "MAYBE");
    let steps = [fork("f", &[&[wrong], &[terminate("t", "COMPLETED")]]), join("j", &[])];
    let run = Bench::start(flow(&steps), json!({}));
    run.reads(&["FAILED", "f 0 COMPLETED", "a 0 FAILED", "t 0 CANCELED"]);
    let mut run = Bench::start(
        flow(&[
            fork("f", &[&[once("b"), terminate("t", "COMPLETED")], &[once("a")]]),
            join("j", &["a"]),
        ]),
        json!({}),
    );
    run.pause();
    run.complete("b", json!({}));
    run.fail("a", Failed, "no");
    run.resume();
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.replay();
}

#[test]
fn a_switch_in_a_branch_leads_to_the_end_of_the_branch() {
    let choice = switch("s", json!({"x": [once("a")], "none": []}), &[]);
    let steps = |case: &str| {
        let steps =
            [fork("f", &[&[choice.clone(), once("z")], &[once("b")]]), join("j", &["z", "b"])];
        Bench::start(flow(&steps), json!({"case": case}))
    };
    let mut run = steps("x");
    run.complete("a", json!({}));
    run.complete("z", json!({}));
    run.complete("b", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    let mut run = steps("none");
    run.complete("z", json!({}));
    run.complete("b", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_wait_in_a_branch_does_not_hold_the_others() {
    let wait = system("w", "WAIT", json!({"inputParameters": {"duration": "10s"}}));
    let steps = [fork("f", &[&[wait], &[once("b")]]), join("j", &["w", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("b", json!({}));
    run.tick(9);
    assert_eq!(run.count(Canceled) + run.execution.open_count(), 2);
    run.tick(1);
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}
