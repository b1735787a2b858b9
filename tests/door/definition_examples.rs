//! # Examples of definitions: what the page of the reference says comes true
//!
//! Each section of `docs/reference/definitions.md` that is named after a task type has one definition,
//! and a line that says what comes of it. Every example is registered without a warning; those that
//! need no service outside are started with their input and end as the page says.

use std::collections::BTreeSet;

use semel_tests::process::{DEADLINE, until};
use serde_json::Value;

use crate::house::House;
use crate::raw::Request;

const PAGE: &str = include_str!("../../docs/reference/definitions.md");

struct Example {
    kind: String,
    definition: Value,
    /// None: it needs a service outside.
    run: Option<Run>,
}

struct Run {
    input: Value,
    status: String,
    output: Option<Value>,
}

/// The sections of task types; other sections have no example.
fn examples() -> Vec<Example> {
    PAGE.split("\n### ").skip(1).map(example).collect()
}

fn example(section: &str) -> Example {
    let kind = section.lines().next().unwrap_or_default().to_owned();
    let section = section.split("\n## ").next().unwrap_or_default();
    let (_, rest) = section.split_once("```json\n").unwrap_or_else(|| panic!("{kind}: no example"));
    let (definition, said) = rest.split_once("\n```").expect("the example ends");
    let definition = json(&kind, definition);
    let after = |word: &str| {
        let (_, rest) = said.split_once(&format!("{word} `"))?;
        rest.split('`').next()
    };
    let status = after("Result").unwrap_or_else(|| panic!("{kind}: no result")).to_owned();
    let run = (status != "registered").then(|| Run {
        input: json(&kind, after("Input").unwrap_or_else(|| panic!("{kind}: no input"))),
        status,
        output: after("with output").map(|output| json(&kind, output)),
    });
    Example { kind, definition, run }
}

fn json(kind: &str, text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{kind}: {error}: {text}"))
}

#[test]
fn every_task_type_has_an_example_that_uses_it() {
    let examples = examples();
    let described: BTreeSet<&str> = examples.iter().map(|example| example.kind.as_str()).collect();
    let served: BTreeSet<&str> =
        semel_model::served_types().iter().copied().chain(["SIMPLE"]).collect();
    assert_eq!(described, served);
    for Example { kind, definition, .. } in &examples {
        let text = definition.to_string();
        assert!(text.contains(&format!("\"type\":\"{kind}\"")), "{kind}: {text}");
    }
}

#[test]
fn every_example_is_registered_without_a_warning_and_ends_as_the_page_says() {
    let house = House::own(&[]);
    let examples = examples();
    for Example { kind, definition, .. } in &examples {
        let answer = house.send(&Request::post("/api/metadata/workflow", definition));
        assert_eq!(answer.status, 200, "{kind}: {}", answer.text());
        assert_eq!(answer.header("x-semel-warning"), None, "{kind}");
    }
    for Example { kind, definition, run } in &examples {
        let Some(run) = run else { continue };
        let name = definition["name"].as_str().expect("a name");
        let started = house.send(&Request::post(format!("/api/workflow/{name}"), &run.input));
        assert_eq!(started.status, 200, "{kind}: {}", started.text());
        let request = Request::get(format!("/api/workflow/{}", started.text()));
        let mut last = Value::Null;
        // Scripts of a busy machine may speak after the start was answered.
        let reached = until(kind, DEADLINE, || {
            last = house.send(&request).json();
            (last["status"] == run.status.as_str()).then(|| last.clone())
        });
        let shown = reached.unwrap_or_else(|error| panic!("{error:#}: {last}"));
        if let Some(output) = &run.output {
            assert_eq!(&shown["output"], output, "{kind}: {shown}");
        }
    }
}
