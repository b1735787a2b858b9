//! What a run does that comes to its gate, and what it leaves behind
//! (docs/reference/idempotency.md#gates).

use std::sync::Arc;

use semel_engine::{
    Change, Event, GATE_SCOPE, Record, RecordKey, RecordState, Rejection, Rerun, Slot, Stop,
};
use semel_model::{ConcurrencyPolicy, ExecutionId, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::{BEGIN, Bench};
use crate::shapes::payload;
use crate::shelf::Shelf;

fn one() -> ExecutionId {
    ExecutionId::from_bytes([1; 16])
}

fn own() -> ExecutionId {
    ExecutionId::from_bytes([7; 16])
}

fn gate(key: &str) -> RecordKey {
    RecordKey { scope: format!("{GATE_SCOPE}sync"), key: key.to_owned() }
}

fn definition(concurrency: &Value) -> Value {
    json!({"name": "sync", "version": 1, "concurrency": concurrency, "tasks": [
        {"name": "copy", "taskReferenceName": "copy", "type": "SIMPLE"}]})
}

/// A gate with these runs past it, and so many in line.
fn record(holders: &[ExecutionId], line: u64) -> Record {
    let mut record = Record::new(RecordState::Claimed, BEGIN);
    record.detail.holders = holders.to_vec();
    record.detail.line = line;
    record
}

fn bench(concurrency: &Value, record: Option<Record>) -> Bench {
    let mut shelf = Shelf::default();
    let pinned = shelf.pin(definition(concurrency));
    if let Some(record) = record {
        shelf.guards.insert(gate("a"), record);
    }
    Bench::unborn_as(own(), pinned, Arc::new(shelf))
}

fn keyed(policy: &str) -> Value {
    json!({"key": "${workflow.input.account}", "policy": policy})
}

fn begin(bench: &mut Bench, input: &Value) -> Result<Vec<Change>, Stop> {
    let start = bench.plain_start();
    bench.happen(Event::Started(start), &[payload(input)])
}

/// The gate is now so.
fn regard(bench: &mut Bench, record: Option<Record>) {
    let shelf = Arc::make_mut(&mut bench.shelf);
    match record {
        Some(record) => shelf.guards.insert(gate("a"), record),
        None => shelf.guards.remove(&gate("a")),
    };
}

fn holders(changes: &[Change]) -> Option<Option<Vec<ExecutionId>>> {
    changes.iter().rev().find_map(|change| match change {
        Change::Guarded { record, .. } => {
            Some(record.as_ref().map(|record| record.detail.holders.clone()))
        }
        _ => None,
    })
}

fn lets_go(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::LetGo { all: false, .. }))
}

#[test]
fn a_run_takes_a_place_and_gives_it_back_when_it_ends() {
    let mut bench = bench(&keyed("QUEUE"), None);
    let begun = begin(&mut bench, &json!({"account": "a"})).unwrap();
    assert_eq!(holders(&begun), Some(Some(vec![own()])));
    assert_eq!(bench.execution.concurrency_key(), Some("a"));
    regard(&mut bench, Some(record(&[own()], 1)));
    let terminated = Event::Terminated { reason: None, compensate: false };
    let ended = bench.happen(terminated, &[]).unwrap();
    assert_eq!((holders(&ended), lets_go(&ended)), (Some(Some(vec![])), true));
    assert_eq!(bench.execution.concurrency_key(), None);
}

#[test]
fn the_last_one_leaves_nothing_behind() {
    let mut bench = bench(&keyed("QUEUE"), None);
    begin(&mut bench, &json!({"account": "a"})).unwrap();
    regard(&mut bench, Some(record(&[own()], 0)));
    let terminated = Event::Terminated { reason: None, compensate: false };
    let ended = bench.happen(terminated, &[]).unwrap();
    assert_eq!((holders(&ended), lets_go(&ended)), (Some(None), false));
}

#[test]
fn a_key_that_is_blank_is_not_counted() {
    for input in [json!({}), json!({"account": null}), json!({"account": " "})] {
        let mut bench = bench(&keyed("FAIL"), Some(record(&[one()], 0)));
        let begun = begin(&mut bench, &input).unwrap();
        assert_eq!(holders(&begun), None, "{input}");
    }
}

#[test]
fn a_start_beyond_the_limit_is_refused_or_waits_as_the_policy_says() {
    for (policy, waits) in [
        (ConcurrencyPolicy::Queue, true),
        (ConcurrencyPolicy::Coalesce, true),
        (ConcurrencyPolicy::Skip, false),
        (ConcurrencyPolicy::Fail, false),
        (ConcurrencyPolicy::CancelRunning, false),
        (ConcurrencyPolicy::TerminateRunning, false),
    ] {
        let mut bench = bench(&keyed(policy.as_str()), Some(record(&[one()], 0)));
        match begin(&mut bench, &json!({"account": "a"})) {
            Ok(_) => {
                assert!(waits && bench.execution.is_queued(), "{policy}");
                assert_eq!(bench.execution.blocked_by(), Some(one()));
                assert_eq!(bench.execution.task_count(), 0);
            }
            Err(Stop::Rejected(Rejection::Limited(limited))) => {
                assert!(!waits, "{policy}");
                assert_eq!((limited.policy, limited.blocked_by), (policy, Some(one())));
            }
            Err(other) => panic!("{policy}: {other}"),
        }
    }
}

#[test]
fn a_run_whose_turn_it_is_begins_and_one_that_is_over_gives_it_up() {
    let mut waiting = bench(&keyed("QUEUE"), Some(record(&[one()], 0)));
    let begun = begin(&mut waiting, &json!({"account": "a"})).unwrap();
    let claim = begun.iter().find_map(|change| match change {
        Change::Awaits { claim, .. } => Some(claim.clone()),
        _ => None,
    });
    let RecordKey { scope, key } = gate("a");
    let turn = Event::Told(semel_engine::Message::YourTurn {
        task: None,
        scope,
        key,
        claim: claim.unwrap(),
    });
    let mut over = waiting.clone();
    regard(&mut waiting, Some(record(&[own()], 0)));
    waiting.happen(turn.clone(), &[]).unwrap();
    assert!(!waiting.execution.is_queued());
    assert_eq!(waiting.execution.open_count(), 1);
    assert_eq!(waiting.happen(turn.clone(), &[]).unwrap(), [], "said twice is said once");
    regard(&mut over, Some(record(&[one()], 1)));
    let terminated = Event::Terminated { reason: None, compensate: false };
    let left = over.happen(terminated, &[]).unwrap();
    assert!(left.iter().any(|change| matches!(change, Change::LeftLine { task: None, .. })));
    regard(&mut over, Some(record(&[own()], 1)));
    let passed_on = over.happen(turn, &[]).unwrap();
    assert_eq!((holders(&passed_on), lets_go(&passed_on)), (Some(Some(vec![])), true));
}

#[test]
fn a_run_waits_only_so_long() {
    let mut waiting = bench(
        &json!({"key": "${workflow.input.account}", "queueTimeoutSeconds": 60}),
        Some(record(&[one()], 0)),
    );
    begin(&mut waiting, &json!({"account": "a"})).unwrap();
    regard(&mut waiting, Some(record(&[one()], 1)));
    assert_eq!(waiting.execution.wake_at(), Some(BEGIN.plus_seconds(60)));
    waiting.tick(60);
    assert_eq!(waiting.execution.status(), Some(WorkflowStatus::Failed));
    let reason = waiting.execution.reason().unwrap_or_default();
    assert!(reason.contains("queueTimeoutSeconds"), "{reason}");
}

#[test]
fn whoever_waits_takes_in_a_later_input_once() {
    let mut waiting = bench(&keyed("COALESCE"), Some(record(&[one()], 0)));
    begin(&mut waiting, &json!({"account": "a", "n": 1})).unwrap();
    let later = payload(&json!({"account": "a", "n": 2}));
    let coalesced = Event::Coalesced { input: Slot(0) };
    let changes = waiting.happen(coalesced.clone(), std::slice::from_ref(&later)).unwrap();
    assert!(matches!(&changes[..], [Change::InputSet { .. }]), "{changes:?}");
    assert_eq!(waiting.happen(coalesced, &[later]).unwrap(), []);
    assert_eq!(waiting.execution.input().value()["n"], 2);
}

#[test]
fn a_run_that_lives_again_needs_a_place_again() {
    let mut run = bench(&keyed("QUEUE"), None);
    begin(&mut run, &json!({"account": "a"})).unwrap();
    regard(&mut run, Some(record(&[own()], 0)));
    run.happen(Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    regard(&mut run, Some(record(&[one()], 0)));
    for again in [Event::Retried, Event::Restarted { definition: None }] {
        let mut waiting = run.clone();
        waiting.happen(again, &[]).unwrap();
        assert!(waiting.execution.is_queued());
        assert_eq!(waiting.execution.open_count(), 0);
    }
    regard(&mut run, None);
    let revived = run.happen(Event::Retried, &[]).unwrap();
    assert_eq!(holders(&revived), Some(Some(vec![own()])));
}

/// A run that failed, while another has its place.
fn left(policy: &str) -> Bench {
    let mut run = bench(&keyed(policy), None);
    begin(&mut run, &json!({"account": "a"})).expect("it begins");
    regard(&mut run, Some(record(&[own()], 0)));
    run.happen(Event::Terminated { reason: None, compensate: false }, &[])
        .expect("a live run can be ended");
    regard(&mut run, Some(record(&[one()], 0)));
    run
}

/// Its turn has come.
fn turn(run: &mut Bench, queued: &[Change]) -> Vec<Change> {
    let claim = queued.iter().find_map(|change| match change {
        Change::Awaits { claim, .. } => Some(claim.clone()),
        _ => None,
    });
    let (claim, RecordKey { scope, key }) = (claim.expect("it waits in line"), gate("a"));
    regard(run, Some(record(&[own()], 0)));
    let turn = semel_engine::Message::YourTurn { task: None, scope, key, claim };
    run.happen(Event::Told(turn), &[]).expect("it hears of its turn")
}

#[test]
fn what_it_was_revived_for_is_done_when_its_turn_comes() {
    let mut retried = left("QUEUE");
    let queued = retried.happen(Event::Retried, &[]).unwrap();
    turn(&mut retried, &queued);
    retried.reads(&["RUNNING", "copy 0 CANCELED", "copy 1 SCHEDULED"]);
    let mut rerun = left("QUEUE");
    let from = Some(rerun.attempt("copy", 0).id);
    let again = Rerun { from, task_input: Some(Slot(0)), ..Rerun::default() };
    let again = Event::Redone(Box::new(Event::Reran(again)));
    let before = rerun.execution.effect_key("copy");
    let queued = rerun.happen(again, &[payload(&json!({"n": 2}))]).unwrap();
    rerun.reads(&["RUNNING", "copy 0 CANCELED"]);
    assert_eq!(rerun.execution.effect_key("copy"), before);
    rerun.reopen();
    turn(&mut rerun, &queued);
    rerun.reads(&["RUNNING", "copy 0 SCHEDULED"]);
    assert_eq!(rerun.row("copy").input.value(), json!({"n": 2}));
    assert_ne!(rerun.execution.effect_key("copy"), before, "it was asked for once more");
}

#[test]
fn a_revived_run_that_is_let_through_while_paused_goes_on_when_it_is_resumed() {
    let mut run = left("QUEUE");
    let queued = run.happen(Event::Retried, &[]).unwrap();
    run.happen(Event::Paused, &[]).unwrap();
    turn(&mut run, &queued);
    assert_eq!(run.execution.open_count(), 0);
    run.happen(Event::Resumed, &[]).unwrap();
    run.reads(&["RUNNING", "copy 0 CANCELED", "copy 1 SCHEDULED"]);
    run.happen(Event::Paused, &[]).unwrap();
    run.happen(Event::Resumed, &[]).unwrap();
    run.reads(&["RUNNING", "copy 0 CANCELED", "copy 1 SCHEDULED"]);
}

#[test]
fn a_revived_run_that_may_not_wait_is_refused() {
    for policy in ["FAIL", "SKIP", "CANCEL_RUNNING", "TERMINATE_RUNNING", "COALESCE"] {
        let refused = left(policy).happen(Event::Retried, &[]);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::Limited(_)))), "{policy}");
    }
}

#[test]
fn one_begun_inside_another_run_waits_or_fails_and_shares_its_ancestors_place() {
    let start = |bench: &mut Bench, under: Vec<RecordKey>| {
        let start = semel_engine::Start { born: true, under, ..bench.plain_start() };
        bench.happen(Event::Started(start), &[payload(&json!({"account": "a"}))]).unwrap()
    };
    for policy in ["QUEUE", "CANCEL_RUNNING", "TERMINATE_RUNNING", "COALESCE"] {
        let mut child = bench(&keyed(policy), Some(record(&[one()], 0)));
        start(&mut child, vec![]);
        assert!(child.execution.is_queued(), "{policy}");
    }
    for policy in ["SKIP", "FAIL"] {
        let mut child = bench(&keyed(policy), Some(record(&[one()], 0)));
        start(&mut child, vec![]);
        assert_eq!(child.execution.status(), Some(WorkflowStatus::Failed), "{policy}");
        let reason = child.execution.reason().unwrap_or_default();
        assert!(reason.contains("concurrency limit"), "{reason}");
    }
    let mut child = bench(&keyed("FAIL"), Some(record(&[one()], 0)));
    let begun = start(&mut child, vec![gate("a")]);
    assert_eq!((holders(&begun), child.execution.open_count()), (None, 1));
}
