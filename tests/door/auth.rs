//! # The matrix: every route, with every kind of token
//!
//! Made from the document the server serves, which is made from the same lines as its routes: a new
//! route is in here by itself. **May not:** ask the server what a role may do; that is said here.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::access::{Closed, Holder, ROLES, is_forbidden, is_unknown};
use crate::raw::Request;

/// What everybody may ask for. Whoever opens a route says so here too.
const OPEN: &[&str] = &[
    "GET /",
    "GET /api-docs",
    "GET /api/health",
    "GET /api/version",
    "GET /health",
    "GET /schemas/{file}",
    "GET /swagger-ui/index.html",
    "POST /api/token",
];

struct Route {
    method: String,
    path: String,
    /// None: open.
    roles: Option<Vec<String>>,
}

impl Route {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn request(&self) -> Request {
        let words = self.path.split('/').map(|word| match word {
            "{version}" => "1",
            "{status}" => "COMPLETED",
            "{role}" => "USER",
            "{id}" | "{workflowId}" => "00000000-0000-7000-8000-000000000000",
            word if word.starts_with('{') => "sample",
            word => word,
        });
        let request = Request::new(&self.method, words.collect::<Vec<_>>().join("/"));
        if self.method == "GET" { request } else { request.json(&json!({})) }
    }

    fn lets_in(&self, role: &str) -> bool {
        let needed = self.roles.as_deref().unwrap_or_default();
        let is_needed = |role: &str| needed.iter().any(|needed| needed == role);
        match role {
            "admin" => true,
            "operator" => ["operator", "reader", "worker"].into_iter().any(is_needed),
            role => is_needed(role),
        }
    }
}

/// Every route of the document.
fn documented(closed: &Closed) -> Vec<Route> {
    let document = closed.house.send(&Request::get("/api-docs")).json();
    let paths = document["paths"].as_object().expect("the document has paths");
    let mut routes = vec![];
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("a path has methods") {
            let text = |role: &Value| role.as_str().unwrap_or_default().to_owned();
            let roles = operation["x-roles"].as_array();
            let roles = roles.map(|roles| roles.iter().map(text).collect());
            let method = method.to_ascii_uppercase();
            routes.push(Route { method, path: path.clone(), roles });
        }
    }
    assert!(routes.len() > 90, "the document is cut: {} routes", routes.len());
    routes
}

/// Tokens that count for nothing, each with the error it has to give.
fn worthless(closed: &Closed) -> Vec<(&'static str, Option<String>, &'static str)> {
    let admin = &closed.admin.token;
    let other = closed.holder("other", &["ADMIN"]);
    let parts = |token: &str| token.split('.').map(str::to_owned).collect::<Vec<_>>();
    let (ours, theirs) = (parts(admin), parts(&other.token));
    let swapped = format!("{}.{}.{}", ours[0], ours[1], theirs[2]);
    let unsigned = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.", ours[1]);
    let inactive = closed.holder("inactive", &["ADMIN"]);
    assert_eq!(closed.toggle(&inactive)["status"], "INACTIVE");
    let deleted = closed.holder("deleted", &["ADMIN"]);
    let path = format!("/api/applications/{}/accessKeys/{}", deleted.application, deleted.key);
    closed.ask("DELETE", &path, &json!({}));
    let orphan = closed.holder("orphan", &["ADMIN"]);
    closed.ask("DELETE", &format!("/api/applications/{}", orphan.application), &json!({}));
    let expired = short_lived(closed);
    closed.advance_seconds(5);
    vec![
        ("no token", None, "INVALID_TOKEN"),
        ("an empty token", Some(String::new()), "INVALID_TOKEN"),
        ("garbage", Some("garbage".to_owned()), "INVALID_TOKEN"),
        ("three parts of garbage", Some("a.b.c".to_owned()), "INVALID_TOKEN"),
        ("a very long token", Some("a.".repeat(3_000)), "INVALID_TOKEN"),
        ("the signature of another token", Some(swapped), "INVALID_TOKEN"),
        ("a token without a signature", Some(unsigned), "INVALID_TOKEN"),
        ("the secret itself", Some(closed.admin.secret.clone()), "INVALID_TOKEN"),
        ("an inactive key", Some(inactive.token), "INVALID_TOKEN"),
        ("a deleted key", Some(deleted.token), "INVALID_TOKEN"),
        ("a key of a deleted application", Some(orphan.token), "INVALID_TOKEN"),
        ("an expired token", Some(expired), "EXPIRED_TOKEN"),
    ]
}

fn short_lived(closed: &Closed) -> String {
    let Holder { key, secret, .. } = &closed.admin;
    let body = json!({"keyId": key, "keySecret": secret, "expiration": 2});
    let minted = crate::access::mint(&closed.house, &body).json();
    minted["token"].as_str().expect("a token is a text").to_owned()
}

/// Everything an intruder could have changed.
fn state(closed: &Closed) -> Vec<Value> {
    ["applications", "metadata/workflow", "metadata/taskdefs", "environment", "secrets"]
        .map(|path| closed.ask("GET", &format!("/api/{path}"), &json!({})))
        .to_vec()
}

#[test]
fn what_is_open_is_open_on_purpose() {
    let closed = Closed::built(&[]);
    let routes = documented(&closed);
    let open = routes.iter().filter(|route| route.roles.is_none());
    let open: BTreeSet<String> = open.map(Route::name).collect();
    assert_eq!(open, OPEN.iter().map(|name| (*name).to_owned()).collect());
    for route in routes.iter().filter(|route| route.roles.is_none()) {
        for token in [None, Some("garbage")] {
            let request = route.request();
            let request = match token {
                Some(token) => request.header("X-Authorization", token),
                None => request,
            };
            let status = closed.house.send(&request).status;
            assert!(!matches!(status, 401 | 403), "{}: {status}", route.name());
        }
    }
}

#[test]
fn a_worthless_token_opens_no_route() {
    let closed = Closed::built(&[]);
    let worthless = worthless(&closed);
    let before = state(&closed);
    for route in documented(&closed).iter().filter(|route| route.roles.is_some()) {
        for (what, token, error) in &worthless {
            let what = format!("{} with {what}", route.name());
            let bare = || route.request();
            let Some(token) = token else {
                is_unknown(&closed.house.send(&bare()), error, &what);
                continue;
            };
            let request = bare().header("X-Authorization", token.as_str());
            is_unknown(&closed.house.send(&request), error, &what);
            let bearer = bare().header("Authorization", format!("Bearer {token}"));
            is_unknown(&closed.house.send(&bearer), error, &what);
        }
        if route.method == "GET" {
            let head = Request::new("HEAD", route.request().target);
            assert_eq!(closed.house.send(&head).status, 401, "HEAD {}", route.path);
        }
    }
    assert_eq!(state(&closed), before, "something was changed");
}

#[test]
fn a_role_opens_its_routes_and_no_other() {
    let closed = Closed::built(&[]);
    let nobody = closed.holder("nobody", &[]);
    let holders = ROLES.map(|role| (role, closed.holder(role, &[role])));
    let before = state(&closed);
    let mut refused = 0;
    let routes = documented(&closed);
    let closed_routes = || routes.iter().filter_map(|route| Some((route, route.roles.as_ref()?)));
    for (route, needed) in closed_routes() {
        let answer = closed.house.send(&nobody.says(route.request()));
        is_forbidden(&answer, needed, &format!("{} without a role", route.name()));
        for (role, holder) in holders.iter().filter(|(role, _)| !route.lets_in(role)) {
            let answer = closed.house.send(&holder.says(route.request()));
            is_forbidden(&answer, needed, &format!("{} as {role}", route.name()));
            refused += 1;
        }
    }
    assert!(refused > 100, "only {refused} refusals");
    assert_eq!(state(&closed), before, "something was changed");
    for (route, _) in closed_routes() {
        for (role, holder) in holders.iter().filter(|(role, _)| route.lets_in(role)) {
            let answer = closed.house.send(&holder.says(route.request()));
            let what = format!("{} as {role}: {}", route.name(), answer.text());
            assert!(!matches!(answer.status, 401 | 403), "{what}");
            assert!(answer.status < 500, "{what}");
        }
    }
    closed.house.is_healthy();
}

#[test]
fn what_is_no_route_tells_a_stranger_nothing() {
    let closed = Closed::built(&[]);
    for (method, path, known) in [
        ("GET", "/api/nothing", 404),
        ("GET", "/nothing", 404),
        ("GET", "/api/users", 404),
        ("POST", "/api//workflow", 404),
        ("GET", "/api/../api/secrets", 404),
        ("GET", "/API/secrets", 404),
        ("GET", "/api/%73ecrets/x/y/z", 404),
        ("PATCH", "/api/workflow", 405),
        ("DELETE", "/api/token", 405),
        ("OPTIONS", "/api/applications", 405),
        ("POST", "/health", 405),
    ] {
        let what = format!("{method} {path}");
        is_unknown(&closed.house.send(&Request::new(method, path)), "INVALID_TOKEN", &what);
        let answer = closed.house.send(&closed.admin.says(Request::new(method, path)));
        assert_eq!(answer.status, known, "{what}: {}", answer.text());
    }
    for path in ["/api/secrets/", "/api/%73ecrets", "/api/secrets?x=/health", "//api/secrets"] {
        let answer = closed.house.send(&Request::get(path));
        is_unknown(&answer, "INVALID_TOKEN", path);
    }
}

#[test]
fn a_worker_cannot_ask_for_a_secret_by_reporting_its_name() {
    let closed = Closed::built(&[]);
    let worker = closed.holder("thief", &["worker"]);
    let value = Request::new("PUT", "/api/secrets/DB").body("the value");
    assert_eq!(closed.house.send(&closed.admin.says(value)).status, 200);
    let step = |name: &str| {
        json!({"name": name, "taskReferenceName": name, "type": "SIMPLE",
        "inputParameters": {"given": "${a.output.x}", "right": "${workflow.secrets.DB}"}})
    };
    let steps = [json!({"name": "a", "taskReferenceName": "a", "type": "SIMPLE"}), step("b")];
    let definition = json!({"name": "theft", "tasks": steps});
    closed.ask("POST", "/api/metadata/workflow", &definition);
    let started = closed.asked(&closed.admin, "POST", "/api/workflow/theft", &json!({}));
    assert_eq!(started.status, 200);
    let poll = |kind: &str| {
        let path = format!("/api/tasks/poll/{kind}?workerid=w");
        closed.house.send(&worker.says(Request::get(path))).json()
    };
    let task = poll("a");
    let wish = "${workflow.secrets.DB}";
    let report = json!({"workflowInstanceId": task["workflowInstanceId"],
        "taskId": task["taskId"], "status": "COMPLETED", "outputData": {"x": wish}});
    assert_eq!(closed.asked(&worker, "POST", "/api/tasks", &report).status, 200);
    let input = &poll("b")["inputData"];
    assert_eq!(input["given"], wish, "what was reported is text");
    assert_eq!(input["right"], "the value", "what the definition asks for is given");
}
