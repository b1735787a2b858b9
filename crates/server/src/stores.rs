//! # Stores: the configured one, opened
//!
//! The only place that knows which store is which. **May not:** be asked twice for a directory that
//! is open.

use std::net::SocketAddr;
use std::sync::Arc;

use semel_store::{Clock, MemoryStore};
use semel_store_postgres::{Options, PostgresStore};
use semel_store_sqlite::SqliteStore;

use crate::config::{Config, Store};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Sqlite(#[from] semel_store_sqlite::OpenError),
    #[error(transparent)]
    Postgres(#[from] semel_store_postgres::OpenError),
}

/// `node` names this process to a store that has several.
pub(crate) fn open(config: &Config, node: &str) -> Result<Arc<dyn semel_store::Store>, OpenError> {
    let clock = || Arc::new(Clock::wall());
    Ok(match &config.store {
        Store::Memory => Arc::new(MemoryStore::new(clock())),
        Store::Sqlite => Arc::new(SqliteStore::open(&config.data, clock())?),
        Store::Postgres(url) => Arc::new(PostgresStore::open(url.reveal(), &Options::named(node))?),
    })
}

/// The name of the server that listens there, the same when it is started again.
pub(crate) fn node(config: &Config, address: SocketAddr) -> String {
    let named = config.node.clone();
    named.unwrap_or_else(|| format!("{}:{}", machine(), address.port()))
}

#[cfg(unix)]
fn machine() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn machine() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "node".to_owned())
}
