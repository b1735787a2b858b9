//! # Descendants: a workflow that starts itself twice comes to its limit, and says so

use semel_tests::process::{DEADLINE, until};
use serde_json::{Value, json};

use crate::house::House;
use crate::raw::Request;

const MAX: u64 = 20;

fn step(reference: &str, kind: &str, more: Value) -> Value {
    let mut step = json!({"name": reference, "taskReferenceName": reference, "type": kind});
    let (Value::Object(fields), Value::Object(more)) = (&mut step, more) else { panic!("objects") };
    fields.extend(more);
    step
}

fn define(house: &House, name: &str, tasks: &[Value]) {
    let workflow = json!({"name": name, "version": 1, "tasks": tasks});
    let answer = house.send(&Request::post("/api/metadata/workflow?overwrite=true", &workflow));
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn read(house: &House, id: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{id}"))).json()
}

fn number(house: &House, name: &str) -> u64 {
    let text = house.send(&Request::get("/metrics")).text();
    let lines = text.lines().filter(|line| line.starts_with(name));
    lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum::<f64>() as u64
}

#[test]
fn sub_workflows_that_double_end_with_the_reason_and_nothing_of_them_is_left() {
    let max = MAX.to_string();
    let house = House::own(&["--open-descendants-max", &max]);
    let sub =
        |name: &str| step(name, "SUB_WORKFLOW", json!({"subWorkflowParam": {"name": "bomb"}}));
    define(
        &house,
        "bomb",
        &[
            step("f", "FORK_JOIN", json!({"forkTasks": [[sub("a")], [sub("b")]]})),
            step("j", "JOIN", json!({"joinOn": ["a", "b"]})),
        ],
    );
    let root = house.start("bomb");
    let is_over = || (read(&house, &root)["status"] != "RUNNING").then_some(());
    until("the bomb is over", DEADLINE, is_over).expect("it ends");
    let seen = read(&house, &root);
    assert_eq!(seen["status"], "FAILED", "{seen}");
    let why = seen["reasonForIncompletion"].to_string();
    let said = format!("descendants of run {root} are open, and open_descendants_max is {max}");
    assert!(why.contains(&said), "{why}");
    let are_over = || (number(&house, "workflow_running") == 0).then_some(());
    until("its descendants are over", DEADLINE, are_over).expect("they end");
    assert!(number(&house, "semel_descendants_refused_total") > 0);
    assert!(house.log().contains("open_descendants_max=20"), "{}", house.log());
}

#[test]
fn started_runs_count_too_and_never_more_are_open_than_may_be() {
    let max = MAX.to_string();
    let house = House::own(&["--open-descendants-max", &max]);
    let start = |name: &str| {
        let request = json!({"inputParameters": {"startWorkflow": {"name": "rabbits"}}});
        step(name, "START_WORKFLOW", request)
    };
    define(&house, "rabbits", &[start("a"), start("b"), step("hold", "SIMPLE", json!({}))]);
    house.start("rabbits");
    let refused = || (number(&house, "semel_descendants_refused_total") > 0).then_some(());
    until("somebody is refused", DEADLINE, refused).expect("there is a limit");
    let is_quiet = || {
        let begun = number(&house, "workflow_start_success_total");
        let open = number(&house, "workflow_running");
        assert!(open <= MAX + 1, "{open} are open");
        let failed = number(&house, "workflow_failure_total");
        (begun == open + failed && number(&house, "semel_inbox_items") == 0).then_some(())
    };
    until("all have tried", DEADLINE, is_quiet).expect("it ends");
}
