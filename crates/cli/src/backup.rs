//! # `semel backup`: the data as one file, while the server runs
//!
//! Progress is shown on a terminal only.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use semel_server::Progress;
use serde_json::json;

use crate::flags;
use crate::show::{line, say};

pub(crate) const NAME: &str = "backup";
const TO: &str = "to";
const QUICK: &str = "quick";
const JSON: &str = "json";
const SHOWN_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn command() -> Command {
    let to = Arg::new(TO)
        .long(TO)
        .value_name("FILE")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("File to make; nothing is overwritten");
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new(NAME)
        .about("Copy the data to one file, verified; a server may run meanwhile")
        .args(flags::arguments_of(&["data", "store"]))
        .arg(to)
        .arg(switch(QUICK, "Check the structure of the copy only, not every journal"))
        .arg(switch(JSON, "Print what was done as JSON"))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let Some(to) = matches.get_one::<PathBuf>(TO) else { return Ok(()) };
    let quick = matches.get_flag(QUICK);
    let mut bar = Bar::new(stderr().is_terminal());
    let done = semel_server::backup(&config, to, quick, |progress| bar.show(progress));
    bar.clear();
    let done = done?;
    let shown = to.display();
    match done.proven {
        Some(counts) => say(&format!(
            "{shown}: {} MiB, {} executions with {} journal entries, verified",
            done.bytes >> 20,
            counts.executions,
            counts.entries
        )),
        None => say(&format!("{shown}: {} MiB, structure checked", done.bytes >> 20)),
    }
    say(
        "secrets.key is not in it: keep a copy of it apart, without it the stored secrets are lost",
    );
    say(&format!("to restore: copy {shown} to semel.db in an empty directory, and start with it"));
    if !matches.get_flag(JSON) {
        return Ok(());
    }
    let counts = done.proven;
    let told = json!({
        "file": to,
        "bytes": done.bytes,
        "verified": counts.is_some(),
        "executions": counts.map(|counts| counts.executions),
        "entries": counts.map(|counts| counts.entries),
    });
    line(&told.to_string())
}

/// One line on a terminal, written over and over.
struct Bar {
    is_terminal: bool,
    shown_at: Option<Instant>,
}

impl Bar {
    fn new(is_terminal: bool) -> Self {
        Self { is_terminal, shown_at: None }
    }

    fn show(&mut self, progress: Progress) {
        let is_early = self.shown_at.is_some_and(|at| at.elapsed() < SHOWN_EVERY);
        if !self.is_terminal || (is_early && progress != Progress::Checking) {
            return;
        }
        self.shown_at = Some(Instant::now());
        let words = words(progress);
        let _ = write!(stderr(), "\r{words}\x1b[K"); // Lost progress is no failure.
    }

    fn clear(&self) {
        if self.shown_at.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

fn words(progress: Progress) -> String {
    match progress {
        Progress::Began => "copying".to_owned(),
        Progress::Copied { pages, of } => {
            format!("copying {:3} %", (pages * 100).checked_div(of).unwrap_or(100))
        }
        Progress::Checking => "checking the structure".to_owned(),
        Progress::Proven { entries } => format!("checking journals: {entries} entries"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_in_percent() {
        assert_eq!(words(Progress::Copied { pages: 1, of: 3 }), "copying  33 %");
        assert_eq!(words(Progress::Copied { pages: 0, of: 0 }), "copying 100 %");
    }
}
