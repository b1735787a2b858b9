//! # Keys that the other side may have forgotten
//!
//! Rules: docs/reference/idempotency.md#keys-that-the-other-side-forgets.

use semel_engine::{Event, RecordState};
use semel_model::ExecutionId;
use serde_json::{Value, json};

use crate::family::Family;
use crate::once::{charge, is_offered, order, reason, shop};

/// The far side knows keys for an hour.
fn under(delay_seconds: i64, effect: Value) -> Family {
    let policy = json!({"retryCount": 3, "retryDelaySeconds": delay_seconds,
        "responseTimeoutSeconds": 60});
    let mut known = json!({"downstreamRetentionSeconds": 3600});
    let fields = known.as_object_mut().expect("an object");
    fields.extend(effect.as_object().expect("an object").clone());
    shop(charge(policy, known))
}

/// The first attempt fails, ten seconds after it was taken.
fn failed(family: &mut Family) -> ExecutionId {
    let run = order(family, "1", 10);
    let said = family.claim(run, "charge", "ann");
    family.tick(10);
    let said = crate::shapes::Said { status: semel_model::TaskResultStatus::Failed, ..said };
    family.report(run, &said).expect("the holder's report is taken");
    run
}

#[test]
fn a_retry_that_would_come_too_late_is_not_sent_and_follows_the_policy() {
    for (effect, second) in [
        (json!({}), "charge 1 IN_PROGRESS"),
        (json!({"onUnknown": "HOLD"}), "charge 1 IN_PROGRESS"),
        (json!({"onUnknown": "FAIL"}), "charge 1 FAILED_WITH_TERMINAL_ERROR"),
    ] {
        let mut family = under(3590, effect.clone());
        let run = failed(&mut family);
        assert_eq!(family.run(run).story()[1..], ["charge 0 FAILED", second], "{effect}");
        assert!(!is_offered(&family, run));
        assert!(reason(&family, run).contains("downstreamRetentionSeconds=3600"));
        family.effect_is("charge_def", "1", RecordState::Unknown);
        family.run(run).replay();
    }
    let mut family = under(3589, json!({}));
    let run = failed(&mut family);
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 SCHEDULED"]);
    let mut family = under(3590, json!({"onUnknown": "RETRY"}));
    let run = failed(&mut family);
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 SCHEDULED"]);
}

#[test]
fn a_retry_that_nobody_takes_in_time_is_taken_back() {
    let mut family = under(0, json!({"onUnknown": "HOLD"}));
    let run = failed(&mut family);
    family.tick(3589);
    assert!(is_offered(&family, run));
    family.tick(1);
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 IN_PROGRESS"]);
    assert!(!is_offered(&family, run));
    family.effect_is("charge_def", "1", RecordState::Unknown);
}

#[test]
fn a_retry_that_was_taken_in_time_goes_on() {
    let mut family = under(0, json!({"onUnknown": "HOLD"}));
    let run = failed(&mut family);
    family.tick(3580);
    let said = family.claim(run, "charge", "bob");
    family.tick(30);
    family.report(run, &said.output(json!({"n": 1}))).expect("the holder's report is taken");
    family.effect_is("charge_def", "1", RecordState::Completed);
}

#[test]
fn whoever_asks_by_hand_knows_what_they_do() {
    let mut family = under(3590, json!({"onUnknown": "FAIL"}));
    let run = failed(&mut family);
    assert_eq!(family.run(run).story()[0], "FAILED");
    let mut family = under(0, json!({"onUnknown": "RETRY"}));
    let run = failed(&mut family);
    let ended = Event::Terminated { reason: None, compensate: false };
    family.tell(run, ended, &[]).expect("a live run can be ended");
    family.tick(7200);
    family.tell(run, Event::Retried, &[]).expect("an ended run is retried");
    assert!(is_offered(&family, run));
}

#[test]
fn what_did_not_happen_used_no_key() {
    let mut family = under(3590, json!({}));
    let run = order(&mut family, "1", 10);
    let output = json!({"_effect": {"applied": false}});
    let said = family.claim(run, "charge", "ann").output(output);
    family.tick(10);
    let said = crate::shapes::Said { status: semel_model::TaskResultStatus::Failed, ..said };
    family.report(run, &said).expect("the holder's report is taken");
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 SCHEDULED"]);
}
