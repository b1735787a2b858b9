//! # `semel rotate-secrets-key`: the stored secrets under a new key
//!
//! Works on the data directory of a server that is stopped.

use std::io::Write as _;

use clap::{Arg, ArgAction, ArgMatches, Command};
use semel_server::Unreadable;

use crate::show::say;
use crate::{flags, logging};

pub(crate) const NAME: &str = "rotate-secrets-key";
const DROP: &str = "drop-unreadable";

pub(crate) fn command() -> Command {
    let drop = Arg::new(DROP)
        .long(DROP)
        .action(ArgAction::SetTrue)
        .help("Remove secrets that no key opens, and print their names");
    Command::new(NAME)
        .about("Seal the stored secrets with a new key and drop the old one; stop the server first")
        .args(flags::arguments())
        .arg(drop)
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    logging::start(&config, None)?;
    let unreadable = if matches.get_flag(DROP) { Unreadable::Drop } else { Unreadable::Refuse };
    let done = semel_server::rotate_secrets_key(&config, unreadable)?;
    let mut stdout = std::io::stdout();
    done.dropped.iter().try_for_each(|name| writeln!(stdout, "{name}"))?;
    say(&format!("sealed with the new key: {}", done.values));
    if !done.dropped.is_empty() {
        say(&format!("removed, because no key opens them: {}", done.dropped.len()));
    }
    Ok(())
}
