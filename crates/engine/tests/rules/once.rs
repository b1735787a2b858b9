//! # Effects done once: the table of what a task finds, row by row

use semel_engine::{EffectStatus, Event, RecordState, Stop};
use semel_model::{ExecutionId, TaskResultStatus, TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::family::{Family, Refused};
use crate::shapes::{Said, flow, fork, join, step, with};

/// A step `charge` done once per order, under this policy.
pub(crate) fn charge(policy: Value, effect: Value) -> Value {
    let effect = with(json!({"mode": "ONCE", "key": "${order}"}), effect);
    let input = json!({"order": "${workflow.input.order}", "amount": "${workflow.input.amount}"});
    let fields = json!({"effect": effect, "inputParameters": input});
    with(step("charge", policy), fields)
}

/// One workflow `flow` of this step and a last one.
pub(crate) fn shop(charge: Value) -> Family {
    Family::of(&[flow(&[charge, step("ship", json!({}))])])
}

pub(crate) fn order(family: &mut Family, order: &str, amount: i32) -> ExecutionId {
    family.start("flow", json!({"order": order, "amount": amount}))
}

pub(crate) fn status(family: &Family, run: ExecutionId) -> EffectStatus {
    let task = family.execution(run).latest("charge").expect("it was scheduled").clone();
    task.once.as_ref().expect("it is done once").status
}

pub(crate) fn is_offered(family: &Family, run: ExecutionId) -> bool {
    family.run(run).rows.values().any(|row| row.reference == "charge")
}

pub(crate) fn fail_for_good(family: &mut Family, run: ExecutionId) {
    let said = family.claim(run, "charge", "ann").reason("declined");
    let said = Said { status: TaskResultStatus::FailedWithTerminalError, ..said };
    family.report(run, &said).expect("the holder's report is taken");
}

#[track_caller]
pub(crate) fn reason(family: &Family, run: ExecutionId) -> String {
    let task = family.execution(run).latest("charge").expect("it was scheduled").clone();
    task.reason.clone().expect("it has a reason")
}

#[test]
fn a_second_task_under_the_key_is_given_what_the_first_has_done() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "9243", 10);
    assert_eq!(status(&family, first), EffectStatus::Claimed);
    family.effect_is("charge_def", "9243", RecordState::Claimed);
    family.complete(first, "charge", json!({"charge_id": "ch_1"}));
    let second = order(&mut family, "9243", 10);
    family.reads(second, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    let task = family.execution(second).latest("charge").unwrap().clone();
    assert_eq!(task.output.value(), json!({"charge_id": "ch_1"}));
    let once = task.once.as_ref().unwrap();
    assert_eq!(once.status, EffectStatus::Replayed);
    let owner = once.owner.unwrap();
    assert_eq!(owner.execution, first);
    assert_eq!(owner.task, family.execution(first).latest("charge").unwrap().id);
    let record = family.effect("charge_def", "9243");
    assert_eq!(record.detail.hits, 1);
    assert_eq!(family.ring("charge_def", "9243"), ["CLAIMED", "COMPLETED", "REPLAYED"]);
    let other = order(&mut family, "9244", 10);
    assert!(is_offered(&family, other), "another key is another effect");
}

#[test]
fn what_is_asked_for_under_one_key_must_be_the_same_where_it_is_compared() {
    let compared = json!({"fingerprint": ["amount"]});
    let mut family = shop(charge(json!({}), compared.clone()));
    let first = order(&mut family, "1", 10);
    family.complete(first, "charge", json!({}));
    let other = order(&mut family, "1", 20);
    family.reads(other, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
    let why = reason(&family, other);
    assert!(why.contains("{\"amount\":10}") && why.contains("{\"amount\":20}"), "{why}");
    assert_eq!(family.ring("charge_def", "1").last(), Some(&"REJECTED"));

    let flag = with(compared, json!({"onPayloadMismatch": "FLAG"}));
    for (effect, is_flagged) in [(flag, true), (json!({}), false)] {
        let mut family = shop(charge(json!({}), effect));
        let first = order(&mut family, "1", 10);
        family.complete(first, "charge", json!({"n": 1}));
        let other = order(&mut family, "1", 20);
        let task = family.execution(other).latest("charge").unwrap().clone();
        assert_eq!(task.output.value(), json!({"n": 1}));
        assert_eq!(task.once.as_ref().unwrap().mismatch, is_flagged);
    }
}

#[test]
fn a_place_in_a_list_is_compared() {
    for path in ["order.items[0].amount", "order['items'][0].amount", "$.order.items[*].amount"] {
        let input = json!({"order": {"items": [{"amount": "${workflow.input.amount}"}]},
            "id": "${workflow.input.order}"});
        let effect = json!({"key": "${id}", "fingerprint": [path]});
        let step =
            with(step("charge", json!({})), json!({"effect": effect, "inputParameters": input}));
        let mut family = shop(step);
        let first = order(&mut family, "1", 10);
        family.complete(first, "charge", json!({}));
        let same = order(&mut family, "1", 10);
        family.reads(same, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
        let other = order(&mut family, "1", 20);
        family.reads(other, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
    }
}

#[test]
fn whoever_comes_meanwhile_waits_and_is_given_the_same() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "1", 10);
    let others: Vec<_> = (0..20).map(|_| order(&mut family, "1", 10)).collect();
    for other in &others {
        assert_eq!(status(&family, *other), EffectStatus::Waiting);
        assert!(!is_offered(&family, *other));
        family.reads(*other, &["RUNNING", "charge 0 SCHEDULED"]);
    }
    assert_eq!(family.effect("charge_def", "1").detail.line, 20);
    family.complete(first, "charge", json!({"n": 1}));
    family.deliver_all();
    for other in others {
        family.reads(other, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
        let task = family.execution(other).latest("charge").unwrap().clone();
        assert_eq!(task.output.value(), json!({"n": 1}));
    }
    assert_eq!(family.effect("charge_def", "1").detail.line, 0);
}

#[test]
fn whoever_does_not_want_to_wait_fails_for_good() {
    let mut family = shop(charge(json!({}), json!({"onInProgress": "FAIL"})));
    let first = order(&mut family, "1", 10);
    let other = order(&mut family, "1", 10);
    family.reads(other, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert!(reason(&family, other).contains(&first.to_string()));
}

#[test]
fn all_attempts_of_a_step_are_one_owner() {
    let policy = json!({"retryCount": 2, "retryDelaySeconds": 0});
    let mut family = shop(charge(policy, json!({})));
    let first = order(&mut family, "1", 10);
    let other = order(&mut family, "1", 10);
    family.fail(first, "charge", "busy");
    assert!(is_offered(&family, first));
    assert_eq!(status(&family, other), EffectStatus::Waiting);
    family.complete(first, "charge", json!({}));
    family.deliver_all();
    family.reads(other, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    assert_eq!(family.ring("charge_def", "1"), ["CLAIMED", "WAITED", "COMPLETED", "REPLAYED"]);
}

#[test]
fn an_owner_that_fails_for_good_is_followed_by_the_oldest_who_waits() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "1", 10);
    let second = order(&mut family, "1", 10);
    let third = order(&mut family, "1", 10);
    fail_for_good(&mut family, first);
    family.effect_is("charge_def", "1", RecordState::Claimed);
    family.deliver_all();
    assert!(is_offered(&family, second) && !is_offered(&family, third));
    assert_eq!(status(&family, second), EffectStatus::Claimed);
    family.complete(second, "charge", json!({"n": 2}));
    family.deliver_all();
    family.reads(third, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    family.reads(first, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn whoever_has_gone_when_it_is_its_turn_passes_it_on() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "1", 10);
    let second = order(&mut family, "1", 10);
    let third = order(&mut family, "1", 10);
    let ended = Event::Terminated { reason: None, compensate: false };
    family.tell(second, ended, &[]).unwrap();
    assert!(is_offered(&family, first), "the owner does not notice");
    fail_for_good(&mut family, first);
    family.deliver_all();
    assert!(is_offered(&family, third));
    family.reads(second, &["TERMINATED", "charge 0 CANCELED"]);
}

#[test]
fn a_failure_that_is_kept_is_replayed() {
    let mut family = shop(charge(json!({}), json!({"cacheFailures": true})));
    let first = order(&mut family, "1", 10);
    let waiting = order(&mut family, "1", 10);
    fail_for_good(&mut family, first);
    family.effect_is("charge_def", "1", RecordState::Failed);
    family.deliver_all();
    let late = order(&mut family, "1", 10);
    for run in [waiting, late] {
        family.reads(run, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert_eq!(reason(&family, run), "declined");
        assert_eq!(status(&family, run), EffectStatus::Replayed);
    }
}

#[test]
fn a_key_that_comes_to_nothing_fails_the_task_and_says_which() {
    for (key, input) in
        [("${order}", json!({})), ("a-${none}", json!({})), ("${order}", json!({"order": " "}))]
    {
        let mut family = shop(charge(json!({}), json!({"key": key})));
        let run = family.start("flow", input);
        family.reads(run, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert!(reason(&family, run).starts_with("effect.key: "), "{}", reason(&family, run));
    }
    let mut family = shop(charge(json!({}), json!({})));
    let run = family.start("flow", json!({"order": "x".repeat(513)}));
    assert!(reason(&family, run).starts_with("effect.key: 513 bytes"));
    let run = order(&mut family, "a\0b", 10);
    assert!(reason(&family, run).starts_with("effect.key: it has a NUL"));
}

#[test]
fn a_scope_says_who_shares_a_key() {
    let scopes = [("TASK_NAME", "charge_def"), ("WORKFLOW_NAME", "flow"), ("cards", "cards")];
    for (scope, resolved) in scopes {
        let mut family = shop(charge(json!({}), json!({"scope": scope})));
        order(&mut family, "1", 10);
        family.effect_is(resolved, "1", RecordState::Claimed);
    }
    let mut family = shop(charge(json!({}), json!({"scope": "WORKFLOW"})));
    let run = order(&mut family, "1", 10);
    family.effect_is(&run.to_string(), "1", RecordState::Claimed);
    let mut family = shop(charge(json!({}), json!({"key": null})));
    let run = order(&mut family, "1", 10);
    let key = family.execution(run).effect_key("charge");
    family.effect_is("charge_def", &key, RecordState::Claimed);
}

#[test]
fn what_is_forgotten_happens_again() {
    let mut family = shop(charge(json!({}), json!({"retentionSeconds": 60})));
    let first = order(&mut family, "1", 10);
    family.complete(first, "charge", json!({}));
    family.tick(59);
    let second = order(&mut family, "1", 10);
    assert_eq!(status(&family, second), EffectStatus::Replayed);
    family.tick(1);
    let third = order(&mut family, "1", 10);
    assert!(is_offered(&family, third));
}

#[test]
fn a_cache_is_an_effect_that_is_tried_again_in_doubt() {
    let step = with(
        step("charge", json!({"cacheConfig": {"key": "${order}", "ttlInSecond": 60}})),
        json!({"inputParameters": {"order": "${workflow.input.order}"}}),
    );
    let mut family = shop(step);
    let first = order(&mut family, "1", 10);
    let meanwhile = order(&mut family, "1", 20);
    family.complete(first, "charge", json!({"n": 1}));
    family.deliver_all();
    family.reads(meanwhile, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    family.tick(60);
    let late = order(&mut family, "1", 10);
    assert!(is_offered(&family, late));
}

#[test]
fn two_runs_that_hold_what_the_other_waits_for_both_go_on() {
    let branch = |reference: &str, key: &str| {
        let input = json!({key: format!("${{workflow.input.{key}}}")});
        let effect = json!({"mode": "ONCE", "scope": "s", "key": format!("${{{key}}}")});
        with(step(reference, json!({})), json!({"effect": effect, "inputParameters": input}))
    };
    let tree = flow(&[
        fork("f", &[&[branch("one", "a")], &[branch("two", "b")]]),
        join("j", &["one", "two"]),
    ]);
    let mut family = Family::of(&[tree]);
    let left = family.start("flow", json!({"a": "A", "b": "B"}));
    let right = family.start("flow", json!({"a": "C", "b": "A"}));
    let waits = |family: &Family, run, reference: &str| {
        let task = family.execution(run).latest(reference).expect("begun").clone();
        task.once.as_ref().is_some_and(|once| once.status == EffectStatus::Waiting)
    };
    assert!(waits(&family, right, "two") && !waits(&family, left, "one"));
    let both = family.start("flow", json!({"a": "B", "b": "C"}));
    assert!(waits(&family, both, "one") && waits(&family, both, "two"));
    for (run, reference) in [(left, "one"), (left, "two"), (right, "one")] {
        family.complete(run, reference, json!({}));
        family.deliver_all();
    }
    for run in [left, right, both] {
        assert_eq!(family.run(run).status(), WorkflowStatus::Completed);
    }
}

#[test]
fn whoever_waits_heeds_only_the_clocks_of_step_and_run() {
    let policy = json!({"pollTimeoutSeconds": 5, "responseTimeoutSeconds": 5, "retryCount": 0,
        "totalTimeoutSeconds": 60, "timeoutPolicy": "TIME_OUT_WF"});
    let mut family = shop(charge(policy, json!({})));
    let first = order(&mut family, "1", 10);
    let said = family.claim(first, "charge", "ann");
    let other = order(&mut family, "1", 10);
    family.tick(4);
    family
        .report(first, &Said { status: TaskResultStatus::InProgress, ..said.callback(50) })
        .unwrap();
    family.tick(40);
    assert_eq!(status(&family, other), EffectStatus::Waiting);
    family.tick(16);
    family.reads(other, &["TIMED_OUT", "charge 0 TIMED_OUT"]);
}

#[test]
fn a_waiting_task_can_be_answered_by_name_and_leaves_the_effect_alone() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "1", 10);
    let other = order(&mut family, "1", 10);
    let said = Said::new(
        family.execution(other).latest("charge").unwrap().id,
        TaskResultStatus::Completed,
    );
    let (reference, force) = ("charge".to_owned(), false);
    let event = Event::Named { reference, force, progress: said.progress(), distinct: false };
    family.tell(other, event, &[crate::shapes::payload(&json!({"n": 9}))]).unwrap();
    family.reads(other, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    family.effect_is("charge_def", "1", RecordState::Claimed);
    family.complete(first, "charge", json!({"n": 1}));
    family.deliver_all();
    let late = order(&mut family, "1", 10);
    let task = family.execution(late).latest("charge").unwrap().clone();
    assert_eq!((task.status, task.output.value()), (TaskStatus::Completed, json!({"n": 1})));
}

#[test]
fn a_report_for_a_task_that_waits_in_line_is_not_taken_from_a_stranger() {
    let mut family = shop(charge(json!({}), json!({})));
    let first = order(&mut family, "1", 10);
    let other = order(&mut family, "1", 10);
    let stranger = family.claim(first, "charge", "ann");
    let task = family.execution(other).latest("charge").unwrap().id;
    let refused = family.report(other, &Said { task, ..stranger });
    assert!(matches!(refused, Err(Refused::Engine(Stop::Rejected(_)))), "{refused:?}");
}
