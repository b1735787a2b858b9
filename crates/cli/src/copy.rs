//! # `semel copy`: the data of a stopped server, moved into another store
//!
//! Progress is shown on a terminal only.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use clap::{Arg, ArgAction, ArgMatches, Command};
use semel_server::{Compared, Copied, End, Outcome, Step};
use serde_json::{Map, Value, json};

use crate::exit::{FAILED, Verdict};
use crate::flags;
use crate::show::{Show, line, say};

pub(crate) const NAME: &str = "copy";
const FROM: &str = "from";
const TO: &str = "to";
const VERIFY: &str = "verify";
const JSON: &str = "json";
const SHOWN_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn command() -> Command {
    let end = |name: &'static str, variable: &'static str, help: &'static str| {
        let end = Arg::new(name).long(name).value_name("STORE").required(true).help(help);
        end.env(variable).hide_env_values(true)
    };
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new(NAME)
        .about("Move all data of a stopped server into another store, verified")
        .after_help(
            "A STORE is sqlite:DIRECTORY, sqlite (the directory of --data), or \
             postgres://USER:PASSWORD@HOST:PORT/DATABASE.\n\
             A copy that was cut off goes on where it was when the command is given again; \
             until it is done, no server starts on the target.",
        )
        .args(flags::arguments_of(&["data"]))
        .arg(end(FROM, "SEMEL_COPY_FROM", "Store to copy; nobody may serve it"))
        .arg(end(TO, "SEMEL_COPY_TO", "Store to copy to, empty or an unfinished copy of that one"))
        .arg(switch(VERIFY, "Copy nothing; compare the two, as they are before a server starts"))
        .arg(switch(JSON, "Print what was done as JSON"))
}

pub(crate) fn execute(matches: &ArgMatches) -> anyhow::Result<()> {
    let (config, _) = flags::load(matches)?;
    let end = |flag: &'static str| {
        let text = matches.get_one::<String>(flag).map_or("", String::as_str);
        End::read(flag, text, &config.data)
    };
    let (from, to) = (end(FROM)?, end(TO)?);
    let show = Show::here(matches.get_flag(JSON));
    let mut bar = Bar::new(stderr().is_terminal());
    if matches.get_flag(VERIFY) {
        let compared = semel_server::compare(&from, &to, &mut |step| bar.show(step));
        bar.clear();
        return told(show, &from, &to, &compared?);
    }
    let done = semel_server::copy(&from, &to, &mut |step| bar.show(step));
    bar.clear();
    let Copied { outcome, secrets } = done?;
    match &outcome {
        Outcome::Copied(compared) => told(show, &from, &to, compared)?,
        Outcome::Before { from, counts, .. } => {
            let rows: u64 = counts.values().sum();
            say(&format!("{to} holds all of {from} ({rows} rows); the copy is done"));
            if show.json {
                line(&json!({"copied": true, "before": true, "rows": rows}).to_string())?;
            }
        }
    }
    if secrets > 0 {
        say(&format!(
            "{secrets} secrets are sealed with the key of {from}: give that key to every server on {to}, \
             with --secrets-key; the key is not in the copy"
        ));
    }
    Ok(())
}

/// The figures, and whether both are the same.
fn told(show: Show, from: &End, to: &End, compared: &Compared) -> anyhow::Result<()> {
    let is_same = compared.differences.is_empty();
    if show.json {
        let counts = compared.counts.iter();
        let counts = counts.map(|(shelf, (here, there))| {
            (shelf.as_str().to_owned(), json!({"source": here, "target": there}))
        });
        let counts: Map<String, Value> = counts.collect();
        let said = json!({"copied": is_same, "differences": compared.differences, "rows": counts});
        line(&said.to_string())?;
    } else {
        let row = |(shelf, (here, there)): (&semel_server::Shelf, &(u64, u64))| {
            vec![shelf.as_str().to_owned(), here.to_string(), there.to_string()]
        };
        let rows: Vec<_> = compared.counts.iter().map(row).collect();
        show.table(&["ROWS", "SOURCE", "TARGET"], &rows)?;
    }
    if is_same {
        say(&format!("{to} holds all of {from}, row by row, and every journal is unbroken"));
        return Ok(());
    }
    compared.differences.iter().for_each(|words| say(words));
    let words = "the stores are not the same, or a journal is broken; do not serve the copy: with both at \
                 rest, copy to an empty target";
    Err(Verdict { words, code: FAILED }.into())
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

    fn show(&mut self, step: Step) {
        let is_early = self.shown_at.is_some_and(|at| at.elapsed() < SHOWN_EVERY);
        if !self.is_terminal || is_early {
            return;
        }
        self.shown_at = Some(Instant::now());
        let words = match step {
            Step::Copied(shelf, rows) => format!("copying {}: {rows} rows so far", shelf.as_str()),
            Step::Compared(shelf, rows) => {
                format!("comparing {}: {rows} rows so far", shelf.as_str())
            }
        };
        let _ = write!(stderr(), "\r{words}\x1b[K"); // Lost progress is no failure.
    }

    fn clear(&self) {
        if self.shown_at.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}
