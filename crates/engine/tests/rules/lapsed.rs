//! # Owners outside that fall silent: tasks that wait behind them are woken by time

use std::sync::Arc;

use semel_engine::{EffectStatus, Record, RecordState, effect_record};
use serde_json::json;

use crate::family::Family;
use crate::once::{charge, is_offered, order, shop, status};

/// Somebody outside has the effect for a minute; a task under this policy comes.
fn behind(on_unknown: &str) -> Family {
    let mut family = shop(charge(json!({"retryCount": 0}), json!({"onUnknown": on_unknown})));
    lease(&mut family, 60);
    family
}

/// The lease lasts so many seconds more.
fn lease(family: &mut Family, seconds: i64) {
    let key = effect_record("charge_def", "1");
    let guards = &mut Arc::make_mut(&mut family.shelf).guards;
    let fresh = Record::new(RecordState::Claimed, family.now);
    let record = guards.entry(key).or_insert(fresh);
    record.detail.owner = Some("worker-7".to_owned());
    record.detail.lease_until = Some(family.now.plus_seconds(seconds));
}

#[test]
fn when_the_lease_is_over_each_does_as_its_policy_says() {
    for (on_unknown, story, offered) in [
        ("RETRY", ["RUNNING", "charge 0 SCHEDULED"], true),
        ("HOLD", ["RUNNING", "charge 0 IN_PROGRESS"], false),
        ("FAIL", ["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"], false),
    ] {
        let mut family = behind(on_unknown);
        let run = order(&mut family, "1", 10);
        assert_eq!(status(&family, run), EffectStatus::Waiting);
        assert_eq!(family.execution(run).wake_at(), Some(family.now.plus_seconds(60)));
        family.tick(59);
        assert_eq!(status(&family, run), EffectStatus::Waiting);
        family.tick(1);
        family.deliver_all();
        family.reads(run, &story);
        assert_eq!(is_offered(&family, run), offered, "{on_unknown}");
        assert_eq!(family.execution(run).wake_at(), None, "nobody is looked for any more");
    }
}

#[test]
fn a_lease_that_was_renewed_is_waited_for() {
    let mut family = behind("HOLD");
    let run = order(&mut family, "1", 10);
    family.tick(30);
    lease(&mut family, 60);
    family.tick(30);
    assert_eq!(status(&family, run), EffectStatus::Waiting);
    assert_eq!(family.execution(run).wake_at(), Some(family.now.plus_seconds(30)));
    family.tick(30);
    family.deliver_all();
    assert_eq!(status(&family, run), EffectStatus::Unknown);
    family.run(run).replay();
}

#[test]
fn of_several_who_wait_one_tries_again_and_the_others_wait_for_it() {
    let mut family = behind("RETRY");
    let runs = [order(&mut family, "1", 10), order(&mut family, "1", 10)];
    family.tick(60);
    family.deliver_all();
    let offered: Vec<_> = runs.into_iter().filter(|run| is_offered(&family, *run)).collect();
    assert_eq!(offered.len(), 1);
    family.complete(offered[0], "charge", json!({"n": 1}));
    family.deliver_all();
    for run in runs {
        family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    }
}

#[test]
fn whoever_comes_after_the_lease_is_over_finds_doubt() {
    let mut family = behind("HOLD");
    family.tick(61);
    let run = order(&mut family, "1", 10);
    assert_eq!(status(&family, run), EffectStatus::Unknown);
    family.effect_is("charge_def", "1", RecordState::Unknown);
}
