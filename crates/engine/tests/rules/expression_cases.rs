//! # Cases: what expressions give, in tables anybody can read
//!
//! `tests/expressions/*.cases`. A line `data JSON` (until a line that does not go on with blanks) sets
//! the scene; a line `template => JSON` is a case. All cases under one scene are parameters of one
//! step, so every table is also one run, replayed from its journal.

use std::collections::BTreeMap;
use std::path::Path;

use semel_engine::{Environment, Event, Start};
use semel_model::{Payload, TaskResultStatus::Failed};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::bench::Bench;
use crate::shapes::{Said, flow, step, with};

/// Fewer means that a table was lost, not that less is tested.
const CASES_MIN: usize = 450;

struct Scene {
    data: String,
    cases: Vec<Case>,
}

struct Case {
    line: usize,
    template: Value,
    wanted: String,
}

#[test]
fn every_case_gives_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expressions");
    let mut failures = Vec::new();
    let mut count = 0;
    let mut tables: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    tables.sort();
    for table in tables {
        let name = table.file_name().unwrap().to_string_lossy().into_owned();
        for scene in scenes(&name, &std::fs::read_to_string(&table).unwrap()) {
            count += scene.cases.len();
            let given = play(&scene);
            for Case { line, template, wanted } in &scene.cases {
                let given = given[&line.to_string()].get();
                if given != wanted {
                    failures.push(format!("{name}:{line}: {template} => {given}, not {wanted}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
    assert!(count >= CASES_MIN, "{count} cases are left");
}

fn scenes(name: &str, text: &str) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let mut in_data = false;
    for (at, line) in text.lines().enumerate() {
        let place = format!("{name}:{}: {line}", at + 1);
        in_data = in_data && line.starts_with(' ');
        if let Some(data) = line.strip_prefix("data ") {
            scenes.push(Scene { data: data.to_owned(), cases: Vec::new() });
            in_data = true;
        } else if in_data {
            scenes.last_mut().expect("data goes on").data.push_str(line);
        } else if line.is_empty() || line.starts_with("# ") {
            continue;
        } else {
            let case = line.split_once(" => ");
            let (template, wanted) =
                case.unwrap_or_else(|| panic!("{place}: neither case nor comment"));
            let scene = scenes.last_mut().unwrap_or_else(|| panic!("{place}: no data yet"));
            let template = if template.starts_with(['"', '{', '[']) {
                serde_json::from_str(template).unwrap_or_else(|why| panic!("{place}: {why}"))
            } else {
                json!(template)
            };
            let wanted = compact(&Payload::from_text(wanted.to_owned()).expect(&place));
            scene.cases.push(Case { line: at + 1, template, wanted });
        }
    }
    scenes
}

/// The same text without blanks between values; numbers as they are written.
fn compact(json: &Payload) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let is_kept = |next: &char| {
        if *next == '"' && !is_escaped {
            in_text = !in_text;
        }
        is_escaped = *next == '\\' && !is_escaped;
        in_text || !next.is_whitespace()
    };
    json.text().chars().filter(is_kept).collect()
}

/// What every scene's run finds in its environment.
fn environment() -> Environment {
    let values = [
        ("REGION", "eu-1"),
        ("PORT", "8080"),
        ("DB", r#"{"hosts": ["a", "b"], "retries": 1.10}"#),
        ("NETFLIX_ENV", "test"),
    ];
    values.map(|(name, value)| (name.to_owned(), value.to_owned())).into_iter().collect()
}

/// What each case became, by its line. `scope.cases` tells the story of this run.
fn play(scene: &Scene) -> BTreeMap<String, Box<RawValue>> {
    let templates: Map<_, _> =
        scene.cases.iter().map(|case| (case.line.to_string(), case.template.clone())).collect();
    let flaky = json!({"retryCount": 1, "retryDelaySeconds": 0});
    let definition = with(
        flow(&[
            with(step("done", flaky), json!({"inputParameters": {"k": "v"}})),
            step("dash-ed", json!({})),
            step("with space", json!({})),
            step("dot.ted", json!({})),
            with(step("asks", json!({})), json!({"inputParameters": templates})),
            step("later", json!({})),
        ]),
        json!({"version": 3, "variables": {"v": {"x": [1, 2]}}}),
    );
    let data = Payload::from_text(scene.data.clone()).expect("data is JSON");
    let mut run = Bench::unborn(definition);
    run.environment = environment();
    let start = Start {
        correlation_id: Some("order-1".to_owned()),
        priority: 5,
        task_to_domain: [("other_def".to_owned(), "east".to_owned())].into(),
        idempotency_key: Some("key-1".to_owned()),
        ..run.plain_start()
    };
    run.happen(Event::Started(start), std::slice::from_ref(&data)).expect("a run begins");
    let failed = run.claim("done", "ann").output(json!({"flaky": true}));
    run.report(&Said { status: Failed, ..failed }).expect("it fails once");
    let (event, _) = run.claim("done", "ann").told();
    run.happen(event, &[data]).expect("it is done");
    for (n, reference) in ["dash-ed", "with space", "dot.ted"].into_iter().enumerate() {
        run.complete(reference, json!({"n": n + 1}));
    }
    run.replay();
    serde_json::from_str(run.attempt("asks", 0).input.text()).expect("an input is an object")
}
