//! # `semel lint`: with and without a server

use serde_json::{Value, json};

use crate::house::{House, Said, house, semel_in};

/// A charge that the far side remembers for an hour.
fn checkout(name: &str) -> Value {
    json!({"name": name, "tasks": [{"name": name, "taskReferenceName": "charge",
        "effect": {"downstreamRetentionSeconds": 3600}}]})
}

/// Attempts that take longer, and such that do not.
fn task(name: &str, retries: u32) -> Value {
    json!({"name": name, "retryCount": retries, "retryDelaySeconds": 0, "timeoutSeconds": 1800,
        "responseTimeoutSeconds": 60})
}

fn alone(house: &House, arguments: &[&str]) -> Said {
    // No server of the environment is asked.
    semel_in(
        std::path::Path::new(&house.path("")),
        arguments,
        &[("SEMEL_SERVER", "http://127.0.0.1:9")],
    )
}

#[test]
fn a_file_is_judged_without_a_server() {
    let house = house();
    let workflow = house.file("l_alone.json", &checkout("l_alone"));
    let long = house.file("l_long.json", &task("l_alone", 5));
    let short = house.file("l_short.json", &json!([task("l_alone", 1)]));

    let said = alone(&house, &["lint", &workflow, "--task-defs", &short]).ok();
    assert_eq!(said.stdout, "");

    let said = alone(&house, &["lint", &workflow, "--task-defs", &long]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let row = said.row("E-RET-2");
    assert_eq!(row[..3], ["fail", "E-RET-2", "l_alone/1 charge"]);
    assert!(row[3].contains("10800 s (3 h)"), "{row:?}");
    assert_eq!(said.stderr, "semel: there are errors\n");

    let said = alone(&house, &["lint", &workflow, "--task-defs", &long, "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.json()[0]["findings"][0]["code"], "E-RET-2");
}

#[test]
fn task_definitions_may_come_with_the_workflows() {
    let house = house();
    for (retries, code) in [(1, 0), (5, 1)] {
        let bundle =
            json!({"workflowDefs": checkout("l_with"), "taskDefs": [task("l_with", retries)]});
        let said = alone(&house, &["lint", &house.file("l_with.json", &bundle)]);
        assert_eq!(said.code, Some(code), "{said:?}");
    }
}

#[test]
fn what_nobody_reads_of_a_task_definition_is_named() {
    let house = house();
    let bundle = json!({"workflowDefs": [], "taskDefs": [{"name": "l_odd", "retrycount": 2}]});
    let said = alone(&house, &["lint", &house.file("l_odd.json", &bundle)]).ok();
    assert_eq!(said.row("W-RUN-3")[..3], ["warn", "W-RUN-3", "l_odd/1 retrycount"]);
    let task = json!({"name": "l_idle", "executionNameSpace": "n", "retryCount": -1});
    let bundle = json!({"workflowDefs": [], "taskDefs": [task]});
    let said = alone(&house, &["lint", &house.file("l_idle.json", &bundle)]);
    assert_eq!(said.code, Some(1), "it would be refused: {said:?}");
    assert_eq!(said.row("E-REG-1")[2], "l_idle/1 retryCount");
    assert_eq!(said.row("W-RUN-2")[2], "l_idle/1 executionNameSpace");
}

#[test]
fn what_registration_will_say_is_told_before() {
    let house = house();
    let fork = json!({"name": "f", "taskReferenceName": "f", "type": "FORK_JOIN",
        "forkTasks": [[{"name": "a", "taskReferenceName": "a"}]]});
    let file = house.file("l_fork.json", &json!({"name": "l_fork", "tasks": [fork]}));
    let said = alone(&house, &["lint", &file]).ok();
    assert_eq!(said.row("W-RUN-1")[..3], ["warn", "W-RUN-1", "l_fork/1 tasks[0]"]);
    let step = json!({"name": "s", "taskReferenceName": "s", "type": "NOOP", "startDelay": -1});
    let broken = json!({"name": "l_broken", "tasks": [step], "inputSchema": {"data": {"type": 5}}});
    let said = alone(&house, &["lint", &house.file("l_broken.json", &broken)]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for place in ["l_broken/1 inputSchema.data.type", "l_broken/1 tasks[0].startDelay"] {
        assert!(said.stdout.contains(place), "{place}: {said:?}");
    }
}

#[test]
fn warnings_count_when_they_shall() {
    let house = house();
    let step = json!({"name": "own", "taskReferenceName": "own", "type": "MY_TYPE"});
    let list = json!([{"name": "l_warned", "tasks": [step]}]);
    let file = house.file("l_warned.json", &list);
    let said = alone(&house, &["lint", &file]).ok();
    assert_eq!(said.row("W-TIMEOUT-1")[0], "warn");
    let said = alone(&house, &["lint", &file, "--strict"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(1), "semel: there are warnings\n"));
}

#[test]
fn how_long_runs_are_kept_counts() {
    let house = house();
    let workflow = json!({"name": "l_kept", "tasks": [{"name": "l_kept", "taskReferenceName": "charge",
        "effect": {"retentionSeconds": 1_000_000}}]});
    let bundle = json!({"workflowDefs": [workflow], "taskDefs": [task("l_kept", 1)]});
    let file = house.file("l_kept.json", &bundle);
    assert_eq!(alone(&house, &["lint", &file]).code, Some(1));
    assert_eq!(alone(&house, &["lint", &file, "--retention-days", "7"]).ok().stdout, "");
    let said = alone(&house, &["lint", &file, "--retention-days", "0"]).ok();
    assert_eq!(said.row("W-RET-3")[0], "warn");
}

#[test]
fn a_server_judges_by_what_is_registered_there() {
    let house = house();
    let file = house.file("l_asked.json", &checkout("l_asked"));
    let tasks = house.file("l_asked.task.json", &task("l_asked", 5));
    house.semel(&["task", "create", &tasks]).ok();
    let address = house.address();
    let said = alone(&house, &["lint", &file, "--server", &address]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert_eq!(said.row("E-RET-2")[2], "l_asked/1 charge");
}

#[test]
fn a_file_that_holds_no_definition_is_asked_wrongly() {
    let house = house();
    for (name, content) in [("l_text.json", json!("x")), ("l_number.json", json!([1]))] {
        let said = alone(&house, &["lint", &house.file(name, &content)]);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.stderr.contains(name), "{said:?}");
    }
    assert_eq!(alone(&house, &["lint", "gone.json"]).code, Some(2));
}

#[test]
fn members_that_nobody_knows_are_found_without_a_server() {
    let house = house();
    let step = json!({"name": "a", "taskReferenceName": "a", "type": "NOOP", "retrycount": 3});
    let workflow = json!({"name": "l_members", "version": 1, "tasks": [step]});
    let said = alone(&house, &["lint", &house.file("l_members.json", &workflow)]).ok();
    let place = "l_members/1 tasks[0].retrycount";
    assert_eq!(said.row("W-RUN-3")[..3], ["warn", "W-RUN-3", place]);
}

#[test]
fn a_server_judges_a_bundle_under_its_own_task_definitions() {
    let house = house();
    let address = house.address();
    for (retries, code) in [(1, 0), (5, 1)] {
        let bundle =
            json!({"workflowDefs": [checkout("l_both")], "taskDefs": [task("l_both", retries)]});
        let file = house.file("l_both.json", &bundle);
        let said = alone(&house, &["lint", &file, "--server", &address]);
        assert_eq!(said.code, Some(code), "{said:?}");
    }
}

#[test]
fn a_schema_of_a_task_definition_that_nobody_can_enforce_is_found_without_a_server() {
    let house = house();
    let schema = json!({"name": "in", "version": 1, "type": "JSON", "data": {"type": 5}});
    let mut task = task("l_schema", 1);
    task["inputSchema"] = schema;
    task["enforceSchema"] = json!(true);
    let bundle = json!({"workflowDefs": [checkout("l_schema")], "taskDefs": [task]});
    let said = alone(&house, &["lint", &house.file("l_schema.json", &bundle)]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.row("E-REG-1")[2].starts_with("l_schema/1 inputSchema"), "{said:?}");
}
