//! # Web pages: what a browser may be made to ask
//!
//! The headers of browsers, over the wire; `tests/browser` has a browser send them.

use serde_json::json;

use crate::access::Closed;
use crate::house::{House, house};
use crate::raw::Request;
use crate::routes::{ROUTES, Subject};

/// GETs that change something.
const CHANGING: [&str; 3] =
    ["/api/tasks/poll/{name}", "/api/tasks/poll/batch/{name}", "/api/workflow/execute/{name}"];

/// What browsers say of requests that somebody else's page makes.
const FOREIGN: [&[(&str, &str)]; 7] = [
    &[("Sec-Fetch-Site", "cross-site")],
    &[("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:3000")],
    &[("Sec-Fetch-Site", "cross-site"), ("Origin", "null")],
    &[("Origin", "null")],
    &[("Origin", "http://evil.example")],
    &[("Origin", "http://evil.example"), ("Sec-Fetch-Site", "same-origin")],
    &[("User-Agent", "Mozilla/5.0 (X11)"), ("Accept-Language", "en"), ("Referer", "http://e.x/")],
];

fn with(request: Request, headers: &[(&str, &str)]) -> Request {
    headers.iter().fold(request, |request, (name, value)| request.header(name, *value))
}

#[test]
fn a_foreign_page_changes_nothing_by_any_route() {
    let house = House::own(&["--hosts", "semel.example.com"]);
    let subject = Subject::made(&house, "w_foreign");
    let before = house.definitions();
    for route in ROUTES {
        let changes = route.method != "GET" || CHANGING.contains(&route.path);
        for headers in FOREIGN {
            let request = with(Request::new(route.method, subject.target(route)), headers);
            let answer = house.send(&request.body("{}").header("Content-Type", "text/plain"));
            let is_refused = answer.status == 403 && answer.json()["code"] == "CROSS_ORIGIN";
            assert_eq!(
                is_refused, changes,
                "{} {} {headers:?}: {answer:?}",
                route.method, route.path
            );
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    assert_eq!(house.definitions(), before);
    let metrics = house.send(&Request::get("/metrics")).text();
    assert!(metrics.contains("semel_door_refusals_total{reason=\"origin\"} "), "{metrics}");
    assert_eq!(house.log().matches("refused: a web page").count(), 1, "{}", house.log());
    for fine in [
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", "http://localhost")][..],
        &[("Sec-Fetch-Site", "none")],
        &[
            ("User-Agent", "Mozilla/5.0"),
            ("Accept-Language", "en"),
            ("Referer", "http://localhost/"),
        ],
    ] {
        let start = with(Request::post("/api/workflow/w_foreign", &json!({})), fine);
        assert_eq!(house.send(&start).status, 200, "{fine:?}");
    }
    let own = || {
        let start = Request::post("/api/workflow/w_foreign", &json!({}));
        start.header("Origin", "https://semel.example.com")
    };
    assert_eq!(house.send(&own().host("semel.example.com")).status, 200);
    assert_eq!(house.send(&own()).status, 403, "another name of ours may be another server");
}

#[test]
fn a_foreign_page_is_refused_before_its_token_is_looked_at() {
    let closed = Closed::built(&[]);
    let body = json!({"keyId": closed.admin.key, "keySecret": closed.admin.secret});
    let mint = with(Request::post("/api/token", &body), FOREIGN[0]);
    assert_eq!(closed.house.send(&mint).status, 403);
    let put = closed.admin.says(Request::new("PUT", "/api/secrets/A").body("x"));
    assert_eq!(closed.house.send(&with(put, FOREIGN[4])).status, 403);
}

#[test]
fn a_name_that_is_not_ours_gets_nothing() {
    let options = ["--hosts", "semel.example.com,*.internal,odd.example:8443"];
    let open = House::own(&options);
    let closed = Closed::built(&options);
    for house in [&open, &closed.house] {
        for host in
            ["evil.example", "evil.example:8080", "localhost.evil.example", "semel", "a b", ""]
        {
            for path in ["/", "/health", "/api-docs", "/api/secrets", "/api/nothing", "/metrics"] {
                for method in ["GET", "POST", "OPTIONS"] {
                    let request = Request::new(method, path).host(host);
                    let answer = house.send(&request.header("Origin", "http://evil.example"));
                    assert_eq!(answer.status, 421, "{method} {host} {path}: {answer:?}");
                    assert_eq!(answer.json()["code"], "HOST_UNKNOWN");
                }
            }
        }
        for host in [
            "127.0.0.1:80",
            "[::1]",
            "10.0.0.1",
            "a.localhost:1",
            "LOCALHOST",
            "semel.example.com:80",
            "x.y.internal",
            "odd.example:8443",
        ] {
            assert_eq!(house.send(&Request::get("/health").host(host)).status, 200, "{host}");
        }
        assert_eq!(house.log().matches("this server is not known as").count(), 1);
    }
    let answer = open.send(&Request::get("/health").host("semel.test:8080"));
    let message = answer.json()["message"].to_string();
    assert!(message.contains("--hosts semel.test (SEMEL_HOSTS=semel.test,"), "{message}");
}

#[test]
fn a_request_names_one_host() {
    let house = house();
    for text in [
        "GET /api/secrets HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET /api/secrets HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    ] {
        assert_eq!(house.send_bytes(text.as_bytes()).status, 400, "{text}");
    }
    let absolute =
        "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(house.send_bytes(absolute.as_bytes()).status, 421);
    assert_eq!(house.send_bytes(b"GET /health HTTP/1.0\r\n\r\n").status, 200);
    assert_eq!(
        house.send_bytes(b"GET /api/version HTTP/1.0\r\nHost: localhost\r\n\r\n").status,
        200
    );
}

#[test]
fn every_answer_tells_a_browser_to_keep_it_apart() {
    let house = house();
    let subject = Subject::made(&house, "w_apart");
    let is_apart = |request: &Request| {
        let answer = house.send(request);
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{request:?}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{request:?}");
        let policy = answer.header("cross-origin-resource-policy");
        assert_eq!(policy, Some("same-origin"), "{request:?}");
        answer
    };
    for route in ROUTES.iter().filter(|route| route.method == "GET") {
        is_apart(&Request::get(subject.target(route)));
    }
    is_apart(&Request::get("/api/nothing"));
    is_apart(&Request::get("/").host("evil.example"));
    is_apart(&with(Request::post("/api/workflow/w_apart", &json!({})), FOREIGN[0]));
    for page in ["/", "/swagger-ui/index.html"] {
        let answer = is_apart(&Request::get(page));
        let policy = answer.header("content-security-policy").expect("a page has a policy");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("style-src 'sha256-"));
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), Some("same-origin"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
    }
}

#[test]
fn a_page_that_is_let_in_may_ask_and_read() {
    let ui = "https://ui.example.com";
    let closed = Closed::built(&["--cors-origins", ui]);
    let preflight = |origin: &str| {
        let request = Request::new("OPTIONS", "/api/workflow/w").header("Origin", origin);
        let request = request.header("Access-Control-Request-Method", "POST");
        let wanted = "authorization,content-type,x-idempotency-key";
        closed.house.send(&request.header("Access-Control-Request-Headers", wanted))
    };
    let answer = preflight(ui);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some(ui));
    let headers = answer.header("access-control-allow-headers");
    assert!(headers.is_some_and(|names| names.contains("authorization")), "{headers:?}");
    assert_eq!(preflight("http://evil.example").header("access-control-allow-origin"), None);
    let put = || {
        Request::new("PUT", "/api/environment/A").body("x").header("Sec-Fetch-Site", "cross-site")
    };
    let answer = closed.house.send(&closed.admin.says(put().header("Origin", ui)));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("access-control-allow-origin"), Some(ui));
    assert_eq!(answer.header("access-control-expose-headers"), Some("*"));
    let other = closed.admin.says(put().header("Origin", "http://ui.example.com"));
    assert_eq!(closed.house.send(&other).status, 403);
    let stranger = closed.house.send(&put().header("Origin", ui));
    assert_eq!(stranger.status, 401);
    assert_eq!(stranger.header("access-control-allow-origin"), Some(ui), "its script sees why");
}
