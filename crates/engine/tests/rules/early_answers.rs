//! # Answers for tasks that are not there yet (docs/reference/idempotency.md#answers-and-decisions)

use semel_engine::{Change, Event, Progress, Rejection, Slot, Stop};
use semel_model::TaskResultStatus::{Completed, Failed, InProgress};
use semel_model::{TaskResultStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, fork, join, once, payload, step, system, with};

fn waiting(reference: &str, kind: &str) -> Value {
    let policy = json!({"taskDefinition": {"name": reference, "retryCount": 1,
        "retryDelaySeconds": 0, "responseTimeoutSeconds": 0}});
    system(reference, kind, policy)
}

fn progress(status: TaskResultStatus) -> Progress {
    Progress { status, output: Slot(0), reason: None, worker: None, callback_after_seconds: 0 }
}

fn name_as(
    run: &mut Bench,
    reference: &str,
    status: TaskResultStatus,
    output: Value,
    distinct: bool,
) -> Result<Vec<Change>, Stop> {
    let (reference, progress) = (reference.to_owned(), progress(status));
    let event = Event::Named { reference, force: false, progress, distinct };
    run.happen(event, &[payload(&output)])
}

fn name(
    run: &mut Bench,
    reference: &str,
    status: TaskResultStatus,
    output: Value,
) -> Result<Vec<Change>, Stop> {
    name_as(run, reference, status, output, false)
}

fn signal(run: &mut Bench, output: Value) -> Result<Vec<Change>, Stop> {
    let event = Event::Signalled { progress: progress(Completed), may_wait: true };
    run.happen(event, &[payload(&output)])
}

/// What is kept: for which step, with which output.
fn kept(run: &Bench) -> Vec<(Option<String>, Value)> {
    let kept = run.execution.kept_answers(run.now).into_iter();
    kept.map(|it| (it.task_reference_name, it.output.value())).collect()
}

fn for_step(reference: &str, output: Value) -> (Option<String>, Value) {
    (Some(reference.to_owned()), output)
}

/// A worker's step, then these, then another.
fn run(between: &[Value]) -> Bench {
    let steps = [&[once("a")], between, &[once("z")]].concat();
    Bench::start(flow(&steps), json!({}))
}

fn refusal(refused: Result<Vec<Change>, Stop>) -> Rejection {
    match refused {
        Err(Stop::Rejected(rejection)) => rejection,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn an_early_answer_is_kept_and_its_task_ends_with_it_in_the_commit_in_which_it_appears() {
    for kind in ["WAIT", "HUMAN", "YIELD"] {
        let mut run = run(&[waiting("w", kind)]);
        name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
        assert_eq!(kept(&run), [for_step("w", json!({"n": 1}))]);
        run.complete("a", json!({}));
        run.reads(&["RUNNING", "a 0 COMPLETED", "w 0 COMPLETED", "z 0 SCHEDULED"]);
        assert_eq!(run.output_at("w"), json!({"n": 1}), "{kind}");
        assert_eq!(kept(&run), []);
        run.replay();
    }
}

#[test]
fn an_equal_answer_is_a_repeat_and_another_is_a_conflict_before_and_after_the_task_is_there() {
    let mut run = run(&[waiting("w", "HUMAN")]);
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    assert_eq!(name(&mut run, "w", Completed, json!({"n": 1})), Ok(vec![]));
    assert_eq!(name_as(&mut run, "w", Completed, json!({"n": 1}), true), Ok(vec![]));
    let other = refusal(name(&mut run, "w", Completed, json!({"n": 2})));
    assert!(matches!(other, Rejection::Decided(_)), "{other:?}");
    run.complete("a", json!({}));
    assert_eq!(name(&mut run, "w", Completed, json!({"n": 1})), Ok(vec![]));
    for (status, output) in [(Completed, json!({"n": 2})), (Failed, json!({"n": 1}))] {
        let other = refusal(name(&mut run, "w", status, output));
        assert!(matches!(other, Rejection::Decided(_)), "{other:?}");
    }
    run.complete("z", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    let over = refusal(name(&mut run, "w", Failed, json!({})));
    assert!(matches!(over, Rejection::Decided(_)), "also when the run is over: {over:?}");
}

#[test]
fn signals_are_kept_in_order_each_for_one_wait_and_not_for_people() {
    let mut run = run(&[
        waiting("h", "HUMAN"),
        waiting("w", "WAIT"),
        waiting("y", "YIELD"),
        waiting("v", "WAIT"),
    ]);
    for n in [1, 1, 2] {
        signal(&mut run, json!({"n": n})).unwrap();
    }
    name(&mut run, "y", Completed, json!({"y": 1})).unwrap();
    run.complete("a", json!({}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "h 0 IN_PROGRESS"]);
    name(&mut run, "h", Completed, json!({})).unwrap();
    run.reads(&[
        "RUNNING",
        "a 0 COMPLETED",
        "h 0 COMPLETED",
        "w 0 COMPLETED",
        "y 0 COMPLETED",
        "v 0 COMPLETED",
        "z 0 SCHEDULED",
    ]);
    let outputs: Vec<_> = ["w", "y", "v"].map(|it| run.output_at(it)).into();
    assert_eq!(outputs, [json!({"n": 1}), json!({"y": 1}), json!({"n": 1})]);
    assert_eq!(kept(&run), [(None, json!({"n": 2}))], "what names a step comes before signals");
    run.replay();
}

#[test]
fn progress_that_is_early_leaves_the_task_open_and_is_merged() {
    let mut run = run(&[waiting("w", "WAIT")]);
    name(&mut run, "w", InProgress, json!({"seen": true})).unwrap();
    run.complete("a", json!({}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "w 0 IN_PROGRESS"]);
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    assert_eq!(run.output_at("w"), json!({"seen": true, "n": 1}));
    assert_eq!(name(&mut run, "w", Completed, json!({"n": 1})), Ok(vec![]), "a repeat");
    run.replay();
}

#[test]
fn a_decision_is_kept_behind_progress_and_both_are_for_one_task() {
    let mut run = run(&[waiting("w", "HUMAN")]);
    name(&mut run, "w", InProgress, json!({"seen": true})).unwrap();
    assert_eq!(name(&mut run, "w", InProgress, json!({"seen": true})), Ok(vec![]), "a repeat");
    name(&mut run, "w", Completed, json!({"n": 1})).expect("progress decides nothing");
    let other = refusal(name(&mut run, "w", Completed, json!({"n": 2})));
    assert!(matches!(other, Rejection::Decided(_)), "{other:?}");
    run.complete("a", json!({}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "w 0 COMPLETED", "z 0 SCHEDULED"]);
    assert_eq!(run.output_at("w"), json!({"seen": true, "n": 1}));
    run.replay();
}

#[test]
fn what_ended_with_its_run_was_decided_by_nobody() {
    let steps = [fork("f", &[&[once("b")], &[waiting("w", "HUMAN")]]), join("j", &["b", "w"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.fail("b", Failed, "no");
    assert_eq!(run.latest("w").status.as_str(), "CANCELED");
    let late = refusal(name(&mut run, "w", Completed, json!({})));
    assert_eq!(late, Rejection::NothingPending, "it is open again after a retry");
    run.happen(Event::Retried, &[]).unwrap();
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    assert_eq!(run.output_at("w"), json!({"n": 1}));
    run.replay();
}

#[test]
fn an_early_failure_is_for_the_first_attempt() {
    let mut run = run(&[waiting("w", "WAIT")]);
    name(&mut run, "w", Failed, json!({})).unwrap();
    run.complete("a", json!({}));
    run.tick(0);
    run.reads(&["RUNNING", "a 0 COMPLETED", "w 0 FAILED", "w 1 IN_PROGRESS"]);
    run.replay();
}

#[test]
fn what_nobody_can_answer_for_is_not_kept() {
    let mut run = run(&[waiting("w", "WAIT"), system("s", "SET_VARIABLE", json!({}))]);
    for (reference, words) in [
        ("z", "only answers for WAIT, HUMAN and YIELD are kept"),
        ("s", "only answers for WAIT, HUMAN and YIELD are kept"),
        ("nonsense", "has no step nonsense"),
        ("w__1", "has no step w__1"),
        ("w__0", "has no step w__0"),
    ] {
        match refusal(name(&mut run, reference, Completed, json!({}))) {
            Rejection::NotFound(why) => assert!(why.contains(words), "{why}"),
            other => panic!("{reference}: {other:?}"),
        }
    }
    let mut run = self::run(&[]);
    assert_eq!(
        refusal(signal(&mut run, json!({}))),
        Rejection::NothingPending,
        "nothing will wait"
    );
    run.terminate("enough").unwrap();
    let never = refusal(name(&mut run, "z", Completed, json!({})));
    assert_eq!(never, Rejection::NothingPending, "the run is over");
}

#[test]
fn a_step_that_comes_with_data_may_be_answered_before_anybody_knows_it() {
    let input = json!({"forkTaskName": "", "steps": "${a.output.steps}", "inputs": {}});
    let names =
        json!({"dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs"});
    let fork = with(dynamic_fork("f", input), names);
    let mut run = run(&[fork, join("j", &[])]);
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    signal(&mut run, json!({"n": 2})).unwrap();
    let branch = |name: &str| json!({"name": name, "taskReferenceName": name, "type": "WAIT"});
    run.complete("a", json!({"steps": [branch("v"), branch("w"), branch("u")]}));
    assert_eq!(run.output_at("w"), json!({"n": 1}));
    assert_eq!(run.output_at("v"), json!({"n": 2}));
    assert_eq!(run.latest("u").status.as_str(), "IN_PROGRESS");
    let unknown = refusal(name(&mut run, "t", Completed, json!({})));
    assert!(matches!(unknown, Rejection::NotFound(_)), "the branches are known: {unknown:?}");
    run.replay();
}

#[test]
fn a_step_inside_a_branch_that_came_with_data_is_answered_once() {
    let input = json!({"forkTaskName": "", "steps": "${workflow.input.steps}", "inputs": {}});
    let names =
        json!({"dynamicForkTasksParam": "steps", "dynamicForkTasksInputParamName": "inputs"});
    let fork = with(dynamic_fork("f", input), names);
    let around = json!({"name": "l", "taskReferenceName": "l", "type": "DO_WHILE",
        "loopCondition": "$.l['iteration'].valueOf() < 2",
        "loopOver": [once("b"), {"name": "w", "taskReferenceName": "w", "type": "HUMAN"}]});
    let mut run = Bench::start(flow(&[fork, join("j", &[])]), json!({"steps": [around]}));
    name(&mut run, "w__2", Completed, json!({"n": 2})).unwrap();
    let other = refusal(name(&mut run, "w__2", Completed, json!({"n": 3})));
    assert!(matches!(other, Rejection::Decided(_)), "{other:?}");
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    let unknown = refusal(name(&mut run, "w__1__1", Completed, json!({})));
    assert!(matches!(unknown, Rejection::NotFound(_)), "{unknown:?}");
    run.complete("b__1", json!({}));
    assert_eq!(run.output_at("w__1"), json!({"n": 1}));
    run.say("l", json!(true));
    run.complete("b__2", json!({}));
    assert_eq!(run.output_at("w__2"), json!({"n": 2}));
    run.replay();
}

fn looped() -> Bench {
    let around = json!({"loopCondition": "$.l['iteration'].valueOf() < 3",
        "loopOver": [step("b", json!({})), waiting("w", "WAIT")]});
    run(&[system("l", "DO_WHILE", around)])
}

#[test]
fn in_a_loop_the_name_of_the_step_means_the_next_iteration() {
    let mut run = looped();
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    assert_eq!(name(&mut run, "w", Completed, json!({"n": 1})), Ok(vec![]), "a repeat");
    name(&mut run, "w", Completed, json!({"n": 3})).unwrap();
    name(&mut run, "w__2", Completed, json!({"n": 2})).unwrap();
    run.complete("a", json!({}));
    run.complete("b__1", json!({}));
    assert_eq!(run.output_at("w__1"), json!({"n": 1}));
    run.say("l", json!(true));
    run.complete("b__2", json!({}));
    assert_eq!(run.output_at("w__2"), json!({"n": 2}), "whoever names the turn means it");
    assert_eq!(kept(&run), [for_step("w", json!({"n": 3}))]);
    run.say("l", json!(true));
    run.complete("b__3", json!({}));
    assert_eq!(run.output_at("w__3"), json!({"n": 3}));
    run.say("l", json!(false));
    assert_eq!(run.latest("z").status.as_str(), "SCHEDULED");
    let late = refusal(name(&mut run, "w", Completed, json!({"n": 4})));
    assert!(matches!(late, Rejection::Decided(_)), "the loop is over: {late:?}");
    run.replay();
}

#[test]
fn what_ended_one_iteration_is_kept_for_the_next_only_if_it_is_no_repeat() {
    let mut run = looped();
    run.complete("a", json!({}));
    run.complete("b__1", json!({}));
    name(&mut run, "w", Completed, json!({"yes": 1})).unwrap();
    assert_eq!(name(&mut run, "w", Completed, json!({"yes": 1})), Ok(vec![]));
    assert_eq!(kept(&run), []);
    name_as(&mut run, "w", Completed, json!({"yes": 1}), true).unwrap();
    assert_eq!(kept(&run), [for_step("w", json!({"yes": 1}))], "another request says the same");
    let past = refusal(name(&mut run, "w__1", Completed, json!({"no": 1})));
    assert!(matches!(past, Rejection::Decided(_)), "{past:?}");
    run.say("l", json!(true));
    run.complete("b__2", json!({}));
    assert_eq!(run.output_at("w__2"), json!({"yes": 1}));
    run.replay();
}

#[test]
fn between_two_iterations_nothing_is_kept_for_a_workers_step() {
    let mut run = looped();
    run.complete("a", json!({}));
    name(&mut run, "b", Completed, json!({"n": 1})).unwrap();
    assert_eq!(name(&mut run, "b", Completed, json!({"n": 1})), Ok(vec![]), "a repeat");
    let other = refusal(name(&mut run, "b", Completed, json!({"n": 2})));
    assert!(matches!(other, Rejection::NotFound(_)), "its next task may come: {other:?}");
    let past = refusal(name(&mut run, "b__1", Completed, json!({"n": 2})));
    assert!(matches!(past, Rejection::Decided(_)), "{past:?}");
    assert_eq!(kept(&run), []);
    name(&mut run, "w", Completed, json!({})).unwrap();
    run.say("l", json!(true));
    assert_eq!(run.latest("b__2").status.as_str(), "SCHEDULED", "its worker has it");
}

#[test]
fn what_is_kept_outlives_a_pause_and_a_retry_but_no_restart() {
    let mut run = run(&[waiting("w", "WAIT")]);
    run.pause();
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    run.resume();
    run.fail("a", Failed, "no");
    assert_eq!(run.status(), WorkflowStatus::Failed);
    run.happen(Event::Retried, &[]).unwrap();
    run.complete("a", json!({}));
    assert_eq!(run.output_at("w"), json!({"n": 1}));
    run.replay();
    let mut run = self::run(&[waiting("w", "WAIT")]);
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    run.terminate("enough").unwrap();
    run.happen(Event::Restarted { definition: None }, &[]).unwrap();
    assert_eq!(kept(&run), []);
    run.complete("a", json!({}));
    assert_eq!(run.latest("w").status.as_str(), "IN_PROGRESS", "that was said to another life");
    run.replay();
}

#[test]
fn what_is_kept_lasts_seven_days() {
    let mut run = run(&[waiting("w", "WAIT")]);
    name(&mut run, "w", Completed, json!({"n": 1})).unwrap();
    run.advance(7 * 24 * 3600);
    name(&mut run, "w", Completed, json!({"n": 2})).expect("the first counts no more");
    assert_eq!(kept(&run), [for_step("w", json!({"n": 2}))]);
    run.advance(7 * 24 * 3600);
    run.complete("a", json!({}));
    assert_eq!(run.latest("w").status.as_str(), "IN_PROGRESS");
    run.replay();
}

#[test]
fn what_was_kept_too_long_is_not_listed_and_goes_with_the_next_commit() {
    let mut run = run(&[waiting("w", "WAIT")]);
    signal(&mut run, json!({"n": 1})).unwrap();
    assert!(!run.execution.may_need_signal(run.now), "one WAIT, one signal");
    run.advance(7 * 24 * 3600);
    assert_eq!(kept(&run), []);
    assert!(run.execution.may_need_signal(run.now));
    assert_eq!(run.happen(Event::CallbacksReset, &[]), Ok(vec![]), "this alone is no commit");
    let changes = run.happen(Event::Paused, &[]).expect("it is running");
    assert!(matches!(changes[..], [Change::Paused, Change::Answer(_)]), "{changes:?}");
    run.replay();
}

#[test]
fn only_so_many_answers_and_bytes_are_kept() {
    let mut run = run(&[waiting("w", "WAIT")]);
    for n in 0..100 {
        signal(&mut run, json!({"n": n})).unwrap();
    }
    match refusal(signal(&mut run, json!({}))) {
        Rejection::Full(why) => assert!(why.contains("keeps 100 answers"), "{why}"),
        other => panic!("{other:?}"),
    }
    let mut run = self::run(&[waiting("w", "WAIT")]);
    let large = json!({"text": "x".repeat(600_000)});
    signal(&mut run, large.clone()).unwrap();
    let full = refusal(signal(&mut run, large));
    assert!(matches!(full, Rejection::Full(_)), "{full:?}");
}

#[test]
fn a_step_that_nobody_knows_is_not_found_whether_the_run_goes_on_or_not() {
    let mut run = run(&[]);
    let nobody =
        |it: &Result<Vec<Change>, Stop>| matches!(it, Err(Stop::Rejected(Rejection::NotFound(_))));
    assert!(nobody(&name(&mut run, "nobody", Completed, json!({}))));
    run.happen(Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    assert!(nobody(&name(&mut run, "nobody", Completed, json!({}))));
    let known = name(&mut run, "z", Completed, json!({}));
    assert_eq!(known, Err(Rejection::NothingPending.into()), "a step that was never reached");
}
