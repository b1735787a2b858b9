//! # SUB_WORKFLOW: a run inside a run
//!
//! Rules:
//! * docs/reference/rules/task-types.md#sub_workflow
//! * docs/reference/rules/progress.md#optional-and-permissive-steps
//! * docs/reference/rules/timeouts.md#timeouts-and-children

use semel_engine::{Event, Start};
use semel_model::{ExecutionId, TaskResultStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::family::Family;
use crate::shapes::{Said, step, with};

pub(crate) fn named(name: &str, steps: &[Value]) -> Value {
    json!({"name": name, "version": 1, "tasks": steps})
}

/// A SUB_WORKFLOW step that begins `child`.
pub(crate) fn sub(reference: &str, child: &str) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "SUB_WORKFLOW",
        "subWorkflowParam": {"name": child}})
}

pub(crate) fn once(reference: &str) -> Value {
    step(reference, json!({"retryCount": 0}))
}

/// A parent with one such step and one after it; a child of one step. Parent and child are begun.
pub(crate) fn pair(flags: Value) -> (Family, ExecutionId, ExecutionId) {
    let parent = named("parent", &[with(sub("s", "child"), flags), once("after")]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let parent = family.start("parent", json!({"i": 1}));
    let child = family.child(parent, "s");
    (family, parent, child)
}

fn reason(family: &Family, id: ExecutionId, reference: &str) -> String {
    let task = family.execution(id).latest(reference).expect("the step was reached");
    task.reason.clone().unwrap_or_default()
}

#[test]
fn the_child_is_born_with_its_task_and_knows_its_parent() {
    let params = json!({"name": "child", "priority": 5, "taskToDomain": {"x_def": "blue"}});
    let asks = json!({"subWorkflowParam": params, "inputParameters": {"n": "${workflow.input.i}"}});
    let parent = named("parent", &[with(sub("s", "child"), asks)]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let start = Start {
        correlation_id: Some("order".to_owned()),
        priority: 9,
        task_to_domain: [("*".to_owned(), "red".to_owned())].into(),
        ..Start::default()
    };
    let parent = family.start_as("parent", json!({"i": 1}), start);
    let child = family.child(parent, "s");
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    let task = family.execution(parent).latest("s").unwrap();
    assert_eq!(child, ExecutionId::of_child(task.id, 0));
    assert_eq!(task.output.value(), json!({"subWorkflowId": child.to_string()}));
    let input = task.input.value();
    assert_eq!(input["subWorkflowName"], "child");
    assert_eq!((&input["subWorkflowVersion"], &input["priority"]), (&json!(1), &json!(5)));
    assert_eq!(input["workflowInput"], json!({"n": 1}));
    let run = family.execution(child);
    let above = run.parent().unwrap();
    assert_eq!((above.execution, above.task), (parent, task.id));
    assert_eq!(run.input().value(), json!({"n": 1}));
    assert_eq!((run.correlation_id(), run.priority()), (Some("order"), 5));
    assert_eq!(run.task_to_domain()["x_def"], "blue");
}

#[test]
fn a_child_without_wishes_inherits_the_domains_but_not_the_priority_nor_the_input() {
    let parent = named("parent", &[sub("s", "child")]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let domains = [("other".to_owned(), "red".to_owned())];
    let start = Start { priority: 9, task_to_domain: domains.into(), ..Start::default() };
    let parent = family.start_as("parent", json!({"i": 1}), start);
    let run = family.execution(family.child(parent, "s"));
    assert_eq!((run.priority(), run.input().value()), (0, json!({})));
    assert_eq!(run.task_to_domain()["other"], "red");
}

#[test]
fn a_completed_child_completes_its_task_and_its_output_is_merged_over_the_id() {
    let (mut family, parent, child) = pair(json!({}));
    family.complete(child, "x", json!({"v": 1}));
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    let output = family.execution(parent).latest("s").unwrap().output.value();
    assert_eq!(output, json!({"subWorkflowId": child.to_string(), "v": 1}));
    assert_eq!(reason(&family, parent, "s"), "");
}

#[test]
fn a_failed_child_fails_its_task_and_the_reason_names_it() {
    let (mut family, parent, child) = pair(json!({}));
    family.fail(child, "x", "no");
    let why = family.execution(child).reason().unwrap().to_owned();
    family.deliver_all();
    family.reads(parent, &["FAILED", "s 0 FAILED"]);
    let said = format!("Sub workflow child.1/{child} failure reason: {why}");
    assert_eq!(reason(&family, parent, "s"), said);
}

#[test]
fn a_failed_child_is_followed_by_a_new_one_while_the_task_has_retries() {
    let (mut family, parent, child) = pair(json!({"retryCount": 1}));
    family.fail(child, "x", "no");
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 FAILED", "s 1 SCHEDULED"]);
    family.tick(60);
    family.reads(parent, &["RUNNING", "s 0 FAILED", "s 1 IN_PROGRESS"]);
    let second = family.child(parent, "s");
    assert_ne!(child, second);
    assert_eq!(family.execution(child).status(), Some(WorkflowStatus::Failed), "it stays so");
    family.fail(second, "x", "no");
    family.deliver_all();
    family.reads(parent, &["FAILED", "s 0 FAILED", "s 1 FAILED"]);
}

#[test]
fn a_child_that_timed_out_times_its_task_out() {
    let limits = json!({"timeoutSeconds": 10, "timeoutPolicy": "TIME_OUT_WF"});
    let child = with(named("child", &[once("x")]), limits);
    let mut family = Family::of(&[child, named("parent", &[sub("s", "child")])]);
    let parent = family.start("parent", json!({}));
    family.tick(10);
    family.deliver_all();
    family.reads(parent, &["TIMED_OUT", "s 0 TIMED_OUT"]);
}

#[test]
fn a_terminated_child_cancels_its_task_which_is_not_retried() {
    let (mut family, parent, child) = pair(json!({"retryCount": 3}));
    let event = Event::Terminated { reason: Some("enough".to_owned()), compensate: false };
    family.tell(child, event, &[]).unwrap();
    family.deliver_all();
    family.reads(parent, &["TERMINATED", "s 0 CANCELED"]);
}

#[test]
fn an_optional_task_absorbs_what_became_of_its_child_and_a_permissive_one_passes_it_on() {
    for (flags, status, end) in [
        (json!({"optional": true}), "s 0 COMPLETED_WITH_ERRORS", "COMPLETED"),
        (json!({"permissive": true}), "s 0 FAILED", "FAILED"),
        (json!({"optional": true, "permissive": true}), "s 0 COMPLETED_WITH_ERRORS", "COMPLETED"),
    ] {
        let (mut family, parent, child) = pair(flags);
        family.fail(child, "x", "no");
        family.deliver_all();
        family.reads(parent, &["RUNNING", status, "after 0 SCHEDULED"]);
        family.complete(parent, "after", json!({}));
        family.reads(parent, &[end, status, "after 0 COMPLETED"]);
    }
    let (mut family, parent, child) = pair(json!({"optional": true}));
    let event = Event::Terminated { reason: None, compensate: false };
    family.tell(child, event, &[]).unwrap();
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED_WITH_ERRORS", "after 0 SCHEDULED"]);
}

#[test]
fn pause_does_not_reach_the_child_and_its_end_waits_for_the_resume() {
    let (mut family, parent, child) = pair(json!({}));
    family.tell(parent, Event::Paused, &[]).unwrap();
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["PAUSED", "s 0 COMPLETED"]);
    family.tell(parent, Event::Resumed, &[]).unwrap();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn a_terminated_parent_takes_its_children_with_it_to_the_last() {
    let parent = named("parent", &[sub("m", "middle")]);
    let middle = named("middle", &[sub("s", "child")]);
    let mut family = Family::of(&[named("child", &[once("x")]), middle, parent]);
    let parent = family.start("parent", json!({}));
    let middle = family.child(parent, "m");
    family.tick(1);
    let child = family.child(middle, "s");
    let event = Event::Terminated { reason: Some("enough".to_owned()), compensate: false };
    family.tell(parent, event, &[]).unwrap();
    family.reads(parent, &["TERMINATED", "m 0 CANCELED"]);
    family.reads(child, &["RUNNING", "x 0 SCHEDULED"]);
    family.deliver_all();
    family.reads(middle, &["TERMINATED", "s 0 CANCELED"]);
    family.reads(child, &["TERMINATED", "x 0 CANCELED"]);
    let first = "Parent workflow has been terminated with reason: enough";
    assert_eq!(family.run(middle).reason(), first);
    let second = format!("Parent workflow has been terminated with reason: {first}");
    assert_eq!(family.run(child).reason(), second);
}

#[test]
fn without_a_reason_the_children_hear_the_status() {
    let (mut family, parent, child) = pair(json!({}));
    let event = Event::Terminated { reason: None, compensate: false };
    family.tell(parent, event, &[]).unwrap();
    family.deliver_all();
    let said = "Parent workflow has been terminated with status TERMINATED";
    assert_eq!(family.run(child).reason(), said);
}

#[test]
fn a_child_that_completes_while_its_parent_ends_leaves_both_as_they_are() {
    let (mut family, parent, child) = pair(json!({}));
    let event = Event::Terminated { reason: None, compensate: false };
    family.tell(parent, event, &[]).unwrap();
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.reads(parent, &["TERMINATED", "s 0 CANCELED"]);
    family.reads(child, &["COMPLETED", "x 0 COMPLETED"]);
}

#[test]
fn a_task_that_is_answered_for_by_hand_ends_its_child() {
    let (mut family, parent, child) = pair(json!({}));
    let task = family.execution(parent).latest("s").unwrap().id;
    let said = Said::new(task, TaskResultStatus::Completed).output(json!({"mine": 1}));
    family.report(parent, &said).unwrap();
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 COMPLETED", "after 0 SCHEDULED"]);
    family.reads(child, &["TERMINATED", "x 0 CANCELED"]);
    let said = "The task that began this workflow ended with status COMPLETED";
    assert_eq!(family.run(child).reason(), said);
}

#[test]
fn a_task_that_times_out_ends_its_child_and_a_retry_begins_another() {
    let policy = json!({"name": "s", "timeoutSeconds": 10, "timeoutPolicy": "RETRY",
        "retryCount": 1, "retryDelaySeconds": 0, "responseTimeoutSeconds": 1});
    let (mut family, parent, child) = pair(json!({"taskDefinition": policy}));
    family.tick(9);
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.tick(1);
    family.deliver_all();
    family.reads(parent, &["RUNNING", "s 0 TIMED_OUT", "s 1 IN_PROGRESS"]);
    family.reads(child, &["TERMINATED", "x 0 CANCELED"]);
    assert_ne!(family.child(parent, "s"), child);
}

#[test]
fn a_start_delay_holds_the_child_back_and_a_run_that_ends_meanwhile_has_none() {
    let parent = named("parent", &[with(sub("s", "child"), json!({"startDelay": 10}))]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let id = family.start("parent", json!({}));
    family.reads(id, &["RUNNING", "s 0 SCHEDULED"]);
    assert_eq!(family.members.len(), 1);
    let mut other = family.clone();
    family.tick(9);
    assert_eq!(family.members.len(), 1);
    family.tick(1);
    family.reads(id, &["RUNNING", "s 0 IN_PROGRESS"]);
    assert_eq!(family.members.len(), 2);
    other.tell(id, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    other.tick(100);
    other.reads(id, &["TERMINATED", "s 0 CANCELED"]);
    assert_eq!((other.members.len(), other.letters.len()), (1, 0));
}

#[test]
fn a_delay_that_ends_while_paused_is_over_at_the_resume() {
    let parent = named("parent", &[with(sub("s", "child"), json!({"startDelay": 10}))]);
    let mut family = Family::of(&[named("child", &[once("x")]), parent]);
    let id = family.start("parent", json!({}));
    family.tell(id, Event::Paused, &[]).unwrap();
    family.tick(20);
    family.reads(id, &["PAUSED", "s 0 SCHEDULED"]);
    family.tell(id, Event::Resumed, &[]).unwrap();
    family.tick(0);
    family.reads(id, &["RUNNING", "s 0 IN_PROGRESS"]);
}

#[test]
fn a_removed_child_fails_its_task_and_a_removed_parent_ends_its_child() {
    let (mut family, parent, child) = pair(json!({}));
    let mut other = family.clone();
    family.remove(child);
    family.deliver_all();
    family.reads(parent, &["FAILED", "s 0 FAILED"]);
    let said = format!("Sub workflow {child} cannot be waited for: it was removed");
    assert_eq!(reason(&family, parent, "s"), said);
    other.remove(parent);
    other.deliver_all();
    other.reads(child, &["TERMINATED", "x 0 CANCELED"]);
    let said = "Parent workflow has been terminated with reason: The workflow was removed";
    assert_eq!(other.run(child).reason(), said);
}

#[test]
fn a_child_that_is_over_at_once_is_heard_of_by_message_too() {
    let parent = named("parent", &[sub("s", "child")]);
    let mut family = Family::of(&[named("child", &[]), parent]);
    let parent = family.start("parent", json!({}));
    family.reads(parent, &["RUNNING", "s 0 IN_PROGRESS"]);
    family.deliver_all();
    family.reads(parent, &["COMPLETED", "s 0 COMPLETED"]);
}
