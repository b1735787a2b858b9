//! # Limits of payloads: what is too large fails, and says so
//!
//! Rules: docs/reference/rules/progress.md#limits-of-payloads.

use semel_engine::PAYLOAD_BYTES_MAX;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

/// Two of it are over the limit, one is not.
fn half() -> Value {
    json!({"x": "y".repeat(PAYLOAD_BYTES_MAX / 2)})
}

fn twice() -> Value {
    json!({"one": "${workflow.input.x}", "two": "${workflow.input.x}"})
}

#[test]
fn an_input_over_the_limit_fails_its_task_for_good() {
    let asks = with(step("a", json!({"retryCount": 3})), json!({"inputParameters": twice()}));
    let run = Bench::start(flow(&[asks]), half());
    assert_eq!(run.story(), ["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
    let task = run.attempt("a", 0);
    assert_eq!(task.input.value(), json!({}));
    assert!(task.reason.as_deref().is_some_and(|it| it.starts_with("input of ")));
    assert!(run.rows.is_empty(), "nobody is offered it");
}

#[test]
fn an_output_of_the_run_over_the_limit_fails_the_run() {
    let definition = with(flow(&[step("a", json!({}))]), json!({"outputParameters": twice()}));
    let mut run = Bench::start(definition, half());
    run.complete("a", json!({}));
    assert_eq!(run.story(), ["FAILED", "a 0 COMPLETED"]);
    assert_eq!(run.output(), json!({}));
    assert!(run.reason().starts_with("output of "), "{}", run.reason());
}
