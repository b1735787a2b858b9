//! # Runs that would wait for each other's locks for ever

use semel_engine::{Event, RecordKey};
use semel_model::{ExecutionId, TaskStatus};
use serde_json::{Value, json};

use crate::children::{named, once};
use crate::family::Family;
use crate::shapes::{fork, join, system};

fn acquire(reference: &str, name: &str) -> Value {
    system(reference, "ACQUIRE_LOCK", json!({"inputParameters": {"name": name}}))
}

/// Takes the lock `a` of its input, works, takes `b`, works again.
fn family() -> Family {
    let steps = [
        acquire("first", "${workflow.input.a}"),
        once("work"),
        acquire("second", "${workflow.input.b}"),
        once("rest"),
    ];
    Family::of(&[named("flow", &steps)])
}

fn start(family: &mut Family, a: &str, b: &str) -> ExecutionId {
    family.start("flow", json!({"a": a, "b": b}))
}

fn go_on(family: &mut Family, run: ExecutionId) {
    family.complete(run, "work", json!({}));
    family.deliver_all();
}

fn second(family: &Family, run: ExecutionId) -> (TaskStatus, String) {
    let task = family.execution(run).latest("second").expect("it was reached").clone();
    (task.status, task.reason.clone().unwrap_or_default())
}

#[test]
fn whoever_closes_the_circle_fails_and_the_other_goes_on() {
    let mut family = family();
    let one = start(&mut family, "A", "B");
    let two = start(&mut family, "B", "A");
    go_on(&mut family, one);
    assert_eq!(second(&family, one).0, TaskStatus::InProgress);
    go_on(&mut family, two);
    let (status, why) = second(&family, two);
    assert_eq!(status, TaskStatus::FailedWithTerminalError);
    let told = format!(
        "deadlock: this run waits for lock A, which run {one} has; that one waits for lock B, \
         which this run has"
    );
    assert_eq!(why, told);
    assert_eq!(second(&family, one).0, TaskStatus::Completed, "it has the lock of the other");
    family.reads(
        two,
        &["FAILED", "first 0 COMPLETED", "work 0 COMPLETED", "second 0 FAILED_WITH_TERMINAL_ERROR"],
    );
}

#[test]
fn a_long_way_round_is_a_circle_too() {
    let mut family = family();
    let locks = ["A", "B", "C", "D", "E", "F"];
    let next = |at: usize| locks[(at + 1) % locks.len()];
    let runs: Vec<_> = (0..locks.len()).map(|at| start(&mut family, locks[at], next(at))).collect();
    for run in &runs[..5] {
        go_on(&mut family, *run);
        assert_eq!(second(&family, *run).0, TaskStatus::InProgress);
    }
    go_on(&mut family, runs[5]);
    let (status, why) = second(&family, runs[5]);
    assert_eq!(status, TaskStatus::FailedWithTerminalError);
    locks.iter().for_each(|lock| assert!(why.contains(&format!("lock {lock}")), "{why}"));
}

#[test]
fn whoever_waits_no_more_closes_no_circle() {
    let mut family = family();
    let one = start(&mut family, "A", "B");
    let two = start(&mut family, "B", "A");
    go_on(&mut family, one);
    // Somebody answers for the task of the first, so it does not wait any more.
    let task = family.execution(one).latest("second").unwrap().id;
    let said = crate::shapes::Said::new(task, semel_model::TaskResultStatus::Completed);
    family.report(one, &said).expect("it is answered");
    let waits = |family: &Family| family.shelf.guards[&RecordKey::lock("A")].detail.awaits.clone();
    assert!(waits(&family).is_empty());
    go_on(&mut family, two);
    assert_eq!(second(&family, two).0, TaskStatus::InProgress);
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn a_lock_that_is_not_held_for_ever_closes_no_circle() {
    let mut steps = named(
        "flow",
        &[
            acquire("first", "${workflow.input.a}"),
            once("work"),
            acquire("second", "${workflow.input.b}"),
        ],
    );
    steps["tasks"][0]["inputParameters"]["leaseSeconds"] = json!(600);
    let mut family = Family::of(&[steps]);
    let one = start(&mut family, "A", "B");
    let two = start(&mut family, "B", "A");
    go_on(&mut family, one);
    go_on(&mut family, two);
    assert_eq!(second(&family, two).0, TaskStatus::InProgress);
}

#[test]
fn a_circle_that_closes_when_a_lock_is_given_is_found_then() {
    // One waits for A and for C in two branches; two has A and waits for nothing yet.
    let branches = ([acquire("x", "A")], [acquire("y", "C")]);
    let both = [fork("f", &[&branches.0, &branches.1]), join("j", &["x", "y"])];
    let plain = [acquire("first", "${workflow.input.a}"), once("work")];
    let then = [acquire("second", "${workflow.input.b}")];
    let flow = named("flow", &[&plain[..], &then[..]].concat());
    let mut family = Family::of(&[named("both", &both), flow]);
    let two = start(&mut family, "A", "none");
    let three = start(&mut family, "C", "A");
    let one = family.start("both", json!({}));
    go_on(&mut family, three); // It has C and waits for A, behind the first.
    assert_eq!(second(&family, three).0, TaskStatus::InProgress);
    let ended = Event::Terminated { reason: None, compensate: false };
    family.tell(two, ended, &[]).expect("a live run can be ended");
    family.deliver_all();
    let y = family.execution(one).latest("y").unwrap().clone();
    assert_eq!(y.status, TaskStatus::FailedWithTerminalError, "{y:?}");
    assert!(y.reason.as_deref().unwrap_or_default().starts_with("deadlock"));
    assert_eq!(second(&family, three).0, TaskStatus::Completed);
}
