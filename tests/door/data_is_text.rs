//! # The door: data is text
//!
//! What callers, workers and scripts bring may look like an expression. Only a definition asks for a
//! secret or for the environment, and only for those it lists.

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::Request;

const SECRET: &str = "hunter-of-data";
const ASKS: &str = "${workflow.secrets.d_bank}";

fn plant(house: &House) {
    house.send(&Request::new("PUT", "/api/secrets/d_bank").body(SECRET));
    house.send(&Request::new("PUT", "/api/environment/d_env").body("env-of-data"));
}

fn define(house: &House, definition: &Value) {
    let sent = Request::post("/api/metadata/workflow?overwrite=true", definition);
    let answer = house.send(&sent);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

fn begin(house: &House, name: &str, body: &str) -> String {
    let path = format!("/api/workflow/{name}?correlationId=%24%7Bworkflow.secrets.d_bank%7D");
    let answer = house.send(&Request::new("POST", path).body(body.to_owned()));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

fn run(house: &House, id: &str) -> Value {
    house.send(&Request::get(format!("/api/workflow/{id}"))).json()
}

fn simple(name: &str, input: &Value) -> Value {
    json!({"name": name, "taskReferenceName": name, "type": "SIMPLE", "inputParameters": input})
}

/// Every road on which a text can reach a worker, and what each is made of.
fn roads() -> Value {
    json!({
        "whole": "${workflow.input.name}",
        "escaped": "${workflow.input.escaped}",
        "inText": "x ${workflow.input.name}",
        "joined": "${workflow.input.dollar}${workflow.input.rest}",
        "keyed": "o ${workflow.input.keyed}",
        "concat": "${workflow.input.parts.concat()}",
        "correlation": "${workflow.correlationId}",
        "output": "${d_first.output.name}",
        "again": "${d_first.input.name}",
        "variable": "${workflow.variables.kept}",
        "updated": "${workflow.variables.told}",
        "script": "${script.output.result}",
        "computed": "${${workflow.input.way}}",
        "computedTask": "${${workflow.input.task}}",
        "computedField": "${d_first.input.${workflow.input.field}}",
        "computedOutput": "${${workflow.input.reference}.output.token}",
        "list": ["${workflow.input.list}"],
        "armed": ASKS,
        "armedAgain": "Bearer ${d_first.input.armed}!",
        "written": "$${workflow.secrets.d_bank}"
    })
}

#[test]
fn whatever_way_data_takes_it_stays_text() {
    let house = house();
    plant(&house);
    let script = "'$' + '{workflow.secrets.' + 'd_bank}' + $.name";
    define(
        &house,
        &json!({"name": "d_roads", "version": 1, "schemaVersion": 2, "tasks": [
            simple("d_first", &json!({"name": "${workflow.input.name}", "armed": ASKS})),
            {"name": "keep", "taskReferenceName": "keep", "type": "SET_VARIABLE",
             "inputParameters": {"kept": "${workflow.input.name}"}},
            {"name": "script", "taskReferenceName": "script", "type": "INLINE", "inputParameters": {
                "evaluatorType": "javascript", "expression": script, "name": "${workflow.input.name}"}},
            simple("d_last", &roads())],
          "outputParameters": {"name": "${workflow.input.name}", "said": "${d_last.output.name}"}}),
    );
    // Written with an escape of JSON, it is the same text.
    let body = r#"{"name": "${workflow.secrets.d_bank}", "escaped": "\u0024{workflow.secrets.d_bank}",
        "dollar": "$", "rest": "{workflow.secrets.d_bank}", "keyed": {"${workflow.secrets.d_bank}": 1},
        "parts": ["$", "{workflow.secrets.", "d_bank}"], "way": "workflow.env.d_env",
        "task": "d_first.input.armed", "field": "armed", "reference": "d_first",
        "list": {"deep": ["$${workflow.secrets.d_bank}", "${CPEWF_FENCE}"]}}"#;
    let id = begin(&house, "d_roads", body);
    let first = house.claim("d_first");
    assert_eq!(first["inputData"], json!({"name": ASKS, "armed": SECRET}));
    let told = Request::post(format!("/api/workflow/{id}/variables"), &json!({"told": ASKS}));
    assert_eq!(house.send(&told).status, 200);
    let said = report(&first, "COMPLETED", json!({"name": ASKS, "token": "of another step"}));
    assert_eq!(house.send(&Request::post("/api/tasks", &said)).status, 200);
    let last = house.claim("d_last");
    let given = json!({
        "whole": ASKS, "escaped": ASKS, "inText": format!("x {ASKS}"), "joined": ASKS,
        "keyed": format!(r#"o {{"{ASKS}":1}}"#), "concat": ASKS, "correlation": ASKS, "output": ASKS,
        "again": ASKS, "variable": ASKS, "updated": ASKS, "script": format!("{ASKS}{ASKS}"),
        "computed": null, "computedTask": null, "computedField": ASKS, "computedOutput": null, "list": [{"deep": [format!("${ASKS}"), "${CPEWF_FENCE}"]}],
        "armed": SECRET, "armedAgain": format!("Bearer {SECRET}!"), "written": ASKS
    });
    assert_eq!(last["inputData"], given);
    let said = report(&last, "COMPLETED", json!({"name": ASKS}));
    assert_eq!(house.send(&Request::post("/api/tasks", &said)).status, 200);
    let seen = run(&house, &id);
    assert_eq!(seen["output"], json!({"name": ASKS, "said": ASKS}));
    assert_eq!((&seen["input"]["name"], &seen["variables"]["told"]), (&json!(ASKS), &json!(ASKS)));
    let verified = house.send(&Request::new("POST", format!("/api/workflow/{id}/verify")));
    assert_eq!(verified.status, 200, "{}", verified.text());
}

#[test]
fn what_a_child_and_a_branch_are_given_is_data_too() {
    let house = house();
    plant(&house);
    let child = json!({"name": "d_child", "version": 1, "schemaVersion": 2, "tasks": [
        simple("d_inner", &json!({"name": "${workflow.input.name}", "token": "${workflow.input.token}"}))]});
    define(&house, &child);
    let given = json!({"name": "${workflow.input.name}", "token": ASKS});
    define(
        &house,
        &json!({"name": "d_parent", "version": 1, "schemaVersion": 2, "tasks": [
            {"name": "child", "taskReferenceName": "child", "type": "SUB_WORKFLOW",
             "subWorkflowParam": {"name": "d_child", "version": 1}, "inputParameters": given},
            {"name": "fork", "taskReferenceName": "fork", "type": "FORK_JOIN_DYNAMIC",
             "dynamicForkTasksParam": "tasks", "dynamicForkTasksInputParamName": "inputs",
             "inputParameters": {"inputs": {"b": {"name": "${workflow.input.name}", "token": ASKS}},
                "tasks": [{"name": "d_branch", "taskReferenceName": "b", "type": "SIMPLE",
                    "inputParameters": {"own": "${workflow.input.name}"}}]}},
            {"name": "join", "taskReferenceName": "join", "type": "JOIN", "joinOn": ["b"]}]}),
    );
    begin(&house, "d_parent", &json!({"name": ASKS}).to_string());
    let inner = house.claim("d_inner");
    assert_eq!(inner["inputData"], json!({"name": ASKS, "token": SECRET}));
    let said = report(&inner, "COMPLETED", json!({}));
    assert_eq!(house.send(&Request::post("/api/tasks", &said)).status, 200);
    let branch = house.claim("d_branch");
    assert_eq!(branch["inputData"], json!({"own": ASKS, "name": ASKS, "token": SECRET}));
}

#[test]
fn a_definition_uses_the_secrets_it_lists_and_no_other() {
    let house = house();
    plant(&house);
    house.send(&Request::new("PUT", "/api/secrets/d_mail").body("hunter-of-mail"));
    let workflow = |name: &str, input: Value, secrets: Option<Value>| {
        let mut definition = json!({"name": name, "version": 1, "schemaVersion": 2,
            "tasks": [simple(name, &input)]});
        if let Some(secrets) = secrets {
            definition["secrets"] = secrets;
        }
        definition
    };
    let picked = json!({"token": "${workflow.secrets.${workflow.input.which}}"});
    let cases = [
        ("d_listed", json!({"token": ASKS}), Some(json!(["d_bank"])), true),
        ("d_unlisted", json!({"token": ASKS}), Some(json!([])), false),
        ("d_literal", json!({"token": ASKS}), None, true),
        ("d_picked", picked.clone(), None, false),
        ("d_picked_listed", picked, Some(json!(["d_mail", "d_bank"])), true),
    ];
    for (name, input, secrets, works) in cases {
        define(&house, &workflow(name, input, secrets));
        let id = begin(&house, name, &json!({"which": "d_bank"}).to_string());
        if works {
            assert_eq!(house.claim(name)["inputData"], json!({"token": SECRET}), "{name}");
            continue;
        }
        let seen = run(&house, &id);
        assert_eq!(seen["tasks"][0]["status"], "FAILED_WITH_TERMINAL_ERROR", "{seen}");
        let reason = seen["tasks"][0]["reasonForIncompletion"].as_str().unwrap();
        assert!(reason.contains("secret d_bank") && reason.contains("`secrets`"), "{reason}");
    }
    let wrong = workflow("d_wrong", json!({}), Some(json!(["a.b"])));
    let refused = house.refuses(&Request::post("/api/metadata/workflow", &wrong));
    assert!(refused.text().contains("secrets") && refused.status == 400, "{}", refused.text());
    let uses = house.send(&Request::get("/api/secrets/d_bank/uses")).json();
    let of = |name: &str| uses.as_array().unwrap().iter().find(|it| it["workflow"] == name);
    assert_eq!(
        of("d_listed").unwrap(),
        &json!({"workflow": "d_listed", "version": 1, "listed": true})
    );
    assert_eq!(of("d_literal").unwrap()["listed"], false);
    assert!(of("d_unlisted").is_none() && of("d_picked_listed").is_some(), "{uses}");
}
