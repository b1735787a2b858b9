//! # `semel set-clock-back`: data whose time is far ahead of the clock

use clap::{ArgMatches, Command};
use semel_server::SetBack;

use crate::flags;
use crate::show::{line, say};
use crate::times;

pub(crate) const NAME: &str = "set-clock-back";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Set the time of data that is far ahead back to the clock; stop its server first")
        .args(flags::arguments_of(&["data", "store"]))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let Some(done) = semel_server::set_clock_back(&config)? else {
        say("the data is not ahead of the clock, and nothing was changed");
        return Ok(());
    };
    let SetBack { ahead_ms, tasks, waiting, named } = done;
    say(&format!(
        "the data was {} ahead of the clock, and goes on from now",
        times::span(ahead_ms)
    ));
    say(&format!("{tasks} tasks that workers hold or wait for were moved along"));
    if waiting > 0 {
        say(&format!(
            "{waiting} runs wait by themselves for a time that is as far ahead (a timeout, a WAIT); \
             end them or run them again; the first of them are on stdout"
        ));
        for id in named {
            line(&id.to_string())?;
        }
    }
    Ok(())
}
