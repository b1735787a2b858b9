//! # Search and look-ups (docs/compatibility.md#search)

use serde_json::{Value, json};

use crate::house::{house, report};
use crate::raw::Request;

/// Percent-encodes what a query may not hold.
fn encoded(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.*".contains(byte);
    let part = |byte: u8| match plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(part).collect()
}

fn found(path: &str, query: &str, rest: &str) -> Value {
    let target = format!("/api/{path}?query={}{rest}", encoded(query));
    let answer = house().send(&Request::get(&target));
    assert_eq!(answer.status, 200, "{target}: {}", answer.text());
    answer.json()
}

fn ids(found: &Value) -> Vec<String> {
    let rows = found["results"].as_array().into_iter().flatten();
    rows.filter_map(|row| row["workflowId"].as_str().map(str::to_owned)).collect()
}

fn start(body: &Value) -> String {
    let answer = house().send(&Request::post("/api/workflow", body));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text()
}

#[test]
fn a_run_is_found_as_soon_as_its_start_is_answered() {
    let house = house();
    house.define("s_fresh");
    let id = start(
        &json!({"name": "s_fresh", "correlationId": "s c1", "input": {"given": "needle in hay"},
        "idempotencyKey": "s-key", "priority": 7}),
    );
    for query in [
        "workflowType IN (s_fresh)",
        "workflowType IN (other,s_fresh) AND status IN (RUNNING)",
        " workflowType='s_fresh' AND correlationId = \"s c1\" ",
        "workflowType = s_fr* AND idempotencyKey IN (s-key)",
        &format!("workflowId='{id}'"),
        "workflowType=s_fresh AND startTime>1000000000000 AND parentWorkflowId=\"\"",
    ] {
        let found = found("workflow/search", query, "");
        assert_eq!(ids(&found), [id.as_str()], "{query}");
        assert_eq!(found["totalHits"], 1, "{query}");
    }
    for query in [
        "workflowType=s_fresh AND (status=COMPLETED OR status=RUNNING)",
        "workflowType=s_fresh AND NOT status=COMPLETED",
        "workflowType=s_fresh AND status != COMPLETED",
        "workflowType=s_fresh AND status NOT IN (COMPLETED,FAILED)",
        "workflowType=s_fresh AND startTime>=1000000000000",
        "idempotencyKey=s-other OR idempotencyKey=s-key",
    ] {
        assert_eq!(ids(&found("workflow/search", query, "")), [id.as_str()], "{query}");
    }
    for query in [
        "workflowType=s_fresh AND status=COMPLETED",
        "idempotencyKey=s-other",
        "workflowType=s_fresh AND status != RUNNING",
        "workflowType=s_fresh AND NOT (status=RUNNING OR status=PAUSED)",
    ] {
        assert_eq!(found("workflow/search", query, "")["totalHits"], 0, "{query}");
    }
    let row = &found("workflow/search", "workflowType=s_fresh", "&freeText=NEEDLE")["results"][0];
    assert_eq!(row["input"], r#"{"given":"needle in hay"}"#);
    assert_eq!((&row["priority"], &row["idempotencyKey"]), (&json!(7), &json!("s-key")));
    assert!(row["startTime"].as_str().is_some_and(|time| time.ends_with('Z')), "{row}");
    assert!(row.get("endTime").is_none() && row["parentWorkflowId"] == "", "{row}");
    let full = &found("workflow/search-v2", "workflowType=s_fresh", "")["results"][0];
    assert_eq!((&full["tasks"], &full["workflowName"]), (&json!([]), &json!("s_fresh")));
}

#[test]
fn tasks_are_found_in_the_state_they_are_in() {
    let house = house();
    house.define("s_tasks");
    let id = house.start("s_tasks");
    let state = |status: &str| {
        let query = format!("taskType='s_tasks' AND status IN ({status})");
        found("tasks/search", &query, "")["totalHits"].clone()
    };
    assert_eq!((state("SCHEDULED"), state("IN_PROGRESS")), (json!(1), json!(0)));
    let task = house.claim("s_tasks");
    assert_eq!((state("SCHEDULED"), state("IN_PROGRESS")), (json!(0), json!(1)));
    let done = Request::post("/api/tasks", &report(&task, "COMPLETED", json!({"n": 1})));
    assert_eq!(house.send(&done).status, 200);
    assert_eq!((state("IN_PROGRESS"), state("COMPLETED")), (json!(0), json!(1)));
    let rows = found("tasks/search", &format!("workflowId={id}"), "");
    assert_eq!(rows["results"][0]["output"], r#"{"n":1}"#);
    let full =
        found("tasks/search-v2", &format!("taskId={}", task["taskId"].as_str().unwrap()), "");
    assert_eq!(full["results"][0]["referenceTaskName"], "only");
    let runs = found("workflow/search-by-tasks", "taskDefName=s_tasks", "");
    assert_eq!(ids(&runs), [id.as_str()]);
    assert_eq!(found("workflow/search-by-tasks-v2", "taskDefName=s_tasks", "")["totalHits"], 1);
}

#[test]
fn pages_and_orders_are_kept_and_the_total_is_of_all() {
    let house = house();
    house.define("s_pages");
    let begun: Vec<_> = (0..5).map(|_| house.start("s_pages")).collect();
    let page = |rest: &str| found("workflow/search", "workflowType=s_pages", rest);
    let up = page("&sort=startTime:ASC%7CworkflowId:ASC&start=1&size=2");
    assert_eq!((ids(&up), &up["totalHits"]), (begun[1..3].to_vec(), &json!(5)));
    let newest = page("&size=1&sort=workflowId:DESC");
    assert_eq!(ids(&newest), begun[4..]);
    assert_eq!(ids(&page("&sort=ASC")).len(), 5, "a sort without a field means nothing");
    assert_eq!(ids(&page("&start=5")), [""; 0]);
    assert_eq!(ids(&page("&size=0")), [""; 0]);
}

#[test]
fn a_search_that_makes_no_sense_is_refused_by_name() {
    let house = house();
    let statuses = "status takes RUNNING, COMPLETED, FAILED, TIMED_OUT, TERMINATED, PAUSED";
    for (parameter, text, said) in [
        ("query", "nonsense", "Incorrectly formatted query string"),
        ("query", "colour=red", "colour"),
        ("query", "startTime>yesterday", "startTime"),
        ("query", "status=DONE_AND_DUSTED", statuses),
        ("query", "status=RUNNIN", statuses),
        ("query", "status=running", statuses),
        ("query", "workflowType=q && status=RUNNING", "joined by AND or OR"),
        ("query", "(((", "=, !=, <>, <, >, <=, >=, IN or NOT IN"),
        ("freeText", "workflowType:q AND status:RUNNING", "write query=workflowType=q"),
    ] {
        let target = format!("/api/workflow/search?{parameter}={}", encoded(text));
        let answer = house.refuses(&Request::get(&target));
        assert_eq!(answer.status, 400, "{text}");
        let message = answer.json()["message"].to_string();
        assert!(message.contains(said), "{text}: {message}");
    }
    assert_eq!(house.refuses(&Request::get("/api/workflow/search?size=5001")).status, 400);
    assert_eq!(house.refuses(&Request::get("/api/workflow/search?start=-1")).status, 400);
    let pythons = "/api/workflow/search?queryId=&start=0&size=100&freeText=%2A&query=";
    assert_eq!(house.send(&Request::get(pythons)).status, 200);
}

#[test]
fn runs_are_looked_up_by_name_and_by_correlation_id() {
    let house = house();
    for name in ["s_one", "s_two"] {
        house.define(name);
    }
    let with = |name: &str, id: &str| start(&json!({"name": name, "correlationId": id}));
    let (a, b) = (with("s_one", "c/1"), with("s_one", "c2"));
    let (c, d) = (with("s_two", "c/1"), with("s_one", "c/1"));
    let ended = Request::new("DELETE", format!("/api/workflow/{d}"));
    assert_eq!(house.send(&ended).status, 200);
    let get = |path: &str| house.send(&Request::get(format!("/api/workflow/{path}"))).json();
    let shown = |runs: &Value| -> Vec<String> {
        let runs = runs.as_array().into_iter().flatten();
        runs.filter_map(|run| run["workflowId"].as_str().map(str::to_owned)).collect()
    };
    let mut running: Vec<String> =
        serde_json::from_value(get("running/s_one")).expect("a list of ids");
    running.sort();
    let mut expected = vec![a.clone(), b.clone()];
    expected.sort();
    assert_eq!(running, expected);
    assert_eq!(get("running/s_one?version=2"), json!([]));
    let begun = get("running/s_one?startTime=1&endTime=9999999999999");
    assert_eq!(begun.as_array().map(Vec::len), Some(3), "all that began then");
    assert_eq!(shown(&get("s_one/correlated/c%2F1")), [a.as_str()]);
    assert_eq!(shown(&get("s_one/correlated/c%2F1?includeClosed=true")).len(), 2);
    assert_eq!(get("s_one/correlated/none"), json!([]));
    let tasks = get("s_one/correlated/c2?includeTasks=true");
    assert_eq!(tasks[0]["tasks"].as_array().map(Vec::len), Some(1));
    let many = Request::post("/api/workflow/s_one/correlated", &json!(["c2", "none"]));
    let many = house.send(&many).json();
    assert_eq!((shown(&many["c2"]), &many["none"]), (vec![b], &json!([])));
    assert_eq!(get("s_one/correlated"), json!({}), "ids that were lost find nothing");
    let batch = json!({"correlationIds": ["c/1"], "workflowNames": ["s_one", "s_two"]});
    let batch = house.send(&Request::post("/api/workflow/correlated/batch", &batch)).json();
    assert_eq!(shown(&batch["c/1"]), [a, c]);
}
