//! # Effects of tasks that the engine runs itself: sub-workflows, starts, events, computed results

use semel_engine::{
    Change, EffectStatus, Entry, Event, RecordState, Resolution, Slot, effect_record,
};
use semel_model::ExecutionId;
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{payload, system, with};

/// The input and the effect of a step that is done once per order.
fn per_order() -> Value {
    json!({"inputParameters": {"order": "${workflow.input.order}"}, "effect": {"key": "${order}"}})
}

/// `parent` with a SUB_WORKFLOW `s` that is done once per order, and one step after it.
fn parents(flags: Value) -> Family {
    let around = with(with(sub("s", "child"), per_order()), flags);
    let parent = named("parent", &[around, once("after")]);
    Family::of(&[named("child", &[once("x")]), parent])
}

fn order(family: &mut Family) -> ExecutionId {
    family.start("parent", json!({"order": "1"}))
}

fn status(family: &Family, run: ExecutionId, reference: &str) -> EffectStatus {
    let task = family.execution(run).latest(reference).expect("it was scheduled").clone();
    task.once.as_ref().expect("it is done once").status
}

fn output(family: &Family, run: ExecutionId, reference: &str) -> Value {
    family.execution(run).latest(reference).expect("it was scheduled").output.value()
}

fn has_child(family: &Family, run: ExecutionId) -> bool {
    family.execution(run).latest("s").is_some_and(|task| task.child.is_some())
}

fn resolve(family: &mut Family, run: ExecutionId, applied: bool, output: Value) {
    let record = effect_record("s", "1");
    let (scope, key, by) = (record.scope, record.key, "eve".to_owned());
    let said = Resolution { scope, key, applied, output: Slot(0), by, note: None };
    family.tell(run, Event::EffectResolved(said), &[payload(&output)]).expect("it is in doubt");
    family.deliver_all();
}

#[test]
fn two_parents_under_one_key_have_one_child() {
    let mut family = parents(json!({}));
    let first = order(&mut family);
    let child = family.child(first, "s");
    let second = order(&mut family);
    family.reads(first, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.reads(second, &["RUNNING", "s 0 SCHEDULED"]);
    assert_eq!(status(&family, first, "s"), EffectStatus::Claimed);
    assert_eq!(status(&family, second, "s"), EffectStatus::Waiting);
    family.tick(3_600);
    family.reads(second, &["RUNNING", "s 0 SCHEDULED"]);
    assert!(!has_child(&family, second));
    family.complete(child, "x", json!({"v": 1}));
    family.deliver_all();
    family.reads(first, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    family.reads(second, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(output(&family, second, "s"), output(&family, first, "s"));
    assert_eq!(output(&family, second, "s")["subWorkflowId"], child.to_string());
    assert_eq!(family.ring("s", "1"), ["CLAIMED", "WAITED", "COMPLETED", "REPLAYED"]);
    let third = order(&mut family);
    family.reads(third, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(family.members.len(), 4, "three parents and one child");
}

#[test]
fn a_parent_that_has_waited_begins_the_child_that_nobody_began() {
    let mut family = parents(json!({"startDelay": 60}));
    let first = order(&mut family);
    let second = order(&mut family);
    family.reads(first, &["RUNNING", "s 0 SCHEDULED"]);
    family.tell(first, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.deliver_all();
    assert_eq!(status(&family, second, "s"), EffectStatus::Claimed);
    family.tick(60);
    family.reads(second, &["RUNNING", "s 0 IN_PROGRESS"]);
    assert!(has_child(&family, second) && !has_child(&family, first));
}

#[test]
fn a_child_that_fails_leaves_its_effect_in_doubt() {
    for applied in [true, false] {
        let mut family = parents(json!({}));
        let first = order(&mut family);
        let child = family.child(first, "s");
        let second = order(&mut family);
        family.fail(child, "x", "no");
        family.deliver_all();
        family.reads(first, &["FAILED", "s 0 FAILED"]);
        family.effect_is("s", "1", RecordState::Unknown);
        family.tick(3_600);
        family.reads(second, &["RUNNING", "s 0 IN_PROGRESS"]);
        assert_eq!(status(&family, second, "s"), EffectStatus::Unknown);
        assert!(!has_child(&family, second));
        resolve(&mut family, first, applied, json!({"v": 9}));
        family.tick(0);
        assert_eq!(has_child(&family, second), !applied);
        match applied {
            true => {
                family.reads(second, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
                assert_eq!(output(&family, second, "s"), json!({"v": 9}));
            }
            false => family.reads(second, &["RUNNING", "s 0 IN_PROGRESS"]),
        }
    }
}

#[test]
fn a_child_that_is_retried_ends_the_doubt_for_all() {
    let mut family = parents(json!({}));
    let first = order(&mut family);
    let child = family.child(first, "s");
    let second = order(&mut family);
    family.fail(child, "x", "no");
    family.deliver_all();
    family.tell(child, Event::Retried, &[]).expect("it has failed");
    family.reads(first, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.complete(child, "x", json!({"v": 2}));
    family.deliver_all();
    family.reads(first, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    family.reads(second, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(output(&family, second, "s")["v"], 2);
}

#[test]
fn a_parent_that_tries_again_in_doubt_is_held_until_somebody_says() {
    let mut family = parents(json!({}));
    let first = order(&mut family);
    family.fail(family.child(first, "s"), "x", "no");
    family.deliver_all();
    family.tell(first, Event::Retried, &[]).expect("it has failed");
    family.tick(3_600);
    family.reads(first, &["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    assert!(!has_child(&family, first));
    resolve(&mut family, first, false, json!({}));
    family.tick(0);
    family.reads(first, &["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    let child = family.child(first, "s");
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.effect_is("s", "1", RecordState::Completed);
}

#[test]
fn attempts_that_are_left_begin_a_child_each_under_one_claim() {
    let mut family = parents(json!({"retryCount": 1}));
    let first = order(&mut family);
    family.fail(family.child(first, "s"), "x", "no");
    family.deliver_all();
    family.tick(60);
    family.reads(first, &["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    family.effect_is("s", "1", RecordState::Claimed);
    family.complete(family.child(first, "s"), "x", json!({}));
    family.deliver_all();
    assert_eq!(family.ring("s", "1"), ["CLAIMED", "COMPLETED"]);
}

#[test]
fn a_parent_that_is_terminated_leaves_its_child_in_doubt() {
    let mut family = parents(json!({}));
    let first = order(&mut family);
    family.tell(first, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.effect_is("s", "1", RecordState::Unknown);
}

#[test]
fn a_step_inside_does_not_wait_for_the_sub_workflow_that_it_is_part_of() {
    let inner = with(with(once("x"), per_order()), json!({"effect": {"scope": "s", "key": "1"}}));
    let parent = named("parent", &[with(sub("s", "child"), per_order())]);
    let mut family = Family::of(&[named("child", &[inner]), parent]);
    let first = order(&mut family);
    let child = family.child(first, "s");
    family.reads(child, &["FAILED", "x 0 FAILED_WITH_TERMINAL_ERROR"]);
    let task = family.execution(child).latest("x").unwrap().clone();
    let why = task.reason.clone().unwrap_or_default();
    assert!(why.contains("would wait for itself"), "{why}");
    family.deliver_all();
    family.reads(first, &["FAILED", "s 0 FAILED"]);
}

#[test]
fn a_restart_is_given_what_the_child_has_done() {
    let mut family = parents(json!({}));
    let first = order(&mut family);
    let child = family.child(first, "s");
    family.complete(child, "x", json!({"v": 1}));
    family.deliver_all();
    family.complete(first, "after", json!({}));
    family.tell(first, Event::Restarted { definition: None }, &[]).expect("it is over");
    family.reads(first, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(output(&family, first, "s")["v"], 1);
    let redone = Event::Redone(Box::new(Event::Restarted { definition: None }));
    family.complete(first, "after", json!({}));
    family.tell(first, redone, &[]).expect("it is over");
    family.reads(first, &["RUNNING", "s 0 IN_PROGRESS"]);
    assert_ne!(family.child(first, "s"), child);
}

#[test]
fn a_start_under_one_key_begins_one_run() {
    let input = json!({"order": "${workflow.input.order}", "startWorkflow": {"name": "child"}});
    let go = with(
        system("g", "START_WORKFLOW", json!({"inputParameters": input})),
        json!({"effect": {"key": "${order}"}}),
    );
    let mut family = Family::of(&[named("child", &[once("x")]), named("parent", &[go])]);
    let first = order(&mut family);
    let second = order(&mut family);
    assert_eq!(output(&family, second, "g"), output(&family, first, "g"));
    assert_eq!(status(&family, second, "g"), EffectStatus::Replayed);
    assert_eq!(family.members.len(), 3, "two parents and one run");
    family.reads(second, &["COMPLETED", "g 0 COMPLETED"]);
}

fn published(family: &Family, run: ExecutionId) -> usize {
    let entries = family.run(run).journal.iter();
    let entries = entries.map(|bytes| serde_json::from_slice::<Entry>(bytes).expect("an entry"));
    let changes = entries.flat_map(|entry| entry.changes);
    changes.filter(|change| matches!(change, Change::Published { .. })).count()
}

#[test]
fn an_event_is_published_once_under_its_key() {
    let tell = with(system("e", "EVENT", json!({"sink": "conductor"})), per_order());
    let mut family = Family::of(&[named("parent", &[tell])]);
    let first = order(&mut family);
    let second = order(&mut family);
    assert_eq!((published(&family, first), published(&family, second)), (1, 0));
    assert_eq!(output(&family, second, "e"), output(&family, first, "e"));
    family.reads(second, &["COMPLETED", "e 0 COMPLETED"]);
}

#[test]
fn an_event_that_others_complete_is_waited_for_and_left_in_doubt() {
    let fields = json!({"sink": "conductor", "asyncComplete": true});
    let tell = with(system("e", "EVENT", fields), per_order());
    let mut family = Family::of(&[named("parent", &[tell])]);
    let first = order(&mut family);
    let second = order(&mut family);
    family.reads(first, &["RUNNING", "e 0 IN_PROGRESS"]);
    family.reads(second, &["RUNNING", "e 0 SCHEDULED"]);
    assert_eq!(published(&family, second), 0);
    family.tell(first, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.effect_is("e", "1", RecordState::Unknown);
    family.deliver_all();
    assert_eq!(status(&family, second, "e"), EffectStatus::Unknown);
}

#[test]
fn a_computed_result_is_kept_under_its_key() {
    let input = json!({"order": "${workflow.input.order}", "evaluatorType": "value-param",
        "expression": "n", "n": "${workflow.input.n}"});
    let compute = with(
        system("c", "INLINE", json!({"inputParameters": input})),
        json!({"effect": {"key": "${order}"}}),
    );
    let mut family = Family::of(&[named("parent", &[compute])]);
    let first = family.start("parent", json!({"order": "1", "n": 1}));
    let second = family.start("parent", json!({"order": "1", "n": 2}));
    let other = family.start("parent", json!({"order": "2", "n": 2}));
    assert_eq!(output(&family, first, "c"), json!({"result": 1}));
    assert_eq!(output(&family, second, "c"), json!({"result": 1}));
    assert_eq!(output(&family, other, "c"), json!({"result": 2}));
    family.reads(second, &["COMPLETED", "c 0 COMPLETED"]);
}

#[test]
fn a_step_that_came_with_data_may_not_have_an_effect_that_means_nothing() {
    let fields = json!({"dynamicTaskNameParam": "what", "effect": {"key": "1"},
        "inputParameters": {"what": "${workflow.input.what}"}});
    let mut family = Family::of(&[named("parent", &[system("d", "DYNAMIC", fields)])]);
    let run = family.start("parent", json!({"what": "HUMAN"}));
    family.reads(run, &["FAILED", "d 0 FAILED_WITH_TERMINAL_ERROR"]);
    let task = family.execution(run).latest("d").unwrap().clone();
    assert_eq!(task.reason.as_deref(), Some("effect: a HUMAN cannot have one: take it away"));
}
