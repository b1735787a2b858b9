//! # HTTP: which requests may be sent twice
//!
//! A request is read from `http_request` of the step or of its template, or from inputs beside each
//! other. A POST or PATCH has a key unless its author has switched that off. What an expression will
//! yield is not known here, and nothing is said about it.

use serde_json::Value;

use crate::finding::{Code, Finding};
use crate::walk::Place;

/// Headers by which far sides take keys.
const KEY_HEADERS: [&str; 4] =
    ["idempotency-key", "x-idempotency-key", "paypal-request-id", "cko-idempotency-key"];

pub(crate) fn of_step(place: &Place<'_>) -> Option<Finding> {
    let request = Request::of(place).filter(Request::is_unsafe)?;
    let method = request.method();
    let hedges = request.hedges();
    if hedges > 1 {
        let message = format!(
            "hedgingConfig.maxAttempts is {hedges}: a {method} without a key is sent {hedges} times \
             at once, and each may have its effect"
        );
        let fix = "leave idempotency.enabled out, so that all of them carry one key, or hedge only \
                   GET, PUT and DELETE";
        return Some(Finding::new(Code::EHttp1, &place.at, message, fix));
    }
    let (message, fix) = match place.policy.assume_idempotent == Some(true) {
        true => (
            format!(
                "a {method} without a key is sent again when no answer comes, because its task \
                 definition says assumeIdempotent"
            ),
            "let a key be sent (leave idempotency.enabled out) if the far side takes one",
        ),
        false => (
            format!(
                "a {method} without a key cannot be sent again when no answer comes: whether it \
                 happened is unknown then, and the task is held"
            ),
            "let a key be sent (leave idempotency.enabled out) if the far side takes one; or say \
             effect.onUnknown; or assumeIdempotent in the task definition if repeating does no harm",
        ),
    };
    Some(Finding::new(Code::WHttp2, &place.at, message, fix))
}

/// The key the author sends himself, as it is written.
pub(crate) fn own_key<'a>(place: &'a Place<'_>) -> Option<&'a str> {
    let request = Request::of(place)?;
    let value = request.idempotency().and_then(|said| said.get("value")).and_then(Value::as_str);
    value.or_else(|| request.key_header().and_then(Value::as_str))
}

struct Request<'a> {
    place: &'a Place<'a>,
    whole: Option<&'a Value>,
}

impl<'a> Request<'a> {
    fn of(place: &'a Place<'_>) -> Option<Self> {
        let whole = place.input("http_request");
        // An expression that will yield the request.
        let is_known = whole.is_none_or(Value::is_object);
        (place.step.kind == "HTTP" && is_known).then_some(Self { place, whole })
    }

    fn field(&self, name: &str) -> Option<&'a Value> {
        match self.whole {
            Some(request) => request.get(name),
            None => self.place.input(name),
        }
    }

    fn method(&self) -> String {
        let method = self.field("method").and_then(Value::as_str).unwrap_or("GET");
        method.trim().to_ascii_uppercase()
    }

    /// Neither its method nor a key says that sending it again is harmless.
    fn is_unsafe(&self) -> bool {
        matches!(self.method().as_str(), "POST" | "PATCH") && !self.is_keyed()
    }

    fn is_keyed(&self) -> bool {
        let is_off = |said: &Value| said.get("enabled").is_some_and(says_no);
        let has_field =
            self.field("body").is_some_and(|body| body.get("idempotency_key").is_some());
        !self.idempotency().is_some_and(is_off) || self.key_header().is_some() || has_field
    }

    fn idempotency(&self) -> Option<&'a Value> {
        self.field("idempotency")
    }

    fn key_header(&self) -> Option<&'a Value> {
        let headers = self.field("headers")?.as_object()?;
        let is_key = |name: &str| KEY_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        headers.iter().find(|(name, _)| is_key(name)).map(|(_, value)| value)
    }

    fn hedges(&self) -> i64 {
        let attempts = self.field("hedgingConfig").and_then(|config| config.get("maxAttempts"));
        let text = attempts.and_then(Value::as_str).and_then(|text| text.trim().parse().ok());
        attempts.and_then(Value::as_i64).or(text).unwrap_or(0)
    }
}

fn says_no(value: &Value) -> bool {
    value == &Value::Bool(false) || value.as_str().is_some_and(|text| text.trim() == "false")
}
