//! # Queues and listings: how much waits, who asked, what is registered

use serde_json::{Value, json};

use crate::house::{definition, house};
use crate::raw::Request;

fn seen(path: &str) -> Value {
    let answer = house().send(&Request::get(format!("/api/{path}")));
    assert_eq!(answer.status, 200, "{path}");
    answer.json()
}

#[test]
fn what_waits_is_counted_and_whoever_polls_is_remembered() {
    let house = house();
    house.define("q_count");
    (0..3).for_each(|_| drop(house.start("q_count")));
    assert_eq!(
        seen("tasks/queue/sizes?taskType=q_count&taskType=q_none"),
        json!({"q_count": 3, "q_none": 0})
    );
    assert_eq!(seen("tasks/queue/sizes"), json!({}));
    assert_eq!(seen("tasks/queue/size?taskType=q_count"), 3);
    assert_eq!(seen("tasks/queue/size?taskType=q_count&domain=other"), 0);
    assert_eq!(seen("tasks/queue/all")["q_count"], 3);
    assert_eq!(seen("tasks/queue/all/verbose")["q_count"], json!({"a": {"size": 3, "uacked": 0}}));
    house.claim("q_count");
    assert_eq!(seen("tasks/queue/size?taskType=q_count"), 2, "what is held does not wait");
    let polled = seen("tasks/queue/polldata?taskType=q_count");
    let [data] = polled.as_array().map(Vec::as_slice).unwrap_or_default() else {
        panic!("one line per domain: {polled}")
    };
    assert_eq!((&data["queueName"], &data["workerId"]), (&json!("q_count"), &json!("w")));
    assert!(data["lastPollTime"].as_i64() > Some(0));
    let all = seen("tasks/queue/polldata/all");
    assert!(all.as_array().is_some_and(|all| all.contains(data)), "{all}");
    let nameless = Request::get("/api/tasks/queue/size");
    assert_eq!(house.refuses(&nameless).status, 400);
}

#[test]
fn definitions_are_listed_by_name_and_by_version() {
    let house = house();
    for version in [2, 1, 10] {
        let mut workflow = definition("q_listed");
        workflow["version"] = json!(version);
        let put = Request::post("/api/metadata/workflow?overwrite=true", &workflow);
        assert_eq!(house.send(&put).status, 200);
    }
    let numbers = |found: &Value| -> Vec<i64> {
        let all = found.as_array().cloned().unwrap_or_default();
        all.iter().filter_map(|one| one["version"].as_i64()).collect()
    };
    assert_eq!(numbers(&seen("metadata/workflow/q_listed/versions")), [1, 2, 10]);
    assert_eq!(numbers(&seen("metadata/workflow/names-and-versions")["q_listed"]), [1, 2, 10]);
    let names = seen("metadata/workflow/names");
    assert!(names.as_array().is_some_and(|names| names.contains(&json!("q_listed"))), "{names}");
    let latest = seen("metadata/workflow/latest-versions");
    let of_name = |one: &&Value| one["name"] == "q_listed";
    let latest: Vec<&Value> = latest.as_array().into_iter().flatten().filter(of_name).collect();
    assert_eq!(latest.iter().map(|one| &one["version"]).collect::<Vec<_>>(), [&json!(10)]);
    assert_eq!(seen("metadata/workflow/q_unknown/versions"), json!([]));
}
