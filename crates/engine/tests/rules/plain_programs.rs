//! # Plain programs are decided in the commit that needs them
//!
//! No question, no answer: the step ends, the loop turns and the JOIN ends in the same decision. A
//! program that is not plain is asked about, as in `scripts.rs`.

use semel_engine::{Change, Event};
use semel_model::TaskStatus;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, fork, join, noop, once, payload, repeat, switch, system, with};

/// A DO_WHILE of so many turns, as the builders of Conductor's SDKs write it.
fn counted(turns: u32, body: &[Value]) -> Value {
    let condition = format!("if ($.l['iteration'] < {turns}) {{ true; }} else {{ false; }}");
    with(repeat("l", body), json!({"loopCondition": condition}))
}

fn set(reference: &str, variables: Value) -> Value {
    system(reference, "SET_VARIABLE", json!({"inputParameters": variables}))
}

fn inline(reference: &str, input: Value) -> Value {
    system(reference, "INLINE", json!({"inputParameters": input}))
}

fn asks(changes: &[Change]) -> usize {
    changes.iter().filter(|change| matches!(change, Change::Asked { .. })).count()
}

#[test]
fn a_plain_loop_over_variables_runs_in_the_commit_that_begins_it() {
    let mut run = Bench::unborn(flow(&[
        counted(100, &[set("v", json!({"n": "${l.output.iteration}"}))]),
        once("after"),
    ]));
    let begun = Event::Started(run.plain_start());
    let changes = run.happen(begun, &[payload(&json!({}))]).expect("a run begins");
    assert_eq!(asks(&changes), 0);
    assert_eq!(run.journal.len(), 1);
    assert_eq!(run.latest("l").status, TaskStatus::Completed);
    assert_eq!(run.execution.variables().value(), json!({"n": 100}));
    assert_eq!(run.latest("after").status, TaskStatus::Scheduled);
    run.replay();
}

#[test]
fn a_report_schedules_the_next_turn_in_its_own_commit() {
    let mut run = Bench::start(flow(&[counted(3, &[once("x")]), once("after")]), json!({}));
    for turn in 1..=3 {
        let before = run.journal.len();
        run.complete(&format!("x__{turn}"), json!({}));
        assert_eq!(run.journal.len(), before + 1);
    }
    run.complete("after", json!({}));
    run.reads(&[
        "COMPLETED",
        "l 0 COMPLETED",
        "x__1 0 COMPLETED",
        "x__2 0 COMPLETED",
        "x__3 0 COMPLETED",
        "after 0 COMPLETED",
    ]);
}

#[test]
fn a_long_loop_is_cut_into_commits_and_other_runs_come_in_between() {
    let mut run = Bench::start(flow(&[counted(2_000, &[noop("n")])]), json!({}));
    assert_eq!(run.story()[0], "RUNNING", "one commit does not hold all of it");
    assert_eq!(run.execution.wake_at(), Some(run.now));
    while run.story()[0] == "RUNNING" {
        let changes = run.wake();
        assert!(changes.len() < 2_000, "{} changes in one commit", changes.len());
    }
    assert_eq!(run.latest("l").iteration(), 2_000);
    assert_eq!(run.story()[0], "COMPLETED");
    assert!(run.journal.len() < 20, "{} commits", run.journal.len());
    run.replay();
}

#[test]
fn a_plain_loop_without_end_meets_the_limit_of_idle_turns() {
    let mut run = Bench::unborn(flow(&[with(
        repeat("l", &[noop("n"), inline("i", json!({"expression": "1 + 1"}))]),
        json!({"loopCondition": "true"}),
    )]));
    run.turns_max = Some(50);
    let begun = Event::Started(run.plain_start());
    run.happen(begun, &[payload(&json!({}))]).expect("a run begins");
    assert_eq!(run.story()[0], "FAILED");
    assert!(run.reason_at("l").starts_with("50 turns of loops in a row"), "{}", run.reason_at("l"));
    run.replay();
}

#[test]
fn a_join_that_notes_what_its_plain_program_says_is_no_excuse_for_a_loop() {
    let note = "({status: $[$.joinOn[0]].status == 'COMPLETED' ? 'COMPLETED' : 'IN_PROGRESS', \
                outputData: {n: $.n}})";
    let fields = json!({"expression": note, "evaluatorType": "js",
        "inputParameters": {"n": "${l.output.iteration}"}});
    let inner = json!({"loopCondition": "$.inner.iteration < 2"});
    let branch = with(repeat("inner", &[noop("a")]), inner);
    let waits = with(join("j", &["inner", "b"]), fields);
    let body = [fork("f", &[&[branch], &[noop("b")]]), waits];
    let looping = with(repeat("l", &body), json!({"loopCondition": "true"}));
    let mut run = Bench::unborn(flow(&[looping]));
    run.turns_max = Some(20);
    let begun = Event::Started(run.plain_start());
    let changes = run.happen(begun, &[payload(&json!({}))]).expect("a run begins");
    let notes = changes.iter().filter(|change| matches!(change, Change::TaskProgressed { .. }));
    assert!(notes.count() > 1, "it says what it waits for, turn by turn");
    assert_eq!(asks(&changes), 0);
    assert_eq!(run.story()[0], "FAILED");
    run.replay();
}

#[test]
fn a_plain_switch_and_a_plain_decision_take_their_case_at_once() {
    let cases = json!({"big": [once("vip")]});
    let input = json!({"inputParameters": {"amount": "${workflow.input.amount}"}});
    let program = "$.amount >= 100 ? 'big' : 'small'";
    let by_switch = with(
        with(switch("r", cases.clone(), &[once("std")]), input.clone()),
        json!({"evaluatorType": "graaljs", "expression": program}),
    );
    let decision = json!({"caseExpression": program, "decisionCases": cases,
        "defaultCase": [once("std")]});
    let by_decision = with(system("r", "DECISION", decision), input);
    for choice in [by_switch, by_decision] {
        for (amount, head) in [(100, "vip"), (99, "std")] {
            let run = Bench::start(flow(std::slice::from_ref(&choice)), json!({"amount": amount}));
            run.reads(&["RUNNING", "r 0 COMPLETED", &format!("{head} 0 SCHEDULED")]);
            assert_eq!(run.journal.len(), 1);
        }
    }
}

#[test]
fn a_plain_inline_and_a_plain_lambda_have_their_result_at_once() {
    let steps = [
        inline("i", json!({"expression": "(function () { return {n: $.x * 2}; })()", "x": 3.5})),
        system(
            "m",
            "LAMBDA",
            json!({"inputParameters": {"scriptExpression":
                "if ($.n > 5) { return {big: true} } else { return {big: false} }",
                "n": "${i.output.result.n}"}}),
        ),
    ];
    let run = Bench::start(flow(&steps), json!({}));
    run.reads(&["COMPLETED", "i 0 COMPLETED", "m 0 COMPLETED"]);
    assert_eq!(run.output_at("i"), json!({"result": {"n": 7}}));
    assert_eq!(run.output_at("m"), json!({"result": {"big": true}}));
    assert_eq!(run.journal.len(), 1);
}

#[test]
fn a_plain_join_ends_with_the_report_that_makes_it_true() {
    let fields = json!({"evaluatorType": "js",
        "expression": "$.a.status == 'COMPLETED' || $.b.status == 'COMPLETED'"});
    let on = with(join("j", &["a", "b"]), fields);
    let steps = [fork("f", &[&[once("a")], &[once("b")]]), on, once("c")];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert!(run.latest("j").question.is_none(), "it waits for a change");
    run.complete("b", json!({"x": 1}));
    assert_eq!(run.latest("c").status, TaskStatus::Scheduled);
    assert_eq!(run.output_at("j"), json!({"b": {"x": 1}}));
    run.replay();
}

#[test]
fn a_plain_join_that_is_never_true_fails_when_everything_is_over() {
    let fields = json!({"evaluatorType": "js", "expression": "false"});
    let on = with(join("j", &["a", "b"]), fields);
    let steps = [fork("f", &[&[once("a")], &[once("b")]]), on];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    run.complete("b", json!({}));
    assert_eq!(run.reason_at("j"), "everything is over and its expression is not true");
    assert_eq!(run.story()[0], "FAILED");
    run.replay();
}

#[test]
fn a_program_that_would_throw_is_asked_about() {
    let run = Bench::start(flow(&[inline("i", json!({"expression": "$.gone.deep"}))]), json!({}));
    assert!(run.latest("i").question.is_some());
    run.reads(&["RUNNING", "i 0 IN_PROGRESS"]);
}

#[test]
fn a_program_over_secrets_is_asked_about() {
    let input = json!({"expression": "$.key == 'x'", "key": "${workflow.secrets.KEY}"});
    let run = Bench::start(flow(&[inline("i", input)]), json!({}));
    assert!(run.latest("i").question.is_some());
    let built = json!({"expression": "'$' + '{workflow.sec' + 'rets.KEY}'"});
    let run = Bench::start(flow(&[inline("i", built), once("after")]), json!({}));
    let result = run.latest("i").output.text().to_owned();
    assert_eq!(result, r#"{"result":"$${workflow.secrets.KEY}"}"#, "stored as text");
}

#[test]
fn a_paused_loop_is_decided_when_the_run_goes_on() {
    let mut run = Bench::start(flow(&[counted(2, &[once("x")])]), json!({}));
    run.pause();
    run.complete("x__1", json!({}));
    run.reads(&["PAUSED", "l 0 IN_PROGRESS", "x__1 0 COMPLETED"]);
    run.resume();
    assert_eq!(run.latest("x__2").status, TaskStatus::Scheduled);
    run.replay();
}
