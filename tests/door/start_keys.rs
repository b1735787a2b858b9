//! # Start keys: what they remember, what they say, and how they are looked at and reset

use serde_json::{Value, json};

use crate::checklist::is_id;
use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

/// A start with a body of its own, and headers.
fn start(house: &House, body: &Value, headers: &[(&str, &str)]) -> Answer {
    let request = Request::post("/api/workflow", body);
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(name, value.as_bytes()));
    house.send(&request)
}

fn keyed(name: &str, strategy: &str, input: &Value) -> Value {
    json!({"name": name, "idempotencyKey": "k", "idempotencyStrategy": strategy, "input": input})
}

fn record(house: &House, name: &str, key: &str) -> Answer {
    house.send(&Request::get(format!("/api/idempotency/workflow/{name}/{key}")))
}

fn define(house: &House, name: &str, policy: &Value) {
    house.define(name);
    let definition = json!({"name": name, "version": 1, "schemaVersion": 2, "idempotency": policy,
        "tasks": [{"name": name, "taskReferenceName": "only", "type": "SIMPLE"}]});
    let request = Request::post("/api/metadata/workflow?overwrite=true", &definition);
    let answer = house.send(&request);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[test]
fn whoever_made_the_run_and_asks_again_is_told_so() {
    let house = house();
    house.define("s_mine");
    let fail = keyed("s_mine", "FAIL", &json!({}));
    let mine = [("X-Request-Id", "r-1")];
    let id = is_id(&start(&house, &fail, &mine));
    let again = start(&house, &fail, &mine);
    assert_eq!(is_id(&again), id);
    assert_eq!(again.header("x-idempotency-outcome"), Some("RETURNED_EXISTING"));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(start(&house, &fail, &[("X-Request-Id", "r-2")]).status, 409);
    assert_eq!(start(&house, &fail, &[]).status, 409);
    // The id may come in the query, and protects what would end the run it made itself.
    let replace = keyed("s_mine", "TERMINATE_EXISTING", &json!({}));
    let request = || Request::post("/api/workflow?requestId=r-3", &replace);
    let second = is_id(&house.send(&request()));
    assert_ne!(second, id);
    assert_eq!(is_id(&house.send(&request())), second);
}

#[test]
fn a_conflict_says_all_there_is_to_know() {
    let house = house();
    house.define("s_conflict");
    let id = is_id(&start(&house, &keyed("s_conflict", "FAIL", &json!({})), &[]));
    let refused = start(&house, &keyed("s_conflict", "FAIL_ON_RUNNING", &json!({})), &[]);
    assert_eq!(refused.status, 409);
    assert_eq!(refused.header("x-idempotency-outcome"), Some("REJECTED"));
    assert_eq!(refused.header("x-workflow-id"), Some(id.as_str()));
    assert_eq!(refused.header("x-workflow-version"), Some("1"));
    let metadata = &refused.json()["metadata"];
    assert!(metadata["createdAt"].is_i64(), "{metadata}");
    for (name, value) in [
        ("existingWorkflowId", json!(id)),
        ("existingStatus", json!("RUNNING")),
        ("existingVersion", json!(1)),
        ("idempotencyKey", json!("k")),
        ("strategy", json!("FAIL_ON_RUNNING")),
        ("safeNewKey", json!(false)),
    ] {
        assert_eq!(metadata[name], value, "{metadata}");
    }
    assert_eq!(house.send(&Request::new("PUT", format!("/api/workflow/{id}/pause"))).status, 200);
    let paused = start(&house, &keyed("s_conflict", "FAIL", &json!({})), &[]);
    assert_eq!(paused.json()["metadata"]["existingStatus"], "PAUSED");
}

#[test]
fn another_payload_under_a_key_is_told_of() {
    let house = house();
    house.define("s_flag");
    let first = json!({"amount": 1, "items": [{"a": 1, "b": 2}]});
    let same = json!({"items": [{"b": 2.0, "a": 1}], "amount": 1.0});
    let other = json!({"amount": 2, "items": []});
    let existing = |input: &Value| start(&house, &keyed("s_flag", "RETURN_EXISTING", input), &[]);
    let id = is_id(&existing(&first));
    assert_eq!(existing(&same).header("x-idempotency-payload-mismatch"), None);
    let flagged = existing(&other);
    assert_eq!(is_id(&flagged), id);
    assert_eq!(flagged.header("x-idempotency-payload-mismatch"), Some("true"));
    let refused = start(&house, &keyed("s_flag", "FAIL", &other), &[]);
    assert_eq!(refused.status, 409);
    assert_eq!(refused.header("x-idempotency-payload-mismatch"), Some("true"));
    // A new run may be about something else.
    let replaced = start(&house, &keyed("s_flag", "TERMINATE_EXISTING", &other), &[]);
    assert_eq!(replaced.header("x-idempotency-payload-mismatch"), None);
    assert_eq!(replaced.header("x-idempotency-outcome"), Some("CREATED"));
}

#[test]
fn a_definition_says_what_must_be_equal_and_what_then() {
    let house = house();
    let paths = json!(["input.order", "input.amount"]);
    define(&house, "s_print", &json!({"fingerprint": paths}));
    define(&house, "s_lax", &json!({"fingerprint": paths, "onPayloadMismatch": "IGNORE"}));
    let ask = |name: &str, amount: i64, at: i64| {
        let input = json!({"order": "9", "amount": amount, "at": at});
        start(&house, &keyed(name, "RETURN_EXISTING", &input), &[])
    };
    let id = is_id(&ask("s_print", 1, 1));
    assert_eq!(is_id(&ask("s_print", 1, 2)), id, "what is not listed does not count");
    let refused = ask("s_print", 2, 1);
    let body = refused.json();
    assert_eq!((refused.status, &body["code"]), (422, &json!("IDEMPOTENCY_PAYLOAD_MISMATCH")));
    assert_eq!(body["metadata"]["safeNewKey"], true, "{body}");
    assert_eq!(body["metadata"]["existingWorkflowId"], id, "{body}");
    let id = is_id(&ask("s_lax", 1, 1));
    let ignored = ask("s_lax", 2, 1);
    assert_eq!(is_id(&ignored), id);
    assert_eq!(ignored.header("x-idempotency-payload-mismatch"), None);
}

#[test]
fn a_definition_computes_the_key_of_a_start_without_one() {
    let house = house();
    let policy = json!({"keyExpression": "order-${workflow.input.order}",
        "strategy": "RETURN_EXISTING"});
    define(&house, "s_keyed", &policy);
    define(&house, "s_needs", &json!({"keyExpression": "${workflow.input.order}"}));
    // Some SDKs always send FAIL, which is about a key of their own.
    let ask = |order: &str| {
        let body = json!({"name": "s_keyed", "idempotencyStrategy": "FAIL",
            "input": {"order": order}});
        start(&house, &body, &[])
    };
    let id = is_id(&ask("9"));
    assert_eq!(is_id(&ask("9")), id);
    assert_ne!(is_id(&ask("10")), id);
    assert_eq!(record(&house, "s_keyed", "order-9").json()["workflowId"], id);
    let own = json!({"name": "s_keyed", "idempotencyKey": "mine", "input": {"order": "9"}});
    assert_ne!(is_id(&start(&house, &own, &[])), id, "a key of one's own is obeyed");
    let nothing = start(&house, &json!({"name": "s_needs", "input": {}}), &[]);
    assert_eq!(nothing.status, 400);
    assert_eq!(nothing.json()["code"], "IDEMPOTENCY_KEY_REQUIRED");
}

#[test]
fn execute_waits_for_the_run_it_finds() {
    let house = house();
    house.define("s_wait");
    let request = |wait: &str| {
        Request::post(format!("/api/workflow/execute/s_wait/1?waitForSeconds={wait}"), &json!({}))
            .header("X-Idempotency-key", "k")
            .header("X-on-conflict", "RETURN_EXISTING")
    };
    let first = house.send(&request("1"));
    assert_eq!(first.header("x-idempotency-outcome"), Some("CREATED"), "{}", first.text());
    let id = first.header("x-workflow-id").expect("every start says its run").to_owned();
    let task = report(&house.claim("s_wait"), "COMPLETED", json!({"paid": 1}));
    assert_eq!(house.send(&Request::post("/api/tasks", &task)).status, 200);
    let attached = house.send(&request("5"));
    assert_eq!(attached.status, 200);
    assert_eq!(attached.header("x-idempotency-outcome"), Some("ATTACHED"));
    assert_eq!(attached.header("x-workflow-id"), Some(id.as_str()));
    assert_eq!(attached.json()["output"]["paid"], 1, "{}", attached.text());
}

#[test]
fn a_key_shows_its_runs_and_who_asked() {
    let house = house();
    house.define("s_shown");
    assert_eq!(record(&house, "s_shown", "k").status, 404);
    let ask = |strategy: &str| start(&house, &keyed("s_shown", strategy, &json!({})), &[]);
    let first = is_id(&ask("FAIL"));
    let second = is_id(&ask("TERMINATE_EXISTING"));
    assert_eq!(ask("FAIL").status, 409);
    assert_eq!(is_id(&ask("RETURN_RUNNING")), second);
    let shown = record(&house, "s_shown", "k").json();
    assert_eq!(shown["workflowId"], second, "{shown}");
    assert_eq!(shown["status"], "RUNNING", "{shown}");
    assert_eq!(shown["runs"], json!([second, first]), "{shown}");
    assert_eq!(shown["hits"], 2, "{shown}");
    let decisions = shown["decisions"].as_array().expect("a list");
    let outcomes: Vec<_> = decisions.iter().filter_map(|one| one["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["RETURNED_EXISTING", "REJECTED", "CREATED", "CREATED"]);
    assert_eq!(house.send(&Request::new("DELETE", format!("/api/workflow/{second}"))).status, 200);
    assert_eq!(record(&house, "s_shown", "k").json()["status"], "TERMINATED");
}

#[test]
fn a_key_that_is_reset_is_free() {
    let house = house();
    house.define("s_reset");
    let path = "/api/idempotency/workflow/s_reset/k";
    assert_eq!(house.refuses(&Request::new("DELETE", path)).status, 404);
    let ask = || start(&house, &keyed("s_reset", "RETURN_EXISTING", &json!({})), &[]);
    let first = is_id(&ask());
    assert_eq!(house.send(&Request::new("DELETE", path)).status, 204);
    assert_eq!(house.send(&Request::new("DELETE", path)).status, 204, "said twice is said once");
    let shown = record(&house, "s_reset", "k").json();
    assert_eq!(shown["workflowId"], Value::Null, "{shown}");
    assert_eq!(shown["decisions"][0]["outcome"], "RESET", "{shown}");
    let second = is_id(&ask());
    assert_ne!(second, first);
    let shown = record(&house, "s_reset", "k").json();
    assert_eq!(shown["runs"], json!([second, first]), "{shown}");
    // The run that lost its key is as whole as before.
    let verified = house.send(&Request::post(format!("/api/workflow/{first}/verify"), &json!({})));
    assert_eq!(verified.status, 200, "{}", verified.text());
    assert_eq!(house.send(&Request::new("DELETE", format!("/api/workflow/{first}"))).status, 200);
    assert_eq!(record(&house, "s_reset", "k").json()["workflowId"], second);
}

#[test]
fn removing_a_run_frees_its_key() {
    let house = house();
    house.define("s_removed");
    let ask = || start(&house, &keyed("s_removed", "RETURN_EXISTING", &json!({})), &[]);
    let first = is_id(&ask());
    let remove =
        Request::new("DELETE", format!("/api/workflow/{first}/remove?archiveWorkflow=false"));
    assert_eq!(house.send(&remove).status, 200);
    assert_ne!(is_id(&ask()), first);
}

#[test]
fn runs_are_found_by_their_key() {
    let house = house();
    house.define("s_found");
    let body = json!({"name": "s_found", "idempotencyKey": "key-*-found"});
    let id = is_id(&start(&house, &body, &[]));
    let other = json!({"name": "s_found", "idempotencyKey": "key-2-found"});
    is_id(&start(&house, &other, &[]));
    let found = || {
        let path = "/api/workflow/search?idempotencyKey=key-*-found";
        let page = house.send(&Request::get(path)).json();
        let ids = page["results"].as_array()?.iter();
        let ids: Vec<_> = ids.map(|run| run["workflowId"].as_str().map(str::to_owned)).collect();
        (!ids.is_empty()).then_some(ids)
    };
    let patience = std::time::Duration::from_secs(30);
    let ids = semel_tests::process::until("the run is indexed", patience, found).unwrap();
    assert_eq!(ids, [Some(id)], "word for word");
}

#[test]
fn amounts_are_compared_by_every_digit() {
    let house = house();
    define(&house, "s_wei", &json!({"onPayloadMismatch": "FAIL"}));
    let ask = |wei: &str| {
        let body = format!(
            r#"{{"name": "s_wei", "idempotencyKey": "k", "input": {{"wei": {wei}}},
            "idempotencyStrategy": "RETURN_EXISTING"}}"#
        );
        let json = Request::new("POST", "/api/workflow").header("Content-Type", "application/json");
        house.send(&json.body(body))
    };
    let id = is_id(&ask("10000000000000000000000001"));
    assert_eq!(is_id(&ask("10000000000000000000000001.0")), id);
    let other = ask("10000000000000000000000002");
    assert_eq!(other.status, 422, "{}", other.text());
    assert_eq!(other.json()["code"], "IDEMPOTENCY_PAYLOAD_MISMATCH", "{}", other.text());
    let path = format!("/api/workflow/{id}");
    assert!(house.send(&Request::get(path)).text().contains("10000000000000000000000001"));

    let step = |wei: &str| {
        let body = format!(r#"{{"wei": {wei}}}"#);
        let request = Request::new("POST", "/api/workflow/s_wei").header("Idempotency-Key", "w-1");
        house.send(&request.header("Content-Type", "application/json").body(body))
    };
    let id = is_id(&step("10000000000000000000000001"));
    assert_eq!(is_id(&step("10000000000000000000000001")), id);
    assert_eq!(step("10000000000000000000000002").status, 422);

    let claim = |wei: &str, owner: &str| {
        let body = format!(
            r#"{{"scope": "s_wei", "key": "k", "owner": "{owner}", "leaseSeconds": 60,
            "fingerprint": {{"wei": {wei}}}}}"#
        );
        let request = Request::new("POST", "/api/effects/try-start");
        house.send(&request.header("Content-Type", "application/json").body(body)).json()
    };
    let mine = claim("10000000000000000000000001", "me");
    assert_eq!(mine["state"], "STARTED", "{mine}");
    let same = claim("10000000000000000000000001.0", "you");
    assert_ne!(same["code"], "IDEMPOTENCY_PAYLOAD_MISMATCH", "{same}");
    let other = claim("10000000000000000000000002", "you");
    assert_eq!(other["code"], "IDEMPOTENCY_PAYLOAD_MISMATCH", "{other}");
}

#[test]
fn headers_that_disagree_are_refused_by_name() {
    let house = house();
    house.define("s_two");
    let body = json!({"name": "s_two"});
    let ask = |headers: &[(&str, &str)]| start(&house, &body, headers);
    let twice = ask(&[("X-Idempotency-key", "a"), ("X-Idempotency-key", "a")]);
    assert_eq!(twice.status, 200, "{}", twice.text());
    for name in ["X-Idempotency-key", "Idempotency-Key", "X-on-conflict"] {
        let values = if name == "X-on-conflict" { ["FAIL", "RETURN_EXISTING"] } else { ["a", "b"] };
        let answer = ask(&[(name, values[0]), (name, values[1])]);
        assert_eq!(answer.status, 400, "{name}: {}", answer.text());
        let message = answer.json()["message"].to_string().to_lowercase();
        assert!(message.contains(&name.to_lowercase()), "{message}");
    }
}
