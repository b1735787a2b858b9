//! # Large answers: what is more than one answer may be is cut or refused, and says so

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::{Answer, Request};

/// One answer has a sixteenth of it: 4 MiB.
const OPTIONS: [&str; 2] = ["--memory-max", "67108864"];

const MEGABYTE: usize = 1_000_000;

fn start(house: &House, name: &str, bytes: usize) -> String {
    let body = json!({"name": name, "correlationId": "c", "input": {"given": "x".repeat(bytes)}});
    let answer = house.send(&Request::post("/api/workflow", &body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

fn get(house: &House, path: &str) -> Answer {
    let answer = house.send(&Request::get(path));
    assert!(answer.body.len() < 5 * MEGABYTE, "{path}: {} bytes", answer.body.len());
    answer
}

fn count(value: &Value) -> usize {
    value.as_array().map_or(0, Vec::len)
}

#[test]
fn a_batch_poll_hands_out_what_fits_and_the_rest_stays_queued() {
    let house = House::own(&OPTIONS);
    house.define("la_poll");
    (0..10).for_each(|_| drop(start(&house, "la_poll", MEGABYTE)));
    let mut seen = std::collections::BTreeSet::new();
    for poll in 0..10 {
        let answer = get(&house, "/api/tasks/poll/batch/la_poll?count=100&timeout=1000").json();
        let tasks = answer.as_array().expect("a poll is answered with a list");
        assert!((1..=4).contains(&tasks.len()), "poll {poll}: {}", tasks.len());
        seen.extend(tasks.iter().map(|task| task["taskId"].to_string()));
        if seen.len() == 10 {
            return;
        }
    }
    panic!("only {} of 10 tasks were handed out", seen.len());
}

#[test]
fn a_task_that_is_larger_than_an_answer_is_handed_out_alone() {
    let house = House::own(&OPTIONS);
    house.define("la_huge");
    (0..2).for_each(|_| drop(start(&house, "la_huge", 6 * MEGABYTE)));
    for _ in 0..2 {
        let path = "/api/tasks/poll/batch/la_huge?count=10&timeout=1000";
        let tasks = house.send(&Request::get(path)).json();
        assert_eq!(count(&tasks), 1);
        let done =
            house.send(&Request::post("/api/tasks", &report(&tasks[0], "COMPLETED", json!({}))));
        assert_eq!(done.status, 200);
    }
}

#[test]
fn a_search_ends_where_its_answer_is_full_and_says_so() {
    let house = House::own(&OPTIONS);
    house.define("la_search");
    (0..10).for_each(|_| drop(start(&house, "la_search", MEGABYTE)));
    let all = "workflowType%3Dla_search";
    for route in ["workflow/search", "workflow/search-v2", "tasks/search", "tasks/search-v2"] {
        let (mut found, mut parts) = (0, 0);
        while found < 10 {
            let path = format!("/api/{route}?query={all}&size=100&start={found}");
            let answer = get(&house, &path);
            let page = answer.json();
            assert_eq!((answer.status, &page["totalHits"]), (200, &json!(10)), "{route}");
            let rows = count(&page["results"]);
            assert!(rows > 0, "{route}");
            found += rows;
            parts += 1;
            let told = answer.header("x-semel-rows").map(str::to_owned);
            assert_eq!(told, (found < 10).then(|| rows.to_string()), "{route}");
        }
        assert!(parts > 1, "{route} had everything at once");
    }
}

#[test]
fn runs_by_correlation_that_are_too_large_together_are_refused() {
    let house = House::own(&OPTIONS);
    house.define("la_corr");
    (0..10).for_each(|_| drop(start(&house, "la_corr", MEGABYTE)));
    house.send(&Request::get("/api/workflow/search?query=workflowType%3Dla_corr")); // Indexed by now.
    let body = json!(["c", "none"]);
    for request in [
        Request::get("/api/workflow/la_corr/correlated/c"),
        Request::post("/api/workflow/la_corr/correlated", &body),
    ] {
        let refused = house.refuses(&request);
        assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("ANSWER_TOO_LARGE")));
        assert!(refused.text().contains("search-v2"), "{}", refused.text());
    }
}

#[test]
fn a_run_that_is_too_large_is_refused_with_the_way_to_read_it() {
    let house = House::own(&OPTIONS);
    let steps: Vec<Value> = (0..8)
        .map(|at| {
            json!({"name": "n", "taskReferenceName": format!("n{at}"), "type": "NOOP",
            "inputParameters": {"given": "${workflow.input.given}"}})
        })
        .collect();
    let definition = json!({"name": "la_run", "version": 1, "schemaVersion": 2, "tasks": steps});
    let put = house.send(&Request::post("/api/metadata/workflow", &definition));
    assert_eq!(put.status, 200, "{}", put.text());
    let id = start(&house, "la_run", MEGABYTE);
    let refused = house.refuses(&Request::get(format!("/api/workflow/{id}")));
    assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("ANSWER_TOO_LARGE")));
    let message = refused.json()["message"].to_string();
    assert!(message.contains("includeTasks=false") && message.contains("/tasks?"), "{message}");
    assert_eq!(get(&house, &format!("/api/workflow/{id}?includeTasks=false")).status, 200);
    let (mut found, mut total) = (0, 8);
    while found < total {
        let page = get(&house, &format!("/api/workflow/{id}/tasks?start={found}&count=100")).json();
        found += count(&page["results"]);
        total = page["totalHits"].as_u64().map_or(0, |total| total as usize);
    }
    assert_eq!((found, total), (8, 8));
    // One entry has all of it: the first row of a list is given however large it is.
    let journal = house.send(&Request::get(format!("/api/workflow/{id}/log")));
    assert!(journal.status == 200 && count(&journal.json()) > 0);
}

/// A run of eight tasks with a megabyte each, and one that waits to be answered by name.
fn define_whole(house: &House) -> Value {
    let mut steps: Vec<Value> = (0..8)
        .map(|at| {
            json!({"name": "n", "taskReferenceName": format!("n{at}"), "type": "NOOP",
            "inputParameters": {"given": "${workflow.input.given}"}})
        })
        .collect();
    for at in ["w", "v"] {
        steps.push(json!({"name": at, "taskReferenceName": at, "type": "WAIT"}));
    }
    let definition = json!({"name": "la_whole", "version": 1, "schemaVersion": 2, "tasks": steps});
    let put = house.send(&Request::post("/api/metadata/workflow?overwrite=true", &definition));
    assert_eq!(put.status, 200, "{}", put.text());
    definition
}

#[test]
fn whoever_changes_a_large_run_is_told_of_it_without_its_tasks() {
    let house = House::own(&OPTIONS);
    define_whole(&house);
    let input = json!({"given": "x".repeat(MEGABYTE)});
    let execute = Request::post(
        "/api/workflow/execute/la_whole/1?waitForSeconds=1",
        &json!({ "input": input }),
    );
    let id = start(&house, "la_whole", MEGABYTE);
    let nothing = json!({});
    let requests = [
        execute,
        Request::post(format!("/api/workflow/{id}/variables"), &json!({"a": 1})),
        Request::post(format!("/api/workflow/{id}/state"), &json!({"variables": {"a": 2}})),
        Request::post(format!("/api/tasks/{id}/w/COMPLETED/sync"), &nothing),
        Request::post(
            format!(
                "/api/tasks/{id}/COMPLETED/signal/sync?timeoutMillis=10&returnStrategy=TARGET_WORKFLOW"
            ),
            &nothing,
        ),
    ];
    for request in requests {
        let answer = house.send(&request);
        let shown = String::from_utf8_lossy(&request.bytes()[..80]).into_owned();
        assert_eq!(answer.status, 200, "{shown} {}", answer.text());
        assert!(answer.body.len() < 2 * MEGABYTE, "{shown}: {} bytes", answer.body.len());
        let warned = answer.header("x-semel-warning").unwrap_or_default();
        assert!(warned.starts_with("the tasks are left out"), "{shown}: {warned}");
        let told = answer.json();
        assert!(told["tasks"].as_array().is_none_or(Vec::is_empty), "{shown}");
        assert_eq!(told["input"]["given"].as_str().map(str::len), Some(MEGABYTE), "{shown}");
    }
    let played = json!({"name": "la_whole", "version": 1, "input": input,
        "taskRefToMockOutput": {"w": [{"status": "COMPLETED"}], "v": [{"status": "COMPLETED"}]}});
    let refused = house.refuses(&Request::post("/api/workflow/test", &played));
    assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("ANSWER_TOO_LARGE")));
}

#[test]
fn lists_that_are_too_large_are_refused_with_the_way_to_ask_for_less() {
    let house = House::own(&OPTIONS);
    let long = "x".repeat(MEGABYTE);
    for at in 0..5 {
        let name = format!("la_list_{at}");
        let step = json!({"name": "n", "taskReferenceName": "n", "type": "NOOP"});
        let bodies = [
            (
                "/api/metadata/workflow",
                json!({"name": name, "version": 1, "schemaVersion": 2, "tasks": [step], "description": long}),
            ),
            ("/api/metadata/taskdefs", json!([{"name": name, "description": long}])),
            (
                "/api/schema",
                json!([{"name": name, "version": 1, "type": "JSON", "data": {"description": long}}]),
            ),
            (
                "/api/event",
                json!({"name": name, "event": "conductor:la:e", "active": true, "condition": "true",
                    "actions": [{"action": "start_workflow",
                        "start_workflow": {"name": "la_list_0", "input": {"given": long}}}]}),
            ),
        ];
        for (path, body) in bodies {
            let put = house.send(&Request::post(path, &body));
            assert_eq!(put.status, 200, "{path} {}", put.text());
        }
    }
    for path in [
        "/api/metadata/workflow",
        "/api/metadata/workflow/latest-versions",
        "/api/metadata/taskdefs",
        "/api/schema",
        "/api/event",
        "/api/event/conductor:la:e",
    ] {
        let refused = house.refuses(&Request::get(path));
        let found = (refused.status, refused.json()["code"].clone());
        assert_eq!(found, (413, json!("ANSWER_TOO_LARGE")), "{path}");
        assert!(refused.text().contains("; ask "), "{path} {}", refused.text());
    }
    for path in [
        "/api/metadata/workflow/names",
        "/api/metadata/workflow/names-and-versions",
        "/api/metadata/workflow?name=la_list_0",
        "/api/metadata/workflow/la_list_0/versions",
        "/api/metadata/taskdefs/la_list_0",
        "/api/schema?short=true",
        "/api/event/handler/la_list_0",
    ] {
        assert_eq!(get(&house, path).status, 200, "{path}");
    }
}

#[test]
fn a_page_of_effects_ends_where_it_is_full() {
    let house = House::own(&OPTIONS);
    let result = "x".repeat(250_000);
    for at in 0..20 {
        let key = format!("k{at:02}");
        let who = json!({"scope": "la", "key": key, "owner": "ann", "leaseSeconds": 60});
        let begun = house.send(&Request::post("/api/effects/try-start", &who)).json();
        let mut done = who.clone();
        done["fence"] = begun["fence"].clone();
        done["result"] = json!({ "r": result });
        let done = house.send(&Request::post("/api/effects/complete", &done));
        assert_eq!(done.status, 200, "{}", done.text());
    }
    let (mut found, mut pages, mut after) = (0, 0, String::new());
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let page = get(&house, &format!("/api/effects?scope=la&size=100{after}")).json();
        found += count(&page["results"]);
        pages += 1;
        let Some(next) = page["after"].as_str() else { break };
        after =
            format!("&after={}", next.replace('"', "%22").replace('[', "%5B").replace(']', "%5D"));
    }
    assert_eq!(found, 20);
    assert!(pages > 1, "everything came at once");
}
