//! # Errors: the only place where a failure becomes a status

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use semel_engine::{Limited, Rejection};
use semel_model::{ErrorBody, Violation};
use semel_runtime::Failure;
use semel_store::StoreError;
use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use crate::request::Bound;
use crate::unserved::NotServed;

#[derive(Debug)]
pub(crate) enum ApiError {
    /// The request breaks rules; each is named.
    Invalid(Vec<Violation>),
    /// The request cannot be read as what it should be.
    Malformed(String),
    TooLarge(Bound),
    NotFound(String),
    /// There is no such path, or none in this release.
    NotServed(NotServed),
    MethodNotAllowed,
    Failed(Failure),
    /// A failure with details for machines.
    Conflict {
        code: &'static str,
        message: String,
        metadata: Map<String, Value>,
    },
    Refused(Box<Refusal>),
    /// Why the request's token does not count.
    TokenInvalid(&'static str),
    TokenExpired,
    /// Nobody has this key, or not with this secret.
    KeyRefused,
    /// Known, but not allowed.
    Forbidden(String),
    /// The key or strategy of a start cannot be used.
    KeyInvalid(String),
    /// The definition or the path wants a key, and there is none.
    KeyRequired(String),
    Internal(String),
}

impl From<NotServed> for ApiError {
    fn from(not_served: NotServed) -> Self {
        Self::NotServed(not_served)
    }
}

impl From<Failure> for ApiError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Rejected(Rejection::Unfit(violations)) => Self::Invalid(violations),
            Failure::Rejected(Rejection::Limited(limited)) => limit_reached(&limited),
            Failure::KeyReused { ref key, expires_at } => {
                let (status, code) =
                    (StatusCode::UNPROCESSABLE_ENTITY, "IDEMPOTENCY_PAYLOAD_MISMATCH");
                let refusal = Refusal::new(status, code, failure.to_string())
                    .with("idempotencyKey", json!(key.key))
                    .with("expiresAt", json!(expires_at));
                Self::Refused(Box::new(refusal))
            }
            Failure::Conflict { existing, ref key } => {
                let (status, code) = (StatusCode::CONFLICT, "IDEMPOTENCY_CONFLICT");
                let refusal = Refusal::new(status, code, failure.to_string())
                    .with("existingWorkflowId", json!(existing))
                    .with("idempotencyKey", json!(key.key));
                Self::Refused(Box::new(refusal))
            }
            other => Self::Failed(other),
        }
    }
}

impl ApiError {
    fn status(&self) -> (StatusCode, bool) {
        match self {
            Self::Invalid(_) | Self::Malformed(_) | Self::KeyInvalid(_) | Self::KeyRequired(_) => {
                (StatusCode::BAD_REQUEST, false)
            }
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, false),
            Self::NotFound(_) => (StatusCode::NOT_FOUND, false),
            Self::NotServed(not_served) => (not_served.status, false),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, false),
            Self::Conflict { .. } => (StatusCode::CONFLICT, false),
            Self::Refused(refusal) => (refusal.status, refusal.retry_after_seconds.is_some()),
            Self::TokenInvalid(_) | Self::TokenExpired | Self::KeyRefused => {
                (StatusCode::UNAUTHORIZED, false)
            }
            Self::Forbidden(_) => (StatusCode::FORBIDDEN, false),
            Self::Internal(_) => (StatusCode::INTERNAL_SERVER_ERROR, false),
            Self::Failed(failure) => status_of(failure),
        }
    }

    /// Asking for the same again may help.
    pub(crate) fn is_retryable(&self) -> bool {
        self.status().1
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Invalid(_) => String::new(),
            Self::Malformed(message)
            | Self::NotFound(message)
            | Self::Forbidden(message)
            | Self::KeyInvalid(message)
            | Self::KeyRequired(message)
            | Self::Conflict { message, .. }
            | Self::Internal(message) => message.clone(),
            Self::NotServed(not_served) => not_served.message.clone(),
            Self::Refused(refusal) => refusal.message.clone(),
            Self::TooLarge(Bound { bytes, name }) => {
                format!("the request body is larger than {name}, {bytes} bytes")
            }
            Self::TokenInvalid(why) => {
                format!("{why}; send one from POST /api/token as X-Authorization")
            }
            Self::TokenExpired => "the token has expired; get another".to_owned(),
            Self::KeyRefused => "this key and secret do not belong together".to_owned(),
            Self::MethodNotAllowed => "this path does not answer to that method".to_owned(),
            Self::Failed(failure) => failure.to_string(),
        }
    }

    fn code(&self) -> Option<&'static str> {
        match self {
            Self::Conflict { code, .. } => Some(code),
            Self::KeyRequired(_) => Some("IDEMPOTENCY_KEY_REQUIRED"),
            Self::Refused(refusal) => Some(refusal.code),
            Self::NotServed(not_served) => not_served.code(),
            Self::KeyInvalid(_) => Some("IDEMPOTENCY_KEY_INVALID"),
            Self::Failed(Failure::Store(StoreError::Corrupt(_))) => Some("CORRUPT"),
            Self::Failed(
                Failure::Unavailable | Failure::Outdated | Failure::Changed(_) | Failure::Store(_),
            ) => Some("UNAVAILABLE"),
            Self::Failed(Failure::Busy) => Some("BUSY"),
            Self::Failed(Failure::Parked(_)) => Some("PARKED"),
            Self::Failed(Failure::Conflict { .. } | Failure::Refused(_)) => {
                Some("IDEMPOTENCY_CONFLICT")
            }
            Self::Failed(Failure::Rejected(Rejection::Decided(_))) => Some("DECISION_CONFLICT"),
            Self::Invalid(_)
            | Self::Malformed(_)
            | Self::TooLarge(_)
            | Self::NotFound(_)
            | Self::MethodNotAllowed
            | Self::TokenInvalid(_)
            | Self::TokenExpired
            | Self::KeyRefused
            | Self::Forbidden(_)
            | Self::Internal(_)
            | Self::Failed(_) => None,
        }
    }

    /// Where to read on about a refusal that has no code.
    fn docs(&self) -> Option<&'static str> {
        match self {
            Self::TooLarge(_) => Some("docs/trouble.md#body-too-large"),
            Self::Failed(Failure::Rejected(rejection)) => match rejection {
                Rejection::Held(_) => Some("docs/trouble.md#held"),
                Rejection::WrongState(_) => Some("docs/trouble.md#wrong-state"),
                Rejection::NotFound(_) | Rejection::NothingPending | Rejection::UnknownTask(_) => {
                    Some("docs/trouble.md#nothing-there")
                }
                Rejection::Full(_) => Some("docs/trouble.md#full"),
                _ => None,
            },
            _ => None,
        }
    }

    /// What makes clients refresh their token and ask again.
    fn refresh(&self) -> Option<&'static str> {
        match self {
            Self::TokenInvalid(_) => Some("INVALID_TOKEN"),
            Self::TokenExpired => Some("EXPIRED_TOKEN"),
            _ => None,
        }
    }
}

fn status_of(failure: &Failure) -> (StatusCode, bool) {
    match failure {
        Failure::NoExecution(_)
        | Failure::NoDefinition(_)
        | Failure::Missing(_)
        | Failure::Rejected(
            Rejection::UnknownTask(_) | Rejection::NothingPending | Rejection::NotFound(_),
        ) => (StatusCode::NOT_FOUND, false),
        Failure::Rejected(Rejection::Invalid(_) | Rejection::Unfit(_)) => {
            (StatusCode::BAD_REQUEST, false)
        }
        Failure::Rejected(
            Rejection::WrongState(_)
            | Rejection::Held(_)
            | Rejection::Stale(_)
            | Rejection::Decided(_)
            | Rejection::Limited(_),
        )
        | Failure::Conflict { .. }
        | Failure::Refused(_)
        | Failure::Exists(_)
        | Failure::Parked(_) => (StatusCode::CONFLICT, false),
        Failure::KeyReused { .. } => (StatusCode::UNPROCESSABLE_ENTITY, false),
        Failure::Busy | Failure::Rejected(Rejection::Full(_)) => {
            (StatusCode::TOO_MANY_REQUESTS, true)
        }
        Failure::Unavailable
        | Failure::Outdated
        | Failure::Changed(_)
        | Failure::Store(
            StoreError::Contended
            | StoreError::Unknown
            | StoreError::Unavailable(_)
            | StoreError::Replaced,
        ) => (StatusCode::SERVICE_UNAVAILABLE, true),
        Failure::Store(StoreError::Corrupt(_)) | Failure::Sealed(_) | Failure::Fault(_) => {
            (StatusCode::INTERNAL_SERVER_ERROR, false)
        }
    }
}

const CONCURRENCY_LIMIT: &str = "CONCURRENCY_LIMIT";

/// As many runs are under way as may be.
fn limit_reached(limited: &Limited) -> ApiError {
    let (status, code) = (StatusCode::CONFLICT, CONCURRENCY_LIMIT);
    let refusal = Refusal::new(status, code, limited.to_string())
        .with("existingWorkflowId", json!(limited.blocked_by))
        .with("concurrencyKey", json!(limited.key))
        .with("limit", json!(limited.limit))
        .with("policy", json!(limited.policy))
        .with("queued", json!(limited.queued));
    ApiError::Refused(Box::new(refusal))
}

/// Whether somebody who is refused so may try under another key without risking a second effect. None:
/// the refusal has nothing to do with keys.
fn safe_new_key(code: &str) -> Option<bool> {
    match code {
        // Nothing was done.
        "IDEMPOTENCY_PAYLOAD_MISMATCH"
        | "IDEMPOTENCY_KEY_INVALID"
        | "IDEMPOTENCY_KEY_REQUIRED"
        | CONCURRENCY_LIMIT => Some(true),
        "IDEMPOTENCY_CONFLICT"
        | "IDEMPOTENCY_IN_PROGRESS"
        | "IDEMPOTENCY_EXPIRED_REF"
        | "STALE_FENCE"
        | "DECISION_CONFLICT"
        | "EFFECT_OUTCOME_UNKNOWN"
        | "LOCK_TAKEN"
        | "UNAVAILABLE" => Some(false),
        _ => None,
    }
}

/// What every refusal with a code says besides: whether another key is safe, until when this one is
/// taken (null: nobody knows yet), and which page tells more.
fn advised(code: Option<&str>, metadata: Option<Map<String, Value>>) -> Option<Map<String, Value>> {
    let Some(code) = code else { return metadata };
    let mut metadata = metadata.unwrap_or_default();
    if let Some(is_safe) = safe_new_key(code) {
        metadata.entry("safeNewKey").or_insert(json!(is_safe));
        metadata.entry("expiresAt").or_insert(Value::Null);
    }
    metadata.entry("docs").or_insert(json!(format!("docs/errors/{code}.md")));
    Some(metadata)
}

/// Says of an answer that its cause may go away without anybody asking for something else.
#[derive(Clone, Copy)]
pub(crate) struct Undecided;

/// Who an error is from: what the request is about, in the state it is in, or the server, which does
/// not understand the request, does not allow it or cannot do it just now.
fn source(status: StatusCode) -> &'static str {
    match status.as_u16() {
        404 | 409 | 410 | 422 | 423 => "workflow",
        _ => "engine",
    }
}

impl IntoResponse for ApiError {
    fn into_response(mut self) -> Response {
        let (status, retryable) = self.status();
        let is_undecided = match &self {
            Self::Failed(
                Failure::Parked(_)
                | Failure::Rejected(Rejection::Held(_) | Rejection::WrongState(_)),
            ) => true,
            Self::Refused(refusal) => refusal.code == CONCURRENCY_LIMIT, // There may be a place soon.
            _ => false,
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR {
            tracing::error!(status = status.as_u16(), error = self.message(), "a request failed");
        }
        let is_of_the_server =
            matches!(self, Self::NotServed(_) | Self::Failed(Failure::Parked(_)));
        let code = self.code().map(str::to_owned);
        let docs = self.docs();
        let error = self.refresh().map(str::to_owned);
        let retry_after = match &self {
            Self::Refused(refusal) => refusal.retry_after_seconds,
            _ => None,
        };
        let headers = match &mut self {
            Self::Refused(refusal) => std::mem::take(&mut refusal.headers),
            _ => Vec::new(),
        };
        let body = match self {
            Self::Invalid(violations) => ErrorBody::invalid(violations),
            other => {
                let body = ErrorBody::new(status.as_u16(), other.message());
                let metadata = match other {
                    Self::Conflict { metadata, .. } => Some(metadata),
                    Self::Refused(refusal) => Some(refusal.metadata),
                    Self::NotServed(NotServed { docs: Some(docs), .. }) => {
                        Some(Map::from_iter([("docs".to_owned(), json!(docs))]))
                    }
                    _ => None,
                };
                let metadata =
                    metadata.or_else(|| Some(Map::from_iter([("docs".to_owned(), json!(docs?))])));
                let metadata = advised(code.as_deref(), metadata);
                ErrorBody { metadata, code, retryable, error, ..body }
            }
        };
        let bytes = serde_json::to_vec(&body).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/json")], bytes).into_response();
        let is_of_the_server = is_of_the_server || retryable;
        let source = if is_of_the_server { "engine" } else { source(status) };
        response = crate::answer::with_header(response, "x-error-source", source);
        if is_undecided {
            response.extensions_mut().insert(Undecided);
        }
        for (name, value) in headers {
            response = crate::answer::with_header(response, name, &value);
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            let soon = axum::http::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, soon);
        }
        if let Some(seconds) = retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if status == StatusCode::UNAUTHORIZED {
            let scheme = axum::http::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        response
    }
}
