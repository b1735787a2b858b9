//! # Reruns from loops and from tasks inside them (docs/reference/rules/operations.md#rerun)

use semel_engine::{Event, Rejection, Rerun, Stop};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, fork, join, once, repeat, with};

fn finish(run: &mut Bench, names: &[&str]) {
    names.iter().for_each(|name| run.complete(name, json!({"of": name})));
    run.replay();
}

/// Three turns of two steps, all done.
fn turned(fields: Value) -> Bench {
    let l = with(repeat("l", &[once("x"), once("y")]), fields);
    let mut run = Bench::start(flow(&[l, once("c")]), json!({}));
    for turn in 1..=3 {
        finish(&mut run, &[&format!("x__{turn}"), &format!("y__{turn}")]);
        run.say("l", json!(turn < 3));
    }
    finish(&mut run, &["c"]);
    run
}

#[track_caller]
fn completed(run: &Bench) {
    assert_eq!(run.status(), WorkflowStatus::Completed, "{:?}", run.story());
    run.replay();
}

#[test]
fn from_a_loop_it_begins_at_its_first_turn_and_nothing_of_the_others_is_left() {
    let mut run = turned(json!({}));
    let (id, old) = (run.latest("l").id, run.latest("x__1").id);
    run.rerun_from("l");
    run.reads(&["RUNNING", "l 0 IN_PROGRESS", "x__1 0 SCHEDULED"]);
    assert_eq!(run.latest("l").id, id);
    assert_ne!(run.latest("x__1").id, old);
    finish(&mut run, &["x__1", "y__1"]);
    run.say("l", json!(false));
    assert_eq!(run.output_at("l")["iteration"], 1);
    finish(&mut run, &["c"]);
    completed(&run);
}

#[test]
fn from_a_task_in_its_second_turn_a_loop_goes_on_in_that_turn() {
    let mut run = turned(json!({}));
    run.rerun_from("y__2");
    run.reads(&[
        "RUNNING",
        "l 0 IN_PROGRESS",
        "x__1 0 COMPLETED",
        "y__1 0 COMPLETED",
        "x__2 0 COMPLETED",
        "y__2 0 SCHEDULED",
    ]);
    assert_eq!(run.latest("l").iteration(), 2);
    run.complete("y__2", json!({"new": 1}));
    run.say("l", json!(true));
    finish(&mut run, &["x__3", "y__3"]);
    run.say("l", json!(false));
    let output = run.output_at("l");
    assert_eq!((&output["iteration"], &output["2"]["y"]), (&json!(3), &json!({"new": 1})));
    finish(&mut run, &["c"]);
    completed(&run);
}

#[test]
fn from_a_turn_of_a_loop_over_a_list_the_list_stays_what_it_was() {
    let fields = json!({"items": "${workflow.input.items}", "loopCondition": ""});
    let l = with(repeat("l", &[once("x")]), fields);
    let mut run = Bench::start(flow(&[l]), json!({"items": [1, 2, 3]}));
    finish(&mut run, &["x__1", "x__2", "x__3"]);
    completed(&run);
    run.rerun_from("x__2");
    finish(&mut run, &["x__2", "x__3"]);
    completed(&run);
    assert_eq!(run.output_at("l")["iteration"], 3);
}

#[test]
fn from_a_task_of_a_loop_that_keeps_few_turns_it_keeps_as_many() {
    let mut run = turned(json!({"inputParameters": {"keepLastN": 2}}));
    assert!(run.execution.latest("x__1").is_none());
    run.rerun_from("x__2");
    finish(&mut run, &["x__2", "y__2"]);
    run.say("l", json!(true));
    finish(&mut run, &["x__3", "y__3"]);
    run.say("l", json!(false));
    finish(&mut run, &["c"]);
    completed(&run);
    let output = run.output_at("l");
    assert_eq!(output.as_object().map(serde_json::Map::len), Some(3), "{output}");
}

#[test]
fn from_a_task_beside_a_loop_the_turns_that_began_after_it_come_again() {
    let steps = [
        fork("f", &[&[repeat("l", &[once("x")])], &[once("b"), once("b2")]]),
        join("j", &["l", "b2"]),
    ];
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["x__1", "b"]);
    run.say("l", json!(true));
    finish(&mut run, &["x__2", "b2"]);
    run.say("l", json!(false));
    completed(&run);
    run.rerun_from("b2");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "l 0 IN_PROGRESS",
        "x__1 0 COMPLETED",
        "b 0 COMPLETED",
        "j 0 IN_PROGRESS",
        "b2 0 SCHEDULED",
        "x__2 0 SCHEDULED",
    ]);
    assert_eq!(run.latest("l").iteration(), 2);
    finish(&mut run, &["x__2", "b2"]);
    run.say("l", json!(false));
    completed(&run);
    assert_eq!(run.output_at("j")["l"]["iteration"], 2);
}

#[test]
fn what_was_skipped_before_its_loop_came_there_cannot_be_rerun_from() {
    let mut run = Bench::start(flow(&[once("h"), repeat("l", &[once("x")])]), json!({}));
    run.skip("x").unwrap();
    let mut begun = run.clone();
    run.terminate("enough").unwrap();
    let from = Some(run.latest("x__1").id);
    let event = Event::Reran(Rerun { from, ..Rerun::default() });
    let refused = run.happen(event, &[]);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    begun.complete("h", json!({}));
    begun.skip("x__3").unwrap();
    begun.terminate("enough").unwrap();
    for skipped in ["x__1", "x__3"] {
        let from = Some(begun.latest(skipped).id);
        let event = Event::Reran(Rerun { from, ..Rerun::default() });
        let refused = begun.happen(event, &[]);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    }
    begun.rerun_from("l");
    begun.say("l", json!(false));
    completed(&begun);
}

#[test]
fn from_a_task_of_an_inner_loop_both_loops_go_on_in_its_turns() {
    let body = [repeat("in", &[once("x")]), once("y")];
    let mut run = Bench::start(flow(&[repeat("out", &body)]), json!({}));
    for outer in 1..=2 {
        for inner in 1..=2 {
            finish(&mut run, &[&format!("x__{outer}__{inner}")]);
            run.say(&format!("in__{outer}"), json!(inner < 2));
        }
        finish(&mut run, &[&format!("y__{outer}")]);
        run.say("out", json!(outer < 2));
    }
    completed(&run);
    run.rerun_from("x__1__2");
    run.reads(&[
        "RUNNING",
        "out 0 IN_PROGRESS",
        "in__1 0 IN_PROGRESS",
        "x__1__1 0 COMPLETED",
        "x__1__2 0 SCHEDULED",
    ]);
    assert_eq!((run.latest("out").iteration(), run.latest("in__1").iteration()), (1, 2));
    finish(&mut run, &["x__1__2"]);
    run.say("in__1", json!(false));
    finish(&mut run, &["y__1"]);
    run.say("out", json!(false));
    completed(&run);
    assert_eq!(run.output_at("out")["1"]["in"]["iteration"], 2);
}

#[test]
fn from_a_branch_inside_a_loop_the_fork_the_join_and_the_loop_go_on_in_its_turn() {
    let body = [fork("f", &[&[once("a")], &[once("b")]]), join("j", &["a", "b"])];
    let mut run = Bench::start(flow(&[repeat("l", &body)]), json!({}));
    for turn in 1..=2 {
        finish(&mut run, &[&format!("a__{turn}"), &format!("b__{turn}")]);
        run.say("l", json!(turn < 2));
    }
    run.rerun_from("b__1");
    run.reads(&[
        "RUNNING",
        "l 0 IN_PROGRESS",
        "f__1 0 COMPLETED",
        "a__1 0 COMPLETED",
        "b__1 0 SCHEDULED",
        "j__1 0 IN_PROGRESS",
    ]);
    finish(&mut run, &["b__1"]);
    run.say("l", json!(false));
    completed(&run);
}

#[test]
fn from_a_task_of_a_loop_in_a_dynamic_branch_the_loop_and_the_join_go_on() {
    let names =
        json!({"dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs"});
    let tasks = json!([repeat("l", &[once("x")]), once("d")]);
    let fan = with(dynamic_fork("fan", json!({"tasks": tasks, "inputs": {}})), names);
    let mut run = Bench::start(flow(&[fan, join("j", &[]), once("c")]), json!({}));
    finish(&mut run, &["x__1", "d"]);
    run.say("l", json!(true));
    finish(&mut run, &["x__2"]);
    run.say("l", json!(false));
    finish(&mut run, &["c"]);
    completed(&run);
    run.rerun_from("x__2");
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    assert_eq!(run.latest("l").iteration(), 2);
    finish(&mut run, &["x__2"]);
    run.say("l", json!(false));
    finish(&mut run, &["c"]);
    completed(&run);
    assert_eq!(run.output_at("j")["l"]["iteration"], 2);
}
