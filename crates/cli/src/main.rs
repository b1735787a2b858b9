//! # The one binary
//!
//! Reads the command line, runs one command, and says by its exit code how it ended.
//! **May use:** `server`, `client`, `scripts`. **May not:** decide anything; a command is a few
//! lines over a room. Data goes to stdout, words go to stderr.

mod admin_key;
mod backup;
mod completions;
mod config;
mod connection;
mod copy;
mod doctor;
mod effect;
mod exit;
mod explain;
mod flags;
mod given;
mod key;
mod lint;
mod lock;
mod logging;
mod migrate;
mod own_words;
mod raise_fences;
mod record;
mod rotate;
mod script_child;
mod secret;
mod server;
mod show;
mod task;
mod times;
mod workflow;

use std::process::ExitCode;

use clap::{ArgMatches, Command, CommandFactory as _, FromArgMatches as _};

fn main() -> ExitCode {
    // Exits with 2 and the usage if it makes no sense.
    let matches = command().subcommand(script_child::command()).get_matches();
    match run(&matches) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read has read enough.
        Err(error) if exit::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            show::say(report(&error).trim_end());
            ExitCode::from(exit::code(&error))
        }
    }
}

fn command() -> Command {
    Command::new("semel")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A durable workflow orchestrator: asked once, twice or ten times, it happens once")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(exit::WORDS)
        .subcommand(server::command())
        .subcommand(workflow::Workflow::command())
        .subcommand(task::Task::command())
        .subcommand(effect::Effect::command())
        .subcommand(lock::Lock::command())
        .subcommand(key::Key::command())
        .subcommand(secret::Secret::command())
        .subcommand(explain::Explain::command())
        .subcommand(lint::Lint::command())
        .subcommand(doctor::command())
        .subcommand(backup::command())
        .subcommand(copy::command())
        .subcommand(raise_fences::command())
        .subcommand(migrate::command())
        .subcommand(config::command())
        .subcommand(rotate::command())
        .subcommand(admin_key::command())
        .subcommand(completions::command())
}

fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some((server::NAME, matches)) => server::execute(matches),
        Some((config::NAME, matches)) => config::execute(matches),
        Some((rotate::NAME, matches)) => rotate::execute(matches),
        Some((admin_key::NAME, matches)) => admin_key::execute(matches),
        Some((backup::NAME, matches)) => backup::execute(matches),
        Some((copy::NAME, matches)) => copy::execute(matches),
        Some((raise_fences::NAME, matches)) => raise_fences::execute(matches),
        Some((migrate::NAME, matches)) => migrate::execute(matches),
        Some((doctor::NAME, matches)) => doctor::execute(matches),
        Some((completions::NAME, matches)) => completions::execute(matches, command()),
        Some((script_child::NAME, _)) => script_child::execute(),
        Some((workflow::NAME, matches)) => {
            workflow::execute(workflow::Workflow::from_arg_matches(matches)?)
        }
        Some((task::NAME, matches)) => task::execute(task::Task::from_arg_matches(matches)?),
        Some((effect::NAME, matches)) => {
            effect::execute(effect::Effect::from_arg_matches(matches)?)
        }
        Some((lock::NAME, matches)) => lock::execute(lock::Lock::from_arg_matches(matches)?),
        Some((key::NAME, matches)) => key::execute(key::Key::from_arg_matches(matches)?),
        Some((secret::NAME, matches)) => {
            secret::execute(secret::Secret::from_arg_matches(matches)?)
        }
        Some((explain::NAME, matches)) => {
            explain::execute(explain::Explain::from_arg_matches(matches)?)
        }
        Some((lint::NAME, matches)) => lint::execute(lint::Lint::from_arg_matches(matches)?),
        other => unreachable!("clap accepts only the commands it was told: {other:?}"),
    }
}

/// One line, then one line per cause.
fn report(error: &anyhow::Error) -> String {
    let mut text = format!("semel: {error}\n");
    for cause in error.chain().skip(1) {
        text.push_str(&format!("  because: {cause}\n"));
    }
    own_words::own_words(&text)
}

#[cfg(test)]
mod tests {
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
}
