//! # Problem details: the same error, as RFC 9457 has it
//!
//! For clients that ask for `application/problem+json` by name. All members of our own shape stay;
//! `type`, `title` and `detail` are added.

use axum::body::{Body, to_bytes};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use serde_json::{Map, Value, json};

const PROBLEM: &str = "application/problem+json";

/// An answer as those want it who asked for it so.
pub(crate) async fn told(response: Response) -> Response {
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|it| it == "application/json");
    if !(is_error && is_json) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    // Errors are made by ourselves, in memory.
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(Value::Object(mut members)) = serde_json::from_slice(&bytes) else {
        return Response::from_parts(head, Body::from(bytes));
    };
    describe(&mut members, head.status.canonical_reason());
    head.headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    head.headers.remove(CONTENT_LENGTH);
    Response::from_parts(head, Body::from(Value::Object(members).to_string()))
}

fn describe(members: &mut Map<String, Value>, reason: Option<&str>) {
    let kind = match members.get("code").and_then(Value::as_str) {
        Some(code) => format!("urn:semel:error:{code}"),
        None => "about:blank".to_owned(),
    };
    let detail = members.get("message").cloned().unwrap_or_default();
    members.insert("type".to_owned(), json!(kind));
    members.insert("title".to_owned(), json!(reason));
    members.insert("detail".to_owned(), detail);
}

pub(crate) fn is_asked_for(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|text| text.split(','));
    kinds
        .any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(PROBLEM))
}
