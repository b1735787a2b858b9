//! # Losses: going on, knowingly, with what is left of a damaged store

use semel_store::Clock;
use semel_store_sqlite::{AcceptError, Accepted};

use crate::config::{Config, Store};

#[derive(Debug, thiserror::Error)]
pub enum CannotAccept {
    #[error("a store in memory loses everything with its process; use --store sqlite")]
    Memory,
    #[error(
        "what PostgreSQL has lost it says itself; after a restore: semel raise-fences --store URL"
    )]
    Postgres,
    #[error(transparent)]
    Failed(#[from] AcceptError),
}

/// Durable when it returns. Nobody may serve the store meanwhile. None: nothing is missing.
pub fn accept_loss(config: &Config) -> Result<Option<Accepted>, CannotAccept> {
    match &config.store {
        Store::Memory => Err(CannotAccept::Memory),
        Store::Postgres(_) => Err(CannotAccept::Postgres),
        Store::Sqlite => Ok(semel_store_sqlite::accept_loss(&config.data, &Clock::wall())?),
    }
}
