//! # Setting back: data whose time is far ahead of the clock

use semel_store::Clock;
use semel_store_sqlite::{SetBack, SetBackError};

use crate::config::{Config, Store};

#[derive(Debug, thiserror::Error)]
pub enum CannotSetBack {
    #[error("a store in memory has no time of its own; use --store sqlite")]
    Memory,
    #[error("nodes go by the clock of PostgreSQL; set that clock")]
    Postgres,
    #[error(transparent)]
    Failed(#[from] SetBackError),
}

/// Durable when it returns. Nobody may serve the store meanwhile. None: it is not ahead.
pub fn set_clock_back(config: &Config) -> Result<Option<SetBack>, CannotSetBack> {
    match &config.store {
        Store::Memory => Err(CannotSetBack::Memory),
        Store::Postgres(_) => Err(CannotSetBack::Postgres),
        Store::Sqlite => Ok(semel_store_sqlite::set_clock_back(&config.data, &Clock::wall())?),
    }
}
