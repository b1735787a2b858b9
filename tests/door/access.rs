//! # Access: a house that lets in only who has a token, and people with keys
//!
//! The first key is read where a person would read it: in the file whose path is on the server's stdout.

use serde_json::{Value, json};

use crate::house::House;
use crate::raw::{Answer, Request};

pub(crate) const ROLES: [&str; 4] = ["reader", "worker", "operator", "admin"];

/// A server with authentication, and the token of its first key.
pub(crate) struct Closed {
    pub(crate) house: House,
    pub(crate) admin: Holder,
}

/// A key, its application, and a token for it.
#[derive(Clone, Debug)]
pub(crate) struct Holder {
    pub(crate) application: String,
    pub(crate) key: String,
    pub(crate) secret: String,
    pub(crate) token: String,
}

impl Closed {
    pub(crate) fn built(options: &[&str]) -> Self {
        let house = House::own(&[&["--auth", "--test-clock"], options].concat());
        let (key, secret) = house.first_key();
        let token = token(&house, &key, &secret);
        let admin = Holder { application: String::new(), key, secret, token };
        Self { house, admin }
    }

    /// Asks as the first admin, who is never refused.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.asked(&self.admin, method, path, body);
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text());
        if answer.body.is_empty() { Value::Null } else { answer.json() }
    }

    pub(crate) fn asked(&self, by: &Holder, method: &str, path: &str, body: &Value) -> Answer {
        self.house.send(&by.says(Request::new(method, path).json(body)))
    }

    /// A new application with these roles and one key.
    pub(crate) fn holder(&self, name: &str, roles: &[&str]) -> Holder {
        let made = self.ask("POST", "/api/applications", &json!({"name": name}));
        let application = made["id"].as_str().expect("an application has an id").to_owned();
        for role in roles {
            let path = format!("/api/applications/{application}/roles/{role}");
            self.ask("POST", &path, &json!({}));
        }
        self.another_key(&application)
    }

    pub(crate) fn another_key(&self, application: &str) -> Holder {
        let path = format!("/api/applications/{application}/accessKeys");
        let made = self.ask("POST", &path, &json!({}));
        let text = |name: &str| made[name].as_str().expect("a key has id and secret").to_owned();
        let (key, secret) = (text("id"), text("secret"));
        let token = token(&self.house, &key, &secret);
        Holder { application: application.to_owned(), key, secret, token }
    }

    pub(crate) fn toggle(&self, holder: &Holder) -> Value {
        let Holder { application, key, .. } = holder;
        let path = format!("/api/applications/{application}/accessKeys/{key}/status");
        self.ask("POST", &path, &json!({}))
    }

    pub(crate) fn advance_seconds(&self, seconds: u64) {
        self.ask("POST", "/test/clock", &json!({"advanceMs": seconds * 1000}));
    }
}

impl Holder {
    pub(crate) fn says(&self, request: Request) -> Request {
        request.header("X-Authorization", self.token.as_str())
    }
}

pub(crate) fn mint(house: &House, body: &Value) -> Answer {
    house.send(&Request::post("/api/token", body))
}

fn token(house: &House, key: &str, secret: &str) -> String {
    let answer = mint(house, &json!({"keyId": key, "keySecret": secret}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["token"].as_str().expect("a token is a text").to_owned()
}

/// Fails unless the token was refused in the way that makes clients get another.
pub(crate) fn is_unknown(answer: &Answer, error: &str, what: &str) {
    assert_eq!(answer.status, 401, "{what}: {}", answer.text());
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{what}");
    let body = answer.json();
    assert_eq!((&body["status"], &body["error"]), (&json!(401), &json!(error)), "{what}: {body}");
}

/// Fails unless its holder was refused for good, with the role it would have taken.
pub(crate) fn is_forbidden(answer: &Answer, needed: &[String], what: &str) {
    assert_eq!(answer.status, 403, "{what}: {}", answer.text());
    let body = answer.json();
    assert_eq!((&body["status"], &body["error"]), (&json!(403), &Value::Null), "{what}: {body}");
    let message = body["message"].as_str().unwrap_or_default();
    for role in needed {
        assert!(message.contains(role.as_str()), "{what}: {message} does not name {role}");
    }
}
