//! # Request bodies: bounded, and liberal in what they say of themselves
//!
//! Never rejected for their content type. Text that reaches a column may hold no NUL, and JSON may
//! not nest deeper than the rest of the house can walk.

use axum::body::to_bytes;
use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use semel_model::{Payload, lenient};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::ApiError;

const JSON_DEPTH_MAX: usize = 100;

/// The whole body.
pub(crate) struct Body(Bytes);

impl FromRequest<App> for Body {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let limit = app.limits.body_bytes_max;
        let bytes = to_bytes(request.into_body(), limit).await;
        bytes.map(Self).map_err(|_| ApiError::TooLarge(limit))
    }
}

impl Body {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, ApiError> {
        check_depth(&self.0)?;
        serde_json::from_slice(&self.0)
            .map_err(|error| ApiError::Malformed(format!("the request body is not valid: {error}")))
    }

    /// An object of payload; an absent body means `{}`.
    pub(crate) fn payload(&self) -> Result<Payload, ApiError> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Object(#[serde(deserialize_with = "lenient::object")] Payload);
        if self.0.iter().all(u8::is_ascii_whitespace) {
            return Ok(Payload::empty());
        }
        self.json::<Object>().map(|object| object.0)
    }
}

fn check_depth(bytes: &[u8]) -> Result<(), ApiError> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                if depth > JSON_DEPTH_MAX {
                    let limit = format!("the JSON nests deeper than {JSON_DEPTH_MAX} levels");
                    return Err(ApiError::Malformed(limit));
                }
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// Text that will be a column or a header.
pub(crate) fn plain(name: &str, text: Option<&str>) -> Result<(), ApiError> {
    match text {
        Some(text) if text.contains('\0') => {
            Err(ApiError::Malformed(format!("{name} must not contain a NUL character")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_counted_outside_of_text_only() {
        let nested = |depth: usize| [vec![b'['; depth], vec![b']'; depth]].concat();
        assert!(check_depth(&nested(100)).is_ok());
        assert!(check_depth(&nested(101)).is_err());
        let text = format!("{{\"a\":\"{}\\\"{}\"}}", "[".repeat(200), "{".repeat(200));
        assert!(check_depth(text.as_bytes()).is_ok());
    }
}
