//! # Server: configuration and wiring
//!
//! Reads what the operator said and puts the rooms together.
//! **May use:** every room further inwards. **May not:** decide anything about an execution.

mod backup;
mod checkup;
mod config;
mod key_file;
mod keys;
mod process_variables;
mod wiring;

pub use backup::{CannotBackUp, backup};
pub use checkup::{CheckUp, Finding, Level, check_up};
pub use config::{Config, ConfigError, Flags, KEYS, Key, LogFormat, Shape, Source, Sourced, Store};
pub use key_file::KeyFileError;
pub use keys::{KeysError, rotate_secrets_key};
pub use semel_runtime::{Resealed, Unreadable};
pub use semel_store_sqlite::{BackedUp, BackupError, Progress};
pub use wiring::{RunError, run};
