//! # Messages to a run, and PULL_WORKFLOW_MESSAGES
//!
//! Rules: docs/reference/rules/task-types.md#pull_workflow_messages.

use semel_engine::{Event, Rejection, Rerun, Slot, Stop};
use semel_model::TaskResultStatus::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step, with};

const DAY: i64 = 24 * 60 * 60;

fn pull(reference: &str, input: Value) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "PULL_WORKFLOW_MESSAGES",
        "inputParameters": input})
}

fn post(run: &mut Bench, id: &str, body: Value) -> Result<usize, Stop> {
    post_as(run, id, true, body)
}

fn post_as(run: &mut Bench, id: &str, named: bool, body: Value) -> Result<usize, Stop> {
    let event = Event::Posted { id: id.to_owned(), named, payload: Slot(0) };
    run.happen(event, &[payload(&body)]).map(|changes| changes.len())
}

/// The ids that the newest task at a step has pulled.
fn pulled(run: &Bench, reference: &str) -> Vec<String> {
    let output = run.execution.latest(reference).expect("it was reached").output.value();
    let messages = output["messages"].as_array().expect("a list").iter();
    let ids: Vec<String> =
        messages.map(|it| it["id"].as_str().unwrap_or_default().to_owned()).collect();
    assert_eq!(output["count"], json!(ids.len()));
    ids
}

/// A run that has not come to its pulls yet, and has these messages.
fn before(steps: &[Value], ids: &[&str]) -> Bench {
    let mut all = vec![step("a", json!({"retryCount": 0}))];
    all.extend_from_slice(steps);
    let mut run = Bench::start(flow(&all), json!({}));
    for id in ids {
        post(&mut run, id, json!({"of": id})).expect("a running run takes messages");
    }
    run
}

#[test]
fn a_waiting_task_takes_a_message_in_the_decision_that_brings_it() {
    let steps = [pull("p", json!({"batchSize": 10})), step("b", json!({}))];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.reads(&["RUNNING", "p 0 IN_PROGRESS"]);
    run.advance(5);
    post(&mut run, "m1", json!({"amount": 1.10})).expect("a running run takes messages");
    run.reads(&["RUNNING", "p 0 COMPLETED", "b 0 SCHEDULED"]);
    let output = run.attempt("p", 0).output.value();
    let message = json!({"id": "m1", "workflowId": run.execution.id().to_string(),
        "payload": {"amount": 1.10}, "receivedAt": "2023-11-14T22:13:25Z"});
    assert_eq!(output, json!({"messages": [message], "count": 1}));
    assert_eq!(run.execution.messages_waiting(), 0);
}

#[test]
fn messages_are_pulled_first_in_first_out_and_in_batches() {
    let steps = [pull("p", json!({})), pull("q", json!({"batchSize": "2"})), pull("r", json!({}))];
    let mut run = before(&steps, &["m1", "m2", "m3", "m4"]);
    run.complete("a", json!({}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "p 0 COMPLETED", "q 0 COMPLETED", "r 0 COMPLETED"]);
    assert_eq!(pulled(&run, "p"), ["m1"]);
    assert_eq!(pulled(&run, "q"), ["m2", "m3"]);
    assert_eq!(pulled(&run, "r"), ["m4"]);
}

#[test]
fn a_batch_is_at_least_one_and_at_most_a_hundred() {
    let ids: Vec<String> = (0..120).map(|number| format!("m{number:03}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let steps = [pull("p", json!({"batchSize": 0})), pull("q", json!({"batchSize": 5000}))];
    let mut run = before(&steps, &ids);
    run.complete("a", json!({}));
    assert_eq!(pulled(&run, "p"), ["m000"]);
    assert_eq!(pulled(&run, "q"), ids[1..101]);
}

#[test]
fn a_task_that_does_not_block_is_over_without_messages() {
    for blocking in [json!(false), json!("false")] {
        let mut run = before(&[pull("p", json!({"blocking": blocking}))], &[]);
        run.complete("a", json!({}));
        run.reads(&["COMPLETED", "a 0 COMPLETED", "p 0 COMPLETED"]);
        assert_eq!(run.attempt("p", 0).output.value(), json!({"messages": [], "count": 0}));
    }
}

#[test]
fn of_two_that_wait_the_first_takes_and_then_the_other() {
    let branches = json!([[pull("p", json!({}))], [pull("q", json!({}))]]);
    let fork = json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN",
        "forkTasks": branches});
    let join = json!({"name": "j", "taskReferenceName": "j", "type": "JOIN", "joinOn": ["p", "q"]});
    let mut run = Bench::start(flow(&[fork, join]), json!({}));
    post(&mut run, "m1", json!({})).unwrap();
    post(&mut run, "m2", json!({})).unwrap();
    assert_eq!(
        (pulled(&run, "p"), pulled(&run, "q")),
        (vec!["m1".to_owned()], vec!["m2".to_owned()])
    );
    assert_eq!(run.status().as_str(), "COMPLETED");
}

#[test]
fn a_message_posted_twice_under_its_id_is_there_once_pulled_or_not() {
    let mut run = before(&[pull("p", json!({"batchSize": 9})), step("b", json!({}))], &["m1"]);
    assert_eq!(post(&mut run, "m1", json!({"of": "m1"})), Ok(0));
    let refused = post(&mut run, "m1", json!({"of": "other"})).expect_err("another message");
    assert!(matches!(refused, Stop::Rejected(Rejection::WrongState(_))), "{refused}");
    run.complete("a", json!({}));
    assert_eq!(pulled(&run, "p"), ["m1"]);
    assert_eq!(post(&mut run, "m1", json!({"of": "m1"})), Ok(0), "it was pulled");
    assert_eq!(post_as(&mut run, "u1", false, json!({})), Ok(1));
    assert_eq!(
        post_as(&mut run, "u1", false, json!({})),
        Ok(1),
        "only senders' ids are known again"
    );
    run.complete("b", json!({}));
    assert_eq!(post(&mut run, "m1", json!({"of": "m1"})), Ok(0), "the first answer stands");
    run.replay();
}

#[test]
fn only_a_running_run_takes_messages_and_only_objects_of_some_size() {
    let mut run = before(&[pull("p", json!({}))], &[]);
    for body in [json!([1]), json!({"big": "x".repeat(1024 * 1024)})] {
        let refused = post(&mut run, "m1", body).expect_err("not such a message");
        assert!(matches!(refused, Stop::Rejected(Rejection::Invalid(_))), "{refused}");
    }
    run.pause();
    let refused = post(&mut run, "m1", json!({})).expect_err("it is paused");
    assert!(matches!(refused, Stop::Rejected(Rejection::WrongState(_))), "{refused}");
    run.resume();
    run.terminate("enough").unwrap();
    let refused = post(&mut run, "m1", json!({})).expect_err("it is over");
    assert!(refused.to_string().contains("it is TERMINATED, not RUNNING"), "{refused}");
}

#[test]
fn a_mailbox_takes_a_thousand_messages_or_eight_mebibytes() {
    let mut run = before(&[pull("p", json!({}))], &[]);
    for number in 0..1000 {
        post(&mut run, &format!("m{number}"), json!({})).expect("there is room");
    }
    let refused = post(&mut run, "late", json!({})).expect_err("there is none");
    assert!(matches!(refused, Stop::Rejected(Rejection::Full(_))), "{refused}");
    run.complete("a", json!({}));
    assert_eq!(run.execution.messages_waiting(), 0, "it is over, and they are gone");
    let mut run = before(&[], &[]);
    let big = json!({"big": "x".repeat(1000 * 1024)});
    let taken = (0..20).take_while(|at| post(&mut run, &format!("m{at}"), big.clone()).is_ok());
    assert_eq!(taken.count(), 8);
}

#[test]
fn a_message_lasts_a_day_and_makes_room_when_it_is_too_old() {
    let mut run = before(&[pull("p", json!({"blocking": false, "batchSize": 9}))], &["m1"]);
    run.advance(DAY - 1);
    post(&mut run, "m2", json!({})).unwrap();
    assert_eq!(run.execution.messages_waiting(), 2);
    run.advance(1);
    let mut late = run.clone();
    run.complete("a", json!({}));
    assert_eq!(pulled(&run, "p"), ["m2"]);
    run.replay();
    post(&mut late, "m3", json!({})).unwrap();
    assert_eq!(late.execution.messages_waiting(), 2);
}

#[test]
fn an_attempt_that_fails_has_taken_nothing_and_its_successor_pulls() {
    let policy = json!({"name": "p", "retryCount": 1, "retryDelaySeconds": 10});
    let mut run = Bench::start(
        flow(&[with(pull("p", json!({})), json!({"taskDefinition": policy}))]),
        json!({}),
    );
    let said = Said::new(run.attempt("p", 0).id, Failed);
    run.report(&said).expect("anybody may answer for it");
    post(&mut run, "m1", json!({})).unwrap();
    assert_eq!(run.execution.messages_waiting(), 1);
    run.tick(10);
    run.reads(&["COMPLETED", "p 0 FAILED", "p 1 COMPLETED"]);
    assert_eq!(pulled(&run, "p"), ["m1"]);
}

#[test]
fn what_a_task_pulled_is_there_again_when_it_is_done_again() {
    let steps = [
        pull("p", json!({})),
        pull("q", json!({"batchSize": 2})),
        step("b", json!({"retryCount": 0})),
    ];
    let mut run = before(&steps, &["m1", "m2", "m3", "m4"]);
    run.complete("a", json!({}));
    run.fail("b", Failed, "no");
    run.reads(&["FAILED", "a 0 COMPLETED", "p 0 COMPLETED", "q 0 COMPLETED", "b 0 FAILED"]);
    assert_eq!(run.execution.messages_waiting(), 0);
    let from = |reference: &str| {
        Event::Reran(Rerun { from: Some(run.attempt(reference, 0).id), ..Rerun::default() })
    };
    for event in [from("q"), from("p"), from("a"), Event::Restarted { definition: None }] {
        let mut again = run.clone();
        again.happen(event.clone(), &[]).expect("it can be run again");
        if again.execution.latest("a").is_some_and(|task| !task.status.is_terminal()) {
            again.complete("a", json!({}));
        }
        assert_eq!(pulled(&again, "p"), ["m1"], "{event:?}");
        assert_eq!(pulled(&again, "q"), ["m2", "m3"], "{event:?}");
        assert_eq!(again.execution.messages_waiting(), 0, "what nobody pulled is gone");
        again.replay();
    }
    run.happen(Event::Retried, &[]).expect("a failed run can be retried");
    assert_eq!(pulled(&run, "q"), ["m2", "m3"], "what is not done again keeps what it has");
    assert_eq!(run.execution.messages_waiting(), 0);
}

#[test]
fn what_nobody_pulled_may_be_posted_again_when_the_run_lives_again() {
    let mut run = before(&[pull("p", json!({}))], &["m1"]);
    run.fail("a", Failed, "no");
    run.happen(Event::Retried, &[]).expect("a failed run can be retried");
    assert_eq!(post(&mut run, "m1", json!({"of": "m1"})), Ok(1));
    run.complete("a", json!({}));
    assert_eq!(pulled(&run, "p"), ["m1"]);
}

#[test]
fn a_loop_pulls_message_after_message_and_forgets_turns_without_giving_back() {
    let around = json!({"name": "l", "taskReferenceName": "l", "type": "DO_WHILE",
        "items": "${workflow.input.turns}",
        "inputParameters": {"keepLastN": 1}, "loopOver": [pull("p", json!({}))]});
    let mut run = Bench::start(flow(&[around]), json!({"turns": [1, 2, 3]}));
    for id in ["m1", "m2", "m3"] {
        post(&mut run, id, json!({})).unwrap();
        assert_eq!(run.execution.messages_waiting(), 0);
    }
    assert_eq!(run.status().as_str(), "COMPLETED");
    assert_eq!(pulled(&run, "p__3"), ["m3"]);
    run.replay();
}
