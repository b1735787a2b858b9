//! # Sending: keys where well-known services look for them, and other methods

use serde_json::{Value, json};

use crate::scene::Scene;

#[test]
fn presets_put_the_key_where_it_is_looked_for() {
    let scene = Scene::set();
    for (preset, header) in [
        ("stripe", "idempotency-key"),
        ("adyen", "idempotency-key"),
        ("paypal", "paypal-request-id"),
        ("checkout", "cko-idempotency-key"),
    ] {
        scene.define(preset, json!({"idempotency": {"preset": preset}}), json!({}));
        let task = scene.task(&scene.start(preset, preset));
        let heard = &scene.oracle.heard(preset)[0];
        assert_eq!(task["effectKey"], heard.headers[header], "{preset}");
    }
    scene.define("square", json!({"idempotency": {"preset": "square"}}), json!({}));
    let task = scene.task(&scene.start("square", "square"));
    let heard = &scene.oracle.heard("square")[0];
    let body: Value = serde_json::from_str(&heard.body).expect("a body of JSON");
    assert_eq!(body["idempotency_key"], task["effectKey"]);
    assert!(!heard.headers.contains_key("idempotency-key"));
}

#[test]
fn a_key_of_the_authors_own_is_sent_as_it_is() {
    let scene = Scene::set();
    let headers = json!({"Idempotency-Key": "order-${workflow.input.order}"});
    scene.define("own", json!({ "headers": headers }), json!({}));
    scene.task(&scene.start("own", "7"));
    let heard = &scene.oracle.heard("7")[0];
    assert_eq!(heard.headers["idempotency-key"], "order-7");
    let value = json!({"idempotency": {"value": "v-${workflow.input.order}", "header": "X-Once"}});
    scene.define("value", value, json!({}));
    scene.task(&scene.start("value", "8"));
    let heard = &scene.oracle.heard("8")[0];
    assert_eq!(heard.headers["x-once"], "v-8");
    assert!(!heard.headers.contains_key("idempotency-key"));
}

#[test]
fn the_fence_can_be_put_anywhere() {
    let scene = Scene::set();
    let headers = json!({"headers": {"X-Mine": "<${CPEWF_FENCE}>"}});
    scene.define("fenced", headers, json!({}));
    let task = scene.task(&scene.start("fenced", "f"));
    let heard = &scene.oracle.heard("f")[0];
    assert_eq!(heard.headers["x-mine"], format!("<{}>", heard.headers["x-fence-token"]));
    let stored = &task["inputData"]["http_request"]["headers"]["X-Mine"];
    assert_eq!(stored, "<${CPEWF_FENCE}>");
}
