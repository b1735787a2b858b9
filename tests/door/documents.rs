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

/// Every row of the page that says "not served", as a request: its method and a path below `/api`.
fn not_served(page: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    let is_route =
        |row: &&str| row.contains("| not served |") && !row.starts_with("| not served |");
    for row in page.lines().filter(is_route) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        for path in cells[2].split('`').skip(1).step_by(2) {
            let part = |part: &str| {
                if part.starts_with(['{', '*']) { "x".into() } else { part.to_owned() }
            };
            let path: Vec<String> = path.split('/').map(part).collect();
            let path = format!("/api{}", path.join("/"));
            requests.extend(cells[1].split(", ").map(|method| Request::new(method, &*path)));
        }
    }
    requests
}

#[test]
fn what_conductor_has_and_we_have_not_is_told_with_a_link() {
    let house = house();
    let requests = not_served(include_str!("../../docs/compatibility.md"));
    assert!(requests.len() > 100, "the page was read");
    for request in requests {
        let (answer, asked) = (house.refuses(&request), format!("{request:?}"));
        assert!(matches!(answer.status, 404 | 405), "{asked}: {}", answer.text());
        assert_eq!(answer.header("x-error-source"), Some("engine"), "{asked}");
        let told = answer.json();
        assert_eq!(told["code"], "NOT_SERVED", "{asked}: {told}");
        let link = told["metadata"]["docs"].as_str().unwrap_or_default();
        assert!(link.starts_with("docs/compatibility.md#"), "{asked}: {told}");
        let message = told["message"].as_str().unwrap_or_default();
        assert!(message.contains("not in this release") && message.contains(link), "{told}");
    }
    let nobodys = house.refuses(&Request::get("/api/no/such/thing"));
    assert_eq!((nobodys.status, nobodys.header("x-error-source")), (404, Some("engine")));
    assert_eq!(nobodys.json()["message"], "no such path: /api/no/such/thing");
}

#[test]
fn clients_of_conductor_are_told_a_version_they_know_and_ours_beside_it() {
    let house = house();
    let answer = house.send(&Request::get("/api/version"));
    let (text, ours) = (answer.text(), env!("CARGO_PKG_VERSION"));
    let numbers: Vec<u32> = text.split('.').map(|part| part.parse().expect("a number")).collect();
    assert!(numbers[..2] >= [4, 1][..], "suites skip themselves below 4.1: {text}");
    assert_eq!(answer.header("x-semel-version"), Some(ours));
    for path in ["/health", "/api/health"] {
        let health = house.send(&Request::get(path));
        assert_eq!(health.header("x-semel-version"), Some(ours), "{path}");
        assert_eq!(health.json()["version"], ours, "{path}");
    }
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
