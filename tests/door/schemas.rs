//! # The door: the schema registry
//!
//! How schemas are registered, listed and refused. What they do to runs is told in stories.

use serde_json::{Value, json};

use crate::checklist::{is_empty_200, is_id};
use crate::house::{definition, house};
use crate::raw::Request;

fn schema(name: &str, data: Value) -> Value {
    json!({"name": name, "version": 1, "type": "JSON", "data": data})
}

fn post(query: &str, body: &Value) -> Request {
    Request::post(format!("/api/schema{query}"), body)
}

fn get(path: &str) -> Request {
    Request::get(format!("/api/schema{path}"))
}

fn delete(path: &str) -> Request {
    Request::new("DELETE", format!("/api/schema{path}"))
}

/// What a schema says, without who wrote it and when.
fn said(mut schema: Value) -> Value {
    let fields = schema.as_object_mut().expect("an object");
    fields.retain(|field, _| !["createTime", "updateTime"].contains(&field.as_str()));
    schema
}

#[test]
fn a_schema_is_registered_read_replaced_and_deleted() {
    let house = house();
    let one = schema("s one/1", json!({"type": "object"}));
    is_empty_200(&house.send(&post("", &json!([one]))));
    let read = house.send(&get("/s%20one%2F1")).json();
    assert_eq!(said(read.clone()), one);
    assert!(read["createTime"].as_i64().unwrap() > 0 && read["updateTime"] == 0, "{read}");
    assert_eq!(house.send(&get("/s%20one%2F1/1")).json(), read);
    assert_eq!(house.send(&get("/s+one%2F1")).json(), read, "java writes a blank as +");
    let other = schema("s one/1", json!({"type": "object", "required": ["a"]}));
    is_empty_200(&house.send(&post("?newVersion=False", &json!([other]))));
    let replaced = house.send(&get("/s%20one%2F1")).json();
    assert_eq!(said(replaced.clone()), other);
    assert_eq!(replaced["createTime"], read["createTime"]);
    assert!(replaced["updateTime"].as_i64().unwrap() > 0);
    is_empty_200(&house.send(&delete("/s%20one%2F1/1")));
    for gone in [get("/s%20one%2F1"), get("/s%20one%2F1/1"), delete("/s%20one%2F1")] {
        assert_eq!(house.refuses(&gone).status, 404);
    }
    let message = house.refuses(&get("/s_no/x")).json()["message"].clone();
    assert_eq!(message, "No such schema found by name: s_no, version: x");
}

#[test]
fn the_python_sdk_sends_one_alone_and_the_others_a_list() {
    let house = house();
    // As python's worker registers what its type hints say, each time it starts.
    let hints = json!({"name": "s_python_input", "version": 1, "type": "JSON", "data": {
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"n": {"type": "integer"}}, "required": ["n"],
        "additionalProperties": true}});
    is_empty_200(&house.send(&post("?newVersion=False", &hints)));
    let first = house.send(&get("/s_python_input/1")).json();
    assert_eq!(said(first.clone()), hints);
    is_empty_200(&house.send(&post("?newVersion=False", &hints)));
    assert_eq!(house.send(&get("/s_python_input/1")).json(), first, "written once");
    let bare = json!({"name": "s_bare", "data": {}, "ownerApp": "a"});
    is_empty_200(&house.send(&post("", &json!([bare, hints]))));
    let bare = json!({"name": "s_bare", "version": 1, "type": "JSON", "data": {}, "ownerApp": "a"});
    assert_eq!(said(house.send(&get("/s_bare")).json()), bare);
}

#[test]
fn a_new_version_is_the_next_and_is_not_made_twice() {
    let house = house();
    let sizes = |sizes: &[u32]| -> Value {
        sizes.iter().map(|size| schema("s_next", json!({"maxProperties": size}))).collect()
    };
    let latest = || house.send(&get("/s_next")).json();
    is_empty_200(&house.send(&post("?newVersion=true", &sizes(&[1]))));
    is_empty_200(&house.send(&post("?newVersion=true", &sizes(&[2]))));
    assert_eq!((&latest()["version"], &latest()["data"]["maxProperties"]), (&json!(2), &json!(2)));
    is_empty_200(&house.send(&post("?newVersion=true", &sizes(&[2]))));
    assert_eq!(latest()["version"], 2, "a request whose answer was lost is sent again");
    is_empty_200(&house.send(&post("?newVersion=true", &sizes(&[3, 3, 1]))));
    assert_eq!((&latest()["version"], &latest()["data"]["maxProperties"]), (&json!(4), &json!(1)));
    assert_eq!(house.send(&get("/s_next/1")).json()["data"]["maxProperties"], 1);
    is_empty_200(&house.send(&delete("/s_next/4")));
    assert_eq!(latest()["version"], 3);
    is_empty_200(&house.send(&delete("/s_next")));
    assert_eq!(house.refuses(&get("/s_next/1")).status, 404);
}

#[test]
fn a_list_is_short_when_it_shall_be() {
    let house = house();
    let (one, two) = (schema("s_a", json!({"a": 1})), schema("s_b", json!({"type": "string"})));
    is_empty_200(&house.send(&Request::post("/api/global_schema", &json!([two, one]))));
    is_empty_200(&house.send(&post("?newVersion=true", &schema("s_a", json!({"a": 2})))));
    let listed = |query: &str| -> Vec<(Value, Value, Value)> {
        let all = house.send(&get(query)).json();
        let all = all.as_array().unwrap().iter();
        let mine = all.filter(|one| ["s_a", "s_b"].contains(&one["name"].as_str().unwrap()));
        mine.map(|one| (one["name"].clone(), one["version"].clone(), one["data"].clone())).collect()
    };
    let whole = [
        (json!("s_a"), json!(1), json!({"a": 1})),
        (json!("s_a"), json!(2), json!({"a": 2})),
        (json!("s_b"), json!(1), json!({"type": "string"})),
    ];
    assert_eq!(listed(""), whole);
    let short = whole.map(|(name, version, _)| (name, version, Value::Null));
    assert_eq!(listed("?short=true"), short);
    let global = house.send(&Request::get("/api/global_schema/s_a")).json();
    assert_eq!(global, house.send(&get("/s_a/2")).json());
}

#[test]
fn an_entry_that_breaks_a_rule_of_the_registry_is_refused_with_its_place() {
    let house = house();
    let places = |body: Value| -> Vec<String> {
        let refused = house.refuses(&post("", &body));
        assert_eq!(refused.status, 400);
        let refused = refused.json();
        let errors = refused["validationErrors"].as_array().cloned().unwrap_or_default();
        errors.iter().map(|error| error["path"].as_str().unwrap().to_owned()).collect()
    };
    let good = schema("s_w", json!({}));
    assert_eq!(places(json!([good, good])), ["[1].name"]);
    assert_eq!(places(json!({"name": "", "version": 0})), ["name", "version"]);
    assert_eq!(places(json!([])), [""; 0]);
    assert_eq!(house.refuses(&get("/s_w")).status, 404, "all of a list or none of it");
    for text in ["[{\"name\":\"s_w\",\"type\":\"XML\"}]", "5", "{", "[[]]"] {
        let request = Request::new("POST", "/api/schema").body(text);
        assert_eq!(house.refuses(&request).status, 400, "{text}");
    }
}

#[test]
fn other_types_and_places_are_kept() {
    let house = house();
    let kept = json!([
        {"name": "s_avro", "version": 3, "type": "AVRO", "data": {"type": "record"}},
        {"name": "s_proto", "version": 1, "type": "PROTOBUF"},
        {"name": "s_far", "version": 1, "type": "JSON", "externalRef": "https://example.com/s"}]);
    is_empty_200(&house.send(&post("", &kept)));
    for one in kept.as_array().unwrap() {
        let name = one["name"].as_str().unwrap();
        assert_eq!(&said(house.send(&get(&format!("/{name}"))).json()), one);
    }
}

/// A definition with these fields.
fn with(name: &str, fields: Value) -> Value {
    let mut definition = definition(name);
    for (field, value) in fields.as_object().into_iter().flatten() {
        definition[field] = value.clone();
    }
    definition
}

fn numbered() -> Value {
    json!({"data": {"type": "object", "required": ["n"], "properties": {"n": {"type": "number"}}}})
}

#[test]
fn a_start_that_does_not_fit_is_told_place_by_place() {
    let house = house();
    let workflow = with("s_fussy", json!({"inputSchema": numbered()}));
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow", &workflow)));
    let wrong = json!({"n": "a secret"});
    let started = |input: &Value| {
        let whole = json!({"name": "s_fussy", "input": input});
        let inline = json!({"name": "s_fussy", "input": input, "workflowDef": workflow});
        let executed = "/api/workflow/execute/s_fussy/1?requestId=r&waitForSeconds=0";
        [
            Request::post("/api/workflow", &whole),
            Request::post("/api/workflow", &inline),
            Request::post("/api/workflow/s_fussy", input),
            Request::post("/api/workflow/start/s_fussy/1", input),
            Request::post(executed, &whole),
            Request::post("/api/workflow/execute/s_fussy", input),
            Request::post("/api/workflow/test", &whole),
        ]
    };
    for request in started(&wrong) {
        let refused = house.refuses(&request);
        assert_eq!(refused.status, 400, "{request:?}");
        let body = refused.json();
        assert_eq!(body["message"], "Validation failed, check below errors for detail.");
        let message = "value is not of type \"number\"";
        let wanted = json!([{"path": "input.n", "message": message}]);
        assert_eq!(body["validationErrors"], wanted, "{request:?}");
    }
    for request in started(&json!({"n": 1})) {
        assert_eq!(house.send(&request).status, 200, "{request:?}");
    }
    let id = is_id(&house.send(&Request::post("/api/workflow/s_fussy", &json!({"n": 2}))));
    house.send(&Request::new("DELETE", format!("/api/workflow/{id}")));
    let rerun = json!({"workflowInput": wrong});
    let rerun = house.refuses(&Request::post(format!("/api/workflow/{id}/rerun"), &rerun));
    assert_eq!(
        (rerun.status, &rerun.json()["validationErrors"][0]["path"]),
        (400, &json!("input.n"))
    );
}

#[test]
fn what_cannot_be_enforced_is_refused_where_it_is_registered() {
    let house = house();
    let unusable = [
        (json!({"data": {"properties": {"a": {"type": 5}}}}), "data.properties.a.type"),
        (json!({"type": "AVRO", "data": {}}), "type"),
        (json!({"name": "s_x", "externalRef": "https://example.com/s"}), "externalRef"),
        (json!({}), "data"),
    ];
    for (schema, path) in unusable {
        for field in ["inputSchema", "outputSchema"] {
            let workflow = with("s_refused", json!({field: schema}));
            let task = json!({"name": "s_refused", "enforceSchema": true, field: schema});
            let inside = json!({"name": "t", "taskReferenceName": "r", "taskDefinition": task});
            let inside = with("s_refused", json!({"tasks": [inside]}));
            let brings = json!({"name": "c", "taskReferenceName": "c", "type": "SUB_WORKFLOW",
                "subWorkflowParam": {"workflowDefinition": workflow}});
            let brings = with("s_refused", json!({"tasks": [brings]}));
            let start = json!({"name": "s_refused", "workflowDef": workflow});
            let definitions = "/api/metadata/workflow";
            for (request, before) in [
                (Request::post(definitions, &workflow), ""),
                (Request::post(definitions, &inside), "tasks[r].taskDefinition."),
                (
                    Request::post(definitions, &brings),
                    "tasks[c].subWorkflowParam.workflowDefinition.",
                ),
                (Request::post(format!("{definitions}/validate"), &workflow), ""),
                (Request::new("PUT", definitions).json(&json!([workflow])), ""),
                (Request::post("/api/metadata/taskdefs", &json!([{"name": "s_ok"}, task])), "[1]."),
                (Request::new("PUT", "/api/metadata/taskdefs").json(&task), ""),
                (Request::post("/api/workflow", &start), "workflowDef."),
            ] {
                let refused = house.refuses(&request);
                let body = refused.json();
                let wanted = format!("{before}{field}.{path}");
                let found = (refused.status, &body["validationErrors"][0]["path"]);
                assert_eq!(found, (400, &json!(wanted)), "{request:?} {body}");
            }
            let kept = with("s_kept", json!({field: schema, "enforceSchema": false}));
            let kept =
                house.send(&Request::new("PUT", "/api/metadata/workflow").json(&json!([kept])));
            assert_eq!((kept.status, kept.header("x-semel-warning")), (200, None));
            let kept = json!([{"name": "s_kept", field: schema}]);
            is_empty_200(&house.send(&Request::post("/api/metadata/taskdefs", &kept)));
        }
    }
    assert_eq!(house.refuses(&Request::get("/api/metadata/taskdefs/s_ok")).status, 404);
}

#[test]
fn a_schema_that_is_gone_keeps_runs_from_starting() {
    let house = house();
    let mut named = schema("s_gone", json!({"type": "object", "required": ["n"]}));
    named["version"] = json!(3);
    is_empty_200(&house.send(&post("", &named)));
    let latest = json!({"name": "s_gone", "version": 0});
    let workflow = with("s_needy", json!({"inputSchema": latest}));
    is_empty_200(&house.send(&Request::post("/api/metadata/workflow", &workflow)));
    let start = |input: &Value| Request::post("/api/workflow/s_needy", input);
    assert_eq!(house.refuses(&start(&json!({}))).status, 400);
    let id = is_id(&house.send(&start(&json!({"n": 1}))));
    let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let pinned = &run["workflowDefinition"]["inputSchema"];
    assert_eq!((&pinned["version"], &pinned["data"]), (&json!(3), &named["data"]));
    is_empty_200(&house.send(&delete("/s_gone")));
    let refused = house.refuses(&start(&json!({"n": 1})));
    let wanted = "inputSchema: No such schema found by name: s_gone, version: 0";
    assert_eq!((refused.status, &refused.json()["message"]), (404, &json!(wanted)));
}
