//! # Lost answers: `examples/retrying-client`, step by step
//!
//! With raw sockets here; the script itself is run by `./check full`, with the other examples.

use std::io::Write as _;
use std::net::TcpStream;

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
