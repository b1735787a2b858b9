//! # Starts: runs begun by START_WORKFLOW, keys, found runs and versions
//!
//! Rules:
//! * docs/reference/rules/task-types.md#start_workflow
//! * docs/reference/idempotency.md#keys-of-steps
//! * docs/reference/rules/runs-and-definitions.md#definition-of-a-task

use std::sync::Arc;

use semel_engine::{Change, Event, Pinned, Registry, Rerun, Start, pin};
use semel_model::{
    ExecutionId, SchemaDef, TaskDef, TaskStatus, WorkflowDef, WorkflowStatus, effect_key,
};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::with;

fn go(reference: &str, request: Value) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": request}})
}

fn family(steps: &[Value]) -> Family {
    Family::of(&[named("other", &[once("x")]), named("flow", steps)])
}

fn started(family: &Family, id: ExecutionId, reference: &str) -> ExecutionId {
    let output = family.execution(id).latest(reference).expect("it was reached").output.value();
    output["workflowId"].as_str().expect("it began a run").parse().expect("an id")
}

fn reason(family: &Family, id: ExecutionId, reference: &str) -> String {
    family
        .execution(id)
        .latest(reference)
        .expect("it was reached")
        .reason
        .clone()
        .unwrap_or_default()
}

/// A step that begins `other` under a key.
fn keyed(reference: &str, strategy: &str) -> Value {
    let request = json!({"name": "other", "idempotencyKey": "k", "idempotencyStrategy": strategy});
    go(reference, request)
}

/// A SUB_WORKFLOW step under the same key.
fn sub_keyed(reference: &str, strategy: &str) -> Value {
    let param = json!({"name": "other", "idempotencyKey": "k", "idempotencyStrategy": strategy});
    with(sub(reference, "other"), json!({"subWorkflowParam": param}))
}

#[test]
fn a_run_is_begun_and_nobody_waits_for_it() {
    let request = json!({"name": "other", "input": {"n": 1}, "priority": 3});
    let mut family = family(&[go("g", request)]);
    let start = Start {
        correlation_id: Some("order".to_owned()),
        task_to_domain: [("y".to_owned(), "red".to_owned())].into(),
        ..Start::default()
    };
    let id = family.start_as("flow", json!({}), start);
    family.reads(id, &["COMPLETED", "g 0 COMPLETED"]);
    let run = family.execution(started(&family, id, "g"));
    assert_eq!((run.parent(), run.status()), (None, Some(WorkflowStatus::Running)));
    assert_eq!((run.input().value(), run.priority()), (json!({"n": 1}), 3));
    assert_eq!(run.correlation_id(), Some("order"), "inherited");
    assert_eq!(run.task_to_domain()["y"], "red", "inherited");
    assert_eq!(run.idempotency_key(), Some(effect_key(id, "g", 0).as_str()));
}

#[test]
fn neither_retry_nor_rerun_nor_restart_begins_it_twice() {
    let mut family = family(&[go("g", json!({"name": "other"})), once("after")]);
    let id = family.start("flow", json!({}));
    let run = started(&family, id, "g");
    let members = family.members.len();
    family.fail(id, "after", "no");
    let task = family.execution(id).latest("g").unwrap().id;
    let from = Event::Reran(Rerun { from: Some(task), ..Rerun::default() });
    let stop = Event::Terminated { reason: None, compensate: false };
    for event in [from, Event::Restarted { definition: None }, Event::Reran(Rerun::default())] {
        family.tell(id, event, &[]).unwrap();
        assert_eq!((started(&family, id, "g"), family.members.len()), (run, members));
        family.tell(id, stop.clone(), &[]).unwrap();
    }
    let jump = Event::Jumped { reference: "g".to_owned(), input: None };
    family.tell(id, Event::Retried, &[]).unwrap();
    family.tell(id, jump, &[]).unwrap();
    assert_eq!((started(&family, id, "g"), family.members.len()), (run, members));
    family.reads(id, &["RUNNING", "g 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn a_start_that_may_begin_another_run_when_it_is_done_again_does_so_under_another_id() {
    let mut family = family(&[keyed("g", "FAIL_ON_RUNNING")]);
    let id = family.start("flow", json!({}));
    let first = started(&family, id, "g");
    family.complete(first, "x", json!({}));
    let task = family.execution(id).latest("g").unwrap().id;
    let from = Event::Reran(Rerun { from: Some(task), ..Rerun::default() });
    family.tell(id, from, &[]).unwrap();
    let second = started(&family, id, "g");
    assert_ne!(first, second);
    assert!(family.execution(second).is_live());
}

#[test]
fn a_request_that_is_missing_or_wrong_fails_the_task() {
    let none = json!({"name": "g", "taskReferenceName": "g", "type": "START_WORKFLOW"});
    for (step, said) in [
        (none, "Missing 'startWorkflow' in input data."),
        (
            go("g", json!({"name": "nobody", "version": 3})),
            "No such workflow defined. name=nobody, version=3",
        ),
        (go("g", json!({"name": "nobody"})), "No such workflow defined. name=nobody, version=null"),
    ] {
        let mut family = family(&[step]);
        let id = family.start("flow", json!({}));
        family.reads(id, &["FAILED", "g 0 FAILED"]);
        assert_eq!(reason(&family, id, "g"), said);
        assert_eq!(family.members.len(), 1);
    }
    for wrong in [json!("other"), json!({}), json!({"name": "other", "workflowDef": {}})] {
        let mut family = family(&[go("g", wrong)]);
        let id = family.start("flow", json!({}));
        family.reads(id, &["FAILED", "g 0 FAILED"]);
    }
}

#[test]
fn a_key_is_judged_once_even_for_two_tasks_of_one_turn() {
    for (strategy, second) in [
        ("FAIL", TaskStatus::Failed),
        ("RETURN_EXISTING", TaskStatus::Completed),
        ("FAIL_ON_RUNNING", TaskStatus::Failed),
    ] {
        let mut family = family(&[keyed("g", "FAIL"), keyed("h", strategy)]);
        let id = family.start("flow", json!({}));
        assert_eq!(family.members.len(), 2, "{strategy}");
        let run = started(&family, id, "g");
        let task = family.execution(id).latest("h").unwrap();
        assert_eq!(task.status, second, "{strategy}");
        if second == TaskStatus::Completed {
            assert_eq!(started(&family, id, "h"), run);
        } else {
            let said = format!("a run exists under idempotencyKey k: {run}");
            assert_eq!(reason(&family, id, "h"), said);
        }
        family.run(id).replay();
    }
}

#[test]
fn a_key_is_not_taken_by_a_child_that_could_not_begin() {
    let param = json!({"name": "other", "version": 99, "idempotencyKey": "k"});
    let flags = json!({"subWorkflowParam": param, "optional": true});
    let mut family = family(&[with(sub("s", "other"), flags), keyed("g", "FAIL")]);
    let id = family.start("flow", json!({}));
    family.reads(id, &["COMPLETED", "s 0 COMPLETED_WITH_ERRORS", "g 0 COMPLETED"]);
    assert!(family.members.contains_key(&started(&family, id, "g")));
}

#[test]
fn a_run_found_by_a_key_is_watched_and_its_end_is_the_tasks() {
    let mut family = family(&[keyed("g", "FAIL"), sub_keyed("s", "RETURN_EXISTING")]);
    let id = family.start("flow", json!({}));
    let found = started(&family, id, "g");
    assert_eq!((family.child(id, "s"), family.members.len()), (found, 2));
    family.deliver_all();
    family.complete(found, "x", json!({"v": 1}));
    family.deliver_all();
    family.reads(id, &["COMPLETED", "g 0 COMPLETED", "s 0 COMPLETED"]);
    let output = family.execution(id).latest("s").unwrap().output.value();
    assert_eq!(output, json!({"subWorkflowId": found.to_string(), "v": 1}));
}

#[test]
fn a_found_run_that_is_over_answers_at_once_and_one_that_is_gone_is_answered_for() {
    let steps = [keyed("g", "FAIL"), once("a"), sub_keyed("s", "RETURN_EXISTING")];
    let mut family = family(&steps);
    let id = family.start("flow", json!({}));
    let found = started(&family, id, "g");
    family.fail(found, "x", "no");
    family.complete(id, "a", json!({}));
    let mut other = family.clone();
    family.deliver_all();
    family.reads(id, &["FAILED", "g 0 COMPLETED", "a 0 COMPLETED", "s 0 FAILED"]);
    other.remove(found);
    other.deliver_all();
    other.reads(id, &["FAILED", "g 0 COMPLETED", "a 0 COMPLETED", "s 0 FAILED"]);
    let said = format!("Sub workflow {found} cannot be waited for: ");
    assert!(reason(&other, id, "s").starts_with(&said));
}

#[test]
fn who_only_watches_never_ends_what_it_found() {
    let mut family = family(&[keyed("g", "FAIL"), sub_keyed("s", "RETURN_EXISTING")]);
    let id = family.start("flow", json!({}));
    let found = started(&family, id, "g");
    family.deliver_all();
    family.tell(id, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.deliver_all();
    family.reads(found, &["RUNNING", "x 0 SCHEDULED"]);
    family.complete(found, "x", json!({}));
    family.deliver_all();
    family.reads(id, &["TERMINATED", "g 0 COMPLETED", "s 0 CANCELED"]);
}

#[test]
fn a_late_end_of_a_found_runs_earlier_life_does_not_end_a_task_that_watches_it_again() {
    let mut family = family(&[keyed("g", "FAIL"), sub_keyed("s", "RETURN_EXISTING")]);
    let id = family.start("flow", json!({}));
    let found = started(&family, id, "g");
    family.deliver_all();
    family.fail(found, "x", "no");
    family.tell(id, Event::Terminated { reason: None, compensate: false }, &[]).unwrap();
    family.tell(found, Event::Retried, &[]).unwrap();
    let task = family.execution(id).latest("s").unwrap().id;
    let from = Event::Reran(Rerun { from: Some(task), ..Rerun::default() });
    family.tell(id, from, &[]).unwrap();
    family.deliver_all();
    family.reads(id, &["RUNNING", "g 0 COMPLETED", "s 0 IN_PROGRESS"]);
    family.complete(found, "x", json!({}));
    family.deliver_all();
    family.reads(id, &["COMPLETED", "g 0 COMPLETED", "s 0 COMPLETED"]);
}

#[test]
fn a_taken_key_fails_the_child_task_and_the_reason_names_the_run() {
    for strategy in ["FAIL", "FAIL_ON_RUNNING"] {
        let mut family = family(&[keyed("g", "FAIL"), sub_keyed("s", strategy)]);
        let id = family.start("flow", json!({}));
        family.reads(id, &["FAILED", "g 0 COMPLETED", "s 0 FAILED"]);
        let found = started(&family, id, "g");
        assert!(reason(&family, id, "s").contains(&found.to_string()));
    }
}

#[test]
fn runs_nested_too_deep_begin_no_more_of_them() {
    let again = with(sub("s", "deep"), json!({"subWorkflowParam": {"name": "deep", "version": 1}}));
    let mut family = Family::of(&[named("deep", &[again])]);
    let id = family.start("deep", json!({}));
    assert_eq!(family.members.len(), 2, "what a newborn run creates waits for its own commit");
    (0..101).for_each(|_| family.tick(1));
    assert_eq!(family.members.len(), 101);
    family.deliver_all();
    assert_eq!(family.execution(id).status(), Some(WorkflowStatus::Failed));
}

#[test]
fn runs_that_begin_their_successors_may_do_so_for_ever() {
    let wait = json!({"name": "w", "taskReferenceName": "w", "type": "WAIT",
        "inputParameters": {"duration": "2s"}});
    let again = go("g", json!({"name": "loop"}));
    let mut patient = Family::of(&[named("loop", &[wait, again.clone()])]);
    patient.start("loop", json!({}));
    (0..120).for_each(|_| patient.tick(2));
    assert_eq!(patient.members.len(), 121);
    let mut hasty = Family::of(&[named("loop", &[again])]);
    hasty.start("loop", json!({}));
    (0..3).for_each(|_| hasty.tick(0));
    assert_eq!(hasty.members.len(), 101, "those that do so at once are cut off");
}

#[test]
fn one_turn_begins_a_bounded_number_of_runs_and_the_rest_follows() {
    let steps: Vec<_> = (0..20).map(|n| go(&format!("g{n}"), json!({"name": "other"}))).collect();
    let mut family = family(&steps);
    let id = family.start("flow", json!({}));
    assert!(family.execution(id).is_live(), "{:?}", family.run(id).story());
    (0..3).for_each(|_| family.tick(1));
    assert_eq!(family.execution(id).status(), Some(WorkflowStatus::Completed));
    assert_eq!(family.members.len(), 21);
}

struct Latest(i32);

impl Registry for Latest {
    fn task(&mut self, _: &str) -> Option<Arc<TaskDef>> {
        None
    }

    fn latest(&mut self, workflow: &str) -> Option<i32> {
        (workflow == "child").then_some(self.0)
    }

    fn schema(&mut self, _: &str, _: i32) -> Option<SchemaDef> {
        None
    }
}

fn pinned(param: Value) -> Result<Pinned, String> {
    let step = with(sub("s", "child"), json!({"subWorkflowParam": param}));
    let definition: WorkflowDef =
        serde_json::from_value(named("flow", &[step])).expect("a definition");
    pin(definition, &mut Latest(7))
}

#[test]
fn a_child_without_a_version_is_pinned_and_a_name_that_is_not_known_yet_is_not() {
    let version = |param: Value| {
        let pinned = pinned(param).expect("it is registered");
        let param = pinned.step("s").task().sub_workflow_param.clone();
        param.and_then(|param| param.version)
    };
    assert_eq!(version(json!({"name": "child"})), Some(7));
    assert_eq!(version(json!({"name": "child", "version": 3})), Some(3));
    assert_eq!(
        version(json!({"name": "child", "version": 0})),
        Some(0),
        "the latest when it begins"
    );
    assert_eq!(version(json!({"name": "${workflow.input.name}"})), None);
    assert_eq!(pinned(json!({"name": "nobody"})).err().as_deref(), Some("nobody"));
}

#[test]
fn a_pinned_child_keeps_its_version_and_version_0_takes_the_latest() {
    let steps = [once("a"), sub("s", "other"), once("b"), sub_version_0()];
    let mut family = family(&steps);
    let id = family.start("flow", json!({}));
    let newer = with(named("other", &[once("y")]), json!({"version": 2}));
    Arc::make_mut(&mut family.shelf).register(newer);
    family.complete(id, "a", json!({}));
    let version = |family: &Family, reference: &str| {
        let run = family.execution(family.child(id, reference));
        run.definition().definition().version
    };
    assert_eq!(version(&family, "s"), 1);
    let child = family.child(id, "s");
    family.complete(child, "x", json!({}));
    family.deliver_all();
    family.complete(id, "b", json!({}));
    assert_eq!(version(&family, "t"), 2);
}

fn sub_version_0() -> Value {
    with(sub("t", "other"), json!({"subWorkflowParam": {"name": "other", "version": 0}}))
}

#[test]
fn a_version_that_is_no_number_and_a_name_that_is_no_name_fail_the_task() {
    for param in [json!({"name": "${workflow.input.nothing}"}), json!({"name": "", "version": 1})] {
        let step = with(sub("s", "other"), json!({"subWorkflowParam": param}));
        let mut family = family(&[step]);
        let id = family.start("flow", json!({}));
        family.reads(id, &["FAILED", "s 0 FAILED"]);
        assert!(reason(&family, id, "s").starts_with("subWorkflowParam.name must be a name"));
    }
}

#[test]
fn a_retry_delay_and_a_start_delay_of_a_start_are_heeded() {
    let policy = json!({"name": "g", "retryCount": 1, "retryDelaySeconds": 5,
        "responseTimeoutSeconds": 0});
    let flags = json!({"startDelay": 3, "taskDefinition": policy});
    let mut family = family(&[with(go("g", json!({"name": "nobody"})), flags)]);
    let id = family.start("flow", json!({}));
    family.reads(id, &["RUNNING", "g 0 SCHEDULED"]);
    family.tick(3);
    family.reads(id, &["RUNNING", "g 0 FAILED", "g 1 SCHEDULED"]);
    family.tick(5);
    family.reads(id, &["FAILED", "g 0 FAILED", "g 1 FAILED"]);
    let ends = family.run(id).journal.last().unwrap();
    let entry: semel_engine::Entry = serde_json::from_slice(ends).unwrap();
    assert!(!entry.changes.iter().any(|it| matches!(it, Change::RunCreated { .. })));
}
