//! # `semel migrate`: tables brought to what this binary knows
//!
//! With `--check` nothing is changed, and the exit code says whether there is something to do.

use clap::{Arg, ArgAction, ArgMatches, Command};
use semel_server::{Migrated, check_schema};

use crate::exit::{CONFLICT, Verdict};
use crate::flags;
use crate::show::say;

pub(crate) const NAME: &str = "migrate";
const CHECK: &str = "check";

pub(crate) fn command() -> Command {
    let check = Arg::new(CHECK).long(CHECK).action(ArgAction::SetTrue);
    Command::new(NAME)
        .about("Bring the tables of the store up to date; a server does so by itself")
        .args(flags::arguments_of(&["data", "store"]))
        .arg(check.help("Change nothing; exit with 5 if there is something to do"))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    if !matches.get_flag(CHECK) {
        let Migrated { schema, .. } = semel_server::migrate(&config)?;
        say(&format!("the store has schema {schema}"));
        return Ok(());
    }
    let found = check_schema(&config)?;
    let Migrated { schema, known } = found;
    let enough = if schema > known { ", which is enough to serve it" } else { "" };
    say(&format!("the store has schema {schema}, this binary knows {known}{enough}"));
    match found.is_current() {
        true => Ok(()),
        false => Err(Verdict { words: "the tables are not up to date", code: CONFLICT }.into()),
    }
}
