//! # Schemas: what does not fit goes no further (docs/reference/rules/validation.md#schemas)

use std::collections::BTreeMap;

use semel_engine::{Change, Event, Rejection, Rerun, Slot, Stop};
use semel_model::{ExecutionId, SchemaDef, TaskResultStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{Said, flow, payload, step, with};
use crate::shelf::Shelf;

/// An object whose `n` is a number.
fn numbered() -> Value {
    json!({"data": {"type": "object", "required": ["n"],
        "properties": {"n": {"type": "number"}}}})
}

fn fussy(field: &str) -> Value {
    with(flow(&[once("a")]), json!({field: numbered()}))
}

/// A step whose task definition enforces that.
fn checked(reference: &str, field: &str) -> Value {
    step(reference, json!({"enforceSchema": true, field: numbered(), "retryCount": 3}))
}

fn refused(definition: Value, input: Value) -> Rejection {
    let mut bench = Bench::unborn(definition);
    let start = Event::Started(bench.plain_start());
    match bench.happen(start, &[payload(&input)]) {
        Err(Stop::Rejected(rejection)) => rejection,
        other => panic!("it is not refused: {other:?}"),
    }
}

const NO_NUMBER: &str = "n: value is not of type \"number\"";

#[test]
fn a_start_whose_input_does_not_fit_is_refused() {
    let Rejection::Unfit(found) = refused(fussy("inputSchema"), json!({"n": "x"})) else {
        panic!("it is not refused for its schema");
    };
    assert_eq!((found.len(), found[0].path.as_str()), (1, "input.n"));
    let said = refused(fussy("inputSchema"), json!({})).to_string();
    assert_eq!(said, "the input does not fit its schema: input: \"n\" is a required property");
    Bench::start(fussy("inputSchema"), json!({"n": 1})).reads(&["RUNNING", "a 0 SCHEDULED"]);
    let lax = with(fussy("inputSchema"), json!({"enforceSchema": false}));
    Bench::start(lax, json!({"n": "x"})).reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn what_a_template_adds_is_there_when_the_input_is_checked() {
    let templated = with(fussy("inputSchema"), json!({"inputTemplate": {"n": 5}}));
    Bench::start(templated.clone(), json!({"n": null})).reads(&["RUNNING", "a 0 SCHEDULED"]);
    let mut shelf =
        Family::of(&[with(templated, json!({"name": "kid"})), named("flow", &[sub("s", "kid")])]);
    let id = shelf.start("flow", json!({}));
    shelf.reads(id, &["RUNNING", "s 0 IN_PROGRESS"]);
}

#[test]
fn a_task_whose_input_does_not_fit_fails_for_good() {
    let given = |n: Value| {
        let a = with(checked("a", "inputSchema"), json!({"inputParameters": {"n": n}}));
        Bench::start(flow(&[a]), json!({"n": "${workflow.secrets.number}"}))
    };
    given(json!(1)).reads(&["RUNNING", "a 0 SCHEDULED"]);
    for wrong in ["${workflow.input.n}", "${workflow.secrets.number}"] {
        let bench = given(json!(wrong));
        bench.reads(&["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
        let reason = format!("the input does not fit its schema: input.{NO_NUMBER}");
        assert_eq!(bench.attempt("a", 0).reason.as_deref(), Some(reason.as_str()));
        assert_eq!(bench.attempt("a", 0).input.value()["n"], "${workflow.secrets.number}");
    }
}

#[test]
fn a_task_whose_output_does_not_fit_fails_for_good() {
    let mut bench = Bench::start(flow(&[checked("a", "outputSchema"), once("b")]), json!({}));
    let progress = bench.claim("a", "ann").output(json!({"half": true}));
    let progress = Said { status: TaskResultStatus::InProgress, ..progress };
    bench.report(&progress).unwrap();
    bench.fail("a", TaskResultStatus::Failed, "what fails may bring what it likes");
    bench.tick(60);
    bench.complete("a", json!({"n": "x"}));
    bench.reads(&["FAILED", "a 0 FAILED", "a 1 FAILED_WITH_TERMINAL_ERROR"]);
    let task = bench.attempt("a", 1);
    let reason = format!("the output does not fit its schema: output.{NO_NUMBER}");
    assert_eq!(
        (task.reason.as_deref(), task.output.value()),
        (Some(reason.as_str()), json!({"n": "x"}))
    );
    let mut bench = Bench::start(flow(&[checked("a", "outputSchema"), once("b")]), json!({}));
    bench.complete("a", json!({"n": 1}));
    bench.reads(&["RUNNING", "a 0 COMPLETED", "b 0 SCHEDULED"]);
}

#[test]
fn an_optional_task_may_end_unfit_and_a_skipped_one_is_not_looked_at() {
    let optional = with(checked("a", "outputSchema"), json!({"optional": true}));
    let mut bench =
        Bench::start(flow(&[optional, checked("b", "outputSchema"), once("c")]), json!({}));
    let skip = Event::Skipped { reference: "b".to_owned(), input: Slot(0), output: Slot(0) };
    bench.happen(skip, &[payload(&json!({}))]).unwrap();
    bench.complete("a", json!({}));
    bench.reads(&["RUNNING", "a 0 COMPLETED_WITH_ERRORS", "b 0 SKIPPED", "c 0 SCHEDULED"]);
}

#[test]
fn a_system_task_is_checked_like_any_other() {
    let variables = json!({"name": "v", "taskReferenceName": "v", "type": "SET_VARIABLE",
        "inputParameters": {"n": "x"},
        "taskDefinition": {"name": "v", "enforceSchema": true, "inputSchema": numbered()}});
    let bench = Bench::start(flow(&[variables]), json!({}));
    bench.reads(&["FAILED", "v 0 FAILED_WITH_TERMINAL_ERROR"]);
    assert_eq!(bench.execution.variables().value(), json!({}), "nothing of it was done");
}

#[test]
fn a_run_whose_output_does_not_fit_fails_at_its_end() {
    let mut bench = Bench::start(fussy("outputSchema"), json!({}));
    bench.complete("a", json!({"n": "x"}));
    bench.reads(&["FAILED", "a 0 COMPLETED"]);
    assert_eq!(bench.reason(), format!("the output does not fit its schema: output.{NO_NUMBER}"));
    assert_eq!(bench.output(), json!({"n": "x"}), "kept, so that somebody can look");
    let mut bench = Bench::start(fussy("outputSchema"), json!({}));
    bench.complete("a", json!({"n": 1}));
    bench.reads(&["COMPLETED", "a 0 COMPLETED"]);
    let mut bench = Bench::start(fussy("outputSchema"), json!({}));
    bench.terminate("enough").unwrap();
    assert_eq!((bench.status(), bench.reason()), (WorkflowStatus::Terminated, "enough"));
}

fn family(steps: &[Value]) -> Family {
    let kid = with(named("kid", &[once("x")]), json!({"inputSchema": numbered()}));
    Family::of(&[kid, named("flow", steps)])
}

fn reason(family: &Family, id: ExecutionId, reference: &str) -> String {
    let task = family.execution(id).latest(reference).expect("it was reached");
    task.reason.clone().unwrap_or_default()
}

#[test]
fn a_step_whose_child_would_not_take_its_input_fails() {
    let given = |n: Value| with(sub("s", "kid"), json!({"inputParameters": {"n": n}}));
    let mut family = family(&[given(json!("${workflow.input.n}"))]);
    let good = family.start("flow", json!({"n": 1}));
    family.reads(good, &["RUNNING", "s 0 IN_PROGRESS"]);
    let members = family.members.len();
    let id = family.start("flow", json!({"n": "x"}));
    family.reads(id, &["FAILED", "s 0 FAILED"]);
    let wanted = format!("the input does not fit its schema: input.{NO_NUMBER}");
    assert_eq!(reason(&family, id, "s"), wanted);
    assert_eq!(family.members.len(), members + 1, "no child was born");
}

#[test]
fn a_start_that_would_not_be_taken_fails_its_step_and_takes_no_key() {
    let go = |reference: &str, n: Value| {
        let request = json!({"name": "kid", "idempotencyKey": "k", "input": {"n": n}});
        json!({"name": reference, "taskReferenceName": reference, "type": "START_WORKFLOW",
            "optional": true, "inputParameters": {"startWorkflow": request}})
    };
    let mut family = family(&[go("wrong", json!("x")), go("right", json!(1))]);
    let id = family.start("flow", json!({}));
    family.reads(id, &["COMPLETED", "wrong 0 COMPLETED_WITH_ERRORS", "right 0 COMPLETED"]);
    let wanted = format!("the input does not fit its schema: input.{NO_NUMBER}");
    assert_eq!(reason(&family, id, "wrong"), wanted);
}

#[test]
fn a_failure_workflow_runs_whatever_its_schema_says() {
    let mender = with(named("mender", &[once("x")]), json!({"inputSchema": numbered()}));
    let flow = with(named("flow", &[once("a")]), json!({"failureWorkflow": "mender"}));
    let mut family = Family::of(&[mender, flow]);
    let id = family.start("flow", json!({}));
    family.fail(id, "a", "broken");
    let note = family.execution(id).output().value()["conductor.failure_workflow"].clone();
    let mender: ExecutionId = note.as_str().unwrap().parse().unwrap();
    family.reads(mender, &["RUNNING", "x 0 SCHEDULED"]);
}

#[test]
fn a_rerun_with_an_input_that_does_not_fit_is_refused() {
    let mut bench = Bench::start(fussy("inputSchema"), json!({"n": 1}));
    bench.terminate("enough").unwrap();
    let rerun = |input: Value, bench: &mut Bench| {
        let rerun = Rerun { input: Some(Slot(0)), ..Rerun::default() };
        bench.happen(Event::Reran(rerun), &[payload(&input)])
    };
    let refused = rerun(json!({"n": "x"}), &mut bench);
    assert!(matches!(refused, Err(Stop::Rejected(Rejection::Unfit(_)))), "{refused:?}");
    rerun(json!({"n": 2}), &mut bench).unwrap();
    bench.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_task_done_again_with_what_does_not_fit_fails_for_good() {
    let mut bench = Bench::start(
        flow(&[with(checked("a", "inputSchema"), json!({"inputParameters": {"n": 1}}))]),
        json!({}),
    );
    bench.terminate("enough").unwrap();
    let from = Some(bench.attempt("a", 0).id);
    let rerun = Rerun { from, task_input: Some(Slot(0)), ..Rerun::default() };
    bench.happen(Event::Reran(rerun), &[payload(&json!({"n": "x"}))]).unwrap();
    bench.reads(&["FAILED", "a 0 FAILED_WITH_TERMINAL_ERROR"]);
}

#[test]
fn another_definition_has_to_take_the_input_too() {
    let mut shelf = Shelf::default();
    let plain = shelf.pin(flow(&[once("a")]));
    let fussy = shelf.pin(with(fussy("inputSchema"), json!({"version": 2}))).digest();
    let id = ExecutionId::from_bytes([7; 16]);
    let mut bench = Bench::unborn_as(id, plain, shelf.into());
    let start = Event::Started(bench.plain_start());
    bench.happen(start, &[payload(&json!({}))]).unwrap();
    let upgrade = |given: Value, bench: &mut Bench| {
        let (input, outputs) = (Some(Slot(0)), BTreeMap::new());
        bench.happen(Event::Upgraded { definition: fussy, input, outputs }, &[payload(&given)])
    };
    let is_unfit = |heard: Result<Vec<Change>, Stop>| {
        matches!(heard, Err(Stop::Rejected(Rejection::Unfit(_))))
    };
    assert!(is_unfit(upgrade(json!({"n": "x"}), &mut bench)));
    bench.terminate("enough").unwrap();
    let restart =
        |bench: &mut Bench| bench.happen(Event::Restarted { definition: Some(fussy) }, &[]);
    assert!(is_unfit(restart(&mut bench)));
    bench.happen(Event::Restarted { definition: None }, &[]).unwrap();
    upgrade(json!({"n": 1}), &mut bench).unwrap();
    bench.terminate("enough").unwrap();
    restart(&mut bench).unwrap();
    bench.reads(&["RUNNING", "a 0 SCHEDULED"]);
}

#[test]
fn a_schema_that_is_named_is_copied_when_a_run_is_pinned() {
    let mut shelf = Shelf::default();
    let registered = with(numbered(), json!({"name": "s", "version": 2}));
    let registered = serde_json::from_value(registered).expect("a schema");
    shelf.schemas.insert(("s".to_owned(), 2), registered);
    let s = json!({"name": "s", "version": 2});
    let policy = json!({"enforceSchema": true, "outputSchema": s});
    let definition = with(flow(&[step("a", policy)]), json!({"inputSchema": s}));
    let pinned = shelf.pin(definition);
    let copied = |schema: Option<&SchemaDef>| schema.unwrap().data.is_some();
    assert!(copied(pinned.definition().input_schema.as_ref()));
    assert!(copied(pinned.step("a").policy().output_schema.as_ref()));
    let lax =
        shelf.pin(with(flow(&[once("a")]), json!({"inputSchema": s, "enforceSchema": false})));
    assert!(!copied(lax.definition().input_schema.as_ref()), "nobody needs it");
}

#[test]
fn nothing_starts_without_a_schema_that_is_enforced() {
    let missing = json!({"name": "s", "version": 2});
    let said = |definition| refused(definition, json!({})).to_string();
    let nobody = "No such schema found by name: s, version: 2";
    let of_flow = with(flow(&[once("a")]), json!({"outputSchema": missing}));
    assert_eq!(said(of_flow.clone()), format!("outputSchema: {nobody}"));
    let of_task = flow(&[step("a", json!({"enforceSchema": true, "inputSchema": missing}))]);
    assert_eq!(said(of_task), format!("inputSchema of task a_def: {nobody}"));
    let avro = with(flow(&[once("a")]), json!({"inputSchema": {"type": "AVRO", "data": {}}}));
    assert!(said(avro).starts_with("inputSchema: type is kept and cannot be enforced"));
    let mut family =
        Family::of(&[with(of_flow, json!({"name": "kid"})), named("flow", &[sub("s", "kid")])]);
    let id = family.start("flow", json!({}));
    family.reads(id, &["FAILED", "s 0 FAILED"]);
    assert_eq!(reason(&family, id, "s"), format!("outputSchema: {nobody}"));
}

#[test]
fn a_branch_that_comes_with_data_is_held_to_a_schema_it_names() {
    let policy = json!({"name": "a", "enforceSchema": true, "inputSchema": {"name": "s"}});
    let steps = json!([{"name": "a", "taskReferenceName": "a", "taskDefinition": policy}]);
    let fork = json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN_DYNAMIC",
        "dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs",
        "inputParameters": {"tasks": steps, "inputs": "${workflow.input.inputs}"}});
    let join = json!({"name": "j", "taskReferenceName": "j", "type": "JOIN"});
    let forked = |shelf: &Shelf, n: Value| {
        let mut shelf = shelf.clone();
        let pinned = shelf.pin(flow(&[fork.clone(), join.clone()]));
        let mut bench = Bench::unborn_as(ExecutionId::from_bytes([7; 16]), pinned, shelf.into());
        let start = Event::Started(bench.plain_start());
        let input = json!({"inputs": {"a": {"n": n}}});
        bench.happen(start, &[payload(&input)]).expect("it begins");
        bench.replay();
        bench
    };
    let mut shelf = Shelf::default();
    let why = "inputSchema of task a: No such schema found by name: s, version: 1";
    assert_eq!(forked(&shelf, json!(1)).reason(), why);
    let registered = with(numbered(), json!({"name": "s", "version": 1}));
    let registered = serde_json::from_value(registered).expect("a schema");
    shelf.schemas.insert(("s".to_owned(), 1), registered);
    let story = ["RUNNING", "f 0 COMPLETED", "a 0 SCHEDULED", "j 0 IN_PROGRESS"];
    assert_eq!(forked(&shelf, json!(1)).story(), story);
    assert_eq!(forked(&shelf, json!("x")).story()[2], "a 0 FAILED_WITH_TERMINAL_ERROR");
}
