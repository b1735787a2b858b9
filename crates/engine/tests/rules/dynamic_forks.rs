//! # FORK_JOIN_DYNAMIC (docs/reference/rules/task-types.md#fork_join_dynamic)

use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{dynamic_fork, flow, join, noop, once, repeat, step, switch, system, with};

/// A fork of that input, its JOIN, and a step behind.
fn fan(input: Value) -> Bench {
    fan_with(input, json!({}))
}

pub(crate) fn fan_with(input: Value, fields: Value) -> Bench {
    let fork = with(dynamic_fork("fan", input), fields);
    Bench::start(flow(&[fork, join("j", &["ignored"]), once("c")]), json!({"n": 7}))
}

/// Style 3: steps and their inputs.
pub(crate) fn listed(steps: Value, inputs: Value) -> Bench {
    let names = json!({"dynamicForkTasksParam": "tasks",
        "dynamicForkTasksInputParamName": "inputs"});
    let given = json!({"tasks": "${workflow.input.tasks}", "inputs": "${workflow.input.inputs}"});
    let fork = with(dynamic_fork("fan", given), names);
    let input = json!({"n": 7, "tasks": steps, "inputs": inputs});
    Bench::start(flow(&[fork, join("j", &["ignored"]), once("c")]), input)
}

pub(crate) fn failed(run: &Bench) -> &str {
    assert_eq!(run.status(), WorkflowStatus::Failed, "{:?}", run.story());
    run.replay();
    run.reason()
}

#[test]
fn one_task_for_each_input_named_and_numbered() {
    let mut run =
        fan(json!({"forkTaskName": "resize", "forkTaskInputs": [{"w": 100}, {"w": 200}, "raw"]}));
    run.reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "_resize_0 0 SCHEDULED",
        "_resize_1 0 SCHEDULED",
        "_resize_2 0 SCHEDULED",
        "j 0 IN_PROGRESS",
    ]);
    assert_eq!(run.input_at("_resize_0"), json!({"w": 100, "__index": 0}));
    assert_eq!(run.input_at("_resize_1"), json!({"w": 200, "__index": 1}));
    assert_eq!(run.input_at("_resize_2"), json!({"input": "raw", "__index": 2}));
    assert_eq!(run.row("_resize_1").queue.task_type, "resize");
    for at in 0..3 {
        run.complete(&format!("_resize_{at}"), json!({"at": at}));
    }
    let output = json!({"_resize_0": {"at": 0}, "_resize_1": {"at": 1}, "_resize_2": {"at": 2}});
    assert_eq!(run.output_at("j"), output);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn the_names_its_join_waits_for_are_those_of_its_branches_and_not_its_own() {
    let run = fan(json!({"forkTaskName": "x", "forkTaskInputs": [{}, {}]}));
    assert_eq!(run.input_at("j")["joinOn"], json!(["_x_0", "_x_1"]));
}

#[test]
fn its_input_tells_of_its_branches() {
    let run = fan(
        json!({"forkTaskName": "x", "forkTaskInputs": [{"v": 1}], "more": "${workflow.input.n}"}),
    );
    let input = run.input_at("fan");
    assert_eq!(input["forkedTasks"], json!(["_x_0"]));
    assert_eq!(input["forkedTaskDefs"][0]["taskReferenceName"], "_x_0");
    assert_eq!((&input["more"], &input["forkTaskInputs"]), (&json!(7), &json!([{"v": 1}])));
    assert_eq!(run.output_at("fan"), json!({}));
    assert_eq!(run.latest("fan").step.task_type(), "FORK");
}

#[test]
fn without_a_name_the_fork_or_the_system_type_lends_its_own() {
    let run = fan(json!({"forkTaskInputs": [{}]}));
    assert_eq!(run.row("_fan_0").queue.task_type, "fan");
    let run = fan(json!({"forkTaskType": "NOOP", "forkTaskInputs": [{}]}));
    assert_eq!(run.latest("_NOOP_0").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn an_empty_list_is_nothing_to_do() {
    let run = fan(json!({"forkTaskName": "x", "forkTaskInputs": []}));
    run.reads(&["RUNNING", "fan 0 COMPLETED", "j 0 COMPLETED", "c 0 SCHEDULED"]);
    assert_eq!(run.output_at("j"), json!({}));
    listed(json!([]), json!({})).reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "j 0 COMPLETED",
        "c 0 SCHEDULED",
    ]);
}

#[test]
fn a_second_fork_tells_its_branches_apart_by_its_own_name() {
    let input = json!({"forkTaskName": "x", "forkTaskInputs": [{}]});
    let steps = [
        dynamic_fork("one", input.clone()),
        join("j1", &[]),
        dynamic_fork("two", input),
        join("j2", &[]),
    ];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("_x_0", json!({}));
    run.complete("_two_x_0", json!({"v": 1}));
    assert_eq!(run.output_at("j2"), json!({"_two_x_0": {"v": 1}}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn an_element_may_speak_as_a_step_of_its_own() {
    let policy = json!({"name": "x", "retryCount": 0});
    let elements = json!([{"optional": true, "taskDefinition": policy, "retryCount": 0}, {"startDelay": 5, "retryCount": 0}]);
    let mut run = fan(json!({"forkTaskName": "x", "forkTaskInputs": elements}));
    assert_eq!(run.seconds(run.row("_x_1").ready_at), 5);
    run.fail("_x_0", Failed, "no");
    assert_eq!(run.latest("_x_0").status, TaskStatus::CompletedWithErrors);
    run.tick(5);
    run.complete("_x_1", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::CompletedWithErrors);
    run.replay();
}

#[test]
fn an_optional_fork_makes_its_branches_optional() {
    let input = json!({"forkTaskName": "x", "forkTaskInputs": [{"retryCount": 0}]});
    let mut run = fan_with(input, json!({"optional": true}));
    run.fail("_x_0", Failed, "no");
    run.reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "_x_0 0 COMPLETED_WITH_ERRORS",
        "j 0 COMPLETED_WITH_ERRORS",
        "c 0 SCHEDULED",
    ]);
}

#[test]
fn a_branch_without_a_registered_definition_is_retried_like_any_simple_task() {
    let mut run = fan(json!({"forkTaskName": "x", "forkTaskInputs": [{}]}));
    run.fail("_x_0", Failed, "no");
    assert_eq!(run.latest("_x_0").attempt, 1, "three times, after a minute each");
    assert_eq!(run.seconds(run.row("_x_0").ready_at), 60);
    assert_eq!(run.input_at("_x_0"), json!({"__index": 0}));
    run.tick(60);
    run.complete("_x_0", json!({}));
    assert_eq!(run.latest("j").status, TaskStatus::Completed);
    run.replay();
}

#[test]
fn full_steps_and_a_map_of_their_inputs() {
    let typed =
        json!({"name": "t1", "taskReferenceName": "one", "inputParameters": {"a": 1, "b": 1}});
    let second = json!({"name": "t2", "taskReferenceName": "two", "type": "SIMPLE"});
    let run = listed(json!([typed, second]), json!({"one": {"b": 2}}));
    assert_eq!(run.input_at("one"), json!({"a": 1, "b": 2}));
    assert_eq!(run.input_at("two"), json!({}), "a name that is not in the map");
    assert_eq!(run.row("two").queue.task_type, "t2");
    assert_eq!(run.input_at("j")["joinOn"], json!(["one", "two"]));
    run.replay();
}

#[test]
fn what_is_no_list_of_steps_or_no_map_of_inputs_fails_the_run() {
    for tasks in [json!(null), json!("x"), json!([1]), json!({"a": 1})] {
        let run = listed(tasks.clone(), json!({}));
        let why = failed(&run).to_owned();
        assert!(
            why.starts_with(
                "Input 'tasks' is invalid. Cannot deserialize a list of Workflow Tasks from '"
            ),
            "{why}"
        );
    }
    let run = listed(json!([{"name": "t", "taskReferenceName": "one"}]), json!([1]));
    assert_eq!(
        failed(&run),
        "Input to the dynamically forked tasks is not a map -> expecting a map of K,V  but found [1]"
    );
}

#[test]
fn steps_without_a_name_fail_the_run() {
    let nameless = listed(json!([{"name": "t"}]), json!({}));
    assert!(
        failed(&nameless).starts_with("Input 'tasks' is invalid. Cannot deserialize a list of")
    );
    nameless.reads(&["FAILED"]);
}

#[test]
fn the_oldest_style_names_tasks_and_their_inputs() {
    let tasks = json!({"dynamicTasks": [
        {"taskName": "t1", "referenceName": "one", "input": {"v": 1}},
        {"taskName": "t2", "referenceName": "two", "type": "NOOP"}]});
    let param = json!({"dynamicForkJoinTasksParam": "tasks"});
    let run = fan_with(json!({"tasks": tasks}), param.clone());
    assert_eq!(run.input_at("one"), json!({"v": 1}));
    assert_eq!(run.row("one").queue.task_type, "t1", "SIMPLE unless it says otherwise");
    assert_eq!(run.latest("two").status, TaskStatus::Completed);
    run.replay();
    failed(&fan_with(json!({"tasks": [1]}), param));
}

#[test]
fn a_list_of_inputs_wins_over_the_other_styles() {
    let names = json!({"dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs",
        "dynamicForkJoinTasksParam": "old"});
    let input = json!({"forkTaskName": "x", "forkTaskInputs": [{}], "tasks": [], "inputs": {}});
    let run = fan_with(input, names);
    assert_eq!(run.input_at("j")["joinOn"], json!(["_x_0"]));
}

#[test]
fn data_are_not_looked_at_for_expressions() {
    let elements = json!([{"text": "costs ${workflow.input.n}"}]);
    let fork = dynamic_fork(
        "fan",
        json!({"forkTaskName": "x", "forkTaskInputs": "${workflow.input.list}"}),
    );
    let run = Bench::start(flow(&[fork, join("j", &[])]), json!({"list": elements, "n": 7}));
    assert_eq!(run.input_at("_x_0"), json!({"text": "costs ${workflow.input.n}", "__index": 0}));
}

#[test]
fn a_name_that_a_task_has_already_fails_the_run() {
    let duplicate = "attempted to create a duplicate task reference name: ";
    let twice = json!([{"name": "t", "taskReferenceName": "one"}, {"name": "t", "taskReferenceName": "one"}]);
    assert!(failed(&listed(twice, json!({}))).ends_with(&format!("{duplicate}one")));
    let known = json!([{"name": "t", "taskReferenceName": "c"}]);
    assert!(failed(&listed(known, json!({}))).ends_with(&format!("{duplicate}c")));
}

#[test]
fn a_fork_whose_branches_cannot_be_made_ends_the_run_even_if_it_is_optional() {
    let run = fan_with(json!({}), json!({"optional": true}));
    assert!(failed(&run).contains("forkTaskInputs"));
    run.reads(&["FAILED"]);
}

#[test]
fn a_dynamic_fork_that_no_join_follows_fails_the_run() {
    let fork = dynamic_fork("fan", json!({"forkTaskName": "x", "forkTaskInputs": [{}]}));
    let run = Bench::start(flow(&[fork, once("c")]), json!({}));
    assert!(failed(&run).contains("is not followed by a join task"));
    run.reads(&["FAILED"]);
}

#[test]
fn a_failed_branch_ends_the_run_and_a_permissive_one_fails_it_after_all() {
    let elements = json!([{"retryCount": 0}, {}]);
    let mut run = fan(json!({"forkTaskName": "x", "forkTaskInputs": elements}));
    run.fail("_x_0", Failed, "no");
    run.reads(&["FAILED", "fan 0 COMPLETED", "_x_0 0 FAILED", "_x_1 0 CANCELED", "j 0 CANCELED"]);
    let elements = json!([{"retryCount": 0, "permissive": true}, {}]);
    let mut run = fan(json!({"forkTaskName": "x", "forkTaskInputs": elements}));
    run.fail("_x_0", Failed, "no");
    run.complete("_x_1", json!({}));
    run.reads(&["FAILED", "fan 0 COMPLETED", "_x_0 0 FAILED", "_x_1 0 COMPLETED", "j 0 FAILED"]);
}

#[test]
fn a_branch_may_be_a_choice_and_its_join_does_not_wait_for_the_case() {
    let choice = with(
        switch("s", json!({"x": [once("a"), once("z")]}), &[]),
        json!({"inputParameters": {"case": "x"}}),
    );
    let mut run = listed(json!([choice, noop("n")]), json!({}));
    run.reads(&[
        "RUNNING",
        "fan 0 COMPLETED",
        "s 0 COMPLETED",
        "a 0 SCHEDULED",
        "n 0 COMPLETED",
        "j 0 COMPLETED",
        "c 0 SCHEDULED",
    ]);
    run.complete("a", json!({}));
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Running);
    run.complete("z", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_branch_may_be_a_loop_with_expressions_in_its_body() {
    let reads = json!({"inputParameters": {"n": "${workflow.input.n}"}});
    let body = [with(once("x"), reads)];
    let mut run = listed(json!([repeat("l", &body), repeat("m", &[once("y")])]), json!({}));
    assert_eq!(run.input_at("x__1"), json!({"n": 7}));
    run.complete("x__1", json!({"v": 1}));
    run.say("l", json!(true));
    run.complete("x__2", json!({"v": 2}));
    run.say("l", json!(false));
    run.complete("y__1", json!({}));
    run.say("m", json!(false));
    let output = json!({"l": {"iteration": 2, "1": {"x": {"v": 1}}, "2": {"x": {"v": 2}}},
        "m": {"iteration": 1, "1": {"y": {}}}});
    assert_eq!(run.output_at("j"), output);
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_dynamic_fork_inside_the_loop_of_a_branch_is_a_fork_like_any_other() {
    let inner = dynamic_fork("in", json!({"forkTaskName": "x", "forkTaskInputs": [{}, {}]}));
    let body = [inner, join("k", &[])];
    let mut run = listed(json!([repeat("l", &body)]), json!({}));
    for turn in 1..3 {
        for at in 0..2 {
            let known = run.rows.values().next().expect("a branch is offered").reference.clone();
            assert!(known.ends_with(&format!("_x_{at}__{turn}")), "{known}");
            run.complete(&known, json!({"t": turn}));
        }
        run.say("l", json!(turn < 2));
    }
    run.complete("c", json!({}));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_fork_or_a_join_cannot_be_a_branch() {
    for kind in ["FORK_JOIN", "FORK_JOIN_DYNAMIC", "JOIN"] {
        let run = listed(json!([system("b", kind, json!({}))]), json!({}));
        assert!(failed(&run).contains("cannot be a branch"));
    }
}

#[test]
fn a_dynamic_task_inside_a_case_of_a_branch_gets_its_input_resolved() {
    let inner = system(
        "d",
        "DYNAMIC",
        json!({"dynamicTaskNameParam": "name",
        "inputParameters": {"name": "t_${workflow.input.n}", "n": "${workflow.input.n}"}}),
    );
    let choice =
        with(switch("s", json!({"x": [inner]}), &[]), json!({"inputParameters": {"case": "x"}}));
    let run = listed(json!([choice]), json!({}));
    assert_eq!(run.input_at("d"), json!({"name": "t_7", "n": 7}));
    assert_eq!(run.row("d").queue.task_type, "t_7");
    run.replay();
}

#[test]
fn a_branch_keeps_the_timeouts_of_its_definition() {
    let policy = json!({"retryCount": 0, "responseTimeoutSeconds": 10});
    let mut run = listed(json!([step("a", policy), step("b", json!({}))]), json!({}));
    run.claim("a", "silent");
    run.tick(10);
    assert_eq!(run.latest("a").status, TaskStatus::TimedOut);
    assert_eq!(run.status(), WorkflowStatus::TimedOut);
    run.replay();
}
