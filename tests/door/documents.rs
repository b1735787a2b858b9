//! # What describes the API: the document and its snapshot, the page, the schemas

use std::collections::BTreeSet;

use serde_json::Value;

use crate::house::house;
use crate::raw::Request;
use crate::routes::ROUTES;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/door/openapi.json");

fn served() -> Value {
    let answer = house().send(&Request::get("/api-docs"));
    assert_eq!(answer.status, 200);
    answer.json()
}

/// `GET /api/workflow/{}`: names of variables differ between the document and the samples.
fn pattern(method: &str, path: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "{}".to_owned() } else { part.to_owned() };
    let path: Vec<_> = path.split('/').map(part).collect();
    format!("{} {}", method.to_ascii_uppercase(), path.join("/"))
}

/// Every route of the served document.
fn described() -> BTreeSet<String> {
    let document = served();
    let paths = document["paths"].as_object().expect("paths");
    paths
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().expect("methods").keys();
            methods.map(|method| pattern(method, path)).collect::<Vec<_>>()
        })
        .collect()
}

fn only(a: &BTreeSet<String>, b: &BTreeSet<String>) -> Vec<String> {
    a.difference(b).cloned().collect()
}

#[test]
fn every_route_is_in_the_document_and_has_a_sample_request() {
    let described = described();
    // Samples name the step of theirs.
    let sampled: BTreeSet<String> = ROUTES
        .iter()
        .map(|route| pattern(route.method, &route.path.replace("/only", "/{reference}")))
        .collect();
    assert_eq!(only(&described, &sampled), [""; 0], "routes without a sample in routes.rs");
    assert_eq!(only(&sampled, &described), [""; 0], "samples of no route");
}

/// Every route that the page on compatibility says is served: rows that begin with methods, each of
/// them for each path.
fn promised(page: &str) -> BTreeSet<String> {
    const METHODS: [&str; 4] = ["GET", "POST", "PUT", "DELETE"];
    let mut promised = BTreeSet::new();
    for row in page.lines().filter(|row| !row.contains("| not served |")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, methods, paths, ..] = cells[..] else { continue };
        let methods: Vec<&str> = methods.split(", ").collect();
        if methods.iter().all(|method| METHODS.contains(method)) {
            let paths = paths.split('`').skip(1).step_by(2);
            promised.extend(
                paths.flat_map(|path| methods.iter().map(move |method| pattern(method, path))),
            );
        }
    }
    promised
}

#[test]
fn the_page_on_compatibility_names_every_route_and_no_other() {
    let page = include_str!("../../docs/compatibility.md");
    // Its tables leave `/api` out, and the clock is not for this house.
    let below_api = |routes: BTreeSet<String>| -> BTreeSet<String> {
        let routes = routes.into_iter().filter(|route| !route.ends_with("/test/clock"));
        routes.map(|route| route.replacen(" /api/", " /", 1)).collect()
    };
    let (promised, served) = (below_api(promised(page)), below_api(described()));
    assert_eq!(only(&served, &promised), [""; 0], "routes that are not in docs/compatibility.md");
    assert_eq!(only(&promised, &served), [""; 0], "docs/compatibility.md promises what is none");
}

#[test]
fn the_document_is_what_was_agreed() {
    let agreed = std::fs::read_to_string(SNAPSHOT).expect("the snapshot is there");
    let agreed: Value = serde_json::from_str(&agreed).expect("the snapshot is JSON");
    let served = served();
    for part in ["paths", "components", "info"] {
        let (agreed, served) = (agreed[part].as_object(), served[part].as_object());
        let (agreed, served) = (agreed.expect("an object"), served.expect("an object"));
        for (name, what) in served {
            let before = agreed.get(name);
            assert_eq!(Some(what), before, "{part} {name} has changed; see `regenerate`");
        }
        let gone: Vec<_> = agreed.keys().filter(|name| !served.contains_key(*name)).collect();
        assert!(gone.is_empty(), "{part}: {gone:?} are gone; see `regenerate`");
    }
}

/// `cargo test -p semel-tests --test door -- --ignored regenerate`, then look at the difference.
#[test]
#[ignore = "writes the snapshot"]
fn regenerate_the_document() {
    std::fs::write(SNAPSHOT, by_lines(&served(), 2) + "\n").expect("the snapshot can be written");
}

/// One line per path and per schema, so that a difference can be read.
fn by_lines(value: &Value, levels: usize) -> String {
    match value {
        Value::Object(fields) if levels > 0 => {
            let line = |(name, value): (&String, &Value)| {
                format!("{}:{}", Value::from(name.as_str()), by_lines(value, levels - 1))
            };
            let lines: Vec<_> = fields.iter().map(line).collect();
            format!("{{\n{}\n}}", lines.join(",\n"))
        }
        other => other.to_string(),
    }
}

#[test]
fn the_page_and_the_schemas_are_served() {
    let house = house();
    let page = house.send(&Request::get("/swagger-ui/index.html"));
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")));
    for (file, title) in [("workflow.json", "WorkflowDef"), ("task.json", "TaskDef")] {
        let schema = house.send(&Request::get(format!("/schemas/{file}"))).json();
        assert_eq!(schema["title"], title);
        assert!(schema["properties"]["name"].is_object(), "{file}");
    }
    assert_eq!(house.refuses(&Request::get("/schemas/other.json")).status, 404);
}
