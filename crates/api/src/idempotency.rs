//! # Start keys on the wire
//!
//! The key comes in the body or in headers; both, and different, is an error. A blank key is none,
//! and a strategy without a key means nothing: some SDKs always send one.

use axum::http::HeaderMap;
use semel_engine::StartKey;
use semel_model::{IDEMPOTENCY_KEY_BYTES_MAX, IdempotencyStrategy};

use crate::error::ApiError;

pub(crate) fn start_key(
    headers: &HeaderMap,
    body_key: Option<&str>,
    body_strategy: Option<IdempotencyStrategy>,
) -> Result<Option<StartKey>, ApiError> {
    let header_key = header(headers, "x-idempotency-key")?;
    let header_strategy = header(headers, "x-on-conflict")?;
    let header_strategy = header_strategy.map(str::parse::<IdempotencyStrategy>).transpose();
    let header_strategy = header_strategy
        .map_err(|error| ApiError::KeyInvalid(format!("header X-on-conflict: {error}")))?;
    let key = agreed("idempotencyKey", "X-Idempotency-key", body_key.filter(present), header_key)?;
    let Some(key) = key.map(str::to_owned) else { return Ok(None) };
    if key.len() > IDEMPOTENCY_KEY_BYTES_MAX || key.contains('\0') {
        return Err(ApiError::KeyInvalid(format!(
            "idempotencyKey must be 1 to {IDEMPOTENCY_KEY_BYTES_MAX} bytes without NUL"
        )));
    }
    let strategy = match (body_strategy, header_strategy) {
        (Some(body), Some(header)) if body != header => {
            return Err(ApiError::KeyInvalid(
                "idempotencyStrategy and header X-on-conflict disagree".to_owned(),
            ));
        }
        (body, header) => body.or(header).unwrap_or(IdempotencyStrategy::Fail),
    };
    Ok(Some(StartKey { key, strategy }))
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

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
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
    fn a_strategy_without_a_key_means_nothing() {
        let none = headers(None, None);
        let strategy = Some(IdempotencyStrategy::Fail);
        assert_eq!(start_key(&none, None, strategy).unwrap(), None);
        assert_eq!(start_key(&none, Some("  "), strategy).unwrap(), None);
    }

    #[test]
    fn body_and_headers_say_the_same_or_it_is_an_error() {
        let both = headers(Some("k"), Some("RETURN_EXISTING"));
        let found = start_key(&both, Some("k"), None).unwrap().unwrap();
        assert_eq!(found.strategy, IdempotencyStrategy::ReturnExisting);
        assert!(start_key(&both, Some("other"), None).is_err());
        assert!(start_key(&both, None, Some(IdempotencyStrategy::Fail)).is_err());
        assert!(start_key(&headers(Some("k"), Some("fail")), None, None).is_err());
    }

    #[test]
    fn a_key_without_a_strategy_fails_on_a_duplicate() {
        let found = start_key(&headers(Some("k"), None), None, None).unwrap().unwrap();
        assert_eq!(found, StartKey { key: "k".into(), strategy: IdempotencyStrategy::Fail });
    }

    #[test]
    fn an_overlong_key_is_refused() {
        assert!(start_key(&HeaderMap::new(), Some(&"k".repeat(513)), None).is_err());
        assert!(start_key(&HeaderMap::new(), Some(&"k".repeat(512)), None).is_ok());
    }
}
