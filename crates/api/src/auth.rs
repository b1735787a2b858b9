//! # Authentication: who a request is from
//!
//! A token says which key it was made for and until when; what its holder may do is looked up with
//! every request. Time is the store's. **May not:** believe anything in a token but its subject and
//! its end.

mod signature;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use semel_model::Timestamp;
use semel_runtime::{Holder, Runtime};

use crate::error::ApiError;
use crate::logins::Logins;
use signature::{Claims, Signature};

/// Purpose of the key that signs tokens: all nodes derive the same.
const PURPOSE: &str = "access tokens";
const HEADER: &str = "x-authorization";
/// Longer ones were not made here, and are not looked at.
const TOKEN_BYTES_MAX: usize = 4096;

/// What is needed to make and to check tokens; absent while authentication is off.
pub struct Auth {
    signature: Signature,
    token_seconds: u64,
    pub(crate) logins: Logins,
}

impl Auth {
    /// Tokens live for `token_seconds`, or until the secrets key is replaced.
    pub fn new(runtime: &Runtime, token_seconds: u64) -> Self {
        let key = runtime.world().secrets.derived_key(PURPOSE);
        Self { signature: Signature::of(&key), token_seconds, logins: Logins::default() }
    }

    /// Whoever proves to be the holder of a key gets a token; `seconds` may shorten its life.
    pub(crate) fn token(
        &self,
        holder: &Holder,
        now: Timestamp,
        seconds: Option<u64>,
    ) -> Result<String, ApiError> {
        let seconds = seconds.unwrap_or(self.token_seconds).min(self.token_seconds);
        let iat = seconds_of(now);
        let claims = Claims { sub: holder.key.clone(), iat, exp: iat.saturating_add(seconds) };
        self.signature.sign(&claims).map_err(ApiError::Internal)
    }

    /// Who sent this, or why nobody can tell.
    pub(crate) async fn holder(
        &self,
        headers: &HeaderMap,
        runtime: &Runtime,
    ) -> Result<Holder, ApiError> {
        let token = token_in(headers).ok_or(ApiError::TokenInvalid("there is no token"))?;
        let claims = Some(token).filter(|token| token.len() <= TOKEN_BYTES_MAX);
        let claims = claims.and_then(|token| self.signature.read(token));
        let claims = claims.ok_or(ApiError::TokenInvalid("the token was not made here"))?;
        if claims.exp <= seconds_of(runtime.now()) {
            return Err(ApiError::TokenExpired);
        }
        let holder = runtime.known_keys().await?.holder(&claims.sub);
        holder.ok_or(ApiError::TokenInvalid("the token's key is deleted or inactive"))
    }
}

fn seconds_of(time: Timestamp) -> u64 {
    u64::try_from(time.ms() / 1000).unwrap_or(0)
}

/// `X-Authorization: <token>` as SDKs send it, else `Authorization: Bearer <token>`.
fn token_in(headers: &HeaderMap) -> Option<&str> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(token) = text(HEADER) {
        return Some(bearer(token).unwrap_or(token)).filter(|token| !token.is_empty());
    }
    bearer(text(AUTHORIZATION.as_str())?)
}

fn bearer(text: &str) -> Option<&str> {
    let (scheme, token) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_either_header() {
        let found = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter();
            let headers: HeaderMap = pairs
                .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
                .collect();
            token_in(&headers).map(str::to_owned)
        };
        assert_eq!(found(&[("x-authorization", "a.b.c")]).as_deref(), Some("a.b.c"));
        assert_eq!(found(&[("x-authorization", "Bearer a.b.c")]).as_deref(), Some("a.b.c"));
        assert_eq!(found(&[("authorization", "bearer  a.b.c")]).as_deref(), Some("a.b.c"));
        let both = [("authorization", "Bearer x"), ("x-authorization", "y")];
        assert_eq!(found(&both).as_deref(), Some("y"));
        for none in
            [("authorization", "Basic YTpi"), ("authorization", "a.b.c"), ("x-authorization", " ")]
        {
            assert_eq!(found(&[none]), None);
        }
        assert_eq!(found(&[]), None);
    }
}
