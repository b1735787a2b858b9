//! # Answers: the exact forms clients need
//!
//! Ids are raw `text/plain`; an empty 200 says `Content-Length: 0`; a 204 has no content type. Each
//! of these breaks an SDK when it is done otherwise.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::error::ApiError;

pub(crate) type Answered = Result<Response, ApiError>;

pub(crate) fn text(body: impl Into<String>) -> Response {
    let body: String = body.into();
    ([(header::CONTENT_TYPE, "text/plain;charset=UTF-8")], body).into_response()
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

/// Adds a header whose value is ours and therefore printable; anything else is left out.
pub(crate) fn with_header(mut response: Response, name: &'static str, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
