//! # Effects in doubt: who had the task fell silent, and what each policy makes of it

use semel_engine::{
    EffectStatus, Event, RecordState, Rejection, Resolution, Slot, Stop, effect_record,
};
use semel_model::{ExecutionId, TaskResultStatus, TaskStatus};
use serde_json::{Value, json};

use crate::family::{Family, Refused};
use crate::once::{charge, is_offered, order, reason, shop, status};
use crate::shapes::{Said, flow, payload, step, with};

fn policy() -> Value {
    json!({"retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 60})
}

fn under(on_unknown: &str) -> Family {
    shop(charge(policy(), json!({"onUnknown": on_unknown})))
}

fn probing() -> Family {
    let probe = json!({"name": "find", "type": "SIMPLE", "taskReferenceName": "p",
        "inputParameters": {"order": "${charge.input.order}"},
        "taskDefinition": {"name": "find", "retryCount": 0}});
    shop(charge(policy(), json!({"onUnknown": "PROBE", "probe": probe})))
}

fn terminate(family: &mut Family, run: ExecutionId) {
    let ended = Event::Terminated { reason: None, compensate: false };
    family.tell(run, ended, &[]).expect("a live run can be ended");
}

fn resolve(
    family: &mut Family,
    run: ExecutionId,
    applied: bool,
    output: Value,
) -> Result<usize, Stop> {
    let key = effect_record("charge_def", "1");
    let (scope, key) = (key.scope, key.key);
    let (by, note) = ("eve".to_owned(), None);
    let said = Resolution { scope, key, applied, output: Slot(0), by, note };
    let told = family.tell(run, Event::EffectResolved(said), &[payload(&output)]);
    told.map(|changes| changes.len()).map_err(|refused| match refused {
        Refused::Engine(stop) => stop,
        other => panic!("{other:?}"),
    })
}

/// The owner takes the task and is never heard of again.
fn silence(family: &mut Family) -> (ExecutionId, Said) {
    let run = order(family, "1", 10);
    let said = family.claim(run, "charge", "ann");
    family.tick(61);
    (run, said)
}

#[test]
fn nobody_took_it_so_nothing_happened() {
    for on_unknown in ["RETRY", "FAIL", "HOLD"] {
        let mut family = under(on_unknown);
        let first = order(&mut family, "1", 10);
        let other = order(&mut family, "1", 10);
        terminate(&mut family, first);
        family.deliver_all();
        assert!(is_offered(&family, other), "{on_unknown}");
    }
    let mut family = under("HOLD");
    let first = order(&mut family, "1", 10);
    terminate(&mut family, first);
    family.effect_is("charge_def", "1", RecordState::Released);
}

#[test]
fn an_owner_that_is_ended_while_a_worker_has_it_leaves_doubt() {
    for (on_unknown, story) in [
        ("RETRY", ["RUNNING", "charge 0 SCHEDULED"]),
        ("FAIL", ["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]),
        ("HOLD", ["RUNNING", "charge 0 IN_PROGRESS"]),
    ] {
        let mut family = under(on_unknown);
        let first = order(&mut family, "1", 10);
        family.claim(first, "charge", "ann");
        let other = order(&mut family, "1", 10);
        terminate(&mut family, first);
        family.effect_is("charge_def", "1", RecordState::Unknown);
        family.deliver_all();
        family.reads(other, &story);
        assert_eq!(is_offered(&family, other), on_unknown == "RETRY");
        let late = order(&mut family, "1", 10);
        let late = family.run(late).story();
        let waits = on_unknown == "RETRY"; // The one before has it now.
        assert!(late == story || waits, "{late:?}");
    }
}

#[test]
fn tried_again_in_doubt_the_same_owner_goes_on() {
    let mut family = under("RETRY");
    let (run, said) = silence(&mut family);
    family.reads(run, &["RUNNING", "charge 0 TIMED_OUT", "charge 1 SCHEDULED"]);
    family.effect_is("charge_def", "1", RecordState::Claimed);
    let stale = family.report(run, &said.output(json!({"n": 1})));
    assert!(matches!(stale, Err(Refused::Engine(Stop::Rejected(Rejection::Stale(_))))));
    family.claim(run, "charge", "bob");
    family.tick(61);
    family.reads(run, &["TIMED_OUT", "charge 0 TIMED_OUT", "charge 1 TIMED_OUT"]);
    family.effect_is("charge_def", "1", RecordState::Unknown);
}

#[test]
fn given_up_in_doubt_the_task_fails_and_a_late_word_still_settles_the_effect() {
    let mut family = under("FAIL");
    let (run, said) = silence(&mut family);
    family.reads(run, &["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert!(reason(&family, run).starts_with("effect charge_def/1 may have happened: response"));
    family.effect_is("charge_def", "1", RecordState::Unknown);
    let said = said.output(json!({"n": 1}));
    family.report(run, &said).expect("the last holder's word counts");
    family.effect_is("charge_def", "1", RecordState::Completed);
    assert_eq!(family.report(run, &said).expect("it is repeated"), []);
    let late = order(&mut family, "1", 10);
    let task = family.execution(late).latest("charge").unwrap().clone();
    assert_eq!(task.output.value(), json!({"n": 1}));
}

#[test]
fn held_in_doubt_the_task_is_in_progress_and_nobody_is_offered_it() {
    let mut family = under("HOLD");
    let (run, said) = silence(&mut family);
    family.reads(run, &["RUNNING", "charge 0 IN_PROGRESS"]);
    assert!(!is_offered(&family, run));
    assert_eq!(status(&family, run), EffectStatus::Unknown);
    family.tick(3600);
    family.reads(run, &["RUNNING", "charge 0 IN_PROGRESS"]);
    // Whoever had it comes back.
    let still = Said { status: TaskResultStatus::InProgress, ..said.clone() };
    assert!(family.report(run, &still).is_err());
    family.report(run, &said.output(json!({"n": 1}))).expect("the last holder's word counts");
    family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
    family.effect_is("charge_def", "1", RecordState::Completed);
    family.deliver_all();
    family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
}

#[test]
fn a_person_says_that_it_has_happened() {
    let mut family = under("HOLD");
    let (run, _) = silence(&mut family);
    let other = order(&mut family, "1", 10);
    family.reads(other, &["RUNNING", "charge 0 IN_PROGRESS"]);
    resolve(&mut family, run, true, json!({"n": 1})).expect("nobody knew");
    family.deliver_all();
    for run in [run, other] {
        family.reads(run, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
        let task = family.execution(run).latest("charge").unwrap().clone();
        assert_eq!(task.output.value(), json!({"n": 1}));
    }
    assert_eq!(resolve(&mut family, run, true, json!({"n": 1})), Ok(0));
    for (applied, output) in [(true, json!({"n": 2})), (false, json!({}))] {
        let refused = resolve(&mut family, run, applied, output);
        assert!(matches!(refused, Err(Stop::Rejected(Rejection::Decided(_)))), "{refused:?}");
    }
    let resolved = family.effect("charge_def", "1").detail.resolved.clone().unwrap();
    assert_eq!((resolved.by.as_str(), resolved.applied), ("eve", true));
}

#[test]
fn a_person_says_that_it_has_not_happened_and_it_is_done() {
    let mut family = under("HOLD");
    let (run, said) = silence(&mut family);
    let other = order(&mut family, "1", 10);
    resolve(&mut family, run, false, json!({})).expect("nobody knew");
    assert_eq!(resolve(&mut family, run, false, json!({})), Ok(0));
    family.reads(run, &["RUNNING", "charge 0 SCHEDULED"]);
    assert!(is_offered(&family, run) && !is_offered(&family, other));
    assert!(family.report(run, &said.output(json!({"n": 1}))).is_err(), "it is too late");
    family.complete(run, "charge", json!({"n": 2}));
    family.deliver_all();
    family.reads(other, &["RUNNING", "charge 0 COMPLETED", "ship 0 SCHEDULED"]);
}

#[test]
fn without_anybody_who_waits_only_the_record_is_settled() {
    for applied in [true, false] {
        let mut family = under("HOLD");
        let first = order(&mut family, "1", 10);
        family.claim(first, "charge", "ann");
        terminate(&mut family, first);
        let other = order(&mut family, "1", 10);
        resolve(&mut family, first, applied, json!({"n": 1})).expect("nobody knew");
        family.deliver_all();
        let task = family.execution(other).latest("charge").unwrap().clone();
        let expected = if applied { TaskStatus::Completed } else { TaskStatus::Scheduled };
        assert_eq!(task.status, expected);
        assert_eq!(is_offered(&family, other), !applied);
    }
    let mut family = under("HOLD");
    let run = order(&mut family, "1", 10);
    let refused = resolve(&mut family, run, true, json!({}));
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Decided(_)))), "{refused:?}");
}

#[test]
fn the_far_side_says_that_it_has_happened() {
    let mut family = probing();
    let (run, _) = silence(&mut family);
    let probed = ["RUNNING", "charge 0 IN_PROGRESS", "charge__probe 0 SCHEDULED"];
    family.reads(run, &probed);
    let input = family.run(run).row("charge__probe").input.value();
    assert_eq!((&input["order"], &input["_effect"]["key"]), (&json!("1"), &json!("1")));
    family.complete(run, "charge__probe", json!({"applied": true, "output": {"n": 1}}));
    let done = ["RUNNING", "charge 0 COMPLETED", "charge__probe 0 COMPLETED", "ship 0 SCHEDULED"];
    family.reads(run, &done);
    family.effect_is("charge_def", "1", RecordState::Completed);
    let late = order(&mut family, "1", 10);
    let task = family.execution(late).latest("charge").unwrap().clone();
    assert_eq!(task.output.value(), json!({"n": 1}));
}

#[test]
fn the_far_side_says_that_it_has_not_happened() {
    let mut family = probing();
    let (run, _) = silence(&mut family);
    family.complete(run, "charge__probe", json!({"applied": false}));
    let again = ["RUNNING", "charge 0 FAILED", "charge__probe 0 COMPLETED", "charge 1 SCHEDULED"];
    family.reads(run, &again);
    family.effect_is("charge_def", "1", RecordState::Claimed);
    family.claim(run, "charge", "bob");
    family.tick(61);
    family.complete(run, "charge__probe", json!({"applied": false}));
    family.reads(
        run,
        &[
            "FAILED",
            "charge 0 FAILED",
            "charge__probe 0 COMPLETED",
            "charge 1 FAILED",
            "charge__probe 1 COMPLETED",
        ],
    );
    family.effect_is("charge_def", "1", RecordState::Released);
}

#[test]
fn a_far_side_that_does_not_know_leaves_it_to_a_person() {
    for answer in [Some(json!({"applied": "unknown"})), Some(json!({})), None] {
        let mut family = probing();
        let (run, _) = silence(&mut family);
        match answer {
            Some(answer) => family.complete(run, "charge__probe", answer),
            None => family.fail(run, "charge__probe", "no answer"),
        }
        assert_eq!(status(&family, run), EffectStatus::Unknown);
        assert_eq!(family.run(run).row_count(), 0);
        resolve(&mut family, run, true, json!({"n": 1})).expect("nobody knew");
        let task = family.execution(run).latest("charge").unwrap().clone();
        assert_eq!(task.status, TaskStatus::Completed);
    }
}

#[test]
fn whoever_comes_in_doubt_asks_the_far_side_itself() {
    for (applied, expected) in [(true, TaskStatus::Completed), (false, TaskStatus::Scheduled)] {
        let mut family = probing();
        let first = order(&mut family, "1", 10);
        family.claim(first, "charge", "ann");
        terminate(&mut family, first);
        let other = order(&mut family, "1", 10);
        family.complete(other, "charge__probe", json!({"applied": applied, "output": {"n": 1}}));
        let task = family.execution(other).latest("charge").unwrap().clone();
        assert_eq!(task.status, expected);
        family.run(other).replay();
    }
}

#[test]
fn what_is_left_when_nothing_is_tried_again_depends_on_what_was_said() {
    let said = |applied: Value| json!({"_effect": {"applied": applied}});
    let held = ["RUNNING", "charge 0 IN_PROGRESS"];
    let failed = ["FAILED", "charge 0 FAILED"];
    let for_good = ["FAILED", "charge 0 FAILED_WITH_TERMINAL_ERROR"];
    for (on_unknown, output, story, state) in [
        ("RETRY", json!({}), failed, RecordState::Unknown),
        ("FAIL", json!({}), failed, RecordState::Unknown),
        ("HOLD", json!({}), held, RecordState::Unknown),
        ("HOLD", said(json!(false)), failed, RecordState::Released),
        ("HOLD", said(json!("unknown")), held, RecordState::Unknown),
        ("RETRY", said(json!("unknown")), failed, RecordState::Unknown),
        ("HOLD", said(json!(true)), for_good, RecordState::Failed),
        ("RETRY", said(json!(true)), for_good, RecordState::Failed),
    ] {
        let effect = json!({"onUnknown": on_unknown});
        let mut family = shop(charge(json!({"retryCount": 0}), effect));
        let run = order(&mut family, "1", 10);
        let said = family.claim(run, "charge", "ann").output(output.clone());
        family.report(run, &Said { status: TaskResultStatus::Failed, ..said }).unwrap();
        family.reads(run, &story);
        assert_eq!(family.effect("charge_def", "1").state, state, "{on_unknown} {output}");
        family.run(run).replay();
    }
}

#[test]
fn the_shortest_effect_is_held_in_doubt_and_a_probe_is_asked() {
    let (mut family, probe) = (shop(charge(policy(), json!({}))), json!({"name": "find"}));
    let (run, _) = silence(&mut family);
    family.reads(run, &["RUNNING", "charge 0 IN_PROGRESS"]);
    assert!(!is_offered(&family, run));
    let mut family = shop(charge(policy(), json!({"probe": probe})));
    let (run, _) = silence(&mut family);
    let story = ["RUNNING", "charge 0 IN_PROGRESS", "charge__probe 0 SCHEDULED"];
    family.reads(run, &story);
    let about = family.execution(run).latest("charge__probe").unwrap().input.value();
    assert_eq!(about["_effect"]["scope"], "charge_def", "the scope that the API knows");
}

#[test]
fn the_last_attempt_holds_the_run_however_it_ends() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0, "pollTimeoutSeconds": 10,
        "timeoutPolicy": "RETRY"});
    let mut family = shop(charge(policy, json!({})));
    let run = order(&mut family, "1", 10);
    let said = family.claim(run, "charge", "ann");
    family.report(run, &Said { status: TaskResultStatus::Failed, ..said }).unwrap();
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 SCHEDULED"]);
    family.tick(11);
    family.reads(run, &["RUNNING", "charge 0 FAILED", "charge 1 IN_PROGRESS"]);
    assert_eq!(status(&family, run), EffectStatus::Unknown);
    resolve(&mut family, run, true, json!({"n": 1})).expect("somebody says");
    let story = ["RUNNING", "charge 0 FAILED", "charge 1 COMPLETED", "ship 0 SCHEDULED"];
    family.reads(run, &story);
    family.run(run).replay();
}

#[test]
fn a_worker_that_does_not_know_is_believed() {
    // A word that is neither yes nor no is not taken for a no.
    for word in [json!("unknown"), json!("true"), json!("false"), json!(1), json!({})] {
        for status in [TaskResultStatus::Failed, TaskResultStatus::FailedWithTerminalError] {
            let mut family = under("HOLD");
            let run = order(&mut family, "1", 10);
            let output = json!({"_effect": {"applied": word}});
            let said = family.claim(run, "charge", "ann").output(output);
            let said = Said { status, ..said };
            family.report(run, &said).unwrap();
            family.reads(run, &["RUNNING", "charge 0 IN_PROGRESS"]);
            assert_eq!(family.report(run, &said).expect("it is repeated"), []);
        }
    }
}

#[test]
fn a_step_whose_effect_is_not_done_once_is_as_it_was() {
    let mut family = Family::of(&[flow(&[with(step("charge", policy()), json!({}))])]);
    let run = family.start("flow", json!({}));
    family.claim(run, "charge", "ann");
    family.tick(61);
    family.reads(run, &["RUNNING", "charge 0 TIMED_OUT", "charge 1 SCHEDULED"]);
    assert!(family.shelf.guards.is_empty());
}
