//! # Request keys on the wire
//!
//! `Idempotency-Key` names one HTTP request, as a structured string (in quotes) or bare; both mean
//! the same key. What makes two requests the same is their method, path, query and what their body
//! says: not in which order a query or an object says it.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, Method, Uri};
use semel_model::{Digest, canonical, exact};

use crate::error::ApiError;

static HEADER: HeaderName = HeaderName::from_static("idempotency-key");

const KEY_CHARS_MAX: usize = 255;

/// How long the same request is waited for while it is being served, unless `Prefer: wait` says.
const WAIT_SECONDS: u64 = 2;
const WAIT_SECONDS_MAX: u64 = 30;

pub(crate) fn key_in(headers: &HeaderMap) -> Result<Option<String>, ApiError> {
    let mut given = headers.get_all(&HEADER).iter();
    let Some(first) = given.next() else { return Ok(None) };
    if given.next().is_some() {
        let message = "header Idempotency-Key is given more than once: send one".to_owned();
        return Err(ApiError::KeyInvalid(message));
    }
    let text = first.to_str().ok().map(str::trim);
    let key = text.and_then(|text| match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted),
        None => Some(text.to_owned()),
    });
    let is_fine = |key: &String| {
        (1..=KEY_CHARS_MAX).contains(&key.len()) && key.chars().all(|c| c.is_ascii_graphic())
    };
    key.filter(is_fine).map(Some).ok_or_else(|| {
        ApiError::KeyInvalid(format!(
            "header Idempotency-Key must be one key of 1 to {KEY_CHARS_MAX} visible ASCII \
             characters, bare or in quotes"
        ))
    })
}

/// What stands between quotes, the first of which is gone. None: that is no structured string.
fn unquoted(text: &str) -> Option<String> {
    let mut key = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '"' => return characters.next().is_none().then_some(key),
            '\\' => key.push(characters.next().filter(|it| matches!(it, '"' | '\\'))?),
            other => key.push(other),
        }
    }
}

/// Advice that cannot be read is not taken.
pub(crate) fn patience(headers: &HeaderMap) -> Duration {
    let said = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    let mut said = said.flat_map(|text| text.split([',', ';'])).filter_map(|preference| {
        let (name, value) = preference.split_once('=')?;
        let is_wait = name.trim().eq_ignore_ascii_case("wait");
        is_wait.then(|| value.trim().trim_matches('"').parse::<u64>().ok())?
    });
    Duration::from_secs(said.next().unwrap_or(WAIT_SECONDS).min(WAIT_SECONDS_MAX))
}

/// `body` as it is compared.
pub(crate) fn fingerprint(method: &Method, uri: &Uri, body: &[u8]) -> Digest {
    let mut query: Vec<&str> = uri.query().unwrap_or_default().split('&').collect();
    query.retain(|pair| !pair.is_empty());
    query.sort_unstable();
    let query = query.join("&");
    let parts = [method.as_str(), uri.path(), &query].map(str::as_bytes);
    Digest::of_parts(parts.into_iter().chain([body]))
}

/// What a body says, if it is JSON; else its bytes.
pub(crate) fn said(body: &[u8]) -> Vec<u8> {
    let value = std::str::from_utf8(body).ok().and_then(exact);
    value.map_or_else(|| body.to_vec(), |value| canonical(&value).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, axum::http::HeaderValue::from_bytes(value).unwrap());
        }
        headers
    }

    #[test]
    fn a_key_in_quotes_is_the_same_key() {
        let key = |value: &str| key_in(&headers("idempotency-key", &[value.as_bytes()]));
        assert_eq!(key("abc-1").unwrap().as_deref(), Some("abc-1"));
        assert_eq!(key("\"abc-1\"").unwrap().as_deref(), Some("abc-1"));
        assert_eq!(key(r#""a\"b\\""#).unwrap().as_deref(), Some(r#"a"b\"#));
        assert_eq!(key(&"k".repeat(255)).unwrap().map(|key| key.len()), Some(255));
        assert_eq!(key_in(&HeaderMap::new()).unwrap(), None);
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let long = "k".repeat(256);
        for bad in
            ["", "  ", "\"\"", "\"a", "\"a\"b", "\"a\";p=1", "\"a\\x\"", "a b", "a\tb", &long]
        {
            assert!(key_in(&headers("idempotency-key", &[bad.as_bytes()])).is_err(), "{bad:?}");
        }
        assert!(key_in(&headers("idempotency-key", &["\u{e9}".as_bytes()])).is_err());
        assert!(key_in(&headers("idempotency-key", &[b"a", b"a"])).is_err());
    }

    #[test]
    fn patience_has_a_measure() {
        let wait = |value: &str| patience(&headers("prefer", &[value.as_bytes()])).as_secs();
        assert_eq!((wait("wait=7"), wait("respond-async, Wait=0"), wait("wait=99")), (7, 0, 30));
        assert_eq!((wait("wait=soon"), wait("return=minimal")), (2, 2));
        assert_eq!(patience(&HeaderMap::new()).as_secs(), 2);
    }

    #[test]
    fn order_makes_no_difference_and_everything_else_does() {
        let of = |method: Method, uri: &'static str, body: &str| {
            fingerprint(&method, &Uri::from_static(uri), &said(body.as_bytes()))
        };
        let one = of(Method::POST, "/api/x?b=2&a=1", r#"{"m": 1, "n": [1.0]}"#);
        assert_eq!(one, of(Method::POST, "/api/x?a=1&b=2", r#"{"n":[1],"m":1}"#));
        for other in [
            of(Method::PUT, "/api/x?b=2&a=1", r#"{"m": 1, "n": [1]}"#),
            of(Method::POST, "/api/y?b=2&a=1", r#"{"m": 1, "n": [1]}"#),
            of(Method::POST, "/api/x?b=2", r#"{"m": 1, "n": [1]}"#),
            of(Method::POST, "/api/x?b=2&a=1", r#"{"m": 1, "n": ["1"]}"#),
        ] {
            assert_ne!(one, other);
        }
        let wei = |digit: &str| {
            of(Method::POST, "/api/x", &format!(r#"{{"wei": 10000000000000000000{digit}}}"#))
        };
        assert_eq!(wei("1"), wei("1.0"));
        assert_ne!(wei("1"), wei("2"));
        assert_eq!(said(b"no { json"), b"no { json");
    }
}
