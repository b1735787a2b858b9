//! # `semel server`: the orchestrator
//!
//! Settles the configuration, starts logging and hands over to the server until it stops.

use clap::{ArgMatches, Command};
use semel_server::Config;

use crate::{flags, logging};

pub(crate) const NAME: &str = "server";

pub(crate) fn command() -> Command {
    Command::new(NAME).about("Run the orchestrator").args(flags::arguments())
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    logging::start(&config)?;
    run_server(config)
}

/// Returns when the server has stopped.
fn run_server(_config: Config) -> anyhow::Result<()> {
    anyhow::bail!("not wired yet")
}
