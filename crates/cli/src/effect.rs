//! # `semel effect`: what happens once, and what nobody is sure of

use clap::{Parser, Subcommand};
use semel_client::{Client, RecordQuery, Resolve};
use serde_json::Value;

use crate::connection::Connection;
use crate::given;
use crate::record;
use crate::show::{Show, say};

pub(crate) const NAME: &str = "effect";

const EXAMPLES: &str = "\
Examples:
  semel effect list --state UNKNOWN
  semel effect show charge 9243
  semel effect resolve charge 9243 --applied true --output '{\"charge\": \"ch_1\"}' --note 'seen at the bank'";

/// List effects, look at one, and say whether one has happened that nobody is sure of
#[derive(Debug, Parser)]
#[command(name = NAME, after_help = EXAMPLES)]
pub(crate) struct Effect {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List effects by scope and key
    List {
        /// Only those of this scope
        #[arg(long)]
        scope: Option<String>,
        /// Only those of this state, such as UNKNOWN
        #[arg(long)]
        state: Option<String>,
        /// How many to print
        #[arg(long, default_value_t = 20)]
        size: u32,
        /// Where the page before ended
        #[arg(long, value_name = "CURSOR")]
        after: Option<String>,
    },
    /// Print an effect: whose it is, what came of it, and who has asked
    Show { scope: String, key: String },
    /// Say whether an effect has happened; the run that waits goes on
    Resolve {
        scope: String,
        key: String,
        /// true: it has happened; false: it has not, and may be done again
        #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set)]
        applied: bool,
        /// What the task ends with, if it has happened: a JSON object, or @FILE
        #[arg(long)]
        output: Option<String>,
        /// Who says so
        #[arg(long)]
        by: Option<String>,
        /// How one knows
        #[arg(long)]
        note: Option<String>,
    },
}

pub(crate) fn execute(asked: Effect) -> anyhow::Result<()> {
    let (client, show) = (asked.connection.client()?, asked.connection.show());
    match asked.verb {
        Verb::List { scope, state, size, after } => {
            list(&client, show, &RecordQuery { scope, state, size, after })
        }
        Verb::Show { scope, key } => {
            let answer = client.effect(&scope, &key)?;
            record::show(show, answer.text(), &answer.read()?)
        }
        Verb::Resolve { scope, key, applied, output, by, note } => {
            let output = output.map(|given| given::object("--output", Some(&given))).transpose()?;
            let (output, by, note) = (output.as_ref(), by.as_deref(), note.as_deref());
            let answer = client.resolve(&scope, &key, &Resolve { applied, output, by, note })?;
            if show.json {
                return show.raw(answer.text());
            }
            let what = if applied { "it has happened" } else { "it has not happened" };
            let run = answer.read()?["workflowId"].as_str().map(str::to_owned);
            let next = run.map(|run| format!("; run {run} goes on")).unwrap_or_default();
            say(&format!("resolved {scope}/{key}: {what}{next}"));
            Ok(())
        }
    }
}

fn list(client: &Client, show: Show, query: &RecordQuery) -> anyhow::Result<()> {
    let answer = client.effects(query)?;
    if show.json {
        return show.raw(answer.text());
    }
    let page = answer.read()?;
    let row = |found: &Value| {
        let mut row = vec![record::text(found, "scope"), record::text(found, "key")];
        row.push(record::text(found, "state"));
        row.push(record::owner(found));
        row.extend(["leaseUntil", "createdAt"].map(|name| record::time(found, name)));
        row.extend(["waiting", "hits"].map(|name| record::text(found, name)));
        row
    };
    let rows: Vec<_> = page.results.iter().map(row).collect();
    let header = ["SCOPE", "KEY", "STATE", "OWNER", "LEASE UNTIL", "CREATED", "WAITING", "HITS"];
    show.table(&header, &rows)?;
    record::say_more(page.after.as_deref());
    Ok(())
}
