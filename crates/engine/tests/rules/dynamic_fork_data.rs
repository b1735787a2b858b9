//! # FORK_JOIN_DYNAMIC: what Conductor takes of the data, and what it says of the rest

use semel_engine::{Event, SizeLimits};
use semel_model::TaskStatus;
use serde_json::json;

use crate::bench::Bench;
use crate::dynamic_forks::{failed, fan_with, listed};
use crate::shapes::{dynamic_fork, flow, fork, join, once, payload, repeat, step, with};

#[test]
fn a_dynamic_fork_that_ends_a_branch_of_another_needs_a_join_of_its_own() {
    let inner = dynamic_fork("fan", json!({"forkTaskName": "x", "forkTaskInputs": [{}]}));
    let steps = [fork("f", &[&[once("a"), inner]]), join("j", &["fan"])];
    let mut run = Bench::start(flow(&steps), json!({}));
    run.complete("a", json!({}));
    assert!(failed(&run).starts_with("Dynamic join definition is not followed by a join task."));
}

#[test]
fn a_branch_of_a_system_type_needs_no_name() {
    let branches = json!([{"taskReferenceName": "n", "type": "NOOP"}]);
    let run = listed(branches, json!({}));
    assert_eq!(run.latest("n").status, TaskStatus::Completed);
    assert_eq!(run.latest("n").step.task().name, "NOOP");
    run.replay();
    let nameless = listed(json!([{"taskReferenceName": "s"}]), json!({}));
    assert!(failed(&nameless).starts_with("Invalid task. Task null does not have a definition"));
}

#[test]
fn what_names_no_tasks_is_told_in_conductors_words() {
    let param = json!({"dynamicForkJoinTasksParam": "tasks"});
    for given in [json!(null), json!([1]), json!({"dynamicTasks": [{"taskName": "t"}]})] {
        let run = fan_with(json!({"tasks": given}), param.clone());
        let reason = failed(&run);
        let begins = "Dynamic tasks could not be created. The value of tasks from task's input ";
        let ends = " has no dynamic tasks to be scheduled";
        assert!(reason.starts_with(begins) && reason.ends_with(ends), "{reason}");
    }
    let run = fan_with(json!({"tasks": {}}), param);
    assert_eq!(run.latest("j").status, TaskStatus::Completed, "an empty list is fine");
    let long = listed(json!(["x".repeat(10_000)]), json!({}));
    assert!(failed(&long).len() < 1_000, "a reason quotes only so far");
}

#[test]
fn a_fork_of_too_many_branches_fails_and_names_the_setting() {
    for (max, fits) in [(2, false), (3, true)] {
        let input = json!({"forkTaskName": "x", "forkTaskInputs": [1, 2, 3]});
        let steps = [dynamic_fork("fan", input), join("j", &["ignored"])];
        let mut run = Bench::unborn(flow(&steps));
        let sizes = SizeLimits { fork_branches_max: Some(max), ..SizeLimits::default() };
        std::sync::Arc::make_mut(&mut run.shelf).sizes = sizes;
        run.happen(Event::Started(run.plain_start()), &[payload(&json!({}))]).expect("it begins");
        if fits {
            assert_eq!(run.story()[0], "RUNNING");
            continue;
        }
        let why = "the dynamic fork has 3 branches; fork_branches_max of the server allows 2";
        assert!(failed(&run).starts_with(why), "{}", run.reason());
    }
}

#[test]
fn a_step_inside_a_branch_reads_its_run_and_its_own_fork() {
    let asks = json!({"inputParameters": {"own": "${inner.output.iteration}", "run": "${workflow.input.n}",
        "env": "${workflow.env.REGION}", "old": "${NETFLIX_ENV}", "other": "${a.output.token}",
        "armed": "${workflow.input.armed}", "secret": "$${workflow.secrets.BANK}",
        "far": "${workflow.input.l.concat($.a.output.token)}"}});
    let branch = repeat("inner", &[with(once("x"), asks)]);
    let names =
        json!({"dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs"});
    let given = json!({"tasks": "${workflow.input.tasks}", "inputs": {}});
    let fork = with(dynamic_fork("fan", given), names);
    let steps = [step("a", json!({})), fork, join("j", &["ignored"])];
    let mut run = Bench::unborn(flow(&steps));
    let values = [("REGION", "eu"), ("NETFLIX_ENV", "test")];
    run.environment =
        values.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect();
    let input = json!({"n": 7, "l": [], "tasks": [branch], "armed": "${workflow.secrets.BANK}"});
    run.happen(Event::Started(run.plain_start()), &[payload(&input)]).expect("it begins");
    run.complete("a", json!({"token": "of another step"}));
    let expected = json!({"own": 1, "run": 7, "env": null, "old": null, "other": null,
        "armed": "$${workflow.secrets.BANK}", "secret": "$${workflow.secrets.BANK}", "far": null});
    assert_eq!(run.input_at("x__1"), expected);
    run.replay();
}
