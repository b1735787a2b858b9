//! # Status listeners: what a run tells of itself and of its tasks
//!
//! Rules: docs/reference/rules/event-handlers.md#state-changes-and-listeners.

use semel_engine::{Event, Rerun};
use semel_model::TaskResultStatus::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};
use crate::state_changes::published;

/// A run whose definition asks for it, with one step.
fn listened(fields: Value) -> Bench {
    let definition = with(flow(&[step("a", json!({"retryCount": 0}))]), fields);
    let definition = with(definition, json!({"workflowStatusListenerEnabled": true}));
    Bench::start(definition, json!({}))
}

fn told(run: &Bench, sink: &str) -> Vec<String> {
    let news = published(run).into_iter().filter(|(found, _)| found == sink);
    let line = |(_, body): (String, Value)| {
        let [event, status] = ["event", "status"].map(|key| body[key].as_str().unwrap_or("none"));
        format!("{event} {status}")
    };
    news.map(line).collect()
}

fn told_of_run(run: &Bench) -> Vec<String> {
    told(run, "conductor:flow:_status")
}

#[test]
fn a_run_tells_when_it_begins_pauses_goes_on_and_ends() {
    let mut run = listened(json!({}));
    run.pause();
    run.pause();
    run.resume();
    run.complete("a", json!({"v": 1}));
    let turns = [
        "STARTED RUNNING",
        "PAUSED PAUSED",
        "RESUMED RUNNING",
        "COMPLETED COMPLETED",
        "FINALIZED COMPLETED",
    ];
    assert_eq!(told_of_run(&run), turns);
    let (_, last) = published(&run).pop().expect("it told something");
    assert_eq!(last["workflowId"], run.execution.id().to_string());
    assert_eq!((&last["workflowType"], &last["version"]), (&json!("flow"), &json!(1)));
    assert_eq!(last["output"], json!({"v": 1}));
    assert_eq!(last["endTime"], json!(run.now));
    run.replay();
}

#[test]
fn a_run_that_lives_again_says_how() {
    let mut run = listened(json!({}));
    run.fail("a", Failed, "no");
    let first = ["STARTED RUNNING", "TERMINATED FAILED", "FINALIZED FAILED"];
    assert_eq!(told_of_run(&run), first);
    let (_, last) = published(&run).pop().expect("it told something");
    assert!(last["reasonForIncompletion"].as_str().unwrap_or_default().contains("'no'"), "{last}");
    assert_eq!(last["failedTaskId"], run.attempt("a", 0).id.to_string());
    for (event, word) in [
        (Event::Retried, "RETRIED RUNNING"),
        (Event::Restarted { definition: None }, "RESTARTED RUNNING"),
        (Event::Reran(Rerun::default()), "RERAN RUNNING"),
    ] {
        let mut again = run.clone();
        again.happen(event, &[]).expect("a failed run can live again");
        assert_eq!(told_of_run(&again)[3..], [word]);
        again.terminate("enough").unwrap();
        assert_eq!(told_of_run(&again)[4..], ["TERMINATED TERMINATED", "FINALIZED TERMINATED"]);
        again.replay();
    }
}

#[test]
fn tasks_are_told_of_unless_their_definition_says_otherwise() {
    let mut run = listened(json!({}));
    run.complete("a", json!({}));
    let turns = ["SCHEDULED SCHEDULED", "IN_PROGRESS IN_PROGRESS", "COMPLETED COMPLETED"];
    assert_eq!(told(&run, "conductor:flow:_tasks"), turns);
    let news = published(&run).into_iter().find(|(sink, _)| sink.ends_with("_tasks"));
    let news = news.expect("a task was told of").1;
    assert_eq!(news["taskId"], run.attempt("a", 0).id.to_string());
    assert_eq!((&news["referenceTaskName"], &news["taskType"]), (&json!("a"), &json!("a_def")));
    let silent = step("a", json!({"retryCount": 0, "taskStatusListenerEnabled": false}));
    let mut run = listened(json!({"tasks": [silent]}));
    run.fail("a", Failed, "no");
    assert_eq!(told(&run, "conductor:flow:_tasks"), [""; 0]);
    assert_eq!(told_of_run(&run).len(), 3);
}

#[test]
fn a_sink_may_name_another_queue_of_ours_and_what_is_none_is_passed_over() {
    for (sink, event) in [
        ("conductor:turns", "conductor:flow:turns"),
        ("conductor", "conductor:flow:_status"),
        ("kafka:turns", "conductor:flow:_status"),
        ("archive", "conductor:flow:_status"),
    ] {
        let run = listened(json!({"workflowStatusListenerSink": sink}));
        assert_eq!(told(&run, event), ["STARTED RUNNING"], "{sink}");
    }
}

#[test]
fn a_large_output_is_left_out() {
    let mut run = listened(json!({}));
    run.complete("a", json!({"v": "x".repeat(256 * 1024)}));
    let (_, last) = published(&run).pop().expect("it told something");
    assert_eq!((&last["event"], last.get("output")), (&json!("FINALIZED"), None));
}

#[test]
fn a_definition_that_does_not_ask_tells_nothing() {
    let mut run = listened(json!({}));
    run.complete("a", json!({}));
    assert!(!published(&run).is_empty());
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.pause();
    run.resume();
    run.complete("a", json!({}));
    assert_eq!(published(&run), []);
}
