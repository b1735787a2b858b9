//! # Answers: the exact forms clients need
//!
//! Ids are raw `text/plain`; an empty 200 says `Content-Length: 0`; a 204 has no content type. Each
//! of these breaks an SDK when it is done otherwise.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::ApiError;

/// As many as the answer to a start has.
const HEADERS: usize = 15;

pub(crate) type Answered = Result<Response, ApiError>;

pub(crate) fn text(body: impl Into<String>) -> Response {
    let mut answer = Response::new(Body::from(body.into()));
    let headers = answer.headers_mut();
    headers.reserve(HEADERS); // All at once: growing means hashing them again.
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain;charset=UTF-8"));
    answer
}

pub(crate) fn empty() -> Response {
    ([(header::CONTENT_LENGTH, HeaderValue::from_static("0"))], ()).into_response()
}

pub(crate) fn nothing() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

pub(crate) fn json<T: Serialize>(body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(error) => ApiError::Internal(error.to_string()).into_response(),
    }
}

/// Adds a header whose value is ours and therefore printable; anything else is left out. Its name is
/// in small letters.
pub(crate) fn with_header(mut response: Response, name: &'static str, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(HeaderName::from_static(name), value);
    }
    response
}
