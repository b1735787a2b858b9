//! # Scripts: programs are questions, answered by hand here
//!
//! Rules:
//! * docs/reference/rules/task-types.md#scripts
//! * docs/reference/rules/task-types.md#inline-lambda-and-json_jq_transform

use semel_engine::{Event, Language, Question, Said as Verdict, Slot};
use semel_model::TaskStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, once, payload, system, with};

fn inline(input: Value) -> Value {
    system("s", "INLINE", json!({"inputParameters": input}))
}

fn script(kind: &str, input: Value) -> Bench {
    let task = system("s", kind, json!({"inputParameters": input}));
    Bench::start(flow(&[task, once("after")]), json!({"x": 7}))
}

#[track_caller]
fn asks(run: &Bench, language: Language, source: &str) {
    let source = source.to_owned();
    assert_eq!(run.asked("s").question, Question::Script { language, source });
    assert_eq!(run.asked("s").input.value(), run.input_at("s"), "the whole input");
}

#[test]
fn an_inline_task_asks_about_its_whole_input_and_its_output_is_the_result() {
    let mut run =
        script("INLINE", json!({"expression": "$.x.valueOf() * 2", "x": "${workflow.input.x}"}));
    run.reads(&["RUNNING", "s 0 IN_PROGRESS"]);
    asks(&run, Language::JavaScript, "$.x.valueOf() * 2");
    assert_eq!(run.input_at("s"), json!({"expression": "$.x.valueOf() * 2", "x": 7}));
    run.say("s", json!(14));
    run.reads(&["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(run.output_at("s"), json!({"result": 14}));
}

#[test]
fn whatever_it_says_is_the_result() {
    for said in [json!(null), json!([1, {"a": []}]), json!("text"), json!(1.5), json!({})] {
        let mut run = script("INLINE", json!({"expression": "x"}));
        run.say("s", said.clone());
        assert_eq!(run.output_at("s"), json!({"result": said}));
        run.replay();
    }
}

#[test]
fn an_inline_task_by_value_asks_nobody() {
    let input = json!({"evaluatorType": "value-param", "expression": "x", "x": [1]});
    let run = script("INLINE", input);
    run.reads(&["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    assert_eq!(run.output_at("s"), json!({"result": [1]}));
}

#[test]
fn an_inline_program_that_throws_fails_for_good_and_says_why_twice() {
    let mut run = script("INLINE", json!({"expression": "x", "evaluatorType": "graaljs"}));
    run.throw("s", "x is not defined");
    run.reads(&["FAILED", "s 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert_eq!(run.reason_at("s"), "x is not defined");
    assert_eq!(run.output_at("s"), json!({"error": "x is not defined"}));
}

#[test]
fn a_program_that_spends_its_budget_fails_for_good() {
    for (kind, key) in [
        ("INLINE", "expression"),
        ("LAMBDA", "scriptExpression"),
        ("JSON_JQ_TRANSFORM", "queryExpression"),
    ] {
        let mut run = script(kind, json!({key: "x"}));
        run.exhaust("s", "too many steps");
        run.reads(&["FAILED", "s 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert_eq!(run.output_at("s"), json!({"error": "too many steps"}));
    }
}

#[test]
fn an_inline_task_without_a_program_or_with_an_unknown_evaluator_fails_for_good() {
    for (input, why) in [
        (
            json!({}),
            "Empty 'expression' in Inline task's input parameters. A non-empty String value must \
             be provided.",
        ),
        (
            json!({"expression": "x", "evaluatorType": "cobol"}),
            "Unknown evaluator 'cobol' in INLINE task.",
        ),
    ] {
        let run = script("INLINE", input);
        run.reads(&["FAILED", "s 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert_eq!(run.reason_at("s"), why);
    }
}

#[test]
fn the_program_of_a_lambda_is_the_body_of_a_function() {
    let mut run = script("LAMBDA", json!({"scriptExpression": "return one()"}));
    asks(&run, Language::Function, "return one()");
    run.say("s", json!(1));
    assert_eq!(run.output_at("s"), json!({"result": 1}));
    let mut run = script("LAMBDA", json!({"scriptExpression": "return x"}));
    run.throw("s", "x is not defined");
    run.reads(&["FAILED", "s 0 FAILED"]);
}

#[test]
fn a_lambda_that_throws_is_tried_again_as_often_as_its_definition_says() {
    let policy = json!({"name": "s", "retryCount": 1, "retryDelaySeconds": 0});
    let input = json!({"scriptExpression": "return x"});
    let task = system("s", "LAMBDA", json!({"inputParameters": input, "taskDefinition": policy}));
    let mut run = Bench::start(flow(&[task]), json!({}));
    run.throw("s", "x is not defined");
    run.reads(&["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    run.say("s", json!(1));
    run.reads(&["COMPLETED", "s 0 FAILED", "s 1 COMPLETED"]);
}

#[test]
fn a_jq_program_gives_its_first_result_and_the_list_of_all() {
    let mut run = script("JSON_JQ_TRANSFORM", json!({"queryExpression": ".a[]", "a": [1, 2]}));
    asks(&run, Language::Jq, ".a[]");
    run.say("s", json!([1, 2]));
    assert_eq!(run.output_at("s"), json!({"result": 1, "resultList": [1, 2]}));
    let mut run = script("JSON_JQ_TRANSFORM", json!({"queryExpression": "empty"}));
    run.say("s", json!([]));
    assert_eq!(run.output_at("s"), json!({"result": null, "resultList": []}));
    run.replay();
}

#[test]
fn a_jq_program_that_fails_or_is_missing_fails_the_task() {
    let mut run = script("JSON_JQ_TRANSFORM", json!({"queryExpression": ".a |"}));
    run.throw("s", "unexpected end");
    run.reads(&["FAILED", "s 0 FAILED"]);
    assert_eq!(run.output_at("s"), json!({"error": "unexpected end"}));
    let run = script("JSON_JQ_TRANSFORM", json!({}));
    assert_eq!(run.status(), semel_model::WorkflowStatus::Failed);
}

#[test]
fn an_answer_given_twice_and_an_answer_to_another_question_change_nothing() {
    let mut run = script("INLINE", json!({"expression": "x"}));
    let answer = run.answer("s", Verdict::Value(Slot(0)));
    let wrong = match answer.clone() {
        Event::Answered { task, answer, .. } => {
            Event::Answered { task, question: semel_model::Digest::of(b"another"), answer }
        }
        other => other,
    };
    assert_eq!(run.happen(wrong, &[payload(&json!(1))]), Ok(vec![]));
    assert!(!run.happen(answer.clone(), &[payload(&json!(1))]).unwrap().is_empty());
    assert_eq!(run.happen(answer, &[payload(&json!(2))]), Ok(vec![]));
    assert_eq!(run.output_at("s"), json!({"result": 1}));
}

#[test]
fn a_question_nobody_answers_is_due_at_once_and_then_again_and_again() {
    let mut run = script("INLINE", json!({"expression": "x"}));
    assert_eq!(run.execution.wake_at(), Some(run.now));
    run.wake();
    assert_eq!(run.execution.wake_at(), Some(run.now.plus_ms(5_000)));
    run.tick(5);
    run.reads(&["RUNNING", "s 0 IN_PROGRESS"]);
    run.say("s", json!(1));
    run.reads(&["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn what_is_asked_beside_a_question_goes_on() {
    let ask = inline(json!({"expression": "x"}));
    let fork = crate::shapes::fork("f", &[&[ask], &[once("b")]]);
    let definition = flow(&[fork, crate::shapes::join("j", &["s", "b"])]);
    let mut run = Bench::start(definition, json!({}));
    run.complete("b", json!({}));
    run.say("s", json!(1));
    run.reads(&["COMPLETED", "f 0 COMPLETED", "s 0 COMPLETED", "b 0 COMPLETED", "j 0 COMPLETED"]);
}

#[test]
fn a_paused_run_does_not_hear_its_programs_and_asks_again_when_it_is_resumed() {
    let mut run = script("INLINE", json!({"expression": "x"}));
    run.pause();
    assert_eq!(run.say("s", json!(1)), vec![], "nothing begins while it is paused");
    run.reads(&["PAUSED", "s 0 IN_PROGRESS"]);
    run.resume();
    assert!(run.execution.wake_at().is_some_and(|at| at <= run.now), "it is asked again");
    run.say("s", json!(1));
    run.reads(&["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn the_question_of_a_run_that_ends_is_gone() {
    let mut run = script("INLINE", json!({"expression": "x"}));
    let late = run.answer("s", Verdict::Value(Slot(0)));
    run.terminate("enough").unwrap();
    run.reads(&["TERMINATED", "s 0 CANCELED"]);
    assert_eq!(run.happen(late.clone(), &[payload(&json!(1))]), Ok(vec![]));
    run.advance(1);
    run.retry().unwrap();
    assert_eq!(run.happen(late, &[payload(&json!(1))]), Ok(vec![]), "of another attempt");
    run.say("s", json!(1));
    assert_eq!(run.latest("s").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn a_run_of_programs_alone_is_over_when_the_last_has_spoken() {
    let set = system("v", "SET_VARIABLE", json!({"inputParameters": {"n": "${s.output.result}"}}));
    let choice = with(
        crate::shapes::switch("r", json!({"1": [set]}), &[]),
        json!({"inputParameters": {"case": "${s.output.result}"}}),
    );
    let steps = [inline(json!({"expression": "one()"})), choice];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.say("s", json!(1));
    run.reads(&["COMPLETED", "s 0 COMPLETED", "r 0 COMPLETED", "v 0 COMPLETED"]);
    assert_eq!(run.execution.variables().value(), json!({"n": 1}));
}
