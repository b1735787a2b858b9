//! # `semel workflow`

use serde_json::{Value, json};

use crate::house::{definition, house, semel_in};

#[test]
fn definitions_are_created_listed_printed_updated_and_deleted() {
    let house = house();
    house.define("w_defs");
    let file = house.path("w_defs.json");
    let again = house.semel(&["workflow", "create", &file]);
    assert_eq!(again.code, Some(5), "{again:?}");
    assert!(again.stderr.starts_with("semel: "), "{again:?}");
    house.semel(&["workflow", "create", "--force", &file]).ok();
    let listed = house.semel(&["workflow", "list"]).ok();
    assert_eq!(listed.row("w_defs")[1..3], ["1", "1"]);
    let mut second = definition("w_defs", "SIMPLE");
    second["version"] = json!(2);
    house.semel(&["workflow", "update", &house.file("second.json", &second)]).ok();
    let printed = house.semel(&["workflow", "get", "w_defs", "--json"]).ok().json();
    assert_eq!(printed["version"], 2);
    let first = house.semel(&["workflow", "get", "w_defs", "--version", "1"]).ok().json();
    assert_eq!(first["version"], 1);
    house.semel(&["workflow", "delete", "w_defs", "2"]).ok();
    assert_eq!(house.semel(&["workflow", "delete", "w_defs", "2"]).code, Some(4));
    let list = house.file("list.json", &json!([definition("w_defs", "SIMPLE")]));
    let refused = house.semel(&["workflow", "create", &list]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--force"), "{refused:?}");
    house.semel(&["workflow", "create", "--force", &list]).ok();
}

#[test]
fn a_keyed_start_asked_twice_gives_the_same_id() {
    let house = house();
    house.define("w_key");
    let start = ["workflow", "start", "w_key", "--key", "k", "--strategy", "RETURN_EXISTING"];
    let first = house.semel(&start).ok();
    let second = house.semel(&start).ok();
    assert_eq!(first.word(), second.word());
    assert_eq!(first.stderr, "");
    assert!(second.stderr.contains("nothing was started"), "{second:?}");
    let conflict = house.semel(&["workflow", "start", "w_key", "--key", "k"]);
    assert_eq!(conflict.code, Some(5), "{conflict:?}");
    assert!(conflict.stderr.contains(first.word()), "{conflict:?}");
    let as_json = house.semel(&[&start[..], &["--json"]].concat()).ok().json();
    assert_eq!(as_json, first.word());
}

#[test]
fn input_reaches_the_run_word_for_word() {
    let house = house();
    house.define("w_input");
    let file = house.file("input.json", &json!({"given": 7}));
    for (input, given) in [(r#"{"given": 7}"#.to_owned(), 7), (format!("@{file}"), 7)] {
        let start = ["workflow", "start", "w_input", "--input", &input, "--priority", "3"];
        let id = house.semel(&start).ok().word().to_owned();
        let shown = house.semel(&["workflow", "show", &id, "--json"]).ok().json();
        assert_eq!((&shown["input"]["given"], &shown["priority"]), (&json!(given), &json!(3)));
        let rows = house.semel(&["workflow", "get-execution", &id]).ok();
        assert_eq!(rows.row("only")[1..4], ["w_input", "SCHEDULED", "1"]);
        assert!(rows.stderr.contains(&format!("{id} w_input version 1 RUNNING")), "{rows:?}");
    }
    for input in ["[1]", "{", "@gone.json"] {
        let refused = house.semel(&["workflow", "start", "w_input", "--input", input]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
}

#[test]
fn a_run_is_paused_resumed_terminated_restarted_rerun_retried_and_removed() {
    let house = house();
    house.define("w_steer");
    let id = house.start("w_steer");
    let status = || house.semel(&["workflow", "status", &id]).ok().word().to_owned();
    let done = |arguments: &[&str]| drop(house.semel(&[&["workflow"], arguments].concat()).ok());
    let refused = |arguments: &[&str], code: i32| {
        let said = house.semel(&[&["workflow"], arguments].concat());
        assert_eq!(said.code, Some(code), "{said:?}");
    };
    assert_eq!(status(), "RUNNING");
    done(&["pause", &id]);
    assert_eq!(status(), "PAUSED");
    done(&["resume", &id]);
    refused(&["resume", &id], 5);
    refused(&["restart", &id], 5);
    refused(&["remove", &id], 5);
    done(&["terminate", &id, "--reason", "enough"]);
    assert_eq!(status(), "TERMINATED");
    let shown = house.semel(&["workflow", "show", &id]).ok();
    assert!(shown.stderr.contains("reason       enough"), "{shown:?}");
    done(&["restart", &id]);
    assert_eq!(status(), "RUNNING");
    done(&["terminate", &id]);
    let again = ["rerun", id.as_str(), "--from-task", "only", "--task-input", r#"{"given": 1}"#];
    done(&again);
    let run = house.semel(&["workflow", "show", &id, "--json"]).ok().json();
    let open = |task: &&Value| task["status"] == "SCHEDULED";
    let task = run["tasks"].as_array().into_iter().flatten().find(open).cloned();
    assert_eq!(task.unwrap_or_default()["inputData"]["given"], 1, "{run}");
    refused(&["rerun", &id, "--from-task", "nowhere"], 2);
    done(&["terminate", &id]);
    done(&["retry", &id]);
    assert_eq!(status(), "RUNNING");
    done(&["remove", &id, "--force"]);
    refused(&["status", &id], 4);
    refused(&["show", "nonsense"], 4);
    refused(&["unpark", &id], 4);
}

#[test]
fn effects_are_done_again_only_where_that_is_asked_for() {
    let house = house();
    house.define("w_redo");
    let id = house.start("w_redo");
    let redone = || {
        let log = house.caller().get(&format!("/api/workflow/{id}/log")).unwrap().body;
        log.matches("wanted once more (redoEffects)").count()
    };
    let mut wanted = 0;
    for verb in ["restart", "rerun", "retry"] {
        for flag in [None, Some("--redo-effects")] {
            house.semel(&["workflow", "terminate", &id]).ok();
            let mut asked = vec!["workflow", verb, &id];
            asked.extend(flag);
            house.semel(&asked).ok();
            wanted += usize::from(flag.is_some());
            assert_eq!(redone(), wanted, "{asked:?}");
        }
    }
}

#[test]
fn steps_are_skipped_and_jumped_to() {
    let house = house();
    let steps: Vec<Value> = ["a", "b", "c"]
        .map(|name| json!({"name": "w_jump", "taskReferenceName": name, "type": "SIMPLE"}))
        .into();
    let workflow = json!({"name": "w_jump", "version": 1, "schemaVersion": 2, "tasks": steps});
    house.semel(&["workflow", "create", &house.file("w_jump.json", &workflow)]).ok();
    let id = house.start("w_jump");
    house.semel(&["workflow", "skip-task", &id, "b"]).ok();
    assert_eq!(house.semel(&["workflow", "skip-task", &id, "none"]).code, Some(4));
    house.semel(&["workflow", "jump", &id, "c"]).ok();
    let shown = house.semel(&["workflow", "show", &id]).ok();
    assert_eq!(shown.row("c")[2], "SCHEDULED");
    assert_eq!(shown.row("b")[2], "SKIPPED");
}

#[test]
fn a_definition_that_breaks_rules_is_refused_by_field() {
    let house = house();
    let wrong = json!({"name": "w_wrong", "version": 1, "schemaVersion": 2,
        "tasks": [{"name": "x", "type": "SIMPLE"}]});
    let refused = house.semel(&["workflow", "create", &house.file("wrong.json", &wrong)]);
    assert_eq!(refused.code, Some(6), "{refused:?}");
    assert!(refused.stderr.contains("taskReferenceName"), "{refused:?}");
    assert_eq!(refused.stdout, "");
}

#[test]
fn a_server_that_is_not_there_or_not_http_is_told_apart() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let ask = |server: &str| {
        let said = semel_in(directory.path(), &["workflow", "list", "--server", server], &[]);
        (said.code, said.stderr)
    };
    let (code, words) = ask("http://127.0.0.1:1");
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("no server answers at http://127.0.0.1:1"), "{words}");
    let (code, words) = ask("https://127.0.0.1:1");
    assert_eq!(code, Some(2), "{words}");
    assert!(words.contains("https, which is not supported yet"), "{words}");
}

#[test]
fn a_machine_set_up_for_conductor_needs_nothing_new() {
    let house = house();
    let address = format!("{}/api", house.address());
    let variables = [
        ("CONDUCTOR_SERVER_URL", address.as_str()),
        ("CONDUCTOR_AUTH_KEY", "key"),
        ("CONDUCTOR_AUTH_SECRET", "secret"),
    ];
    let directory = tempfile::tempdir().expect("a directory can be made");
    // This server has no authentication: it answers 404 to the key, and the call goes on.
    semel_in(directory.path(), &["workflow", "list"], &variables).ok();
    let half = semel_in(directory.path(), &["workflow", "list"], &variables[..2]);
    assert_eq!(half.code, Some(2), "{half:?}");
}
