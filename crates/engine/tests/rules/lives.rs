//! # Lives: parents and children that end and live again
//!
//! Rules: docs/reference/rules/operations.md#revival-of-parents.
//!
//! Parent and child agree on an epoch; a message about an earlier life changes nothing, however
//! late it comes and in whatever order.

use semel_engine::{Event, MessageKey, Rerun};
use semel_model::{ExecutionId, WorkflowStatus};
use serde_json::{Value, json};

use crate::children::{named, once, pair, sub};
use crate::family::Family;
use crate::shapes::with;

fn terminate(family: &mut Family, id: ExecutionId) {
    let event = Event::Terminated { reason: None, compensate: false };
    family.tell(id, event, &[]).expect("it is not completed");
}

fn retry(family: &mut Family, id: ExecutionId) {
    family.tell(id, Event::Retried, &[]).expect("it can be retried");
}

/// The letters on their way from one run.
fn from(family: &Family, id: ExecutionId) -> Vec<MessageKey> {
    family.letters.keys().filter(|key| key.from == id).copied().collect()
}

/// A parent of two children, the first of which failed without ending it; then the second runs.
fn siblings(flags: Value) -> (Family, ExecutionId, ExecutionId, ExecutionId) {
    let first = with(sub("s", "child"), json!({"permissive": true}));
    let parent = named("parent", &[first, with(sub("t", "child"), flags)]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let parent = family.start("parent", json!({}));
    let first = family.child(parent, "s");
    family.fail(first, "x", "no");
    family.deliver_all();
    let second = family.child(parent, "t");
    (family, parent, first, second)
}

#[test]
fn a_retried_child_takes_its_ancestors_with_it() {
    let top = named("top", &[sub("m", "middle")]);
    let middle = named("middle", &[sub("s", "child")]);
    let mut family = Family::of(&[named("child", &[once("x")]), middle, top]);
    let top = family.start("top", json!({}));
    let middle = family.child(top, "m");
    family.tick(0);
    let child = family.child(middle, "s");
    family.fail(child, "x", "no");
    family.deliver_all();
    family.reads(top, &["FAILED", "m 0 FAILED"]);
    family.tick(9);
    retry(&mut family, child);
    family.reads(child, &["RUNNING", "x 0 FAILED", "x 1 SCHEDULED"]);
    family.reads(middle, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.reads(top, &["RUNNING", "m 0 IN_PROGRESS"]);
    let task = family.execution(top).latest("m").unwrap();
    assert_eq!((task.reason.as_deref(), task.child.unwrap().epoch), (None, 1));
    assert_eq!(family.run(top).seconds(family.execution(top).last_resumed_at()), 9);
    assert_eq!((family.run(top).reason(), family.execution(top).failed_task()), ("none", None));
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(top, &["COMPLETED", "m 0 COMPLETED"]);
}

#[test]
fn restart_and_rerun_of_a_child_revive_its_parent_too() {
    for event in [Event::Restarted { definition: None }, Event::Reran(Rerun::default())] {
        let (mut family, parent, child) = pair(json!({}));
        family.complete(child, "x", json!({}));
        family.deliver_all();
        family.complete(parent, "after", json!({}));
        family.tell(child, event, &[]).unwrap();
        family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS", "after 0 COMPLETED"]);
        family.complete(child, "x", json!({}));
        family.deliver_all();
        family.reads(parent, &["COMPLETED", "s 0 COMPLETED", "after 0 COMPLETED"]);
    }
}

#[test]
fn an_optional_a_superseded_and_a_removed_parent_task_are_left_alone() {
    let (mut family, parent, child) = pair(json!({"optional": true}));
    family.fail(child, "x", "no");
    family.deliver_all();
    retry(&mut family, child);
    family.reads(parent, &["RUNNING", "s 0 COMPLETED_WITH_ERRORS", "after 0 SCHEDULED"]);
    let (mut family, parent, child) = pair(json!({"retryCount": 1}));
    family.fail(child, "x", "no");
    family.deliver_all();
    retry(&mut family, child);
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 FAILED", "s 1 SCHEDULED"]);
    let (mut family, parent, child) = pair(json!({}));
    family.fail(child, "x", "no");
    family.deliver_all();
    family.tell(parent, Event::Restarted { definition: None }, &[]).unwrap();
    retry(&mut family, child);
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    assert_ne!(family.child(parent, "s"), child);
}

#[test]
fn a_retried_parent_gets_a_new_child_and_the_old_one_stays_as_it_ended() {
    let (mut family, parent, child) = pair(json!({}));
    family.fail(child, "x", "no");
    family.deliver_all();
    retry(&mut family, parent);
    family.reads(parent, &["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    assert_ne!(family.child(parent, "s"), child);
    assert_eq!(family.execution(child).status(), Some(WorkflowStatus::Failed));
}

#[test]
fn a_parent_rerun_from_its_task_keeps_the_task_and_gets_a_fresh_child() {
    let (mut family, parent, child) = pair(json!({}));
    family.fail(child, "x", "no");
    family.deliver_all();
    let task = family.execution(parent).latest("s").unwrap().id;
    let event = Event::Reran(Rerun { from: Some(task), ..Rerun::default() });
    family.tell(parent, event, &[]).unwrap();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    assert_eq!(family.execution(parent).latest("s").unwrap().id, task);
    let fresh = family.child(parent, "s");
    assert_eq!(fresh, ExecutionId::of_child(task, 1));
    assert_eq!(family.execution(child).status(), Some(WorkflowStatus::Failed));
}

#[test]
fn siblings_that_were_cancelled_go_on_where_they_were_under_their_ids() {
    let (mut family, parent, first, second) = siblings(json!({}));
    terminate(&mut family, parent);
    family.deliver_all();
    family.reads(second, &["TERMINATED", "x 0 CANCELED"]);
    let task = family.execution(parent).latest("t").unwrap().id;
    retry(&mut family, first);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS", "t 0 IN_PROGRESS"]);
    family.deliver_all();
    family.reads(second, &["RUNNING", "x 0 CANCELED", "x 1 SCHEDULED"]);
    assert_eq!(family.execution(parent).latest("t").unwrap().id, task);
    assert_eq!(family.child(parent, "t"), second);
    family.complete(second, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS", "t 0 COMPLETED"]);
    family.complete(first, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["COMPLETED", "s 0 COMPLETED", "t 0 COMPLETED"]);
}

#[test]
fn a_sibling_that_ended_the_run_is_done_again_in_place_too() {
    let first = with(sub("s", "child"), json!({"permissive": true}));
    let parent = named("parent", &[first, once("after")]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let parent = family.start("parent", json!({}));
    let child = family.child(parent, "s");
    family.fail(child, "x", "no");
    family.deliver_all();
    family.fail(parent, "after", "no");
    let id = family.execution(parent).latest("after").unwrap().id;
    retry(&mut family, child);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS", "after 1 SCHEDULED"]);
    assert_eq!(family.execution(parent).latest("after").unwrap().id, id);
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 1 SCHEDULED"]);
}

#[test]
fn a_late_word_of_the_parents_leaving_does_not_end_the_childs_next_life() {
    let (mut family, parent, child) = pair(json!({}));
    terminate(&mut family, parent);
    let left = from(&family, parent);
    family.fail(child, "x", "no");
    retry(&mut family, child);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    left.into_iter().for_each(|key| family.deliver(key));
    family.reads(child, &["RUNNING", "x 0 FAILED", "x 1 SCHEDULED"]);
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.reads(child, &["RUNNING", "x 0 FAILED", "x 1 SCHEDULED"]);
}

#[test]
fn a_late_word_of_leaving_does_not_end_a_child_that_somebody_revived_on_its_own() {
    let policy = json!({"name": "s", "timeoutSeconds": 10, "timeoutPolicy": "RETRY",
        "retryCount": 0, "responseTimeoutSeconds": 0});
    let (mut family, parent, child) = pair(json!({"optional": true, "taskDefinition": policy}));
    family.tick(10);
    family.reads(parent, &["RUNNING", "s 0 COMPLETED_WITH_ERRORS", "after 0 SCHEDULED"]);
    family.fail(child, "x", "no");
    retry(&mut family, child);
    family.deliver_all();
    family.reads(child, &["RUNNING", "x 0 FAILED", "x 1 SCHEDULED"]);
}

#[test]
fn a_late_word_of_an_earlier_end_does_not_end_the_task_that_waits_again() {
    let (mut family, parent, child) = pair(json!({}));
    family.fail(child, "x", "no");
    let ended = from(&family, child);
    retry(&mut family, child);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    ended.into_iter().for_each(|key| family.deliver(key));
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}

/// The parent left, came back, left and came back again before its child heard a word.
fn restless() -> (Family, ExecutionId, ExecutionId, ExecutionId, Vec<MessageKey>) {
    let (mut family, parent, first, second) = siblings(json!({}));
    terminate(&mut family, parent);
    retry_first(&mut family, first);
    terminate(&mut family, parent);
    let again: Vec<_> = family.letters.keys().copied().collect();
    let to_first = again.into_iter().filter(|key| family.letters[key].0 == first);
    to_first.collect::<Vec<_>>().into_iter().for_each(|key| family.deliver(key));
    retry_first(&mut family, first);
    let keys = family.letters.iter().filter(|(_, (to, _))| *to == second);
    let keys: Vec<_> = keys.map(|(key, _)| *key).collect();
    (family, parent, first, second, keys)
}

fn retry_first(family: &mut Family, first: ExecutionId) {
    if family.execution(first).is_live() {
        family.fail(first, "x", "no");
    }
    retry(family, first);
}

#[test]
fn whatever_the_order_of_leaving_and_returning_the_child_lives_in_the_last_epoch() {
    let (family, parent, first, second, keys) = restless();
    assert_eq!(keys.len(), 4, "left, returned, left, returned");
    for order in orders(&keys) {
        let mut family = family.clone();
        order.into_iter().for_each(|key| family.deliver(key));
        assert!(family.execution(second).is_live());
        let said = family.run(second).rows.values().next().unwrap().reference.clone();
        family.complete(second, &said, json!({}));
        family.complete(first, "x", json!({}));
        family.deliver_all();
        family.reads(parent, &["COMPLETED", "s 0 COMPLETED", "t 0 COMPLETED"]);
    }
}

/// Every order of these.
fn orders(keys: &[MessageKey]) -> Vec<Vec<MessageKey>> {
    let Some((first, rest)) = keys.split_first() else { return vec![Vec::new()] };
    let mut all = Vec::new();
    for order in orders(rest) {
        for at in 0..=order.len() {
            let mut longer = order.clone();
            longer.insert(at, *first);
            all.push(longer);
        }
    }
    all
}

#[test]
fn a_child_that_completed_before_its_parent_returned_says_so_again() {
    let (mut family, parent, first, second) = siblings(json!({}));
    terminate(&mut family, parent);
    family.complete(second, "x", json!({"v": 1}));
    family.deliver_all();
    family.reads(parent, &["TERMINATED", "s 0 FAILED", "t 0 CANCELED"]);
    retry(&mut family, first);
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS", "t 0 COMPLETED"]);
}

#[test]
fn a_child_that_had_nothing_to_retry_when_its_parent_left_goes_on_when_it_returns() {
    let first = with(sub("s", "child"), json!({"permissive": true}));
    let parent = named("parent", &[first, sub("t", "long")]);
    let long = named("long", &[once("x"), once("y")]);
    let mut family = Family::of(&[named("child", &[once("x")]), long, parent]);
    let parent = family.start("parent", json!({}));
    let first = family.child(parent, "s");
    family.fail(first, "x", "no");
    family.deliver_all();
    let second = family.child(parent, "t");
    family.tell(second, Event::Paused, &[]).unwrap();
    family.complete(second, "x", json!({}));
    terminate(&mut family, parent);
    family.deliver_all();
    family.reads(second, &["TERMINATED", "x 0 COMPLETED"]);
    retry(&mut family, first);
    family.deliver_all();
    family.reads(second, &["RUNNING", "x 0 COMPLETED", "y 0 SCHEDULED"]);
}

#[test]
fn a_parent_that_returns_to_a_child_that_is_gone_is_answered() {
    let (mut family, parent, first, second) = siblings(json!({}));
    terminate(&mut family, parent);
    family.deliver_all();
    family.remove(second);
    retry(&mut family, first);
    family.deliver_all();
    family.reads(parent, &["FAILED", "s 0 CANCELED", "t 0 FAILED"]);
}

#[test]
fn the_clocks_of_a_task_that_waits_again_count_anew() {
    let policy = json!({"name": "s", "timeoutSeconds": 20, "totalTimeoutSeconds": 30,
        "timeoutPolicy": "TIME_OUT_WF", "retryCount": 0, "responseTimeoutSeconds": 0});
    let (mut family, parent, child) = pair(json!({"taskDefinition": policy}));
    family.tick(5);
    family.fail(child, "x", "no");
    family.deliver_all();
    family.tick(100);
    retry(&mut family, child);
    family.tick(19);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.tick(1);
    family.reads(parent, &["TIMED_OUT", "s 0 TIMED_OUT"]);
}

#[test]
fn a_paused_parent_waits_again_for_the_child_whose_end_it_had_not_followed() {
    let (mut family, parent, child) = pair(json!({}));
    family.tell(parent, Event::Paused, &[]).unwrap();
    family.fail(child, "x", "no");
    family.deliver_all();
    family.reads(parent, &["PAUSED", "s 0 FAILED"]);
    retry(&mut family, child);
    family.reads(parent, &["PAUSED", "s 0 IN_PROGRESS"]);
    family.tell(parent, Event::Resumed, &[]).unwrap();
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
}

#[test]
fn after_a_crash_what_was_sent_is_still_heard() {
    let (mut family, parent, child) = pair(json!({}));
    family.complete(child, "x", json!({}));
    family.crash();
    family.deliver_all();
    family.crash();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}
