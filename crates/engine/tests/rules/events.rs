//! # EVENT: a message for event handlers, once per attempt
//!
//! Rules: docs/reference/rules/task-types.md#event.

use semel_engine::{Change, Entry, Event, Start};
use semel_model::TaskResultStatus::{Completed, Failed};
use semel_model::TaskStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step, with};

fn event(sink: &str) -> Value {
    json!({"name": "e", "taskReferenceName": "e", "type": "EVENT", "sink": sink,
        "inputParameters": {"order": "${workflow.input.order}"}})
}

fn start(definition: Value) -> Bench {
    let mut run = Bench::unborn(definition);
    let start = Start { correlation_id: Some("c".to_owned()), ..run.plain_start() };
    let input = payload(&json!({"order": 7, "to": "paid"}));
    run.happen(Event::Started(start), &[input]).expect("a run begins");
    run
}

/// Everything that was published: where to, and what.
fn published(run: &Bench) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for bytes in &run.journal {
        let entry: Entry = serde_json::from_slice(bytes).expect("an entry reads back");
        for change in &entry.changes {
            if let Change::Published { sink, body, .. } = change {
                all.push((sink.clone(), entry.payloads[body.0 as usize].value()));
            }
        }
    }
    all
}

#[test]
fn what_is_published_is_the_output_and_says_where_it_comes_from() {
    let run = start(flow(&[event("conductor")]));
    run.reads(&["COMPLETED", "e 0 COMPLETED"]);
    let body = json!({"order": 7, "workflowInstanceId": run.execution.id().to_string(),
        "workflowType": "flow", "workflowVersion": 1, "correlationId": "c", "taskToDomain": {},
        "event_produced": "conductor:flow:e"});
    assert_eq!(published(&run), [("conductor:flow:e".to_owned(), body.clone())]);
    assert_eq!(run.attempt("e", 0).output.value(), body);
}

#[test]
fn a_sink_names_a_queue_of_the_workflow_and_may_be_an_expression() {
    let run = start(flow(&[event("conductor:${workflow.input.to}")]));
    assert_eq!(published(&run)[0].0, "conductor:flow:paid");
    run.replay();
}

#[test]
fn a_sink_that_is_none_fails_the_task_and_publishes_nothing() {
    for sink in ["conductorial", "conductor:", ""] {
        let run = start(flow(&[event(sink)]));
        run.reads(&["FAILED", "e 0 FAILED"]);
        let reason = run.attempt("e", 0).reason.clone().unwrap_or_default();
        assert!(reason.starts_with("Invalid / Unsupported sink specified: "), "{reason}");
        assert_eq!(published(&run), []);
    }
}

#[test]
fn with_async_complete_it_is_published_once_and_waits_for_somebody() {
    let by_flag = with(event("conductor"), json!({"asyncComplete": true}));
    let by_input = with(event("conductor"), json!({"inputParameters": {"asyncComplete": true}}));
    for step in [by_flag, by_input] {
        let mut run = start(flow(&[step]));
        run.tick(10_000);
        run.wake();
        run.reads(&["RUNNING", "e 0 IN_PROGRESS"]);
        assert_eq!(published(&run).len(), 1);
        let said = Said::new(run.attempt("e", 0).id, Completed).output(json!({"v": 1}));
        run.report(&said).unwrap();
        run.reads(&["COMPLETED", "e 0 COMPLETED"]);
        assert_eq!(run.output(), json!({"v": 1}));
    }
}

#[test]
fn the_input_decides_over_the_flag() {
    let asks = json!({"asyncComplete": true, "inputParameters": {"asyncComplete": false}});
    let run = start(flow(&[with(event("conductor"), asks)]));
    run.reads(&["COMPLETED", "e 0 COMPLETED"]);
}

#[test]
fn a_start_delay_is_heeded_and_a_run_that_ends_meanwhile_publishes_nothing() {
    let mut run = start(flow(&[with(event("conductor"), json!({"startDelay": 5}))]));
    run.reads(&["RUNNING", "e 0 SCHEDULED"]);
    let mut other = run.clone();
    run.tick(5);
    run.reads(&["COMPLETED", "e 0 COMPLETED"]);
    assert_eq!(published(&run).len(), 1);
    other.terminate("enough").unwrap();
    other.tick(5);
    assert_eq!(published(&other), []);
}

#[test]
fn every_attempt_publishes_once() {
    let policy = json!({"name": "e", "retryCount": 1, "retryDelaySeconds": 0,
        "responseTimeoutSeconds": 0});
    let asks = json!({"asyncComplete": true, "taskDefinition": policy});
    let steps = [with(event("conductor"), asks), step("a", json!({}))];
    let mut run = start(flow(&steps));
    let failed = Said::new(run.attempt("e", 0).id, Failed);
    run.report(&failed).unwrap();
    run.report(&failed).expect("a repeat is harmless");
    assert_eq!(run.attempt("e", 1).status, TaskStatus::InProgress);
    assert_eq!(published(&run).len(), 2);
    run.replay();
}
