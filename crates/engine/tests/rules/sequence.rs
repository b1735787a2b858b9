//! # Sequence: one step after the other, then the end
//!
//! Rules:
//! * docs/reference/rules/progress.md#successor-of-a-step
//! * docs/reference/rules/progress.md#completion
//! * docs/reference/rules/progress.md#output-of-a-run

use semel_engine::{Event, Stop};
use semel_model::TaskId;
use serde_json::json;

use crate::bench::{BEGIN, Bench};
use crate::shapes::{flow, payload, step, with};

#[test]
fn steps_run_one_after_the_other_and_the_last_one_completes_the_run() {
    let mut run = Bench::start(flow(&[step("a", json!({})), step("b", json!({}))]), json!({}));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    run.complete("a", json!({"v": 1}));
    run.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
    run.advance(5);
    run.complete("b", json!({"w": 2}));
    run.reads(&["COMPLETED", "a 0 COMPLETED", "b 0 COMPLETED"]);
    assert_eq!(run.execution.reason(), None);
    assert_eq!(run.execution.ended_at(), run.now);
    assert!(run.rows.is_empty());
    assert!(!run.execution.is_live());
    let numbers: Vec<_> = run.execution.tasks().map(|task| task.seq).collect();
    assert_eq!(numbers, [1, 2]);
}

#[test]
fn task_ids_are_derived_from_where_they_stand() {
    let mut run = Bench::start(flow(&[step("a", json!({})), step("b", json!({}))]), json!({}));
    run.complete("a", json!({}));
    let id = run.execution.id();
    assert_eq!(run.attempt("a", 0).id, TaskId::derive(id, 0, "a", 0, 0));
    assert_eq!(run.attempt("b", 0).id, TaskId::derive(id, 0, "b", 0, 0));
}

#[test]
fn a_delivery_carries_the_queue_the_priority_and_the_input() {
    let mut run = Bench::unborn(flow(&[with(
        step("a", json!({})),
        json!({"inputParameters": {"n": "${workflow.input.n}"}}),
    )]));
    let start = semel_engine::Start {
        priority: 9,
        correlation_id: Some("order-1".to_owned()),
        ..run.plain_start()
    };
    run.happen(Event::Started(start), &[payload(&json!({"n": 3}))]).unwrap();
    let row = run.row("a");
    assert_eq!((row.queue.to_string().as_str(), row.priority), ("a_def", 9));
    assert_eq!(row.correlation_id.as_deref(), Some("order-1"));
    assert_eq!(row.input.value(), json!({"n": 3}));
    assert_eq!((row.ready_at, row.hand_out.fence, row.hand_out.armed), (BEGIN, 0, true));
    run.replay();
}

#[test]
fn without_output_parameters_the_output_is_that_of_the_last_task() {
    let mut run = Bench::start(flow(&[step("a", json!({})), step("b", json!({}))]), json!({}));
    run.complete("a", json!({"v": 1}));
    assert_eq!(run.output(), json!({}), "a running one has none");
    run.complete("b", json!({"w": [2]}));
    assert_eq!(run.output(), json!({"w": [2]}));
    run.replay();
}

#[test]
fn output_parameters_are_resolved_when_the_run_ends() {
    let parameters = json!({"outputParameters": {
        "v": "${a.output.v}", "never": "${b.output.v}", "from": "${workflow.input.from}"}});
    let definition = with(flow(&[step("a", json!({}))]), parameters);
    let mut run = Bench::start(definition, json!({"from": "here"}));
    run.complete("a", json!({"v": {"deep": true}}));
    assert_eq!(run.output(), json!({"v": {"deep": true}, "never": null, "from": "here"}));
    run.replay();
}

#[test]
fn a_start_delay_hides_the_task_until_it_is_over() {
    let delayed = with(step("a", json!({})), json!({"startDelay": 30}));
    let run = Bench::start(flow(&[delayed]), json!({}));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
    assert_eq!(run.seconds(run.row("a").ready_at), 30);
    assert_eq!(run.attempt("a", 0).callback_after_seconds, 30);
}

#[test]
fn a_definition_without_steps_completes_at_once_and_says_why() {
    let run = Bench::start(flow(&[]), json!({}));
    run.reads(&["COMPLETED"]);
    assert_eq!(run.reason(), "No tasks found to be executed");
}

#[test]
fn a_second_start_changes_nothing() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({"n": 1}));
    let again = Event::Started(run.plain_start());
    assert_eq!(run.happen(again, &[payload(&json!({"n": 2}))]), Ok(vec![]));
    assert_eq!(run.execution.input().value(), json!({"n": 1}));
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn an_input_that_is_no_object_is_refused_and_leaves_nothing_behind() {
    let mut run = Bench::unborn(flow(&[step("a", json!({}))]));
    let start = Event::Started(run.plain_start());
    let refused = run.happen(start, &[payload(&json!([1]))]);
    assert!(matches!(refused, Err(Stop::Rejected(_))), "{refused:?}");
    run.reads(&["UNBORN"]);
}

#[test]
fn time_never_runs_backwards_inside_a_run() {
    let mut run = Bench::start(flow(&[step("a", json!({})), step("b", json!({}))]), json!({}));
    let said = run.claim("a", "ann");
    run.now = BEGIN.plus_seconds(-60);
    run.report(&said).unwrap();
    assert_eq!(run.attempt("b", 0).scheduled_at, BEGIN);
    run.replay();
}
