//! # What the commands do with search, logs, signals, synchronous starts and keys

use semel_tests::process::Server;
use serde_json::json;

use crate::house::{house, semel_in};

#[test]
fn runs_are_found_by_name_status_query_and_words() {
    let house = house();
    house.define("e_search");
    let start = [
        "workflow",
        "start",
        "e_search",
        "--correlation-id",
        "e c",
        "--input",
        r#"{"given": "needle"}"#,
    ];
    let id = house.semel(&start).ok().word().to_owned();
    for search in [
        &["--name", "e_search"][..],
        &["--name", "e_search", "--status", "RUNNING"],
        &["--query", "correlationId='e c' AND workflowType=e_search"],
        &["--name", "e_search", "--text", "needle", "--size", "1", "--sort", "startTime:DESC"],
    ] {
        let found = house.semel(&[&["workflow", "search"], search].concat()).ok();
        assert!(found.stdout.contains(&id), "{search:?}: {found:?}");
    }
    let none =
        house.semel(&["workflow", "search", "--name", "e_search", "--status", "FAILED"]).ok();
    assert!(!none.stdout.contains(&id), "{none:?}");
    let found = house.semel(&["workflow", "search", "--name", "e_search", "--json"]).ok().json();
    assert_eq!(found["totalHits"], 1);
    let wrong = house.semel(&["workflow", "search", "--query", "colour=red"]);
    assert_eq!(wrong.code, Some(6), "{wrong:?}");
    assert!(wrong.stderr.contains("colour"), "{wrong:?}");
}

#[test]
fn a_line_is_written_about_a_task_and_read_again() {
    let house = house();
    house.define("e_logs");
    house.start("e_logs");
    let poll = ["task", "poll", "e_logs", "--wait", "1000", "--json"];
    let task = house.semel(&poll).ok().json()[0]["taskId"].as_str().unwrap_or_default().to_owned();
    house.semel(&["task", "log", &task, "half way there"]).ok();
    let read = house.semel(&["task", "logs", &task]).ok();
    assert!(read.stdout.contains("half way there"), "{read:?}");
    let lines = house.semel(&["task", "logs", &task, "--json"]).ok().json();
    assert_eq!(lines[0]["log"], "half way there");
    let nobody = "0190c3f0-0000-7000-8000-000000000000";
    let lost = house.semel(&["task", "log", nobody, "never read"]);
    assert_eq!(lost.code, Some(4), "{lost:?}");
    assert!(lost.stderr.contains("was not kept"), "{lost:?}");
}

#[test]
fn a_synchronous_start_tells_where_it_stands_and_a_signal_moves_it_on() {
    let house = house();
    let definition = json!({"name": "e_sync", "tasks": [
        {"name": "ask", "taskReferenceName": "ask", "type": "WAIT"}]});
    house.semel(&["workflow", "create", &house.file("e_sync.json", &definition)]).ok();
    let start = ["workflow", "start", "e_sync", "--sync", "--wait", "5", "--json"];
    let told = house.semel(&start).ok().json();
    assert_eq!(told["status"], "RUNNING");
    let id = told["workflowId"].as_str().unwrap_or_default();
    house.semel(&["task", "signal", id, "--status", "COMPLETED", "--output", r#"{"yes": 1}"#]).ok();
    assert_eq!(house.semel(&["workflow", "status", id]).ok().word(), "COMPLETED");
    assert_eq!(
        house
            .semel(&[
                "task",
                "signal",
                "0190c3f0-0000-7000-8000-000000000000",
                "--status",
                "COMPLETED"
            ])
            .code,
        Some(4)
    );
}

#[test]
fn a_server_with_authentication_wants_a_key_and_lets_its_holder_in() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let server = Server::start(directory.path(), &["--store", "memory", "--auth"]);
    let server = server.expect("the server starts");
    let (key, secret) = server.first_key().expect("the first start makes a key");
    let address = format!("http://{}", server.address());
    let list = |variables: &[(&str, &str)]| {
        let variables = [&[("SEMEL_SERVER", address.as_str())], variables].concat();
        semel_in(directory.path(), &["workflow", "list"], &variables)
    };
    let stranger = list(&[]);
    assert_eq!(stranger.code, Some(7), "{stranger:?}");
    let wrong = list(&[("SEMEL_AUTH_KEY", &key), ("SEMEL_AUTH_SECRET", "wrong")]);
    assert_eq!(wrong.code, Some(7), "{wrong:?}");
    assert!(!wrong.stderr.contains(&secret) && !wrong.stdout.contains(&secret));
    list(&[("SEMEL_AUTH_KEY", &key), ("SEMEL_AUTH_SECRET", &secret)]).ok();
    list(&[("CONDUCTOR_AUTH_KEY", &key), ("CONDUCTOR_AUTH_SECRET", &secret)]).ok();
}

#[test]
fn a_log_of_json_is_json_from_the_first_line_on() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let options = ["--store", "memory", "--log-format", "json", "--test-clock", "--auth"];
    let server = Server::start(directory.path(), &options).expect("the server starts");
    let log = server.log();
    let line = |line: &str| -> serde_json::Value {
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
    };
    let lines: Vec<_> = log.lines().map(line).collect();
    let told = lines.iter().find(|line| line["fields"]["message"] == "semel");
    let fields = &told.unwrap_or_else(|| panic!("{log}"))["fields"];
    assert_eq!(fields["address"], server.address().to_string());
    assert!(fields["http_tasks"].as_str().unwrap_or_default().contains("public"), "{fields}");
    assert!(log.contains("/test/clock") && log.contains("on stdout"), "{log}");
    assert!(server.said().ends_with("admin.key\n"), "{}", server.said());
    let (_, secret) = server.first_key().expect("the first start makes a key");
    assert!(!log.contains(&secret), "{log}");
}

#[test]
fn a_server_says_at_its_start_whom_http_tasks_may_speak_to() {
    let told = |options: &[&str]| {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let options = [&["--store", "memory"], options].concat();
        Server::start(directory.path(), &options).expect("the server starts").log()
    };
    let closed = told(&[]);
    assert!(closed.contains("  HTTP tasks    reach public addresses only"), "{closed}");
    assert!(closed.contains("--http-allow 10.0.0.0/8"), "{closed}");
    let open = told(&["--http-allow", "10.1.0.0/16,127.0.0.1"]);
    assert!(open.contains("reach public addresses and 10.1.0.0/16, 127.0.0.1/32"), "{open}");
}
