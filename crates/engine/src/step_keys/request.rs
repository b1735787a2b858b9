//! # Keys of requests: where an HTTP step writes the key that its service knows a repeat by
//!
//! A header or a field of the body that services are known to look at, or one that the step names in
//! `idempotency`. What the author writes there is sent as the key.

use semel_model::HttpKey;
use serde_json::{Map, Value};

use super::{KeyPlace, needed};

/// In a parameter of an HTTP step: the whole request, or one field of it beside the others.
pub(super) fn places<'v>(
    parameter: &str,
    template: &Value,
    beside: &dyn Fn(&str) -> Option<&'v Value>,
) -> Vec<KeyPlace> {
    match parameter {
        "http_request" => {
            let names = HttpKey::places_named(template.get("idempotency"));
            let mut found = vec![needed(&["idempotency", "value"])];
            found.extend(names.fields().map(|name| needed(&["body", name])));
            let headers = members(template.get("headers")).filter(|name| names.has_header(name));
            found.extend(headers.map(|name| needed(&["headers", name])));
            found
        }
        "idempotency" => vec![needed(&["value"])],
        "body" => {
            let names = HttpKey::places_named(beside("idempotency"));
            names.fields().map(|name| needed(&[name])).collect()
        }
        "headers" => {
            let names = HttpKey::places_named(beside("idempotency"));
            let headers = members(Some(template)).filter(|name| names.has_header(name));
            headers.map(|name| needed(&[name])).collect()
        }
        _ => Vec::new(),
    }
}

fn members(object: Option<&Value>) -> impl Iterator<Item = &str> {
    object.and_then(Value::as_object).into_iter().flat_map(Map::keys).map(String::as_str)
}
