//! # Audit: one log line for every request that may change something
//!
//! Who, what, and how it ended, under the target `audit`. Written while authentication is on; before
//! that everybody is nobody. A caller who goes away before the answer is noted too: what was asked
//! may have happened.

use std::borrow::Cow;

use axum::extract::{MatchedPath, Request};
use axum::http::Method;
use axum::response::Response;

use crate::app::KeyRules;
use crate::caller::{ANONYMOUS, Principal};
use crate::endpoint::Does;
use crate::watch::Asked;

/// Where `{key}` in a pattern is the key of a record.
const KEYED: [&str; 2] = ["/api/idempotency/", "/api/effects/"];

/// How much of a path is noted.
const PATH_CHARS_MAX: usize = 500;

/// Nothing is written for requests that only look.
pub(crate) struct Line(Option<Noted>);

struct Noted {
    principal: String,
    method: Method,
    /// As it was asked for: it names what was changed.
    path: String,
    request: String,
    /// 0: the caller left before there was an answer.
    status: u16,
}

impl Line {
    pub(crate) fn of(request: &Request, does: Does, keys: &KeyRules) -> Self {
        if does != Does::Changes {
            return Self(None);
        }
        let method = request.method().clone();
        let path = told(request, keys).chars().take(PATH_CHARS_MAX).collect();
        let asked = request.extensions().get::<Asked>();
        let request = asked.map_or_else(String::new, |asked| asked.id.to_string());
        let principal = ANONYMOUS.to_owned();
        Self(Some(Noted { principal, method, path, request, status: 0 }))
    }

    pub(crate) fn is_by(&mut self, principal: &Principal) {
        if let Some(noted) = &mut self.0 {
            noted.principal.clone_from(&principal.0);
        }
    }

    /// An answer may say by whom the request turned out to be.
    pub(crate) fn ended(mut self, response: Response) -> Response {
        if let Some(principal) = response.extensions().get::<Principal>() {
            self.is_by(principal);
        }
        if let Some(noted) = &mut self.0 {
            noted.status = response.status().as_u16();
        }
        response
    }
}

/// The path as it was asked for, but for a key in it that may not be told.
fn told(request: &Request, keys: &KeyRules) -> String {
    let path = request.uri().path();
    let pattern = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if !KEYED.iter().any(|prefix| pattern.starts_with(prefix)) {
        return path.to_owned();
    }
    let segments = path.split('/').zip(pattern.split('/'));
    let segments = segments.map(|(segment, named)| match named {
        "{key}" => keys.told(segment),
        _ => Cow::Borrowed(segment),
    });
    segments.collect::<Vec<_>>().join("/")
}

impl Drop for Line {
    fn drop(&mut self) {
        let Some(Noted { principal, method, path, request, status }) = &self.0 else { return };
        let (principal, request) = (principal.as_str(), request.as_str());
        tracing::info!(target: "audit", principal, %method, path, status, request, "asked");
    }
}
