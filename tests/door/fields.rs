//! # Fields: every value of every body, replaced by something else
//!
//! What Jackson would have taken is taken, the rest is refused; and what was taken is then used:
//! started, polled, failed, completed, read and verified, so that no odd number waits in a
//! definition for its moment.

use semel_tests::process::is_full;
use serde_json::{Value, json};

use crate::house::{House, report};
use crate::raw::Request;
use crate::routes::{ROUTES, Shape, Subject};

/// Every way down to a value: `/tasks/0/name`.
pub(crate) fn pointers(prefix: &str, value: &Value, found: &mut Vec<String>) {
    if !prefix.is_empty() {
        found.push(prefix.to_owned());
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                pointers(&format!("{prefix}/{key}"), value, found);
            }
        }
        Value::Array(list) => {
            for (at, value) in list.iter().enumerate() {
                pointers(&format!("{prefix}/{at}"), value, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1.5),
        json!(i32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("text"),
        json!("NUL\0NUL"),
        json!("${workflow.input.given}"),
        json!("${"),
        json!("x".repeat(3_000)),
        json!([]),
        json!([[]]),
        json!({}),
        json!({"a": {"b": "NUL\0"}}),
    ]
}

fn odd_bodies(sample: &Value) -> Vec<Value> {
    let mut places = vec![];
    pointers("", sample, &mut places);
    let mut bodies = vec![];
    for place in places {
        for odd in odd_values() {
            let mut body = sample.clone();
            if let Some(value) = body.pointer_mut(&place) {
                *value = odd;
            }
            bodies.push(body);
        }
    }
    bodies
}

/// Runs one execution through failure, retry and completion; nothing of it may be a fault.
fn use_it(house: &House, name: &str, workflow: &str) {
    for status in ["FAILED", "COMPLETED"] {
        let poll =
            Request::get(format!("/api/tasks/poll/batch/{name}?workerid=w&timeout=0&count=9"));
        let polled = house.is_civil(&poll);
        for task in polled.json().as_array().into_iter().flatten() {
            let report = report(task, status, json!({"n": 1}));
            house.is_civil(&Request::post("/api/tasks/update-v2", &report));
        }
    }
    let to = |verb: &str, path: &str| {
        house.is_civil(&Request::new(verb, format!("/api/workflow/{workflow}{path}")))
    };
    to("DELETE", "");
    assert_eq!(to("GET", "").status, 200);
    let verified = to("POST", "/verify");
    assert_eq!(verified.status, 200, "{}", verified.text());
}

/// Sends every odd body of a shape to every route that reads it, and uses what the first one took;
/// with `SEMEL_FULL=1` what any of them took.
fn survives(shape: Shape) {
    let house = House::own(&[]);
    let name = format!("f_{shape:?}").to_lowercase();
    let subject = Subject::made(&house, &name);
    let mut taken = 0;
    for (n, route) in ROUTES.iter().filter(|route| route.shape == shape).enumerate() {
        let overwrite = if route.path == "/api/metadata/workflow" { "?overwrite=true" } else { "" };
        let target = format!("{}{overwrite}", subject.target(route));
        for body in odd_bodies(&subject.sample(shape)) {
            let answer = house.is_civil(&Request::new(route.method, &target).json(&body));
            if answer.status != 200 {
                continue;
            }
            taken += 1;
            if n > 0 && !is_full() {
                continue;
            }
            let started = match shape {
                Shape::Start | Shape::Execute | Shape::Input
                    if route.path.starts_with("/api/workflow") =>
                {
                    answer.header("x-workflow-id").map(str::to_owned)
                }
                Shape::Definition | Shape::Definitions | Shape::TaskDef | Shape::TaskDefs => {
                    Some(house.start(&name))
                }
                Shape::Start
                | Shape::Execute
                | Shape::Input
                | Shape::Report
                | Shape::Tags
                | Shape::Tag
                | Shape::Rehearsal
                | Shape::State
                | Shape::Batch
                | Shape::Names
                | Shape::Handler
                | Shape::Data
                | Shape::Rerun
                | Shape::Skip
                | Shape::Upgrade
                | Shape::Ids
                | Shape::Application
                | Shape::Schemas
                | Shape::Effect
                | Shape::Lock
                | Shape::Resolution
                | Shape::Nothing => None,
            };
            if let Some(id) = started {
                use_it(&house, &name, &id);
            }
        }
    }
    assert!(taken > 0, "not one of the odd bodies was taken: the sample is wrong");
    house.is_healthy();
    house.definitions();
}

#[test]
fn every_field_of_a_start_may_be_anything() {
    survives(Shape::Start);
}

#[test]
fn every_field_of_an_input_may_be_anything() {
    survives(Shape::Input);
    survives(Shape::Execute);
    survives(Shape::Rehearsal);
}

#[test]
fn every_field_of_a_word_about_an_effect_or_a_lock_may_be_anything() {
    survives(Shape::Effect);
    survives(Shape::Lock);
}

#[test]
fn every_field_of_a_report_may_be_anything() {
    survives(Shape::Report);
}

#[test]
fn every_field_of_a_task_definition_may_be_anything() {
    survives(Shape::TaskDef);
    survives(Shape::TaskDefs);
}

#[test]
fn every_field_of_a_workflow_definition_may_be_anything() {
    survives(Shape::Definition);
    survives(Shape::Definitions);
}

#[test]
fn what_operators_bring_may_be_anything() {
    survives(Shape::Data);
    survives(Shape::Upgrade);
    survives(Shape::Ids);
    survives(Shape::Names);
    survives(Shape::Batch);
    survives(Shape::State);
}

#[test]
fn every_field_of_an_event_handler_may_be_anything() {
    survives(Shape::Handler);
}

#[test]
fn every_field_of_a_tag_may_be_anything() {
    survives(Shape::Tags);
    survives(Shape::Tag);
}

#[test]
fn every_field_of_a_schema_may_be_anything() {
    survives(Shape::Schemas);
}

#[test]
fn every_field_of_an_application_may_be_anything() {
    survives(Shape::Application);
}
