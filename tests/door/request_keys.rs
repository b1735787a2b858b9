//! # Request keys: the same request again gets the first answer
//!
//! Over the table of all routes, and the conformance list of the standard: keys that are missing,
//! empty, too long, quoted, reused; requests at the same time; refusals that are said again.

use serde_json::{Value, json};

use crate::access::Closed;
use crate::checklist::is_id;
use crate::house::{House, house};
use crate::raw::{Answer, Request};
use crate::routes::{ROUTES, Subject};

fn keyed(request: Request, key: &str) -> Request {
    request.header("Idempotency-Key", key)
}

fn is_replayed(answer: &Answer) -> Option<bool> {
    answer.header("idempotent-replayed").map(|text| text == "true")
}

/// What is stored of a subject.
fn census(house: &House, subject: &Subject) -> Vec<String> {
    let workflow = &subject.workflow;
    [
        "/api/metadata/workflow".to_owned(),
        "/api/metadata/taskdefs".to_owned(),
        "/api/metadata/tags".to_owned(),
        "/api/environment".to_owned(),
        "/api/secrets-v2".to_owned(),
        "/api/applications".to_owned(),
        "/api/schema".to_owned(),
        "/api/event".to_owned(),
        "/api/tasks/queue/all".to_owned(),
        format!("/api/workflow/{workflow}"),
        format!("/api/workflow/{workflow}/log"),
        format!("/api/tasks/{}/log", subject.task["taskId"].as_str().unwrap_or_default()),
    ]
    .map(|path| house.send(&Request::get(path)).text())
    .into()
}

#[test]
fn every_route_that_changes_something_is_done_once_under_one_key() {
    let house = House::own(&[]);
    for (at, route) in ROUTES.iter().enumerate().filter(|(_, route)| route.is_keyed()) {
        let subject = Subject::made(&house, &format!("once_{at}"));
        let request = keyed(subject.request(route), &format!("key-{at}"));
        let name = format!("{} {}", route.method, route.path);
        let first = house.is_civil(&request);
        let before = census(&house, &subject);
        let again = house.is_civil(&request);
        assert_eq!(again.status, first.status, "{name}: {}", again.text());
        assert_eq!(again.text(), first.text(), "{name}");
        assert_eq!(again.header("content-type"), first.header("content-type"), "{name}");
        assert_eq!(census(&house, &subject), before, "{name}");
        assert_eq!(is_replayed(&first), Some(false), "{name}");
        let depends_on_state = ["trouble.md#held", "trouble.md#wrong-state"]
            .iter()
            .any(|row| first.status == 409 && first.text().contains(row));
        let did_nothing = depends_on_state || first.header("x-signal") == Some("NONE");
        let is_decided = !did_nothing && !matches!(first.status, 400 | 404);
        if route.path.ends_with("/renew") {
            continue; // A lease is renewed again, or refused again: see `grants`.
        }
        assert_eq!(is_replayed(&again), Some(is_decided), "{name}: {}", first.text());
        assert_eq!(again.header("idempotency-expires").is_some(), is_decided, "{name}");
    }
    house.is_healthy();
}

#[test]
fn what_only_looks_takes_no_notice_of_a_key() {
    let house = House::own(&[]);
    let subject = Subject::made(&house, "looks");
    for route in ROUTES.iter().filter(|route| !route.is_keyed() && route.path != "/") {
        let answer = house.send(&keyed(subject.request(route), "k"));
        let is_start = route.path == "/api/workflow/execute/{name}";
        assert_eq!(is_replayed(&answer), is_start.then_some(false), "{}", route.path);
    }
}

fn start(house: &House, name: &str, key: &str, input: &Value) -> Answer {
    house.send(&keyed(Request::post(format!("/api/workflow/{name}"), input), key))
}

#[test]
fn a_start_is_one_run_however_its_key_and_body_are_written() {
    let house = house();
    house.define("rk_start");
    let first = start(&house, "rk_start", "rk-start", &json!({"a": 1, "b": {"c": [1.0, 2]}}));
    let id = is_id(&first);
    assert_eq!(is_replayed(&first), Some(false));
    let reordered =
        Request::new("POST", "/api/workflow/rk_start/").body(r#"{"b":{"c":[1,2.0]} , "a":1e0}"#);
    let again = house.send(&keyed(reordered, "\"rk-start\""));
    assert_eq!((is_id(&again), is_replayed(&again)), (id, Some(true)));
    assert_eq!(again.header("x-idempotency-outcome"), Some("REPLAYED"));
    assert_eq!(again.header("x-workflow-id"), first.header("x-workflow-id"));
    assert_eq!(again.header("idempotency-expires"), first.header("idempotency-expires"));
    assert_ne!(again.header("x-request-id"), first.header("x-request-id"));
}

#[test]
fn without_a_key_every_request_is_new() {
    let house = house();
    house.define("rk_none");
    let plain = || house.send(&Request::post("/api/workflow/rk_none", &json!({})));
    let (one, other) = (plain(), plain());
    assert_ne!(is_id(&one), is_id(&other));
    assert_eq!((is_replayed(&one), one.header("idempotency-expires")), (None, None));
}

#[test]
fn another_request_under_the_same_key_is_refused() {
    let house = house();
    house.define("rk_other");
    is_id(&start(&house, "rk_other", "rk-other", &json!({"a": 1})));
    let others = [
        Request::post("/api/workflow/rk_other", &json!({"a": 2})),
        Request::post("/api/workflow/rk_other?priority=1", &json!({"a": 1})),
        Request::post("/api/workflow/start/rk_other/1", &json!({"a": 1})),
        Request::new("DELETE", "/api/workflow/rk_other"),
    ];
    for request in others {
        let answer = house.refuses(&keyed(request, "rk-other"));
        let body = answer.json();
        assert_eq!((answer.status, &body["code"]), (422, &json!("IDEMPOTENCY_PAYLOAD_MISMATCH")));
        assert_eq!(body["metadata"]["safeNewKey"], true, "{body}");
        assert_eq!(body["retryable"], false);
        assert_eq!(answer.header("x-error-source"), Some("workflow"));
    }
}

#[test]
fn what_is_no_key_is_refused_and_nothing_is_done() {
    let house = house();
    house.define("rk_bad");
    let long = "k".repeat(256);
    for key in ["", " ", "\"\"", "\"open", "two words", "tab\tbed", "caf\u{e9}", long.as_str()] {
        let answer = start(&house, "rk_bad", key, &json!({}));
        assert_eq!(answer.status, 400, "{key:?}");
        assert_eq!(answer.json()["code"], "IDEMPOTENCY_KEY_INVALID");
        assert_eq!(answer.header("x-error-source"), Some("engine"));
    }
    let twice = Request::post("/api/workflow/rk_bad", &json!({}));
    assert_eq!(house.refuses(&keyed(keyed(twice, "a"), "b")).status, 400);
    assert_eq!(house.send(&Request::get("/api/tasks/poll/rk_bad")).status, 204);
    is_id(&start(&house, "rk_bad", &"k".repeat(255), &json!({})));
}

#[test]
fn a_refusal_that_was_decided_is_said_again_and_one_that_was_not_is_not() {
    let house = house();
    let missing = || start(&house, "rk_late", "rk-late", &json!({}));
    assert_eq!(missing().status, 404);
    house.define("rk_late");
    let there = missing();
    assert_eq!((there.status, is_replayed(&there)), (200, Some(false)), "{}", there.text());
    let id = house.start("rk_late");
    let run = format!("/api/workflow/{id}");
    assert_eq!(house.send(&Request::new("DELETE", &run)).status, 200);
    let pause = || keyed(Request::new("PUT", format!("{run}/pause")), "rk-pause");
    assert_eq!(house.send(&pause()).status, 409);
    assert_eq!(house.send(&Request::new("POST", format!("{run}/restart"))).status, 204);
    let again = house.send(&pause());
    assert_eq!((again.status, is_replayed(&again)), (200, Some(false)), "{}", again.text());
    let replayed = house.send(&pause());
    assert_eq!((replayed.status, is_replayed(&replayed)), (200, Some(true)));
    let broken = Request::new("POST", "/api/workflow/rk_late").body("{");
    assert_eq!(house.send(&keyed(broken, "rk-broken")).status, 400);
    let mended = start(&house, "rk_late", "rk-broken", &json!({}));
    assert_eq!((mended.status, is_replayed(&mended)), (200, Some(false)));
}

#[test]
fn two_callers_have_nothing_to_do_with_each_others_keys() {
    let closed = Closed::built(&[]);
    let body = json!({"name": "rk_two", "version": 1, "schemaVersion": 2, "tasks": [
        {"name": "rk_two", "taskReferenceName": "only", "type": "SIMPLE"}]});
    closed.ask("POST", "/api/metadata/workflow", &body);
    let holders = [closed.holder("one", &["operator"]), closed.holder("two", &["operator"])];
    let ids = holders.map(|holder| {
        let request = || Request::post("/api/workflow/rk_two", &json!({}));
        let [first, again] =
            [(); 2].map(|()| closed.house.send(&keyed(holder.says(request()), "same")));
        assert_eq!(is_id(&first), is_id(&again));
        assert_eq!((is_replayed(&first), is_replayed(&again)), (Some(false), Some(true)));
        first.text()
    });
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_path_may_insist_on_keys() {
    let house = House::own(&["--request-keys-required", "/api/workflow,/api/event"]);
    house.define("rk_must");
    let plain = Request::post("/api/workflow/rk_must", &json!({}));
    let refused = house.refuses(&plain);
    assert_eq!(
        (refused.status, &refused.json()["code"]),
        (400, &json!("IDEMPOTENCY_KEY_REQUIRED"))
    );
    is_id(&house.send(&keyed(plain, "k")));
    let names = json!({"workflowNames": ["rk_must"], "correlationIds": ["c"]});
    let looked = house.send(&Request::post("/api/workflow/correlated/batch", &names));
    assert_eq!(looked.status, 200, "whoever only looks needs none: {}", looked.text());
}

#[test]
fn the_same_request_at_the_same_time_is_waited_for() {
    let house = house();
    house.define("rk_both");
    let execute = |prefer: &str| {
        let path = "/api/workflow/execute/rk_both/1?waitForSeconds=3&requestId=r";
        let request = keyed(Request::post(path, &json!({})), "rk-both");
        house.send(&request.header("Prefer", prefer))
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| execute("wait=0"));
        let poll = Request::get("/api/tasks/poll/batch/rk_both?timeout=5000&workerid=w");
        let begun = house.send(&poll).json();
        assert_eq!(begun.as_array().map(Vec::len), Some(1), "{begun}");
        let busy = execute("wait=0");
        let body = busy.json();
        assert_eq!((busy.status, &body["code"]), (409, &json!("IDEMPOTENCY_IN_PROGRESS")));
        assert_eq!(busy.header("retry-after"), Some("1"));
        assert_eq!(
            (&body["retryable"], &body["metadata"]["safeNewKey"]),
            (&json!(true), &json!(false))
        );
        let waited = execute("wait=30");
        let first = first.join().expect("the first caller is answered");
        assert_eq!((waited.status, waited.text()), (first.status, first.text()));
        assert_eq!((is_replayed(&first), is_replayed(&waited)), (Some(false), Some(true)));
    });
}

#[test]
fn hundred_requests_at_once_under_one_key_are_one() {
    let house = house();
    house.define("rk_many");
    let ids: Vec<String> = std::thread::scope(|scope| {
        let ask = || is_id(&start(&house, "rk_many", "rk-many", &json!({"n": 1})));
        let all: Vec<_> = (0..100).map(|_| scope.spawn(ask)).collect();
        all.into_iter().map(|one| one.join().expect("everybody is answered")).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]));
    house.claim("rk_many");
    assert_eq!(house.send(&Request::get("/api/tasks/poll/rk_many")).status, 204);
}

#[test]
fn a_bulk_says_again_what_became_of_each() {
    let house = house();
    house.define("rk_bulk");
    let ids = json!([house.start("rk_bulk"), "nonsense", house.start("rk_bulk")]);
    let pause = || {
        let request = Request::new("PUT", "/api/workflow/bulk/pause").json(&ids);
        house.send(&keyed(request, "rk-bulk"))
    };
    let first = pause();
    let resume = Request::new("PUT", "/api/workflow/bulk/resume").json(&ids);
    assert_eq!(house.send(&resume).status, 200);
    let again = pause();
    assert_eq!((again.text(), is_replayed(&again)), (first.text(), Some(true)));
    let run = format!("/api/workflow/{}", ids[0].as_str().unwrap_or_default());
    assert_eq!(house.send(&Request::get(run)).json()["status"], "RUNNING");
}

#[test]
fn a_secret_that_was_told_once_is_told_to_the_same_request_again() {
    let house = house();
    let made = house.send(&Request::post("/api/applications", &json!({"name": "rk"}))).json();
    let id = made["id"].as_str().unwrap_or_default();
    let make = || {
        let request = Request::new("POST", format!("/api/applications/{id}/accessKeys"));
        house.send(&keyed(request, "rk-secret")).json()
    };
    let first = make();
    assert_eq!(make(), first);
    assert!(first["secret"].as_str().is_some_and(|secret| secret.len() > 20));
    let keys = house.send(&Request::get(format!("/api/applications/{id}/accessKeys"))).json();
    assert_eq!(keys.as_array().map(Vec::len), Some(1), "{keys}");
}
