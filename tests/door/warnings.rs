//! # Warnings: what is registered although it will not do what it says
//!
//! Each is registered with the header `X-Semel-Warning`, found by the lint, and fails or waits in
//! words when a run gets there.

use std::time::Duration;

use semel_tests::process::until;
use serde_json::{Value, json};

use crate::house::{House, house};
use crate::raw::{Answer, Request};

pub(crate) fn workflow(name: &str, steps: Value) -> Value {
    json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": steps})
}

pub(crate) fn step(name: &str, kind: &str, fields: Value) -> Value {
    let mut step = json!({"name": name, "taskReferenceName": name, "type": kind});
    for (field, value) in fields.as_object().into_iter().flatten() {
        step[field] = value.clone();
    }
    step
}

/// Registered by every road, with a warning that holds these words and names its page.
pub(crate) fn warns(house: &House, definition: &Value, code: &str, words: &str) {
    let roads = [
        Request::post("/api/metadata/workflow?overwrite=true", definition),
        Request::new("PUT", "/api/metadata/workflow").json(&json!([definition])),
        Request::post("/api/metadata/workflow/validate", definition),
    ];
    for request in roads {
        let answer = house.send(&request);
        assert_eq!(answer.status, 200, "{request:?} {}", answer.text());
        says(&answer, code, words);
    }
    let linted = house.send(&Request::post("/api/lint", definition)).json();
    let findings = linted[0]["findings"].as_array().cloned().unwrap_or_default();
    let is_told = |it: &Value| it["code"] == code && it.to_string().contains(words);
    assert!(findings.iter().any(is_told), "{code} {words}: {linted}");
}

fn says(answer: &Answer, code: &str, words: &str) {
    let warning = answer.header("x-semel-warning").expect("nobody shall rely on it unaware");
    assert!(warning.contains(words), "{words} is not in {warning}");
    assert!(warning.contains(&format!("docs/errors/{code}.md")), "{warning}");
}

/// How a run of it ends: its reason, else that of its last task.
fn ends(house: &House, name: &str) -> (String, String, usize) {
    let id = house.send(&Request::post("/api/workflow", &json!({"name": name}))).text();
    until("the run to end", Duration::from_secs(20), || {
        let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
        let status = run["status"].as_str().unwrap_or_default().to_owned();
        let tasks = run["tasks"].as_array().cloned().unwrap_or_default();
        let of_run = run["reasonForIncompletion"].as_str();
        let of_task = tasks.last().and_then(|task| task["reasonForIncompletion"].as_str());
        let reason = of_run.or(of_task).unwrap_or_default().to_owned();
        (status != "RUNNING").then_some((status, reason, tasks.len()))
    })
    .expect("it ends")
}

#[test]
fn a_fork_that_ends_a_workflow_without_a_join_is_registered_and_fails_its_run() {
    let house = &house();
    let fork =
        step("f", "FORK_JOIN", json!({"forkTasks": [[step("w_fork_a", "SIMPLE", json!({}))]]}));
    warns(house, &workflow("w_fork", json!([fork])), "W-RUN-1", "must be followed by a JOIN");
    let words = "Fork task definition is not followed by a join task.  Check the blueprint";
    assert_eq!(ends(house, "w_fork"), ("FAILED".to_owned(), words.to_owned(), 0));
    let poll = house.send(&Request::get("/api/tasks/poll/w_fork_a?workerid=w"));
    assert_eq!(poll.status, 204, "no branch of it has begun");
}

#[test]
fn a_uri_without_a_scheme_is_registered_and_fails_its_task() {
    let house = &house();
    let request = json!({"uri": "example.com/orders", "method": "GET"});
    let call = step("call", "HTTP", json!({"inputParameters": {"http_request": request}}));
    warns(house, &workflow("w_uri", json!([call])), "W-RUN-1", "uri must begin with http://");
    let (status, reason, _) = ends(house, "w_uri");
    assert_eq!(status, "FAILED");
    assert!(reason.contains("example.com/orders") || reason.contains("uri"), "{reason}");
}

#[test]
fn a_sink_without_a_queue_here_is_registered_and_fails_its_task() {
    let house = &house();
    let tell = step("tell", "EVENT", json!({"sink": "kafka:orders", "retryCount": 0}));
    warns(house, &workflow("w_sink", json!([tell])), "W-RUN-1", "kafka:orders");
    let (status, reason, _) = ends(house, "w_sink");
    assert_eq!(status, "FAILED");
    assert!(reason.contains("Invalid / Unsupported sink specified: kafka:orders"), "{reason}");
}

#[test]
fn no_system_type_that_is_not_here_waits_for_a_worker() {
    let house = &house();
    for kind in ["GET_WORKFLOW", "KAFKA_PUBLISH", "UPDATE_TASK", "TERMINATE_WORKFLOW", "GRPC"] {
        let name = format!("w_type_{}", kind.to_ascii_lowercase());
        let fields = json!({"inputParameters": {"kafka_request": {"topic": "t"}}});
        let definition = workflow(&name, json!([step("s", kind, fields)]));
        warns(house, &definition, "W-RUN-1", &format!("task type {kind} is not in this release"));
        let (status, reason, _) = ends(house, &name);
        assert_eq!(status, "FAILED", "{kind}");
        assert!(reason.contains(&format!("task type {kind} is not in this release")), "{reason}");
    }
    let own = workflow("w_own", json!([step("s", "CHARGE_CARD", json!({}))]));
    let answer = house.send(&Request::post("/api/metadata/workflow?overwrite=true", &own));
    assert_eq!((answer.status, answer.header("x-semel-warning")), (200, None));
}

#[test]
fn a_join_on_a_step_that_is_not_there_is_registered_and_fails_in_words() {
    let house = &house();
    let join = step("j", "JOIN", json!({"joinOn": ["nobody"]}));
    warns(house, &workflow("w_join", json!([join])), "W-RUN-1", "joinOn: nobody");
    let (status, reason, _) = ends(house, "w_join");
    assert_eq!(status, "FAILED");
    assert!(reason.contains("nobody"), "{reason}");
}

#[test]
fn a_domain_for_a_task_that_is_not_there_is_told() {
    let house = house();
    let plain = workflow("w_domains", json!([step("w_there", "SIMPLE", json!({}))]));
    let child = json!({"subWorkflowParam": {"name": "w_domains"}});
    let above = workflow("w_above", json!([step("w_child", "SUB_WORKFLOW", child)]));
    for definition in [plain, above] {
        let put = Request::post("/api/metadata/workflow?overwrite=true", &definition);
        assert_eq!(house.send(&put).status, 200);
    }
    let told = |name: &str, domains: Value| {
        let body = json!({"name": name, "taskToDomain": domains});
        let answer = house.send(&Request::post("/api/workflow", &body));
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    };
    says(
        &told("w_domains", json!({"w_their": "eu", "*": "eu"})),
        "W-RUN-2",
        "taskToDomain.w_their",
    );
    for (name, domains) in
        [("w_domains", json!({"w_there": "eu", "*": "eu"})), ("w_above", json!({"w_there": "eu"}))]
    {
        assert_eq!(told(name, domains).header("x-semel-warning"), None, "{name}");
    }
}

#[test]
fn a_start_that_brings_its_definition_is_warned_too() {
    let house = &house();
    let definition = workflow("w_brought", json!([step("s", "JDBC", json!({}))]));
    let start = json!({"name": "w_brought", "workflowDef": definition});
    says(
        &house.send(&Request::post("/api/workflow", &start)),
        "W-RUN-1",
        "workflowDef.tasks[0].type",
    );
}

#[test]
fn a_start_that_brings_its_definition_needs_no_name_of_its_own() {
    let house = &house();
    let definition = workflow("w_unnamed", json!([step("s", "NOOP", json!({}))]));
    for start in
        [json!({"workflowDef": definition}), json!({"name": "", "workflowDef": definition})]
    {
        let id = house.send(&Request::post("/api/workflow", &start)).text();
        let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
        assert_eq!(
            (&run["workflowName"], &run["status"]),
            (&json!("w_unnamed"), &json!("COMPLETED"))
        );
    }
    let nameless = json!({"workflowDef": workflow("", json!([step("s", "NOOP", json!({}))]))});
    assert_eq!(house.refuses(&Request::post("/api/workflow", &nameless)).status, 400);
}

#[test]
fn a_jump_may_name_its_step_in_the_query_alone() {
    let house = &house();
    let steps = json!([step("w_first", "SIMPLE", json!({})), step("w_second", "WAIT", json!({}))]);
    let definition = workflow("w_jump", steps);
    assert_eq!(house.send(&Request::post("/api/metadata/workflow", &definition)).status, 200);
    let id = house.send(&Request::post("/api/workflow", &json!({"name": "w_jump"}))).text();
    let jump = |query: &str| Request::post(format!("/api/workflow/{id}/jump{query}"), &json!({}));
    assert_eq!(house.refuses(&jump("")).status, 400);
    assert_eq!(house.send(&jump("?taskReferenceName=w_second")).status, 200);
    let run = house.send(&Request::get(format!("/api/workflow/{id}"))).json();
    let tasks = run["tasks"].as_array().cloned().unwrap_or_default();
    let open = tasks.iter().find(|task| task["status"] == "IN_PROGRESS").expect("one is open");
    assert_eq!(open["referenceTaskName"], "w_second");
}

#[test]
fn handlers_that_can_never_act_are_registered() {
    let house = &house();
    let start = json!([{"action": "start_workflow", "start_workflow": {"name": "w"}}]);
    let far = json!({"name": "w_far", "event": "kafka:orders", "active": true, "actions": start});
    says(&house.send(&Request::post("/api/event", &far)), "W-RUN-2", "event: no such event comes");
    let again = house.send(&Request::new("PUT", "/api/event").json(&far));
    says(&again, "W-RUN-2", "event: no such event comes");
    let idle = json!({"name": "w_idle", "event": "paid", "active": true, "actions": []});
    let both = json!([{"name": "w_fine", "event": "paid", "actions": start}, idle]);
    says(&house.send(&Request::post("/api/event", &both)), "W-RUN-2", "[1].actions: ");
    let kept = house.send(&Request::get("/api/event/handler/w_idle")).json();
    assert_eq!(kept["actions"], json!([]));
    let broken = json!({"name": "w_broken", "event": "paid", "actions": [{"action": "fly"}]});
    assert_eq!(house.refuses(&Request::post("/api/event", &broken)).status, 400);
}

#[test]
fn a_schema_that_is_none_is_kept_and_whoever_enforces_it_is_told() {
    let house = &house();
    let wrong = json!({"name": "w_none", "version": 1, "type": "JSON",
        "data": {"properties": {"a": {"type": "numbr"}}}});
    let kept = house.send(&Request::post("/api/schema", &json!([wrong])));
    assert_eq!(kept.status, 200);
    says(&kept, "W-RUN-1", "data.properties.a.type");
    assert_eq!(house.send(&Request::get("/api/schema/w_none")).json()["data"], wrong["data"]);
    let mut definition = workflow("w_schema", json!([step("s", "NOOP", json!({}))]));
    for (schema, words) in [("w_none", "cannot be enforced"), ("w_nobody", "is not registered")] {
        definition["inputSchema"] = json!({"name": schema, "version": 1});
        warns(house, &definition, "W-RUN-1", words);
        let start = house.refuses(&Request::post("/api/workflow/w_schema", &json!({})));
        assert_eq!(start.status, 404, "{}", start.text());
        assert!(start.text().contains("inputSchema"), "{}", start.text());
    }
    let task =
        json!([{"name": "w_task", "enforceSchema": true, "inputSchema": {"name": "w_nobody"}}]);
    says(&house.send(&Request::post("/api/metadata/taskdefs", &task)), "W-RUN-1", "inputSchema: ");
    definition["inputSchema"] = json!({"data": {"type": 5}});
    let inline = house.refuses(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(inline.status, 400, "no run of it could ever begin");
}

#[test]
fn the_lint_says_what_registration_will_refuse() {
    let house = &house();
    let broken = workflow("w_broken", json!([step("s", "SIMPLE", json!({"startDelay": -1}))]));
    let linted = house.send(&Request::post("/api/lint", &broken)).json();
    let finding = &linted[0]["findings"][0];
    assert_eq!((&finding["code"], &finding["severity"]), (&json!("E-REG-1"), &json!("ERROR")));
    assert_eq!(finding["at"], "tasks[0].startDelay");
    let mut unenforceable = workflow("w_broken", json!([step("s", "NOOP", json!({}))]));
    unenforceable["inputSchema"] = json!({"data": {"type": 5}});
    let linted = house.send(&Request::post("/api/lint", &unenforceable)).json();
    assert_eq!(linted[0]["findings"][0]["code"], "E-REG-1", "{linted}");
}

#[test]
fn members_that_nobody_knows_are_named() {
    let house = &house();
    let inner = step("i", "SIMPLE", json!({"flavour": 1}));
    let given = json!({"name": "w_given", "size": 2, "tasks": [inner]});
    let child = json!({"subWorkflowParam": {"name": "w_given", "workflowDefinition": given}});
    let pay = step("s", "SIMPLE", json!({"retrycount": 3, "metadata": {"own": {"any": 1}}}));
    let mut definition = workflow("w_members", json!([pay, step("c", "SUB_WORKFLOW", child)]));
    (definition["colour"], definition["nothing"]) = (json!("red"), Value::Null);
    for words in [
        "colour: is not known here and was dropped (",
        "tasks[0].retrycount: is not known here and was dropped; is retryCount meant?",
        "workflowDefinition.size: is not known here",
        "workflowDefinition.tasks[0].flavour: is not known here",
    ] {
        says(
            &house.send(&Request::post("/api/metadata/workflow?overwrite=true", &definition)),
            "W-RUN-3",
            words,
        );
    }
    warns(house, &definition, "W-RUN-3", "is retryCount meant?");
    let kept = house.send(&Request::get("/api/metadata/workflow/w_members")).json();
    assert!(kept.get("colour").is_none(), "{kept}");
    let strict = Request::post("/api/metadata/workflow?overwrite=true&lint=strict", &definition);
    assert_eq!(house.refuses(&strict).status, 400);
    let start = json!({"name": "w_members", "workflowDef": definition});
    let started = house.send(&Request::post("/api/workflow", &start));
    says(&started, "W-RUN-3", "workflowDef.tasks[0].retrycount: ");
}

#[test]
fn members_that_no_task_definition_has_are_named() {
    let house = &house();
    let task = json!({"name": "w_taskdef", "timeout_seconds": 5, "effect": {"onUnkown": "FAIL"}});
    let both = json!([{"name": "w_plain", "retryCount": 1}, task]);
    let answer = house.send(&Request::post("/api/metadata/taskdefs", &both));
    says(&answer, "W-RUN-3", "[1].timeout_seconds: is not known here and was dropped");
    says(&answer, "W-RUN-3", "[1].effect.onUnkown: ");
    let again = house.send(&Request::new("PUT", "/api/metadata/taskdefs").json(&task));
    says(&again, "W-RUN-3", "is timeoutSeconds meant?");
    let plain = house.send(&Request::post("/api/metadata/taskdefs", &json!([both[0]])));
    assert_eq!(plain.header("x-semel-warning"), None);
}

#[test]
fn an_effect_where_it_means_nothing_is_refused() {
    let house = &house();
    for kind in ["HUMAN", "WAIT", "SET_VARIABLE", "NOOP", "YIELD"] {
        let fields = json!({"effect": {"key": "1"}, "inputParameters": {"a": 1}});
        let definition = workflow("w_effect", json!([step("s", kind, fields)]));
        let refused = house.refuses(&Request::post("/api/metadata/workflow", &definition));
        assert_eq!(refused.status, 400, "{kind}");
        let said = refused.text();
        assert!(said.contains("tasks[0].effect") && said.contains("take it away"), "{said}");
    }
    let cached = json!({"cacheConfig": {"key": "k", "ttlInSecond": 5}});
    let definition = workflow("w_cached", json!([step("s", "HUMAN", cached)]));
    warns(house, &definition, "W-RUN-2", "a HUMAN has no result to keep");
}

/// A name that nobody reads is named wherever a definition can be given.
#[test]
fn what_is_dropped_is_named_by_every_road() {
    let house = house();
    let handler = json!({"name": "dropped", "event": "conductor:x", "actve": true, "actions": []});
    let schema = json!({"name": "dropped", "version": 1, "typ": "JSON", "data": {}});
    let run = json!({"workflowDef": {"name": "dropped", "version": 1, "colour": "red",
        "tasks": [step("n", "NOOP", json!({}))]}});
    for (request, words) in [
        (Request::post("/api/event", &handler), "actve"),
        (Request::new("PUT", "/api/event").json(&handler), "actve"),
        (Request::post("/api/schema", &json!([schema])), "typ"),
        (Request::post("/api/workflow", &run), "workflowDef.colour"),
        (Request::post("/api/workflow/execute/dropped/1", &run), "workflowDef.colour"),
    ] {
        let answer = house.send(&request);
        assert_eq!(answer.status, 200, "{request:?} {}", answer.text());
        says(&answer, "W-RUN-3", words);
    }
}
