//! # Failure workflows: what runs when a run has failed
//!
//! Rules: docs/reference/rules/progress.md#failure-workflow.

use semel_engine::{Event, Start};
use semel_model::{ExecutionId, TaskResultStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{Said, step, with};

/// A run of this definition, which says what runs after its failure.
fn family(definition: Value, failure: &str) -> (Family, ExecutionId) {
    let definition = with(definition, json!({"failureWorkflow": failure}));
    let mut family = Family::of(&[named("cleanup", &[once("tidy")]), definition]);
    let start = Start {
        correlation_id: Some("order".to_owned()),
        priority: 5,
        task_to_domain: [("y".to_owned(), "red".to_owned())].into(),
        ..Start::default()
    };
    let id = family.start_as("flow", json!({"i": 1, "on": "cleanup"}), start);
    (family, id)
}

fn plain() -> Value {
    named("flow", &[once("a")])
}

fn note(family: &Family, id: ExecutionId) -> String {
    let output = family.execution(id).output().value();
    output["conductor.failure_workflow"].as_str().unwrap_or_default().to_owned()
}

/// The run that the output names.
fn after(family: &Family, id: ExecutionId) -> ExecutionId {
    note(family, id).parse().expect("the output names a run")
}

#[test]
fn a_failed_run_is_followed_by_one_that_knows_everything_of_it() {
    let (mut family, id) = family(plain(), "cleanup");
    family.fail(id, "a", "card declined");
    let task = family.execution(id).latest("a").unwrap().id;
    let run = family.execution(after(&family, id));
    assert_eq!(run.definition().definition().name, "cleanup");
    assert_eq!((run.parent(), run.priority()), (None, 0));
    assert_eq!(run.correlation_id(), Some("order"));
    assert_eq!(run.task_to_domain()["y"], "red");
    assert_eq!(run.idempotency_key(), None);
    let input = run.input().value();
    assert_eq!((&input["i"], &input["workflowId"]), (&json!(1), &json!(id.to_string())));
    assert_eq!(input["reason"], json!(family.run(id).reason()));
    assert_eq!(input["failureStatus"], "FAILED");
    assert_eq!(input["failureTaskId"], json!(task.to_string()));
    let failed = &input["failedWorkflow"];
    assert_eq!(
        (&failed["workflowId"], &failed["status"]),
        (&json!(id.to_string()), &json!("FAILED"))
    );
    assert_eq!(failed["tasks"][0]["reasonForIncompletion"], "card declined");
    family.run(id).replay();
}

#[test]
fn every_unsuccessful_end_from_within_is_followed() {
    let limits = json!({"timeoutSeconds": 10, "timeoutPolicy": "TIME_OUT_WF"});
    let (mut timed, id) = family(with(plain(), limits), "cleanup");
    timed.tick(10);
    let input = timed.execution(after(&timed, id)).input().value();
    assert_eq!(input["failureStatus"], "TIMED_OUT");
    assert_eq!(input.get("failureTaskId"), None, "no task caused it");
    let policy = json!({"timeoutSeconds": 10, "timeoutPolicy": "TIME_OUT_WF", "retryCount": 3,
        "pollTimeoutSeconds": 10});
    let (mut polled, id) = family(named("flow", &[step("a", policy)]), "cleanup");
    polled.tick(10);
    assert_eq!(polled.execution(id).status(), Some(WorkflowStatus::TimedOut));
    after(&polled, id);
    let permissive = with(once("a"), json!({"permissive": true}));
    let (mut permissive, id) = family(named("flow", &[permissive]), "cleanup");
    permissive.fail(id, "a", "no");
    after(&permissive, id);
    for status in ["FAILED", "TERMINATED"] {
        let end = json!({"name": "t", "taskReferenceName": "t", "type": "TERMINATE",
            "inputParameters": {"terminationStatus": status}});
        let (ended, id) = family(named("flow", &[end]), "cleanup");
        after(&ended, id);
    }
}

#[test]
fn a_good_end_and_an_end_from_outside_are_not_followed_unless_asked_for() {
    let (mut good, id) = family(plain(), "cleanup");
    good.complete(id, "a", json!({}));
    assert_eq!((note(&good, id).as_str(), good.members.len()), ("", 1));
    let (mut ended, id) = family(plain(), "cleanup");
    let stop = |compensate| Event::Terminated { reason: None, compensate };
    ended.tell(id, stop(false), &[]).unwrap();
    assert_eq!((note(&ended, id).as_str(), ended.members.len()), ("", 1));
    let (mut asked, id) = family(plain(), "cleanup");
    asked.tell(id, stop(true), &[]).unwrap();
    after(&asked, id);
    let (mut removed, id) = family(plain(), "cleanup");
    removed.remove(id);
    assert_eq!(removed.members.len(), 0);
}

#[test]
fn a_child_that_ends_with_its_parent_is_not_followed() {
    let child = with(named("child", &[once("x")]), json!({"failureWorkflow": "cleanup"}));
    let parent = named("parent", &[sub("s", "child")]);
    let mut family = Family::of(&[named("cleanup", &[once("tidy")]), child, parent]);
    let id = family.start("parent", json!({}));
    let child = family.child(id, "s");
    family.tell(id, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.deliver_all();
    family.reads(child, &["TERMINATED", "x 0 CANCELED"]);
    assert_eq!(family.members.len(), 2);
}

#[test]
fn each_unsuccessful_end_is_followed_once_also_after_a_retry() {
    let (mut family, id) = family(plain(), "cleanup");
    let said = family.claim(id, "a", "ann");
    let said = Said { status: TaskResultStatus::Failed, ..said };
    family.report(id, &said).unwrap();
    let first = after(&family, id);
    family.report(id, &said).expect("a repeat is harmless");
    assert_eq!(family.members.len(), 2);
    family.tell(id, Event::Retried, &[]).unwrap();
    assert_eq!(note(&family, id), "", "the output of a live run is empty");
    family.fail(id, "a", "no");
    assert_ne!(after(&family, id), first);
    assert_eq!(family.members.len(), 3);
}

#[test]
fn the_name_may_come_from_the_input_in_both_spellings() {
    for written in ["$workflow.input.on", "${workflow.input.on}"] {
        let (mut family, id) = family(plain(), written);
        family.fail(id, "a", "no");
        let run = family.execution(after(&family, id));
        assert_eq!(run.definition().definition().name, "cleanup", "{written}");
    }
}

#[test]
fn a_failure_workflow_that_cannot_start_is_a_sentence_in_the_output() {
    let (mut unknown, id) = family(plain(), "nobody");
    unknown.fail(id, "a", "no");
    let said = "The failure workflow nobody was not started: No such workflow defined. \
                name=nobody, version=null";
    assert_eq!((note(&unknown, id).as_str(), unknown.members.len()), (said, 1));
    let (mut nameless, id) = family(plain(), "$workflow.input.nothing");
    nameless.fail(id, "a", "no");
    let said = "The failure workflow $workflow.input.nothing was not started: the input names no \
                workflow there";
    assert_eq!((note(&nameless, id).as_str(), nameless.members.len()), (said, 1));
    let versioned = with(plain(), json!({"failureWorkflowVersion": 9}));
    let (mut missing, id) = family(versioned, "cleanup");
    missing.fail(id, "a", "no");
    assert!(note(&missing, id).ends_with("name=cleanup, version=9"));
}

#[test]
fn the_word_about_it_joins_the_output_that_the_run_has() {
    let outputs = json!({"outputParameters": {"i": "${workflow.input.i}"}});
    let (mut family, id) = family(with(plain(), outputs), "cleanup");
    family.fail(id, "a", "no");
    let output = family.execution(id).output().value();
    assert_eq!((&output["i"], output.as_object().unwrap().len()), (&json!(1), 2));
}

#[test]
fn a_failure_workflow_that_fails_itself_ends_its_chain_at_the_limit() {
    let end = json!({"name": "t", "taskReferenceName": "t", "type": "TERMINATE",
        "inputParameters": {"terminationStatus": "FAILED"}});
    let again = with(named("again", &[end]), json!({"failureWorkflow": "again"}));
    let mut family = Family::of(&[again]);
    family.start("again", json!({}));
    assert_eq!(family.members.len(), 11);
}
