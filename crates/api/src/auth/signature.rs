//! # The signature of tokens: JWT, HS256 and nothing else
//!
//! The library checks the signature and the algorithm. It does not check the end of a token: it
//! would ask the machine's clock, and time here is the store's.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use secrecy::{ExposeSecret as _, SecretBox};
use serde::{Deserialize, Serialize};

/// What a token says; times in seconds, because clients read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claims {
    /// The id of a key.
    pub(super) sub: String,
    pub(super) iat: u64,
    pub(super) exp: u64,
}

pub(super) struct Signature {
    signs: EncodingKey,
    reads: DecodingKey,
    rules: Validation,
}

impl Signature {
    pub(super) fn of(key: &SecretBox<[u8; 32]>) -> Self {
        let key = key.expose_secret();
        let mut rules = Validation::new(Algorithm::HS256);
        rules.validate_exp = false;
        rules.validate_aud = false;
        rules.set_required_spec_claims(&["exp", "sub"]);
        Self { signs: EncodingKey::from_secret(key), reads: DecodingKey::from_secret(key), rules }
    }

    pub(super) fn sign(&self, claims: &Claims) -> Result<String, String> {
        let header = Header::new(Algorithm::HS256);
        encode(&header, claims, &self.signs).map_err(|error| error.to_string())
    }

    /// None: not made with this key, or altered since.
    pub(super) fn read(&self, token: &str) -> Option<Claims> {
        decode(token, &self.reads, &self.rules).ok().map(|token| token.claims)
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
    fn another_algorithm_with_the_same_key_is_not_read() {
        let header = Header::new(Algorithm::HS512);
        let token = encode(&header, &claims(), &EncodingKey::from_secret(&[1; 32])).unwrap();
        assert_eq!(signature(1).read(&token), None);
    }
}
