//! # Errors: named by what the caller can do about them

use std::fmt;

use semel_model::{ErrorBody, Violation};

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("the server's address {0}")]
    Address(String),
    #[error("{0:?} cannot be a name or an id")]
    Name(String),
    #[error(
        "no server answers at {server}; start one, or name another with --server or SEMEL_SERVER"
    )]
    Unreachable { server: String, source: reqwest::Error },
    #[error("the connection to {server} ended before the answer; what was asked may have happened")]
    Lost { server: String, source: reqwest::Error },
    #[error("the answer of {server} was cut short; what was asked may have happened")]
    Cut { server: String, source: std::io::Error },
    #[error("{server} does not answer in time; what was asked may have happened")]
    Silent { server: String, source: reqwest::Error },
    #[error("{0}")]
    NotFound(Refusal),
    #[error("{0}")]
    Conflict(Refusal),
    #[error("{0}")]
    Refused(Refusal),
    #[error("{0}")]
    Unauthorised(Refusal),
    /// Asking again is safe.
    #[error("{0}; try again")]
    TryAgain(Refusal),
    #[error("the server failed: {0}")]
    Failed(Refusal),
    #[error("the answer is not what this client knows; are client and server of one version?")]
    Unreadable(#[source] serde_json::Error),
    #[error("the answer is larger than {0} bytes")]
    TooLarge(u64),
}

/// What the server said.
#[derive(Debug, Clone, PartialEq)]
pub struct Refusal {
    pub status: u16,
    pub message: String,
    pub code: Option<String>,
    pub violations: Vec<Violation>,
}

/// Enough of a page that is no error of ours to see what it is.
const PAGE_CHARS_MAX: usize = 200;

impl Refusal {
    fn of(status: u16, body: &str) -> (Self, bool) {
        match serde_json::from_str::<ErrorBody>(body) {
            Ok(said) => {
                let violations = said.validation_errors.unwrap_or_default();
                let message = match (said.message.is_empty(), said.error) {
                    (true, Some(error)) => error,
                    _ => said.message,
                };
                (Self { status, message, code: said.code, violations }, said.retryable)
            }
            Err(_) => {
                let message = body.trim().chars().take(PAGE_CHARS_MAX).collect();
                (Self { status, message, code: None, violations: Vec::new() }, false)
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.message.as_str() {
            "" => write!(f, "HTTP status {}", self.status)?,
            message => f.write_str(message)?,
        }
        for Violation { path, message, invalid_value } in &self.violations {
            write!(f, "\n  {path}: {message}")?;
            if let Some(value) = invalid_value {
                write!(f, " (it is {value})")?;
            }
        }
        Ok(())
    }
}

impl ClientError {
    /// An answer that is no success.
    pub(crate) fn of(status: u16, body: &str) -> Self {
        let (refusal, retryable) = Refusal::of(status, body);
        match status {
            _ if retryable => Self::TryAgain(refusal),
            401 | 403 => Self::Unauthorised(refusal),
            404 => Self::NotFound(refusal),
            409 => Self::Conflict(refusal),
            429 | 503 => Self::TryAgain(refusal),
            400..500 => Self::Refused(refusal),
            _ => Self::Failed(refusal),
        }
    }

    pub(crate) fn transport(server: String, source: reqwest::Error) -> Self {
        match () {
            () if source.is_connect() => Self::Unreachable { server, source },
            () if source.is_timeout() => Self::Silent { server, source },
            () => Self::Lost { server, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_named_by_its_remedy() {
        let body = r#"{"status": 1, "message": "why", "retryable": false}"#;
        let of = |status| ClientError::of(status, body);
        assert!(matches!(of(400), ClientError::Refused(_)));
        assert!(matches!(of(413), ClientError::Refused(_)));
        assert!(matches!(of(401), ClientError::Unauthorised(_)));
        assert!(matches!(of(403), ClientError::Unauthorised(_)));
        assert!(matches!(of(404), ClientError::NotFound(_)));
        assert!(matches!(of(409), ClientError::Conflict(_)));
        assert!(matches!(of(429), ClientError::TryAgain(_)));
        assert!(matches!(of(503), ClientError::TryAgain(_)));
        assert!(matches!(of(500), ClientError::Failed(_)));
        let retryable = ClientError::of(500, r#"{"message": "later", "retryable": true}"#);
        assert_eq!(retryable.to_string(), "later; try again");
    }

    #[test]
    fn every_broken_rule_is_a_line() {
        let body = ErrorBody::invalid(vec![
            Violation::new("name", "must not be empty"),
            Violation::new("priority", "at most 99").with_value(100),
        ]);
        let error = ClientError::of(400, &serde_json::to_string(&body).unwrap());
        let lines: Vec<String> = error.to_string().lines().map(str::to_owned).collect();
        assert_eq!(lines[1..], ["  name: must not be empty", "  priority: at most 99 (it is 100)"]);
    }

    #[test]
    fn a_page_that_is_no_error_of_ours_is_shown_in_part() {
        let error = ClientError::of(502, &"<html>".repeat(1000)).to_string();
        assert!(error.starts_with("the server failed: <html>") && error.len() < 250, "{error}");
        assert_eq!(ClientError::of(404, "").to_string(), "HTTP status 404");
    }
}
