//! # Logging: words to stderr
//!
//! **May not:** write to stdout, which belongs to data.

use std::io::{IsTerminal as _, stderr};

use anyhow::Context as _;
use semel_server::{Config, LogFormat};
use tracing_subscriber::EnvFilter;

/// Sends everything the filter lets through to stderr; once per process.
pub(crate) fn start(config: &Config) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.log).context("the log filter does not parse")?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr);
    match config.log_format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).try_init(),
        LogFormat::Json => lines.json().try_init(),
    }
    .map_err(|error| anyhow::anyhow!(error).context("logging was started before"))
}
