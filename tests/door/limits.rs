//! # Limits: bodies and headers that are too much, and HTTP that is none

use semel_tests::process::{DEADLINE, until};
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

/// Requests with a name or an id that cannot be, each beside the field that is wrong.
fn spoilt(task: &Value, bad_name: &str, bad_id: &str) -> Vec<(&'static str, Request)> {
    let definition = |name: &str, task: &str, reference: &str| {
        json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [
            {"name": task, "taskReferenceName": reference, "type": "SIMPLE"}]})
    };
    let report = |worker: &str| {
        let mut report = report(task, "IN_PROGRESS", json!({}));
        report["workerId"] = json!(worker);
        report
    };
    let owner = |owner: &str| json!({"scope": "s", "key": "k", "owner": owner, "leaseSeconds": 9});
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let run = task["workflowInstanceId"].as_str().expect("a task has a run");
    vec![
        ("name", Request::post("/api/metadata/workflow", &definition(bad_name, "t", "t"))),
        ("tasks[0].name", Request::post("/api/metadata/workflow", &definition("l", bad_name, "t"))),
        (
            "tasks[0].taskReferenceName",
            Request::post("/api/metadata/workflow", &definition("l", "t", bad_name)),
        ),
        ("name", Request::post("/api/metadata/taskdefs", &json!([{"name": bad_name}]))),
        (
            "name",
            Request::post("/api/event", &json!({"name": bad_name, "event": "e", "actions": []})),
        ),
        ("name", Request::post("/api/workflow", &json!({"name": bad_name}))),
        (
            "correlationId",
            Request::post("/api/workflow", &json!({"name": "l_names", "correlationId": bad_id})),
        ),
        (
            "correlationId",
            Request::post(
                format!("/api/workflow/l_names?correlationId={}", encoded(bad_id)),
                &json!({}),
            ),
        ),
        (
            "createdBy",
            Request::post("/api/workflow", &json!({"name": "l_names", "createdBy": bad_id})),
        ),
        (
            "taskToDomain",
            Request::post(
                "/api/workflow",
                &json!({"name": "l_names", "taskToDomain": {"t": bad_id}}),
            ),
        ),
        ("workerid", Request::get(format!("/api/tasks/poll/l_names?workerid={}", encoded(bad_id)))),
        ("domain", Request::get(format!("/api/tasks/poll/l_names?domain={}", encoded(bad_id)))),
        ("tasktype", Request::get(format!("/api/tasks/poll/{}", encoded(bad_id)))),
        ("workerId", Request::post("/api/tasks", &report(bad_id))),
        (
            "workerid",
            Request::post(
                format!("/api/tasks/{run}/l_names/COMPLETED?workerid={}", encoded(bad_id)),
                &json!({}),
            ),
        ),
        ("owner", Request::post("/api/effects/try-start", &owner(bad_id))),
    ]
}

#[test]
fn names_and_ids_have_a_length_and_stand_on_one_line() {
    let house = house();
    house.define("l_names");
    let claimed = house.send(&Request::post("/api/workflow", &json!({"name": "l_names"})));
    assert_eq!(claimed.status, 200, "{}", claimed.text());
    let task = house.claim("l_names");
    let (name, id) = ("n".repeat(256), "i".repeat(513));
    let fits = json!({"name": "l_names", "correlationId": "i".repeat(512), "createdBy": "\u{e9}".repeat(512)});
    assert_eq!(house.send(&Request::post("/api/workflow", &fits)).status, 200);
    for (bad_name, bad_id) in [(&*name, &*id), ("a\nb", "c\nd"), ("a\u{7f}", "c\u{1b}[2J")] {
        let cases = spoilt(&task, bad_name, bad_id);
        for (field, request) in cases {
            let answer = house.refuses(&request);
            let text = answer.text();
            assert!(
                answer.status == 400 && text.contains(field),
                "{field}: {} {text}",
                answer.status
            );
            let names_limit =
                ["255", "512", "control characters"].iter().any(|it| text.contains(it));
            assert!(names_limit, "{field}: {text}");
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

/// A definition of so many tasks, most of them inside one loop.
fn of_tasks(name: &str, count: usize) -> serde_json::Value {
    let noop =
        |at: usize| json!({"name": "n", "taskReferenceName": format!("n{at}"), "type": "NOOP"});
    let body: Vec<_> = (0..count - 1).map(noop).collect();
    json!({"name": name, "schemaVersion": 2, "tasks": [{"name": "l", "taskReferenceName": "l",
        "type": "DO_WHILE", "loopCondition": "false", "loopOver": body}]})
}

#[test]
fn a_definition_that_is_too_large_is_400_and_names_the_setting() {
    let house = House::own(&["--definition-tasks-max", "20", "--definition-bytes-max", "9000"]);
    let register = |definition: &serde_json::Value| {
        house.send(&Request::post("/api/metadata/workflow", definition))
    };
    assert_eq!(register(&of_tasks("l_fits", 20)).status, 200);
    let many = of_tasks("l_many", 21);
    let mut long = of_tasks("l_long_definition", 2);
    long["description"] = json!("x".repeat(9_000));
    for (definition, path, said) in [
        (many, "tasks", "the definition has 21 tasks"),
        (long, "", "9000 (docs/errors/DEFINITION_SIZE.md)"),
    ] {
        let answer = register(&definition);
        assert_eq!(answer.status, 400);
        let found = answer.json()["validationErrors"][0].clone();
        assert_eq!(found["path"], path);
        assert!(found["message"].to_string().contains(said), "{found}");
        let start = json!({"name": "l_given", "workflowDef": definition});
        let answer = house.send(&Request::post("/api/workflow", &start));
        assert_eq!(answer.status, 400);
        let found = answer.json()["validationErrors"][0].clone();
        assert!(found["path"].to_string().contains("workflowDef"), "{found}");
    }
    house.is_healthy();
}

#[test]
fn a_loop_without_end_over_nothing_ends_with_a_name() {
    let house = House::own(&["--loop-turns-max", "50"]);
    let mut endless = of_tasks("l_endless", 2);
    endless["tasks"][0]["loopCondition"] = json!("true");
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &endless)).status, 200);
    let run = house.send(&Request::post("/api/workflow/l_endless", &json!({}))).text();
    let ended = || {
        let run = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
        (run["status"] != "RUNNING").then_some(run)
    };
    let run = until("it ends", DEADLINE, ended).expect("it ends");
    assert_eq!(run["status"], "FAILED");
    let reason = run["reasonForIncompletion"].to_string();
    assert!(reason.contains("loop_turns_max"), "{reason}");
}
