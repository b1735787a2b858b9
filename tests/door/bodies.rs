//! # Bodies: refusals that arrive, and bodies that do not end
//!
//! What a server does with bytes that nobody wants is seen by raw sockets only: a client library may
//! hide a lost answer behind another try.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use semel_tests::process::until;
use serde_json::{Value, json};

use crate::access::Closed;
use crate::house::House;
use crate::raw::Request;

const WITHIN: Duration = Duration::from_secs(30);

/// One connection that stays open.
pub(crate) struct Wire(TcpStream);

/// An answer on a connection that may go on.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn closes(&self) -> bool {
        self.head.to_ascii_lowercase().contains("connection: close")
    }

    fn code(&self) -> Value {
        let body: Value = serde_json::from_slice(&self.body).expect("an error is JSON");
        body["code"].clone()
    }
}

impl Wire {
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(WITHIN)).expect("a time can be set");
        stream.set_write_timeout(Some(WITHIN)).expect("a time can be set");
        Self(stream)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).expect("the server takes what is sent");
    }

    /// The same to a server that may have closed the connection.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }

    /// The next answer; none if the connection has ended instead.
    pub(crate) fn reply(&mut self) -> Option<Reply> {
        let mut head = vec![];
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if self.0.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("a head is text");
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a number"))];
        self.0.read_exact(&mut body).ok()?;
        Some(Reply { status, head, body })
    }

    /// Nothing more comes, and the end is an orderly one.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.0.read(&mut [0]), Ok(0))
    }
}

fn head(method: &str, path: &str, headers: &str, length: usize) -> Vec<u8> {
    let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}");
    format!("{head}Content-Length: {length}\r\n\r\n").into_bytes()
}

fn request(method: &str, path: &str, headers: &str, length: usize) -> Vec<u8> {
    [head(method, path, headers, length), vec![b' '; length]].concat()
}

fn health() -> Vec<u8> {
    b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec()
}

/// Each refusal that is made before a body is read, and its status.
const REFUSED: [(u16, &str, &str, &str); 6] = [
    (401, "POST", "/api/workflow/a", ""),
    (401, "POST", "/api/workflow/a", "X-Authorization: a.b.c\r\n"),
    (401, "POST", "/api/nothing", ""),
    (401, "PATCH", "/api/workflow", ""),
    (403, "POST", "/api/workflow/a", "Sec-Fetch-Site: cross-site\r\n"),
    (413, "POST", "/api/token", ""),
];

#[test]
fn the_request_behind_a_refused_one_is_answered() {
    let closed = Closed::built(&[]);
    let reader = closed.holder("reader", &["reader"]);
    let token = |token: &str| format!("X-Authorization: {token}\r\n");
    let (reader, admin) = (token(&reader.token), token(&closed.admin.token));
    let known: [(u16, &str, &str, &str); 3] = [
        (403, "POST", "/api/workflow/a", &reader),
        (404, "POST", "/api/nothing", &admin),
        (405, "PATCH", "/api/workflow", &admin),
    ];
    for (status, method, path, headers) in REFUSED.into_iter().chain(known) {
        for length in [10_000, 700_000] {
            let mut wire = Wire::to(closed.house.address());
            wire.send(&[request(method, path, headers, length), health()].concat());
            let reply = wire.reply().expect("the refusal arrives");
            assert_eq!((reply.status, reply.closes()), (status, false), "{path} {reply:?}");
            let next = wire.reply().unwrap_or_else(|| panic!("{status} {method} {path} {length}"));
            assert_eq!(next.status, 200, "{path}: {next:?}");
        }
    }
}

#[test]
fn a_refusal_arrives_however_long_the_body_is() {
    let closed = Closed::built(&["--body-bytes-max", "20000"]);
    for (status, method, path, headers) in REFUSED {
        let mut wire = Wire::to(closed.house.address());
        wire.send(&request(method, path, headers, 20_000_000));
        let reply = wire.reply().unwrap_or_else(|| panic!("no answer: {status} {method} {path}"));
        assert_eq!((reply.status, reply.closes()), (status, true), "{path} {reply:?}");
        assert!(wire.has_ended(), "{path}: what it said holds");
    }
    let open = House::own(&["--body-bytes-max", "20000"]);
    let mut wire = Wire::to(open.address());
    wire.send(&request("PUT", "/api/secrets/A", "", 20_000_000));
    let reply = wire.reply().expect("the refusal arrives");
    assert_eq!((reply.status, reply.closes()), (413, true), "{reply:?}");
    wire = Wire::to(open.address());
    wire.send(&[request("PUT", "/api/secrets/A", "", 20_001), health()].concat());
    assert_eq!(wire.reply().map(|reply| reply.status), Some(413));
    assert_eq!(wire.reply().map(|reply| reply.status), Some(200));
}

#[test]
fn a_body_that_is_announced_is_not_asked_for_in_vain() {
    let closed = Closed::built(&[]);
    let mut wire = Wire::to(closed.house.address());
    wire.send(&head("POST", "/api/workflow/a", "Expect: 100-continue\r\n", 5_000_000));
    let reply = wire.reply().expect("an answer");
    assert_eq!((reply.status, reply.closes()), (401, true), "{reply:?}");
}

#[test]
fn a_body_that_does_not_go_on_is_given_up() {
    let house = House::own(&["--body-timeout-ms", "300"]);
    house.define("b_slow");
    for begun in ["", "{"] {
        let mut wire = Wire::to(house.address());
        wire.send(&head("POST", "/api/workflow/b_slow", "", 100));
        wire.send(begun.as_bytes());
        let reply = wire.reply().expect("the refusal arrives");
        assert_eq!((reply.status, reply.closes()), (408, true), "{reply:?}");
        assert_eq!(reply.code(), "BODY_TIMEOUT");
        assert!(wire.has_ended());
    }
    // A byte now and then is not going on.
    let mut wire = Wire::to(house.address());
    wire.send(&head("POST", "/api/workflow/b_slow", "", 100_000));
    let reply = until("the dripping body is refused", WITHIN, || {
        wire.send(b" ");
        wire.0.set_read_timeout(Some(Duration::from_millis(50))).expect("a time can be set");
        wire.reply()
    });
    assert_eq!(reply.expect("an answer").status, 408);
}

#[test]
fn the_body_of_a_login_comes_as_fast_as_a_head() {
    let house = House::own(&["--header-timeout-ms", "300", "--body-timeout-ms", "120000"]);
    let mut wire = Wire::to(house.address());
    wire.send(&head("POST", "/api/token", "", 10));
    let reply = wire.reply().expect("the refusal arrives");
    assert_eq!((reply.status, reply.closes()), (408, true), "{reply:?}");
    assert_eq!(reply.code(), "BODY_TIMEOUT");
}

#[test]
fn all_bodies_together_have_a_limit() {
    let house = House::own(&["--memory-max", "67108864"]); // A quarter of it is 16 MiB.
    house.define("b_many");
    let path = "/api/workflow/b_many";
    let mut held: Vec<Wire> = (0..2)
        .map(|_| {
            let mut wire = Wire::to(house.address());
            wire.send(&head("POST", path, "", 8_000_000));
            wire.send(&vec![b' '; 7_900_000]);
            wire
        })
        .collect();
    let another = || {
        let input = json!({"given": "x".repeat(1_500_000)});
        house.send(&Request::post(path, &input))
    };
    until("both have come", WITHIN, || {
        let metrics = house.send(&Request::get("/metrics")).text();
        metrics.contains("semel_request_bodies_bytes 15800000").then_some(())
    })
    .expect("they are held");
    let refused = another();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused:?}");
    assert_eq!(refused.json()["code"], "BODIES_FULL");
    assert_eq!(refused.json()["retryable"], true);
    for wire in &mut held {
        wire.send(&vec![b' '; 100_000]);
        assert_eq!(wire.reply().map(|reply| reply.status), Some(200), "those that were there");
    }
    assert_eq!(another().status, 200);
}

#[test]
fn a_stranger_sends_a_few_kilobytes() {
    let closed = Closed::built(&[]);
    let body = json!({"keyId": "k".repeat(5_000), "keySecret": "s"});
    let answer = closed.house.send(&Request::post("/api/token", &body));
    assert_eq!(answer.status, 413, "{answer:?}");
    assert!(answer.json()["message"].to_string().contains("4096 bytes"), "{answer:?}");
}
