//! # The lint at the door: asked for, and at registration

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::{Answer, Request};

/// An error and a warning: the far side forgets within the hour, and nothing ends an attempt.
fn risky(name: &str) -> Value {
    json!({"name": name, "version": 1, "tasks": [{"name": name, "taskReferenceName": "charge",
        "effect": {"downstreamRetentionSeconds": 3600}}]})
}

/// A warning.
fn doubtful(name: &str) -> Value {
    json!({"name": name, "version": 1, "tasks": [
        {"name": name, "taskReferenceName": "own", "type": "MY_TYPE"}]})
}

fn fine(name: &str) -> Value {
    json!({"name": name, "version": 1, "tasks": [{"name": name, "taskReferenceName": "t"}]})
}

fn codes(linted: &Value) -> Vec<&str> {
    let findings = linted["findings"].as_array().expect("a list of findings");
    findings.iter().filter_map(|finding| finding["code"].as_str()).collect()
}

fn register(house: &House, query: &str, definition: &Value) -> Answer {
    house.send(&Request::post(format!("/api/metadata/workflow?overwrite=true&{query}"), definition))
}

#[test]
fn definitions_are_judged_one_by_one_under_the_registered_tasks() {
    let house = House::own(&[]);
    let ask = |body: &Value| house.send(&Request::post("/api/lint", body));
    let one = ask(&risky("l_ask"));
    assert_eq!(one.status, 200);
    assert_eq!(codes(&one.json()[0]), ["E-RET-2", "W-RET-3"]);
    let finding = &one.json()[0]["findings"][0];
    assert_eq!((&finding["severity"], &finding["at"]), (&json!("ERROR"), &json!("charge")));
    assert!(finding["message"].as_str().is_some_and(|text| text.contains("14580 s (4 h 3 min)")));
    assert!(finding["fix"].is_string());

    let task = json!([{"name": "l_ask", "retryCount": 0, "timeoutSeconds": 3600}]);
    assert_eq!(house.send(&Request::post("/api/metadata/taskdefs", &task)).status, 200);
    let all = ask(&json!([risky("l_ask"), doubtful("other")])).json();
    assert_eq!((&all[0]["name"], codes(&all[0])), (&json!("l_ask"), vec![]));
    assert_eq!((&all[1]["name"], codes(&all[1])), (&json!("other"), vec!["W-TIMEOUT-1"]));
    assert_eq!(house.definitions().0, json!([]), "nothing is registered by asking");
    for body in ["[]", "{}", "[{}]", "5"] {
        let request = Request::new("POST", "/api/lint").body(body);
        assert_eq!(house.refuses(&request).status, 400, "{body}");
    }
}

#[test]
fn all_that_is_registered_is_judged_page_by_page() {
    let house = House::own(&[]);
    for definition in [fine("l_a"), doubtful("l_b"), risky("l_c")] {
        assert_eq!(register(&house, "", &definition).status, 200);
    }
    let page = |query: &str| house.send(&Request::get(format!("/api/metadata/lint{query}"))).json();
    let all = page("");
    assert_eq!(all["totalHits"], 3);
    let found: Vec<_> = all["results"].as_array().into_iter().flatten().map(codes).collect();
    assert_eq!(found, [vec![], vec!["W-TIMEOUT-1"], vec!["E-RET-2", "W-RET-3"]]);
    let second = page("?start=1&size=1");
    assert_eq!((&second["totalHits"], &second["results"][0]["name"]), (&json!(3), &json!("l_b")));
    assert_eq!(second["results"].as_array().map(Vec::len), Some(1));
    assert_eq!(page("?start=9")["results"], json!([]));
    for query in ["?size=1001", "?size=-1", "?start=x"] {
        let request = Request::get(format!("/api/metadata/lint{query}"));
        assert_eq!(house.refuses(&request).status, 400, "{query}");
    }
}

#[test]
fn a_registration_counts_what_is_found_and_refuses_nothing_unless_asked() {
    let house = House::own(&[]);
    for (query, definition, count) in [
        ("", fine("l_fine"), Some("0")),
        ("", risky("l_risky"), Some("2")),
        ("lint=warn", doubtful("l_doubtful"), Some("1")),
        ("lint=error", doubtful("l_doubtful"), Some("1")),
        ("lint=strict", fine("l_fine"), Some("0")),
        ("lint=off", risky("l_off"), None),
    ] {
        let answer = register(&house, query, &definition);
        assert_eq!((answer.status, answer.header("x-semel-lint")), (200, count), "{query}");
        assert!(answer.body.is_empty(), "SDKs read the body");
    }
    let list = json!([risky("l_list"), doubtful("l_listed")]);
    let answer = house.send(&Request::new("PUT", "/api/metadata/workflow").json(&list));
    assert_eq!((answer.status, answer.header("x-semel-lint")), (200, Some("3")));
    assert_eq!(answer.json()["bulkSuccessfulResults"], json!(["l_list", "l_listed"]));
    assert!(house.log().contains("lint found something"), "{}", house.log());
}

#[test]
fn errors_and_strictly_warnings_refuse_a_registration_that_asks_for_it() {
    let house = House::own(&[]);
    for (query, definition, path, code) in [
        ("lint=error", risky("l_refused"), "charge", "E-RET-2"),
        ("lint=strict", doubtful("l_refused"), "own", "W-TIMEOUT-1"),
    ] {
        let answer = register(&house, query, &definition);
        assert_eq!(answer.status, 400, "{query}");
        let errors = &answer.json()["validationErrors"];
        assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
        assert_eq!(errors[0]["path"], path);
        let message = errors[0]["message"].as_str().unwrap_or_default();
        assert!(message.starts_with(code) && message.contains("To put it right: "), "{message}");
        let list = Request::new("PUT", format!("/api/metadata/workflow?{query}"));
        let answer = house.refuses(&list.json(&json!([fine("l_beside"), definition])));
        assert_eq!(answer.status, 400, "{query}");
    }
    let answer = register(&house, "lint=loud", &fine("l_loud"));
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("lint must be warn, error, strict or off"));
    assert_eq!(house.definitions().0, json!([]), "none of them is kept");
}

/// What a registration says: its warnings, or else its refusals.
fn told_at_registration(house: &House, definition: &Value) -> Vec<String> {
    let answer = house.send(&Request::post("/api/metadata/workflow/validate", definition));
    if answer.status == 400 {
        let errors = answer.json()["validationErrors"].as_array().cloned().unwrap_or_default();
        let line = |it: &Value| format!("E-REG-1 {}", it["path"].as_str().unwrap_or_default());
        return errors.iter().map(line).collect();
    }
    let header = answer.header("x-semel-warning").unwrap_or_default();
    let line = |one: &str| {
        let path = one.split(": ").next().unwrap_or_default().to_owned();
        let code = one.split("docs/errors/").last().unwrap_or_default().replace(".md)", "");
        format!("{} {path}", code.replace(".md", ""))
    };
    header.split(".md); ").filter(|one| !one.is_empty()).map(line).collect()
}

/// The findings of the lint that a registration knows of.
fn told_by_the_lint(house: &House, definition: &Value) -> Vec<String> {
    let linted = house.send(&Request::post("/api/lint", definition)).json();
    let findings = linted[0]["findings"].as_array().cloned().unwrap_or_default();
    let known = |it: &&Value| {
        let code = it["code"].as_str().unwrap_or_default();
        code == "E-REG-1" || code.starts_with("W-RUN-")
    };
    let line = |it: &Value| {
        format!("{} {}", it["code"].as_str().unwrap_or(""), it["at"].as_str().unwrap_or(""))
    };
    findings.iter().filter(known).map(line).collect()
}

#[test]
fn the_lint_says_what_a_registration_says() {
    let house = House::own(&["--definition-tasks-max", "3"]);
    let step =
        |name: &str, kind: &str| json!({"name": name, "taskReferenceName": name, "type": kind});
    let with = |mut step: Value, field: &str, value: Value| {
        step[field] = value;
        step
    };
    let many: Vec<Value> = (0..4).map(|at| step(&format!("s{at}"), "SIMPLE")).collect();
    let start = json!({"startWorkflow": {"name": "nowhere"}});
    let schema = json!({"name": "in", "version": 1, "type": "JSON"});
    for fields in [
        json!({"tasks": many}),
        json!({"tasks": []}),
        json!({"tags": "team:a"}),
        json!({"tags": "team:a", "maskedFields": ["a"], "colour": "red"}),
        json!({"tasks": [step("gone", "JDBC")], "failureWorkflow": "nowhere"}),
        json!({"tasks": [with(step("k", "SUB_WORKFLOW"), "subWorkflowParam", json!({"name": "nowhere"}))]}),
        json!({"tasks": [with(step("s", "START_WORKFLOW"), "inputParameters", start)]}),
        json!({"inputSchema": schema, "enforceSchema": true}),
        json!({"inputSchema": {"name": "in", "version": 1, "type": "JSON", "data": {"type": 5}}}),
    ] {
        let mut definition = fine("l_same");
        for (field, value) in fields.as_object().into_iter().flatten() {
            definition[field] = value.clone();
        }
        let mut registered = told_at_registration(&house, &definition);
        let mut linted = told_by_the_lint(&house, &definition);
        assert!(!registered.is_empty(), "{fields}");
        if linted.iter().any(|it| it.starts_with("E-REG-1")) {
            linted.retain(|it| it.starts_with("E-REG-1"));
        }
        registered.sort();
        linted.sort();
        assert_eq!(linted, registered, "{fields}");
    }
}

#[test]
fn workflows_that_are_not_registered_are_named() {
    let house = House::own(&[]);
    let child = |name: &str| {
        json!({"name": "k", "taskReferenceName": "k", "type": "SUB_WORKFLOW",
            "subWorkflowParam": {"name": name}})
    };
    let outer = json!({"name": "l_outer", "version": 1, "tasks": [child("l_inner")]});
    let answer = register(&house, "", &outer);
    let warning = answer.header("x-semel-warning").unwrap_or_default().to_owned();
    assert!(warning.contains("workflow l_inner is not registered"), "{warning}");
    assert!(warning.contains("docs/errors/W-RUN-1.md"), "{warning}");
    let list = Request::new("PUT", "/api/metadata/workflow").json(&json!([outer, fine("l_inner")]));
    assert_eq!(house.send(&list).header("x-semel-warning"), None, "they come together");
    assert_eq!(register(&house, "", &outer).header("x-semel-warning"), None);
}

#[test]
fn a_bundle_is_judged_under_its_own_task_definitions() {
    let house = House::own(&[]);
    let task =
        json!({"name": "l_bundle", "retryCount": 0, "timeoutSeconds": 3600, "colour": "red"});
    let bundle = json!({"workflowDefs": [risky("l_bundle")], "taskDefs": [task]});
    let found = house.send(&Request::post("/api/lint", &bundle)).json();
    assert_eq!((&found[0]["name"], codes(&found[0])), (&json!("l_bundle"), vec![]), "{found}");
    assert_eq!((&found[1]["name"], codes(&found[1])), (&json!("l_bundle"), vec!["W-RUN-3"]));
}
