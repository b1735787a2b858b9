//! # Keys: what is stored of a secret can be read only with one of them
//!
//! AES-256-GCM, a fresh random nonce for every value, the secret's name as associated data, so that
//! a value moved under another name does not open. Each value says which key sealed it. **May not:**
//! show a key or a value in `Debug` or in an error.

use std::fmt;

use aes_gcm::aead::{Aead, Payload};
use aes_gcm::{Aes256Gcm, KeyInit};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use secrecy::{ExposeSecret as _, SecretBox, SecretString};
use semel_model::Digest;
use serde::{Deserialize, Serialize};

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;

/// One key.
pub struct SecretsKey(SecretBox<[u8; KEY_BYTES]>);

impl SecretsKey {
    pub fn draw() -> Self {
        Self(SecretBox::init_with_mut(|bytes: &mut [u8; KEY_BYTES]| fill(bytes)))
    }

    /// 32 bytes as base64 or hex; none for anything else.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = if text.len() == 2 * KEY_BYTES { from_hex(text)? } else { from_base64(text)? };
        let bytes = SecretBox::new(Box::new(bytes));
        let bytes: [u8; KEY_BYTES] = bytes.expose_secret().as_slice().try_into().ok()?;
        Some(Self(SecretBox::new(Box::new(bytes))))
    }

    /// As [`SecretsKey::read`] reads it.
    pub fn text(&self) -> SecretString {
        STANDARD.encode(self.0.expose_secret()).into()
    }

    /// Names the key without telling it.
    pub fn id(&self) -> String {
        let digest = Digest::of_parts([b"secrets key".as_slice(), self.0.expose_secret()]);
        digest.to_string().chars().take(16).collect()
    }

    /// A key for another purpose, which tells nothing of this one. Whoever has this key gets the
    /// same.
    fn derive(&self, purpose: &str) -> SecretBox<[u8; KEY_BYTES]> {
        let parts = [b"derived key".as_slice(), purpose.as_bytes(), self.0.expose_secret()];
        SecretBox::new(Box::new(*Digest::of_parts(parts).as_bytes()))
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(self.0.expose_secret().into())
    }
}

impl Clone for SecretsKey {
    fn clone(&self) -> Self {
        Self(SecretBox::new(Box::new(*self.0.expose_secret())))
    }
}

impl PartialEq for SecretsKey {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for SecretsKey {}

impl fmt::Debug for SecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretsKey({})", self.id())
    }
}

/// The key new values are sealed with, then older ones that still open what they sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRing {
    newest: SecretsKey,
    older: Vec<SecretsKey>,
}

impl KeyRing {
    pub fn of(newest: SecretsKey, older: Vec<SecretsKey>) -> Self {
        Self { newest, older }
    }

    /// For a store that ends with its process.
    pub fn throw_away() -> Self {
        Self::of(SecretsKey::draw(), Vec::new())
    }

    pub fn keys(&self) -> impl Iterator<Item = &SecretsKey> {
        std::iter::once(&self.newest).chain(&self.older)
    }

    pub(super) fn derive(&self, purpose: &str) -> SecretBox<[u8; KEY_BYTES]> {
        self.newest.derive(purpose)
    }

    pub(super) fn seal(&self, name: &str, value: &str) -> Sealed {
        let mut nonce = [0; NONCE_BYTES];
        fill(&mut nonce);
        let message = Payload { msg: value.as_bytes(), aad: name.as_bytes() };
        let sealed = self.newest.cipher().encrypt(&nonce.into(), message);
        let sealed = sealed.expect("a value is far shorter than what AES-GCM can seal");
        Sealed {
            key: self.newest.id(),
            nonce: STANDARD.encode(nonce),
            sealed: STANDARD.encode(sealed),
        }
    }

    /// None: no key of this ring sealed it, or it was altered.
    pub(super) fn open(&self, name: &str, sealed: &Sealed) -> Option<SecretString> {
        let key = self.keys().find(|key| key.id() == sealed.key)?;
        let nonce: [u8; NONCE_BYTES] = STANDARD.decode(&sealed.nonce).ok()?.try_into().ok()?;
        let bytes = STANDARD.decode(&sealed.sealed).ok()?;
        let message = Payload { msg: &bytes, aad: name.as_bytes() };
        let opened = key.cipher().decrypt(&nonce.into(), message).ok()?;
        String::from_utf8(opened).ok().map(SecretString::from)
    }

    pub(super) fn is_newest(&self, sealed: &Sealed) -> bool {
        sealed.key == self.newest.id()
    }
}

/// A value as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sealed {
    /// The id of the key that sealed it.
    pub(super) key: String,
    nonce: String,
    sealed: String,
}

fn fill(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the operating system gives random bytes");
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_as_base64_or_hex_and_never_shown() {
        let key = SecretsKey::draw();
        let text = key.text();
        let text = text.expose_secret();
        assert_eq!(SecretsKey::read(text), Some(key.clone()));
        let hex: String = key.0.expose_secret().iter().map(|byte| format!("{byte:02X}")).collect();
        assert_eq!(SecretsKey::read(&hex), Some(key.clone()));
        let shown = format!("{key:?} {:?}", KeyRing::of(key.clone(), vec![key.clone()]));
        assert!(!shown.contains(text) && !shown.to_uppercase().contains(&hex), "{shown}");
        for wrong in ["", "abcd", &text[1..], &hex[2..], &"g".repeat(64), &format!("{hex}00")] {
            assert_eq!(SecretsKey::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_value_opens_under_its_name_and_its_key_only() {
        let ring = KeyRing::throw_away();
        let sealed = ring.seal("a", "hunter22");
        assert_eq!(ring.open("a", &sealed).unwrap().expose_secret(), "hunter22");
        assert!(ring.open("b", &sealed).is_none());
        assert!(KeyRing::throw_away().open("a", &sealed).is_none());
        let newer = KeyRing::of(SecretsKey::draw(), ring.keys().cloned().collect());
        assert_eq!(newer.open("a", &sealed).unwrap().expose_secret(), "hunter22");
        assert!(ring.is_newest(&sealed) && !newer.is_newest(&sealed));
        let mut altered = sealed.clone();
        altered.sealed = STANDARD.encode([0; 24]);
        assert!(ring.open("a", &altered).is_none());
        assert_ne!(ring.seal("a", "hunter22"), sealed, "no nonce is used twice");
        assert!(!format!("{sealed:?}").contains("hunter22"));
    }
}
