//! # Rerun: again from a task on, or as a whole (docs/reference/rules/operations.md#rerun)

use semel_engine::{Event, Rejection, Rerun, Slot, Stop};
use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskId, Timestamp, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step, with};

fn rerun(run: &mut Bench, rerun: Rerun) {
    run.happen(Event::Reran(rerun), &[]).expect("a closed run can be rerun");
}

fn from(run: &Bench, reference: &str) -> Rerun {
    Rerun { from: Some(run.attempt(reference, 0).id), ..Rerun::default() }
}

/// Three steps, all done.
fn three() -> Bench {
    let asks = json!({"inputParameters": {"i": "${workflow.input.i}"}});
    let plain = |name: &str| with(step(name, json!({"retryCount": 0})), asks.clone());
    let steps = [plain("a"), plain("b"), plain("c")];
    let mut run = Bench::start(flow(&steps), json!({"i": 1}));
    for name in ["a", "b", "c"] {
        run.complete(name, json!({"of": name}));
    }
    run
}

#[test]
fn as_a_whole_everything_is_done_again_under_new_ids() {
    let mut run = three();
    let old = run.attempt("a", 0).id;
    run.advance(9);
    let input = payload(&json!({"i": 2}));
    let event = Event::Reran(Rerun {
        input: Some(Slot(0)),
        correlation_id: Some("again".to_owned()),
        ..Rerun::default()
    });
    run.happen(event, &[input]).unwrap();
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    let task = run.attempt("a", 0);
    assert_ne!(task.id, old);
    assert_eq!(task.id, TaskId::derive(run.execution.id(), 1, "a", 0, 0));
    assert_eq!(task.input.value(), json!({"i": 2}));
    assert_eq!(run.execution.correlation_id(), Some("again"));
    assert_eq!(run.seconds(run.execution.started_at()), 0, "it is the same run");
    assert_eq!(run.seconds(run.execution.last_resumed_at()), 9, "the workflow timeout counts anew");
    assert_eq!(run.execution.output().value(), json!({}));
}

#[test]
fn from_a_task_on_what_came_before_stays_and_what_came_after_is_gone() {
    let mut run = three();
    let (first, target, last) = (run.attempt("a", 0), run.attempt("b", 0), run.attempt("c", 0));
    run.advance(9);
    let again = from(&run, "b");
    rerun(&mut run, again);
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
    assert_eq!(run.attempt("a", 0), first);
    let task = run.attempt("b", 0);
    assert_eq!((task.id, task.attempt, task.seq), (target.id, 0, 2));
    assert_eq!(task.output.value(), json!({}));
    assert_eq!((task.polls, task.worker.as_deref()), (0, None));
    assert_eq!(task.fence, target.fence, "the next fence is above it");
    assert_eq!((task.started_at, task.ended_at), (Timestamp::NOT_YET, Timestamp::NOT_YET));
    assert_eq!((run.seconds(task.scheduled_at), run.seconds(task.first_scheduled_at)), (9, 9));
    assert_eq!(task.input.value(), json!({"i": 1}), "its old input");
    run.complete("b", json!({}));
    assert_ne!(run.attempt("c", 0).id, last.id, "a removed task never comes back under its id");
    run.complete("c", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "b 0 COMPLETED", "c 0 COMPLETED"]);
}

#[test]
fn a_task_input_replaces_the_old_one() {
    let mut run = three();
    let again = Rerun { task_input: Some(Slot(0)), ..from(&run, "b") };
    run.happen(Event::Reran(again), &[payload(&json!({"mine": true}))]).unwrap();
    assert_eq!(run.attempt("b", 0).input.value(), json!({"mine": true}));
    run.replay();
}

#[test]
fn the_newest_attempt_keeps_its_number_and_an_earlier_one_loses_its_successors() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.fail("a", Failed, "no");
    run.fail("a", Failed, "no");
    let (first, second) = (run.attempt("a", 0).id, run.attempt("a", 1).id);
    rerun(&mut run, Rerun { from: Some(second), ..Rerun::default() });
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    assert_eq!(run.attempt("a", 1).id, second);
    run.fail("a", Failed, "its budget is spent");
    run.reads(&["FAILED", "a 0 FAILED", "a 1 FAILED"]);
    rerun(&mut run, Rerun { from: Some(first), ..Rerun::default() });
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    assert!(!run.attempt("a", 0).replaced);
    run.fail("a", Failed, "no");
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
    assert_ne!(run.attempt("a", 1).id, second);
}

#[test]
fn other_steps_that_failed_are_reset_in_place_too() {
    let policy = json!({"retryCount": 0});
    let permissive = with(step("a", policy.clone()), json!({"permissive": true}));
    let mut run = Bench::start(flow(&[permissive, step("b", policy)]), json!({}));
    run.fail("a", Failed, "no");
    run.fail("b", Failed, "no");
    let ids = (run.attempt("a", 0).id, run.attempt("b", 0).id);
    let again = from(&run, "b");
    rerun(&mut run, again);
    run.reads(&["RUNNING", "a 0 SCHEDULED", "b 0 SCHEDULED"]);
    assert_eq!((run.attempt("a", 0).id, run.attempt("b", 0).id), ids);
    run.complete("b", json!({}));
    run.reads(&["RUNNING", "a 0 SCHEDULED", "b 0 COMPLETED"]);
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "b 0 COMPLETED"]);
}

#[test]
fn what_an_earlier_holder_says_after_the_reset_is_stale_until_somebody_holds_it() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    let said = run.claim("a", "ann");
    run.terminate("enough").unwrap();
    let again = from(&run, "a");
    rerun(&mut run, again);
    let fenceless = Said { fence: None, ..said.clone() };
    let nobody = Said { fence: None, worker: None, ..said.clone() };
    for late in [&said, &fenceless, &nobody] {
        let refused = run.report(late);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::Stale(_)))), "{refused:?}");
    }
    let current = run.claim("a", "bob");
    for late in [&said, &fenceless] {
        let refused = run.report(late);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::Stale(_)))), "{refused:?}");
    }
    run.report(&current).expect("the holder speaks for it");
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn a_report_for_a_removed_task_finds_no_task() {
    let mut run = three();
    let said = Said::new(run.attempt("c", 0).id, Failed);
    let again = from(&run, "b");
    rerun(&mut run, again);
    assert_eq!(run.report(&said), Err(Stop::Rejected(Rejection::UnknownTask(said.task))));
}

#[test]
fn the_total_timeout_of_the_task_counts_anew() {
    let policy = json!({"totalTimeoutSeconds": 20, "timeoutPolicy": "TIME_OUT_WF",
        "responseTimeoutSeconds": 0, "retryCount": 0});
    let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
    run.tick(20);
    run.advance(100);
    let again = from(&run, "a");
    rerun(&mut run, again);
    run.tick(19);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.tick(1);
    run.reads(&["TIMED_OUT", "a 0 TIMED_OUT"]);
}

#[test]
fn a_wait_waits_its_whole_time_again() {
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT",
        "inputParameters": {"duration": "10s"}});
    let mut run = Bench::start(flow(&[wait]), json!({}));
    run.tick(10);
    run.reads(&["COMPLETED", "w 0 COMPLETED"]);
    run.advance(100);
    let again = from(&run, "w");
    rerun(&mut run, again);
    run.tick(9);
    run.reads(&["RUNNING", "w 0 IN_PROGRESS"]);
    run.tick(1);
    run.reads(&["COMPLETED", "w 0 COMPLETED"]);
}

#[test]
fn a_step_that_runs_at_once_does_so_again() {
    let set = json!({"name": "s", "taskReferenceName": "s", "type": "SET_VARIABLE",
        "inputParameters": {"v": "${workflow.input.v}"}});
    let mut run = Bench::start(flow(&[set]), json!({"v": 1}));
    let again = Rerun { task_input: Some(Slot(0)), ..from(&run, "s") };
    run.happen(Event::Reran(again), &[payload(&json!({"v": 2}))]).unwrap();
    run.reads(&["COMPLETED", "s 0 COMPLETED"]);
    assert_eq!(run.execution.variables().value(), json!({"v": 2}));
}

#[test]
fn what_fails_again_at_once_is_tried_again_once() {
    let policy = json!({"name": "b", "retryCount": 1, "retryDelaySeconds": 60});
    let start = json!({"name": "b", "taskReferenceName": "b", "type": "START_WORKFLOW",
        "permissive": true, "taskDefinition": policy});
    let mut run = Bench::start(flow(&[start, step("c", json!({}))]), json!({}));
    run.reads(&["RUNNING", "b 0 FAILED", "b 1 SCHEDULED"]);
    run.terminate("enough").unwrap();
    let again = from(&run, "b");
    rerun(&mut run, again);
    run.reads(&["RUNNING", "b 0 FAILED", "b 1 SCHEDULED"]);
}

#[test]
fn a_skipped_system_step_can_be_rerun_and_is_offered_to_nobody() {
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT"});
    let mut run = Bench::start(flow(&[step("a", json!({})), wait]), json!({}));
    let skip = Event::Skipped { reference: "w".to_owned(), input: Slot(0), output: Slot(0) };
    run.happen(skip, &[payload(&json!({}))]).unwrap();
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "w 0 SKIPPED"]);
    let again = from(&run, "w");
    rerun(&mut run, again);
    run.reads(&["RUNNING", "a 0 COMPLETED", "w 0 IN_PROGRESS"]);
    assert!(run.rows.is_empty());
}

fn refused(run: &mut Bench, again: Rerun, payloads: &[Value]) -> Rejection {
    let payloads: Vec<_> = payloads.iter().map(payload).collect();
    match run.happen(Event::Reran(again), &payloads) {
        Err(Stop::Rejected(rejection)) => rejection,
        other => panic!("it is refused, not {other:?}"),
    }
}

#[test]
fn a_run_that_is_not_over_cannot_be_rerun() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    assert!(matches!(refused(&mut run, Rerun::default(), &[]), Rejection::WrongState(_)));
    run.pause();
    assert!(matches!(refused(&mut run, Rerun::default(), &[]), Rejection::WrongState(_)));
}

#[test]
fn a_task_of_another_run_and_an_input_that_is_no_object_are_invalid() {
    let mut run = three();
    let other = Rerun { from: Some(TaskId::from_bytes([9; 16])), ..Rerun::default() };
    assert!(matches!(refused(&mut run, other, &[]), Rejection::Invalid(_)));
    let list = Rerun { input: Some(Slot(0)), ..Rerun::default() };
    assert!(matches!(refused(&mut run, list, &[json!([])]), Rejection::Invalid(_)));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    let list = Rerun { task_input: Some(Slot(0)), ..from(&run, "b") };
    assert!(matches!(refused(&mut run, list, &[json!([])]), Rejection::Invalid(_)));
}
