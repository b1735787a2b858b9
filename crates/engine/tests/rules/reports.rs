//! # Reports: what is taken from them, and its limits
//!
//! Rules:
//! * docs/reference/rules/operations.md#reports
//! * docs/reference/rules/progress.md#limits-of-payloads

use semel_engine::{Brought, Event, Facts, Rejection, Rows, Stop, decide};
use semel_model::TaskResultStatus::{Completed, Failed, InProgress};
use semel_model::{Payload, TaskId};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, payload, step};

const LIMIT_BYTES: usize = 10 * 1024 * 1024;

fn one_step() -> Bench {
    Bench::start(flow(&[step("a", json!({"retryCount": 3}))]), json!({}))
}

/// An output of exactly so many bytes.
fn output_of(bytes: usize) -> Value {
    json!({ "x": "y".repeat(bytes - r#"{"x":""}"#.len()) })
}

#[test]
fn a_task_nobody_took_can_be_completed() {
    let mut run = one_step();
    let said = Said::new(run.attempt("a", 0).id, Completed).output(json!({"v": 1}));
    run.report(&said).unwrap();
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
    let task = run.attempt("a", 0);
    assert_eq!((task.polls, task.started_at.ms(), task.fence), (0, 0, None));
}

#[test]
fn an_unknown_task_is_refused() {
    let mut run = one_step();
    let unknown = TaskId::from_bytes([1; 16]);
    let refused = run.report(&Said::new(unknown, Completed));
    assert_eq!(refused, Err(Stop::Rejected(Rejection::UnknownTask(unknown))));
    assert_eq!(run.expire(unknown), []);
    run.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_decision_without_the_delivery_asks_for_it() {
    let run = one_step();
    let task = run.attempt("a", 0).id;
    let said = Said::new(task, Completed);
    let facts = Facts { now: run.now, ..Facts::default() };
    for (event, payloads) in [
        said.told(),
        (Event::Expired { task }, vec![]),
        (Event::Terminated { reason: None, compensate: false }, vec![]),
    ] {
        let mut draft = run.execution.clone();
        let brought = Brought { payloads: &payloads, definition: None };
        let missed = decide(&mut draft, &event, &brought, &facts);
        assert_eq!(missed, Err(Stop::Miss(Rows::Deliveries(vec![task]))), "{event:?}");
    }
}

#[test]
fn a_reason_is_cut_after_500_characters() {
    let mut run = Bench::start(flow(&[step("a", json!({"retryCount": 0}))]), json!({}));
    let said = run.claim("a", "ann").reason(&"ü".repeat(501));
    run.report(&Said { status: Failed, ..said }).unwrap();
    let kept = run.attempt("a", 0).reason.clone().unwrap();
    assert_eq!(kept, "ü".repeat(500));
    assert!(run.reason().ends_with(&format!("'{kept}'")));
    run.replay();
}

#[test]
fn an_output_at_the_limit_is_taken() {
    let mut run = one_step();
    run.complete("a", output_of(LIMIT_BYTES));
    assert_eq!(run.story(), ["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn an_output_over_the_limit_fails_the_task_for_good() {
    for status in [Completed, InProgress] {
        let mut run = one_step();
        let said = run.claim("a", "ann").output(output_of(LIMIT_BYTES + 1));
        let said = Said { status, ..said };
        run.report(&said).unwrap();
        assert_eq!(run.story(), ["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
        let task = run.attempt("a", 0);
        let kept = said.output.to_string().chars().take(1_000).collect::<String>();
        assert_eq!(task.output.value(), json!({ "truncatedOutput": kept }));
        let reason = task.reason.as_deref().unwrap();
        assert_eq!(reason, "output of 10485761 bytes is over the limit of 10485760");
        assert_eq!(run.report(&said), Ok(vec![]), "its repeat is recognised");
        if status == InProgress {
            run.replay();
        }
    }
}

#[test]
fn an_update_by_name_is_merged_over_the_output() {
    let mut run = one_step();
    let said = run.claim("a", "ann").output(json!({"kept": 1, "new": {"old": true}}));
    run.report(&Said { status: InProgress, ..said.clone() }).unwrap();
    let named = Said::new(said.task, Completed).output(json!({"new": {"n": 2}, "more": 3}));
    run.name("a", false, &named).unwrap();
    assert_eq!(run.output(), json!({"kept": 1, "new": {"n": 2}, "more": 3}));
    run.reads(&["COMPLETED", "a 0 COMPLETED"]);
}

#[test]
fn merged_progress_cannot_grow_over_the_limit() {
    let mut run = one_step();
    let task = run.attempt("a", 0).id;
    let half = "y".repeat(LIMIT_BYTES / 2);
    let first = Said::new(task, InProgress).output(json!({ "one": half }));
    run.name("a", false, &first).unwrap();
    assert_eq!(run.story(), ["RUNNING", "a 0 SCHEDULED"]);
    let second = Said::new(task, InProgress).output(json!({ "two": half }));
    run.name("a", false, &second).unwrap();
    assert_eq!(run.story(), ["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn an_update_by_name_goes_to_the_newest_open_attempt() {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 60});
    let mut run = Bench::start(flow(&[step("a", policy), step("b", json!({}))]), json!({}));
    run.fail("a", Failed, "x");
    let named = Said::new(run.attempt("a", 0).id, Completed);
    run.name("a", false, &named).unwrap();
    run.reads(&["RUNNING", "a 0 FAILED", "a 1 COMPLETED", "b 0 SCHEDULED"]);
    assert_eq!(run.name("a", true, &named), Ok(vec![]), "the same again");
    let nowhere = run.name("nowhere", true, &named);
    assert!(matches!(nowhere, Err(Stop::Rejected(Rejection::NotFound(_)))), "{nowhere:?}");
}

#[test]
fn an_output_that_is_no_object_is_kept_as_it_is() {
    let mut run = one_step();
    run.complete("a", json!([1, 2]));
    assert_eq!(run.output(), json!([1, 2]));
    run.replay();
}

#[test]
fn a_payload_keeps_its_text_from_report_to_output() {
    let mut run = one_step();
    let said = run.claim("a", "ann");
    let text = r#"{"b": 1.0, "a": 1e3, "b": 2}"#;
    let payload = Payload::from_text(text.to_owned()).unwrap();
    run.happen(said.told().0, &[payload]).unwrap();
    assert_eq!(run.execution.output().text(), text);
    run.replay();
}

#[test]
fn a_failure_by_name_that_is_said_twice_ends_one_attempt() {
    let tried_again = || {
        let policy = json!({"retryCount": 3, "retryDelaySeconds": 0});
        let mut run = Bench::start(flow(&[step("a", policy)]), json!({}));
        let said = Said::new(run.attempt("a", 0).id, Failed).output(json!({"n": 1}));
        run.name("a", false, &said).unwrap();
        assert_eq!(run.story(), ["RUNNING", "a 0 FAILED", "a 1 SCHEDULED"]);
        (run, said)
    };
    let two = ["RUNNING", "a 0 FAILED", "a 1 FAILED", "a 2 SCHEDULED"];
    let (mut run, said) = tried_again();
    for force in [false, true] {
        assert_eq!(run.name("a", force, &said), Ok(vec![]), "nobody has taken the next attempt");
    }
    run.claim("a", "ann");
    assert_eq!(run.name("a", false, &said), Ok(vec![]), "and the first answer stays what it was");
    run.name("a", true, &said).expect("by force it is about who has it now");
    run.reads(&two);

    let (mut run, said) = tried_again();
    run.name("a", false, &said.clone().output(json!({"n": 2}))).expect("another word");
    run.reads(&two);

    let (mut run, said) = tried_again();
    let progress = said.progress();
    let named = Event::Named { reference: "a".into(), force: false, progress, distinct: true };
    run.happen(named, &[payload(&said.output)]).expect("another request");
    run.reads(&two);

    let mut run = Bench::start(flow(&[step("a", json!({"retryCount": 0}))]), json!({}));
    let said = Said::new(run.attempt("a", 0).id, Failed);
    run.name("a", false, &said).unwrap();
    assert_eq!(run.story(), ["FAILED", "a 0 FAILED"]);
    run.advance(1);
    run.happen(Event::Retried, &[]).unwrap();
    run.name("a", false, &said).expect("who tries again by hand has seen the failure");
    run.reads(&["FAILED", "a 0 FAILED", "a 1 FAILED"]);
}
