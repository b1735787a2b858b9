//! # Requests that almost say what they mean
//!
//! A mistyped member of a request is refused, because the request would do something else than it
//! says. Any other unknown member is named in the answer. What official clients send is known.

use serde_json::{Value, json};

use crate::house::{House, house, report};
use crate::raw::{Answer, Request};

/// Refused, in a message that names the member that is meant.
fn refused(house: &House, request: &Request, mistyped: &str, meant: &str) {
    let answer = house.refuses(request);
    assert_eq!(answer.status, 400, "{}", answer.text());
    let message = answer.json()["message"].as_str().unwrap_or_default().to_owned();
    let said = format!("{mistyped} is not known here; is {meant} meant?");
    assert!(message.contains(&said), "{said} is not in {message}");
}

fn warning(answer: &Answer) -> &str {
    assert!(matches!(answer.status, 200 | 204), "{}", answer.text());
    answer.header("x-semel-warning").unwrap_or_default()
}

fn runs_of(house: &House, name: &str) -> Value {
    let path = format!("/api/workflow/search?query=workflowType%3D{name}");
    house.send(&Request::get(path)).json()["totalHits"].clone()
}

#[test]
fn a_start_without_the_key_or_the_input_it_means_begins_nothing() {
    let house = &house();
    house.define("r_start");
    for (path, mistyped, meant) in [
        ("/api/workflow", "idempotencykey", "idempotencyKey"),
        ("/api/workflow", "idempotency_key", "idempotencyKey"),
        ("/api/workflow", "inptu", "input"),
        ("/api/workflow", "correlationID", "correlationId"),
        ("/api/workflow/execute/r_start/1", "inputs", "input"),
        ("/api/workflow/test", "inptu", "input"),
    ] {
        let start = json!({"name": "r_start", mistyped: "abc"});
        refused(house, &Request::post(path, &start), mistyped, meant);
        let keyed = Request::post(path, &start).header("Idempotency-Key", "r-mistyped");
        refused(house, &keyed, mistyped, meant);
    }
    assert_eq!(runs_of(house, "r_start"), 0);
    let elsewhere = json!({"name": "r_start", "externalInputPayloadStoragePath": "s3://a/b"});
    let answer = house.refuses(&Request::post("/api/workflow", &elsewhere));
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("no external payload storage"), "{}", answer.text());
    assert_eq!(runs_of(house, "r_start"), 0);
    let right = json!({"name": "r_start", "idempotencyKey": "abc"});
    let keyed = Request::post("/api/workflow", &right).header("Idempotency-Key", "r-mistyped");
    assert_eq!(house.send(&keyed).status, 200, "what was refused is not kept under the key");
}

#[test]
fn a_parameter_that_is_almost_a_known_one_is_refused_and_nothing_is_done() {
    let house = house();
    house.define("m_query");
    let run = house.start("m_query");
    for (method, path, meant) in [
        (
            "POST",
            format!("/api/workflow/{run}/retry?resumeSubworkflowTask=true"),
            "resumeSubworkflowTasks",
        ),
        ("POST", format!("/api/tasks/{run}/only/COMPLETED?Force=true"), "force"),
        ("DELETE", format!("/api/workflow/{run}?reson=x"), "reason"),
        ("POST", "/api/workflow/m_query?prioritty=9".to_owned(), "priority"),
        ("POST", "/api/workflow/m_query?correlation_id=a".to_owned(), "correlationId"),
    ] {
        let told = house.refuses(&Request::new(method, &path).body("{}"));
        assert_eq!(told.status, 400, "{path}: {}", told.text());
        let expected = format!("is not known here; is {meant} meant? Nothing was done");
        assert!(told.text().contains(&expected), "{}", told.text());
    }
    let seen = house.send(&Request::get(format!("/api/workflow/{run}"))).json();
    assert_eq!(
        (&seen["status"], &seen["tasks"][0]["status"]),
        (&json!("RUNNING"), &json!("SCHEDULED"))
    );
    // What is nobody's stays nobody's, and a GET takes it for input.
    let other = Request::post("/api/workflow/m_query?_=1795062&trace=1", &json!({}));
    assert_eq!(house.send(&other).status, 200);
    let input =
        house.send(&Request::get("/api/workflow/execute/m_query?prioritty=9&waitForSeconds=1"));
    assert_eq!(input.status, 200, "{}", input.text());
}

#[test]
fn a_start_under_a_blank_key_is_told_that_it_has_none() {
    let house = house();
    house.define("m_blank");
    for (key, is_told) in
        [(json!(" "), true), (json!(""), true), (json!(null), false), (json!("k"), false)]
    {
        let start = json!({"name": "m_blank", "idempotencyKey": key});
        let answer = house.send(&Request::post("/api/workflow", &start));
        let told = warning(&answer).starts_with("idempotencyKey: is blank, which is no key");
        assert_eq!(told, is_told, "{key}: {:?}", answer.header("x-semel-warning"));
    }
}

#[test]
fn an_unknown_member_is_named_and_what_clients_send_is_not() {
    let house = &house();
    house.define("r_known");
    let start = |body: &Value| house.send(&Request::post("/api/workflow", body));
    let answer = start(&json!({"name": "r_known", "colour": "red"}));
    assert!(warning(&answer).starts_with("colour: is not known here and was dropped ("));
    let both = start(&json!({"name": "r_known", "input": {"a": 1}, "inputs": {"b": 2}}));
    assert!(warning(&both).contains("is input meant?"), "the right one is there too");
    let python = json!({"name": "r_known", "version": 1, "input": {}, "taskToDomain": {},
        "idempotencyStrategy": "FAIL", "workflowDef": null, "priority": 0});
    assert_eq!(warning(&start(&python)), "");
    let task = house.claim("r_known");
    let mut java = report(&task, "COMPLETED", json!({"a": 1}));
    java["executionMetadata"] = json!({"executionDuration": 7});
    assert_eq!(warning(&house.send(&Request::post("/api/tasks", &java))), "");
    let id = task["workflowInstanceId"].as_str().unwrap();
    let again = json!({"reRunFromWorkflowId": id, "workflowInput": {"a": 2}});
    let rerun = Request::post(format!("/api/workflow/{id}/rerun"), &again);
    assert_eq!(warning(&house.send(&rerun)), "");
}

#[test]
fn a_rerun_of_everything_is_not_what_a_mistyped_task_means() {
    let house = &house();
    house.define("r_rerun");
    let id = house.start("r_rerun");
    let end = Request::new("DELETE", format!("/api/workflow/{id}"));
    assert_eq!(house.send(&end).status, 200);
    let rerun = |body: Value| Request::post(format!("/api/workflow/{id}/rerun"), &body);
    refused(house, &rerun(json!({"reRunFromTaskid": "x"})), "reRunFromTaskid", "reRunFromTaskId");
    let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    assert_eq!(run["status"], "TERMINATED");
}

#[test]
fn a_report_a_skip_and_a_state_are_read_as_they_are_meant() {
    let house = &house();
    house.define("r_report");
    let id = house.start("r_report");
    let task = house.claim("r_report");
    let mut mistyped = report(&task, "COMPLETED", json!({}));
    mistyped["outputdata"] = json!({"receipt": 7});
    mistyped.as_object_mut().unwrap().remove("outputData");
    for path in ["/api/tasks", "/api/tasks/update-v2"] {
        refused(house, &Request::post(path, &mistyped), "outputdata", "outputData");
    }
    let mut elsewhere = report(&task, "COMPLETED", json!({}));
    elsewhere["externalOutputPayloadStoragePath"] = json!("s3://a/b");
    let answer = house.refuses(&Request::post("/api/tasks", &elsewhere));
    assert!(answer.status == 400 && answer.text().contains("no external payload storage"));
    let state = Request::post(format!("/api/workflow/{id}/state"), &json!({"variabels": {"a": 1}}));
    refused(house, &state, "variabels", "variables");
    let inside = json!({"taskReferenceName": "only", "taskResult": {"statuss": "COMPLETED"}});
    let state = Request::post(format!("/api/workflow/{id}/state"), &inside);
    refused(house, &state, "taskResult.statuss", "status");
    let skip = format!("/api/workflow/{id}/skiptask/only");
    let body = Request::new("PUT", &skip).json(&json!({"taskOutputt": {"a": 1}}));
    refused(house, &body, "taskOutputt", "taskOutput");
    let in_query = "?skipTaskRequest=%7B%22taskOutputt%22%3A%7B%22a%22%3A1%7D%7D";
    let query = Request::new("PUT", format!("{skip}{in_query}"));
    refused(house, &query, "taskOutputt", "taskOutput");
    let right = report(&task, "COMPLETED", json!({"receipt": 7}));
    assert_eq!(house.send(&Request::post("/api/tasks", &right)).status, 200, "it is still held");
    let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    assert_eq!(run["tasks"][0]["outputData"], json!({"receipt": 7}));
}

#[test]
fn an_application_says_what_it_is_made_of() {
    let house = &house();
    let make = |body: &Value| house.send(&Request::post("/api/applications", body));
    let answer = make(&json!({"name": "r_app", "roles": ["ADMIN"]}));
    assert!(warning(&answer).starts_with("roles: is not known here and was dropped"));
    refused(house, &Request::post("/api/applications", &json!({"nam": "r"})), "nam", "name");
}

#[test]
fn a_start_is_told_when_its_definition_says_otherwise() {
    let house = &house();
    let steps = json!([{"name": "r_own", "taskReferenceName": "only"}]);
    let definition = json!({"name": "r_own", "version": 2, "tasks": steps});
    let start = |name: &str, version: Value| {
        let body = json!({"name": name, "version": version, "workflowDef": definition});
        house.send(&Request::post("/api/workflow", &body))
    };
    let answer = start("r_other", json!(7));
    let said = warning(&answer);
    assert!(
        said.contains("name: is not looked at: workflowDef brings its own name, r_own"),
        "{said}"
    );
    assert!(said.contains("version: is not looked at: workflowDef brings its own version, 2"));
    for (name, version) in [("r_own", json!(2)), ("r_own", json!(null)), ("", json!(0))] {
        assert_eq!(warning(&start(name, version)), "");
    }
    house.define("r_path");
    let body = json!({"name": "r_else"});
    let path = "/api/workflow/execute/r_path/1?waitForSeconds=1";
    let answer = house.send(&Request::post(path, &body));
    assert!(warning(&answer).contains("name: is not looked at: the path says r_path"));
}

#[test]
fn a_jump_to_two_places_is_refused() {
    let house = &house();
    house.define("r_jump");
    let id = house.start("r_jump");
    let jump = |to: &str| Request::post(format!("/api/workflow/{id}/jump/{to}"), &json!({}));
    let answer = house.refuses(&jump("only?taskReferenceName=other"));
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("where to go?"), "{}", answer.text());
    assert_eq!(house.send(&jump("only?taskReferenceName=only")).status, 200);
    let placeholder = "%7BtaskReferenceName%7D?taskReferenceName=only";
    assert_eq!(house.send(&jump(placeholder)).status, 200, "as Go sends it");
}

#[test]
fn a_message_that_nobody_pulls_is_told() {
    let house = &house();
    house.define("r_mute");
    let id = house.start("r_mute");
    let post = |id: &str| {
        let path = format!("/api/workflow/{id}/messages");
        house.send(&Request::post(path, &json!({"a": 1})))
    };
    assert!(warning(&post(&id)).contains("no PULL_WORKFLOW_MESSAGES step"));
    let steps = json!([{"name": "r_mute", "taskReferenceName": "a"},
        {"name": "pull", "taskReferenceName": "p", "type": "PULL_WORKFLOW_MESSAGES"}]);
    let definition = json!({"name": "r_pulls", "tasks": steps});
    house.send(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(warning(&post(&house.start("r_pulls"))), "");
}
