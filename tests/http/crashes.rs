//! # Crashes: the server dies, or is stopped, while a request runs

use semel_tests::oracle::Fault;
use serde_json::{Value, json};

use crate::scene::{OPTIONS, Scene, with, without_key};

/// On disk, so that there is something to come back to.
fn lasting() -> Scene {
    Scene::set_with(&[&OPTIONS[..], &["--shutdown-ms", "50"]].concat())
}

/// A run whose first request is held by the other side.
fn caught(scene: &Scene, workflow: &str, order: &str, more: Value) -> String {
    let request = with(json!({"readTimeOut": 600_000}), more);
    scene.define(workflow, request, json!({"retryCount": 1}));
    scene.oracle.plan(order, &[Fault::Slow]);
    let id = scene.start(workflow, order);
    scene.heard(order, 1);
    id
}

#[test]
fn after_a_crash_a_keyed_request_is_sent_again_and_a_bare_one_is_not() {
    let mut scene = lasting();
    let keyed = caught(&scene, "keyed", "k", json!({}));
    let bare = caught(&scene, "bare", "b", without_key());
    scene.server.restart().expect("it starts again");
    scene.advance(3_600);
    let run = scene.over(&keyed);
    assert_eq!(run["status"], "COMPLETED", "{run:#}");
    assert_eq!(run["tasks"][0]["status"], "TIMED_OUT");
    let heard = scene.oracle.heard("k");
    assert_eq!((heard.len(), scene.oracle.effects("k")), (2, 1));
    assert_eq!(heard[0].body, heard[1].body);
    assert_eq!(heard[0].headers["idempotency-key"], heard[1].headers["idempotency-key"]);
    let task = scene.doubtful(&bare);
    assert_eq!(task["status"], "IN_PROGRESS", "{task:#}");
    assert_eq!((scene.oracle.heard("b").len(), scene.oracle.effects("b")), (1, 1));
    // A person finds it, looks at the other side and says so.
    let listed = scene.caller.get("/api/effects?state=UNKNOWN").expect("an answer").json();
    let effects = listed["results"].as_array().expect("a list");
    let found = effects.iter().find(|it| it["key"] == task["effectKey"]);
    let found = found.unwrap_or_else(|| panic!("{listed:#}"));
    assert_eq!(found["state"], "UNKNOWN");
    let path = format!("/api/effects/call/{}/resolve", task["effectKey"].as_str().unwrap());
    let said = json!({"applied": true, "output": {"charge": 1}, "by": "eve"});
    assert_eq!(scene.caller.post(&path, &said).expect("an answer").status, 200);
    let run = scene.over(&bare);
    assert_eq!((&run["status"], &run["output"]), (&json!("COMPLETED"), &json!({"charge": 1})));
    assert_eq!(scene.oracle.heard("b").len(), 1);
}

#[test]
fn a_server_that_is_stopped_gives_back_what_may_be_sent_again() {
    let mut scene = lasting();
    let keyed = caught(&scene, "keyed", "k", json!({}));
    let bare = caught(&scene, "bare", "b", without_key());
    scene.server.stop().expect("it ends politely");
    scene.server.restart().expect("it starts again");
    let task = scene.task(&keyed);
    assert_eq!(
        (&task["status"], &task["retryCount"]),
        (&json!("COMPLETED"), &json!(0)),
        "{task:#}"
    );
    assert_eq!((scene.oracle.heard("k").len(), scene.oracle.effects("k")), (2, 1));
    let task = scene.doubtful(&bare);
    let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
    assert!(reason.contains("the server was stopped"), "{reason}");
    assert_eq!(scene.oracle.heard("b").len(), 1);
}

#[test]
fn a_server_that_is_stopped_lets_a_request_finish() {
    let mut scene = Scene::set_with(&OPTIONS);
    scene.define("held", json!({"readTimeOut": 60_000}), json!({}));
    scene.oracle.plan("h", &[Fault::Held]);
    let id = scene.start("held", "h");
    scene.heard("h", 1);
    scene.server.terminate().expect("it is told");
    scene.oracle.release();
    let ended = scene.server.await_exit().expect("it ends");
    assert!(ended.success(), "{}", scene.server.log());
    scene.server.restart().expect("it starts again");
    assert_eq!(scene.task(&id)["status"], "COMPLETED");
    assert_eq!(scene.oracle.heard("h").len(), 1);
}
