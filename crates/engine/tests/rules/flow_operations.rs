//! # Skip, jump, upgrade, pause and ends inside forks, loops and choices
//!
//! Rules:
//! * docs/reference/rules/operations.md
//! * docs/reference/rules/operations.md#end-of-a-run
//! * docs/reference/rules/operations.md#restart

use semel_engine::{Rejection, Stop};
use semel_model::TaskResultStatus::{Completed, Failed};
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{
    Said, dynamic_fork, flow, fork, join, once, payload, repeat, step, switch, system, with,
};

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
fn a_step_of_a_branch_that_has_not_come_can_be_skipped() {
    let mut run = forked();
    run.skip("a2").unwrap();
    finish(&mut run, &["a", "b", "b2"]);
    assert_eq!(run.latest("a2").status, TaskStatus::Skipped);
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    finish(&mut run, &["c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn a_step_that_has_begun_in_this_turn_cannot_be_skipped_and_in_the_next_it_can() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("x"), once("y")])]), json!({}));
    let refused = run.skip("x");
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    run.skip("y").unwrap();
    run.complete("x__1", json!({}));
    run.say("l", json!(true));
    finish(&mut run, &["x__2", "y__2"]);
    run.say("l", json!(false));
    assert_eq!(run.latest("y__1").status, TaskStatus::Skipped);
    assert_eq!(run.status(), WorkflowStatus::Completed);
    let wrong = run.clone().skip("x__1__1");
    assert!(wrong.is_err());
}

#[test]
fn a_fork_is_skipped_with_its_join_and_a_loop_and_a_choice_with_all_that_is_inside() {
    let steps = [vec![once("h")], branches()].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    let mut other = run.clone();
    run.skip("f").unwrap();
    run.complete("h", json!({}));
    run.reads(&["RUNNING", "h 0 COMPLETED", "f 0 SKIPPED", "j 0 SKIPPED", "c 0 SCHEDULED"]);
    other.skip("j").unwrap();
    other.skip("f").unwrap();
    other.complete("h", json!({}));
    other.reads(&["RUNNING", "h 0 COMPLETED", "j 0 SKIPPED", "f 0 SKIPPED", "c 0 SCHEDULED"]);
    let choice = switch("s", json!({"x": [once("a")]}), &[]);
    let steps = [once("h"), choice, repeat("l", &[once("x")]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({"case": "x"}));
    run.skip("s").unwrap();
    run.skip("l").unwrap();
    run.complete("h", json!({}));
    run.reads(&["RUNNING", "h 0 COMPLETED", "s 0 SKIPPED", "l 0 SKIPPED", "c 0 SCHEDULED"]);
}

#[test]
fn a_skipped_join_waits_for_nobody() {
    let steps = [vec![once("h")], branches()].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    run.skip("j").unwrap();
    run.complete("h", json!({}));
    run.reads(&[
        "RUNNING",
        "h 0 COMPLETED",
        "j 0 SKIPPED",
        "f 0 COMPLETED",
        "a 0 SCHEDULED",
        "b 0 SCHEDULED",
        "c 0 SCHEDULED",
    ]);
    finish(&mut run, &["c", "a", "a2", "b", "b2"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn branches_cases_and_turns_may_begin_with_skipped_steps() {
    let choice = switch("s", json!({"x": [once("p"), once("q")]}), &[]);
    let fork = fork("f", &[&[once("a"), once("a2")], &[choice]]);
    let steps = [once("h"), fork, join("j", &["a2", "q"])];
    let mut run = Bench::start(flow(&steps), json!({"case": "x"}));
    run.skip("a").unwrap();
    run.skip("p").unwrap();
    run.complete("h", json!({}));
    finish(&mut run, &["a2", "q"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert_eq!(run.count(TaskStatus::Skipped), 2);
}

#[test]
fn a_jump_forward_cancels_all_branches_and_nothing_of_them_is_done_any_more() {
    let mut run = forked();
    run.complete("a", json!({}));
    run.jump("c").unwrap();
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "a 0 COMPLETED",
        "b 0 CANCELED",
        "j 0 CANCELED",
        "a2 0 CANCELED",
        "c 0 SCHEDULED",
    ]);
    finish(&mut run, &["c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed, "what was jumped over does not count");
}

#[test]
fn a_jump_back_to_a_fork_begins_its_branches_anew() {
    let mut run = forked();
    finish(&mut run, &["a", "a2", "b", "b2"]);
    let old = run.ids(&["f", "a", "b", "j"]);
    run.jump("f").unwrap();
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "b 0 SCHEDULED", "j 0 IN_PROGRESS"]);
    let new = run.ids(&["f", "a", "b", "j"]);
    assert!(old.iter().all(|id| !new.contains(id)), "under ids of their own");
    finish(&mut run, &["a", "a2", "b", "b2", "c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn a_jump_over_loops_and_choices_records_them_as_skipped() {
    let choice = switch("s", json!({"x": [once("p")]}), &[]);
    let steps = [once("h"), choice, repeat("l", &[once("x")]), once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.jump("c").unwrap();
    run.reads(&["RUNNING", "h 0 CANCELED", "s 0 SKIPPED", "l 0 SKIPPED", "c 0 SCHEDULED"]);
    run.jump("l").unwrap();
    assert_eq!(run.latest("x__1").status, TaskStatus::Scheduled);
    run.jump("c").unwrap();
    finish(&mut run, &["c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn nobody_jumps_into_the_middle_of_a_fork_or_a_loop() {
    let steps = [branches(), vec![repeat("l", &[once("x")])]].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    for inside in ["a2", "b", "x"] {
        let refused = run.jump(inside);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::Invalid(_)))), "{refused:?}");
    }
}

#[test]
fn a_jump_with_an_input_gives_it_to_a_choice() {
    let choice = switch("s", json!({"x": [once("p")]}), &[]);
    let mut run = Bench::start(flow(&[once("h"), choice]), json!({}));
    let event = semel_engine::Event::Jumped {
        reference: "s".to_owned(),
        input: Some(semel_engine::Slot(0)),
    };
    run.happen(event, &[payload(&json!({"case": "x"}))]).unwrap();
    assert_eq!(run.latest("p").status, TaskStatus::Scheduled);
    run.replay();
}

#[test]
fn an_upgrade_puts_new_steps_before_where_each_branch_stands_and_after() {
    let mut run = forked();
    run.complete("a", json!({}));
    let fork =
        fork("f", &[&[once("a"), once("new"), once("a2"), once("a3")], &[once("b"), once("b2")]]);
    run.upgrade(flow(&[fork, join("j", &["a2", "b2"]), once("c")])).unwrap();
    assert_eq!(run.latest("new").status, TaskStatus::Skipped);
    finish(&mut run, &["a2", "a3", "b", "b2", "c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn an_upgrade_inside_a_loop_names_what_it_skips_after_the_turn() {
    let mut run = Bench::start(flow(&[repeat("l", &[once("x"), once("y")])]), json!({}));
    finish(&mut run, &["x__1", "y__1"]);
    run.say("l", json!(true));
    run.complete("x__2", json!({}));
    run.upgrade(flow(&[repeat("l", &[once("x"), once("new"), once("y")])])).unwrap();
    assert_eq!(run.latest("new__2").status, TaskStatus::Skipped);
    run.complete("y__2", json!({}));
    run.say("l", json!(true));
    finish(&mut run, &["x__3", "new__3", "y__3"]);
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn an_upgrade_that_takes_away_the_branch_a_run_stands_in_is_refused() {
    let mut run = forked();
    let refused = run.upgrade(flow(&[fork("f", &[&[once("a")]]), join("j", &["a"])]));
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))), "{refused:?}");
    let moved = run.upgrade(flow(&[once("a"), once("b"), join("j", &[])]));
    assert!(matches!(moved, Err(Stop::Rejected(Rejection::WrongState(_)))), "{moved:?}");
}

#[test]
fn an_upgrade_goes_past_dynamic_branches_that_are_open() {
    let fan = dynamic_fork("fan", json!({"forkTaskName": "d", "forkTaskInputs": [{}, {}]}));
    let mut run = Bench::start(flow(&[fan.clone(), join("j", &[])]), json!({}));
    run.upgrade(flow(&[once("new"), fan, join("j", &[]), once("c")])).unwrap();
    assert_eq!(run.latest("new").status, TaskStatus::Skipped);
    finish(&mut run, &["_d_0", "_d_1", "c"]);
    assert_eq!(run.status(), WorkflowStatus::Completed);
}

#[test]
fn branches_that_end_while_it_is_paused_go_on_when_it_is_resumed() {
    let mut run = forked();
    run.pause();
    run.complete("a", json!({}));
    run.complete("b", json!({}));
    run.reads(&["PAUSED", "f 0 COMPLETED", "a 0 COMPLETED", "b 0 COMPLETED", "j 0 IN_PROGRESS"]);
    run.resume();
    assert_eq!(run.rows.len(), 2);
    run.pause();
    run.complete("a2", json!({}));
    run.complete("b2", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.resume();
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_failure_in_a_branch_while_paused_is_retried_after_the_resume_and_the_join_waits() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let steps = [fork("f", &[&[step("a", policy)], &[once("b")]]), join("j", &["a", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.pause();
    run.fail("a", Failed, "no");
    run.complete("b", json!({}));
    run.resume();
    assert_eq!(run.latest("j").status, TaskStatus::InProgress);
    run.complete("a", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_terminated_run_cancels_everything_that_is_open_in_it() {
    let steps = [branches(), vec![]].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "f 0 COMPLETED", "a 0 CANCELED", "b 0 CANCELED", "j 0 CANCELED"]);
    let mut run = Bench::start(flow(&[repeat("l", &[once("x")])]), json!({}));
    run.complete("x__1", json!({}));
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "l 0 CANCELED", "x__1 0 COMPLETED"]);
    assert!(run.latest("l").question.is_none());
    assert_eq!(run.output_at("l"), json!({"iteration": 1, "1": {"x": {}}}), "what it had done");
}

#[test]
fn a_restarted_run_begins_its_forks_and_loops_anew_under_new_ids() {
    let steps = [branches(), vec![repeat("l", &[once("x")])]].concat();
    let mut run = Bench::start(flow(&steps), json!({}));
    finish(&mut run, &["a", "a2", "b", "b2", "c", "x__1"]);
    run.say("l", json!(false));
    let old = run.ids(&["f", "a", "b", "j"]);
    run.restart();
    run.reads(&["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "b 0 SCHEDULED", "j 0 IN_PROGRESS"]);
    assert!(run.ids(&["f", "a", "b", "j"]).iter().all(|id| !old.contains(id)));
    let late = Said::new(old[1], Completed);
    assert_eq!(run.report(&late), Err(Stop::Rejected(Rejection::UnknownTask(old[1]))));
}

#[test]
fn a_timeout_of_the_run_ends_its_branches_and_its_loops() {
    let limits = json!({"timeoutSeconds": 10, "timeoutPolicy": "TIME_OUT_WF"});
    let steps = [fork("f", &[&[repeat("l", &[once("x")])], &[once("b")]]), join("j", &["l", "b"])];
    let mut run = Bench::start(with(flow(&steps), limits), json!({}));
    run.tick(10);
    run.reads(&[
        "TIMED_OUT",
        "f 0 COMPLETED",
        "l 0 CANCELED",
        "x__1 0 CANCELED",
        "b 0 CANCELED",
        "j 0 CANCELED",
    ]);
}

/// E9 in docs/reference/rules/traces.md, in a branch.
#[test]
fn a_task_that_times_out_the_workflow_does_so_from_a_branch_even_if_it_is_optional() {
    let policy = json!({"timeoutSeconds": 2, "timeoutPolicy": "TIME_OUT_WF", "retryCount": 3,
        "responseTimeoutSeconds": 0});
    let a = with(step("a", policy), json!({"optional": true}));
    let steps = [fork("f", &[&[a], &[once("b")]]), join("j", &["a", "b"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.claim("a", "slow");
    run.tick(2);
    assert_eq!(run.status(), WorkflowStatus::TimedOut);
    run.replay();
}

#[test]
fn a_human_task_in_a_branch_is_answered_by_name_in_whichever_turn() {
    let human = system("h", "HUMAN", json!({}));
    let body = [fork("f", &[&[human], &[once("b")]]), join("j", &["h", "b"])];
    let mut run = Bench::start(flow(&[repeat("l", &body)]), json!({}));
    let said = Said::new(run.latest("h__1").id, Completed).output(json!({"ok": true}));
    run.name("h", true, &said).unwrap();
    run.complete("b__1", json!({}));
    assert_eq!(run.output_at("j__1"), json!({"h__1": {"ok": true}}));
    run.say("l", json!(true));
    run.name("h", true, &said).unwrap();
    assert_eq!(run.latest("h__2").status, TaskStatus::Completed);
    run.replay();
}
