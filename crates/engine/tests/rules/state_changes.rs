//! # What a step says of the states its tasks come into
//!
//! Rules: docs/reference/rules/event-handlers.md#state-changes-and-listeners.

use semel_engine::{Change, Entry, Event, Rerun};
use semel_model::TaskResultStatus::{self, Failed, InProgress};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

/// A step that tells every state, as an event of that name, with what it can see of itself.
fn telling(step: Value) -> Value {
    let reference = step["taskReferenceName"].as_str().expect("a step has a name").to_owned();
    let payload = json!({"status": format!("${{{reference}.status}}"),
        "output": format!("${{{reference}.output.v}}"), "id": format!("${{{reference}.taskId}}")});
    let event = |name: &str| json!([{"type": name, "payload": payload}]);
    with(
        step,
        json!({"onStateChange": {"onScheduled": event("scheduled"), "onStart": event("started"),
            "onSuccess,onFailed": event("ended"), "onCancelled": event("cancelled")}}),
    )
}

/// Every event so far: its name, and the status and output its payload tells.
pub(crate) fn published(run: &Bench) -> Vec<(String, Value)> {
    let entries = run.journal.iter().map(|bytes| {
        let entry: Entry = serde_json::from_slice(bytes).expect("an entry reads back");
        entry
    });
    let of = |entry: Entry| {
        let told = entry.changes.iter().filter_map(|change| match change {
            Change::Published { sink, body, .. } => {
                Some((sink.clone(), entry.payloads[body.0 as usize].value()))
            }
            _ => None,
        });
        told.collect::<Vec<_>>()
    };
    entries.flat_map(of).collect()
}

fn told(run: &Bench) -> Vec<String> {
    let line = |(name, body): (String, Value)| {
        format!("{name} {} {}", body["status"].as_str().unwrap_or_default(), body["output"])
    };
    published(run).into_iter().map(line).collect()
}

fn worker() -> Value {
    telling(step("a", json!({"retryCount": 1, "retryDelaySeconds": 0})))
}

#[test]
fn a_worker_task_tells_its_start_with_the_first_commit_that_knows_of_it() {
    let mut run = Bench::start(flow(&[worker()]), json!({}));
    assert_eq!(told(&run), ["scheduled SCHEDULED null"]);
    let claim = run.claim("a", "ann");
    assert_eq!(told(&run).len(), 1, "a claim never touches the run");
    let progress = Said { status: InProgress, ..claim.clone() };
    run.report(&progress.output(json!({"v": 1}))).expect("the holder's report is taken");
    let begun = ["scheduled SCHEDULED null", "started SCHEDULED null"];
    assert_eq!(told(&run)[..2], begun);
    run.complete("a", json!({"v": 2}));
    assert_eq!(told(&run)[2..], ["ended COMPLETED 2"]);
    run.replay();
}

#[test]
fn a_report_that_ends_the_task_tells_both_its_start_and_its_end() {
    let mut run = Bench::start(flow(&[worker()]), json!({}));
    run.complete("a", json!({"v": 2}));
    let all = ["scheduled SCHEDULED null", "started SCHEDULED null", "ended COMPLETED 2"];
    assert_eq!(told(&run), all);
    run.replay();
}

#[test]
fn every_attempt_tells_its_own_states_and_a_repeat_tells_nothing() {
    let mut run = Bench::start(flow(&[worker()]), json!({}));
    let said = Said { status: Failed, ..run.claim("a", "ann").output(json!({"v": 1})) };
    run.report(&said).expect("the holder's report is taken");
    let first = run.attempt("a", 0).id.to_string();
    let ids: Vec<Value> = published(&run).into_iter().map(|(_, body)| body["id"].clone()).collect();
    let second = run.attempt("a", 1).id.to_string();
    assert_eq!(ids, [json!(first), json!(first), json!(first), json!(second)]);
    let lines = told(&run);
    assert_eq!(
        lines[1..],
        ["started SCHEDULED null", "ended FAILED 1", "scheduled SCHEDULED null"]
    );
    run.report(&said).expect("a repeat is heard");
    assert_eq!(told(&run), lines);
}

#[test]
fn what_ends_without_having_begun_never_tells_a_start() {
    let mut run = Bench::start(flow(&[worker()]), json!({}));
    run.terminate("enough").unwrap();
    assert_eq!(told(&run), ["scheduled SCHEDULED null", "cancelled CANCELED null"]);
}

#[test]
fn a_task_of_the_engine_tells_its_start_when_it_begins() {
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT", "startDelay": 5,
        "inputParameters": {"duration": "5s"}});
    let mut run = Bench::start(flow(&[telling(wait)]), json!({}));
    assert_eq!(told(&run), ["scheduled SCHEDULED null"]);
    run.tick(5);
    assert_eq!(told(&run)[1..], ["started IN_PROGRESS null"]);
    run.tick(5);
    assert_eq!(told(&run)[2..], ["ended COMPLETED null"]);
    let noop = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP"});
    let run = Bench::start(flow(&[telling(noop)]), json!({}));
    let all = ["scheduled IN_PROGRESS null", "started IN_PROGRESS null", "ended COMPLETED null"];
    assert_eq!(told(&run), all);
}

#[test]
fn a_failure_that_is_absorbed_is_told_as_a_failure_and_a_rerun_tells_anew() {
    let optional = with(telling(step("a", json!({"retryCount": 0}))), json!({"optional": true}));
    let mut run = Bench::start(flow(&[optional]), json!({}));
    run.fail("a", TaskResultStatus::FailedWithTerminalError, "no");
    run.reads(&["COMPLETED", "a 0 COMPLETED_WITH_ERRORS"]);
    let once = [
        "scheduled SCHEDULED null",
        "started SCHEDULED null",
        "ended FAILED_WITH_TERMINAL_ERROR null",
    ];
    assert_eq!(told(&run), once);
    let from = Some(run.attempt("a", 0).id);
    run.happen(Event::Reran(Rerun { from, ..Rerun::default() }), &[]).expect("it can be rerun");
    assert_eq!(told(&run)[3..], ["scheduled SCHEDULED null"]);
    run.complete("a", json!({}));
    run.replay();
}

#[test]
fn messages_of_one_commit_have_ids_of_their_own() {
    let both = json!([{"type": "one"}, {"type": "one"}]);
    let noop = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP",
        "onStateChange": {" onStart , onSuccess": both, "onStart": both}});
    let run = Bench::start(flow(&[noop]), json!({}));
    let entry: Entry = serde_json::from_slice(&run.journal[0]).unwrap();
    let ids = entry.changes.iter().filter_map(|change| match change {
        Change::Published { task, .. } => Some(*task),
        _ => None,
    });
    let ids: Vec<_> = ids.collect();
    let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
    assert_eq!((ids.len(), distinct.len()), (6, 6));
}

#[test]
fn steps_that_ask_for_nothing_tell_nothing() {
    let mut run = Bench::start(flow(&[step("a", json!({}))]), json!({}));
    run.complete("a", json!({}));
    assert_eq!(published(&run), []);
}
