//! # The door: data in disguise, said by people, in keys and in requests

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::json;

use crate::data_in_disguise::{
    BAIT, ENVIRONMENT, SECRET, awaited, begin, built, define, finish, is_clean, pass_first, run,
    simple,
};
use crate::raw::Request;

/// A request about that run.
type Way<'a> = &'a dyn Fn(&str) -> Request;

#[test]
fn what_people_and_messages_say_is_text() {
    let house = built(&[]);
    let wait = json!({"name": "wait", "taskReferenceName": "wait", "type": "WAIT"});
    let spy = simple(
        "g_spy",
        &json!({"v": "${wait.output.v}", "in": "<${wait.output.v}>", "again": "${workflow.input.bait}"}),
    );
    define(&house, "g_waits", &[simple("g_first", &json!({})), wait, spy.clone()], &json!({}));
    let said = json!({"v": BAIT});
    let ways: [(&str, Way<'_>); 4] = [
        ("a signal", &|id| Request::post(format!("/api/tasks/{id}/COMPLETED/signal"), &said)),
        ("an answer by name", &|id| {
            Request::post(format!("/api/tasks/{id}/wait/COMPLETED"), &said)
        }),
        ("a skip", &|id| {
            Request::new("PUT", format!("/api/workflow/{id}/skiptask/wait"))
                .json(&json!({"taskInput": said, "taskOutput": said}))
        }),
        ("a rerun", &|id| {
            Request::post(
                format!("/api/workflow/{id}/rerun"),
                &json!({"workflowInput": {"bait": BAIT}, "correlationId": BAIT}),
            )
        }),
    ];
    for (what, way) in ways {
        let id = begin(&house, "g_waits", &json!({"bait": BAIT}));
        // A step is skipped before it is reached; everything else comes when it waits.
        if what == "a skip" {
            let answer = house.send(&way(&id));
            assert!(answer.status < 300, "{what}: {}", answer.text());
        }
        pass_first(&house);
        if what == "a rerun" {
            let ended = Request::new("DELETE", format!("/api/workflow/{id}?reason=g"));
            assert!(house.send(&ended).status < 300);
            let answer = house.send(&way(&id));
            assert!(answer.status < 300, "{what}: {}", answer.text());
            pass_first(&house);
            let answer = house.send(&ways[0].1(&id));
            assert!(answer.status < 300, "{what}: {}", answer.text());
        } else if what != "a skip" {
            let answer = house.send(&way(&id));
            assert!(answer.status < 300, "{what}: {}", answer.text());
        }
        let spy = awaited(&house, "g_spy");
        let given = json!({"v": BAIT, "in": format!("<{BAIT}>"), "again": BAIT});
        assert_eq!(spy["inputData"], given, "{what}");
        finish(&house, &spy, "COMPLETED", json!({}));
        is_clean(what, &run(&house, &id));
    }
}

#[test]
fn keys_that_are_made_of_data_are_text() {
    let house = built(&[]);
    let effect = json!({"key": "pay-${bait}", "scope": "g_scope", "retentionSeconds": 900});
    let mut paid = simple("g_paid", &json!({"bait": "${workflow.input.bait}"}));
    paid["effect"] = effect;
    let start = json!({"name": "mid", "taskReferenceName": "mid", "type": "START_WORKFLOW", "inputParameters":
        {"startWorkflow": {"name": "g_keyed", "idempotencyKey": "k-${workflow.input.bait}",
            "idempotencyStrategy": "RETURN_EXISTING", "input": {"bait": "${workflow.input.bait}"}}}});
    let by_input = json!({"idempotency": {"keyExpression": "own-${workflow.input.bait}"},
        "concurrency": {"key": "gate-${workflow.input.bait}", "limit": 5}});
    define(&house, "g_keyed", &[paid], &by_input);
    define(&house, "g_starts", &[start], &json!({}));
    begin(&house, "g_starts", &json!({"bait": BAIT}));
    let paid = awaited(&house, "g_paid");
    is_clean("a step with a key", &paid);
    let id = paid["workflowInstanceId"].as_str().unwrap();
    let seen = run(&house, id);
    is_clean("a run with a key", &seen);
    let key = seen["idempotencyKey"].as_str().unwrap_or_default();
    assert_eq!(key, format!("k-{BAIT}"), "{seen}");
    let effects = house.send(&Request::get("/api/effects?scope=g_scope")).json();
    is_clean("an effect", &effects);
    assert!(effects.to_string().contains("${workflow.secrets.g_bank}"), "{effects}");
    let own = begin(&house, "g_keyed", &json!({"bait": BAIT}));
    let seen = run(&house, &own);
    assert_eq!(seen["idempotencyKey"], format!("own-{BAIT}"), "{seen}");
    let metrics = house.send(&Request::get("/metrics")).text();
    assert!(!metrics.contains(SECRET) && !metrics.contains(ENVIRONMENT));
}

#[test]
fn a_request_that_is_made_of_data_sends_it_as_text() {
    let house = built(&["--http-allow", "127.0.0.0/8"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut request, mut part) = (String::new(), [0; 4096]);
        while !request.contains("the-end-of-it") {
            let read = stream.read(&mut part).unwrap();
            assert_ne!(read, 0, "{request}");
            request.push_str(&String::from_utf8_lossy(&part[..read]));
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        request
    });
    let bait = "${workflow.input.bait}";
    let request = json!({"uri": format!("http://{address}/?q=1"), "method": "POST",
        "headers": {"X-Bait": bait, "Authorization": "Bearer ${workflow.secrets.g_bank}"},
        "body": {"v": bait, "in": format!("<{bait}>"), "last": "the-end-of-it"}});
    let step = json!({"name": "http", "taskReferenceName": "http", "type": "HTTP",
        "inputParameters": {"http_request": request}});
    define(&house, "g_http", &[step], &json!({}));
    let id = begin(&house, "g_http", &json!({"bait": BAIT}));
    let request = heard.join().unwrap();
    assert!(request.contains(&format!("Bearer {SECRET}")), "{request}");
    let without = request.replacen(&format!("Bearer {SECRET}"), "", 1);
    assert!(!without.contains(SECRET) && !without.contains(ENVIRONMENT), "{request}");
    assert_eq!(without.matches("${workflow.secrets.g_bank}").count(), 3, "{request}");
    is_clean("a run with a request", &run(&house, &id));
}
