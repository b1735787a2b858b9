//! # Hostile input: templates and payloads nobody sane would write

use semel_model::TaskResultStatus::Failed;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, noop, repeat, step, with};

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
fn a_path_that_visits_too_much_fails_its_step_and_the_others_are_resolved() {
    for path in ["t..*..*..*", "t..[?(@..* subsetof $.workflow.input.t..*)]"] {
        let x = format!("<${{workflow.input.{path}}}>");
        let parameters =
            json!({"n": "${workflow.input.n}", "x": x, "after": "${workflow.input.n}"});
        let mut run = Bench::start(flow(&[asks("a", parameters)]), json!({"n": 1, "t": thicket()}));
        let wanted = json!({"n": 1, "x": "<null>", "after": 1});
        assert_eq!(run.attempt("a", 0).input.value(), wanted, "{path}");
        says_what_costs_too_much(&mut run, &format!("${{workflow.input.{path}}}"));
    }
}

/// The step failed for good, once, and says which expression it was.
fn says_what_costs_too_much(run: &mut Bench, expression: &str) {
    run.carry_on(); // There was no budget left to end the run.
    assert_eq!(run.story(), ["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
    let reason = run.attempt("a", 0).reason.clone().unwrap_or_default();
    let told = format!("the expression {expression} costs more than expressions may");
    assert!(reason.starts_with(&told), "{reason}");
    assert!(reason.contains("docs/errors/EXPRESSION_COST.md"), "{reason}");
}

#[test]
fn a_pattern_that_would_hold_the_lane_fails_its_step() {
    let text = "a".repeat(600_000);
    for pattern in ["(a*)*b", "(.*a){12}", "[a-z]+"] {
        let expression = format!("${{workflow.input.l[?(@ =~ /{pattern}/)]}}");
        let mut run =
            Bench::start(flow(&[asks("a", json!({"x": expression}))]), json!({"l": [text]}));
        says_what_costs_too_much(&mut run, &expression);
        run.replay();
    }
    // One that is too large is none, as one that does not parse.
    for pattern in ["a{1000}{1000}", "(?:(?:){1000}){1000}", &"a".repeat(5_000)] {
        let expression = format!("${{workflow.input.l[?(@ =~ /{pattern}/)]}}");
        let run = Bench::start(flow(&[asks("a", json!({"x": expression}))]), json!({"l": ["a"]}));
        assert_eq!(run.attempt("a", 0).input.value(), json!({"x": null}));
    }
}

#[test]
fn a_pattern_over_a_list_of_names_is_within_what_it_may_cost() {
    let names: Vec<String> = (0..5_000).map(|at| format!("customer-number-{at}")).collect();
    let wanted = json!({"x": "${workflow.input.l[?(@ =~ /customer-.*-4999/i)]}"});
    let run = Bench::start(flow(&[asks("a", wanted)]), json!({ "l": names }));
    assert_eq!(run.attempt("a", 0).input.value(), json!({"x": ["customer-number-4999"]}));
}

#[test]
fn what_one_step_has_spent_is_not_the_fault_of_the_next() {
    let text = "a".repeat(250_000);
    let costly = json!({"x": "${workflow.input.l[?(@ =~ /a+/)].length()}"});
    let branches: Vec<Value> = (0..4).map(|at| asks(&format!("b{at}"), costly.clone())).collect();
    let heads: Vec<&[Value]> = branches.iter().map(std::slice::from_ref).collect();
    let steps = [fork("f", &heads), join("j", &["b0", "b1", "b2", "b3"])];
    let mut run = Bench::start(flow(&steps), json!({"l": [text]}));
    assert!(run.row_count() < 4, "one turn does not do it all");
    assert!(run.carry_on() > 0);
    for at in 0..4 {
        assert_eq!(run.attempt(&format!("b{at}"), 0).input.value(), json!({"x": 1}));
    }
    run.replay();
}

#[test]
fn what_the_last_step_has_spent_is_not_the_fault_of_the_output() {
    let text = "a".repeat(250_000);
    let costly = "${workflow.input.l[?(@ =~ /a+/)].length()}";
    let twice = json!({"x": costly, "y": costly});
    let steps = [with(noop("a"), json!({ "inputParameters": twice }))];
    let definition = with(flow(&steps), json!({"outputParameters": {"x": costly}}));
    let mut run = Bench::start(definition, json!({"l": [text]}));
    run.carry_on();
    assert_eq!(run.story(), ["COMPLETED", "a 0 COMPLETED"]);
    assert_eq!(run.output(), json!({"x": 1}));
    run.replay();
}

#[test]
fn an_output_that_costs_too_much_fails_the_run() {
    let output = json!({"x": "${workflow.input.t..*..*..*}", "n": "${workflow.input.n}"});
    let definition = with(flow(&[noop("a")]), json!({ "outputParameters": output }));
    let run = Bench::start(definition, json!({"n": 1, "t": thicket()}));
    assert_eq!(run.story(), ["FAILED", "a 0 COMPLETED"]);
    assert!(run.reason().contains("costs more than expressions may"), "{}", run.reason());
}

#[test]
fn a_loop_over_a_list_that_costs_too_much_fails() {
    let items = json!({"items": "${workflow.input.t..*..*..*}"});
    let over = with(repeat("a", &[step("b", json!({}))]), items);
    let mut run = Bench::start(flow(&[over]), json!({"t": thicket()}));
    says_what_costs_too_much(&mut run, "${workflow.input.t..*..*..*}");
}

#[test]
fn a_turn_ends_its_reading_somewhere() {
    let (n, too_much) = (json!("${workflow.input.n}"), json!("${workflow.input.t..*..*..*}"));
    let mut parameters = vec![n.clone()];
    parameters.extend(vec![too_much; 11]);
    parameters.extend([n, json!("plain text")]);
    let mut wanted = vec![Value::Null; 14];
    (wanted[0], wanted[13]) = (json!(1), json!("plain text"));
    let mut run = Bench::start(
        flow(&[asks("a", json!({ "x": parameters }))]),
        json!({"n": 1, "t": thicket()}),
    );
    assert_eq!(run.attempt("a", 0).input.value()["x"], json!(wanted));
    says_what_costs_too_much(&mut run, "${workflow.input.t..*..*..*}");
    run.replay();
}
