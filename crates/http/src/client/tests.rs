//! # Tests of the client, against a listener that says what it is told to

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use semel_model::{HttpClass, Payload};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::outcome::{Applied, Status};

/// Answers connection after connection with these texts, the last one for ever; an empty one hangs
/// up. What was heard is kept.
async fn listener(answers: Vec<String>) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    tokio::spawn(async move {
        let mut at = 0;
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let answer = answers[at.min(answers.len() - 1)].clone();
            at += 1;
            let mut request = Vec::new();
            let mut chunk = [0; 4096];
            while !is_whole(&request) {
                match stream.read(&mut chunk).await {
                    Ok(0) | Err(_) => break,
                    Ok(read) => request.extend_from_slice(&chunk[..read]),
                }
            }
            kept.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (address, heard)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse::<usize>().ok()
    });
    body.len() >= length.unwrap_or(0)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn sent_on(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Go\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

fn client() -> Client {
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    Client::new(Settings { allow, ..Settings::default() })
}

async fn send(client: &Client, request: Value) -> Outcome {
    let request = HttpRequest::read(&Payload::from_value(&request)).unwrap();
    let who = Identity { effect_key: "the-key".to_owned(), fence: Some(7) };
    client.send(&request, &who).await
}

#[tokio::test]
async fn an_answer_becomes_an_output() {
    let (address, heard) = listener(vec![ok(r#"{"a":1}"#)]).await;
    let uri = format!("http://{address}/x?y=1");
    let body = json!({"n": 1});
    let outcome = send(&client(), json!({"uri": uri, "method": "POST", "body": body})).await;
    assert_eq!(outcome.status, Status::Completed);
    let shown = json!({"statusCode": 200, "reasonPhrase": "OK",
        "headers": {"Content-Length": ["7"]}, "body": {"a": 1}});
    assert_eq!(outcome.output.value()["response"], shown);
    let heard = heard.lock().unwrap()[0].clone();
    assert!(heard.starts_with("POST /x?y=1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("idempotency-key: the-key\r\n"), "{heard}");
    assert!(heard.ends_with("\r\n\r\n{\"n\":1}"), "{heard}");
    assert!(!heard.to_ascii_lowercase().contains("accept-encoding"), "{heard}");
}

#[tokio::test]
async fn what_is_not_open_is_not_connected_to() {
    let (address, heard) = listener(vec![ok("")]).await;
    let closed = Client::new(Settings::default());
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0x7f.1", "2130706433"] {
        let uri = format!("http://{host}:{}/", address.port());
        let outcome = send(&closed, json!({"uri": uri, "method": "GET"})).await;
        assert_eq!((outcome.status, outcome.applied), (Status::FailedTerminal, Applied::No));
        let reason = outcome.reason.unwrap();
        assert!(reason.contains("loopback") && reason.contains("http_allow"), "{host}: {reason}");
    }
    assert_eq!(heard.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_way_into_a_closed_range_is_not_gone() {
    let (address, _) = listener(vec![sent_on(302, "http://169.254.169.254/latest")]).await;
    let uri = format!("http://{address}/");
    let outcome = send(&client(), json!({"uri": uri, "method": "GET"})).await;
    assert_eq!(outcome.status, Status::FailedTerminal);
    assert!(outcome.reason.unwrap().contains("169.254.169.254 is link-local"));
}

#[tokio::test]
async fn a_way_is_gone_ten_times() {
    let (address, heard) = listener(vec![sent_on(302, "/again")]).await;
    let uri = format!("http://{address}/");
    let outcome = send(&client(), json!({"uri": uri, "method": "GET"})).await;
    assert!(outcome.reason.unwrap().contains("more than 10 times"));
    assert_eq!(heard.lock().unwrap().len(), 11);
    let staying = json!({"uri": uri, "method": "GET", "followRedirects": false});
    let outcome = send(&client(), staying).await;
    assert_eq!(outcome.output.value()["response"]["statusCode"], 302);
    assert_eq!(heard.lock().unwrap().len(), 12);
}

#[tokio::test]
async fn a_repeat_elsewhere_carries_the_key() {
    let (address, heard) = listener(vec![sent_on(308, "/there"), ok("")]).await;
    let uri = format!("http://{address}/here");
    let outcome = send(&client(), json!({"uri": uri, "method": "POST", "body": "b"})).await;
    assert_eq!(outcome.status, Status::Completed);
    let heard = heard.lock().unwrap().clone();
    assert!(heard[1].starts_with("POST /there "), "{heard:?}");
    assert!(heard[1].contains("idempotency-key: the-key") && heard[1].ends_with("\r\nb"));
}

#[tokio::test]
async fn a_closed_port_and_a_failed_handshake_were_never_sent() {
    let (address, _) = listener(vec!["not TLS at all\r\n\r\n".to_owned()]).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let names = ["http://nothing.invalid/".to_owned()];
    for uri in [format!("https://{address}/"), format!("http://{free}/")].iter().chain(&names) {
        let request = json!({"uri": uri, "method": "POST", "idempotency": {"enabled": false}});
        let outcome = send(&client(), request).await;
        assert_eq!((outcome.status, outcome.class), (Status::Failed, HttpClass::NotSent), "{uri}");
        assert_eq!(outcome.applied, Applied::No);
    }
}

#[tokio::test]
async fn silence_after_sending_leaves_everything_open() {
    let (address, heard) = listener(vec![String::new()]).await;
    let uri = format!("http://{address}/");
    let without = json!({"uri": uri, "method": "POST", "idempotency": {"enabled": false}});
    let outcome = send(&client(), without).await;
    assert_eq!((outcome.status, outcome.applied), (Status::FailedTerminal, Applied::Unknown));
    assert_eq!(outcome.class, HttpClass::Unsafe);
    let known = json!({"preset": "stripe"});
    let keyed = json!({"uri": uri, "method": "POST", "idempotency": known});
    let keyed = send(&client(), keyed).await;
    assert_eq!((keyed.status, keyed.applied), (Status::Failed, Applied::Unknown));
    assert_eq!(heard.lock().unwrap().len(), 2, "nothing is sent twice");
}

/// Takes every connection and sends a head and then a byte now and then, for ever.
async fn dripping(head: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let mut sent = stream.write_all(head.as_bytes()).await;
                while sent.is_ok() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    sent = stream.write_all(b"x").await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn an_answer_that_drips_is_not_waited_for_longer_than_everything_may_take() {
    let address = dripping("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await;
    let uri = format!("http://{address}/");
    let get = json!({"uri": uri, "method": "GET", "totalTimeOut": 100});
    let outcome = send(&client(), get).await;
    assert_eq!((outcome.status, outcome.applied), (Status::Failed, Applied::No));
    let reason = outcome.reason.unwrap();
    assert!(reason.contains("200, and the answer did not end within 100 ms in all"), "{reason}");
    // A server may say it for all that do not say it themselves, and allows what they do allow.
    let allow = vec!["127.0.0.0/8".parse().unwrap()];
    let strict = Client::new(Settings { allow, total_ms: 100, ..Settings::default() });
    let get = json!({"uri": uri, "method": "GET", "connectionTimeOut": 150, "readTimeOut": 50});
    let reason = send(&strict, get).await.reason.unwrap();
    assert!(
        reason.contains("within 200 ms in all") && reason.contains("http_total_ms"),
        "{reason}"
    );
}

#[tokio::test]
async fn what_was_sent_when_its_time_was_over_stays_open() {
    let address = dripping("HTTP/1.1 200 OK\r\nx-dripping: ").await;
    let uri = format!("http://{address}/");
    let request = |more: Value| {
        let mut request = json!({"uri": uri, "method": "POST", "totalTimeOut": 100,
            "readTimeOut": 60_000});
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    let outcome = send(&client(), request(json!({"idempotency": {"enabled": false}}))).await;
    assert_eq!((outcome.status, outcome.applied), (Status::FailedTerminal, Applied::Unknown));
    assert_eq!(outcome.class, HttpClass::Unsafe);
    assert!(outcome.reason.unwrap().contains("there was no answer within 100 ms in all"));
    let keyed = send(&client(), request(json!({"idempotency": {"preset": "stripe"}}))).await;
    assert_eq!((keyed.status, keyed.applied), (Status::Failed, Applied::Unknown));
}

#[tokio::test]
async fn who_does_not_answer_in_time_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/", silent.local_addr().unwrap());
    let request = json!({"uri": uri, "method": "POST", "connectionTimeOut": 20, "readTimeOut": 20,
        "idempotency": {"preset": "stripe"}});
    let outcome = send(&client(), request).await;
    assert_eq!((outcome.status, outcome.applied), (Status::Failed, Applied::Unknown));
    assert!(outcome.reason.unwrap().contains("no answer within readTimeOut, 20 ms"));
}

#[tokio::test]
async fn an_answer_has_a_limit_said_or_unsaid() {
    let long = "x".repeat(BODY_BYTES_MAX + 1);
    let unsaid = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{long}");
    let said = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", 10_u64.pow(12));
    for answer in [unsaid, said] {
        let (address, _) = listener(vec![answer]).await;
        let uri = format!("http://{address}/");
        let outcome = send(&client(), json!({"uri": uri, "method": "POST"})).await;
        assert_eq!((outcome.status, outcome.applied), (Status::FailedTerminal, Applied::Yes));
        assert!(outcome.reason.unwrap().contains("over the limit of 4194304 bytes"));
    }
}

#[tokio::test]
async fn a_condition_that_did_not_hold_can_be_looked_into() {
    let failed = "HTTP/1.1 412 Precondition Failed\r\ncontent-length: 0\r\n\r\n".to_owned();
    let request = |uri: &str, policy: &str| {
        json!({"uri": uri, "method": "PUT", "body": {"a": {"b": 1}}, "ifNoneMatch": "*",
            "onConditionFailed": policy})
    };
    let (address, heard) = listener(vec![failed.clone()]).await;
    let uri = format!("http://{address}/");
    let outcome = send(&client(), request(&uri, "FAIL")).await;
    assert_eq!((outcome.status, outcome.applied), (Status::FailedTerminal, Applied::No));
    assert_eq!(outcome.output.value()["conditionFailed"], true);
    assert!(heard.lock().unwrap()[0].contains("if-none-match: *\r\n"));
    let equal = ok(r#"{"a": {"b": 1, "at": 9}, "id": 5}"#);
    for (there, status) in [(equal, Status::Completed), (ok("{}"), Status::FailedTerminal)] {
        let (address, heard) = listener(vec![failed.clone(), there]).await;
        let uri = format!("http://{address}/");
        let outcome = send(&client(), request(&uri, "COMPLETE_IF_EQUAL")).await;
        assert_eq!(outcome.status, status, "{:?}", outcome.reason);
        let heard = heard.lock().unwrap().clone();
        assert!(heard[1].starts_with("GET / ") && !heard[1].contains("if-none-match"), "{heard:?}");
    }
}
