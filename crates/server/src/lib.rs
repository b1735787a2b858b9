//! # Server: configuration and wiring
//!
//! Reads what the operator said and puts the rooms together.
//! **May use:** every room further inwards. **May not:** decide anything about an execution.

mod admin_key;
mod backup;
mod checkup;
mod config;
mod copy;
mod deep;
mod fences;
mod first_key;
mod key_file;
mod keys;
mod listener;
mod losses;
mod machine_memory;
mod migrations;
mod numbers;
#[cfg_attr(not(feature = "otlp"), path = "otlp_absent.rs")]
mod otlp;
mod process_variables;
mod scripts;
mod set_back;
mod signals;
mod stores;
mod wiring;

pub use admin_key::{AdminKeyError, make_admin_key};
pub use backup::{CannotBackUp, backup};
pub use checkup::{CheckUp, Finding, Level, check_up};
pub use config::{
    Config, ConfigError, DatabaseUrl, Flags, KEYS, Key, LogFormat, Shape, Source, Sourced, Store,
};
pub use copy::{CannotCopy, Copied, End, compare, copy};
pub use deep::check_deeply;
pub use fences::{CannotRaise, Raised, raise_fences};
pub use first_key::FirstKey;
pub use key_file::KeyFileError;
pub use keys::{KeysError, rotate_secrets_key};
pub use losses::{CannotAccept, accept_loss};
pub use migrations::{CannotMigrate, Migrated, check_schema, migrate};
pub use otlp::{Exporter, ExporterError};
pub use semel_engine::unenforceable;
pub use semel_runtime::{NewKey, Resealed, Unreadable};
pub use semel_store::transfer::{Compared, Outcome, Step};
pub use semel_store::{SetBack, Shelf};
pub use semel_store_sqlite::{
    AcceptError, Accepted, BackedUp, BackupError, Progress, SetBackError,
};
pub use set_back::{CannotSetBack, set_clock_back};
pub use stores::{OpenError, node_name};
pub use wiring::{RunError, run};
