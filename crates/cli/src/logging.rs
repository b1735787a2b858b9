//! # Logging: words to stderr
//!
//! **May not:** write to stdout, which belongs to data.

use std::io::{IsTerminal as _, stderr};

use anyhow::Context as _;
use semel_server::{Config, Exporter, LogFormat};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _, Registry};

/// Sends everything the filter lets through to stderr, and spans to whoever collects them; once per
/// process.
pub(crate) fn start(config: &Config, spans: Option<&Exporter>) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.log).context("the log filter does not parse")?;
    let lines = tracing_subscriber::fmt::layer::<Registry>().with_writer(stderr);
    let lines = match config.log_format {
        LogFormat::Text => lines.with_ansi(stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(spans.map(Exporter::layer))
        .try_init()
        .map_err(|error| anyhow::anyhow!(error).context("logging was started before"))
}
