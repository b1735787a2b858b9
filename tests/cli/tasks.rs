//! # `semel task`

use serde_json::json;

use crate::house::house;

#[test]
fn definitions_are_created_listed_printed_updated_and_deleted() {
    let house = house();
    let one = json!({"name": "t_defs", "retryCount": 4, "concurrentExecLimit": 2});
    let file = house.file("t_defs.json", &one);
    assert_eq!(house.semel(&["task", "update", &file]).code, Some(4), "it must exist");
    house.semel(&["task", "create", &file]).ok();
    let listed = house.semel(&["task", "list"]).ok();
    let row = listed.row("t_defs");
    assert_eq!((row[1], row[3]), ("4", "2"));
    let changed = house.file("t_changed.json", &json!({"name": "t_defs", "retryCount": 5}));
    house.semel(&["task", "update", &changed]).ok();
    let printed = house.semel(&["task", "get", "t_defs"]).ok().json();
    assert_eq!(printed["retryCount"], 5);
    house.semel(&["task", "delete", "t_defs"]).ok();
    assert_eq!(house.semel(&["task", "get", "t_defs"]).code, Some(4));
}

#[test]
fn what_the_server_warns_of_is_said_whatever_was_asked() {
    let house = house();
    let task = json!({"name": "t_warned", "isolationGroupId": "g"});
    let file = house.file("t_warned.json", &task);
    for verb in ["create", "update"] {
        let said = house.semel(&["task", verb, &file]).ok();
        assert!(said.stderr.contains("warning: isolationGroupId: is kept"), "{said:?}");
    }
    let definition = json!({"name": "t_gate", "concurrency": {"key": "${workflow.input.account}"},
        "tasks": [{"name": "t_gate", "taskReferenceName": "a"}]});
    house.semel(&["workflow", "create", &house.file("t_gate.json", &definition)]).ok();
    let started = house.semel(&["workflow", "start", "t_gate"]).ok();
    let told = started.stderr.contains("warning: ") && started.stderr.contains("not counted");
    assert!(told, "{started:?}");
    let sink = json!({"name": "t_sink", "tasks": [{"name": "e", "taskReferenceName": "e",
        "type": "EVENT", "sink": "kafka:x"}]});
    let file = house.file("t_sink.json", &sink);
    for verb in ["create", "update"] {
        let said = house.semel(&["workflow", verb, &file]).ok();
        assert_eq!(said.stderr.matches("warning: ").count(), 1, "{said:?}");
    }
}

#[test]
fn a_task_is_taken_and_reported_by_hand() {
    let house = house();
    house.define("t_hand");
    let id = house.start("t_hand");
    let queue = house.semel(&["task", "queue", "t_hand"]).ok();
    assert_eq!(queue.row("t_hand"), ["t_hand", "1"]);
    assert_eq!(house.semel(&["task", "queue"]).ok().row("t_hand")[1], "1");
    let poll = ["task", "poll", "t_hand", "--worker", "ann", "--wait", "1000", "--json"];
    let taken = house.semel(&poll).ok().json();
    let task = taken[0]["taskId"].as_str().unwrap_or_default().to_owned();
    let fence = taken[0]["fenceToken"].as_str().unwrap_or_default().to_owned();
    let report = |fence: &str| {
        let named = ["--workflow", &id, "--task", &task, "--worker", "ann", "--fence", fence];
        let rest = ["--status", "COMPLETED", "--output", r#"{"paid": true}"#];
        house.semel(&[&["task", "update"], &named[..], &rest[..]].concat())
    };
    let stale = report("1");
    assert_eq!(stale.code, Some(5), "{stale:?}");
    assert!(stale.stderr.contains("was not taken"), "{stale:?}");
    assert_eq!(report(&fence).ok().word(), task);
    assert_eq!(house.semel(&["workflow", "status", &id]).ok().word(), "COMPLETED");
    let nothing = house.semel(&["task", "poll", "t_hand", "--wait", "0"]).ok();
    assert_eq!((nothing.stdout.as_str(), nothing.stderr.as_str()), ("", "nothing waits\n"));
}

#[test]
fn a_task_is_reported_by_the_reference_of_its_step() {
    let house = house();
    house.define("t_ref");
    let id = house.start("t_ref");
    let report = ["task", "update", "--workflow", &id, "--ref", "only", "--status", "COMPLETED"];
    house.semel(&["task", "poll", "t_ref", "--worker", "ann", "--wait", "1000"]).ok();
    let held = house.semel(&report);
    assert_eq!(held.code, Some(5), "{held:?}");
    house.semel(&[&report[..], &["--force"]].concat()).ok();
    assert_eq!(
        house.semel(&["workflow", "status", &id, "--json"]).ok().json()["status"],
        "COMPLETED"
    );
    house.semel(&report).ok();
    let otherwise = house.semel(&[&report[..], &["--output", "{\"n\": 1}"]].concat());
    assert_eq!(otherwise.code, Some(5), "{otherwise:?}");
    for wrong in [&["task", "update"][..], &["task", "update", "--workflow", &id]] {
        assert_eq!(house.semel(wrong).code, Some(2), "{wrong:?}");
    }
    let nobody = ["task", "update", "--workflow", &id, "--ref", "only", "--status", "DONE"];
    let refused = house.semel(&nobody);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("expected one of IN_PROGRESS, FAILED"), "{refused:?}");
}
