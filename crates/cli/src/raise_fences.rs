//! # `semel raise-fences`: what was handed out before a restore stays stale

use clap::{ArgMatches, Command};
use semel_server::Raised;

use crate::flags;
use crate::show::say;

pub(crate) const NAME: &str = "raise-fences";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about(
            "Lift the fences of a restored store above all that were forgotten; stop its servers first",
        )
        .args(flags::arguments_of(&["data", "store"]))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let Raised { before, after } = semel_server::raise_fences(&config)?;
    say(&format!("fences begin above {after} now; it was {before}"));
    Ok(())
}
