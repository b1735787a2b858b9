//! # Server: configuration and wiring
//!
//! Reads what the operator said and puts the rooms together.
//! **May use:** every room further inwards. **May not:** decide anything about an execution.

mod config;
mod wiring;

pub use config::{Config, ConfigError, Flags, KEYS, Key, LogFormat, Shape, Source, Sourced, Store};
pub use wiring::{RunError, run};
