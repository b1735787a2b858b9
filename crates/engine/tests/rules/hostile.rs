//! # Hostile input: templates and payloads nobody sane would write

use semel_model::TaskResultStatus::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, step, with};

fn nested(levels: usize, inside: Value) -> Value {
    (0..levels).fold(inside, |inside, _| json!({ "d": inside }))
}

fn asks(reference: &str, parameters: Value) -> Value {
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 0});
    with(step(reference, policy), json!({ "inputParameters": parameters }))
}

#[test]
fn an_expression_nested_without_end_is_null_and_not_a_crash() {
    for levels in [33, 1_000, 200_000] {
        let deep = format!("{}x{}", "${".repeat(levels), "}".repeat(levels));
        let run = Bench::start(flow(&[asks("a", json!({ "x": deep, "n": 1 }))]), json!({}));
        assert_eq!(run.attempt("a", 0).input.value(), json!({"x": null, "n": 1}));
    }
}

#[test]
fn unbalanced_braces_are_text() {
    for text in ["${".repeat(10_000), "$${".repeat(10_000), "}".repeat(10_000), "${{}".to_owned()] {
        let run = Bench::start(flow(&[asks("a", json!({ "x": text }))]), json!({}));
        assert!(run.attempt("a", 0).input.value()["x"].is_string());
    }
}

#[test]
fn inputs_that_nest_deeper_from_step_to_step_never_stop_a_run() {
    let deep = nested(90, json!("${workflow.input}"));
    let deeper = nested(90, json!("${a.input}"));
    let looks = json!({"x": "${b.input.d.d}", "n": "${workflow.input.n}"});
    let steps = [asks("a", json!({ "d": deep })), asks("b", deeper), asks("c", looks)];
    let mut run = Bench::start(flow(&steps), json!({"d": nested(90, json!(1)), "n": 1}));
    run.fail("a", Failed, "once");
    run.complete("a", json!({}));
    run.fail("b", Failed, "once");
    run.complete("b", json!({}));
    assert_eq!(run.attempt("c", 0).input.value()["n"], 1);
    run.complete("c", json!({}));
    assert_eq!(run.story()[0], "COMPLETED");
    run.replay();
}

#[test]
fn text_of_any_script_survives() {
    let odd = "\u{0}\u{1f600}ü$\u{202e}{}\"\\\n";
    let run =
        Bench::start(flow(&[asks("a", json!({"x": "<${workflow.input.s}>"}))]), json!({"s": odd}));
    assert_eq!(run.attempt("a", 0).input.value(), json!({ "x": format!("<{odd}>") }));
    run.replay();
}

/// Sixty levels of lists: everything below everything below everything is millions.
fn thicket() -> Value {
    let branch = json!(vec![1; 20]);
    (0..60).fold(branch.clone(), |inside, _| json!([inside, branch]))
}

#[test]
fn a_path_that_visits_too_much_is_null_and_the_others_are_not() {
    for path in ["t..*..*..*", "t..[?(@..* subsetof $.workflow.input.t..*)]"] {
        let x = format!("<${{workflow.input.{path}}}>");
        let parameters =
            json!({"n": "${workflow.input.n}", "x": x, "after": "${workflow.input.n}"});
        let run = Bench::start(flow(&[asks("a", parameters)]), json!({"n": 1, "t": thicket()}));
        let wanted = json!({"n": 1, "x": "<null>", "after": 1});
        assert_eq!(run.attempt("a", 0).input.value(), wanted, "{path}");
    }
}

#[test]
fn a_turn_ends_its_reading_somewhere() {
    let (n, too_much) = (json!("${workflow.input.n}"), json!("${workflow.input.t..*..*..*}"));
    let mut parameters = vec![n.clone()];
    parameters.extend(vec![too_much; 11]);
    parameters.extend([n, json!("plain text")]);
    let mut wanted = vec![Value::Null; 14];
    (wanted[0], wanted[13]) = (json!(1), json!("plain text"));
    let run = Bench::start(
        flow(&[asks("a", json!({ "x": parameters }))]),
        json!({"n": 1, "t": thicket()}),
    );
    assert_eq!(run.attempt("a", 0).input.value()["x"], json!(wanted));
    run.replay();
}
