//! # `semel completions`: what a shell needs to finish a line

use std::io::Write as _;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

pub(crate) const NAME: &str = "completions";
const SHELL: &str = "shell";

pub(crate) fn command() -> Command {
    let shell = Arg::new(SHELL).required(true).value_parser(value_parser!(Shell));
    Command::new(NAME)
        .about("Print completions for a shell, to be put where it looks for them")
        .arg(shell)
}

pub(crate) fn execute(matches: &ArgMatches, mut whole: Command) -> anyhow::Result<()> {
    let Some(shell) = matches.get_one::<Shell>(SHELL) else { return Ok(()) };
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut whole, "semel", &mut script);
    Ok(std::io::stdout().write_all(&script)?)
}
