//! # `semel accept-loss`: what a disk has lost is refused, named, and gone on with knowingly

use semel_tests::process::refused;
use serde_json::json;

use crate::house::{House, semel_in};

#[test]
fn a_log_that_is_gone_is_refused_until_the_loss_is_accepted() {
    let mut house = House::own();
    house.define("l_lost");
    (0..5).for_each(|_| drop(house.start("l_lost")));
    let data = house.data();
    let held = house.semel(&["accept-loss", "--data", &data]);
    assert_eq!(held.code, Some(5), "a server works on it: {held:?}");
    house.server.kill9().expect("it can be killed");
    house.server.restart().expect("a kill loses nothing");
    house.start("l_lost");
    house.server.kill9().expect("it can be killed");
    let data = std::path::Path::new(&data);
    let place = data.parent().expect("it lies somewhere");
    let run = |arguments: &[&str]| semel_in(place, arguments, &[]);
    let whole = run(&["accept-loss", "--data", "data"]).ok();
    assert!(whole.stderr.contains("nothing is missing"), "{whole:?}");

    std::fs::remove_file(data.join("semel.db-wal")).expect("there was a log");
    let (ended, words) = refused(place, &[]).expect("it ends");
    assert_eq!(ended.code(), Some(1), "{words}");
    for part in ["is damaged", "semel.last-commit knows of commit number", "semel accept-loss"] {
        assert!(words.contains(part), "{part:?} is not in {words}");
    }
    let doctor = run(&["doctor", "--data", "data", "--listen", "127.0.0.1:1"]);
    assert_eq!((doctor.code, doctor.row("commits")[0]), (Some(1), "fail"), "{doctor:?}");
    let backup = run(&["backup", "--data", "data", "--to", "b"]);
    assert_eq!(backup.code, Some(1), "{backup:?}");

    let done = run(&["accept-loss", "--data", "data"]).ok();
    assert!(done.stderr.contains("the files as they were found: data/semel.lost-"), "{done:?}");
    assert!(done.stderr.contains("fences begin above"), "{done:?}");
    house.server.restart().expect("it goes on with what is left");
    let definition = json!({"name": "l_next", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "l_next", "taskReferenceName": "a", "type": "SIMPLE"}]});
    let defined = house.caller().post("/api/metadata/workflow", &definition);
    assert_eq!(defined.expect("it answers").status, 200);
    let deep = house.semel(&["doctor", "--data", &house.data(), "--deep"]);
    for check in ["commits", "pages", "journals", "index pages"] {
        assert_eq!(deep.row(check)[0], "ok", "{deep:?}");
    }
}
