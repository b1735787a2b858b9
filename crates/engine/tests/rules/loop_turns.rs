//! # Turns of a DO_WHILE: lists, nesting, what is kept, pauses and skips
//!
//! Rules: docs/reference/rules/task-types.md#do_while.

use semel_engine::{Said as Verdict, Slot};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{
    dynamic_fork, flow, for_each, join, noop, once, payload, repeat, system, with,
};

/// A loop over these steps, and a step behind it.
fn looping(body: &[Value]) -> Bench {
    Bench::start(flow(&[repeat("l", body), once("after")]), json!({"max": 3}))
}

/// A loop over the items of the run's input.
fn over(items: Value, fields: Value) -> Bench {
    let reads =
        json!({"inputParameters": {"item": "${l.output.loopItem}", "at": "${l.output.loopIndex}"}});
    let each = with(for_each("l", &[with(once("x"), reads)]), fields);
    Bench::start(flow(&[each, once("after")]), json!({"items": items}))
}

#[test]
fn over_a_list_there_is_one_turn_for_each_item() {
    let mut run = over(json!(["p", {"q": 1}]), json!({}));
    assert_eq!(run.input_at("x__1"), json!({"item": "p", "at": 0}));
    run.complete("x__1", json!({"v": 1}));
    assert_eq!(run.input_at("x__2"), json!({"item": {"q": 1}, "at": 1}));
    run.complete("x__2", json!({"v": 2}));
    let output = json!({"iteration": 2, "loopIndex": 1, "loopItem": {"q": 1},
        "1": {"x": {"v": 1}}, "2": {"x": {"v": 2}}});
    assert_eq!(run.output_at("l"), output);
    run.reads(&[
        "RUNNING",
        "l 0 COMPLETED",
        "x__1 0 COMPLETED",
        "x__2 0 COMPLETED",
        "after 0 SCHEDULED",
    ]);
}

#[test]
fn a_single_value_is_a_list_of_one_and_nothing_is_an_empty_list() {
    let run = over(json!("p"), json!({}));
    assert_eq!(run.input_at("x__1"), json!({"item": "p", "at": 0}));
    for nothing in [json!([]), json!(null)] {
        let run = over(nothing, json!({}));
        run.reads(&["RUNNING", "l 0 COMPLETED", "after 0 SCHEDULED"]);
        assert_eq!(run.output_at("l"), json!({"iteration": 0}));
    }
}

#[test]
fn the_items_may_be_a_parameter() {
    let l = system(
        "l",
        "DO_WHILE",
        json!({"loopOver": [once("x")],
        "inputParameters": {"_items": "${workflow.input.list}"}}),
    );
    let mut run = Bench::start(flow(&[l]), json!({"list": [1, 2]}));
    run.complete("x__1", json!({}));
    run.complete("x__2", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn over_a_list_with_a_condition_both_must_say_so() {
    let fields = json!({"loopCondition": "$.loopItem.trim() != 'stop' && $.loopIndex < 9"});
    let mut run = over(json!(["p", "stop", "q"]), fields.clone());
    run.complete("x__1", json!({}));
    let seen = run.asked("l").input.value();
    assert_eq!((&seen["loopItem"], &seen["loopIndex"]), (&json!("p"), &json!(0)));
    run.say("l", json!(true));
    run.complete("x__2", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.latest("l").status, TaskStatus::Completed);
    assert_eq!(run.output_at("l")["iteration"], 2);
    let mut run = over(json!(["p"]), fields);
    run.complete("x__1", json!({}));
    assert_eq!(run.latest("l").status, TaskStatus::Completed, "no item is left, nobody is asked");
    run.replay();
}

#[test]
fn the_list_is_what_it_was_when_the_loop_began() {
    let fields = json!({"items": "${workflow.variables.list}"});
    let l = with(for_each("l", &[once("x")]), fields);
    let definition = with(flow(&[l]), json!({"variables": {"list": [1, 2]}}));
    let mut run = Bench::start(definition, json!({}));
    let set = semel_engine::Event::VariablesUpdated { variables: Slot(0) };
    run.happen(set, &[payload(&json!({"list": []}))]).unwrap();
    run.complete("x__1", json!({}));
    assert_eq!(run.latest("x__2").status, TaskStatus::Scheduled);
    run.replay();
}

#[test]
fn of_long_loops_only_the_last_turns_are_kept() {
    let keeps = json!({"inputParameters": {"keepLastN": "${workflow.input.keep}"}});
    let inner = with(repeat("l", &[once("x"), repeat("m", &[once("y")])]), keeps);
    let mut run = Bench::start(flow(&[inner, once("after")]), json!({"keep": 2}));
    for turn in 1..=4 {
        run.complete(&format!("x__{turn}"), json!({"t": turn}));
        run.complete(&format!("y__{turn}__1"), json!({}));
        run.say(&format!("m__{turn}"), json!(false));
        run.say("l", json!(turn < 4));
    }
    let output = run.output_at("l");
    let keys: Vec<&String> = output.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["iteration", "3", "4"]);
    assert_eq!(output["4"]["x"], json!({"t": 4}));
    run.reads(&[
        "RUNNING",
        "l 0 COMPLETED",
        "x__3 0 COMPLETED",
        "m__3 0 COMPLETED",
        "y__3__1 0 COMPLETED",
        "x__4 0 COMPLETED",
        "m__4 0 COMPLETED",
        "y__4__1 0 COMPLETED",
        "after 0 SCHEDULED",
    ]);
    let seqs: std::collections::BTreeSet<u32> = run.execution.tasks().map(|it| it.seq).collect();
    assert_eq!(seqs.len(), 8);
}

#[test]
fn a_loop_inside_a_loop_counts_its_turns_anew_in_each_turn_of_the_outer_one() {
    let body = [repeat("in", &[once("x")]), once("y")];
    let mut run = Bench::start(flow(&[repeat("out", &body)]), json!({}));
    for outer in 1..=2 {
        let inner = format!("in__{outer}");
        run.complete(&format!("x__{outer}__1"), json!({"t": 1}));
        let seen = run.asked(&inner).input.value();
        assert_eq!(seen["in"], json!({"iteration": 1}));
        run.say(&inner, json!(true));
        run.complete(&format!("x__{outer}__2"), json!({"t": 2}));
        run.say(&inner, json!(false));
        assert_eq!(run.output_at(&inner)["iteration"], 2);
        run.complete(&format!("y__{outer}"), json!({}));
        run.say("out", json!(outer < 2));
    }
    assert_eq!(run.status(), WorkflowStatus::Completed);
    let output = run.output_at("out");
    assert_eq!(output["2"]["in"]["2"], json!({"x": {"t": 2}}));
    assert_eq!(output["2"]["y"], json!({}));
    assert_eq!(run.execution.tasks().count(), 1 + 2 * (1 + 2 + 1));
    run.replay();
}

#[test]
fn dynamic_branches_in_a_loop_are_named_after_their_turn() {
    let fan = dynamic_fork("fan", json!({"forkTaskName": "d", "forkTaskInputs": [{"v": 1}]}));
    let mut run = looping(&[fan, join("j", &[])]);
    for turn in 1..=2 {
        let name = format!("_d_0__{turn}");
        assert_eq!(run.input_at(&name), json!({"v": 1, "__index": 0}));
        assert_eq!(run.latest(&name).iteration(), turn);
        run.complete(&name, json!({"t": turn}));
        run.say("l", json!(turn < 2));
    }
    assert_eq!(run.output_at("j__2"), json!({"_d_0__2": {"t": 2}}));
    assert_eq!(run.latest("after").status, TaskStatus::Scheduled);
    run.replay();
}

#[test]
fn an_empty_body_asks_its_condition_and_turns_as_often_as_that_says() {
    let mut run = looping(&[]);
    run.say("l", json!(true));
    run.say("l", json!(false));
    run.reads(&["RUNNING", "l 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(run.output_at("l"), json!({"iteration": 2}));
}

#[test]
fn an_answer_given_twice_turns_the_loop_once_even_if_it_asks_the_same_again() {
    let same = json!({"loopCondition": "$.again.valueOf()", "inputParameters": {"again": true}});
    let l = with(repeat("l", &[noop("n")]), same);
    let mut run = Bench::start(flow(&[l]), json!({}));
    let answer = run.answer("l", Verdict::Value(Slot(0)));
    assert!(!run.happen(answer.clone(), &[payload(&json!(true))]).unwrap().is_empty());
    assert_eq!(run.happen(answer, &[payload(&json!(true))]), Ok(vec![]));
    assert_eq!(run.latest("l").iteration(), 2);
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_paused_loop_does_not_turn() {
    let mut run = looping(&[once("x")]);
    run.complete("x__1", json!({}));
    run.pause();
    run.say("l", json!(true));
    run.reads(&["PAUSED", "l 0 IN_PROGRESS", "x__1 0 COMPLETED"]);
    run.resume();
    run.say("l", json!(true));
    assert_eq!(run.latest("x__2").status, TaskStatus::Scheduled);
    run.pause();
    run.complete("x__2", json!({}));
    assert!(run.latest("l").question.is_none());
    run.resume();
    run.say("l", json!(false));
    assert_eq!(run.latest("after").status, TaskStatus::Scheduled);
    run.replay();
}

#[test]
fn a_body_that_begins_with_a_skipped_step_goes_on_behind_it() {
    let steps = [once("a"), repeat("l", &[once("x"), once("y")])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.skip("x").unwrap();
    run.complete("a", json!({}));
    run.reads(&[
        "RUNNING",
        "a 0 COMPLETED",
        "x__1 0 SKIPPED",
        "l 0 IN_PROGRESS",
        "y__1 0 SCHEDULED",
    ]);
    assert_eq!(run.output_at("l")["1"], json!({"x": {}, "y": {}}), "it is part of its turn");
    run.skip("x__2").unwrap();
    run.skip("y__2").unwrap();
    run.complete("y__1", json!({}));
    run.say("l", json!(true));
    assert!(run.latest("l").question.is_some(), "a turn of nothing is over at once");
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}
