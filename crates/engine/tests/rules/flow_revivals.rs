//! # Sub-workflows in forks, loops and dynamic forks
//!
//! Rules: docs/reference/rules/operations.md#revival-of-parents.

use semel_engine::{Event, Rerun};
use semel_model::{ExecutionId, TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::family::Family;
use crate::shapes::{dynamic_fork, flow, fork, join, once, repeat, system, terminate, with};

fn sub(reference: &str) -> Value {
    system(reference, "SUB_WORKFLOW", json!({"subWorkflowParam": {"name": "child"}}))
}

fn child() -> Value {
    with(flow(&[once("x")]), json!({"name": "child"}))
}

fn parent(steps: &[Value]) -> (Family, ExecutionId) {
    let mut family = Family::of(&[child(), with(flow(steps), json!({"name": "parent"}))]);
    let id = family.start("parent", json!({}));
    (family, id)
}

/// A is done, B has failed, and C was cancelled because of it.
fn three() -> (Family, ExecutionId) {
    let fork = fork("f", &[&[sub("a")], &[sub("b")], &[sub("c")]]);
    let (mut family, id) = parent(&[fork, join("j", &["a", "b", "c"])]);
    let (a, b) = (family.child(id, "a"), family.child(id, "b"));
    family.complete(a, "x", json!({"of": "a"}));
    family.deliver_all();
    family.fail(b, "x", "no");
    family.deliver_all();
    family.reads(
        id,
        &["FAILED", "f 0 COMPLETED", "a 0 COMPLETED", "b 0 FAILED", "c 0 CANCELED", "j 0 CANCELED"],
    );
    (family, id)
}

fn children(family: &Family, id: ExecutionId) -> [ExecutionId; 3] {
    ["a", "b", "c"].map(|name| family.child(id, name))
}

/// The children that are live end well, and so does the run.
#[track_caller]
fn finish(family: &mut Family, id: ExecutionId) {
    while let Some(live) = family
        .members
        .values()
        .find(|it| it.execution.is_live() && it.execution.id() != id)
        .map(|it| it.execution.id())
    {
        family.complete(live, "x", json!({"again": true}));
        family.deliver_all();
    }
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed, "{:?}", family.run(id).story());
    family.members.values().for_each(|member| member.replay());
}

fn tell(family: &mut Family, id: ExecutionId, event: Event) {
    family.tell(id, event, &[]).expect("it is taken");
    family.deliver_all();
}

fn rerun(family: &mut Family, id: ExecutionId, reference: &str) {
    let from = Some(family.run(id).latest(reference).id);
    tell(family, id, Event::Reran(Rerun { from, ..Rerun::default() }));
}

#[test]
fn retrying_the_parent_gives_those_that_failed_new_tasks_and_new_children() {
    let (mut family, id) = three();
    let [a, b, c] = children(&family, id);
    tell(&mut family, id, Event::Retried);
    assert_eq!(family.child(id, "a"), a);
    assert_ne!(family.child(id, "b"), b);
    assert_ne!(family.child(id, "c"), c);
    assert_eq!(family.run(id).latest("b").attempt, 1);
    finish(&mut family, id);
    let output = family.run(id).output_at("j");
    assert_eq!((&output["a"]["of"], &output["b"]["again"]), (&json!("a"), &json!(true)));
}

#[test]
fn retrying_a_child_restores_its_cancelled_sibling_in_place() {
    let (mut family, id) = three();
    let old = children(&family, id);
    tell(&mut family, old[1], Event::Retried);
    assert_eq!(children(&family, id), old, "nobody gets another child");
    family.reads(
        id,
        &[
            "RUNNING",
            "f 0 COMPLETED",
            "a 0 COMPLETED",
            "b 0 IN_PROGRESS",
            "c 0 IN_PROGRESS",
            "j 0 IN_PROGRESS",
        ],
    );
    family.reads(old[2], &["RUNNING", "x 0 CANCELED", "x 1 SCHEDULED"]);
    finish(&mut family, id);
}

#[test]
fn rerunning_the_parent_from_a_failed_branch_gives_it_and_its_sibling_fresh_children() {
    let (mut family, id) = three();
    let [a, b, c] = children(&family, id);
    let tasks = family.run(id).ids(&["a", "b", "c"]);
    rerun(&mut family, id, "b");
    assert_eq!(family.run(id).ids(&["a", "b", "c"]), tasks, "the same tasks");
    assert_eq!(family.child(id, "a"), a);
    assert_ne!(family.child(id, "b"), b);
    assert_ne!(family.child(id, "c"), c);
    finish(&mut family, id);
}

#[test]
fn rerunning_a_child_from_its_inner_task_restores_the_siblings_in_place() {
    let (mut family, id) = three();
    let old = children(&family, id);
    rerun(&mut family, old[1], "x");
    assert_eq!(children(&family, id), old);
    finish(&mut family, id);
}

#[test]
fn rerunning_a_child_that_was_done_restores_the_others_in_place_and_the_join_tells_of_it_anew() {
    let (mut family, id) = three();
    let old = children(&family, id);
    rerun(&mut family, old[0], "x");
    assert_eq!(children(&family, id), old, "what failed beside it is no consequence of it");
    assert_eq!(family.run(id).latest("a").status, TaskStatus::InProgress);
    finish(&mut family, id);
    assert_eq!(family.run(id).output_at("j")["a"]["again"], true);
}

#[test]
fn a_join_that_was_over_tells_what_the_child_said_the_second_time() {
    let fork = fork("f", &[&[sub("a")]]);
    let (mut family, id) = parent(&[fork, join("j", &["a"]), once("z")]);
    let a = family.child(id, "a");
    family.complete(a, "x", json!({"of": "a"}));
    family.deliver_all();
    family.complete(id, "z", json!({}));
    rerun(&mut family, a, "x");
    family.reads(
        id,
        &["RUNNING", "f 0 COMPLETED", "a 0 IN_PROGRESS", "j 0 IN_PROGRESS", "z 0 COMPLETED"],
    );
    finish(&mut family, id);
    assert_eq!(family.run(id).output_at("j")["a"]["again"], true);
}

#[test]
fn rerunning_from_a_sub_workflow_in_a_fork_leaves_the_other_branches_alone() {
    let fork = fork("f", &[&[sub("a"), once("p")], &[once("b")]]);
    let (mut family, id) = parent(&[fork, join("j", &["p", "b"])]);
    let a = family.child(id, "a");
    family.complete(id, "b", json!({"of": "b"}));
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "p", json!({}));
    rerun(&mut family, id, "a");
    assert_ne!(family.child(id, "a"), a);
    assert!(family.execution(id).latest("p").is_none(), "it came because of it");
    assert_eq!(family.run(id).latest("b").status, TaskStatus::Completed);
    let a = family.child(id, "a");
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "p", json!({}));
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    assert_eq!(family.run(id).output_at("j"), json!({"b": {"of": "b"}}));
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn rerunning_from_a_sub_workflow_removes_dynamic_branches_that_came_because_of_it() {
    let fan = dynamic_fork("fan", json!({"forkTaskName": "d", "forkTaskInputs": [{}, {}]}));
    let (mut family, id) = parent(&[sub("a"), fan, join("j", &[])]);
    let a = family.child(id, "a");
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "_d_0", json!({}));
    family.complete(id, "_d_1", json!({}));
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    rerun(&mut family, id, "a");
    family.reads(id, &["RUNNING", "a 0 IN_PROGRESS"]);
    let a = family.child(id, "a");
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "_d_0", json!({}));
    family.complete(id, "_d_1", json!({}));
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn rerunning_from_a_sub_workflow_in_a_loop_removes_the_later_turns() {
    let (mut family, id) = parent(&[repeat("l", &[once("p"), sub("a"), once("q")])]);
    let turn = |family: &mut Family, turn: u32| {
        let a = family.child(id, &format!("a__{turn}"));
        family.complete(a, "x", json!({}));
        family.deliver_all();
        family.complete(id, &format!("q__{turn}"), json!({}));
    };
    let say = |family: &mut Family, again: bool| {
        let answer = family.run(id).answer("l", semel_engine::Said::Value(semel_engine::Slot(0)));
        family.tell(id, answer, &[crate::shapes::payload(&json!(again))]).expect("an answer");
    };
    for at in 1..=3 {
        family.complete(id, &format!("p__{at}"), json!({}));
        turn(&mut family, at);
        say(&mut family, at < 3);
    }
    rerun(&mut family, id, "a__2");
    family.reads(
        id,
        &[
            "RUNNING",
            "l 0 IN_PROGRESS",
            "p__1 0 COMPLETED",
            "a__1 0 COMPLETED",
            "q__1 0 COMPLETED",
            "p__2 0 COMPLETED",
            "a__2 0 IN_PROGRESS",
        ],
    );
    turn(&mut family, 2);
    say(&mut family, false);
    assert_eq!(family.run(id).output_at("l")["iteration"], 2);
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn rerunning_from_an_earlier_attempt_of_a_sub_workflow_begins_its_newest_again() {
    let twice = with(sub("a"), json!({"retryCount": 1}));
    let (mut family, id) = parent(&[twice]);
    for _ in 0..2 {
        let a = family.child(id, "a");
        family.fail(a, "x", "no");
        family.deliver_all();
        family.tick(60);
    }
    family.reads(id, &["FAILED", "a 0 FAILED", "a 1 FAILED"]);
    let from = Some(family.run(id).attempt("a", 0).id);
    tell(&mut family, id, Event::Reran(Rerun { from, ..Rerun::default() }));
    family.reads(id, &["RUNNING", "a 0 FAILED", "a 1 IN_PROGRESS"]);
    finish(&mut family, id);
}

#[test]
fn what_failed_behind_a_child_that_is_done_again_comes_again_as_a_whole() {
    let fork = fork("f", &[&[once("p")], &[once("q")]]);
    let (mut family, id) = parent(&[sub("a"), fork, join("j", &["p", "q"])]);
    let a = family.child(id, "a");
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "p", json!({}));
    family.fail(id, "q", "no");
    rerun(&mut family, a, "x");
    family.reads(id, &["RUNNING", "a 0 IN_PROGRESS"]);
    family.complete(a, "x", json!({}));
    family.deliver_all();
    family.complete(id, "p", json!({}));
    family.complete(id, "q", json!({}));
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn a_terminate_that_ended_the_parent_comes_again_after_the_rerun_child() {
    let stop = terminate("t", "COMPLETED");
    let fork = fork("f", &[&[sub("a")], &[once("b"), stop]]);
    let (mut family, id) = parent(&[fork, join("j", &["a", "t"])]);
    family.complete(id, "b", json!({}));
    family.deliver_all();
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    rerun(&mut family, id, "a");
    assert_eq!(family.run(id).status(), WorkflowStatus::Running);
    assert!(family.execution(id).latest("t").is_none());
    let a = family.child(id, "a");
    family.complete(a, "x", json!({}));
    family.deliver_all();
    assert_eq!(family.run(id).output(), json!({"k": 1}));
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed);
    family.members.values().for_each(|member| member.replay());
}

#[test]
fn sub_workflows_forked_by_data_end_with_their_parent_and_are_joined() {
    let input = json!({"forkTaskWorkflow": "child", "forkTaskWorkflowVersion": "1",
        "forkTaskInputs": [{"n": 1, "taskToDomain": {"*": "d"}}, {"n": 2}]});
    let (mut family, id) = parent(&[dynamic_fork("fan", input), join("j", &[])]);
    let (one, two) = (family.child(id, "_fan_0"), family.child(id, "_fan_1"));
    let sent = family.execution(one).input().value();
    assert_eq!((&sent["n"], &sent["__index"]), (&json!(1), &json!(0)));
    assert_eq!(family.execution(one).task_to_domain().get("*").map(String::as_str), Some("d"));
    family.complete(two, "x", json!({"v": 2}));
    family.deliver_all();
    tell(&mut family, id, Event::Terminated { reason: None, compensate: false });
    assert_eq!(family.run(one).status(), WorkflowStatus::Terminated);
    tell(&mut family, id, Event::Retried);
    finish(&mut family, id);
    assert_eq!(family.run(id).output_at("j")["_fan_1"]["v"], 2);
}

#[test]
fn an_optional_sub_workflow_in_a_fork_is_absorbed_and_its_child_does_not_revive_the_parent() {
    let fork = fork("f", &[&[with(sub("a"), json!({"optional": true}))], &[once("b")]]);
    let (mut family, id) = parent(&[fork, join("j", &["a", "b"])]);
    let a = family.child(id, "a");
    family.fail(a, "x", "no");
    family.deliver_all();
    assert_eq!(family.run(id).latest("a").status, TaskStatus::CompletedWithErrors);
    family.complete(id, "b", json!({}));
    assert_eq!(family.run(id).latest("j").status, TaskStatus::CompletedWithErrors);
    tell(&mut family, a, Event::Retried);
    assert_eq!(family.run(id).status(), WorkflowStatus::Completed, "it lives on alone");
    family.members.values().for_each(|member| member.replay());
}
