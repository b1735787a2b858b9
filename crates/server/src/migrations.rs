//! # Migrations by hand: tables brought up to date before a server starts
//!
//! A server does so by itself. Whoever upgrades many nodes may want to know before, or to do it with
//! the rights of another user.

use semel_store_postgres as postgres;

use crate::config::{Config, Store};

/// How far the tables are, and how far this binary knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    pub schema: u32,
    pub known: u32,
}

impl Migrated {
    /// Whether this binary has nothing to add. Tables that are newer let it in, or it was refused.
    pub fn is_current(self) -> bool {
        self.schema >= self.known
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CannotMigrate {
    #[error("a store in memory has no tables; use --store sqlite or --store postgres://...")]
    Memory,
    #[error("the store cannot be opened")]
    Sqlite(#[from] semel_store_sqlite::OpenError),
    #[error("the store cannot be opened")]
    Postgres(#[from] postgres::OpenError),
}

impl From<postgres::Schema> for Migrated {
    fn from(schema: postgres::Schema) -> Self {
        Self { schema: schema.found, known: schema.known }
    }
}

/// Looks, and changes nothing.
pub fn check_schema(config: &Config) -> Result<Migrated, CannotMigrate> {
    match &config.store {
        Store::Memory => Err(CannotMigrate::Memory),
        Store::Sqlite => {
            let look = semel_store_sqlite::look(&config.data)?;
            let known = semel_store_sqlite::SCHEMA;
            Ok(Migrated { schema: look.map_or(0, |look| look.schema), known })
        }
        Store::Postgres(url) => Ok(postgres::schema(url.reveal())?.into()),
    }
}

/// Durable when it returns; nodes that run meanwhile go on.
pub fn migrate(config: &Config) -> Result<Migrated, CannotMigrate> {
    match &config.store {
        Store::Memory => Err(CannotMigrate::Memory),
        Store::Sqlite => {
            let clock = std::sync::Arc::new(semel_store::Clock::wall());
            drop(semel_store_sqlite::SqliteStore::open(&config.data, clock)?);
            check_schema(config)
        }
        Store::Postgres(url) => Ok(postgres::migrate(url.reveal())?.into()),
    }
}
