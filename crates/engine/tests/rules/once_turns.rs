//! # Effects and people: retry, rerun and restart replay what has happened, unless told otherwise

use semel_engine::{EffectStatus, Event, RecordState, Rerun};
use semel_model::{ExecutionId, effect_key};
use serde_json::json;

use crate::family::Family;
use crate::once::{charge, is_offered, order, shop, status};
use crate::shapes::{flow, fork, join, once, step, with};

fn done(family: &mut Family) -> ExecutionId {
    let run = order(family, "1", 10);
    family.complete(run, "charge", json!({"n": 1}));
    family.complete(run, "ship", json!({}));
    run
}

fn from_charge(family: &Family, run: ExecutionId) -> Event {
    let from = Some(family.execution(run).latest("charge").expect("it was done").id);
    Event::Reran(Rerun { from, ..Rerun::default() })
}

fn redone(event: Event) -> Event {
    Event::Redone(Box::new(event))
}

#[test]
fn restart_and_rerun_replay_what_has_happened() {
    let mut family = shop(charge(json!({}), json!({})));
    let run = done(&mut family);
    let rerun = from_charge(&family, run);
    for event in [rerun, Event::Restarted { definition: None }] {
        family.tell(run, event, &[]).unwrap();
        family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
        assert_eq!(status(&family, run), EffectStatus::Replayed);
        family.complete(run, "ship", json!({}));
    }
}

#[test]
fn whoever_says_so_gets_a_second_effect_once() {
    let mut family = shop(charge(json!({}), json!({})));
    let run = done(&mut family);
    let rerun = from_charge(&family, run);
    for event in [rerun, Event::Restarted { definition: None }] {
        family.tell(run, redone(event), &[]).unwrap();
        assert!(is_offered(&family, run));
        assert_eq!(family.ring("charge_def", "1").last(), Some(&"REDONE"));
        family.complete(run, "charge", json!({"n": 2}));
        family.complete(run, "ship", json!({}));
        family.tell(run, Event::Restarted { definition: None }, &[]).unwrap();
        family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
        family.complete(run, "ship", json!({}));
    }
}

#[test]
fn only_what_is_done_again_is_done_once_more() {
    let mut family = shop(charge(json!({}), json!({"key": null})));
    let run = done(&mut family);
    assert_eq!(family.execution(run).effect_key("charge"), effect_key(run, "charge", 0));
    let from = Some(family.execution(run).latest("ship").unwrap().id);
    let rerun = Event::Reran(Rerun { from, ..Rerun::default() });
    family.tell(run, redone(rerun), &[]).unwrap();
    assert_eq!(family.execution(run).effect_key("charge"), effect_key(run, "charge", 0));
    assert_eq!(family.execution(run).effect_key("ship"), effect_key(run, "ship", 1));
    assert_eq!(family.run(run).row("ship").effect_key(), effect_key(run, "ship", 1));
    family.complete(run, "ship", json!({}));
    family.tell(run, Event::Restarted { definition: None }, &[]).unwrap();
    assert_eq!(status(&family, run), EffectStatus::Replayed);
    family.complete(run, "ship", json!({}));
    family.tell(run, redone(Event::Restarted { definition: None }), &[]).unwrap();
    assert_eq!(family.execution(run).effect_key("charge"), effect_key(run, "charge", 1));
    assert_eq!(family.execution(run).effect_key("ship"), effect_key(run, "ship", 2));
    family.reads(run, &["RUNNING", "charge 0 SCHEDULED"]);
}

#[test]
fn a_retry_tries_only_what_failed_and_may_redo_it() {
    let effect = json!({"mode": "ONCE", "key": "k", "cacheFailures": true});
    let failing = with(once("pay"), json!({"effect": effect}));
    let tree = flow(&[fork("f", &[&[failing], &[step("other", json!({}))]]), join("j", &["pay"])]);
    let mut family = Family::of(&[tree]);
    let run = family.start("flow", json!({}));
    family.fail(run, "pay", "no");
    family.effect_is("pay_def", "k", RecordState::Failed);
    family.tell(run, Event::Retried, &[]).unwrap();
    assert_eq!(
        family.execution(run).latest("pay").unwrap().status.as_str(),
        "FAILED_WITH_TERMINAL_ERROR"
    );
    family.tell(run, redone(Event::Retried), &[]).unwrap();
    let again = family.claim(run, "pay", "ann");
    family.report(run, &again.output(json!({"n": 1}))).unwrap();
    family.effect_is("pay_def", "k", RecordState::Completed);
}
