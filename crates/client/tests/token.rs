//! # Tokens: a key is exchanged once, and a server without authentication is no obstacle
//!
//! Against a listener that answers what it is told and remembers what it was asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::thread::JoinHandle;

use semel_client::{Client, ClientError, Credentials};

/// Answers one request per connection; gives back what was asked, head and body.
fn listener(answers: Vec<(u16, &'static str)>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    let serve = move || {
        let answer = |(status, body): (u16, &str)| {
            let (stream, _) = listener.accept().expect("somebody asks");
            let mut reader = BufReader::new(&stream);
            let (mut asked, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a head is sent");
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a length is a number");
                }
                asked.push_str(&line);
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut content = vec![0; length];
            reader.read_exact(&mut content).expect("a body is sent");
            asked.push_str(&String::from_utf8_lossy(&content));
            let size = body.len();
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {size}\r\n");
            let whole = format!("{head}Connection: close\r\n\r\n{body}");
            (&stream).write_all(whole.as_bytes()).expect("it is read");
            asked
        };
        answers.into_iter().map(answer).collect()
    };
    (address, std::thread::spawn(serve))
}

fn client(address: &str) -> Client {
    let credentials = Credentials::Key { id: "app".to_owned(), secret: "hush".to_owned().into() };
    Client::new(address.parse().expect("an address"), credentials).expect("a client")
}

#[test]
fn a_key_is_exchanged_once_and_its_token_sent_with_every_call() {
    let answers = vec![(200, r#"{"token":"a.b.c"}"#), (200, "{}"), (200, "{}")];
    let (address, asked) = listener(answers);
    let client = client(&address);
    client.queues().expect("it answers");
    client.queues().expect("it answers");
    let asked = asked.join().expect("all was asked");
    assert!(asked[0].starts_with("POST /api/token "), "{asked:?}");
    assert!(asked[0].ends_with(r#"{"keyId":"app","keySecret":"hush"}"#), "{asked:?}");
    for call in &asked[1..] {
        assert!(call.starts_with("GET /api/tasks/queue/all "), "{asked:?}");
        assert!(call.contains("x-authorization: a.b.c\r\n"), "{asked:?}");
    }
}

#[test]
fn a_server_without_authentication_is_asked_as_nobody() {
    let refusal = r#"{"status":404,"message":"no such path","retryable":false}"#;
    let (address, asked) = listener(vec![(404, refusal), (200, "{}")]);
    client(&address).queues().expect("it answers");
    let asked = asked.join().expect("all was asked");
    assert!(!asked[1].contains("x-authorization"), "{asked:?}");
}

#[test]
fn a_key_that_is_refused_is_not_authorised() {
    let refusal = r#"{"status":401,"error":"INVALID_TOKEN","retryable":false}"#;
    let (address, asked) = listener(vec![(401, refusal)]);
    let error = client(&address).queues().err().expect("it is refused");
    assert!(matches!(error, ClientError::Unauthorised(_)), "{error}");
    assert_eq!(error.to_string(), "INVALID_TOKEN");
    asked.join().expect("all was asked");
}

#[test]
fn an_answer_that_is_cut_short_may_have_happened() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    let hang_up = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody asks");
        let _ = stream.read(&mut [0; 4096]).expect("something is asked");
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{";
        stream.write_all(head).expect("it is read");
    });
    let client =
        Client::new(address.parse().expect("an address"), Credentials::Nobody).expect("a client");
    let error = client.queues().err().expect("it is cut");
    assert!(error.to_string().contains("may have happened"), "{error}");
    hang_up.join().expect("it hung up");
}
