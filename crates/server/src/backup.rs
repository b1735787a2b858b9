//! # Backup: the data of a configured server, as one file
//!
//! Works beside a running server. The key that opens secrets is never part of it.

use std::path::Path;

use semel_store_sqlite::{BackedUp, BackupError, Progress};

use crate::config::{Config, Store};

#[derive(Debug, thiserror::Error)]
pub enum CannotBackUp {
    #[error("a store in memory has no data to back up; use --store sqlite")]
    Memory,
    #[error(
        "a PostgreSQL store is backed up with PostgreSQL's own tools (pg_dump, pg_basebackup); \
         keep the secrets key apart from the copy"
    )]
    Postgres,
    #[error(transparent)]
    Failed(#[from] BackupError),
}

/// Copies the configured data to the new file `to`; see [`semel_store_sqlite::backup()`].
pub fn backup(
    config: &Config,
    to: &Path,
    quick: bool,
    progress: impl FnMut(Progress),
) -> Result<BackedUp, CannotBackUp> {
    match &config.store {
        Store::Postgres(_) => Err(CannotBackUp::Postgres),
        Store::Memory => Err(CannotBackUp::Memory),
        Store::Sqlite => Ok(semel_store_sqlite::backup(&config.data, to, quick, progress)?),
    }
}
