//! # Limits: bodies and headers that are too much, and HTTP that is none

use serde_json::json;

use crate::house::{House, house};
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

#[test]
fn very_long_texts_are_kept_or_refused() {
    let house = house();
    let long = "n".repeat(100_000);
    house.define("l_long");
    let start = json!({"name": "l_long", "correlationId": long, "createdBy": long});
    let answer = house.is_civil(&Request::post("/api/workflow", &start));
    if answer.status == 200 {
        let found = house.send(&Request::get(format!("/api/workflow/{}", answer.text()))).json();
        assert_eq!(found["correlationId"], long.as_str());
    }
    house.is_civil(&Request::post("/api/workflow", &json!({"name": long})));
    let poll = format!("/api/tasks/poll/l_long?workerid={}", "w".repeat(20_000));
    house.is_civil(&Request::get(poll));
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
