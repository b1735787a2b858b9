//! # JOIN
//!
//! Rules:
//! * docs/reference/rules/task-types.md#join
//! * docs/reference/rules/conductor-faults.md#definitions-that-hang-or-go-wrong-in-conductor
//! * docs/reference/rules/traces.md

use semel_engine::{Language, Question, Said as Verdict, Slot};
use semel_model::TaskResultStatus::{Canceled, Failed};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, once, payload, step, switch, with};

/// Branches of these single steps, joined, and a step behind.
fn joined(steps: &[Value]) -> Bench {
    let names: Vec<&str> =
        steps.iter().filter_map(|step| step["taskReferenceName"].as_str()).collect();
    let branches: Vec<&[Value]> = steps.iter().map(std::slice::from_ref).collect();
    let steps = [fork("f", &branches), join("j", &names), once("c")];
    Bench::start(flow(&steps), json!({}))
}

#[test]
fn it_ends_in_the_decision_in_which_the_last_of_them_ends_and_once() {
    let mut run = joined(&[once("a"), once("b")]);
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("b", json!({"y": 2}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}, "b": {"y": 2}}));
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 COMPLETED",
        "j 0 COMPLETED",
        "c 0 SCHEDULED",
    ]);
}

#[test]
fn what_it_has_gathered_can_be_seen_while_it_waits_and_empty_outputs_are_left_out() {
    let mut run = joined(&[once("a"), once("b"), once("d")]);
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}}));
    run.complete("b", json!({}));
    run.complete("d", json!({"z": 1}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}, "d": {"z": 1}}));
    run.replay();
}

#[test]
fn without_names_it_is_over_at_once() {
    let steps = [fork("f", &[&[once("a")]]), join("j", &[]), once("c")];
    let run = Bench::start(flow(&steps), json!({}));
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "j 0 COMPLETED", "c 0 SCHEDULED"]);
    assert_eq!(run.output_at("j"), json!({}));
}

#[test]
fn it_waits_for_a_task_that_has_not_begun() {
    let steps = [fork("f", &[&[once("a"), once("z")], &[once("b")]]), join("j", &["z", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("b", json!({}));
    run.complete("a", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("z", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn it_never_looks_at_an_attempt_that_is_tried_again() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 60});
    let mut run = joined(&[step("a", policy), once("b")]);
    run.complete("b", json!({}));
    run.fail("a", Failed, "no");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 FAILED",
        "b 0 COMPLETED",
        "j 0 IN_PROGRESS",
        "a 1 SCHEDULED",
    ]);
    assert_eq!(run.output_at("j"), json!({}));
    run.tick(60);
    run.complete("a", json!({"second": true}));
    assert_eq!(run.output_at("j"), json!({"a": {"second": true}}), "of the latest attempt");
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn a_branch_that_times_out_and_is_tried_again_is_waited_for() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 10});
    let mut run = joined(&[step("a", policy), once("b")]);
    run.complete("b", json!({}));
    run.claim("a", "silent");
    run.tick(10);
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("a", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn with_a_permissive_failure_it_waits_for_all_and_then_fails() {
    let permissive = json!({"permissive": true});
    let mut run =
        joined(&[with(once("a"), permissive.clone()), once("b"), with(once("d"), permissive)]);
    run.fail("a", Failed, "no a");
    run.fail("d", Failed, "no d");
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("b", json!({"y": 1}));
    run.reads(&[
        "FAILED",
        "f 0 COMPLETED",
        "a 0 FAILED",
        "b 0 COMPLETED",
        "d 0 FAILED",
        "j 0 FAILED",
    ]);
    assert_eq!(run.reason_at("j"), "no a no d");
    assert_eq!(run.output_at("j"), json!({"b": {"y": 1}}));
    assert_eq!(run.execution.failed_task(), Some(run.latest("j").id));
}

#[test]
fn when_every_failure_is_a_cancellation_it_is_cancelled_and_the_run_terminated() {
    let mut run = joined(&[with(once("a"), json!({"permissive": true})), once("b")]);
    run.fail("a", Canceled, "not wanted");
    run.complete("b", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::Canceled);
    assert_eq!(run.status(), WorkflowStatus::Terminated);
    run.replay();
}

/// E2 in docs/reference/rules/traces.md.
#[test]
fn over_an_optional_failure_it_ends_with_errors_and_says_whose() {
    let mut run = joined(&[once("a"), with(once("b"), json!({"optional": true}))]);
    run.fail("b", Failed, "no");
    assert_eq!(run.latest("b").status, TaskStatus::CompletedWithErrors);
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.latest("j").status, TaskStatus::CompletedWithErrors);
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}}));
    assert_eq!(run.reason_at("j"), format!("b_def/{} completed with errors", run.latest("b").id));
    run.complete("c", json!({"o": 1}));
    assert_eq!((run.status(), run.output()), (WorkflowStatus::Completed, json!({"o": 1})));
    run.replay();
}

#[test]
fn a_skipped_task_counts_as_over() {
    let steps = [fork("f", &[&[once("a"), once("z")], &[once("b")]]), join("j", &["z", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("b", json!({}));
    run.skip("z").unwrap();
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    run.complete("a", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn what_waits_for_what_will_never_come_fails_when_nothing_else_is_left() {
    let choice = switch("s", json!({"x": [once("never")]}), &[]);
    let steps = [fork("f", &[&[choice], &[once("b")]]), join("j", &["never", "b"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({"case": "y"}));
    assert_eq!(run.status(), WorkflowStatus::Running, "something may still lead there");
    run.complete("b", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::FailedWithTerminalError);
    assert_eq!(run.reason_at("j"), "it waits for tasks that will not run: never");
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.replay();
}

#[test]
fn the_join_mode_changes_nothing() {
    for mode in ["SYNC", "ASYNC"] {
        let join = with(join("j", &["a"]), json!({"joinMode": mode}));
        let mut run = Bench::start(flow(&[fork("f", &[&[once("a")]]), join]), json!({}));
        run.complete("a", json!({}));
        assert_eq!(run.status(), WorkflowStatus::Completed);
    }
}

#[test]
fn a_name_given_twice_is_waited_for_once() {
    let steps = [fork("f", &[&[once("a")]]), join("j", &["a", "a"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({"x": 1}));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}}));
    run.replay();
}

#[test]
fn its_own_parameters_are_resolved_and_the_names_stand_beside_them() {
    let given = json!({"inputParameters": {"p": "${workflow.input.p}"}});
    let steps = [fork("f", &[&[once("a")]]), with(join("j", &["a"]), given)];
    let run = Bench::start(flow(&steps), json!({"p": 1}));
    assert_eq!(run.input_at("j"), json!({"p": 1, "joinOn": ["a"]}));
}

#[test]
fn a_join_that_somebody_completes_by_hand_leads_on() {
    let mut run = joined(&[once("a"), once("b")]);
    let said =
        crate::shapes::Said::new(run.latest("j").id, semel_model::TaskResultStatus::Completed);
    run.report(&said.output(json!({"mine": 1}))).unwrap();
    assert_eq!(run.output_at("j"), json!({"mine": 1}));
    run.complete("c", json!({}));
    run.complete("a", json!({}));
    run.complete("b", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

/// A JOIN that a program ends.
fn scripted() -> Bench {
    let program = json!({"evaluatorType": "js", "expression": "$.a.status.trim() == 'COMPLETED'",
        "inputParameters": {"p": 1}});
    let join = with(join("j", &["a", "b"]), program);
    let steps = [fork("f", &[&[once("a")], &[once("b")]]), join, once("c")];
    Bench::start(flow(&steps), json!({}))
}

#[test]
fn its_program_is_asked_when_it_begins_and_sees_the_tasks_as_they_are() {
    let mut run = scripted();
    let source = "$.a.status.trim() == 'COMPLETED'".to_owned();
    let asked = run.asked("j");
    assert_eq!(asked.question, Question::Script { language: Language::JavaScript, source });
    let seen = asked.input.value();
    assert_eq!((&seen["joinOn"], &seen["p"]), (&json!(["a", "b"]), &json!(1)));
    assert_eq!(seen["a"]["status"], "SCHEDULED");
    run.say("j", json!(false));
    run.complete("a", json!({"x": 1}));
    let seen = run.asked("j").input.value();
    assert_eq!(seen["a"]["status"], "COMPLETED");
    assert_eq!(
        (&seen["a"]["output"], &seen["a"]["outputData"]),
        (&json!({"x": 1}), &json!({"x": 1}))
    );
}

#[test]
fn true_ends_it_while_branches_still_run_and_these_hold_back_the_end() {
    let mut run = scripted();
    run.say("j", json!(false));
    run.complete("a", json!({"x": 1}));
    run.say("j", json!(true));
    assert_eq!(run.output_at("j"), json!({"a": {"x": 1}}));
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
fn anything_that_is_neither_true_nor_an_object_lets_it_wait_on() {
    for said in [json!(false), json!(null), json!(0), json!(1), json!("true"), json!([])] {
        let mut run = scripted();
        run.say("j", said.clone());
        assert_eq!(run.latest("j").status, TaskStatus::InProgress, "{said}");
        assert!(run.latest("j").question.is_none(), "not before something changes");
    }
}

#[test]
fn an_object_ends_it_as_it_says() {
    let mut run = scripted();
    run.say(
        "j",
        json!({"status": "COMPLETED_WITH_ERRORS", "reasonForIncompletion": "enough",
        "outputData": {"o": 1}}),
    );
    assert_eq!(run.latest("j").status, TaskStatus::CompletedWithErrors);
    assert_eq!((run.reason_at("j"), run.output_at("j")), ("enough".to_owned(), json!({"o": 1})));
    assert_eq!(run.latest("c").status, TaskStatus::Scheduled);
    let mut run = scripted();
    run.say("j", json!({"status": "FAILED", "reasonForIncompletion": "too few"}));
    assert_eq!(run.status(), WorkflowStatus::Failed);
    assert_eq!(run.reason_at("j"), "too few");
    run.replay();
}

#[test]
fn an_object_with_an_open_status_means_not_yet() {
    for status in ["IN_PROGRESS", "SCHEDULED"] {
        let mut run = scripted();
        let not_yet = json!({"status": status, "outputData": {"so_far": 0}});
        run.say("j", not_yet.clone());
        assert_eq!(run.latest("j").status, TaskStatus::InProgress, "{status}");
        assert!(run.latest("j").question.is_none(), "not before something changes");
        run.complete("a", json!({"x": 1}));
        run.say("j", not_yet);
        run.complete("b", json!({}));
        run.say("j", json!({"status": "COMPLETED"}));
        assert_eq!(run.output_at("j"), json!({"a": {"x": 1}}));
        assert_eq!(run.latest("c").status, TaskStatus::Scheduled);
        run.replay();
    }
}

#[test]
fn what_it_says_while_it_waits_is_shown_until_it_ends() {
    let mut run = scripted();
    let so_far = json!({"status": "IN_PROGRESS", "reasonForIncompletion": "one of two",
        "outputData": {"so_far": 1}});
    run.say("j", so_far);
    assert_eq!(run.output_at("j"), json!({"so_far": 1}));
    assert_eq!(run.reason_at("j"), "one of two");
    run.complete("a", json!({"x": 1}));
    run.say("j", json!(false));
    assert_eq!(run.output_at("j"), json!({"so_far": 1}), "nothing new was said");
    run.complete("b", json!({}));
    run.say("j", json!(true));
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    assert_eq!(
        (run.output_at("j"), run.latest("j").reason.clone()),
        (json!({"a": {"x": 1}}), None)
    );
    run.replay();
    let mut run = scripted();
    for name in ["a", "b"] {
        run.complete(name, json!({}));
        run.say("j", json!({"status": "IN_PROGRESS", "reasonForIncompletion": "the bank is shut"}));
    }
    run.say("j", json!(false));
    let why = "everything is over and its expression is not true: the bank is shut";
    assert_eq!(run.reason_at("j"), why);
}

#[test]
fn a_status_it_cannot_have_and_a_program_that_throws_fail_it_for_good() {
    let mut run = scripted();
    run.say("j", json!({"status": "MAYBE"}));
    assert_eq!(run.latest("j").status, TaskStatus::FailedWithTerminalError);
    let mut run = scripted();
    run.throw("j", "x is not defined");
    assert_eq!(run.latest("j").status, TaskStatus::FailedWithTerminalError);
    assert_eq!(run.reason_at("j"), "x is not defined");
    run.replay();
}

#[test]
fn what_ended_while_its_program_was_asked_makes_it_ask_again() {
    let mut run = scripted();
    run.complete("a", json!({}));
    let old = run.answer("j", Verdict::Value(Slot(0)));
    run.say("j", json!(false));
    assert_eq!(run.asked("j").input.value()["a"]["status"], "COMPLETED");
    assert_eq!(run.happen(old, &[payload(&json!(true))]), Ok(vec![]), "about what is past");
    run.say("j", json!(true));
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
}

#[test]
fn a_program_that_never_says_so_fails_the_join_when_everything_is_over() {
    let mut run = scripted();
    run.say("j", json!(false));
    for name in ["a", "b"] {
        run.complete(name, json!({}));
        run.say("j", json!(false));
    }
    assert_eq!(run.reason_at("j"), "everything is over and its expression is not true");
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.replay();
}

#[test]
fn a_program_asked_before_a_pause_is_asked_again_after_it() {
    let mut run = scripted();
    run.complete("a", json!({}));
    run.pause();
    assert_eq!(run.say("j", json!(false)), vec![]);
    run.resume();
    run.say("j", json!(false));
    run.say("j", json!(true));
    assert_eq!(run.latest("c").status, TaskStatus::Scheduled);
    run.replay();
}
