//! # `semel admin-key`: another key for whoever has the data directory
//!
//! Works on the data directory of a server that is stopped, also before the first start. The key is printed once, to
//! stdout, as variables to copy: this command is run by whoever wants to have it.

use std::io::Write as _;

use clap::{ArgMatches, Command};
use secrecy::ExposeSecret as _;
use semel_server::{NewKey, Store};

use crate::show::say;
use crate::{flags, logging};

pub(crate) const NAME: &str = "admin-key";

pub(crate) fn command() -> Command {
    Command::new(NAME)
        .about("Make an access key with the role admin and print it; stop the server first")
        .args(flags::arguments())
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    logging::start(&config, None)?;
    let is_new = config.store == Store::Sqlite && !config.data.is_dir();
    print(&semel_server::make_admin_key(&config)?)?;
    if is_new {
        say(&format!("{} was not there and is made", config.data.display()));
    }
    say("this is an access key with the role admin; its secret is not stored, keep it");
    Ok(())
}

fn print(key: &NewKey) -> std::io::Result<()> {
    let mut stdout = std::io::stdout();
    let secret = key.secret.expose_secret();
    writeln!(stdout, "SEMEL_AUTH_KEY={} SEMEL_AUTH_SECRET={secret}", key.id)?;
    stdout.flush()
}
