//! # Stores: the configured one, opened
//!
//! The only place that knows which store is which. **May not:** be asked twice for a directory that
//! is open.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use semel_store::{Clock, MemoryStore};
use semel_store_postgres::{Options, PostgresStore};
use semel_store_sqlite::SqliteStore;

use crate::config::{Config, LANES_MAX, Store};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Sqlite(#[from] semel_store_sqlite::OpenError),
    #[error(transparent)]
    Postgres(#[from] semel_store_postgres::OpenError),
}

impl OpenError {
    /// Somebody works on it, and whoever wants to open it must be alone.
    pub fn is_served(&self) -> bool {
        use semel_store_postgres::OpenError as Postgres;
        use semel_store_sqlite::OpenError as Sqlite;
        matches!(self, Self::Sqlite(Sqlite::Held { .. }) | Self::Postgres(Postgres::InUse { .. }))
    }
}

/// `node` names this process to a store that has several.
pub(crate) fn open(config: &Config, node: &str) -> Result<Arc<dyn semel_store::Store>, OpenError> {
    let clock = || match config.test_clock {
        true => Arc::new(Clock::wall_for_tests()),
        false => Arc::new(Clock::wall()),
    };
    Ok(match &config.store {
        Store::Memory => Arc::new(MemoryStore::new(clock())),
        Store::Sqlite => Arc::new(SqliteStore::open(&config.data, clock())?),
        Store::Postgres(url) => {
            let options = Options { readers_max: config.readers_max, ..Options::named(node) };
            Arc::new(PostgresStore::open(url.reveal(), &options)?)
        }
    })
}

/// Rounds at one time: several only where rows are held against each other.
pub(crate) fn lanes(config: &Config) -> u16 {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    match (&config.store, config.lanes) {
        (Store::Memory | Store::Sqlite, _) => 1,
        (Store::Postgres(_), 0) => u16::try_from(cores()).unwrap_or(LANES_MAX).min(LANES_MAX),
        (Store::Postgres(_), lanes) => lanes,
    }
}

static NODE: OnceLock<String> = OnceLock::new();

/// Of this process, once it serves a store that several share: by it people tell whose words they read.
pub fn node_name() -> Option<&'static str> {
    NODE.get().map(String::as_str)
}

/// Where there may be others, it is known by its name.
pub(crate) fn known_as(config: &Config, node: &str) -> Option<&'static str> {
    let is_shared = matches!(config.store, Store::Postgres(_));
    is_shared.then(|| NODE.get_or_init(|| node.to_owned()).as_str())
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
