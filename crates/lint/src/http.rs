//! # HTTP: which requests may be sent twice
//!
//! A request is read from `http_request` of the step or of its template, or from inputs beside each
//! other. A POST or PATCH has a key unless its author has switched that off. What an expression will
//! yield is not known here, and nothing is said about it.

use semel_model::{HttpKey, KeyPlaces, effective_effect};
use serde_json::Value;

use crate::Settings;
use crate::finding::{Code, Finding};
use crate::walk::Place;

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

/// The keys that the author sends, as they are written.
pub(crate) fn own_keys<'a>(place: &'a Place<'_>) -> Vec<&'a str> {
    let Some(request) = Request::of(place) else { return vec![] };
    let value = request.idempotency().and_then(|said| said.get("value"));
    let found = value.into_iter().chain(request.key_headers()).chain(request.key_fields());
    found.filter_map(Value::as_str).collect()
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
        let is_written = self.key_headers().chain(self.key_fields()).next().is_some();
        !self.idempotency().is_some_and(is_off) || is_written
    }

    fn idempotency(&self) -> Option<&'a Value> {
        self.field("idempotency")
    }

    fn key_places(&self) -> KeyPlaces<'a> {
        HttpKey::places_named(self.idempotency())
    }

    fn key_headers(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let places = self.key_places();
        let headers = self.field("headers").and_then(Value::as_object).into_iter().flatten();
        headers.filter(move |(name, _)| places.has_header(name)).map(|(_, value)| value)
    }

    fn key_fields(&self) -> impl Iterator<Item = &'a Value> + use<'a> {
        let body = self.field("body");
        self.key_places().fields().filter_map(move |name| body?.get(name))
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
