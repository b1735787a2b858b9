//! # Lost answers: `examples/retrying-client`, step by step
//!
//! With raw sockets here; the script itself where Python is at hand (`./check full`).

use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::checklist::is_id;
use crate::house::{House, house};
use crate::raw::Request;

/// Sends a request and hangs up without waiting for the answer.
fn send_and_leave(house: &House, request: &Request) {
    let mut stream = TcpStream::connect(house.address()).expect("the server listens");
    stream.write_all(&request.bytes()).expect("the request is sent");
}

#[test]
fn a_client_that_loses_answers_starts_one_run() {
    let house = house();
    house.define("lost");
    let start = Request::post("/api/workflow/lost", &json!({"order": 9243}))
        .header("Idempotency-Key", "order-9243");
    (0..20).for_each(|_| send_and_leave(&house, &start));
    let id = is_id(&house.send(&start));
    assert_eq!(house.claim("lost")["workflowInstanceId"], id);
    assert_eq!(is_id(&house.send(&start)), id);
    assert_eq!(house.send(&Request::get("/api/tasks/poll/lost")).status, 204);
}

#[test]
#[ignore = "needs Python: ./check full"]
fn the_retrying_client_starts_one_run() {
    let house = house();
    let script = Path::new(env!("CARGO_MANIFEST_DIR"));
    let script = script.join("../examples/retrying-client/client.py");
    let mut python = Command::new("python3");
    let ran = python.arg(script).arg(format!("http://{}", house.address())).output();
    let ran = ran.expect("python3 can be run");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("the answer is lost") && said.contains(" 1 run: "), "{said}");
}
