//! # `semel copy` and `semel raise-fences`: on the data of a server that is stopped

use semel_tests::process::Server;
use serde_json::{Value, json};

use crate::house::{House, semel_in};

#[test]
fn a_stopped_server_goes_on_in_another_directory() {
    let mut house = House::own();
    house.define("moved");
    let id = house.start("moved");
    let held = house.semel(&["task", "poll", "moved", "--worker", "ann", "--json"]).ok().json();
    let next = tempfile::tempdir().expect("a directory can be made");
    let to = format!("sqlite:{}", next.path().join("data").display());
    let data = house.data();
    let copy = |options: &[&str]| {
        let arguments = [&["copy", "--data", &data, "--from", "sqlite", "--to", &to], options];
        semel_in(next.path(), &arguments.concat(), &[])
    };
    let served = copy(&[]);
    assert_eq!(served.code, Some(5), "{served:?}");
    let served = semel_in(next.path(), &["raise-fences", "--data", &data], &[]);
    assert_eq!(served.code, Some(5), "{served:?}");
    house.server.stop().expect("it stops");
    let done = copy(&[]).ok();
    assert_eq!(done.row("executions"), ["executions", "1", "1"]);
    assert!(done.stderr.contains("every journal is unbroken"), "{done:?}");
    assert!(copy(&[]).ok().stderr.contains("the copy is done"));
    let compared = copy(&["--verify", "--json"]).ok().json();
    assert_eq!(compared["rows"]["deliveries"], json!({"source": 1, "target": 1}), "{compared}");
    let raised = next.path().join("data");
    let raised = ["raise-fences", "--data", raised.to_str().expect("paths are UTF-8")];
    semel_in(next.path(), &raised, &[]).ok();
    let server = Server::start(next.path(), &[]).expect("a server starts on the copy");
    let caller = server.caller().expect("a client can be made");
    let post = |path: &str, body: &Value| caller.post(path, body).expect("it answers");
    let report = json!({"taskId": held[0]["taskId"], "workflowInstanceId": id, "workerId": "ann",
        "fenceToken": held[0]["fenceToken"], "status": "COMPLETED"});
    assert_eq!(post("/api/tasks", &report).header("x-task-update"), None, "she still has it");
    assert_eq!(post(&format!("/api/workflow/{id}/verify"), &json!({})).status, 200);
}

#[test]
fn what_cannot_be_copied_is_refused_and_nothing_is_made() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let run = |arguments: &[&str]| semel_in(directory.path(), arguments, &[]);
    let copy = |from: &str, to: &str| run(&["copy", "--from", from, "--to", to]);
    let nothing = copy("sqlite:gone", "sqlite:new");
    assert_eq!(nothing.code, Some(4), "{nothing:?}");
    assert!(nothing.stderr.contains("gone holds no data"), "{nothing:?}");
    for (from, to) in [("memory", "sqlite:new"), ("sqlite:a", "mysql:b"), ("sqlite:a", "sqlite:a")]
    {
        let refused = copy(from, to);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    assert_eq!(run(&["copy", "--from", "sqlite"]).code, Some(2));
    assert_eq!(run(&["raise-fences", "--data", "gone"]).code, Some(4));
    assert_eq!(run(&["raise-fences", "--store", "memory"]).code, Some(2));
    assert_eq!(std::fs::read_dir(directory.path()).expect("it is there").count(), 0);
}
