//! # Restart: the whole run from its beginning, under its own id
//!
//! Rules: docs/reference/rules/operations.md#restart.

use std::sync::Arc;

use semel_engine::{Event, Rejection, Start, Stop};
use semel_model::TaskResultStatus::Failed;
use semel_model::{Digest, TaskId, Timestamp};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, payload, step, with};

fn restart(run: &mut Bench) {
    run.happen(Event::Restarted { definition: None }, &[]).expect("a closed run restarts");
}

/// Registers another definition and restarts on it.
fn restart_on(run: &mut Bench, definition: Value) -> Digest {
    let definition = Arc::make_mut(&mut run.shelf).register(definition).digest();
    let event = Event::Restarted { definition: Some(definition) };
    run.happen(event, &[]).expect("a closed run restarts");
    definition
}

fn set(reference: &str, variables: Value) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "SET_VARIABLE",
        "inputParameters": variables})
}

/// A failed run whose variables were changed and that was started with everything.
fn failed() -> Bench {
    let steps = [set("s", json!({"n": 2})), step("a", json!({"retryCount": 0}))];
    let definition = with(flow(&steps), json!({"variables": {"n": 1}}));
    let mut run = Bench::unborn(definition);
    let start = Start {
        correlation_id: Some("order".to_owned()),
        priority: 7,
        task_to_domain: [("a_def".to_owned(), "blue".to_owned())].into(),
        idempotency_key: Some("key".to_owned()),
        created_by: Some("ann".to_owned()),
        ..run.plain_start()
    };
    run.happen(Event::Started(start), &[payload(&json!({"i": 1}))]).expect("a run begins");
    if let Some(question) = run.attempt("a", 0).question.clone() {
        let task = run.attempt("a", 0).id;
        let answer = semel_engine::Answer::ActiveDomains(["blue".to_owned()].into());
        let question = question.digest(task);
        run.happen(Event::Answered { task, question, answer }, &[]).expect("an answer is taken");
    }
    run.advance(5);
    run.fail("a", Failed, "no");
    run
}

#[test]
fn nothing_of_the_first_life_is_left_but_what_it_was_started_with() {
    let mut run = failed();
    assert_eq!(run.execution.variables().value(), json!({"n": 2}));
    let first = run.attempt("a", 0).id;
    run.advance(10);
    restart(&mut run);
    run.reads(&["RUNNING", "s 0 COMPLETED", "a 0 SCHEDULED"]);
    let execution = &run.execution;
    assert_eq!(run.seconds(execution.started_at()), 15);
    assert_eq!(execution.ended_at(), Timestamp::NOT_YET);
    assert_eq!(execution.last_resumed_at(), Timestamp::NOT_YET);
    assert_eq!((execution.reason(), execution.failed_task()), (None, None));
    assert_eq!(execution.output().value(), json!({}));
    assert_eq!(execution.input().value(), json!({"i": 1}));
    assert_eq!(execution.correlation_id(), Some("order"));
    assert_eq!((execution.priority(), execution.idempotency_key()), (7, Some("key")));
    assert_eq!(execution.task_to_domain().len(), 1);
    assert_eq!(run.attempt("a", 0).id, TaskId::derive(execution.id(), 1, "a", 0, 0));
    assert_ne!(run.attempt("a", 0).id, first, "ids are never given again");
}

#[test]
fn variables_are_what_the_definition_says_again() {
    let steps =
        [step("a", json!({"retryCount": 0})), set("s", json!({"n": 2})), step("b", json!({}))];
    let definition = with(flow(&steps), json!({"variables": {"n": 1}}));
    let mut run = Bench::start(definition, json!({}));
    run.complete("a", json!({}));
    run.terminate("enough").unwrap();
    restart(&mut run);
    assert_eq!(run.execution.variables().value(), json!({"n": 1}));
    run.replay();
}

#[test]
fn a_report_for_a_task_of_the_first_life_finds_no_task() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    let said = run.claim("a", "ann");
    run.terminate("enough").unwrap();
    restart(&mut run);
    let late = run.report(&said);
    assert_eq!(late, Err(Stop::Rejected(Rejection::UnknownTask(said.task))));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_run_that_is_not_over_cannot_be_restarted() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    for _ in 0..2 {
        let refused = run.happen(Event::Restarted { definition: None }, &[]);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::WrongState(_)))));
        run.pause();
    }
}

#[test]
fn a_completed_run_of_a_definition_that_is_not_restartable_stays_as_it_is() {
    let definition = with(flow(&[step("a", json!({}))]), json!({"restartable": false}));
    let mut run = Bench::start(definition.clone(), json!({}));
    run.complete("a", json!({}));
    let refused = run.happen(Event::Restarted { definition: None }, &[]);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::NotFound(_)))));
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    let mut run = Bench::start(definition, json!({}));
    run.terminate("enough").unwrap();
    restart(&mut run);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_completed_run_can_be_restarted() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.complete("a", json!({}));
    restart(&mut run);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn on_another_definition_the_run_has_its_steps_its_variables_and_its_timeout() {
    let mut run = failed();
    let other = with(
        flow(&[step("x", json!({}))]),
        json!({"version": 2, "variables": {"m": 1}, "timeoutSeconds": 30,
            "timeoutPolicy": "TIME_OUT_WF"}),
    );
    let digest = restart_on(&mut run, other);
    run.reads(&["RUNNING", "x 0 SCHEDULED"]);
    assert_eq!(run.execution.definition().digest(), digest);
    assert_eq!(run.execution.variables().value(), json!({"m": 1}));
    run.tick(30);
    run.reads(&["TIMED_OUT", "x 0 CANCELED"]);
}

#[test]
fn the_workflow_timeout_is_whole_again() {
    let limits = json!({"timeoutSeconds": 30, "timeoutPolicy": "TIME_OUT_WF"});
    let mut run = Bench::start(with(flow(&[step("a", json!({}))]), limits), json!({}));
    run.tick(30);
    run.advance(1_000);
    restart(&mut run);
    run.tick(29);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}
