//! # Hostile input: bodies, ids, numbers, verbs, paths and headers nobody should send
//!
//! Table driven over every route. Everything here is refused, and nothing of it is written.

use crate::house::House;
use crate::raw::Request;
use crate::routes::{ROUTES, Route, Shape, Subject};

/// Runs against a house of its own and sees that nothing was registered meanwhile.
fn nothing_is_written(name: &str, attack: impl Fn(&House, &Subject)) {
    let house = House::own(&[]);
    let subject = Subject::made(&house, name);
    let before = house.definitions();
    attack(&house, &subject);
    house.is_healthy();
    assert_eq!(house.definitions(), before, "something was written");
}

fn routes_with_a_body() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| route.shape != Shape::Nothing)
}

fn malformed() -> Vec<Vec<u8>> {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("{}1{}", open.repeat(depth), close.repeat(depth)).into_bytes()
    };
    let mut bodies: Vec<Vec<u8>> = [
        "{",
        "}",
        "[",
        "]",
        "{]",
        "{\"a\":}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{,}",
        "nul",
        "truefalse",
        "{} {}",
        "{} x",
        "'a'",
        "{'a':1}",
        "{a:1}",
        "NaN",
        "{\"a\":NaN}",
        "{\"a\":Infinity}",
        "{\"a\":-Infinity}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":1e}",
        "{\"a\":0x10}",
        "{\"a\":1e999}",
        "{\"a\":-1e999}",
        "[{\"a\":1e999}]",
        "\"",
        "\"\\",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\\udc00\\ud800\"}",
        "{\"\\ud800\":1}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"tab\there\"}",
        "{\"a\":\"nul\0here\"}",
        "\u{feff}{}",
        "\0",
        "{\"a\":1}//",
        "/* */{}",
        "<xml/>",
        "a=b&c=d",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    bodies.push(b"{\"a\":\"\xff\"}".to_vec());
    bodies.push(b"{\"\xc3\x28\":1}".to_vec());
    bodies.push(b"\xff\xfe{\x00}\x00".to_vec());
    bodies.push(nested("[", "]", 101));
    bodies.push(nested("{\"a\":", "}", 101));
    bodies.push(nested("[", "]", 5_000));
    bodies.push(nested("{\"a\":[", "]}", 5_000));
    bodies.push("[".repeat(100_000).into_bytes());
    bodies
}

#[test]
fn malformed_json_is_refused_by_every_route_that_reads_a_body() {
    nothing_is_written("h_malformed", |house, subject| {
        for route in routes_with_a_body() {
            for body in malformed() {
                let request = Request::new(route.method, subject.target(route)).body(body);
                let status = house.refuses(&request).status;
                // These have no field that must be there: what is left to refuse is the moment.
                let is_lenient = matches!(route.shape, Shape::Rerun | Shape::Skip);
                assert!(status == 400 || (is_lenient && status == 409), "{status} {request:?}");
            }
        }
    });
}

#[test]
fn a_body_of_the_wrong_kind_is_refused() {
    nothing_is_written("h_kind", |house, subject| {
        for route in routes_with_a_body() {
            let wrong: &[&str] = match route.shape {
                Shape::Input | Shape::Data | Shape::Rerun | Shape::Skip => {
                    &["[]", "[{}]", "5", "\"text\"", "true"]
                }
                Shape::Execute => &["[]", "[{}]", "[5]", "null", "5", "\"text\"", "true"],
                Shape::State => &["", " ", "[]", "[{}]", "[5]", "null", "5", "\"text\"", "true"],
                Shape::Tag => &["", "{}", "[5]", "[[]]", "[{}]", "[null]", "null", "5", "\"t\""],
                Shape::Names => &["", "{}", "[5]", "[[]]", "[null]", "null", "5", "\"t\""],
                Shape::Ids => &["", "[]", "{}", "[5]", "[[]]", "[null]", "null", "5", "\"t\""],
                Shape::Tags => &["", "{}", "[5]", "[[]]", "[{}]", "[null]", "null", "5", "\"t\""],
                Shape::Definitions | Shape::TaskDefs => {
                    &["", "[]", "{}", "[5]", "[[]]", "[null]", "{\"a\":[]}", "null", "5", "\"t\""]
                }
                _ => &["", " ", "[]", "[{}]", "[5]", "null", "5", "\"text\"", "true", "{}"],
            };
            for body in wrong {
                let request = Request::new(route.method, subject.target(route)).body(*body);
                assert_eq!(house.refuses(&request).status, 400, "{request:?}");
            }
        }
    });
}

#[test]
fn a_key_said_twice_is_refused_where_it_means_something() {
    nothing_is_written("h_twice", |house, subject| {
        for route in routes_with_a_body() {
            let sample = subject.sample(route.shape).to_string();
            let Some(at) = sample.find('{') else { continue };
            let Some(first) = sample[at + 1..].split(',').next() else { continue };
            let doubled = format!("{}{first},{}", &sample[..=at], &sample[at + 1..]);
            let request = Request::new(route.method, subject.target(route)).body(doubled);
            if !matches!(route.shape, Shape::Input | Shape::Data) {
                assert_eq!(house.refuses(&request).status, 400, "{request:?}");
            }
        }
    });
}

#[test]
fn ids_that_were_never_given_out_are_not_found() {
    let long = "a".repeat(8_000);
    let ids = [
        "nope",
        "0",
        "-1",
        "null",
        "None",
        "%20",
        "%00",
        "a%00b",
        "%FF",
        "%C3%28",
        "..",
        "%2E%2E",
        "%2F",
        "a%2Fb",
        "*",
        "{id}",
        "%7Bid%7D",
        "'%20OR%201=1--",
        "%F0%9F%92%A9",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "00000000-0000-7000-8000-00000000000",
        "00000000-0000-7000-8000-0000000000000",
        "urn:uuid:00000000-0000-7000-8000-000000000000",
        "00000000000070008000000000000000",
        long.as_str(),
    ];
    nothing_is_written("h_ids", |house, subject| {
        for route in ROUTES.iter().filter(|route| route.path.contains("{id}")) {
            for id in ids {
                let mut request = subject.request(route);
                let path = route.path.replace("{id}", id).replace("{status}", "COMPLETED");
                request.target = path;
                let status = house.refuses(&request).status;
                assert!(matches!(status, 400 | 404), "{status} to {request:?}");
            }
        }
    });
}

/// What polls, counts and lists: of a name that nobody knows there is nothing to tell.
const EMPTY_FOR_NOBODY: [&str; 5] =
    ["/poll/", "/versions", "/running/", "/correlated", "/tasks/queue/"];

#[test]
fn names_that_nobody_registered_are_not_found() {
    let long = "n".repeat(20_000);
    let names = ["nope", "%00", "%FF", "%20", "%2F", "%C0%80", "None", "null", long.as_str()];
    nothing_is_written("h_names", |house, subject| {
        // A lock is there when somebody takes it.
        let is_named = |route: &&Route| {
            route.path.contains("{name}") && !route.path.starts_with("/api/locks/")
        };
        for route in ROUTES.iter().filter(is_named) {
            for name in names {
                let mut request = subject.request(route);
                request.target = route.path.replace("{name}", name).replace("{version}", "1");
                if EMPTY_FOR_NOBODY.iter().any(|part| route.path.contains(part)) {
                    let answer = house.is_civil(&request);
                    assert!(matches!(answer.status, 200 | 204 | 400 | 414), "{answer:?}");
                } else {
                    let status = house.refuses(&request).status;
                    assert!(matches!(status, 400 | 404), "{status} to {request:?}");
                }
            }
        }
    });
}

#[test]
fn numbers_that_make_no_sense_are_refused() {
    let texts =
        ["abc", "1.5", "NaN", "1e3", "0x1", "99999999999999999999", "--1", "%00", "%FF", "1;2"];
    let starts = ["/api/workflow/h_numbers?version=", "/api/workflow/h_numbers?priority="];
    nothing_is_written("h_numbers", |house, subject| {
        let log = subject.target(&Route {
            method: "GET",
            path: "/api/workflow/{id}/log?from=",
            shape: Shape::Nothing,
        });
        for text in texts {
            for prefix in starts {
                house.refuses(&Request::new("POST", format!("{prefix}{text}")));
            }
            for prefix in [
                log.as_str(),
                "/api/metadata/workflow/h_numbers?version=",
                "/api/tasks/poll/batch/h_numbers?count=",
                "/api/tasks/poll/batch/h_numbers?timeout=",
            ] {
                house.refuses(&Request::get(format!("{prefix}{text}")));
            }
            house.refuses(&Request::new("POST", format!("/api/workflow/start/h_numbers/{text}")));
            let delete = format!("/api/metadata/workflow/h_numbers/{text}");
            house.refuses(&Request::new("DELETE", delete));
        }
        for priority in ["-1", "100", "2147483647", "-2147483648"] {
            let request = Request::new("POST", format!("{}{priority}", starts[1]));
            assert_eq!(house.refuses(&request).status, 400);
        }
        let huge = i64::MAX;
        for query in ["count=-1", "count=0", "timeout=-1", &format!("count={huge}&timeout=0")] {
            let answer = house.send(&Request::get(format!("/api/tasks/poll/batch/none?{query}")));
            assert_eq!((answer.status, answer.text().as_str()), (200, "[]"), "{query}");
        }
    });
}

#[test]
fn a_verb_that_a_path_does_not_know_is_405() {
    let verbs = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "HEAD", "BREW"];
    nothing_is_written("h_verbs", |house, subject| {
        for route in ROUTES {
            // A pattern such as `/workflow/{id}` answers for names too.
            let pattern = |path: &str| path.replace("{name}", "{id}").replace("{event}", "{id}");
            let known = |verb: &str| {
                let same = |it: &&Route| pattern(it.path) == pattern(route.path);
                let takes = ["/poll/", "/execute/"].iter().any(|part| route.path.contains(part));
                // A GET that changes something is never done for a HEAD.
                let asked = if verb == "HEAD" && !takes { "GET" } else { verb };
                ROUTES.iter().filter(same).any(|it| it.method == asked)
            };
            for verb in verbs.into_iter().filter(|verb| !known(verb)) {
                let request = Request::new(verb, subject.target(route)).body("{}");
                assert_eq!(house.refuses(&request).status, 405, "{request:?}");
            }
        }
    });
}

#[test]
fn unknown_paths_are_404() {
    let paths = [
        "/api",
        "/api/",
        "/api//workflow",
        "/API/workflow",
        "/api/nothing",
        "/api/workflow/a/b/c/d/e",
        "/api/metadata",
        "/api/tasks/poll",
        "/health/deep",
        "/%00",
        "/%FF",
        "/api/workflow%2Fa",
        "/api/workflow;v=1",
        "/test/clock",
        "/../etc/passwd",
        "/api/../health",
        "/api/workflow/bulk/pause/x/y",
        "/favicon.ico",
    ];
    nothing_is_written("h_paths", |house, _| {
        for path in paths {
            for method in ["GET", "POST", "DELETE"] {
                let answer = house.refuses(&Request::new(method, path));
                assert!(matches!(answer.status, 404 | 405), "{method} {path}: {answer:?}");
            }
        }
    });
}
