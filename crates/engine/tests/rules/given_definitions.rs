//! # Definitions that come with the data of a run
//!
//! Rules:
//! * docs/reference/rules/task-types.md#sub_workflow
//! * docs/reference/rules/task-types.md#start_workflow

use std::sync::Arc;

use semel_engine::{Event, SizeLimits};
use semel_model::{ExecutionId, SchemaDef, WorkflowDef, WorkflowStatus};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{step, with};

/// A SUB_WORKFLOW step that brings its definition.
fn bringing(definition: Value) -> Value {
    with(sub("s", ""), json!({"subWorkflowParam": {"workflowDefinition": definition}}))
}

/// A START_WORKFLOW step that brings its definition.
fn beginning(definition: Value) -> Value {
    let request = json!({"name": "own", "input": {"n": 1}, "workflowDef": definition});
    json!({"name": "g", "taskReferenceName": "g", "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": request}})
}

fn family(steps: &[Value]) -> Family {
    Family::of(&[named("known", &[once("x")]), named("flow", steps)])
}

fn reason(family: &Family, id: ExecutionId, reference: &str) -> String {
    let task = family.execution(id).latest(reference).expect("the step was reached");
    task.reason.clone().unwrap_or_default()
}

fn started(family: &Family, id: ExecutionId) -> ExecutionId {
    let output = family.execution(id).latest("g").expect("it was reached").output.value();
    output["workflowId"].as_str().expect("it began a run").parse().expect("an id")
}

#[test]
fn a_child_runs_by_the_definition_its_step_brings() {
    let asks = with(once("x"), json!({"inputParameters": {"n": "${workflow.input.n}"}}));
    let brings = with(bringing(named("own", &[asks])), json!({"inputParameters": {"n": 7}}));
    let mut family = family(&[brings, once("after")]);
    let id = family.start("flow", json!({"n": "not this one"}));
    let child = family.child(id, "s");
    let run = family.execution(child);
    assert_eq!(run.definition().definition().name, "own");
    let input = json!({"n": 7, "_systemMetadata": {"dynamic": true}});
    assert_eq!(run.input().value(), input);
    assert_eq!(run.latest("x").unwrap().input.value(), json!({"n": 7}));
    let told = family.execution(id).latest("s").unwrap().input.value();
    assert_eq!(told["subWorkflowDefinition"]["name"], "own");
    assert_eq!(told["workflowInput"], json!({"n": 7}), "as it was given");
    family.crash();
    family.complete(child, "x", json!({"v": 1}));
    family.deliver_all();
    family.reads(id, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn an_expression_may_yield_the_definition_and_nothing_else() {
    let mut family = family(&[bringing(json!("${workflow.input.d}"))]);
    let own = named("own", &[once("x")]);
    let id = family.start("flow", json!({"d": own}));
    assert_eq!(family.execution(family.child(id, "s")).definition().definition().name, "own");
    for (given, why) in [
        (json!(null), "the definition must be an object, not null"),
        (json!("known"), "the definition must be an object, not \"known\""),
        (json!({"name": 1, "tasks": 2}), "the definition cannot be read: "),
    ] {
        let id = family.start("flow", json!({"d": given}));
        family.reads(id, &["FAILED", "s 0 FAILED"]);
        assert!(reason(&family, id, "s").starts_with(why), "{}", reason(&family, id, "s"));
    }
}

#[test]
fn a_definition_that_could_not_be_registered_fails_its_step_with_what_is_wrong() {
    let twice = named("own", &[once("x"), once("x")]);
    let unnamed = named("", &[once("x")]);
    let orphan = named("own", &[sub("y", "nobody")]);
    for (definition, why) in [
        (twice, "taskReferenceName: x should be unique"),
        (unnamed, "name: WorkflowDef name cannot be null or empty"),
        (orphan, "No such workflow defined. name=nobody, version=null"),
    ] {
        let mut family = family(&[bringing(json!("${workflow.input.d}"))]);
        let id = family.start("flow", json!({"d": definition}));
        family.reads(id, &["FAILED", "s 0 FAILED"]);
        assert!(reason(&family, id, "s").contains(why), "{}", reason(&family, id, "s"));
        assert_eq!(family.members.len(), 1);
    }
}

#[test]
fn a_child_is_held_to_the_rules_that_its_step_was_registered_by() {
    let lost = with(once("x"), json!({"inputParameters": {"n": "${nobody.output.n}"}}));
    let absent = with(once("y"), json!({"type": "JDBC", "optional": true}));
    let steps = [bringing(named("own", &[lost, absent]))];
    let text = named("flow", &steps).to_string();
    let registered: WorkflowDef = serde_json::from_str(&text).expect("a definition");
    assert_eq!(registered.violations(), []);
    let mut family = family(&steps);
    let id = family.start("flow", json!({}));
    let child = family.child(id, "s");
    let input = family.execution(child).latest("x").unwrap().input.value();
    assert_eq!(input, json!({"n": null}), "like an expression of any nested step");
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(id, &["COMPLETED", "s 0 COMPLETED"]);
}

#[test]
fn what_it_names_is_fixed_when_it_is_begun() {
    let mut family = family(&[bringing(named("own", &[sub("y", "known"), step("z", json!({}))]))]);
    let id = family.start("flow", json!({}));
    let child = family.execution(family.child(id, "s"));
    let steps = child.definition().definition().steps();
    assert_eq!(steps[0].sub_workflow_param.as_ref().unwrap().version, Some(1));
    assert!(steps[1].task_definition.is_some());
}

#[test]
fn definitions_inside_definitions_come_to_life_one_after_the_other() {
    let inner = named("inner", &[once("x")]);
    let outer = named("outer", &[bringing(inner)]);
    let mut family = family(&[bringing(outer)]);
    let id = family.start("flow", json!({}));
    let outer = family.child(id, "s");
    family.tick(1);
    let inner = family.child(outer, "s");
    family.complete(inner, "x", json!({}));
    family.deliver_all();
    family.reads(id, &["COMPLETED", "s 0 COMPLETED"]);
}

#[test]
fn a_run_is_begun_by_the_definition_its_step_brings_and_once() {
    let mut family = family(&[beginning(named("mine", &[once("x")])), once("after")]);
    let id = family.start("flow", json!({}));
    let run = started(&family, id);
    let begun = family.execution(run);
    assert_eq!(begun.definition().definition().name, "mine");
    assert_eq!(begun.input().value(), json!({"n": 1, "_systemMetadata": {"dynamic": true}}));
    assert_eq!(begun.status(), Some(WorkflowStatus::Running));
    let members = family.members.len();
    family.fail(id, "after", "no");
    family.tell(id, Event::Restarted { definition: None }, &[]).unwrap();
    assert_eq!((started(&family, id), family.members.len()), (run, members));
    family.reads(id, &["RUNNING", "g 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn a_start_with_a_definition_that_could_not_be_registered_fails() {
    let mut family = family(&[beginning(named("mine", &[]))]);
    let id = family.start("flow", json!({}));
    family.reads(id, &["FAILED", "g 0 FAILED"]);
    assert_eq!(reason(&family, id, "g"), "tasks: WorkflowTask list cannot be empty");
}

/// A run of one step that takes only an input with a number `n` and nothing else.
fn choosy(schema: Value) -> Value {
    with(named("own", &[once("x")]), json!({ "inputSchema": schema }))
}

fn numbered() -> Value {
    json!({"type": "object", "required": ["n"], "additionalProperties": false,
        "properties": {"n": {"type": "number"}}})
}

fn given(definition: Value) -> Value {
    let n = json!({"inputParameters": {"n": "${workflow.input.n}"}});
    with(bringing(definition), n)
}

#[test]
fn an_input_that_the_given_definition_does_not_take_fails_the_step() {
    let schema = json!({"type": "JSON", "data": numbered()});
    let start = |n: Value| {
        let request =
            json!({"name": "own", "input": {"n": n}, "workflowDef": choosy(schema.clone())});
        json!({"name": "g", "taskReferenceName": "g", "type": "START_WORKFLOW",
            "inputParameters": {"startWorkflow": request}})
    };
    for (brings, at) in
        [(given(choosy(schema.clone())), "s"), (start(json!("${workflow.input.n}")), "g")]
    {
        let mut family = family(&[brings]);
        let good = family.start("flow", json!({"n": 1}));
        assert_eq!(family.members.len(), 2, "the mark that the engine sets is not looked at");
        let bad = family.start("flow", json!({"n": "x"}));
        family.reads(bad, &["FAILED", &format!("{at} 0 FAILED")]);
        let why = "the input does not fit its schema: input.n: ";
        assert!(reason(&family, bad, at).starts_with(why), "{}", reason(&family, bad, at));
        assert_eq!(family.members.len(), 3, "no run was born");
        family.run(good).replay();
    }
}

#[test]
fn a_schema_that_a_given_definition_names_is_the_one_registered_when_it_is_begun() {
    let schema: SchemaDef =
        serde_json::from_value(json!({"name": "shape", "version": 3, "type": "JSON",
            "data": numbered()}))
        .expect("a schema");
    let wanted = json!({"name": "shape", "version": 3});
    let mut family = family(&[given(choosy(wanted))]);
    let missing = family.start("flow", json!({"n": 1}));
    family.reads(missing, &["FAILED", "s 0 FAILED"]);
    let why = "inputSchema: No such schema found by name: shape, version: 3";
    assert_eq!(reason(&family, missing, "s"), why);
    let mut shelf = (*family.shelf).clone();
    shelf.schemas.insert(("shape".to_owned(), 3), schema);
    family.shelf = shelf.into();
    let good = family.start("flow", json!({"n": 1}));
    let child = family.execution(family.child(good, "s"));
    let kept = child.definition().definition().input_schema.clone();
    assert!(kept.is_some_and(|kept| kept.data.is_some()), "copied into the definition");
    let bad = family.start("flow", json!({"n": "x"}));
    family.reads(bad, &["FAILED", "s 0 FAILED"]);
    family.run(good).replay();
}

#[test]
fn a_given_definition_has_the_limit_that_the_server_says_and_no_other() {
    let many: Vec<Value> = (0..4).map(|at| once(&format!("x{at}"))).collect();
    let own = named("own", &many);
    for (max, fits) in [(3, false), (4, true)] {
        for brings in
            [bringing(json!("${workflow.input.d}")), bringing(own.clone()), beginning(own.clone())]
        {
            let at = brings["taskReferenceName"].as_str().expect("a name").to_owned();
            let mut family = family(&[brings]);
            Arc::make_mut(&mut family.shelf).sizes =
                SizeLimits { definition_tasks_max: Some(max), ..SizeLimits::default() };
            let id = family.start("flow", json!({ "d": own }));
            assert_eq!(family.members.len() == 2, fits, "{max} {at}");
            if !fits {
                let why = reason(&family, id, &at);
                assert!(why.starts_with("the definition has 4 tasks"), "{why}");
                assert!(why.contains("definition_tasks_max of the server allows 3"), "{why}");
            }
            family.run(id).replay();
        }
    }
}

#[test]
fn only_a_definition_written_in_a_registered_one_reads_the_environment() {
    let asks = json!({"inputParameters": {"env": "${workflow.env.REGION}", "in": "<${workflow.env.REGION}>",
        "old": "${NETFLIX_ENV}", "far": "${concat($.workflow.env.REGION)}"}});
    let metadata = json!({"name": "x", "runtimeMetadata": ["BANK"]});
    let step = with(with(once("x"), asks), json!({"taskDefinition": metadata}));
    let own = named("own", &[step]);
    let inside = named("outer", &[bringing(own.clone())]);
    for (brings, is_written) in [
        (bringing(own.clone()), true),
        (bringing(json!("${workflow.input.d}")), false),
        (bringing(json!("${workflow.input.inside}")), false),
    ] {
        let mut family = family(std::slice::from_ref(&brings));
        let values = [("REGION", "eu"), ("NETFLIX_ENV", "test")];
        Arc::make_mut(&mut family.shelf).environment =
            values.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
        let id = family.start("flow", json!({"d": own, "inside": inside}));
        let mut child = family.child(id, "s");
        if let Some(task) = family.execution(child).latest("s") {
            assert!(task.child.is_none(), "it waits for a commit of its own");
            family.tick(1);
            child = family.child(child, "s");
        }
        let task = family.execution(child).latest("x").expect("it was scheduled").clone();
        let expected = match is_written {
            true => json!({"env": "eu", "in": "<eu>", "old": "test", "far": "eu"}),
            false => json!({"env": null, "in": "<null>", "old": null, "far": null}),
        };
        assert_eq!(task.input.value(), expected, "{brings}");
        assert_eq!(task.step.policy().runtime_metadata().is_empty(), !is_written, "{brings}");
        family.run(child).replay();
    }
}
