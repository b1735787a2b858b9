//! # `semel script-child`: where a server's scripts run
//!
//! For the server only, which starts it and speaks to it; nobody types it, so no help names it.

use clap::Command;
use semel_scripts::child;

pub(crate) const NAME: &str = child::COMMAND;

pub(crate) fn command() -> Command {
    Command::new(NAME).hide(true)
}

pub(crate) fn execute() -> anyhow::Result<()> {
    Ok(child::serve()?)
}
