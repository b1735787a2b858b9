//! # Setting back: data whose time is far ahead of the clock

use semel_store::{Clock, SetBack};
use semel_store_postgres::OpenError;
use semel_store_sqlite::SetBackError;

use crate::config::{Config, Store};

#[derive(Debug, thiserror::Error)]
pub enum CannotSetBack {
    #[error("a store in memory has no time of its own; use --store sqlite")]
    Memory,
    #[error(transparent)]
    Failed(#[from] SetBackError),
    #[error(transparent)]
    Database(#[from] OpenError),
}

impl CannotSetBack {
    /// Somebody serves the store.
    pub fn is_served(&self) -> bool {
        match self {
            Self::Memory => false,
            Self::Failed(error) => error.is_served(),
            Self::Database(error) => matches!(error, OpenError::InUse { .. }),
        }
    }
}

/// Durable when it returns. Nobody may serve the store meanwhile. None: it is not ahead.
pub fn set_clock_back(config: &Config) -> Result<Option<SetBack>, CannotSetBack> {
    match &config.store {
        Store::Memory => Err(CannotSetBack::Memory),
        Store::Postgres(url) => Ok(semel_store_postgres::set_clock_back(url.reveal())?),
        Store::Sqlite => Ok(semel_store_sqlite::set_clock_back(&config.data, &Clock::wall())?),
    }
}
