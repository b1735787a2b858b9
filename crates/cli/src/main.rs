//! # The one binary
//!
//! Reads the command line, runs one command, says how it ended: 0 done, 1 failed, 2 asked wrongly.
//! **May use:** `server`, `client`. **May not:** decide anything; a command is a few lines over a room.
//! Data goes to stdout, words go to stderr.

mod admin_key;
mod config;
mod flags;
mod logging;
mod rotate;
mod server;

use std::process::ExitCode;

use clap::{ArgMatches, Command};
use semel_server::ConfigError;

const EXIT_FAILED: u8 = 1;
const EXIT_ASKED_WRONGLY: u8 = 2;

fn main() -> ExitCode {
    let matches = command().get_matches(); // Exits with 2 and the usage if it makes no sense.
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprint!("{}", report(&error));
            ExitCode::from(exit_code(&error))
        }
    }
}

fn command() -> Command {
    Command::new("semel")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A durable workflow orchestrator: asked once, twice or ten times, it happens once")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(server::command())
        .subcommand(config::command())
        .subcommand(rotate::command())
        .subcommand(admin_key::command())
}

fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some((server::NAME, matches)) => server::execute(matches),
        Some((config::NAME, matches)) => config::execute(matches),
        Some((rotate::NAME, matches)) => rotate::execute(matches),
        Some((admin_key::NAME, matches)) => admin_key::execute(matches),
        other => unreachable!("clap accepts only the commands it was told: {other:?}"),
    }
}

/// One line, then one line per cause.
fn report(error: &anyhow::Error) -> String {
    let mut text = format!("semel: {error}\n");
    for cause in error.chain().skip(1) {
        text.push_str(&format!("  because: {cause}\n"));
    }
    text
}

fn exit_code(error: &anyhow::Error) -> u8 {
    if error.is::<ConfigError>() { EXIT_ASKED_WRONGLY } else { EXIT_FAILED }
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn a_report_is_one_line_and_one_per_cause() {
        let error = anyhow::anyhow!("disk is full").context("cannot open the store");
        assert_eq!(report(&error), "semel: cannot open the store\n  because: disk is full\n");
    }

    #[test]
    fn wrong_configuration_exits_with_2_and_all_else_with_1() {
        let wrong = ConfigError::UnknownKey { key: "a".to_owned(), path: "b".into() };
        let wrong = Err::<(), _>(wrong).context("cannot start").unwrap_err();
        assert_eq!(exit_code(&wrong), 2);
        assert_eq!(exit_code(&anyhow::anyhow!("disk is full")), 1);
    }
}
