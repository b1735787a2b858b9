//! # Keys: which ones open the stored secrets, and how they are replaced
//!
//! Configured keys, or those of the key file, or a throw-away one for a store that ends with the
//! process. Rotation works on a directory no server holds, and at every moment all keys that stored
//! values need are on disk: the new key first, then the values, then away with the old key.

use std::path::PathBuf;

use semel_runtime::{Failure, KeyRing, Resealed, SecretsKey, Unreadable, reseal, unopened};
use semel_store::Kind;

use crate::config::{Config, Store};
use crate::key_file::{KeyFile, KeyFileError};
use crate::stores::{self, OpenError};

#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    #[error(transparent)]
    File(#[from] KeyFileError),
    #[error(
        "{} is missing and {secrets} secrets are sealed with its key; put the file back from a backup, \
         or give its key with --secrets-key; if it is lost for good, \
         `semel rotate-secrets-key --drop-unreadable` removes what cannot be opened",
        .path.display()
    )]
    Lost { path: PathBuf, secrets: usize },
    #[error(
        "the secrets key is not the one that sealed the stored secrets; start with that key, \
         or seal them with the new one: `semel rotate-secrets-key` with both keys, the new one first \
         (--secrets-key NEW,OLD), or with `--drop-unreadable` to remove what cannot be opened"
    )]
    Wrong(#[source] Failure),
    #[error("{} holds no data; name the directory of the server with --data", .directory.display())]
    NoData { directory: PathBuf },
    #[error(
        "nodes that share a database share the key that seals secrets: give it to each of them with \
         --secrets-key, SEMEL_SECRETS_KEY or secrets_key (32 random bytes in base64 or hex; \
         `openssl rand -base64 32` makes one)"
    )]
    Required,
    #[error("a store in memory has no key to rotate; use --store sqlite")]
    Memory,
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
    #[error("the stored secrets cannot be read or written")]
    Store(#[source] Failure),
}

impl From<Failure> for KeysError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Sealed(_) => Self::Wrong(failure),
            other => Self::Store(other),
        }
    }
}

/// Before anything is opened: nodes must not each make a key of their own.
pub(crate) fn refuse_missing(config: &Config) -> Result<(), KeysError> {
    match &config.store {
        Store::Postgres(_) if config.secrets_key.is_empty() => Err(KeysError::Required),
        Store::Postgres(_) | Store::Sqlite | Store::Memory => Ok(()),
    }
}

/// The keys to start with. A directory without a key gets one, unless something is sealed already.
pub(crate) fn ring(config: &Config, store: &dyn semel_store::Store) -> Result<KeyRing, KeysError> {
    if let [newest, older @ ..] = config.secrets_key.as_slice() {
        return Ok(KeyRing::of(newest.clone(), older.to_vec()));
    }
    let file = match config.store {
        Store::Memory => return Ok(KeyRing::throw_away()),
        Store::Postgres(_) => return Err(KeysError::Required),
        Store::Sqlite => KeyFile::of(&config.data),
    };
    let mut keys = file.read()?.into_iter();
    if let Some(newest) = keys.next() {
        return Ok(KeyRing::of(newest, keys.collect()));
    }
    let sealed = store.documents(Kind::Secret, None).map_err(Failure::from)?;
    if !sealed.is_empty() {
        return Err(KeysError::Lost { path: file.path().to_owned(), secrets: sealed.len() });
    }
    let first = SecretsKey::draw();
    file.write(std::slice::from_ref(&first))?;
    tracing::info!(path = %file.path().display(), key = first.id(), "made a key for secrets");
    Ok(KeyRing::of(first, Vec::new()))
}

/// Seals every stored secret with a new key, or with the first of the configured ones, and drops the
/// old keys. May be run again after a crash at any moment.
pub fn rotate_secrets_key(config: &Config, unreadable: Unreadable) -> Result<Resealed, KeysError> {
    if config.store == Store::Memory {
        return Err(KeysError::Memory);
    }
    refuse_missing(config)?;
    if config.store == Store::Sqlite && !config.data.is_dir() {
        return Err(KeysError::NoData { directory: config.data.clone() });
    }
    let store = stores::open(config, "rotate-secrets-key")?;
    let rotation = Rotation::of(config)?;
    if unreadable == Unreadable::Refuse {
        rotation.check(&*store)?;
    }
    rotation.write_new_key()?;
    let resealed = reseal(&*store, &rotation.ring, unreadable)?;
    if config.store == Store::Sqlite {
        rotation.drop_old_keys()?;
    }
    Ok(resealed)
}

struct Rotation {
    file: KeyFile,
    ring: KeyRing,
    /// The new key is ours to keep; a configured one is the operator's.
    is_in_file: bool,
}

impl Rotation {
    fn of(config: &Config) -> Result<Self, KeysError> {
        let file = KeyFile::of(&config.data);
        let old = if config.store == Store::Sqlite { file.read()? } else { Vec::new() };
        let is_in_file = config.secrets_key.is_empty();
        let new = if is_in_file { vec![SecretsKey::draw()] } else { config.secrets_key.clone() };
        let mut keys = new.into_iter().chain(old);
        let newest = keys.next().unwrap_or_else(SecretsKey::draw);
        Ok(Self { file, ring: KeyRing::of(newest, keys.collect()), is_in_file })
    }

    fn check(&self, store: &dyn semel_store::Store) -> Result<(), KeysError> {
        let closed = unopened(store, &self.ring)?;
        if closed.is_empty() { Ok(()) } else { Err(Failure::Sealed(closed).into()) }
    }

    fn write_new_key(&self) -> Result<(), KeysError> {
        if self.is_in_file {
            self.file.write(&self.ring.keys().cloned().collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn drop_old_keys(&self) -> Result<(), KeysError> {
        let newest: Vec<_> = self.ring.keys().take(1).cloned().collect();
        if self.is_in_file {
            self.file.write(&newest)?
        } else {
            self.file.remove()?
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
