//! # DO_WHILE (docs/reference/rules/task-types.md#do_while)

use semel_engine::{Language, Question, Slot};
use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{
    dynamic_fork, flow, fork, join, noop, once, payload, repeat, step, switch, system, with,
};

/// A loop over these steps, and a step behind it.
fn looping(body: &[Value]) -> Bench {
    Bench::start(flow(&[repeat("l", body), once("after")]), json!({"max": 3}))
}

#[test]
fn its_body_is_run_at_least_once_and_its_tasks_are_named_after_the_turn() {
    let mut run = looping(&[once("x"), once("y")]);
    run.reads(&["RUNNING", "l 0 IN_PROGRESS", "x__1 0 SCHEDULED"]);
    assert_eq!((run.latest("x__1").iteration(), run.latest("l").iteration()), (1, 1));
    run.complete("x__1", json!({}));
    run.reads(&["RUNNING", "l 0 IN_PROGRESS", "x__1 0 COMPLETED", "y__1 0 SCHEDULED"]);
    run.complete("y__1", json!({}));
    run.say("l", json!(true));
    assert_eq!(run.latest("x__2").iteration(), 2);
    run.complete("x__2", json!({}));
    run.complete("y__2", json!({}));
    run.say("l", json!(false));
    run.reads(&[
        "RUNNING",
        "l 0 COMPLETED",
        "x__1 0 COMPLETED",
        "y__1 0 COMPLETED",
        "x__2 0 COMPLETED",
        "y__2 0 COMPLETED",
        "after 0 SCHEDULED",
    ]);
}

#[test]
fn its_output_has_every_turn_under_its_number_by_the_names_of_the_steps() {
    let mut run = looping(&[once("probe")]);
    assert_eq!(run.output_at("l"), json!({"iteration": 1, "1": {"probe": {}}}));
    run.complete("probe__1", json!({"state": "wait"}));
    assert_eq!(run.output_at("l"), json!({"iteration": 1, "1": {"probe": {"state": "wait"}}}));
    run.say("l", json!(true));
    run.complete("probe__2", json!({"state": "ready"}));
    run.say("l", json!(false));
    let output = json!({"iteration": 2, "1": {"probe": {"state": "wait"}},
        "2": {"probe": {"state": "ready"}}});
    assert_eq!(run.output_at("l"), output);
    run.replay();
}

#[test]
fn what_is_inside_a_fork_or_a_choice_is_in_the_output_too_but_no_dynamic_branch() {
    let choice = switch("s", json!({"x": [once("a")]}), &[]);
    let fan = dynamic_fork("fan", json!({"forkTaskName": "d", "forkTaskInputs": [{}]}));
    let body = [fork("f", &[&[choice], &[once("b")]]), join("j", &["b"]), fan, join("k", &[])];
    let mut run = Bench::start(flow(&[repeat("l", &body)]), json!({"case": "x"}));
    run.complete("a__1", json!({"of": "a"}));
    run.complete("b__1", json!({"of": "b"}));
    run.complete("_d_0__1", json!({"of": "d"}));
    run.say("l", json!(false));
    let turn = &run.output_at("l")["1"];
    let names: Vec<&String> = turn.as_object().expect("an object").keys().collect();
    assert_eq!(names, ["f", "s", "a", "b", "j", "fan", "k"]);
    assert_eq!((&turn["a"], &turn["b"]), (&json!({"of": "a"}), &json!({"of": "b"})));
    assert_eq!(turn["k"], json!({"_d_0__1": {"of": "d"}}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn in_a_loop_a_join_waits_for_the_tasks_of_its_own_turn_and_names_them_so() {
    let body = [fork("f", &[&[once("a")], &[once("b")]]), join("j", &["a", "b"])];
    let mut run = looping(&body);
    for turn in 1..=2 {
        run.complete(&format!("a__{turn}"), json!({"t": turn}));
        assert_eq!(run.latest(&format!("j__{turn}")).status, TaskStatus::InProgress);
        run.complete(&format!("b__{turn}"), json!({"t": turn}));
        run.say("l", json!(turn < 2));
    }
    assert_eq!(run.output_at("j__2"), json!({"a__2": {"t": 2}, "b__2": {"t": 2}}));
    assert_eq!(run.input_at("j__2"), json!({"joinOn": ["a__2", "b__2"]}));
    run.replay();
}

#[test]
fn a_join_in_a_loop_waits_for_what_is_outside_of_it_by_its_plain_name() {
    let body = [join("k", &["b"]), once("x")];
    let steps = [fork("f", &[&[repeat("l", &body)], &[once("b")]]), join("j", &["l", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert_eq!(run.input_at("k__1"), json!({"joinOn": ["b"]}));
    run.complete("b", json!({}));
    run.complete("x__1", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn its_condition_sees_its_parameters_its_own_output_and_the_latest_of_its_body() {
    let condition = "$.l.iteration < $.max && $.probe.state != 'ready' && $.l['1'].valueOf()";
    let fields = json!({"loopCondition": condition, "inputParameters": {"max": "${workflow.variables.max}"}});
    let l = with(repeat("l", &[once("probe")]), fields);
    let mut run = Bench::start(with(flow(&[l]), json!({"variables": {"max": 3}})), json!({}));
    run.complete("probe__1", json!({"state": "wait"}));
    let asked = run.asked("l");
    let source = condition.to_owned();
    assert_eq!(asked.question, Question::Script { language: Language::JavaScript, source });
    let seen = asked.input.value();
    assert_eq!((&seen["max"], &seen["probe"]), (&json!(3), &json!({"state": "wait"})));
    assert_eq!(seen["l"], json!({"iteration": 1, "1": {"probe": {"state": "wait"}}}));
    run.say("l", json!(true));
    let set = semel_engine::Event::VariablesUpdated { variables: Slot(0) };
    run.happen(set, &[payload(&json!({"max": 5}))]).unwrap();
    run.complete("probe__2", json!({"state": "late"}));
    let seen = run.asked("l").input.value();
    assert_eq!((&seen["max"], &seen["probe"]["state"]), (&json!(5), &json!("late")), "anew");
    assert_eq!(seen["l"]["iteration"], 2);
    run.replay();
}

#[test]
fn only_true_and_numbers_above_zero_mean_again() {
    for (said, again) in [
        (json!(true), true),
        (json!(1), true),
        (json!(0.5), true),
        (json!(false), false),
        (json!(0), false),
        (json!(-1), false),
        (json!("true"), false),
        (json!(null), false),
        (json!([1]), false),
        (json!({"a": 1}), false),
    ] {
        let mut run = looping(&[once("x")]);
        run.complete("x__1", json!({}));
        run.say("l", said.clone());
        assert_eq!(run.execution.latest("x__2").is_some(), again, "{said}");
        run.replay();
    }
}

#[test]
fn a_condition_that_throws_fails_the_loop_for_good_and_the_run() {
    let mut run = looping(&[once("x")]);
    run.complete("x__1", json!({}));
    run.throw("l", "no such thing");
    run.reads(&["FAILED", "l 0 FAILED_WITH_TERMINAL_ERROR", "x__1 0 COMPLETED"]);
    let why = "Unable to evaluate condition $.l.iteration.valueOf() < 9, exception no such thing";
    assert_eq!(run.reason_at("l"), why);
}

#[test]
fn a_loop_without_a_condition_and_without_items_turns_once() {
    let l = system("l", "DO_WHILE", json!({"loopOver": [once("x")]}));
    let mut run = Bench::start(flow(&[l]), json!({}));
    run.complete("x__1", json!({}));
    run.reads(&["COMPLETED", "l 0 COMPLETED", "x__1 0 COMPLETED"]);
}

#[test]
fn a_turn_is_over_when_all_that_is_inside_it_is() {
    let choice = switch("s", json!({"x": [once("a"), once("a2")]}), &[]);
    let body = [fork("f", &[&[choice], &[once("b")]]), join("j", &["b"])];
    let mut run = Bench::start(flow(&[repeat("l", &body)]), json!({"case": "x"}));
    run.complete("b__1", json!({}));
    assert_eq!(run.latest("j__1").status, TaskStatus::Completed);
    assert!(run.latest("l").question.is_none(), "the case is not over");
    run.complete("a__1", json!({}));
    assert!(run.latest("l").question.is_none(), "a2 follows it");
    run.complete("a2__1", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn steps_that_run_at_once_do_not_let_a_turn_end_before_its_last_step() {
    let mut run = looping(&[noop("n"), noop("m"), once("x")]);
    run.reads(&[
        "RUNNING",
        "l 0 IN_PROGRESS",
        "n__1 0 COMPLETED",
        "m__1 0 COMPLETED",
        "x__1 0 SCHEDULED",
    ]);
    run.complete("x__1", json!({}));
    assert!(run.latest("l").question.is_some());
}

#[test]
fn a_failure_in_the_body_is_retried_in_its_turn_and_each_turn_counts_anew() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let mut run = looping(&[step("x", policy)]);
    for turn in 1..=2 {
        let name = format!("x__{turn}");
        run.fail(&name, Failed, "no");
        assert_eq!(run.latest(&name).attempt, 1);
        run.complete(&name, json!({"t": turn}));
        run.say("l", json!(turn < 2));
    }
    assert_eq!(run.output_at("l")["2"], json!({"x": {"t": 2}}), "of the latest attempt");
    run.reads(&[
        "RUNNING",
        "l 0 COMPLETED",
        "x__1 0 FAILED",
        "x__1 1 COMPLETED",
        "x__2 0 FAILED",
        "x__2 1 COMPLETED",
        "after 0 SCHEDULED",
    ]);
}

#[test]
fn a_failure_of_the_body_ends_the_run_even_if_the_loop_is_optional() {
    let l = with(repeat("l", &[once("x")]), json!({"optional": true}));
    let mut run = Bench::start(flow(&[l, once("after")]), json!({}));
    run.fail("x__1", Failed, "no");
    run.reads(&["FAILED", "l 0 CANCELED", "x__1 0 FAILED"]);
}

#[test]
fn an_optional_failure_in_the_body_lets_it_turn_on() {
    let mut run = looping(&[with(once("x"), json!({"optional": true})), once("y")]);
    run.fail("x__1", Failed, "no");
    run.complete("y__1", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.latest("l").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn a_permissive_failure_in_the_body_fails_the_loop_when_its_turn_is_over() {
    let mut run = looping(&[with(once("x"), json!({"permissive": true})), once("y")]);
    run.fail("x__1", Failed, "no");
    assert_eq!(run.latest("y__1").status, TaskStatus::Scheduled);
    run.complete("y__1", json!({}));
    run.reads(&["FAILED", "l 0 FAILED", "x__1 0 FAILED", "y__1 0 COMPLETED"]);
    assert_eq!(run.reason_at("l"), "no");
}

#[test]
fn expressions_see_the_latest_turn_by_the_plain_name_and_older_ones_in_the_output() {
    let reads = json!({"inputParameters": {"now": "${x.output.t}", "old": "${l.output.1.x.t}",
        "named": "${x__1.output.t}"}});
    let mut run = looping(&[once("x"), with(once("y"), reads)]);
    for turn in 1..=2 {
        run.complete(&format!("x__{turn}"), json!({"t": turn}));
        let wanted = json!({"now": turn, "old": 1, "named": null});
        assert_eq!(run.input_at(&format!("y__{turn}")), wanted);
        run.complete(&format!("y__{turn}"), json!({}));
        run.say("l", json!(true));
    }
    run.replay();
}

#[test]
fn a_name_with_two_underscores_in_it_is_a_name_like_any_other() {
    let mut run = looping(&[once("x__y"), once("z")]);
    run.complete("x__y__1", json!({"v": 1}));
    run.complete("z__1", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.output_at("l")["1"], json!({"x__y": {"v": 1}, "z": {}}));
    run.replay();
}

#[test]
fn a_terminate_in_the_body_ends_the_run_and_its_loops() {
    let stop = crate::shapes::terminate("t", "TERMINATED");
    let mut run = looping(&[once("x"), stop]);
    run.complete("x__1", json!({}));
    run.reads(&["TERMINATED", "l 0 CANCELED", "x__1 0 COMPLETED", "t__1 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"k": 1}));
}
