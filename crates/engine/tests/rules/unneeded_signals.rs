//! # Signals that were kept and that no run has needed
//!
//! Rules: docs/reference/idempotency.md#answers-and-decisions.

use semel_engine::{Event, Progress, Slot};
use semel_model::TaskResultStatus::Completed;
use semel_model::{ExecutionId, WorkflowStatus};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{payload, switch, system};

/// A child that may come to a WAIT and does not, and a parent that goes on with these steps.
fn family(behind: &[Value]) -> (Family, ExecutionId, ExecutionId) {
    let wait = json!({"yes": [system("hold", "WAIT", json!({}))]});
    let steps = [&[sub("s", "child")], behind].concat();
    let child = named("child", &[once("x"), switch("choice", wait, &[])]);
    let mut family = Family::of(&[child, named("parent", &steps)]);
    let parent = family.start("parent", json!({}));
    let child = family.child(parent, "s");
    (family, parent, child)
}

fn signal(family: &mut Family, run: ExecutionId, output: &Value) {
    let progress = Progress {
        status: Completed,
        output: Slot(0),
        reason: None,
        worker: None,
        callback_after_seconds: 0,
    };
    let event = Event::Signalled { progress, may_wait: true };
    family.tell(run, event, &[payload(output)]).expect("it is kept");
}

fn kept(family: &Family, run: ExecutionId) -> Vec<Value> {
    let kept = family.execution(run).kept_answers(family.now);
    kept.into_iter().map(|answer| answer.output.value()).collect()
}

#[test]
fn a_signal_that_nobody_above_needs_stays_with_the_last_run_that_heard_of_it() {
    let (mut family, parent, child) = family(&[once("y")]);
    signal(&mut family, child, &json!({"n": 1}));
    family.complete(child, "x", json!({}));
    family.deliver_all();
    assert_eq!((kept(&family, child), kept(&family, parent)), (vec![], vec![json!({"n": 1})]));
    family.complete(parent, "y", json!({}));
    assert_eq!(family.execution(parent).status(), Some(WorkflowStatus::Completed));
    assert_eq!(kept(&family, parent), [json!({"n": 1})], "also when the run is over");
    family.run(parent).replay();
}

#[test]
fn a_signal_that_comes_back_to_a_run_that_is_over_is_kept_there() {
    let (mut family, parent, child) = family(&[]);
    signal(&mut family, child, &json!({"n": 1}));
    family.complete(child, "x", json!({}));
    family.deliver_all();
    assert_eq!(family.execution(parent).status(), Some(WorkflowStatus::Completed));
    assert_eq!(kept(&family, parent), [json!({"n": 1})]);
}

#[test]
fn a_signal_that_the_run_above_has_no_room_for_goes_back_to_the_child() {
    let (mut family, parent, child) = family(&[system("w", "WAIT", json!({})), once("y")]);
    let large = json!({"text": "x".repeat(600_000)});
    signal(&mut family, child, &large);
    signal(&mut family, parent, &large);
    family.complete(child, "x", json!({}));
    let returned = *family.letters.keys().last().expect("the signal is on its way");
    family.deliver(returned); // Before the parent hears that the child has ended.
    family.deliver_all();
    assert_eq!(kept(&family, child), [large], "the child keeps it, though it is over");
    family.run(child).replay();
}
