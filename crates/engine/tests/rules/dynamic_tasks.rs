//! # DYNAMIC (docs/reference/rules/task-types.md#dynamic)

use semel_model::TaskResultStatus::Failed;
use semel_model::{TaskStatus, WorkflowStatus};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::shapes::{flow, once, repeat, system};

fn named(name: Value) -> Bench {
    let fields = json!({"dynamicTaskNameParam": "what",
        "inputParameters": {"what": "${workflow.input.name}", "more": 1, "duration": "5s"}});
    let steps = [system("d", "DYNAMIC", fields), once("after")];
    Bench::start(flow(&steps), json!({"name": name}))
}

#[test]
fn it_becomes_a_task_of_the_name_its_input_gives() {
    let mut run = named(json!("resize"));
    run.reads(&["RUNNING", "d 0 SCHEDULED"]);
    assert_eq!(run.row("d").queue.task_type, "resize");
    assert_eq!(run.latest("d").step.task_def_name(), "resize");
    assert_eq!(run.input_at("d"), json!({"what": "resize", "more": 1, "duration": "5s"}));
    run.complete("d", json!({}));
    run.reads(&["RUNNING", "d 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn it_is_retried_as_the_task_it_became() {
    let mut run = named(json!("resize"));
    run.fail("d", Failed, "no");
    run.tick(60);
    assert_eq!(run.row("d").queue.task_type, "resize");
    run.complete("d", json!({}));
    run.reads(&["RUNNING", "d 0 FAILED", "d 1 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn named_after_a_type_of_the_engine_it_is_a_task_of_that_type() {
    let mut run = named(json!("WAIT"));
    run.reads(&["RUNNING", "d 0 IN_PROGRESS"]);
    run.tick(5);
    run.reads(&["RUNNING", "d 0 COMPLETED", "after 0 SCHEDULED"]);
}

#[test]
fn it_waits_for_the_start_delay_whatever_it_becomes() {
    for (name, begun) in [("resize", "SCHEDULED"), ("NOOP", "COMPLETED")] {
        let fields = json!({"dynamicTaskNameParam": "what", "startDelay": 10,
            "inputParameters": {"what": name}});
        let mut run = Bench::start(flow(&[system("d", "DYNAMIC", fields)]), json!({}));
        run.reads(&["RUNNING", "d 0 SCHEDULED"]);
        assert!(run.latest("d").ready_at > run.now);
        run.tick(10);
        assert_eq!(run.latest("d").status.as_str(), begun);
        run.replay();
    }
}

#[test]
fn without_a_name_the_run_fails_and_says_why() {
    let none = "Cannot map a dynamic task based on the parameter and input. Parameter= what, \
                input= {";
    let nul = "what gives the name of no task: it must not contain the NUL character";
    for (name, why) in [(json!(null), none), (json!(""), none), (json!("a\0b"), nul)] {
        let run = named(name.clone());
        assert_eq!(run.status(), WorkflowStatus::Failed, "{name}");
        run.reads(&["FAILED", "d 0 FAILED_WITH_TERMINAL_ERROR"]);
        assert!(run.reason().starts_with(why), "{}", run.reason());
    }
}

#[test]
fn it_cannot_become_a_task_that_needs_steps() {
    for kind in ["SWITCH", "FORK_JOIN", "JOIN", "DO_WHILE", "DYNAMIC"] {
        assert_eq!(named(json!(kind)).status(), WorkflowStatus::Failed, "{kind}");
    }
}

#[test]
fn in_a_loop_it_may_become_another_task_in_each_turn() {
    let fields = json!({"dynamicTaskNameParam": "what",
        "inputParameters": {"what": "t${l.output.iteration}"}});
    let steps = [repeat("l", &[system("d", "DYNAMIC", fields)])];
    let mut run = Bench::start(flow(&steps), json!({}));
    assert_eq!(run.row("d__1").queue.task_type, "t1");
    run.complete("d__1", json!({}));
    run.say("l", json!(true));
    assert_eq!(run.row("d__2").queue.task_type, "t2");
    run.complete("d__2", json!({}));
    run.say("l", json!(false));
    assert_eq!(run.status(), WorkflowStatus::Completed);
    run.replay();
}

#[test]
fn a_person_who_retries_it_gets_the_task_it_was() {
    let mut run = named(json!("resize"));
    run.terminate("enough").unwrap();
    run.retry().unwrap();
    run.reads(&["RUNNING", "d 0 CANCELED", "d 1 SCHEDULED"]);
    assert_eq!(run.row("d").queue.task_type, "resize");
}

#[test]
fn a_rerun_from_it_offers_the_same_task_again() {
    let mut run = named(json!("resize"));
    let id = run.latest("d").id;
    run.complete("d", json!({}));
    run.terminate("enough").unwrap();
    run.rerun_from("d");
    run.reads(&["RUNNING", "d 0 SCHEDULED"]);
    assert_eq!((run.latest("d").id, run.row("d").queue.task_type.as_str()), (id, "resize"));
    assert_eq!(run.latest("d").status, TaskStatus::Scheduled);
}
