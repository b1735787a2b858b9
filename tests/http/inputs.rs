//! # Inputs and outputs: what Conductor's definitions say, and what they get

use semel_tests::oracle::Fault;
use serde_json::{Value, json};

use crate::scene::{OPTIONS, Scene, with};

#[test]
fn an_answer_is_shown_as_conductor_shows_it() {
    let scene = Scene::set();
    let uri = format!("{}?order=g", scene.oracle.uri());
    let step = json!({"name": "call", "taskReferenceName": "call", "type": "HTTP",
        "inputParameters": {"uri": uri, "method": "GET"}});
    let definition = json!({"name": "flat", "schemaVersion": 2, "tasks": [step],
        "outputParameters": {"order": "${call.output.response.body.order}",
            "kind": "${call.output.response.headers.Content-Type[0]}"}});
    scene.register(&definition);
    let run = scene.over(&scene.start("flat", "g"));
    assert_eq!(run["output"], json!({"order": "g", "kind": "application/json"}), "{run:#}");
    let response = &run["tasks"][0]["outputData"]["response"];
    assert_eq!((&response["statusCode"], &response["reasonPhrase"]), (&json!(200), &json!("OK")));
    let heard = &scene.oracle.heard("g")[0];
    assert!(!heard.headers.contains_key("idempotency-key"));
    assert_eq!(heard.headers["accept"], "application/json");
}

#[test]
fn a_refusal_is_shown_too_and_ends_the_run() {
    let scene = Scene::set();
    scene.define("post", json!({}), json!({"retryCount": 3}));
    scene.oracle.plan("r", &[Fault::Refuse(404, Vec::new())]);
    let task = scene.task(&scene.start("post", "r"));
    assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR");
    assert_eq!(task["outputData"]["response"]["statusCode"], 404);
    assert_eq!(task["outputData"]["response"]["body"], json!({"refused": "r"}));
    let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
    assert!(reason.starts_with("Failed to invoke HTTP task due to: 404"), "{reason}");
}

#[test]
fn what_cannot_be_sent_says_why() {
    let scene = Scene::set();
    for (name, request, why) in [
        ("no_uri", json!({"uri": "${workflow.input.none}"}), "Missing HTTP URI.  See"),
        ("no_method", json!({"method": "${workflow.input.none}"}), "No HTTP method specified"),
        ("odd_uri", json!({"uri": "${workflow.input.order}"}), "uri is no address"),
    ] {
        scene.define(name, request, json!({"retryCount": 3}));
        let task = scene.task(&scene.start(name, "x"));
        assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR");
        let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn a_definition_that_could_never_be_sent_fails_its_run_or_is_refused() {
    let scene = Scene::set();
    let register = |request: Value| {
        let step = json!({"name": "c", "taskReferenceName": "c", "type": "HTTP",
            "inputParameters": {"http_request": request}});
        let definition = json!({"name": "wrong", "schemaVersion": 2, "tasks": [step]});
        let path = "/api/metadata/workflow?overwrite=true";
        scene.caller.post(path, &definition).expect("an answer")
    };
    for request in [
        json!({}),
        json!({"uri": "ftp://a", "method": "GET"}),
        json!({"uri": "example.com/a", "method": "GET"}),
        json!({"uri": "http://a"}),
        json!({"uri": "http://a", "method": "BREW"}),
    ] {
        let answer = register(request.clone());
        assert_eq!(answer.status, 200, "as in Conductor: {request} {}", answer.body);
        let run = scene.over(&scene.start("wrong", "w"));
        assert_eq!(run["status"], "FAILED", "{request}");
        let task = &run["tasks"][0];
        assert_eq!(task["status"], "FAILED_WITH_TERMINAL_ERROR", "{request} {task}");
        let reason = task["reasonForIncompletion"].as_str().unwrap_or_default();
        assert!(
            reason.contains("URI") || reason.contains("uri") || reason.contains("method"),
            "{reason}"
        );
    }
    let hedged = json!({"uri": "http://a", "method": "POST", "hedgingConfig": {"maxAttempts": 2},
        "idempotency": {"enabled": false}});
    let answer = register(hedged);
    assert_eq!(answer.status, 400, "{}", answer.body);
    let path = &answer.json()["validationErrors"][0]["path"];
    assert_eq!(*path, "tasks[0].inputParameters.http_request.hedgingConfig");
}

#[test]
fn a_secret_is_sent_and_neither_stored_nor_shown() {
    const VALUE: &str = "correct-horse-battery";
    let scene = Scene::set();
    let stored = scene.caller.put_text("/api/secrets/bank", VALUE).expect("an answer");
    assert_eq!(stored.status, 200, "{}", stored.body);
    let uri = format!("{}?order=s", scene.oracle.uri());
    let headers = json!({"Authorization": "Bearer ${workflow.secrets.bank}"});
    scene.define("secret", json!({"uri": uri, "method": "GET", "headers": headers}), json!({}));
    let run = scene.over(&scene.start("secret", "s"));
    assert_eq!(run["status"], "COMPLETED", "{run:#}");
    let sent = &scene.oracle.heard("s")[0].headers["authorization"];
    assert_eq!(sent, &format!("Bearer {VALUE}"));
    assert!(!run.to_string().contains(VALUE), "the answer repeats it, and it is hidden: {run:#}");
}

#[test]
fn what_others_complete_stays_open_after_its_answer() {
    let scene = Scene::set();
    scene.define("open", json!({"asyncComplete": true}), json!({}));
    let id = scene.start("open", "o");
    let answered = |run: &Value| run["tasks"][0]["outputData"]["response"]["statusCode"] == 201;
    let run = scene.when(&id, "it is answered", answered);
    assert_eq!(
        (&run["status"], &run["tasks"][0]["status"]),
        (&json!("RUNNING"), &json!("IN_PROGRESS"))
    );
    scene.advance(86_400);
    let path = format!("/api/tasks/{id}/call/COMPLETED");
    assert_eq!(scene.caller.post(&path, &json!({"by": "bank"})).expect("an answer").status, 200);
    let task = scene.task(&id);
    assert_eq!((&task["status"], &task["outputData"]["by"]), (&json!("COMPLETED"), &json!("bank")));
    assert_eq!(scene.oracle.heard("o").len(), 1);
}

#[test]
fn the_body_of_a_retry_is_that_of_the_first_attempt() {
    let scene = Scene::set();
    let body = json!({"order": "${workflow.input.order}", "n": "${workflow.variables.n}",
        "attempt": "${CPEWF_ATTEMPT}", "sum": 10.10});
    let policy = json!({"retryCount": 1, "retryDelaySeconds": 60});
    scene.define("frozen", json!({ "body": body }), policy);
    scene.oracle.plan("f", &[Fault::ErrorAfter]);
    let id = scene.start("frozen", "f");
    let failed = |run: &Value| run["tasks"][0]["status"] == "FAILED";
    scene.when(&id, "the first attempt fails", failed);
    let path = format!("/api/workflow/{id}/variables");
    assert_eq!(scene.caller.post(&path, &json!({"n": 2})).expect("an answer").status, 200);
    scene.advance(60);
    assert_eq!(scene.over(&id)["status"], "COMPLETED");
    let heard = scene.oracle.heard("f");
    assert_eq!((heard.len(), &heard[0].body), (2, &heard[1].body));
    assert!(heard[0].body.contains("\"n\":null") && heard[0].body.contains("\"attempt\":1"));
    assert_eq!(scene.oracle.effects("f"), 1);
}

#[test]
fn a_worker_of_ones_own_may_do_it_instead() {
    let options = [&OPTIONS[..], &["--store", "memory", "--http-requests-max", "0"]].concat();
    let scene = Scene::set_with(&options);
    scene.define("own", json!({}), json!({}));
    let id = scene.start("own", "w");
    let task = scene.caller.get("/api/tasks/poll/HTTP?workerid=mine").expect("an answer").json();
    assert_eq!(task["workflowInstanceId"], id, "{task:#}");
    let report = json!({"status": "COMPLETED", "outputData": {}});
    let report = with(
        report,
        json!({"workflowInstanceId": id, "taskId": task["taskId"],
        "fenceToken": task["fenceToken"]}),
    );
    assert_eq!(scene.caller.post("/api/tasks", &report).expect("an answer").status, 200);
    assert_eq!(scene.task(&id)["workerId"], "mine");
    assert_eq!(scene.oracle.heard("w").len(), 0);
}
