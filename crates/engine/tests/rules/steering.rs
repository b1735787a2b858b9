//! # Steering: skip, jump, upgrade, callbacks and variables (docs/reference/rules/operations.md)

use std::sync::Arc;

use semel_engine::{Change, Event, Rejection, Slot, Stop};
use semel_model::TaskResultStatus::{Failed, InProgress};
use semel_model::TaskStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step, with};

fn steps(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| step(name, json!({"retryCount": 0}))).collect()
}

fn abcd() -> Bench {
    Bench::start(flow(&steps(&["a", "b", "c", "d"])), json!({"i": 1}))
}

fn skip(run: &mut Bench, reference: &str) -> Result<Vec<Change>, Stop> {
    let (input, output) = (Slot(0), Slot(1));
    let given = [payload(&json!({"in": 1})), payload(&json!({"out": 2}))];
    run.happen(Event::Skipped { reference: reference.to_owned(), input, output }, &given)
}

fn jump(run: &mut Bench, reference: &str) -> Result<Vec<Change>, Stop> {
    run.happen(Event::Jumped { reference: reference.to_owned(), input: None }, &[])
}

fn upgrade(run: &mut Bench, definition: Value) -> Result<Vec<Change>, Stop> {
    let definition = with(definition, json!({"version": 2}));
    let definition = Arc::make_mut(&mut run.shelf).register(definition).digest();
    let outputs = [("new".to_owned(), Slot(0))].into();
    let event = Event::Upgraded { definition, input: Some(Slot(1)), outputs };
    run.happen(event, &[payload(&json!({"out": 1})), payload(&json!({"j": 2}))])
}

#[track_caller]
fn wrong_state(result: Result<Vec<Change>, Stop>) {
    assert!(matches!(result, Err(Stop::Rejected(Rejection::WrongState(_)))), "{result:?}");
}

#[track_caller]
fn not_found(result: Result<Vec<Change>, Stop>) {
    assert!(matches!(result, Err(Stop::Rejected(Rejection::NotFound(_)))), "{result:?}");
}

#[test]
fn a_step_skipped_ahead_is_stepped_over_and_lends_its_output() {
    let reads = with(step("c", json!({})), json!({"inputParameters": {"v": "${b.output.out}"}}));
    let mut steps = steps(&["a", "b"]);
    steps.push(reads);
    let mut run = Bench::start(flow(&steps), json!({}));
    skip(&mut run, "b").unwrap();
    run.reads(&["RUNNING", "a 0 SCHEDULED", "b 0 SKIPPED"]);
    let skipped = run.attempt("b", 0);
    assert!(skipped.is_ahead && skipped.ended_at == run.now);
    assert_eq!(skipped.input.value(), json!({"in": 1}));
    run.complete("a", json!({}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SKIPPED", "c 0 SCHEDULED"]);
    assert_eq!(run.attempt("c", 0).input.value(), json!({"v": 2}));
}

#[test]
fn steps_skipped_one_after_the_other_up_to_the_last_end_the_run() {
    let mut run = Bench::start(flow(&steps(&["a", "b", "c"])), json!({}));
    skip(&mut run, "c").unwrap();
    skip(&mut run, "b").unwrap();
    run.complete("a", json!({"of": "a"}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "c 0 SKIPPED", "b 0 SKIPPED"]);
    assert_eq!(run.output(), json!({"of": "a"}), "the last task that ran");
}

#[test]
fn only_a_step_that_was_not_reached_of_a_running_run_can_be_skipped() {
    let mut run = abcd();
    wrong_state(skip(&mut run, "a"));
    not_found(skip(&mut run, "nobody"));
    skip(&mut run, "b").unwrap();
    wrong_state(skip(&mut run, "b"));
    run.pause();
    wrong_state(skip(&mut run, "c"));
    run.terminate("enough").unwrap();
    wrong_state(skip(&mut run, "c"));
    run.reads(&["TERMINATED", "a 0 CANCELED", "b 0 SKIPPED"]);
}

#[test]
fn a_jump_ahead_cancels_what_runs_and_skips_what_lies_between() {
    let mut run = abcd();
    let said = run.claim("a", "ann");
    jump(&mut run, "c").unwrap();
    run.reads(&["RUNNING", "a 0 CANCELED", "b 0 SKIPPED", "c 0 SCHEDULED"]);
    let late = run.report(&said);
    assert!(matches!(late, Err(Stop::Rejected(Rejection::Stale(_)))), "{late:?}");
    run.complete("c", json!({}));
    run.complete("d", json!({}));
    let all = ["COMPLETED", "a 0 CANCELED", "b 0 SKIPPED", "c 0 COMPLETED", "d 0 COMPLETED"];
    run.reads(&all);
}

#[test]
fn what_was_jumped_over_is_not_tried_again_with_what_failed_later() {
    let mut run = abcd();
    jump(&mut run, "c").unwrap();
    run.fail("c", Failed, "no");
    run.happen(Event::Retried, &[]).unwrap();
    run.reads(&["RUNNING", "a 0 CANCELED", "b 0 SKIPPED", "c 0 FAILED", "c 1 SCHEDULED"]);
    run.complete("c", json!({}));
    run.complete("d", json!({}));
    assert_eq!(run.story()[0], "COMPLETED");
    assert!(matches!(run.happen(Event::Retried, &[]), Err(Stop::Rejected(_))));
    run.replay();
}

#[test]
fn a_jump_back_runs_everything_from_there_again_under_new_ids() {
    let mut run = abcd();
    run.complete("a", json!({}));
    run.complete("b", json!({}));
    let (old, held) = (run.attempt("b", 0).id, run.claim("c", "ann"));
    jump(&mut run, "b").unwrap();
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
    assert_ne!(run.attempt("b", 0).id, old);
    let late = run.report(&held);
    assert_eq!(late, Err(Stop::Rejected(Rejection::UnknownTask(held.task))));
    run.complete("b", json!({}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 COMPLETED", "c 0 SCHEDULED"]);
}

#[test]
fn a_jump_to_where_the_run_stands_changes_nothing_unless_the_input_is_another() {
    let mut run = abcd();
    assert_eq!(jump(&mut run, "a"), Ok(vec![]));
    let event = Event::Jumped { reference: "a".to_owned(), input: Some(Slot(0)) };
    let input = [payload(&json!({"mine": true}))];
    assert_ne!(run.happen(event.clone(), &input), Ok(vec![]));
    assert_eq!(run.attempt("a", 0).input.value(), json!({"mine": true}));
    assert_eq!(run.happen(event, &input), Ok(vec![]));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn only_a_running_run_jumps_and_only_to_a_step_it_has() {
    let mut run = abcd();
    not_found(jump(&mut run, "nobody"));
    let list = Event::Jumped { reference: "c".to_owned(), input: Some(Slot(0)) };
    let refused = run.happen(list, &[payload(&json!([]))]);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Invalid(_)))));
    run.pause();
    wrong_state(jump(&mut run, "c"));
    run.terminate("enough").unwrap();
    wrong_state(jump(&mut run, "c"));
}

#[test]
fn an_upgrade_goes_on_by_the_new_definition_and_skips_what_it_put_before() {
    let mut run = abcd();
    run.complete("a", json!({}));
    let task = run.attempt("b", 0);
    upgrade(&mut run, flow(&steps(&["a", "new", "b", "e"]))).unwrap();
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED", "new 0 SKIPPED"]);
    assert_eq!(run.attempt("b", 0), task, "it goes on as it was");
    assert_eq!(run.attempt("new", 0).output.value(), json!({"out": 1}));
    assert_eq!(run.execution.input().value(), json!({"i": 1, "j": 2}));
    assert_eq!(run.execution.definition().definition().version, 2);
    run.complete("b", json!({}));
    run.complete("e", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "b 0 COMPLETED", "new 0 SKIPPED", "e 0 COMPLETED"]);
}

#[test]
fn an_upgrade_asked_twice_is_done_once() {
    let mut run = abcd();
    upgrade(&mut run, flow(&steps(&["new", "a"]))).unwrap();
    assert_eq!(upgrade(&mut run, flow(&steps(&["new", "a"]))), Ok(vec![]));
}

#[test]
fn steps_that_an_upgrade_puts_behind_are_run_or_stepped_over_as_they_are() {
    let mut run = abcd();
    run.complete("a", json!({}));
    upgrade(&mut run, flow(&steps(&["b", "new", "a", "e"]))).unwrap();
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
    run.complete("b", json!({}));
    run.complete("new", json!({}));
    let all = ["RUNNING", "a 0 COMPLETED", "b 0 COMPLETED", "new 0 COMPLETED", "e 0 SCHEDULED"];
    run.reads(&all);
}

#[test]
fn an_upgrade_that_has_no_place_for_where_the_run_stands_is_refused() {
    let mut run = abcd();
    wrong_state(upgrade(&mut run, flow(&steps(&["b", "c"]))));
    run.pause();
    run.fail("a", Failed, "its end is not followed yet");
    wrong_state(upgrade(&mut run, flow(&steps(&["b", "c"]))));
    upgrade(&mut run, flow(&steps(&["a", "z"]))).expect("a paused run can be upgraded");
    run.terminate("enough").unwrap();
    wrong_state(upgrade(&mut run, flow(&steps(&["a"]))));
}

#[test]
fn a_task_that_fails_after_an_upgrade_is_tried_again_as_the_new_definition_says() {
    let mut run = Bench::start(flow(&steps(&["a"])), json!({}));
    let policy = json!({"name": "a", "retryCount": 1, "retryDelaySeconds": 0,
        "responseTimeoutSeconds": 0});
    let wait = json!({"name": "a", "taskReferenceName": "a", "type": "WAIT",
        "inputParameters": {"duration": "10s"}, "taskDefinition": policy});
    upgrade(&mut run, flow(&[wait])).unwrap();
    run.fail("a", Failed, "no");
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 IN_PROGRESS"]);
    assert!(run.rows.is_empty(), "no worker is offered a wait");
    run.tick(10);
    run.reads(&["COMPLETED", "a 0 FAILED", "a 1 COMPLETED"]);
}

#[test]
fn the_workflow_timeout_is_that_of_the_new_definition() {
    let mut run = abcd();
    let limits = json!({"timeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF"});
    upgrade(&mut run, with(flow(&steps(&["a"])), limits)).unwrap();
    run.tick(29);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 CANCELED"]);
}

#[test]
fn reset_callbacks_makes_waiting_tasks_ready_and_leaves_a_held_one_alone() {
    let mut run = Bench::start(flow(&steps(&["a"])), json!({}));
    let said = run.claim("a", "ann").callback(60);
    run.report(&Said { status: InProgress, ..said }).unwrap();
    assert_eq!(run.happen(Event::CallbacksReset, &[]).unwrap().len(), 1);
    assert_eq!(run.row("a").ready_at, run.now);
    assert_eq!(run.attempt("a", 0).callback_after_seconds, 0);
    assert_eq!(run.happen(Event::CallbacksReset, &[]), Ok(vec![]), "said twice is said once");
    run.claim("a", "bob");
    assert_eq!(run.happen(Event::CallbacksReset, &[]), Ok(vec![]));
    run.replay();
}

#[test]
fn reset_callbacks_ends_a_retry_delay_but_no_wait_and_is_refused_when_the_run_is_over() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 60});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.fail("a", Failed, "no");
    run.pause();
    run.happen(Event::CallbacksReset, &[]).unwrap();
    assert_eq!(run.row("a").ready_at, run.now);
    run.terminate("enough").unwrap();
    wrong_state(run.happen(Event::CallbacksReset, &[]));
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT", "startDelay": 50});
    let mut run = Bench::start(flow(&[wait]), json!({}));
    assert_eq!(run.happen(Event::CallbacksReset, &[]), Ok(vec![]));
    assert_eq!(run.attempt("w", 0).status, TaskStatus::Scheduled);
}

#[test]
fn variables_are_merged_into_a_live_run_only_and_the_next_step_sees_them() {
    let reads = with(
        step("b", json!({})),
        json!({"inputParameters": {"x": "${workflow.variables.x}", "y": "${workflow.variables.y}"}}),
    );
    let definition = with(flow(&[steps(&["a"]).remove(0), reads]), json!({"variables": {"x": 1}}));
    let mut run = Bench::start(definition, json!({}));
    let update = |run: &mut Bench, value: Value| {
        run.happen(Event::VariablesUpdated { variables: Slot(0) }, &[payload(&value)])
    };
    update(&mut run, json!({"y": 2})).unwrap();
    assert_eq!(update(&mut run, json!({"y": 2})), Ok(vec![]), "said twice is said once");
    let refused = update(&mut run, json!([1]));
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Invalid(_)))));
    let refused = update(&mut run, json!({"big": "x".repeat(300_000)}));
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Invalid(_)))));
    run.pause();
    update(&mut run, json!({"x": 3})).unwrap();
    run.resume();
    run.complete("a", json!({}));
    assert_eq!(run.attempt("b", 0).input.value(), json!({"x": 3, "y": 2}));
    run.terminate("enough").unwrap();
    wrong_state(update(&mut run, json!({"x": 4})));
    run.replay();
}
