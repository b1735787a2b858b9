//! # Logins: who tries many secrets waits, and nobody else

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::access::{Closed, mint};
use crate::raw::Request;

/// Every refusal takes so long, also that of a caller who is held back.
const REFUSAL_WAIT: Duration = Duration::from_millis(250);

/// The same from another address of this machine.
fn from_elsewhere(closed: &Closed, body: &Value) -> String {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let stream = tokio.expect("a runtime starts").block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 2], 0)))?;
        socket.connect(closed.house.address()).await?.into_std()
    });
    let mut stream = stream.expect("127.0.0.2 is this machine");
    stream.set_nonblocking(false).expect("it may block");
    stream.write_all(&Request::post("/api/token", body).bytes()).expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it is answered");
    answer
}

#[test]
fn who_tries_many_secrets_waits_and_nobody_else() {
    let closed = Closed::built(&[]);
    let other = closed.holder("other", &["worker"]);
    let right = json!({"keyId": closed.admin.key, "keySecret": closed.admin.secret});
    let wrong = json!({"keyId": closed.admin.key, "keySecret": "guess"});
    let mut refused = 0;
    let throttled = loop {
        let since = Instant::now();
        let answer = mint(&closed.house, &wrong);
        assert!(since.elapsed() >= REFUSAL_WAIT, "{} after {:?}", answer.status, since.elapsed());
        match answer.status {
            401 => refused += 1,
            _ => break answer,
        }
        assert!(refused < 100, "nobody stops this");
    };
    assert!(refused >= 5, "a few mistakes are allowed: {refused}");
    assert_eq!(throttled.status, 429, "{throttled:?}");
    assert_eq!(throttled.json()["code"], "LOGINS_THROTTLED");
    let wait = throttled.header("retry-after").and_then(|text| text.parse::<u64>().ok());
    assert!(wait.is_some_and(|seconds| seconds >= 1), "{throttled:?}");
    assert_eq!(
        mint(&closed.house, &right).status,
        200,
        "whoever has the right one is not locked out by others behind the same address"
    );
    let elsewhere = from_elsewhere(&closed, &right);
    assert!(elsewhere.starts_with("HTTP/1.1 200"), "{elsewhere}");
    let same = json!({"keyId": other.key, "keySecret": other.secret});
    assert_eq!(mint(&closed.house, &same).status, 200, "another key from here");
    let log = closed.house.log();
    assert_eq!(log.matches("logins with a wrong secret").count(), 1, "{log}");
    assert!(!log.contains("guess"), "{log}");
}

#[test]
fn many_keys_from_one_address_wait_too() {
    let closed = Closed::built(&[]);
    let known = json!({"keyId": closed.admin.key, "keySecret": closed.admin.secret});
    let is_throttled = (0..100).any(|n| {
        let guess = json!({"keyId": format!("key-{n}"), "keySecret": "guess"});
        mint(&closed.house, &guess).status == 429
    });
    assert!(is_throttled, "nobody stops this");
    assert_eq!(mint(&closed.house, &known).status, 200, "its secret is right");
}
