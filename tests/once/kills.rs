//! # Killed between commit and answer, on every route that changes something
//!
//! Each route is asked twice: in a house that lives, and in one that dies after every commit until
//! the request has an answer. Both must answer and end alike.

use serde_json::Value;

use crate::house::House;
use crate::raw::{Answer, Request};
use crate::routes::{ROUTES, Subject};

/// What an answer says, but for ids and times, which differ between any two houses.
fn shape(answer: &Answer) -> (u16, String) {
    let is_json = answer.header("content-type") == Some("application/json");
    let text = match is_json && !answer.body.is_empty() {
        true => members(&answer.json()),
        false => answer.text().len().to_string(),
    };
    (answer.status, text)
}

fn members(value: &Value) -> String {
    match value {
        Value::Object(members_of) => {
            let mut all: Vec<_> = members_of
                .iter()
                .map(|(name, value)| match name.len() {
                    36 => format!("id:{}", members(value)),
                    _ => format!("{name}:{}", members(value)),
                })
                .collect();
            all.sort();
            format!("{{{}}}", all.join(","))
        }
        Value::Array(items) => format!("{:?}", items.iter().map(members).collect::<Vec<_>>()),
        Value::Bool(flag) => flag.to_string(),
        Value::String(_) | Value::Number(_) | Value::Null => "_".to_owned(),
    }
}

/// How long the journal of the subject's run is; none: it is gone.
fn entries(house: &House, subject: &Subject) -> Option<usize> {
    let log = house.send(&Request::get(format!("/api/workflow/{}/log", subject.workflow)));
    (log.status == 200).then(|| log.json().as_array().map_or(0, Vec::len))
}

#[test]
fn every_route_survives_a_death_after_every_commit() {
    let living = House::built();
    let mut dying = House::built();
    for (at, route) in ROUTES.iter().enumerate().filter(|(_, route)| route.is_keyed()) {
        let name = format!("{} {}", route.method, route.path);
        let what = format!("killed_{at}");
        let key = format!("key-{at}");
        let subject = Subject::made(&living, &what);
        let request = subject.request(route).header("Idempotency-Key", key.as_str());
        let wanted = living.send(&request);
        living.settle();
        let wanted_entries = entries(&living, &subject);

        let subject = Subject::made(&dying, &what);
        let request = subject.request(route).header("Idempotency-Key", key.as_str());
        let answer = dying.insist(&request);
        assert_eq!(shape(&answer), shape(&wanted), "{name}: {}", answer.text());
        dying.reopen(false);
        dying.settle();
        let again = dying.send(&request);
        assert_eq!((again.status, again.text()), (answer.status, answer.text()), "{name}");
        dying.settle();
        assert_eq!(entries(&dying, &subject), wanted_entries, "{name}");
    }
}

#[test]
fn a_bulk_goes_on_where_it_stopped() {
    let mut house = House::built();
    house.define("bulk");
    let ids: Vec<String> = (0..5).map(|_| house.start("bulk")).collect();
    let body = serde_json::json!(ids);
    let request = Request::new("DELETE", "/api/workflow/bulk/remove?archiveWorkflow=false")
        .json(&body)
        .header("Idempotency-Key", "bulk");
    let answer = house.insist(&request);
    let done = &answer.json()["bulkSuccessfulResults"];
    assert_eq!(*done, body, "each of them was removed, in one of the lives: {}", answer.text());
    house.reopen(false);
    house.settle();
    assert_eq!(house.send(&request).text(), answer.text());
    house.settle();
    assert_eq!(house.request_records(), 1, "what its steps were told is not needed any more");
}

#[test]
fn a_start_whose_definition_is_gone_meanwhile_is_still_told() {
    let mut house = House::built();
    house.define("gone");
    let start = Request::post("/api/workflow/gone", &serde_json::json!({}))
        .header("Idempotency-Key", "gone");
    house.reopen(true);
    assert_eq!(house.send(&start).status, 503);
    house.reopen(false);
    let remove = Request::new("DELETE", "/api/metadata/workflow/gone/1");
    assert_eq!(house.send(&remove).status, 200);
    let told = house.send(&start);
    assert_eq!(told.status, 200, "{}", told.text());
    assert_eq!(told.header("idempotent-replayed"), Some("true"));
    let run = house.send(&Request::get(format!("/api/workflow/{}", told.text())));
    assert_eq!(run.status, 200, "{}", run.text());
    assert_eq!(house.send(&start).text(), told.text());
}
