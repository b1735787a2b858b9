//! # `semel accept-loss`: going on, knowingly, with what is left of damaged data

use clap::{ArgMatches, Command};
use semel_server::Accepted;

use crate::flags;
use crate::show::say;

pub(crate) const NAME: &str = "accept-loss";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about(
            "Go on with what is left of damaged data, and lift its fences; stop its server first",
        )
        .args(flags::arguments_of(&["data", "store"]))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let Some(Accepted { damage, kept, fence }) = semel_server::accept_loss(&config)? else {
        say("nothing is missing, and nothing was changed");
        return Ok(());
    };
    damage.findings.iter().for_each(|finding| say(finding));
    match damage.sure.filter(|last| last.round > 0) {
        Some(last) => say(&format!("gone on with everything up to commit {last}")),
        None => say("nothing is left; a server begins with no data"),
    }
    say(&format!("the files as they were found: {}", kept.display()));
    say(&format!("fences begin above {fence} now: tasks handed out before are stale"));
    Ok(())
}
