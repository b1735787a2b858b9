//! # Weights: what an execution is said to take in memory

use semel_model::WorkflowStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, for_each, once, with};

fn text(bytes: usize) -> Value {
    json!({"text": "x".repeat(bytes)})
}

#[test]
fn payloads_are_counted_as_long_as_they_are() {
    let small = Bench::start(flow(&[once("a")]), json!({}));
    let large = Bench::start(flow(&[once("a")]), text(100_000));
    assert!(large.execution.weight() - small.execution.weight() >= 100_000);
    let mut run = Bench::start(flow(&[once("a"), once("b")]), json!({}));
    let before = run.execution.weight();
    run.complete("a", text(50_000));
    assert!(run.execution.weight() - before >= 50_000);
    run.replay();
}

#[test]
fn a_loop_that_keeps_its_last_turns_only_grows_no_heavier() {
    let body = for_each("l", &[once("x")]);
    let each = with(body, json!({"inputParameters": {"keepLastN": 2}}));
    let mut run = Bench::start(flow(&[each]), json!({"items": vec![1; 12]}));
    let mut weights = Vec::new();
    for turn in 1..=12 {
        run.complete(&format!("x__{turn}"), text(10_000));
        weights.push(run.execution.weight());
    }
    assert_eq!(run.status(), WorkflowStatus::Completed);
    assert!(weights[10] <= weights[4] + 1_000, "{weights:?}");
    run.replay();
}
