//! # Descendants of one root have a limit (compatibility: limits)

use std::rc::Rc;
use std::sync::Arc;

use semel_engine::{Descendants, Event};
use semel_model::{ExecutionId, TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::children::{named, once, sub};
use crate::family::Family;
use crate::shapes::{fork, join, with};

fn counted(family: &mut Family, descendants: Option<Descendants>) {
    Arc::make_mut(&mut family.shelf).descendants = descendants;
    let shelf = &family.shelf;
    for member in family.members.values_mut() {
        Rc::make_mut(member).shelf = Arc::clone(shelf);
    }
}

fn starting(reference: &str) -> Value {
    json!({"name": reference, "taskReferenceName": reference, "type": "START_WORKFLOW",
        "inputParameters": {"startWorkflow": {"name": "child"}}})
}

fn ended(family: &Family, run: ExecutionId, reference: &str) -> (TaskStatus, String) {
    let task = family.execution(run).latest(reference).expect("it was reached").clone();
    (task.status, task.reason.clone().unwrap_or_default())
}

fn facts_of(family: &Family, run: ExecutionId) -> Vec<bool> {
    let journal = family.run(run).journal.iter().map(|it| String::from_utf8_lossy(it));
    journal.map(|entry| entry.contains(r#""descendants":{"#)).collect()
}

#[test]
fn a_child_beyond_the_limit_is_not_begun_and_its_step_fails_for_good() {
    let retried = |reference: &str| with(sub(reference, "child"), json!({"retryCount": 3}));
    let steps = [
        fork("f", &[&[sub("a", "child")], &[sub("b", "child")], &[retried("c")]]),
        join("j", &["a", "b", "c"]),
    ];
    let definitions = [named("child", &[once("x")]), named("flow", &steps)];
    let mut family = Family::of(&definitions);
    counted(&mut family, Some(Descendants { open: 2, max: 4 }));
    let flow = family.start("flow", json!({}));
    let (status, why) = ended(&family, flow, "c");
    assert_eq!(status, TaskStatus::FailedWithTerminalError);
    let said = format!(
        "4 descendants of run {flow} are open, and open_descendants_max is 4: no run of child was \
         begun"
    );
    assert_eq!(why, said);
    assert_eq!(family.execution(flow).status(), Some(WorkflowStatus::Failed));
    assert_eq!(family.members.len(), 3, "two had begun in the same turn");
    family.deliver_all();
    assert!(family.members.values().all(|member| member.execution.is_closed()));
    family.members.values().for_each(|member| member.replay());
    assert_eq!(facts_of(&family, flow), [true], "what refused it stands in the entry");
}

#[test]
fn where_there_is_room_nothing_is_noted() {
    let definitions = [named("child", &[once("x")]), named("flow", &[sub("a", "child")])];
    let mut family = Family::of(&definitions);
    counted(&mut family, Some(Descendants { open: 3, max: 4 }));
    let flow = family.start("flow", json!({}));
    assert_eq!((family.members.len(), facts_of(&family, flow)), (2, vec![false]));
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn a_started_run_counts_and_a_retry_begins_it_when_there_is_room() {
    let definitions = [named("child", &[once("x")]), named("flow", &[starting("a")])];
    let mut family = Family::of(&definitions);
    counted(&mut family, Some(Descendants { open: 7, max: 7 }));
    let flow = family.start("flow", json!({}));
    let (status, why) = ended(&family, flow, "a");
    assert_eq!(status, TaskStatus::FailedWithTerminalError);
    assert!(why.contains("open_descendants_max is 7"), "{why}");
    assert_eq!(family.members.len(), 1);
    counted(&mut family, Some(Descendants { open: 6, max: 7 }));
    family.tell(flow, Event::Retried, &[]).expect("it has failed");
    assert_eq!(ended(&family, flow, "a").0, TaskStatus::Completed);
    assert_eq!(family.execution(flow).status(), Some(WorkflowStatus::Completed));
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn all_that_one_run_leads_to_has_that_run_as_its_root() {
    let failing = with(named("middle", &[sub("b", "child")]), json!({"failureWorkflow": "mend"}));
    let definitions = [
        named("mend", &[once("m")]),
        named("child", &[once("x")]),
        failing,
        named(
            "flow",
            &[with(
                starting("a"),
                json!({"inputParameters":
            {"startWorkflow": {"name": "middle"}}}),
            )],
        ),
    ];
    let mut family = Family::of(&definitions);
    let flow = family.start("flow", json!({}));
    assert_eq!((family.execution(flow).root(), family.execution(flow).root_above()), (flow, None));
    family.tick(0);
    let child = *family.members.keys().find(|id| is_run_of(&family, **id, "child")).unwrap();
    // A failure workflow has the same root, and is never refused.
    counted(&mut family, Some(Descendants { open: 9, max: 1 }));
    family.fail(child, "x", "no");
    family.deliver_all();
    assert_eq!(family.members.len(), 4);
    let others = family.members.values().filter(|it| it.execution.id() != flow);
    assert!(others.into_iter().all(|it| it.execution.root_above() == Some(flow)));
    family.members.values().for_each(|member| member.replay());
}

fn is_run_of(family: &Family, run: ExecutionId, name: &str) -> bool {
    family.execution(run).definition().definition().name == name
}
