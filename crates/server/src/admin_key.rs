//! # Another admin key, for whoever has the data directory
//!
//! The way back in when the first key was lost, and the way in before the first start. Works on a directory no
//! server holds, and on a database whoever uses it.

use semel_runtime::{Failure, NewKey, add_admin_key};

use crate::config::{Config, Store};
use crate::stores::{self, OpenError};

#[derive(Debug, thiserror::Error)]
pub enum AdminKeyError {
    #[error("a store in memory is gone with its server; use --store sqlite")]
    Memory,
    #[error("the store cannot be opened")]
    Open(#[from] OpenError),
    #[error("the key cannot be stored")]
    Store(#[from] Failure),
}

/// Durable when it returns.
pub fn make_admin_key(config: &Config) -> Result<NewKey, AdminKeyError> {
    if config.store == Store::Memory {
        return Err(AdminKeyError::Memory);
    }
    let store = stores::open(config, "admin-key")?;
    Ok(add_admin_key(&*store)?)
}
