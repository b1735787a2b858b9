//! # Effect keys: what a task does to the world has one name
//!
//! Rules: docs/reference/idempotency.md#effect-key.

use semel_engine::{Event, Rerun, reveal, view};
use semel_model::TaskResultStatus::Failed;
use semel_model::effect_key;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, once, repeat, step, with};

/// A step that is told all there is to tell, and may be tried again.
fn told(reference: &str) -> Value {
    let parameters = json!({"key": "${CPEWF_EFFECT_KEY}", "attempt": "${CPEWF_ATTEMPT}",
        "fence": "${CPEWF_FENCE}", "text": "<${CPEWF_ATTEMPT}/${CPEWF_FENCE}>"});
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    with(step(reference, policy), json!({"inputParameters": parameters}))
}

fn input(run: &Bench, reference: &str) -> Value {
    run.latest(reference).input.value()
}

/// What the input of the newest attempt says, once it was seen that its views say the same.
fn key(run: &Bench, reference: &str) -> String {
    let task = run.latest(reference);
    let said = task.input.value()["key"].as_str().expect("a key is text").to_owned();
    let shown = view::task(&run.execution, &task);
    assert_eq!(shown.effect_key.as_deref(), Some(said.as_str()));
    assert_eq!(shown.attempt, Some(task.attempt + 1));
    said
}

#[test]
fn a_retry_keeps_the_key_and_counts_the_attempt() {
    let mut run = Bench::start(flow(&[told("pay"), told("ship")]), json!({}));
    let first = key(&run, "pay");
    assert_eq!(first, effect_key(run.execution.id(), "pay", 0));
    assert_eq!(input(&run, "pay")["attempt"], 1);
    assert_eq!(run.row("pay").effect_key(), first);
    run.fail("pay", Failed, "no");
    assert_eq!(key(&run, "pay"), first);
    assert_eq!((&input(&run, "pay")["attempt"], run.latest("pay").attempt), (&json!(2), 1));
    run.complete("pay", json!({}));
    assert_ne!(key(&run, "ship"), first, "another step, another effect");
    run.replay();
}

#[test]
fn retry_by_hand_rerun_and_restart_keep_the_key() {
    let mut run = Bench::start(flow(&[told("pay")]), json!({}));
    let first = key(&run, "pay");
    for _ in 0..2 {
        run.fail("pay", Failed, "no");
    }
    run.happen(Event::Retried, &[]).expect("a failed run is retried");
    assert_eq!(key(&run, "pay"), first);
    run.complete("pay", json!({}));
    let from = Some(run.latest("pay").id);
    let again = [
        Event::Reran(Rerun { from, ..Rerun::default() }),
        Event::Reran(Rerun::default()),
        Event::Restarted { definition: None },
    ];
    for event in again {
        run.happen(event, &[]).expect("a closed run begins again");
        assert_eq!(key(&run, "pay"), first);
        run.complete("pay", json!({}));
    }
    run.replay();
}

#[test]
fn every_turn_of_every_loop_has_a_key_of_its_own() {
    let inner = repeat("inner", &[told("pay")]);
    let mut run = Bench::start(flow(&[repeat("outer", &[inner]), once("after")]), json!({}));
    let mut keys = Vec::new();
    for (name, goes_on, again) in [
        ("pay__1__1", true, None),
        ("pay__1__2", false, Some(true)),
        ("pay__2__1", false, Some(false)),
    ] {
        keys.push(key(&run, name));
        run.complete(name, json!({}));
        run.say(if name.starts_with("pay__1") { "inner__1" } else { "inner__2" }, json!(goes_on));
        if let Some(again) = again {
            run.say("outer", json!(again));
        }
    }
    run.complete("after", json!({}));
    assert_eq!(keys[2], effect_key(run.execution.id(), "pay__2__1", 0));
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 3);
    run.replay();
}

#[test]
fn the_fence_is_put_into_the_copy_that_is_handed_out() {
    let mut run = Bench::start(flow(&[told("pay")]), json!({}));
    run.claim("pay", "ann");
    let stored = input(&run, "pay");
    assert_eq!(
        (&stored["fence"], &stored["text"]),
        (&json!("${CPEWF_FENCE}"), &json!("<1/${CPEWF_FENCE}>"))
    );
    let row = run.row("pay");
    let sent = reveal(&row.input, Some(row.hand_out.fence), &mut |_| None).value();
    let fence = row.hand_out.fence.to_string();
    assert_eq!((&sent["fence"], &sent["text"]), (&json!(fence), &json!(format!("<1/{fence}>"))));
}

#[test]
fn what_only_looks_like_the_fence_stays_text_and_a_run_has_no_key() {
    let parameters = json!({"inputParameters": {"a": "$${CPEWF_FENCE}"}});
    let output = json!({"outputParameters": {"k": "${CPEWF_EFFECT_KEY}", "f": "${CPEWF_FENCE}"}});
    let definition = with(flow(&[with(step("pay", json!({})), parameters)]), output);
    let mut run = Bench::start(definition, json!({}));
    let sent = reveal(&run.latest("pay").input, Some(9), &mut |_| None).value();
    assert_eq!(sent["a"], "${CPEWF_FENCE}");
    run.complete("pay", json!({}));
    assert_eq!(run.output(), json!({"k": null, "f": null}));
}
