//! # Limits: bodies and headers that are too much, and HTTP that is none

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::Request;
use crate::routes::{ROUTES, Shape, Subject};

const BODY_BYTES_MAX: usize = 20_000;

/// An object of exactly so many bytes.
fn object(bytes: usize) -> String {
    let empty = r#"{"given":""}"#;
    empty.replace("\"\"", &format!("\"{}\"", "x".repeat(bytes - empty.len())))
}

#[test]
fn a_body_over_the_limit_is_413_and_names_the_limit() {
    let house = House::own(&["--body-bytes-max", "20000"]);
    let subject = Subject::made(&house, "l_body");
    let before = house.definitions();
    let start = || Request::new("POST", "/api/workflow/l_body");
    assert_eq!(house.send(&start().body(object(BODY_BYTES_MAX))).status, 200);
    for route in ROUTES.iter().filter(|route| route.shape != Shape::Nothing) {
        for bytes in [BODY_BYTES_MAX + 1, 5_000_000] {
            let request = Request::new(route.method, subject.target(route)).body(object(bytes));
            for request in [request.clone(), request.chunked()] {
                let answer = house.send(&request);
                assert_eq!(answer.status, 413, "{} {}", route.method, route.path);
                let message = answer.json()["message"].to_string();
                assert!(message.contains("body_bytes_max, 20000"), "{message}");
            }
        }
    }
    assert_eq!(house.definitions(), before);
    house.is_healthy();
}

#[test]
fn a_body_nobody_reads_is_answered_however_long_it_is() {
    let house = House::own(&["--body-bytes-max", "20000"]);
    let subject = Subject::made(&house, "l_unread");
    let is_harmless = |method: &&str| matches!(*method, "GET" | "PUT");
    for route in ROUTES.iter().filter(|it| it.shape == Shape::Nothing && is_harmless(&it.method)) {
        let request = Request::new(route.method, subject.target(route)).body(object(1_000_000));
        let answer = house.send(&request);
        assert!(answer.status < 500, "{} {}: {answer:?}", route.method, route.path);
    }
    house.is_healthy();
}

/// Every door through which a name or an id comes, each with its field.
fn named(name: &str, id: &str) -> Vec<(&'static str, Request)> {
    let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let definition = |own: &str, task: &str, reference: &str| {
        let step = json!({"name": task, "taskReferenceName": reference, "type": "SIMPLE"});
        let body = json!({"name": own, "version": 1, "schemaVersion": 2, "tasks": [step]});
        Request::post("/api/metadata/workflow", &body)
    };
    let start = |body: &Value| Request::post("/api/workflow", body);
    let handler = json!({"name": name, "event": "e", "actions": []});
    let poll = |query: &str| Request::get(format!("/api/tasks/poll/l_names?{query}={encoded}"));
    let started = format!("/api/workflow/l_names?correlationId={encoded}");
    let owner = json!({"scope": "s", "key": "k", "owner": id, "leaseSeconds": 9});
    vec![
        ("name", definition(name, "t", "t")),
        ("tasks[0].name", definition("l", name, "t")),
        ("tasks[0].taskReferenceName", definition("l", "t", name)),
        ("name", Request::post("/api/metadata/taskdefs", &json!([{"name": name}]))),
        ("name", Request::post("/api/event", &handler)),
        ("name", start(&json!({"name": name}))),
        ("correlationId", start(&json!({"name": "l_names", "correlationId": id}))),
        ("createdBy", start(&json!({"name": "l_names", "createdBy": id}))),
        ("taskToDomain", start(&json!({"name": "l_names", "taskToDomain": {"t": id}}))),
        ("correlationId", Request::post(started, &json!({}))),
        ("workerid", poll("workerid")),
        ("domain", poll("domain")),
        ("tasktype", Request::get(format!("/api/tasks/poll/{encoded}"))),
        ("owner", Request::post("/api/effects/try-start", &owner)),
    ]
}

#[test]
fn names_and_ids_have_a_length_and_stand_on_one_line() {
    let house = house();
    house.define("l_names");
    let fits = json!({"name": "l_names", "correlationId": "i".repeat(512), "createdBy": "\u{e9}".repeat(512)});
    assert_eq!(house.send(&Request::post("/api/workflow", &fits)).status, 200);
    let task = house.claim("l_names");
    let run = task["workflowInstanceId"].as_str().unwrap_or_default();
    let (name, id) = ("n".repeat(256), "i".repeat(513));
    for (name, id) in [(&*name, &*id), ("a\nb", "c\nd"), ("a\u{7f}", "c\u{1b}[2J")] {
        let mut told = report(&task, "IN_PROGRESS", json!({}));
        told["workerId"] = json!(id);
        let mut cases = named(name, id);
        cases.push(("workerId", Request::post("/api/tasks", &told)));
        let by_name = format!("/api/tasks/{run}/only/COMPLETED?workerid=%0A");
        cases.push(("workerid", Request::post(by_name, &json!({}))));
        for (field, request) in cases {
            let answer = house.refuses(&request);
            let text = answer.text();
            assert!(
                answer.status == 400 && text.contains(field),
                "{field}: {} {text}",
                answer.status
            );
            let is_named = ["255", "512", "control characters"].iter().any(|it| text.contains(it));
            assert!(is_named, "{field}: {text}");
        }
    }
    let many: String = (0..500).map(|n| format!("p{n}=v&")).collect();
    house.is_civil(&Request::get(format!("/api/tasks/poll/none?{many}")));
}

#[test]
fn headers_beyond_reason_are_answered() {
    let house = house();
    let get = || Request::get("/health");
    let crowd = |count: usize| {
        (0..count).fold(get(), |request, n| request.header(&format!("X-Crowd-{n}"), "v"))
    };
    for request in [
        get().header("X-Long", "v".repeat(10_000)),
        get().header("X-Bytes", b"\x80\xff".to_vec()),
        get().header("Content-Type", "\u{e4}"),
        get().header("Accept-Encoding", "gzip, br, nonsense;q=7"),
        get().header("X-Request-Id", "r".repeat(5_000)),
        get().header("Cookie", "a=b; ".repeat(500)),
        crowd(90),
    ] {
        assert_eq!(house.send(&request).status, 200, "{request:?}");
    }
    for request in [crowd(2_000), get().header("X-Huge", "v".repeat(2_000_000))] {
        let status = house.send(&request).status;
        assert!(matches!(status, 400 | 431), "{status}");
    }
    house.is_healthy();
}

/// Below the routes: the answer comes from the HTTP library and need not be JSON.
#[test]
fn what_is_not_http_is_refused_without_harm() {
    let house = house();
    for text in [
        "GET\r\n\r\n",
        "GET /health\r\n\r\n",
        "GET /health HTTP/9.9\r\n\r\n",
        "GET /he alth HTTP/1.1\r\n\r\n",
        "GET /health HTTP/1.1\r\nNo colon\r\n\r\n",
        "GET /health HTTP/1.1\r\nX: a\0b\r\n\r\n",
        "G\0T /health HTTP/1.1\r\n\r\n",
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}",
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: nonsense\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0\r\n\r\n",
    ] {
        let status = house.send_bytes(text.as_bytes()).status;
        assert!((400..500).contains(&status), "{status} to {text:?}");
    }
    house.is_healthy();
}

#[test]
fn a_body_that_breaks_off_is_not_called_too_large() {
    let head = "POST /api/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    let bytes = format!("{head}Transfer-Encoding: chunked\r\n\r\nnonsense\r\n{{}}\r\n0\r\n\r\n");
    let answer = house().send_bytes(bytes.as_bytes());
    assert_eq!(answer.status, 400, "{answer:?}");
    house().is_healthy();
}
