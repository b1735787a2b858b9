//! # HTTP: which requests may be sent twice
//!
//! A request is read from `http_request` of the step or of its template, or from inputs beside each
//! other. A POST or PATCH has a key unless its author has switched that off. What an expression will
//! yield is not known here, and nothing is said about it.

use semel_model::effective_effect;
use serde_json::Value;

use crate::Settings;
use crate::finding::{Code, Finding};
use crate::walk::Place;

/// Headers by which far sides take keys.
const KEY_HEADERS: [&str; 4] =
    ["idempotency-key", "x-idempotency-key", "paypal-request-id", "cko-idempotency-key"];

pub(crate) fn of_step(place: &Place<'_>, settings: &Settings) -> Option<Finding> {
    let request = Request::of(place).filter(Request::creates)?;
    match request.is_keyed() {
        true => with_key(place, &request, settings),
        false => without_key(place, &request),
    }
}

/// A key helps only where somebody looks at it.
fn with_key(place: &Place<'_>, request: &Request<'_>, settings: &Settings) -> Option<Finding> {
    let policy = effective_effect(&place.policy, &place.step);
    let is_decided = policy.as_ref().is_some_and(|policy| policy.on_unknown.is_some());
    let is_repeated =
        request.is_assumed_idempotent() || place.policy.assume_idempotent == Some(true);
    let says = place.step.downstream.as_ref().and_then(|said| said.honours_keys);
    let remembers = policy.as_ref().and_then(|policy| policy.downstream_retention_seconds);
    let is_known = says.unwrap_or_else(|| {
        let uri = request.field("uri").and_then(Value::as_str).unwrap_or_default();
        remembers.is_some() || request.has_preset() || settings.key_hosts.find(uri).is_some()
    });
    if is_decided || is_repeated || is_known {
        return None;
    }
    let method = request.method();
    let message = format!(
        "a {method} to a service that is not known to honour its key is not sent again when no answer \
         comes: whether it happened is unknown then, and the task is held"
    );
    let fix = "say downstream: {honoursKeys: true} in the step if the service does a request with the \
               same key once, or name its host in http_key_hosts of the server; else give \
               effect.probe, or write effect.onUnknown HOLD to say that this is meant";
    Some(Finding::new(Code::WHttp3, &place.at, message, fix))
}

fn without_key(place: &Place<'_>, request: &Request<'_>) -> Option<Finding> {
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

    /// Its method does not say that sending it again is harmless.
    fn creates(&self) -> bool {
        matches!(self.method().as_str(), "POST" | "PATCH")
    }

    fn is_assumed_idempotent(&self) -> bool {
        self.field("assumeIdempotent").is_some_and(|said| !says_no(said))
    }

    /// Of a service that is known to honour keys; an expression may name one.
    fn has_preset(&self) -> bool {
        self.idempotency().is_some_and(|said| said.is_string() || said.get("preset").is_some())
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
