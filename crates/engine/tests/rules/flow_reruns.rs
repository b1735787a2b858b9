//! # Reruns from tasks of forks, loops and choices (docs/reference/rules/operations.md#rerun)

use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, fork, join, once, switch, terminate, with};

fn forked() -> Bench {
    let fork = fork("f", &[&[once("a"), once("a2")], &[once("b"), once("b2")]]);
    Bench::start(flow(&[fork, join("j", &["a2", "b2"]), once("c")]), json!({}))
}

fn finish(run: &mut Bench, names: &[&str]) {
    names.iter().for_each(|name| run.complete(name, json!({"of": name})));
    run.replay();
}

/// All done.
fn whole() -> Bench {
    let mut run = forked();
    finish(&mut run, &["a", "b", "a2", "b2", "c"]);
    run
}

#[track_caller]
fn completed(run: &Bench) {
    assert_eq!(run.status(), WorkflowStatus::Completed, "{:?}", run.story());
    run.replay();
}

#[test]
fn from_the_head_of_a_branch_the_branches_scheduled_after_it_come_again_too() {
    let mut run = whole();
    let head = run.latest("a").id;
    run.rerun_from("a");
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "b 0 SCHEDULED", "j 0 IN_PROGRESS"]);
    assert_eq!(run.latest("a").id, head);
    finish(&mut run, &["b", "a", "a2", "b2", "c"]);
    completed(&run);
}

#[test]
fn from_the_last_head_the_branches_before_it_go_on_where_they_were() {
    let mut run = whole();
    run.rerun_from("b");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 SCHEDULED",
        "j 0 IN_PROGRESS",
        "a2 0 SCHEDULED",
    ]);
    finish(&mut run, &["a2", "b", "b2", "c"]);
    completed(&run);
}

#[test]
fn from_a_later_task_of_a_branch_its_join_waits_again_and_what_is_behind_comes_again() {
    let mut run = whole();
    run.rerun_from("b2");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 COMPLETED",
        "j 0 IN_PROGRESS",
        "a2 0 COMPLETED",
        "b2 0 SCHEDULED",
    ]);
    run.complete("b2", json!({"new": 1}));
    assert_eq!(run.output_at("j"), json!({"a2": {"of": "a2"}, "b2": {"new": 1}}));
    finish(&mut run, &["c"]);
    completed(&run);
}

#[test]
fn from_a_failed_task_of_a_branch_what_was_cancelled_beside_it_is_done_again_in_place() {
    let mut run = forked();
    finish(&mut run, &["a"]);
    run.fail("b", Failed, "no");
    let id = run.latest("b").id;
    run.rerun_from("b");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 SCHEDULED",
        "j 0 IN_PROGRESS",
        "a2 0 SCHEDULED",
    ]);
    assert_eq!(run.latest("b").id, id);
    finish(&mut run, &["b", "a2", "b2", "c"]);
    completed(&run);
}

#[test]
fn from_a_task_a_cancelled_sibling_scheduled_before_it_keeps_its_id_and_number() {
    let mut run = forked();
    run.fail("b", Failed, "no");
    let ids = run.ids(&["a", "b"]);
    run.rerun_from("b");
    assert_eq!(run.ids(&["a", "b"]), ids);
    assert_eq!((run.latest("a").attempt, run.latest("a").status), (0, TaskStatus::Scheduled));
    finish(&mut run, &["a", "a2", "b", "b2", "c"]);
    completed(&run);
}

#[test]
fn from_the_fork_all_branches_begin_again_under_new_ids() {
    let mut run = whole();
    let (fork, heads) = (run.latest("f").id, run.ids(&["a", "b"]));
    run.rerun_from("f");
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "b 0 SCHEDULED", "j 0 IN_PROGRESS"]);
    assert_eq!(run.latest("f").id, fork);
    assert!(run.ids(&["a", "b"]).iter().all(|id| !heads.contains(id)));
    finish(&mut run, &["a", "a2", "b", "b2", "c"]);
    completed(&run);
}

#[test]
fn from_the_join_it_waits_for_what_came_after_it_once_more() {
    let mut run = whole();
    run.rerun_from("j");
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 COMPLETED",
        "j 0 IN_PROGRESS",
        "a2 0 SCHEDULED",
        "b2 0 SCHEDULED",
    ]);
    finish(&mut run, &["a2", "b2", "c"]);
    completed(&run);
    let steps = [fork("f", &[&[once("a")]]), join("j", &["a"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["a", "c"]);
    run.rerun_from("j");
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 COMPLETED", "j 0 COMPLETED", "c 0 SCHEDULED"]);
}

#[test]
fn from_a_task_behind_the_join_the_fork_is_not_touched() {
    let mut run = whole();
    let before: Vec<_> = run.execution.tasks().take(6).cloned().collect();
    run.rerun_from("c");
    assert_eq!(run.execution.tasks().take(6).cloned().collect::<Vec<_>>(), before);
    finish(&mut run, &["c"]);
    completed(&run);
}

#[test]
fn from_a_task_beside_a_fork_its_join_waits_for_what_comes_again() {
    let inner = [fork("g", &[&[once("x"), once("x2")]]), join("k", &["x2"]), once("z")];
    let steps = [fork("f", &[&inner, &[once("b")]]), join("j", &["z", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["x", "x2", "z", "b"]);
    completed(&run);
    run.rerun_from("k");
    assert_eq!(run.latest("x2").status, TaskStatus::Scheduled);
    assert!(run.execution.latest("z").is_none(), "not before x2");
    finish(&mut run, &["x2", "z"]);
    completed(&run);
    run.rerun_from("b");
    finish(&mut run, &["b"]);
    assert_eq!(run.latest("k").status, TaskStatus::InProgress);
    assert!(run.execution.latest("z").is_none(), "not before x2");
    finish(&mut run, &["x", "x2", "z"]);
    completed(&run);
}

#[test]
fn from_a_switch_it_is_evaluated_again_and_its_new_case_is_run() {
    let cases = json!({"x": [once("p"), once("q")], "y": [once("r")]});
    let choice = with(
        switch("s", cases, &[]),
        json!({"inputParameters": {"case": "${workflow.variables.v}"}}),
    );
    let definition = with(flow(&[choice, once("c")]), json!({"variables": {"v": "x"}}));
    let mut run = Bench::start(definition, json!({}));
    finish(&mut run, &["p"]);
    let set = semel_engine::Event::VariablesUpdated { variables: semel_engine::Slot(0) };
    run.happen(set, &[crate::shapes::payload(&json!({"v": "y"}))]).unwrap();
    run.fail("q", Failed, "no");
    run.rerun_from("s");
    run.reads(&["RUNNING", "s 0 COMPLETED", "r 0 SCHEDULED"]);
    assert_eq!(run.output_at("s")["selectedCase"], "y");
    finish(&mut run, &["r", "c"]);
    completed(&run);
}

#[test]
fn from_a_task_of_a_case_the_switch_is_not_asked_again() {
    let choice = switch("s", json!({"x": [once("p"), once("q")]}), &[]);
    let mut run = Bench::start(flow(&[choice, once("c")]), json!({"case": "x"}));
    finish(&mut run, &["p", "q", "c"]);
    run.rerun_from("p");
    run.reads(&["RUNNING", "s 0 COMPLETED", "p 0 SCHEDULED"]);
    finish(&mut run, &["p", "q", "c"]);
    completed(&run);
}

fn fanned(input: Value) -> Bench {
    let fan = dynamic_fork("fan", input);
    let mut run = Bench::start(flow(&[fan, join("j", &[]), once("c")]), json!({"list": [1]}));
    let names: Vec<String> = run.rows.values().map(|row| row.reference.clone()).collect();
    names.iter().for_each(|name| run.complete(name, json!({"of": name})));
    finish(&mut run, &["c"]);
    run
}

#[test]
fn from_a_dynamic_fork_it_is_expanded_again() {
    let fan = dynamic_fork(
        "fan",
        json!({"forkTaskName": "d", "forkTaskInputs": "${workflow.variables.list}"}),
    );
    let definition =
        with(flow(&[fan, join("j", &[]), once("c")]), json!({"variables": {"list": [1]}}));
    let mut run = Bench::start(definition, json!({}));
    let set = semel_engine::Event::VariablesUpdated { variables: semel_engine::Slot(0) };
    run.happen(set, &[crate::shapes::payload(&json!({"list": [1, 2]}))]).unwrap();
    finish(&mut run, &["_d_0", "c"]);
    run.rerun_from("fan");
    run.reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "_d_0 0 SCHEDULED",
        "_d_1 0 SCHEDULED",
        "j 0 IN_PROGRESS",
    ]);
    assert_eq!(run.input_at("fan")["forkedTasks"], json!(["_d_0", "_d_1"]));
    finish(&mut run, &["_d_0", "_d_1", "c"]);
    completed(&run);
}

#[test]
fn from_a_dynamic_branch_those_after_it_come_again_and_the_join_waits() {
    let mut run = fanned(json!({"forkTaskName": "d", "forkTaskInputs": [{}, {}, {}]}));
    run.rerun_from("_d_1");
    run.reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "_d_0 0 COMPLETED",
        "_d_1 0 SCHEDULED",
        "_d_2 0 SCHEDULED",
        "j 0 IN_PROGRESS",
    ]);
    finish(&mut run, &["_d_1", "_d_2", "c"]);
    completed(&run);
}

#[test]
fn a_terminate_in_another_branch_comes_again_when_the_rest_is_over() {
    let stop = terminate("t", "COMPLETED");
    let steps = [fork("f", &[&[once("a"), stop], &[once("b"), once("b2")]]), join("j", &["b2"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["b", "a"]);
    completed(&run);
    run.rerun_from("b");
    assert!(run.execution.latest("t").is_none());
    finish(&mut run, &["b", "b2"]);
    completed(&run);
    assert_eq!(run.output(), json!({"k": 1}));
}

#[test]
fn from_a_terminate_the_run_ends_at_once_and_nothing_of_it_stays_open() {
    let stop = terminate("t", "COMPLETED");
    let steps = [fork("f", &[&[once("a"), stop], &[once("b")]]), join("j", &["b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["a"]);
    run.rerun_from("t");
    completed(&run);
    assert_eq!(run.execution.open_count(), 0);
}

#[test]
fn a_rerun_asked_while_it_runs_is_refused_wherever_it_is() {
    let mut run = forked();
    let from = Some(run.latest("a").id);
    let event = semel_engine::Event::Reran(semel_engine::Rerun { from, ..Default::default() });
    assert!(run.happen(event, &[]).is_err());
}

/// With a step before the fork, so that there is time to skip its join.
fn with_a_skipped_join(fork: Value) -> Bench {
    let steps = [once("first"), fork, join("j", &["a", "b"]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.skip("j").expect("it is not there yet");
    run.complete("first", json!({}));
    run
}

#[test]
fn what_follows_a_skipped_join_is_not_taken_for_it() {
    let inputs = json!({"forkTaskName": "fan", "forkTaskInputs": [{}, {}]});
    let mut run = with_a_skipped_join(dynamic_fork("f", inputs));
    run.terminate("enough").unwrap();
    run.retry().unwrap();
    run.fail("c", Failed, "no");
    run.rerun_from("_fan_0");
    assert_eq!(run.latest("j").status, TaskStatus::Skipped);
    finish(&mut run, &["_fan_1", "_fan_0", "c"]);
    completed(&run);
}

#[test]
fn a_skipped_join_stays_so_when_a_branch_comes_again() {
    let mut run = with_a_skipped_join(fork("f", &[&[once("a")], &[once("b")]]));
    run.complete("a", json!({}));
    run.fail("b", Failed, "no");
    run.rerun_from("a");
    assert_eq!(run.latest("j").status, TaskStatus::Skipped);
    finish(&mut run, &["c", "b", "a"]);
    completed(&run);
}
