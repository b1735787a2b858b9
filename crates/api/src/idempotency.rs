//! # Start keys on the wire
//!
//! The key comes in the body or in headers; both, and different, is an error. A blank key is none,
//! and a strategy without a key means nothing: some SDKs always send one.

use axum::http::{HeaderMap, HeaderName};
use semel_model::{IDEMPOTENCY_KEY_BYTES_MAX, IdempotencyStrategy};

use crate::error::ApiError;
use crate::params::Params;
use crate::request_key::key_in;
use crate::watch::REQUEST_ID;

/// A request is recognised by an id of this length at most.
const REQUEST_ID_BYTES_MAX: usize = 512;

static START_KEY: HeaderName = HeaderName::from_static("x-idempotency-key");
static ON_CONFLICT: HeaderName = HeaderName::from_static("x-on-conflict");

/// What a request says about being asked twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given {
    pub(crate) key: Option<String>,
    pub(crate) strategy: Option<IdempotencyStrategy>,
    /// The id its sender gave it.
    pub(crate) request: Option<String>,
    /// It names itself by the standard header, which may not be used for two different things.
    pub(crate) strict: bool,
}

impl Given {
    pub(crate) fn of(
        headers: &HeaderMap,
        params: &Params,
        body_key: Option<&str>,
        body_strategy: Option<IdempotencyStrategy>,
    ) -> Result<Self, ApiError> {
        let (key, strategy) = start_key(headers, body_key, body_strategy)?;
        let standard = key_in(headers)?;
        let request = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
        let request = request.filter(present).or(params.text("requestId"));
        let request = request.or(standard.as_deref());
        let request = request.map(str::trim).filter(present);
        let request = request.filter(|text| text.len() <= REQUEST_ID_BYTES_MAX).map(str::to_owned);
        Ok(Self { key, strategy, request, strict: standard.is_some() })
    }
}

fn start_key(
    headers: &HeaderMap,
    body_key: Option<&str>,
    body_strategy: Option<IdempotencyStrategy>,
) -> Result<(Option<String>, Option<IdempotencyStrategy>), ApiError> {
    let header_key = header(headers, &START_KEY)?;
    let header_strategy = header(headers, &ON_CONFLICT)?;
    let header_strategy = header_strategy.map(str::parse::<IdempotencyStrategy>).transpose();
    let header_strategy = header_strategy
        .map_err(|error| ApiError::KeyInvalid(format!("header X-on-conflict: {error}")))?;
    let key = agreed("idempotencyKey", "X-Idempotency-key", body_key.filter(present), header_key)?;
    if key.is_some_and(|key| key.len() > IDEMPOTENCY_KEY_BYTES_MAX || key.contains('\0')) {
        return Err(ApiError::KeyInvalid(format!(
            "idempotencyKey must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without NUL"
        )));
    }
    match (body_strategy, header_strategy) {
        (Some(body), Some(header)) if key.is_some() && body != header => Err(ApiError::KeyInvalid(
            "idempotencyStrategy and header X-on-conflict disagree".to_owned(),
        )),
        (body, header) => Ok((key.map(str::to_owned), body.or(header))),
    }
}

fn agreed<'a>(
    in_body: &str,
    in_header: &str,
    body: Option<&'a str>,
    header: Option<&'a str>,
) -> Result<Option<&'a str>, ApiError> {
    match (body, header) {
        (Some(body), Some(header)) if body != header => {
            Err(ApiError::KeyInvalid(format!("{in_body} and header {in_header} disagree")))
        }
        (body, header) => Ok(body.or(header)),
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.any(|other| other != value) {
        let message = format!("header {name} is given more than once, and differently: send one");
        return Err(ApiError::KeyInvalid(message));
    }
    let value = std::str::from_utf8(value.as_bytes());
    let value = value.map_err(|_| ApiError::KeyInvalid(format!("header {name} is not UTF-8")))?;
    Ok(Some(value).filter(present))
}

fn present(text: &&str) -> bool {
    !text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(key: Option<&str>, strategy: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in [("X-Idempotency-key", key), ("x-on-conflict", strategy)] {
            if let Some(value) = value {
                let name: axum::http::HeaderName = name.parse().unwrap();
                headers.insert(name, value.parse().unwrap());
            }
        }
        headers
    }

    #[test]
    fn a_blank_key_is_none() {
        let none = headers(None, None);
        let strategy = Some(IdempotencyStrategy::Fail);
        assert_eq!(start_key(&none, None, strategy).unwrap(), (None, strategy));
        assert_eq!(start_key(&none, Some("  "), strategy).unwrap(), (None, strategy));
    }

    #[test]
    fn body_and_headers_say_the_same_or_it_is_an_error() {
        let both = headers(Some("k"), Some("RETURN_EXISTING"));
        let found = start_key(&both, Some("k"), None).unwrap();
        assert_eq!(found, (Some("k".to_owned()), Some(IdempotencyStrategy::ReturnExisting)));
        assert!(start_key(&both, Some("other"), None).is_err());
        assert!(start_key(&both, None, Some(IdempotencyStrategy::Fail)).is_err());
        assert!(start_key(&headers(Some("k"), Some("fail")), None, None).is_err());
    }

    #[test]
    fn headers_that_differ_are_an_error_that_names_them() {
        for name in ["x-idempotency-key", "x-on-conflict"] {
            let mut headers = headers(Some("k"), Some("FAIL"));
            let first = headers[name].clone();
            headers.append(name, first);
            assert!(start_key(&headers, None, None).is_ok(), "{name} twice the same");
            headers.append(name, "RETURN_EXISTING".parse().unwrap());
            let refused = start_key(&headers, None, None).unwrap_err();
            assert!(format!("{refused:?}").contains(name), "{refused:?}");
        }
    }

    #[test]
    fn an_overlong_key_is_refused() {
        assert!(start_key(&HeaderMap::new(), Some(&"k".repeat(513)), None).is_err());
        assert!(start_key(&HeaderMap::new(), Some(&"k".repeat(512)), None).is_ok());
    }

    #[test]
    fn a_request_is_named_by_its_header_its_query_or_its_standard_key() {
        let given = |names: &[(&'static str, &str)], query: &[(&str, &str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in names {
                headers.insert(*name, value.parse().unwrap());
            }
            let found = Given::of(&headers, &Params::of(query), None, None).unwrap();
            (found.request, found.strict)
        };
        let query = [("requestId", "q")];
        assert_eq!(given(&[("x-request-id", " r ")], &query), (Some("r".to_owned()), false));
        assert_eq!(given(&[("idempotency-key", "i")], &query), (Some("q".to_owned()), true));
        assert_eq!(given(&[("idempotency-key", "i")], &[]), (Some("i".to_owned()), true));
        assert_eq!(given(&[("x-request-id", &"r".repeat(513))], &[]), (None, false));
    }
}
