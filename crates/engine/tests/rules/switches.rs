//! # SWITCH and DECISION (docs/reference/rules/task-types.md#switch-and-decision)

use semel_engine::Language;
use semel_engine::Question;
use semel_model::TaskResultStatus::Failed;
use semel_model::WorkflowStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, once, switch, system, with};

/// A choice of gold, none and standard, with a step behind it.
fn route(input: Value) -> Bench {
    let cases = json!({"gold": [once("vip"), once("gift")], "none": []});
    let choice = switch("route", cases, &[once("std")]);
    Bench::start(flow(&[choice, once("after")]), input)
}

fn by_script(fields: Value) -> Bench {
    let cases = json!({"gold": [once("vip")], "3": [once("three")], "true": [once("yes")]});
    let choice = switch("route", cases, &[once("std")]);
    let script = json!({"evaluatorType": "javascript", "expression": "$.case.trim()"});
    let choice = with(with(choice, script), fields);
    Bench::start(flow(&[choice, once("after")]), json!({"case": "gold"}))
}

#[test]
fn the_case_of_that_name_is_run_step_by_step_and_then_what_comes_behind() {
    let mut run = route(json!({"case": "gold"}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "vip 0 SCHEDULED"]);
    run.complete("vip", json!({}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "vip 0 COMPLETED", "gift 0 SCHEDULED"]);
    run.complete("gift", json!({}));
    run.complete("after", json!({}));
    run.reads(&[
        "COMPLETED",
        "route 0 COMPLETED",
        "vip 0 COMPLETED",
        "gift 0 COMPLETED",
        "after 0 COMPLETED",
    ]);
}

#[test]
fn what_was_chosen_stands_in_the_input_and_in_the_output() {
    let run = route(json!({"case": "gold"}));
    let input = json!({"case": "gold", "hasChildren": "true"});
    assert_eq!(run.input_at("route"), input);
    let output = json!({"evaluationResult": ["gold"], "selectedCase": "gold"});
    assert_eq!(run.output_at("route"), output);
    let run = route(json!({"case": "none"}));
    assert_eq!(run.input_at("route"), json!({"case": "none"}), "no branch was chosen");
}

#[test]
fn a_case_that_is_there_but_empty_runs_nothing_and_not_the_default() {
    let run = route(json!({"case": "none"}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn a_case_that_is_not_there_runs_the_default() {
    for case in [json!({"case": "silver"}), json!({"case": "GOLD"}), json!({"case": "gold "})] {
        route(case).reads(&["RUNNING", "route 0 COMPLETED", "std 0 SCHEDULED"]);
    }
}

#[test]
fn a_missing_value_is_the_text_null() {
    let run = route(json!({}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "std 0 SCHEDULED"]);
    assert_eq!(run.output_at("route")["selectedCase"], "null");
    let cases = json!({"null": [once("nothing")]});
    let run = Bench::start(flow(&[switch("route", cases, &[])]), json!({}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "nothing 0 SCHEDULED"]);
}

#[test]
fn without_a_default_nothing_is_run() {
    let choice = switch("route", json!({"gold": [once("vip")]}), &[]);
    let run = Bench::start(flow(&[choice.clone(), once("after")]), json!({"case": "x"}));
    run.reads(&["RUNNING", "route 0 COMPLETED", "after 0 SCHEDULED"]);
    let run = Bench::start(flow(&[choice]), json!({"case": "x"}));
    run.reads(&["COMPLETED", "route 0 COMPLETED"]);
}

#[test]
fn values_become_text_before_they_are_looked_up() {
    for (value, text) in [
        (json!(true), "true"),
        (json!(3), "3"),
        (json!(3.0), "3.0"),
        (json!(null), "null"),
        (json!("3"), "3"),
    ] {
        let run = route(json!({"case": value}));
        assert_eq!(run.output_at("route")["selectedCase"], text, "{value}");
    }
}

#[test]
fn a_switch_inside_a_case_leads_out_to_what_is_behind_the_outer_one() {
    let inner = switch("inner", json!({"gold": [once("vip")]}), &[]);
    let outer = switch("outer", json!({"gold": [inner]}), &[]);
    let mut run = Bench::start(flow(&[outer, once("after")]), json!({"case": "gold"}));
    run.reads(&["RUNNING", "outer 0 COMPLETED", "inner 0 COMPLETED", "vip 0 SCHEDULED"]);
    run.complete("vip", json!({}));
    run.complete("after", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_program_is_asked_about_the_input_and_its_answer_is_the_case() {
    for evaluator in ["javascript", "graaljs"] {
        let mut run = by_script(json!({"evaluatorType": evaluator}));
        run.reads(&["RUNNING", "route 0 IN_PROGRESS"]);
        let asked = run.asked("route");
        let (language, source) = (Language::JavaScript, "$.case.trim()".to_owned());
        assert_eq!(asked.question, Question::Script { language, source });
        assert_eq!(asked.input.value(), json!({"case": "gold"}));
        run.say("route", json!("gold"));
        run.reads(&["RUNNING", "route 0 COMPLETED", "vip 0 SCHEDULED"]);
    }
}

#[test]
fn what_a_program_says_becomes_text_too() {
    for (said, head) in [(json!(3), "three"), (json!(true), "yes"), (json!(null), "std")] {
        let mut run = by_script(json!({}));
        run.say("route", said);
        run.reads(&["RUNNING", "route 0 COMPLETED", &format!("{head} 0 SCHEDULED")]);
    }
}

#[test]
fn a_program_that_throws_fails_the_switch_and_the_run_without_a_retry() {
    let policy = json!({"name": "route", "retryCount": 3});
    let mut run = by_script(json!({"taskDefinition": policy}));
    run.throw("route", "x is not defined");
    run.reads(&["FAILED", "route 0 FAILED"]);
    assert_eq!(run.reason_at("route"), "x is not defined");
    let mut run = by_script(json!({}));
    run.exhaust("route", "it took too long");
    run.reads(&["FAILED", "route 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn an_optional_switch_that_throws_is_stepped_over() {
    let mut run = by_script(json!({"optional": true}));
    run.throw("route", "x is not defined");
    run.reads(&["RUNNING", "route 0 COMPLETED_WITH_ERRORS", "after 0 SCHEDULED"]);
}

#[test]
fn an_unknown_evaluator_ends_the_run_even_if_the_switch_is_optional() {
    let run = by_script(json!({"evaluatorType": "cobol", "optional": true}));
    run.reads(&["FAILED", "route 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert_eq!(run.reason(), "No evaluator registered for type: cobol");
}

#[test]
fn a_failure_in_a_case_is_the_failure_of_the_run() {
    let mut run = route(json!({"case": "gold"}));
    run.fail("vip", Failed, "no");
    run.reads(&["FAILED", "route 0 COMPLETED", "vip 0 FAILED"]);
}

#[test]
fn a_retried_switch_that_threw_is_evaluated_again_and_its_case_is_run() {
    let mut run = by_script(json!({}));
    run.throw("route", "x is not defined");
    run.retry().unwrap();
    run.reads(&["RUNNING", "route 0 FAILED", "route 1 IN_PROGRESS"]);
    run.say("route", json!("gold"));
    run.reads(&["RUNNING", "route 0 FAILED", "route 1 COMPLETED", "vip 0 SCHEDULED"]);
    run.complete("vip", json!({}));
    run.complete("after", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_join_on_a_switch_does_not_wait_for_its_case() {
    let choice = switch("route", json!({"gold": [once("vip")]}), &[]);
    let fork = crate::shapes::fork("f", &[&[choice], &[once("b")]]);
    let join = crate::shapes::join("j", &["route", "b"]);
    let mut run = Bench::start(flow(&[fork, join, once("c")]), json!({"case": "gold"}));
    run.complete("b", json!({}));
    run.reads(&[
        "RUNNING",
        "f 0 COMPLETED",
        "route 0 COMPLETED",
        "vip 0 SCHEDULED",
        "b 0 COMPLETED",
        "j 0 COMPLETED",
        "c 0 SCHEDULED",
    ]);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Running, "the case holds back the end");
    run.complete("vip", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

fn decision(fields: Value) -> Value {
    let base = json!({"inputParameters": {"case": "${workflow.input.case}"},
        "decisionCases": {"gold": [once("vip")], "none": []}, "defaultCase": [once("std")]});
    system("route", "DECISION", with(base, fields))
}

#[test]
fn a_decision_takes_the_default_for_an_empty_case_and_for_an_absent_one() {
    for (case, head) in [("gold", "vip"), ("none", "std"), ("silver", "std")] {
        let definition = flow(&[decision(json!({"caseValueParam": "case"})), once("after")]);
        let run = Bench::start(definition, json!({"case": case}));
        run.reads(&["RUNNING", "route 0 COMPLETED", &format!("{head} 0 SCHEDULED")]);
        assert_eq!(run.output_at("route"), json!({"caseOutput": [case]}));
        assert_eq!(run.input_at("route"), json!({"case": case, "hasChildren": "true"}));
    }
}

#[test]
fn the_program_of_a_decision_says_the_case() {
    let definition = flow(&[decision(json!({"caseExpression": "$.case.trim()"}))]);
    let mut run = Bench::start(definition, json!({"case": "gold"}));
    run.say("route", json!("gold"));
    run.reads(&["RUNNING", "route 0 COMPLETED", "vip 0 SCHEDULED"]);
}

#[test]
fn the_program_of_a_decision_that_throws_ends_the_run_even_if_it_is_optional() {
    let fields = json!({"caseExpression": "$.case.trim()", "optional": true});
    let mut run = Bench::start(flow(&[decision(fields)]), json!({}));
    run.throw("route", "x is not defined");
    run.reads(&["FAILED", "route 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert_eq!(run.reason(), "x is not defined");
}
