//! # `semel backup`: made under load, opened, verified

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use semel_tests::process::Server;
use serde_json::json;

use crate::house::{House, semel_in};

#[test]
fn a_backup_made_under_load_opens_and_verifies() {
    let house = House::own();
    house.define("b_load");
    let before: Vec<String> = (0..20).map(|_| house.start("b_load")).collect();
    let held = house.semel(&["task", "poll", "b_load", "--worker", "ann", "--json"]).ok().json();
    let is_over = Arc::new(AtomicBool::new(false));
    let load = {
        let (caller, is_over) = (house.caller(), Arc::clone(&is_over));
        std::thread::spawn(move || {
            let mut started = 0u64;
            while !is_over.load(Ordering::Relaxed) {
                let answer = caller.post("/api/workflow/b_load", &json!({"given": started}));
                started += u64::from(answer.is_ok_and(|answer| answer.status == 200));
            }
            started
        })
    };
    let file = house.path("b.backup");
    let done = house.semel(&["backup", "--data", &house.data(), "--to", &file, "--json"]);
    is_over.store(true, Ordering::Relaxed);
    let started = load.join().expect("the load ends");
    let done = done.ok();
    assert!(started > 0, "rounds went on meanwhile");
    assert!(done.stderr.contains("secrets.key is not in it"), "{done:?}");
    let told = done.json();
    assert_eq!(told["verified"], true);
    assert!(told["executions"].as_u64() >= Some(20), "{told}");
    let again = house.semel(&["backup", "--data", &house.data(), "--to", &file]);
    assert_eq!(again.code, Some(5), "{again:?}");
    restored(&file, &before, &held[0]);
}

/// A server on the copy alone knows every run, and hands out under higher fences.
fn restored(file: &str, runs: &[String], held: &serde_json::Value) {
    let directory = tempfile::tempdir().expect("a directory can be made");
    std::fs::create_dir(directory.path().join("data")).expect("a directory can be made");
    std::fs::copy(file, directory.path().join("data/semel.db")).expect("the copy can be read");
    let server = Server::start(directory.path(), &[]).expect("a server starts on the copy");
    let caller = server.caller().expect("a client can be made");
    for id in runs {
        let verdict = caller.post(&format!("/api/workflow/{id}/verify"), &json!({}));
        let verdict = verdict.expect("it answers");
        assert_eq!(verdict.status, 200, "{}", verdict.body);
    }
    let fence =
        |task: &serde_json::Value| task["fenceToken"].as_str().and_then(|it| it.parse().ok());
    let next = caller.get("/api/tasks/poll/b_load?workerid=bob").expect("it answers").json();
    let margin = 20 * 24 * 3_600 * 1_000_000u64;
    assert!(fence(&next) > fence(held).map(|fence: u64| fence + margin), "{next} {held}");
}

#[test]
fn a_backup_of_nothing_or_to_nowhere_is_refused() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let run = |arguments: &[&str]| semel_in(directory.path(), arguments, &[]);
    let nothing = run(&["backup", "--data", "gone", "--to", "b"]);
    assert_eq!(nothing.code, Some(4), "{nothing:?}");
    assert!(nothing.stderr.contains("gone holds no database"), "{nothing:?}");
    let memory = run(&["backup", "--store", "memory", "--to", "b"]);
    assert_eq!(memory.code, Some(2), "{memory:?}");
    assert_eq!(run(&["backup"]).code, Some(2));
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 0);
}
