//! # The signature of tokens: JWT, HS256 and nothing else
//!
//! One algorithm and one header, so a token is read only if it begins with exactly the header we
//! write: there is nothing to choose, and `alg` cannot lie. Whether a token has ended is judged
//! elsewhere, by the store's clock.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use secrecy::{ExposeSecret as _, SecretBox};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// `{"typ":"JWT","alg":"HS256"}`
const HEADER: &str = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9";

/// What a token says; times in seconds, because clients read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    /// The id of a key.
    pub(super) sub: String,
    pub(super) iat: u64,
    pub(super) exp: u64,
}

pub(super) struct Signature(Hmac<Sha256>);

impl Signature {
    pub(super) fn of(key: &SecretBox<[u8; 32]>) -> Self {
        let keyed = Hmac::new_from_slice(key.expose_secret());
        Self(keyed.expect("a key of any length will do"))
    }

    pub(super) fn sign(&self, claims: &Claims) -> Result<String, String> {
        let claims = serde_json::to_vec(claims).map_err(|error| error.to_string())?;
        let said = format!("{HEADER}.{}", BASE64_URL_SAFE_NO_PAD.encode(claims));
        let signature = self.0.clone().chain_update(&said).finalize().into_bytes();
        Ok(format!("{said}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    /// None: not made with this key, or altered since. Signatures are compared in constant time.
    pub(super) fn read(&self, token: &str) -> Option<Claims> {
        let (said, signature) = token.rsplit_once('.')?;
        let (header, claims) = said.split_once('.')?;
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.0.clone().chain_update(said).verify_slice(&signature).ok()?;
        let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
        serde_json::from_slice(&claims).ok().filter(|_| header == HEADER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(key: u8) -> Signature {
        Signature::of(&SecretBox::new(Box::new([key; 32])))
    }

    fn claims() -> Claims {
        Claims { sub: "key".to_owned(), iat: 1, exp: 2 }
    }

    #[test]
    fn a_token_is_read_with_the_key_that_signed_it() {
        let token = signature(1).sign(&claims()).unwrap();
        assert_eq!(token.split('.').count(), 3);
        assert_eq!(signature(1).read(&token), Some(claims()), "its end is not judged here");
        assert_eq!(signature(2).read(&token), None);
    }

    #[test]
    fn what_was_altered_or_is_no_token_is_not_read() {
        let token = signature(1).sign(&claims()).unwrap();
        let other = signature(1).sign(&Claims { sub: "you".to_owned(), ..claims() }).unwrap();
        let parts: Vec<&str> = token.split('.').collect();
        let stolen = other.split('.').nth(1).unwrap();
        let unsigned = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"; // {"alg":"none","typ":"JWT"}
        for wrong in [
            String::new(),
            "..".to_owned(),
            "a.b.c".to_owned(),
            parts[..2].join("."),
            format!("{}.{stolen}.{}", parts[0], parts[2]),
            format!("{}.{}.", parts[0], parts[1]),
            format!("{unsigned}.{}.", parts[1]),
            format!("{unsigned}.{}.{}", parts[1], parts[2]),
        ] {
            assert_eq!(signature(1).read(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_header_says_what_it_should() {
        let header = BASE64_URL_SAFE_NO_PAD.decode(HEADER).unwrap();
        assert_eq!(header, br#"{"typ":"JWT","alg":"HS256"}"#);
    }

    /// Made with another implementation, so that what we call HS256 is HS256.
    #[test]
    fn a_token_of_others_made_with_the_same_key_is_read() {
        let token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJrZXkiLCJpYXQiOjEsImV4cCI6Mn0.5rBrS6bjt3iizt-NLMzvO3p41m1XdrsEmp-vu9MFHV8";
        assert_eq!(signature(1).read(token), Some(claims()));
        assert_eq!(signature(1).sign(&claims()).unwrap(), token);
    }

    #[test]
    fn another_algorithm_with_the_same_key_is_not_read() {
        let token = signature(1).sign(&claims()).unwrap();
        let other = BASE64_URL_SAFE_NO_PAD.encode(br#"{"typ":"JWT","alg":"HS512"}"#);
        let said = format!("{other}.{}", token.split('.').nth(1).unwrap());
        let signed = signature(1).0.chain_update(&said).finalize().into_bytes();
        let token = format!("{said}.{}", BASE64_URL_SAFE_NO_PAD.encode(signed));
        assert_eq!(signature(1).read(&token), None);
    }
}
