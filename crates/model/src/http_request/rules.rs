//! # Rules of requests: what a definition can be told before anything runs
//!
//! Only what is written out is judged; an expression may turn out to be anything.

use serde_json::{Map, Value};

use super::{HttpClass, HttpRequest};
use crate::Payload;

/// Each broken rule: the field below the request, and what is wrong.
pub(crate) fn objections(request: &Map<String, Value>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut add = |field: &str, why: &str| found.push((field.to_owned(), why.to_owned()));
    let text = |name: &str| request.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_given = |name: &str| request.get(name).is_some_and(|value| !value.is_null());
    let uri = text("uri").trim();
    if uri.is_empty() {
        add("uri", "uri is required: where the request goes");
    } else if !uri.contains("${") && !is_web(uri) {
        add("uri", "uri must begin with http:// or https://");
    }
    if !is_given("method") || (text("method").is_empty() && request["method"].is_string()) {
        add("method", "method is required: GET, HEAD, OPTIONS, PUT, DELETE, POST or PATCH");
    }
    if !found.is_empty() || is_open(request) {
        return found;
    }
    let known = Map::from_iter([("uri".to_owned(), Value::from("http://host"))]);
    let fields = request.iter().filter(|(name, _)| *name != "uri");
    let readable: Map<String, Value> = known
        .into_iter()
        .chain(fields.map(|(name, value)| (name.clone(), value.clone())))
        .collect();
    match HttpRequest::read(&Payload::from_value(&Value::Object(readable))) {
        Ok(read) if is_keyless(&read) && is_hedged(request) => found.push((
            "hedgingConfig".to_owned(),
            "hedging sends a request several times: this one needs a key (idempotency) or \
             assumeIdempotent"
                .to_owned(),
        )),
        Ok(_) => {}
        Err(why) => {
            let field: String = why
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || ".-_".contains(*c))
                .collect();
            found.push((field, why));
        }
    }
    found
}

fn is_keyless(request: &HttpRequest) -> bool {
    request.class() == HttpClass::Unsafe && !request.carries_key()
}

fn is_web(uri: &str) -> bool {
    let scheme = uri.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// Something that decides how it is sent is not known yet.
fn is_open(request: &Map<String, Value>) -> bool {
    let decides = [
        "method",
        "headers",
        "idempotency",
        "assumeIdempotent",
        "onConditionFailed",
        "connectionTimeOut",
        "readTimeOut",
        "totalTimeOut",
        "accept",
        "contentType",
        "followRedirects",
        "asyncComplete",
    ];
    decides.iter().filter_map(|name| request.get(*name)).any(is_computed)
}

/// Whether some of it is known only when a run gets there.
pub(crate) fn is_computed(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${"),
        Value::Array(items) => items.iter().any(is_computed),
        Value::Object(map) => map.values().any(is_computed),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn is_hedged(request: &Map<String, Value>) -> bool {
    let attempts = request.get("hedgingConfig").and_then(|config| config.get("maxAttempts"));
    attempts.and_then(Value::as_i64).is_some_and(|attempts| attempts > 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(request: Value) -> Vec<String> {
        let request = request.as_object().unwrap().clone();
        objections(&request).into_iter().map(|(field, _)| field).collect()
    }

    #[test]
    fn what_is_written_out_is_judged_and_expressions_are_not() {
        assert_eq!(fields(json!({})), ["uri", "method"]);
        assert_eq!(fields(json!({"uri": "ftp://a", "method": "GET"})), ["uri"]);
        assert_eq!(fields(json!({"uri": "http://a", "method": "BREW"})), ["method"]);
        assert_eq!(fields(json!({"uri": "${x.output.u}", "method": "${y.output.m}"})), [""; 0]);
        assert_eq!(fields(json!({"uri": "https://a/${x.output.u}", "method": "post"})), [""; 0]);
        let wrong = json!({"uri": "http://a", "method": "POST", "idempotency": {"preset": "x"}});
        assert_eq!(fields(wrong), ["idempotency.preset"]);
        let held = json!({"uri": "http://a", "method": "GET", "headers": {"Content-Length": "1"}});
        assert_eq!(fields(held), ["headers.Content-Length"]);
    }

    #[test]
    fn hedging_is_for_what_may_be_repeated() {
        let hedged = |more: Value| {
            let mut request = json!({"uri": "http://a", "hedgingConfig": {"maxAttempts": 3}});
            request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            fields(request)
        };
        assert_eq!(hedged(json!({"method": "GET"})), [""; 0]);
        assert_eq!(hedged(json!({"method": "POST"})), [""; 0]);
        let bare = json!({"method": "POST", "idempotency": {"enabled": false}});
        assert_eq!(hedged(bare), ["hedgingConfig"]);
        let assumed = json!({"method": "POST", "idempotency": {"enabled": false},
            "assumeIdempotent": true});
        assert_eq!(hedged(assumed), [""; 0]);
    }
}
